//! What a confined child may do, with the layers that this machine offers.

use mle_star_process::Confinement;
use mle_star_process::enforce::End;
use mle_star_process::sandbox::{Isolation, Layers, Network};

use super::world::World;

#[tokio::test]
async fn a_confined_child_writes_only_in_its_own_folder() {
    let world = World::new();
    let outside = world.folder().with_file_name("outside");
    std::fs::write(&outside, "before").unwrap();
    let script = format!("echo inside > own && cat own; echo after > {}; cat {0}; true", outside.display());
    let isolation = Isolation::new(Network::Denied);
    let layers = &isolation.layers;
    let is_closed = layers.landlock > 0 || layers.shared_memory;
    let (finished, printed) = world.run(&script, world.limits(), world.confinement(isolation)).await;
    assert_eq!(finished.end, End::Exited { code: 0 }, "{printed}");
    assert!(printed.starts_with("inside\n"), "{printed}");
    let is_unchanged = std::fs::read_to_string(&outside).unwrap() == "before";
    assert_eq!((is_unchanged, printed.contains("before")), (is_closed, false), "{printed}");
    // Without layers it could, so the above shows something.
    let (_, printed) = world.run(&script, world.limits(), Confinement::default()).await;
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "after\n", "{printed}");
}

#[tokio::test]
async fn a_child_without_layers_is_still_limited() {
    let world = World::new();
    let isolation = Isolation { layers: Layers::none(), ..Isolation::new(Network::Allowed) };
    assert!(!isolation.closes_network() && !isolation.closes_only_tcp());
    let (_, printed) = world.run("ulimit -c; ulimit -Hn", world.limits(), world.confinement(isolation)).await;
    let mut numbers = printed.lines().map(|line| line.parse::<u64>().unwrap_or(u64::MAX));
    assert_eq!(numbers.next(), Some(0), "{printed}");
    assert!(numbers.next().is_some_and(|most| most <= 65_536), "{printed}");
}

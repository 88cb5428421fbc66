//! Labels of held-out rows are out of the reach of scripts on runners.

use std::time::Duration;

use mle_star::backend::ScriptRunner;

use super::world::World;

const SEARCH: &str = include_str!("../../../../mle-star-backends/tests/it/scripts/evaluation/search.py");

#[tokio::test(flavor = "multi_thread")]
async fn held_out_labels_are_out_of_reach_on_runners() {
    for options in [&["--copy-data"][..], &[]] {
        let mut world = World::new().await;
        let original = world.hold_out();
        let mut fleet = world.fleet(&world.command(options), 1);
        let there = world.scripts(Some(&fleet));
        let lease = fleet.lease().await;
        let alone = [original, world.path("run"), world.cache()];
        let script = format!(
            "ALONE = {:?}\nEVERYWHERE = True\n{SEARCH}",
            alone.map(|path| path.display().to_string())
        );
        let request = world.request(&script, lease.slot(), Duration::from_secs(120));
        let outcome = there.run(&request).await.unwrap();
        let expected = ("own 2550 found []\n".to_owned(), false);
        assert_eq!((outcome.stdout.text(), outcome.is_error()), expected, "{options:?} {outcome:?}");
        drop(lease);
        fleet.end().await;
    }
}

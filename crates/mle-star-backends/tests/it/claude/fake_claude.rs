//! The stand-in for `claude`: the same table as for the real one, and what is quicker to see with it.

use super::recordings::fake_claude;
use super::table;
use super::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_comes_to_what_it_does_with_the_real_one() {
    let world = |scenario: &str| World::new(&fake_claude(), &format!("http://127.0.0.1:9/{scenario}"));
    table::check(world, |_, _| ()).await;
}

//! The real `claude`, in a network with nothing but loopback.

use mle_star::effects::AgentRequest;

use super::api::Api;
use super::closed::{in_closed_network, real_claude};
use super::world::{PROMPT, World, request};
use super::{recordings, scenarios, table};

#[test]
#[ignore = "needs the real claude; cargo xtask verify runs it"]
fn every_scenario_comes_to_what_it_should() {
    in_closed_network("real_claude::every_scenario_comes_to_what_it_should", async {
        let api = Api::start(scenarios::answer).await;
        let world = |scenario: &str| match scenario {
            // Nobody listens there.
            "unreachable" => World::new(&real_claude(), "http://127.0.0.1:9/unreachable"),
            _ => World::new(&real_claude(), &api.url(scenario)),
        };
        if recordings::are_written() {
            table::check(|scenario| world(scenario).keeping(), recordings::write).await;
        } else {
            table::check(world, |_, _| ()).await;
        }
    });
}

#[test]
#[ignore = "needs the real claude; cargo xtask verify runs it"]
fn the_service_gets_the_prompt_as_it_is_and_nothing_else() {
    in_closed_network("real_claude::the_service_gets_the_prompt_as_it_is_and_nothing_else", async {
        let api = Api::start(scenarios::answer).await;
        let long = "0123456789".repeat(30_000);
        for bare in [true, false] {
            for prompt in [PROMPT, &long] {
                let before = api.asked("plain").len();
                let mut world = World::new(&real_claude(), &api.url("plain"));
                world.setup.bare = bare;
                world.ask(&AgentRequest { prompt: prompt.to_owned(), ..request(&[]) }).await.reply.unwrap();
                let asked = api.asked("plain").split_off(before);
                let [asked] = asked.as_slice() else { panic!("{} requests", asked.len()) };
                assert_eq!(asked.prompt(), prompt, "bare: {bare}");
                assert!(
                    asked.body["system"].to_string().contains("You solve a toy task."),
                    "{}",
                    asked.body["system"]
                );
                assert_eq!(asked.body["tools"], serde_json::json!([]));
                assert_eq!(asked.headers["x-api-key"], "dummy");
                assert!(asked.wants_stream());
            }
        }
    });
}

#[test]
#[ignore = "needs the real claude; cargo xtask verify runs it"]
fn a_dropped_call_leaves_nothing_alive() {
    in_closed_network("real_claude::a_dropped_call_leaves_nothing_alive", async {
        let api = Api::start(scenarios::answer).await;
        for (scenario, tools) in [("never", &[][..]), ("stalled", &["Bash", "Read"])] {
            let world = World::new(&real_claude(), &api.url(scenario));
            let request = request(tools);
            let alive = async {
                api.is_asked(scenario).await;
                world.alive()
            };
            tokio::select! {
                called = world.ask(&request) => panic!("answered: {:?}", called.reply),
                alive = alive => assert!(alive.iter().any(|command| command.contains("stream-json")), "{alive:?}"),
            }
            world.is_silent().await;
        }
    });
}

//! The real `claude`, in a network namespace with loopback only.

use std::collections::BTreeMap;

use mle_star::agents::definitions;
use mle_star::prompts::Prompts;
use mle_star_domain::config::Config;
use mle_star_domain::effects::AgentRequest;
use mle_star_domain::role::AgentType;
use mle_star_needs::needs;
use serde_json::Value;

use super::api::Api;
use super::closed::{in_closed_network, real_claude};
use super::scenarios::SUBAGENT_PROMPT;
use super::world::{PROMPT, World, request};
use super::{recordings, scenarios, table};

#[test]
fn every_scenario_has_its_outcome() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network("real_claude::every_scenario_has_its_outcome", async {
        let api = Api::start(scenarios::answer).await;
        let world = |scenario: &str| match scenario {
            // Nothing listens on this port.
            "unreachable" => World::new(&real_claude(), "http://127.0.0.1:9/unreachable"),
            _ => World::new(&real_claude(), &api.url(scenario)),
        };
        if recordings::are_renewed() {
            table::check(|scenario| world(scenario).keeping(), recordings::write).await;
        } else {
            table::check(world, |_, _| ()).await;
        }
    });
}

#[test]
fn the_service_gets_the_prompt_as_it_is_and_nothing_else() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network("real_claude::the_service_gets_the_prompt_as_it_is_and_nothing_else", async {
        let api = Api::start(scenarios::answer).await;
        let long = "0123456789".repeat(30_000);
        for (bare, tools) in [(true, &[][..]), (false, &[]), (false, &["Read"])] {
            for (prompt, shared) in [(PROMPT, &[][..]), (&long, &[5000, 8000])] {
                let before = api.asked("plain").len();
                let mut world = World::new(&real_claude(), &api.url("plain"));
                world.setup.bare = bare;
                // Without the client's word, claude would mark for an hour.
                let world =
                    world.through(|claude| format!("export ENABLE_PROMPT_CACHING_1H=1\nexec {claude}"));
                let asks =
                    AgentRequest { prompt: prompt.to_owned(), shared: shared.to_vec(), ..request(tools) };
                world.ask(&asks).await.reply.unwrap();
                let asked = api.asked("plain").split_off(before);
                let [asked] = asked.as_slice() else { panic!("{} requests", asked.len()) };
                assert_eq!(asked.prompt(), prompt, "bare: {bare}");
                let system = asked.body["system"].to_string();
                assert!(system.contains("You solve a toy task."), "{system}");
                assert_eq!(asked.body["tools"] == serde_json::json!([]), tools.is_empty());
                assert_eq!(asked.headers["x-api-key"], "dummy");
                assert!(asked.wants_stream());
                // The service takes four marks at most, and none for longer than one before it.
                let body = asked.body.to_string();
                assert!(
                    body.matches("\"cache_control\"").count() <= 4 && !body.contains("\"ttl\""),
                    "{body}"
                );
                if let [first, second] = shared {
                    let content = &asked.body["messages"][0]["content"];
                    let length = |part: usize| content[part]["text"].as_str().unwrap().len();
                    assert_eq!([length(0), length(1)], [*first, second - first], "bare: {bare}");
                    assert_eq!(content[0]["cache_control"], serde_json::json!({"type": "ephemeral"}));
                    assert_eq!(content[1]["cache_control"], Value::Null);
                }
            }
        }
    });
}

#[test]
fn a_dropped_call_leaves_nothing_alive() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network("real_claude::a_dropped_call_leaves_nothing_alive", async {
        let api = Api::start(scenarios::answer).await;
        let world = World::new(&real_claude(), &api.url("never"));
        let request = request(&["Bash", "Read"]);
        let alive = async {
            api.is_asked("never").await;
            world.alive()
        };
        tokio::select! {
            called = world.ask(&request) => panic!("answered: {:?}", called.reply),
            alive = alive => assert!(alive.iter().any(|command| command.contains("stream-json")), "{alive:?}"),
        }
        world.assert_nothing_alive();
    });
}

#[test]
fn a_registered_agent_has_its_prompt_tools_and_model() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network("real_claude::a_registered_agent_has_its_prompt_tools_and_model", async {
        let api = Api::start(scenarios::answer).await;
        let mut world = World::new(&real_claude(), &api.url("subagent"));
        let mut config = Config::default();
        config.agent_models.insert(AgentType::Debugger, "haiku".to_owned());
        world.setup.definitions = definitions(&config, &BTreeMap::new());
        world.ask(&request(&["Agent", "Bash", "Read", "Write"])).await.reply.unwrap();
        let asked = api.asked("subagent");
        let debugger = asked.iter().find(|asked| asked.prompt().contains(SUBAGENT_PROMPT)).unwrap();
        assert!(debugger.body["model"].as_str().unwrap().contains("haiku"), "{}", debugger.body["model"]);
        let system = debugger.body["system"].to_string();
        let template = Prompts::new(config.context, BTreeMap::new()).unwrap().text("debugger.md").to_owned();
        assert!(system.contains(template.lines().next().unwrap()), "{system}");
        let tools: Vec<&str> = debugger.body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(tools, AgentType::Debugger.definition().tools);
    });
}

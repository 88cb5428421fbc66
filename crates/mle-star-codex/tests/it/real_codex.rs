//! The real `codex`, in a network namespace with loopback only.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::join_all;
use mle_star::event::Event;
use mle_star::testing::called::Called;
use mle_star_codex::CodexAgents;
use mle_star_domain::effects::{AgentRequest, Answer};
use mle_star_needs::needs;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::api::Api;
use crate::closed::in_closed_network;
use crate::scenarios::{ANSWER, answer};
use crate::world::{PROMPT, World, request, structured};

/// How many scenarios run at once.
const AT_ONCE: usize = 6;

/// `cargo xtask verify --deep` installs it, or skips its tests.
fn real_codex() -> PathBuf {
    std::env::var_os("MLE_STAR_TEST_CODEX").expect("MLE_STAR_TEST_CODEX names the real codex").into()
}

/// A scenario, a part of what is said, and a part of every wait if there are waits.
type Row = (&'static str, &'static str, Option<&'static str>);

const ROWS: [Row; 15] = [
    ("plain", ANSWER, None),
    ("megabyte", "word word", None),
    ("tool", ANSWER, None),
    ("rate_limit", "failed: the service limits the rate of requests (429)", Some("429")),
    ("rate_limit_then_ok", ANSWER, Some("the service limits the rate of requests (429)")),
    // These codex repeats before it says anything.
    ("server_error_then_ok", ANSWER, None),
    ("cut_then_ok", ANSWER, Some("stream disconnected")),
    ("empty_then_ok", ANSWER, Some("the answer is empty")),
    ("unreachable", "failed: the service cannot be reached: ", Some("the service cannot be reached")),
    ("never", "failed: no answer within", Some("codex printed nothing for 3 s")),
    (
        "unauthorized",
        "stop: the login was refused: unexpected status 401 Unauthorized: Incorrect API key provided: [key]",
        None,
    ),
    ("no_model", "stop: the service does not know the model: The model `m`", None),
    ("bad_request", "failed: something is wrong", None),
    ("too_long", "failed: Codex ran out of room in the model's context window", None),
    ("cut_off", "failed: Incomplete response returned, reason: max_output_tokens", None),
];

#[test]
fn every_scenario_has_its_outcome() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CODEX"));
    in_closed_network("real_codex::every_scenario_has_its_outcome", async {
        let api = Api::start(answer).await;
        let permits = Semaphore::new(AT_ONCE);
        let wrong = join_all(ROWS.map(|(scenario, expected, waits)| {
            let (api, permits) = (&api, &permits);
            async move {
                let _permit = permits.acquire().await.unwrap();
                let world = match scenario {
                    // Nothing listens on this port.
                    "unreachable" => World::new(&real_codex(), "http://127.0.0.1:9/v1"),
                    _ => World::new(&real_codex(), &api.url(scenario)),
                };
                let timeout = Duration::from_secs(if scenario == "never" { 6 } else { 60 });
                let called = world.ask(&AgentRequest { timeout, ..request(&[]) }).await;
                nothing_is_left(&world).await;
                let found: Vec<&str> = called.waits();
                let are_right = match waits {
                    Some(part) => !found.is_empty() && found.iter().all(|reason| reason.contains(part)),
                    None => found.is_empty(),
                };
                let is_right = called.said().starts_with(expected) && are_right;
                let said: String = called.said().chars().take(200).collect();
                (!is_right).then(|| format!("{scenario}: {said}, waits {found:?}"))
            }
        }))
        .await;
        let wrong: Vec<String> = wrong.into_iter().flatten().collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

#[test]
fn the_service_gets_the_prompt_as_it_is_and_nothing_else() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CODEX"));
    in_closed_network("real_codex::the_service_gets_the_prompt_as_it_is_and_nothing_else", async {
        let api = Api::start(answer).await;
        let long = "0123456789".repeat(30_000);
        for (nth, prompt) in [PROMPT, &long].into_iter().enumerate() {
            let world = World::new(&real_codex(), &api.url("plain"));
            world.ask(&AgentRequest { prompt: prompt.to_owned(), ..request(&[]) }).await.reply.unwrap();
            let asked = &api.asked("plain")[nth];
            let texts: Vec<(&str, &str)> = asked.body["input"]
                .as_array()
                .unwrap()
                .iter()
                .map(|message| (text(&message["role"]), text(&message["content"][0]["text"])))
                .collect();
            assert_eq!(texts, [("developer", "You solve a \"toy\" task."), ("user", prompt)]);
            // The only tool that is left is one that codex refuses.
            let tools: Vec<&Value> =
                asked.body["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
            assert_eq!(tools, ["request_user_input"]);
            assert_eq!(asked.headers["authorization"], "Bearer sk-very-secret");
        }
        assert_eq!(api.asked("plain").len(), 2);
    });
}

#[test]
fn a_structured_answer_follows_a_strict_schema_unless_the_service_refuses_it() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CODEX"));
    let name = "real_codex::a_structured_answer_follows_a_strict_schema_unless_the_service_refuses_it";
    in_closed_network(name, async {
        let api = Api::start(answer).await;
        let world = World::new(&real_codex(), &api.url("structured"));
        let called = world.ask(&structured(request(&[]))).await;
        assert_eq!(answered(&called), Some(json!({"answer": 3})));
        let schema = &api.asked("structured")[0].body["text"]["format"]["schema"];
        assert_eq!(
            (&schema["required"], &schema["additionalProperties"]),
            (&json!(["answer", "note"]), &json!(false))
        );

        let world = World::new(&real_codex(), &api.url("schema_refused"));
        let agents = CodexAgents::new(world.setup.clone()).unwrap();
        for _ in 0..2 {
            let called = world.ask_again(&agents, &structured(request(&[]))).await;
            assert_eq!(called.said(), r#"{"answer": 4}"#);
        }
        let asked = api.asked("schema_refused");
        let with_schema: Vec<bool> =
            asked.iter().map(|asked| asked.body["text"]["format"].is_object()).collect();
        assert_eq!(with_schema, [true, false, false], "the second call knows that it is refused");
        assert!(
            text(&asked[1].body["input"][1]["content"][0]["text"]).contains("It matches this JSON schema")
        );
    });
}

#[test]
fn only_the_retriever_searches() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CODEX"));
    in_closed_network("real_codex::only_the_retriever_searches", async {
        let api = Api::start(answer).await;
        let tools = &["WebSearch", "WebFetch"];
        let called = World::new(&real_codex(), &api.url("search")).ask(&request(tools)).await;
        let offered = api.asked("search")[0].body["tools"].to_string();
        assert!(offered.contains("\"web_search\""), "{offered}");
        let used: Vec<(&str, &str)> = called
            .events
            .iter()
            .filter_map(|event| match event {
                Event::ToolUsed { tool, about, .. } => Some((tool.as_str(), about.as_str())),
                _ => None,
            })
            .collect();
        let expected = [("WebSearch", "models for small tables"), ("WebFetch", "https://example.org/page")];
        assert_eq!((used.as_slice(), called.said().as_str()), (expected.as_slice(), ANSWER));
        assert_eq!(called.reply.unwrap().lookups.len(), 2);
    });
}

#[test]
fn a_dropped_call_leaves_nothing_alive() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CODEX"));
    in_closed_network("real_codex::a_dropped_call_leaves_nothing_alive", async {
        let api = Api::start(answer).await;
        let world = World::new(&real_codex(), &api.url("never"));
        let request = request(&[]);
        let alive = async {
            while api.asked("never").is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            world.alive()
        };
        tokio::select! {
            called = world.ask(&request) => panic!("answered: {called:?}"),
            alive = alive => assert!(alive.iter().any(|command| command.contains("codex")), "{alive:?}"),
        }
        nothing_is_left(&world).await;
        assert!(!world.setup.folder.exists() && world.path().exists());
    });
}

/// Every process that was started ends at once.
async fn nothing_is_left(world: &World) {
    for _ in 0..50 {
        if world.alive().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("left alive: {:?}", world.alive());
}

fn answered(called: &Called) -> Option<Value> {
    match &called.reply.as_ref().unwrap().answer {
        Answer::Text { structured, .. } => structured.clone(),
        other => panic!("{other:?}"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

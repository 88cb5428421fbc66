//! What is asked, and what comes of answers.

use std::time::Duration;

use mle_star::testing::called::Called;
use mle_star_domain::config::Format;
use mle_star_domain::effects::{AgentReply, AgentRequest, Answer, Usage};
use mle_star_openai::{Endpoint, Key, OpenAiAgents, OpenAiSetup, check_endpoint};
use serde_json::{Value, json};

use crate::api::{Api, End, chat_events, document, error, says, streams, usage};
use crate::world::{KEY, ask, ask_again, request, setup, setup_of, structured};

fn reply(called: &Called) -> &AgentReply {
    called.reply.as_ref().unwrap()
}

#[tokio::test]
async fn a_question_is_streamed_with_the_key_and_its_usage_has_a_price() {
    let api = Api::start(|_| says("The ünswer is 42.")).await;
    let called = ask(setup(&api.url("plain")), &request()).await;
    assert_eq!(called.said(), "The ünswer is 42.");
    let cost_usd = Some((600.0 * 2.0 + 400.0 * 0.5 + 20.0 * 10.0) / 1e6);
    let expected = Usage { cost_usd, input: 600, output: 20, cache_read: 400, ..Usage::default() };
    assert_eq!(reply(&called).usage, expected);
    let [asked] = api.asked("plain").try_into().unwrap();
    assert_eq!(
        (asked.path.as_str(), asked.headers["authorization"].to_str().unwrap()),
        ("v1/chat/completions", "Bearer sk-very-secret")
    );
    let expected = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": "You solve a toy task."},
            {"role": "user", "content": "What is the answer?"},
        ],
    });
    assert_eq!(asked.body, expected);
    assert!(called.events.is_empty(), "{called:?}");
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let api = Api::start(|_| says("yes")).await;
    let endpoint = Endpoint::new(&api.url("open"), None, Format::Chat).unwrap();
    let called = ask(OpenAiSetup { endpoint, ..setup(&api.url("open")) }, &request()).await;
    assert_eq!(called.said(), "yes");
    assert!(!api.asked("open")[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_cost_is_unknown_without_a_price_and_usage_without_a_report() {
    let api = Api::start(|asked| match asked.scenario.as_str() {
        "silent" => streams(chat_events("yes", "stop", &Value::Null), End::Close),
        _ => says("yes"),
    })
    .await;
    let other = AgentRequest { model: "other".to_owned(), ..request() };
    let called = ask(setup(&api.url("unpriced")), &other).await;
    let expected = Usage { unpriced: 1, input: 600, output: 20, cache_read: 400, ..Usage::default() };
    assert_eq!(reply(&called).usage, expected);
    let called = ask(setup(&api.url("silent")), &request()).await;
    let unknown = Usage { unpriced: 1, ..Usage::default() };
    assert_eq!((called.said().as_str(), reply(&called).usage), ("yes", unknown));
}

#[tokio::test]
async fn answers_come_in_all_forms() {
    let message = |content: Value| json!({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}], "usage": usage()});
    let api = Api::start(move |asked| match asked.scenario.as_str() {
        "document" => document(200, &message(json!("yes"))),
        "parts" => document(200, &message(json!([{"type": "text", "text": "yes"}]))),
        "bytes" => {
            let stream = chat_events("yes", "stop", &usage()).concat();
            streams(stream.chars().map(String::from).collect(), End::Close)
        }
        "no-done" => {
            let mut events = chat_events("yes", "stop", &usage());
            events.pop();
            streams(events, End::Close)
        }
        "reset-after-the-end" => streams(chat_events("yes", "stop", &usage()), End::Reset),
        scenario => panic!("{scenario}"),
    })
    .await;
    for scenario in ["document", "parts", "bytes", "no-done", "reset-after-the-end"] {
        let called = ask(setup(&api.url(scenario)), &request()).await;
        assert_eq!(called.said(), "yes", "{scenario}: {called:?}");
        assert_eq!((reply(&called).usage.output, api.asked(scenario).len()), (20, 1), "{scenario}");
    }
}

#[tokio::test]
async fn the_responses_format_is_spoken() {
    let api = Api::start(|asked| {
        let says = |text: &str| json!({"type": "response.output_text.delta", "delta": text});
        let output = json!([{"type": "message", "content": [{"type": "output_text", "text": "{\"answer\": 42}"}]}]);
        let response = json!({
            "status": "completed", "output": output,
            "usage": {"input_tokens": 1000, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 400}},
        });
        if asked.scenario == "document" {
            return document(200, &response);
        }
        let events = [says("{\"answer\""), says(": 42}"), json!({"type": "response.completed", "response": response})];
        let lines = events.iter().map(|event| {
            let kind = event["type"].as_str().unwrap_or_default();
            format!("event: {kind}\ndata: {event}\n\n")
        });
        streams(lines.collect(), End::Close)
    })
    .await;
    for scenario in ["stream", "document"] {
        let called = ask(setup_of(&api.url(scenario), Format::Responses), &structured()).await;
        let Answer::Text { text, structured } = &reply(&called).answer else { panic!("{called:?}") };
        assert_eq!((text.as_str(), structured), ("{\"answer\": 42}", &Some(json!({"answer": 42}))));
        assert_eq!(reply(&called).usage.cache_read, 400);
        let asked = &api.asked(scenario)[0];
        assert_eq!(
            (asked.path.as_str(), &asked.body["instructions"]),
            ("v1/responses", &json!("You solve a toy task."))
        );
        assert_eq!(asked.body["text"]["format"]["strict"], true);
    }
}

#[tokio::test]
async fn a_refused_schema_goes_into_the_prompt_from_then_on() {
    let api = Api::start(|asked| match asked.body.get("response_format") {
        Some(_) => error(400, "invalid_request_error", "response_format is unavailable for this model"),
        None => says("{\"answer\": 42}"),
    })
    .await;
    let agents = OpenAiAgents::new(setup(&api.url("old"))).unwrap();
    for _ in 0..2 {
        let called = ask_again(&agents, &structured()).await;
        let Answer::Text { structured, .. } = &reply(&called).answer else { panic!("{called:?}") };
        assert_eq!(structured, &Some(json!({"answer": 42})));
        assert!(called.waits().is_empty() && reply(&called).usage.cost_usd.is_some(), "{called:?}");
    }
    let asked = api.asked("old");
    let with_schema: Vec<bool> =
        asked.iter().map(|asked| asked.body.get("response_format").is_some()).collect();
    assert_eq!(with_schema, [true, false, false]);
    assert!(
        asked[2].prompt().contains("matches this JSON schema:\n\n{")
            && asked[2].prompt().contains("\"answer\"")
    );
    let format = &asked[0].body["response_format"]["json_schema"];
    assert_eq!((&format["name"], &format["schema"]["additionalProperties"]), (&json!("init"), &json!(false)));
}

#[tokio::test]
async fn every_part_that_a_server_does_not_know_is_left_out() {
    let api = Api::start(|asked| {
        let body = &asked.body;
        let has = |key: &str| body.get(key).is_some();
        match () {
            () if has("stream_options") => error(422, "", "stream_options: Extra inputs are not permitted"),
            () if has("response_format") => error(400, "", "json_schema is not supported"),
            () if has("max_completion_tokens") => {
                error(400, "", "Unrecognized argument: max_completion_tokens")
            }
            () if has("stream") => error(400, "", "streaming is not available"),
            () if body["messages"].get(1).is_some() => error(400, "", "System role not supported"),
            () => document(200, &json!({"choices": [{"message": {"content": "{\"answer\": 1}"}}]})),
        }
    })
    .await;
    let called = ask(OpenAiSetup { max_tokens: Some(9), ..setup(&api.url("bare")) }, &structured()).await;
    assert_eq!(called.said(), "{\"answer\": 1}");
    let asked = api.asked("bare");
    assert_eq!((asked.len(), &asked[5].body["max_tokens"]), (6, &json!(9)));
    assert!(asked[5].prompt().starts_with("You solve a toy task.\n\nWhat is the answer?"));
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    let (closed, mut is_closed) = tokio::sync::mpsc::unbounded_channel();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        use tokio::io::AsyncReadExt;
        let (mut connection, _) = listener.accept().await.unwrap();
        let (mut bytes, mut count) = ([0; 4096], 0);
        while let Ok(length @ 1..) = connection.read(&mut bytes).await {
            count += length;
            closed.send(false).unwrap();
        }
        closed.send(count > 0).unwrap();
    });
    let setup = OpenAiSetup { stall: Duration::from_secs(30), ..setup(&format!("http://{address}/v1")) };
    let agents = OpenAiAgents::new(setup).unwrap();
    let request = request();
    let call = ask_again(&agents, &request);
    tokio::select! {
        called = call => panic!("{called:?}"),
        seen = is_closed.recv() => assert_eq!(seen, Some(false), "the request has arrived"),
    }
    let ended = async { while is_closed.recv().await != Some(true) {} };
    tokio::time::timeout(Duration::from_secs(60), ended).await.expect("the connection stayed open");
}

#[tokio::test]
async fn a_look_tells_what_an_endpoint_offers() {
    let api = Api::start(|asked| match asked.scenario.as_str() {
        "list" => document(200, &json!({"object": "list", "data": [{"id": "b"}, {"id": "a"}]})),
        "closed" => error(401, "", "Incorrect API key provided: sk-very-secret"),
        _ => error(500, "", "sk-very-secret is broken"),
    })
    .await;
    let check = async |address: &str, reachable: bool, models: Option<&[&str]>, trouble: &str| {
        let endpoint = Endpoint::new(address, Key::new(KEY).unwrap(), Format::Chat).unwrap();
        let seen = check_endpoint(&endpoint).await.unwrap();
        let names = seen.models.clone().unwrap_or_default();
        assert_eq!((seen.reachable, seen.models.is_some()), (reachable, models.is_some()), "{seen:?}");
        assert_eq!(names, models.unwrap_or_default(), "{seen:?}");
        let why = seen.trouble.unwrap_or_default();
        assert!(why.starts_with(trouble) && !why.contains("very-secret"), "{why}");
    };
    check(&api.url("list"), true, Some(&["a", "b"]), "").await;
    check(&api.url("closed"), true, None, "it refuses the key (401)").await;
    check(&api.url("broken"), true, None, "it reports an error (500) [key] is broken").await;
    check("http://127.0.0.1:1/v1", false, None, "it cannot be reached: ").await;
    assert_eq!(api.asked("list")[0].path, "v1/models");
}

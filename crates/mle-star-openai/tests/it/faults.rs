//! Faults: each ends in an answer, a failure with a reason, or a stop with a hint.

use std::time::{Duration, Instant};

use mle_star::stop::Stop;
use mle_star_domain::effects::Usage;
use mle_star_openai::{OpenAiAgents, OpenAiSetup};
use serde_json::{Value, json};

use crate::api::{Api, Asked, End, Reply, chat_events, document, error, says, streams, usage, whole};
use crate::world::{ask, ask_again, brief, request, setup};

/// An endpoint that fails as its scenario says, and then answers `yes`.
fn fails_once(asked: &Asked) -> Reply {
    let events = |count: usize| chat_events("lost", "stop", &usage()).into_iter().take(count).collect();
    if asked.nth > 0 {
        return says("yes");
    }
    match asked.scenario.as_str() {
        "busy" => error(429, "requests", "Rate limit reached"),
        "broken" => whole(500, "text/html", "<html>Internal Server Error"),
        "reset" => streams(events(2), End::Reset),
        "truncated" => streams(events(3), End::Close),
        "silent" => Reply::Never,
        "empty" => streams(chat_events("", "stop", &usage()), End::Close),
        "garbage" => streams(vec!["data: {\"choices\": [{\n\n".to_owned()], End::Close),
        "page" => whole(200, "text/html", "<html>Welcome"),
        "error-inside" => {
            let mut pieces: Vec<String> = events(2);
            pieces.push(format!("data: {}\n\n", json!({"error": {"code": 502, "message": "Provider gone"}})));
            streams(pieces, End::Hang)
        }
        scenario => panic!("{scenario}"),
    }
}

#[tokio::test]
async fn a_temporary_fault_is_waited_out() {
    let api = Api::start(fails_once).await;
    let check = async |scenario: &str, reason: &str| {
        let called = ask(setup(&api.url(scenario)), &request()).await;
        assert_eq!((called.said().as_str(), api.asked(scenario).len()), ("yes", 2), "{scenario}: {called:?}");
        let [wait] = called.waits().try_into().unwrap();
        assert!(wait.contains(reason), "{wait}, expected {reason}");
    };
    tokio::join!(
        check("busy", "the endpoint limits the rate of requests (429): Rate limit reached"),
        check("broken", "the endpoint reports an error (500)"),
        check("error-inside", "the endpoint reports an error (502): Provider gone"),
        check("reset", "ended: "),
        check("truncated", "the answer broke off after 4 characters"),
        check("silent", "the endpoint sent nothing for "),
        check("empty", "the answer is empty"),
        check("garbage", "the endpoint sent an unreadable event: {\"choices\": [{"),
        check("page", "the endpoint answers with text/html, which is no answer of a model"),
    );
}

#[tokio::test]
async fn a_wait_is_at_least_what_the_endpoint_asks_for() {
    let api = Api::start(|asked| {
        let wait = match asked.scenario.as_str() {
            "seconds" => "3".to_owned(),
            _ => "Fri, 31 Dec 1999 23:59:59 GMT".to_owned(),
        };
        match asked.nth {
            0 => Reply::Whole { status: 429, headers: vec![("retry-after", wait)], body: String::new() },
            _ => says("yes"),
        }
    })
    .await;
    let check = async |scenario: &str, least: f64, most: f64| {
        let began = Instant::now();
        let called = ask(setup(&api.url(scenario)), &request()).await;
        let seconds = began.elapsed().as_secs_f64();
        assert_eq!(called.said(), "yes");
        assert!((least..most).contains(&seconds), "{scenario}: {seconds}");
    };
    tokio::join!(check("seconds", 3.0, 20.0), check("past", 0.5, 2.9));
}

#[tokio::test]
async fn patience_ends() {
    let api = Api::start(|asked| match asked.scenario.as_str() {
        "busy" => error(429, "", "slow down"),
        _ => Reply::Never,
    })
    .await;
    let impatient = OpenAiSetup { max_wait: Duration::from_secs(1), ..setup(&api.url("busy")) };
    let said = ask(impatient, &request()).await.said();
    let expected =
        "failed: the endpoint limits the rate of requests (429): slow down; gave up after waiting 1 s";
    assert_eq!(said, expected);
    let patient = OpenAiSetup { stall: Duration::from_secs(30), ..setup(&api.url("silent")) };
    let called = ask(patient, &brief()).await;
    assert_eq!(called.said(), "failed: no answer within 1 s");
    let unknown = Usage { unpriced: 1, ..Usage::default() };
    assert_eq!(called.reply.unwrap().usage, unknown, "what it used is unknown");
}

#[tokio::test]
async fn nobody_at_the_address_is_waited_for() {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let impatient =
        OpenAiSetup { max_wait: Duration::from_millis(600), ..setup(&format!("http://{nobody}/v1")) };
    let called = ask(impatient, &request()).await;
    let said = called.said();
    assert!(said.starts_with(&format!("failed: http://{nobody}/v1 cannot be reached: ")), "{said}");
    assert!(said.to_lowercase().contains("refused") && !called.waits().is_empty(), "{said}");
    assert_eq!(called.reply.unwrap().usage, Usage::free(), "nothing was sent");
}

#[tokio::test]
async fn what_a_person_must_fix_stops_the_run_at_once() {
    let api = Api::start(|asked| match asked.scenario.as_str() {
        "key" => error(401, "invalid_api_key", "Incorrect API key provided: sk-very-secret."),
        "model" => error(404, "model_not_found", "The model `m` does not exist"),
        "credit" => error(402, "", "Insufficient Balance"),
        "quota" => error(429, "insufficient_quota", "You exceeded your current quota"),
        "redirect" => Reply::Whole {
            status: 307,
            headers: vec![("location", "http://127.0.0.1:1/elsewhere".to_owned())],
            body: String::new(),
        },
        scenario => panic!("{scenario}"),
    })
    .await;
    let check = async |scenario: &str, message: &str, hint: &str, can_resume: bool| {
        let called = ask(setup(&api.url(scenario)), &request()).await;
        let Err(Stop::Agents { trouble, usage }) = &called.reply else { panic!("{called:?}") };
        assert!(trouble.message.contains(message), "{trouble}, expected {message}");
        assert!(trouble.hint.contains(hint), "{}, expected {hint}", trouble.hint);
        assert_eq!((trouble.then_resume, *usage), (can_resume, Usage::free()), "{scenario}");
        assert_eq!(api.asked(scenario).len(), 1, "{scenario}");
    };
    check("key", "the endpoint refuses the key: Incorrect API key provided: [key].", "OPENAI_API_KEY", true)
        .await;
    check("model", "the endpoint does not know the model m: The model", "--model", false).await;
    check("credit", "the account has no credit left: Insufficient", "OPENAI_API_KEY", true).await;
    check("quota", "the account has no credit left: You exceeded", "OPENAI_API_KEY", true).await;
    check("redirect", "redirects to http://127.0.0.1:1/elsewhere", "openai.url", false).await;
}

#[tokio::test]
async fn what_no_retry_changes_is_a_failure() {
    let api = Api::start(|asked| {
        let ends = |why: &str| streams(chat_events("def f(", why, &usage()), End::Close);
        match asked.scenario.as_str() {
            "length" => ends("length"),
            "filter" => ends("content_filter"),
            "refusal" => {
                let event = json!({"choices": [{"delta": {"refusal": "I cannot"}, "finish_reason": "stop"}]});
                streams(vec![format!("data: {event}\n\n")], End::Close)
            }
            "long" => error(400, "context_length_exceeded", "maximum context length is 8192 tokens"),
            "huge" => {
                let line = format!("data: {}", "x".repeat(1024 * 1024));
                streams(vec![line; 20], End::Hang)
            }
            scenario => panic!("{scenario}"),
        }
    })
    .await;
    let check = async |scenario: &str, expected: &str| {
        let called = ask(setup(&api.url(scenario)), &request()).await;
        assert!(called.said().starts_with(&format!("failed: {expected}")), "{}", called.said());
        assert_eq!(api.asked(scenario).len(), 1, "{scenario}");
        called.reply.unwrap().usage
    };
    assert_eq!(check("length", "the answer was cut off at the limit of tokens, after 6").await.output, 20);
    assert_eq!(check("filter", "the endpoint's filter stopped the answer").await.output, 20);
    check("refusal", "the model refused: I cannot").await;
    let free = check("long", "the endpoint refuses the request (400): maximum context length").await;
    assert_eq!(free, Usage::free());
    check("huge", "the answer is too long: more than 16 MiB in one event").await;
}

#[tokio::test]
async fn endpoints_that_never_answer_properly_stop_the_run_after_three_calls() {
    let api = Api::start(|_| whole(200, "text/html", "<html>Log in")).await;
    let agents = OpenAiAgents::new(setup(&api.url("portal"))).unwrap();
    let said = ask_again(&agents, &request()).await.said();
    assert!(said.starts_with("failed: the endpoint answers with text/html"), "{said}");
    assert!(ask_again(&agents, &request()).await.said().starts_with("failed: "));
    let said = ask_again(&agents, &request()).await.said();
    assert!(said.starts_with("stop: 3 calls in a row failed: the endpoint answers with text/html"), "{said}");
    assert_eq!(api.asked("portal").len(), 6, "four attempts, then one each");
}

#[tokio::test]
async fn errors_in_a_document_are_errors() {
    let api = Api::start(|asked| match (asked.scenario.as_str(), asked.nth) {
        ("text", _) => document(200, &json!({"error": "no such thing"})),
        (_, 0) => document(200, &json!({"error": {"code": 429, "message": "busy"}, "choices": Value::Null})),
        _ => says("yes"),
    })
    .await;
    assert_eq!(ask(setup(&api.url("typed")), &request()).await.said(), "yes");
    let said = ask(setup(&api.url("text")), &brief()).await.said();
    assert_eq!(said, "failed: the endpoint reports an error: no such thing");
}

//! What the real `codex` does rarely: scripts in its place print what it would.

use std::time::Duration;

use mle_star_domain::effects::{AgentRequest, Usage};

use crate::world::{World, request, structured};

/// Events of an answer.
const ANSWERS: &str = r#"echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"{\"answer\": 3}"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":400,"output_tokens":20}}'"#;

#[tokio::test]
async fn the_events_decide_whatever_the_process_does_then() {
    let check = async |then: &str| {
        let world = World::through(&format!("{ANSWERS}\n{then}"));
        let called = world.ask(&request(&[])).await;
        assert_eq!(called.said(), r#"{"answer": 3}"#, "{then}");
        assert!(called.waits().is_empty() && world.alive().is_empty(), "{then}: {called:?}");
        // By the price of the model.
        let usage = called.reply.unwrap().usage;
        assert_eq!((usage.input, usage.cache_read, usage.output), (600, 400, 20), "{then}");
        assert!((usage.cost_usd.unwrap() - 0.0016).abs() < 1e-12, "{then}: {usage:?}");
    };
    tokio::join!(check("exit 3"), check("sleep 600"), check("sleep 600 & sleep 600"), check("kill -9 $$"));
}

/// Only the pages that are opened count, not what is searched for.
#[tokio::test]
async fn a_search_on_a_blocked_site_opens_no_page() {
    let check = async |query: &str, expected: &str| {
        let item = format!(r#"{{"type":"web_search","query":"{query}","action":{{"type":"search"}}}}"#);
        let searches = format!("echo '{{\"type\":\"item.completed\",\"item\":{item}}}'");
        let called = World::through(&format!("{searches}\n{ANSWERS}")).ask(&request(&["WebSearch"])).await;
        assert_eq!(called.said(), expected);
        let failure = called.reply.unwrap().lookups[0].failure.clone();
        let is_blocked = failure.is_some_and(|why| why.contains("search_blocked_domains"));
        assert_eq!(is_blocked, expected.starts_with("failed"));
    };
    check("tables site:blocked.org/code", r#"{"answer": 3}"#).await;
    let page = "https://blocked.org/solution";
    check(page, &format!("failed: codex opened a page that is blocked: {page}")).await;
}

#[tokio::test]
async fn a_conversation_that_is_silent_is_repeated_without_the_schema() {
    let hangs = "case \"$*\" in *--output-schema*) echo '{\"type\":\"turn.started\"}'; sleep 600;; esac";
    let world = World::through(&format!("{hangs}\ncat >\"$HOME/prompt\"\n{ANSWERS}"));
    let request = AgentRequest { timeout: Duration::from_secs(6), ..structured(request(&[])) };
    let called = world.ask(&request).await;
    assert_eq!(
        (called.said().as_str(), called.waits()),
        (r#"{"answer": 3}"#, vec!["codex printed nothing for 3 s"])
    );
    let prompt = std::fs::read_to_string(world.path().join("home/prompt")).unwrap();
    assert!(prompt.contains("It matches this JSON schema"), "{prompt}");
    // The tokens of the first conversation are unknown; the cost of the second is not.
    let usage = called.reply.unwrap().usage;
    assert!(usage.cost_usd.is_some() && usage.unpriced() == 1, "{usage:?}");
}

#[tokio::test]
async fn a_process_that_ends_without_an_answer_has_a_reason() {
    let check = async |script: &str, expected: &str, is_free: bool| {
        let world = World::through(script);
        let request = AgentRequest { timeout: Duration::from_secs(3), ..request(&[]) };
        let called = world.ask(&request).await;
        assert!(called.said().starts_with(expected), "{called:?}");
        if let Ok(reply) = &called.reply {
            assert_eq!(reply.usage == Usage::free(), is_free, "{called:?}");
        }
    };
    tokio::join!(
        check("echo oh >&2; exit 1", "failed: codex ended (exit status: 1) without an answer: oh", true),
        check("echo '{\"type\":\"turn.started\"}'; kill -9 $$", "failed: codex ended (signal: 9", false),
        check(
            "echo \"error: unexpected argument '--ephemeral' found\" >&2; exit 2",
            "stop: codex is too old",
            true
        ),
    );
}

//! The protocol: lists, bad messages, clients that leave.

use std::time::{Duration, Instant};

use mle_star::journal::hold;
use serde_json::{Value, json};

use super::client::{Client, small_run};
use crate::sealed::Sealed;

#[test]
fn tools_are_as_reviewed() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::of(&sealed);
    let tools = client.ask("tools/list", &json!({}))["result"]["tools"].clone();
    let mut text = String::new();
    for tool in tools.as_array().unwrap() {
        let annotations = serde_json::to_string(&tool["annotations"]).unwrap();
        let (name, about) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
        text.push_str(&format!("{name} {annotations}\n{about}\n"));
        text.push_str(&format!("{}\n\n", serde_json::to_string_pretty(&tool["inputSchema"]).unwrap()));
    }
    insta::assert_snapshot!("tools", text);
    let size = tools.to_string().len();
    assert!(size < 25_000, "{size} characters are much of an agent's context");
}

#[test]
fn bad_messages_are_answered_and_end_nothing() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::of(&sealed);
    for nonsense in ["{nonsense\n", "[]\n", "17\n", "\n", "{\"jsonrpc\":\"2.0\"}\n", "\u{0}\u{1}\n"] {
        client.write(nonsense);
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/of-tomorrow"}));
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}),
    );
    assert_eq!(code(&client.ask("no/such", &json!({}))), Some(-32601));
    assert_eq!(code(&client.ask("tools/call", &json!({"name": "none"}))), Some(-32602));
    assert!(client.ask("ping", &json!({}))["result"].is_object());
    // What is no JSON at all gets no answer: there is no ID to answer to.
    let errors: Vec<i64> = client.heard.iter().filter_map(code).collect();
    assert_eq!(errors, [-32600; 3], "{:?}", client.heard);
    let (status, rest, said) = client.leave();
    assert!(status.success(), "{said}");
    assert_eq!((rest.as_str(), said.as_str()), ("", ""));
}

#[test]
fn the_server_ends_with_its_input() {
    let sealed = Sealed::with(&[]);
    // Before anything was said, and in the middle of a line.
    for beginning in ["", "{\"jsonrpc\":"] {
        let mut client = Client::started(sealed.command("mcp"));
        client.write(beginning);
        let (status, rest, said) = client.leave();
        assert!(status.success(), "{beginning:?}: {said}");
        assert_eq!((rest.as_str(), said.as_str()), ("", ""), "{beginning:?}");
    }
    let mut client = Client::started(sealed.command("mcp"));
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    let (status, _, said) = client.leave();
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: the client does not speak MCP") && said.contains("\nhint: "), "{said}");
}

#[test]
fn a_client_that_leaves_loses_nothing() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::slow(&sealed);
    let started = client.data("run", &small_run(&sealed));
    assert_eq!((&started["run_id"], &started["state"]), (&json!("r"), &json!("running")), "{started}");
    client.begin("tools/call", &json!({"name": "watch", "arguments": {"run": "r", "wait": 600}}));
    let began = Instant::now();
    let (status, _, said) = client.leave();
    assert!(status.success() && began.elapsed() < Duration::from_secs(60), "{said}");
    // Another one is killed while it waits.
    let mut client = Client::of(&sealed);
    client.begin("tools/call", &json!({"name": "watch", "arguments": {"run": "r", "wait": 600}}));
    client.kill();
    assert!(hold(&sealed.path("runs/r")).is_err(), "the run goes on");
    let mut client = Client::of(&sealed);
    let listed = client.data("list", &json!({}));
    assert_eq!(listed["list"][0]["run_id"], "r", "{listed}");
    client.data("stop", &json!({"run": "r"}));
    client.data("resume", &json!({"run": "r"}));
    let seen = client.watch_to_the_end(&json!("r"));
    assert_eq!((&seen["state"], &seen["exit_code"]), (&json!("finished"), &json!(0)), "{seen}");
}

#[test]
fn a_cancelled_call_leaves_the_others_alone() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::slow(&sealed);
    client.data("run", &small_run(&sealed));
    let watch = json!({"name": "watch", "arguments": {"run": "r", "until": "end", "wait": 600}});
    let cancelled = client.begin("tools/call", &watch);
    let params = json!({"requestId": cancelled, "reason": "test"});
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    let stopped = client.data("stop", &json!({"run": "r"}));
    assert_eq!(stopped["state"], "unfinished", "{stopped}");
    assert!(client.heard.iter().all(|message| message["id"] != cancelled), "{:?}", client.heard);
}

fn code(answer: &Value) -> Option<i64> {
    answer["error"]["code"].as_i64()
}

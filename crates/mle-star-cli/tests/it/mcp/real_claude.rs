//! The real `claude` as a client, in a network with only loopback. Its model is a script.

use std::process::Stdio;

use mle_star_needs::needs;
use serde_json::{Value, json};

use super::client::small_run;
use crate::real_runs::api::{Api, Asked, Message, Reply};
use crate::real_runs::closed::{in_closed_network, real_claude};
use crate::sealed::Sealed;

#[test]
fn claude_starts_a_run_and_reads_its_result() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network("mcp::real_claude::claude_starts_a_run_and_reads_its_result", async {
        let sealed = Sealed::with(&[]);
        let wish = small_run(&sealed);
        let api = Api::start(move |asked| answer(asked, &wish)).await;
        let server =
            json!({"mcpServers": {"mle-star": {"command": env!("CARGO_BIN_EXE_mle-star"), "args": ["mcp"]}}});
        sealed.write("servers.json", server.to_string().as_bytes());
        let mut claude = std::process::Command::new("timeout");
        claude
            .arg("120")
            .arg(real_claude())
            .args(["-p", "Solve the task in data.", "--mcp-config", "servers.json", "--strict-mcp-config"])
            .args(["--allowedTools", "mcp__mle-star", "--model", "sonnet", "--output-format", "json"])
            .current_dir(sealed.path(""))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", sealed.path(""))
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("ANTHROPIC_BASE_URL", api.url("user"))
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .stdin(Stdio::null());
        let output = tokio::task::spawn_blocking(move || claude.output().unwrap()).await.unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let asked = api.asked("user");
        let last = asked.last().map(|asked| asked.body["messages"].to_string());
        assert!(output.status.success(), "{said} {} {last:?}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("0.5 it is"), "{said}");
        let all = asked.iter().map(|asked| asked.body.to_string()).collect::<String>();
        // It shows its model the data, not the text.
        let data = [r#"\"run_id\":\"r\""#, r#"\"state\":\"finished\""#, r#"\"validation_score\":0.5"#];
        for part in data.into_iter().chain(["mcp__mle-star__run", "final/submission.csv"]) {
            assert!(all.contains(part), "{part}: {all}");
        }
    });
}

/// What the model says: start, watch, read, then the score.
fn answer(asked: &Asked, wish: &Value) -> Reply {
    let has_tools = asked.body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let messages = asked.body["messages"].as_array().cloned().unwrap_or_default();
    let done = messages.iter().filter(|message| message.to_string().contains("\"tool_result\"")).count();
    let call = |tool: &str, input: &Value| {
        let mut call = Message::tool(&format!("mcp__mle-star__{tool}"), input);
        call.blocks[0]["id"] = json!(format!("toolu_{done}"));
        call
    };
    Reply::Message(match (has_tools, done) {
        (false, _) => Message::text("A title"),
        (true, 0) => call("run", wish),
        (true, 1) => call("watch", &json!({"run": "r", "until": "end", "wait": 60})),
        (true, 2) => call("result", &json!({"run": "r"})),
        _ => Message::text("0.5 it is"),
    })
}

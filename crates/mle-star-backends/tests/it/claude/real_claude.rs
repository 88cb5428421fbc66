//! The real `claude`, in a network with nothing but loopback.

use std::process::Stdio;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::api::Api;
use super::closed::{in_closed_network, real_claude};
use super::scenarios::{self, ANSWER};

#[test]
#[ignore = "needs the real claude; cargo xtask verify runs it"]
fn it_asks_the_loopback_service() {
    in_closed_network("claude::real_claude::it_asks_the_loopback_service", async {
        let api = Api::start(scenarios::answer).await;
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(real_claude());
        command.args(["-p", "--bare", "--verbose", "--input-format", "stream-json"]);
        command.args(["--output-format", "stream-json", "--tools", ""]);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home.path());
        command.env("ANTHROPIC_BASE_URL", api.url("plain")).env("ANTHROPIC_API_KEY", "dummy");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").current_dir(home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let prompt = json!({"type": "user", "message": {"role": "user", "content": "a question"}});
        child.stdin.take().unwrap().write_all(format!("{prompt}\n").as_bytes()).await.unwrap();
        let output = child.wait_with_output().await.unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains(ANSWER));
        let asked = api.asked("plain");
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].prompt(), "a question");
        assert_eq!(asked[0].headers["x-api-key"], "dummy");
    });
}

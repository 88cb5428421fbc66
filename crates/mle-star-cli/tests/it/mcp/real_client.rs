//! The official Python client, from PyPI.

use mle_star_needs::needs;
use std::process::Command;

use serde_json::Value;

use super::client::small_run;
use crate::sealed::Sealed;

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/client.py");

#[test]
fn the_python_client_of_mcp_solves_a_task_in_both_lifecycles() {
    needs!(Named("MLE_STAR_TEST_MCP"));
    let python = std::env::var_os("MLE_STAR_TEST_MCP").unwrap();
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let sealed = Sealed::with(&[]);
        let wish = small_run(&sealed).to_string();
        let server = sealed.command("mcp");
        let mut client = Command::new(&python);
        client.args([CLIENT, mode]).arg(server.get_program()).arg(&wish).current_dir(sealed.path(""));
        let output = client.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mode}: {said}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told["version"], version, "{mode}: {told}");
        assert_eq!((&told["state"], &told["score"]), (&"finished".into(), &0.5.into()), "{mode}: {told}");
        assert!(told["progress"].as_u64() > Some(0), "{mode}: {told}");
        assert!(told["error"].as_str().unwrap().contains("hint: "), "{mode}: {told}");
    }
}

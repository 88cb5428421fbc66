//! Which crates may depend on which: arrows point inwards, and the algorithms have no access to the outside.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::http;
use crate::command::cargo;

/// The crates of the workspace that a crate may depend on. A crate without a row is a finding.
const ARROWS: [(&str, &[&str]); 16] = [
    ("mle-star", &["mle-star-domain", "mle-star-leakage"]),
    ("mle-star-domain", &[]),
    ("mle-star-leakage", &[]),
    ("mle-star-process", &[]),
    ("mle-star-metrics", &["mle-star-domain"]),
    ("mle-star-data", &["mle-star-domain", "mle-star-metrics"]),
    ("mle-star-claude", &["mle-star", "mle-star-data", "mle-star-domain", "mle-star-process"]),
    ("mle-star-codex", &["mle-star", "mle-star-domain", "mle-star-process"]),
    ("mle-star-offline", &["mle-star", "mle-star-data", "mle-star-domain", "mle-star-metrics"]),
    (HTTP_CLIENT, &["mle-star", "mle-star-domain", "mle-star-process"]),
    ("mle-star-report", &["mle-star", "mle-star-domain"]),
    (
        "mle-star-backends",
        &["mle-star", "mle-star-data", "mle-star-domain", "mle-star-metrics", "mle-star-process"],
    ),
    (
        LIBRARY,
        &[
            "mle-star",
            "mle-star-backends",
            "mle-star-claude",
            "mle-star-codex",
            "mle-star-data",
            "mle-star-domain",
            "mle-star-metrics",
            "mle-star-offline",
            HTTP_CLIENT,
            "mle-star-process",
            "mle-star-report",
        ],
    ),
    (
        PROGRAM,
        &[
            "mle-star",
            "mle-star-backends",
            "mle-star-data",
            "mle-star-domain",
            "mle-star-leakage",
            "mle-star-metrics",
            HTTP_CLIENT,
            "mle-star-process",
            "mle-star-report",
            LIBRARY,
        ],
    ),
    ("mle-star-lab", &["mle-star-domain", "mle-star-metrics"]),
    ("xtask", &[]),
];
/// The crate of the algorithms.
const ALGORITHMS: &str = "mle-star";
/// The crate that makes and drives runs.
pub const LIBRARY: &str = "mle-star-run";
/// The crate of the command line and the web page.
pub const PROGRAM: &str = "mle-star-cli";
/// The crate that sends requests.
pub const HTTP_CLIENT: &str = "mle-star-openai";
/// Everything else that the algorithms may use. A new dependency is a decision, made here.
const FOR_ALGORITHMS: [&str; 16] = [
    "async-trait",
    "blake3",
    "futures-util",
    "jiff",
    // Constants for opening files; its functions are unsafe, which the crate forbids.
    "libc",
    "minijinja",
    "ruff_python_ast",
    "ruff_python_parser",
    "rusqlite",
    "schemars",
    "serde",
    "serde_json",
    // Words of commands in hints.
    "shlex",
    // Diffs in prompts.
    "similar",
    "thiserror",
    "tokio",
];
/// The parts of tokio without processes, sockets, files and signals. Several threads are for `block_in_place`.
const TOKIO: [&str; 5] = ["macros", "rt", "rt-multi-thread", "sync", "time"];
/// Crates that talk to people: for the command line only.
const FOR_PEOPLE: [&str; 4] = ["axum", "clap", "indicatif", "terminal_size"];
/// The compiler's rules for the algorithms, and what they must forbid.
const RULES: &str = "crates/mle-star/clippy.toml";
const FORBIDDEN: [&str; 3] = ["std::process::Command", "std::net::TcpStream", "std::fs::File"];

/// Dependencies that point the wrong way.
pub fn findings(root: &Path) -> Vec<String> {
    let rules = fs::read_to_string(root.join(RULES)).unwrap_or_default();
    let missing = FORBIDDEN.iter().filter(|name| !rules.contains(*name));
    let mut findings: Vec<String> = missing.map(|name| format!("{RULES} must forbid {name}")).collect();
    let line = "metadata --no-deps --format-version 1";
    let output = cargo(line).output().map(|output| output.stdout).unwrap_or_default();
    let metadata: Value = serde_json::from_slice(&output).unwrap_or_default();
    let Some(packages) = metadata["packages"].as_array() else {
        findings.push(format!("cargo {line} does not list the packages"));
        return findings;
    };
    findings.extend(packages.iter().flat_map(wrong_dependencies));
    findings.extend(packages.iter().flat_map(|package| http::findings(name(package))));
    findings.extend(http::files(root));
    findings
}

fn name(value: &Value) -> &str {
    value["name"].as_str().unwrap_or_default()
}

/// What is wrong with a package, as `cargo metadata` describes it.
fn wrong_dependencies(package: &Value) -> Vec<String> {
    let from = name(package);
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == from) else {
        return vec![format!("xtask/src/tidy/boundaries.rs does not say what {from} may depend on")];
    };
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let shipped = dependencies.filter(|dependency| dependency["kind"].as_str() != Some("dev"));
    shipped.flat_map(|dependency| wrong_dependency(from, allowed, dependency)).collect()
}

fn wrong_dependency(from: &str, allowed: &[&str], dependency: &Value) -> Vec<String> {
    let to = name(dependency);
    let is_ours = ARROWS.iter().any(|(name, _)| *name == to);
    let is_wrong = match from {
        _ if is_ours => !allowed.contains(&to),
        ALGORITHMS => !FOR_ALGORITHMS.contains(&to),
        PROGRAM => false,
        _ => FOR_PEOPLE.contains(&to),
    };
    let mut findings = Vec::new();
    if is_wrong {
        findings.push(format!("{from} must not depend on {to}"));
    }
    if from == ALGORITHMS && to == "tokio" {
        let features = dependency["features"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let wrong = features.filter(|feature| !TOKIO.contains(feature));
        findings.extend(wrong.map(|feature| format!("{from} must not use tokio's feature {feature}")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wrong_dependencies_are_found() {
        let check = |from: &str, dependency: Value, expected: &[&str]| {
            let package = json!({"name": from, "dependencies": [dependency]});
            assert_eq!(wrong_dependencies(&package), expected, "{package}");
        };
        let on = |name: &str| json!({"name": name, "kind": null, "features": []});
        check("mle-star", on("serde"), &[]);
        check("mle-star", on("reqwest"), &["mle-star must not depend on reqwest"]);
        check("mle-star", on("mle-star-backends"), &["mle-star must not depend on mle-star-backends"]);
        check("mle-star", json!({"name": "proptest", "kind": "dev", "features": []}), &[]);
        let net = json!({"name": "tokio", "kind": null, "features": ["rt", "net"]});
        check("mle-star", net.clone(), &["mle-star must not use tokio's feature net"]);
        check("mle-star-backends", net, &[]);
        check("mle-star-backends", on("mle-star"), &[]);
        check("mle-star-backends", on("clap"), &["mle-star-backends must not depend on clap"]);
        check("mle-star-process", on("mle-star"), &["mle-star-process must not depend on mle-star"]);
        check("mle-star-cli", on("clap"), &[]);
        check("xtask", on("mle-star"), &["xtask must not depend on mle-star"]);
        let unknown = ["xtask/src/tidy/boundaries.rs does not say what mle-star-new may depend on"];
        check("mle-star-new", on("serde"), &unknown);
    }
}

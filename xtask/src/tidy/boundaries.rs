//! What each crate may depend on: arrows point inwards, and the algorithms know no outside.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// Everything that the crate of the algorithms may use. A new one is a decision, made here.
const ALGORITHMS: [&str; 17] = [
    "async-trait",
    "blake3",
    "futures-util",
    "jiff",
    // Constants for opening files; its functions are unsafe, which the crate forbids.
    "libc",
    "minijinja",
    "percent-encoding",
    "regex",
    "ruff_python_ast",
    "ruff_python_parser",
    "rusqlite",
    "schemars",
    "serde",
    "serde_json",
    "thiserror",
    "tokio",
    "url",
];
/// Parts of tokio without processes, sockets, files and signals. Several threads are for `block_in_place`.
const TOKIO: [&str; 5] = ["macros", "rt", "rt-multi-thread", "sync", "time"];
/// What talks to people, and so is the command line's alone.
const FOR_PEOPLE: [&str; 5] = ["clap", "indicatif", "terminal_size", "mle-star-cli", "axum"];
/// The crates around the algorithms, and which crates of the workspace each may use.
const AROUND: [(&str, &[&str]); 5] = [
    ("mle-star-backends", &["mle-star", "mle-star-data", "mle-star-process"]),
    ("mle-star-claude", &["mle-star", "mle-star-data", "mle-star-process"]),
    ("mle-star-data", &["mle-star"]),
    ("mle-star-offline", &["mle-star", "mle-star-data"]),
    ("mle-star-process", &[]),
];
const RULES: &str = "crates/mle-star/clippy.toml";
/// What the compiler's rules for the algorithms must name.
const FORBIDDEN: [&str; 3] = ["std::process::Command", "std::net::TcpStream", "std::fs::File"];

/// Dependencies that point the wrong way.
pub fn findings(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    let workspace = table(root, "Cargo.toml");
    let algorithms = table(root, "crates/mle-star/Cargo.toml");
    for name in dependencies(&algorithms) {
        if !ALGORITHMS.contains(&name.as_str()) {
            findings.push(format!("crates/mle-star must not depend on {name}"));
        }
    }
    let shared = workspace.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let own = algorithms.get("dependencies");
    for feature in [shared, own].into_iter().flatten().flat_map(tokio_features) {
        if !TOKIO.contains(&feature.as_str()) {
            findings.push(format!("crates/mle-star must not use tokio's feature {feature}"));
        }
    }
    for (package, allowed) in AROUND {
        let is_wrong = |name: &str| {
            FOR_PEOPLE.contains(&name) || name.starts_with("mle-star") && !allowed.contains(&name)
        };
        let names = dependencies(&table(root, &format!("crates/{package}/Cargo.toml")));
        let wrong = names.iter().filter(|name| is_wrong(name));
        findings.extend(wrong.map(|name| format!("crates/{package} must not depend on {name}")));
    }
    let rules = fs::read_to_string(root.join(RULES)).unwrap_or_default();
    let missing = FORBIDDEN.iter().filter(|name| !rules.contains(*name));
    findings.extend(missing.map(|name| format!("{RULES} must forbid {name}")));
    findings
}

fn table(root: &Path, file: &str) -> Table {
    fs::read_to_string(root.join(file)).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn dependencies(manifest: &Table) -> Vec<String> {
    let sections =
        ["dependencies", "build-dependencies"].into_iter().filter_map(|name| manifest.get(name)?.as_table());
    sections.flat_map(|section| section.keys().cloned()).collect()
}

fn tokio_features(dependencies: &Value) -> Vec<String> {
    let features =
        dependencies.get("tokio").and_then(|tokio| tokio.get("features")).and_then(Value::as_array);
    features.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_for(algorithms: &str, backends: &str, rules: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("Cargo.toml", "[workspace.dependencies]\ntokio = { version = \"1\", features = [\"rt\"] }\n");
        write("crates/mle-star/Cargo.toml", algorithms);
        write("crates/mle-star-backends/Cargo.toml", backends);
        write(RULES, rules);
        findings(dir.path())
    }

    #[test]
    fn wrong_dependencies_are_found() {
        let check = |algorithms: &str, backends: &str, rules: &str, expected: &[&str]| {
            let found = findings_for(algorithms, backends, rules);
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(expected.iter().all(|part| found.iter().any(|line| line.contains(part))), "{found:?}");
        };
        let rules = FORBIDDEN.join(" ");
        check("[dependencies]\nserde = \"1\"\n", "[dependencies]\ncsv = \"1\"\n", &rules, &[]);
        check("[dependencies]\nreqwest = \"1\"\n", "", &rules, &["mle-star must not depend on reqwest"]);
        check("[dependencies.tokio]\nfeatures = [\"net\"]\n", "", &rules, &["tokio's feature net"]);
        check("", "[dependencies]\nclap = \"4\"\n", &rules, &["backends must not depend on clap"]);
        let upwards = "[dependencies]\nmle-star.workspace = true\nmle-star-claude.workspace = true\n";
        check("", upwards, &rules, &["backends must not depend on mle-star-claude"]);
        check("", "", "std::process::Command std::fs::File", &["must forbid std::net::TcpStream"]);
    }

    #[test]
    fn the_crate_of_child_processes_uses_no_other_of_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("crates/mle-star-process");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("Cargo.toml"), "[dependencies]\nmle-star.workspace = true\nnix = \"1\"\n")
            .unwrap();
        let found = findings(dir.path());
        let wrong = "crates/mle-star-process must not depend on mle-star";
        assert!(found.iter().any(|line| line == wrong), "{found:?}");
    }
}

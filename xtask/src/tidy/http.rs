//! Agents are reached through the `claude` command line and by no other way: what they go through is linked with
//! nothing that could speak HTTP, and no part of the program with a client.

use crate::command::cargo;

/// The packages that an agent's question and its answer go through.
const AGENTS_PATH: [&str; 3] = ["mle-star", "mle-star-claude", "mle-star-offline"];
/// The package around them. It may serve pages one day.
const COMMAND_LINE: &str = "mle-star-cli";
/// Crates that ask HTTP servers.
const CLIENTS: [&str; 10] =
    ["attohttpc", "awc", "curl", "hyper-rustls", "hyper-tls", "isahc", "minreq", "reqwest", "surf", "ureq"];
/// Crates that clients and servers share, and servers.
const EITHER: [&str; 9] =
    ["axum", "h2", "h3", "http", "http-body", "hyper", "hyper-util", "tokio-tungstenite", "tungstenite"];

/// Packages that are linked with HTTP where they must not be.
pub fn findings() -> Vec<String> {
    let packages = AGENTS_PATH.into_iter().chain([COMMAND_LINE]);
    packages
        .flat_map(|package| linked(package).map_or_else(|why| vec![why], |tree| found(package, &tree)))
        .collect()
}

/// Everything that a package is linked with, one crate a line: the name, then its version.
fn linked(package: &str) -> Result<String, String> {
    let line = format!("tree --package {package} --edges normal --target all --all-features --prefix none");
    let told = |what: String| format!("cargo {line}: {what}");
    let output = cargo(&line).output().map_err(|error| told(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_told = output.status.success() && text.starts_with(package);
    if is_told { Ok(text) } else { Err(told(String::from_utf8_lossy(&output.stderr).into_owned())) }
}

fn found(package: &str, tree: &str) -> Vec<String> {
    let is_on_path = AGENTS_PATH.contains(&package);
    let is_forbidden = |name: &&str| CLIENTS.contains(name) || is_on_path && EITHER.contains(name);
    let mut names: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    names.dedup();
    let rule = if is_on_path { "agents are asked through claude" } else { "it asks no server" };
    let told = |name| format!("{package} must not be linked with {name}: {rule}");
    names.into_iter().filter(is_forbidden).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_found_everywhere_and_servers_on_the_agents_path() {
        let check = |package: &str, tree: &str, expected: &[&str]| {
            let found = found(package, tree);
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (line, part) in found.iter().zip(expected) {
                assert!(line.contains(part), "{line}, expected {part}");
            }
        };
        check("mle-star", "mle-star v0.1.0 (/here)\nserde v1.0.2\ntokio v1.5.0 (*)\n", &[]);
        check(
            "mle-star",
            "reqwest v0.13.5\nserde v1.0.2\nhyper v1.12.0\nhyper v1.12.0 (*)\n",
            &["hyper", "reqwest"],
        );
        check("mle-star-claude", "ureq v3.5.1\n", &["mle-star-claude must not be linked with ureq"]);
        check("mle-star-cli", "axum v0.8.9\nhyper v1.12.0\nminreq v2.0.0\n", &["minreq: it asks no server"]);
    }

    #[test]
    fn what_a_package_is_linked_with_is_told_by_cargo() {
        let tree = linked("mle-star-cli").unwrap();
        assert!(tree.lines().any(|line| line.starts_with("mle-star-claude ")), "{tree}");
        assert!(linked("no-such-package").is_err());
    }
}

//! Agents are reached through the `claude` command line only: no crate that an agent's question or answer goes through
//! is linked with anything that speaks HTTP, and no part of the program with an HTTP client.

use super::boundaries::PROGRAM;
use crate::command::cargo;

/// HTTP clients.
const CLIENTS: [&str; 10] =
    ["attohttpc", "awc", "curl", "hyper-rustls", "hyper-tls", "isahc", "minreq", "reqwest", "surf", "ureq"];
/// HTTP servers, and crates that clients and servers share. The program serves pages.
const EITHER: [&str; 9] =
    ["axum", "h2", "h3", "http", "http-body", "hyper", "hyper-util", "tokio-tungstenite", "tungstenite"];

/// The HTTP crates that a package must not be linked with, and is.
pub fn findings(package: &str) -> Vec<String> {
    linked(package).map_or_else(|why| vec![why], |tree| found(package, &tree))
}

/// Every crate that a package is linked with, one a line: the name, then its version.
fn linked(package: &str) -> Result<String, String> {
    let line = format!("tree --package {package} --edges normal --target all --all-features --prefix none");
    let failure = |what: String| format!("cargo {line}: {what}");
    let output = cargo(&line).output().map_err(|error| failure(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_listed = output.status.success() && text.starts_with(package);
    if is_listed { Ok(text) } else { Err(failure(String::from_utf8_lossy(&output.stderr).into_owned())) }
}

fn found(package: &str, tree: &str) -> Vec<String> {
    let serves = package == PROGRAM;
    let is_forbidden = |name: &&str| CLIENTS.contains(name) || !serves && EITHER.contains(name);
    let mut names: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    names.dedup();
    let rule = if serves { "it sends no requests" } else { "agents are reached through claude" };
    let finding = |name| format!("{package} must not be linked with {name}: {rule}");
    names.into_iter().filter(is_forbidden).map(finding).collect()
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
        check("mle-star-backends", "ureq v3.5.1\n", &["mle-star-backends must not be linked with ureq"]);
        check(
            "mle-star-cli",
            "axum v0.8.9\nhyper v1.12.0\nminreq v2.0.0\n",
            &["minreq: it sends no requests"],
        );
    }

    #[test]
    fn cargo_lists_what_a_package_is_linked_with() {
        let tree = linked("mle-star-cli").unwrap();
        assert!(tree.lines().any(|line| line.starts_with("mle-star-backends ")), "{tree}");
        assert!(linked("no-such-package").is_err());
    }
}

//! Requests are sent in one place: the file `http.rs` of the crate for endpoints. No other crate uses an HTTP client, and
//! no crate but the program, which serves pages, anything else that speaks HTTP.

use std::fs;
use std::path::Path;

use super::boundaries::{HTTP_CLIENT, LIBRARY, PROGRAM};
use super::files as all_files;
use crate::command::cargo;

/// HTTP clients.
const CLIENTS: [&str; 10] =
    ["attohttpc", "awc", "curl", "hyper-rustls", "hyper-tls", "isahc", "minreq", "reqwest", "surf", "ureq"];
/// HTTP servers, and crates that clients and servers share. The program serves pages.
const EITHER: [&str; 9] =
    ["axum", "h2", "h3", "http", "http-body", "hyper", "hyper-util", "tokio-tungstenite", "tungstenite"];
/// The client that is used, the sources of its crate, and the file that uses it.
const USED: (&str, &str, &str) = ("reqwest::", "crates/mle-star-openai/src", "http.rs");

/// The HTTP crates that a package must not be linked with, and is.
pub fn findings(package: &str) -> Vec<String> {
    if package == HTTP_CLIENT {
        return Vec::new();
    }
    linked(package).map_or_else(|why| vec![why], |tree| found(package, &tree))
}

/// The files that use the HTTP client, and must not.
pub fn files(root: &Path) -> Vec<String> {
    let (client, folder, allowed) = USED;
    let uses = |text: &str| text.lines().any(|line| line.contains(client));
    let mut users = Vec::new();
    for file in all_files(&root.join(folder), "rs") {
        let shown = file.strip_prefix(root.join(folder)).unwrap_or(&file).display().to_string();
        if uses(&fs::read_to_string(&file).unwrap_or_default()) {
            users.push(shown);
        }
    }
    if users == [allowed] {
        return Vec::new();
    }
    vec![format!("only {folder}/{allowed} must use {client}: {}", users.join(", "))]
}

/// Every crate that a package is linked with, apart from what the crate for endpoints brings: a line each with the name,
/// then the version.
fn linked(package: &str) -> Result<String, String> {
    let mut line =
        format!("tree --package {package} --edges normal --target all --all-features --prefix none");
    if [PROGRAM, LIBRARY].contains(&package) {
        line.push_str(&format!(" --prune {HTTP_CLIENT}"));
    }
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
    let rule = format!("{HTTP_CLIENT} sends all requests");
    let finding = |name| format!("{package} must not be linked with {name}: {rule}");
    names.into_iter().filter(is_forbidden).map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_found_everywhere_and_servers_below_the_program() {
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
            &["minreq: mle-star-openai sends all requests"],
        );
    }

    #[test]
    fn cargo_lists_what_a_package_is_linked_with_by_itself() {
        let tree = linked(PROGRAM).unwrap();
        let has = |name: &str| tree.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert!(has("mle-star-backends") && has("axum"), "{tree}");
        assert!(!has("reqwest"), "it comes with the crate for endpoints: {tree}");
        assert!(linked("no-such-package").is_err());
    }

    #[test]
    fn one_file_uses_the_client() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(USED.1).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(files(folder.path()).len(), 1, "the rule must name the file that there is");
        write("http.rs", "use reqwest::Client;\n");
        write("chat.rs", "//! Sends nothing.\n");
        assert_eq!(files(folder.path()), Vec::<String>::new());
        write("chat.rs", "let client = reqwest::Client::new();\n");
        let found = files(folder.path());
        assert!(found[0].ends_with("must use reqwest::: chat.rs, http.rs"), "{found:?}");
    }
}

//! Documents: the files, functions and tests they name or link to exist, and no requirement is left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How many requirements each specification has; they are numbered from 1.
const REQUIREMENTS: [(&str, usize); 9] = [
    ("DM", 50),
    ("SF", 46),
    ("EX", 47),
    ("P1", 45),
    ("P2I", 50),
    ("P2O", 44),
    ("P3", 49),
    ("FN", 48),
    ("OR", 57),
];

const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
const CATALOGUE: &str = "docs/requirements.md";

/// Names in the documents that do not exist in the tree.
pub fn findings(root: &Path, sources: &[PathBuf]) -> Vec<String> {
    let mut findings = Vec::new();
    let functions = functions(sources);
    for (name, text) in documents(root) {
        for quoted in quotes(&text) {
            if let Some(missing) = missing(root, &functions, quoted) {
                findings.push(format!("{name}: {missing}"));
            }
        }
        let page = root.join(&name);
        let broken = links(&text).filter(|link| is_broken(&page, link));
        findings.extend(broken.map(|link| format!("{name}: the link ({link}) leads nowhere")));
    }
    findings.extend(left_out(&fs::read_to_string(root.join(CATALOGUE)).unwrap_or_default()));
    findings
}

fn documents(root: &Path) -> Vec<(String, String)> {
    let in_docs = fs::read_dir(root.join("docs")).into_iter().flatten().flatten();
    let in_docs = in_docs.map(|entry| format!("docs/{}", entry.file_name().to_string_lossy()));
    let mut names: Vec<String> = in_docs.chain(DOCUMENTS.map(str::to_owned)).collect();
    names.retain(|name| name.ends_with(".md"));
    names.sort();
    names
        .into_iter()
        .filter_map(|name| Some((name.clone(), fs::read_to_string(root.join(name)).ok()?)))
        .collect()
}

/// The lines outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        !in_block && !fence
    })
}

/// The text between backticks on one line, without code blocks.
fn quotes(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The targets of `[text](target)` outside code.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let plain = prose(text).flat_map(|line| line.split('`').step_by(2));
    // A quote inside the brackets leaves `](target)` at the start of the next piece.
    plain.flat_map(|piece| piece.split("](").skip(1)).filter_map(|rest| rest.split([')', ' ']).next())
}

/// Whether this leads to a file or a heading that does not exist. URLs are not checked.
fn is_broken(page: &Path, link: &str) -> bool {
    if link.contains("://") || link.starts_with("mailto:") {
        return false;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { page.to_owned() } else { page.with_file_name("").join(path) };
    let text = fs::read_to_string(&target).unwrap_or_default();
    let has_heading = || prose(&text).any(|line| line.starts_with('#') && anchor_of(line) == anchor);
    !target.exists() || !(anchor.is_empty() || has_heading())
}

/// The anchor that mdBook and GitHub give a heading.
fn anchor_of(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || "_- ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// What is wrong with a quote that names a path or a test; `None` for any other.
fn missing(root: &Path, functions: &BTreeSet<(String, String)>, quoted: &str) -> Option<String> {
    let top =
        ["crates/", "docs/", "examples/", "lab/", "xtask/", ".ci/"].iter().any(|top| quoted.starts_with(top));
    if top && !quoted.contains(['{', '*', ' ', '<']) && !is_placeholder(quoted) {
        return (!root.join(quoted).exists()).then(|| format!("there is no {quoted}"));
    }
    let (krate, path) = quoted.split_once("::")?;
    let is_path = quoted.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c));
    if !is_path || !krate.starts_with("mle_star") {
        return None;
    }
    let name = path.rsplit("::").next()?;
    let known = functions.contains(&(krate.replace('_', "-"), name.to_owned()));
    (!known && path.contains("::")).then(|| format!("there is no function {name} in {krate} ({quoted})"))
}

/// `crates/…/NAME.rs` matches any name.
fn is_placeholder(path: &str) -> bool {
    path.split(['/', '.']).any(|part| {
        part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase() || c == '_') && part != "README"
    })
}

/// Crate and name of every function and module.
fn functions(sources: &[PathBuf]) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for file in sources {
        let mut names = file.iter().map(|name| name.to_string_lossy());
        let Some(krate) = names.by_ref().skip_while(|name| name != "crates").nth(1) else { continue };
        let text = fs::read_to_string(file).unwrap_or_default();
        for word in ["fn ", "mod "] {
            for after in text.split(word).skip(1) {
                let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                found.insert((krate.to_string(), name));
            }
        }
    }
    found
}

fn left_out(catalogue: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (specification, count) in REQUIREMENTS {
        for number in 1..=count {
            let id = format!("REQ-{specification}-{number:03}");
            if !catalogue.contains(&id) {
                findings.push(format!("{CATALOGUE} leaves out {id}"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_files_and_headings() {
        let page = crate::command::root().join("docs/trust.md");
        let check = |link: &str, broken: bool| assert_eq!(is_broken(&page, link), broken, "{link}");
        check("https://arxiv.org/abs/2506.15692", false);
        check("quality.md", false);
        check("quality.md#how-it-was-measured", false);
        check("quality.md#how-it-was-not-measured", true);
        check("#nowhere", true);
        check("nowhere.md", true);
    }
}

//! The book: `docs/SUMMARY.md` lists every page, no link leaves it, and the messages that `docs/troubleshooting.md`
//! explains exist.

use std::fs;
use std::path::{Path, PathBuf};

use super::files;

const SUMMARY: &str = "docs/SUMMARY.md";
const TROUBLESHOOTING: &str = "docs/troubleshooting.md";
/// Prompts that are not in the book: what the paper's prompts say is in the paper.
const LEFT_OUT: &str = "prompts/paper/";
/// Shorter pieces of a message say nothing.
const SHORTEST_PIECE: usize = 6;

/// Pages that the book lacks, and messages that the program does not have.
pub fn findings(root: &Path, sources: &[PathBuf]) -> Vec<String> {
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    let docs = root.join("docs");
    let pages = files(&docs, "md").into_iter();
    let pages = pages.filter_map(|page| Some(page.strip_prefix(&docs).ok()?.display().to_string()));
    let plane = files(&root.join("python/mle_star_data"), "py");
    let program: Vec<String> = sources
        .iter()
        .chain(&plane)
        .map(|file| fs::read_to_string(file).unwrap_or_default().replace("\\\"", "\""))
        .collect();
    let unknown = unknown_messages(&read(TROUBLESHOOTING), &program);
    let pages: Vec<String> = pages.collect();
    let is_top = |page: &&String| !page.contains('/');
    let leaving = pages.iter().filter(is_top).filter(|page| leaves_the_book(&read(&format!("docs/{page}"))));
    let leaving: Vec<String> =
        leaving.map(|page| format!("docs/{page}: a link leaves the book; write the path as code")).collect();
    [unlisted(&read(SUMMARY), pages), unknown, leaving].concat()
}

fn unlisted(summary: &str, pages: Vec<String>) -> Vec<String> {
    let is_listed = |page: &String| summary.contains(&format!("]({page})"));
    let belongs = |page: &String| page != "SUMMARY.md" && !page.starts_with(LEFT_OUT);
    let missing = pages.into_iter().filter(|page| belongs(page) && !is_listed(page));
    missing.map(|page| format!("{SUMMARY} leaves out {page}")).collect()
}

/// Files outside of `docs/` are not in the book.
fn leaves_the_book(page: &str) -> bool {
    page.contains("](../")
}

/// The messages in headings such as ``### `no train.csv in FOLDER` `` of which no source file has all the words.
fn unknown_messages(page: &str, program: &[String]) -> Vec<String> {
    let quoted =
        |line: &'_ str| line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`')).map(str::to_owned);
    let is_known = |message: &String| {
        pieces(message).iter().all(|piece| program.iter().any(|source| source.contains(piece.as_str())))
    };
    let unknown = page.lines().filter_map(quoted).filter(|message| !is_known(message));
    unknown.map(|message| format!("{TROUBLESHOOTING}: the program has no message `{message}`")).collect()
}

/// The parts of a message between its placeholders, which are in capitals or numbers.
fn pieces(message: &str) -> Vec<String> {
    let is_placeholder = |word: &&str| {
        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_name = letters.len() > 1 && letters.chars().all(|c| c.is_ascii_uppercase());
        is_name || *word == "…"
    };
    let words: Vec<&str> = message.split(' ').collect();
    let pieces = words.split(is_placeholder).map(|words| words.join(" "));
    pieces.filter(|piece| piece.len() >= SHORTEST_PIECE).collect()
}

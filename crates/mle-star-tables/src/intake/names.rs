//! What the name of a table file tells: its format, how it is packed, and its role.

use std::fs;
use std::path::Path;

/// The endings of table files, in lower case; each may be packed.
const ENDINGS: [&str; 16] = [
    ".csv", ".tsv", ".tab", ".psv", ".txt", ".parquet", ".pq", ".feather", ".arrow", ".arrows", ".ipc",
    ".xlsx", ".xlsm", ".jsonl", ".ndjson", ".json",
];
const PACKED: [&str; 4] = [".gz", ".zst", ".zstd", ".zip"];

/// Whether this is a file whose name is that of a table.
pub fn is_table(path: &Path) -> bool {
    path.is_file() && path.file_name().is_some_and(|name| is_table_name(&name.to_string_lossy()))
}

/// Whether a folder has a table with a role.
pub fn has_tables(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.into_iter().any(|name| {
        let stem = if is_table_name(&name) { Some(stem(&name)) } else { name.strip_suffix(".zip") };
        stem.is_some_and(has_role)
    })
}

/// Whether a name says that a table is for training, to predict, or a sample submission: `train_labels`, `en_test_2`,
/// `exampleSolution`. Which one it is the data plane says.
fn has_role(stem: &str) -> bool {
    const SHOWS: [&str; 4] = ["sample", "example", "template", "format"];
    const SUBMITTED: [&str; 11] = [
        "submission",
        "submissions",
        "entry",
        "entries",
        "answer",
        "answers",
        "result",
        "results",
        "solution",
        "prediction",
        "predictions",
    ];
    let stem = stem.to_lowercase();
    let words: Vec<&str> = stem.split(|letter: char| !letter.is_alphabetic()).collect();
    let (has, letters) = (|some: &[&str]| words.iter().any(|word| some.contains(word)), words.concat());
    let is_pair = |one: &&str| {
        let rest = letters.strip_prefix(one).or_else(|| letters.strip_suffix(one));
        rest.is_some_and(|rest| SUBMITTED.contains(&rest))
    };
    let is_example = has(&SHOWS) && has(&SUBMITTED) || SHOWS.iter().any(is_pair);
    let labels = ["labels", "trainlabels", "traininglabels"].contains(&letters.as_str());
    is_example || labels || has(&["train", "training"]) || has(&["test"]) && !has(&["labels", "label"])
}

/// The name of a table file without its endings.
pub fn stem(name: &str) -> &str {
    let (name, _) = strip_endings(name, &PACKED);
    strip_endings(name, &ENDINGS).0
}

fn is_table_name(name: &str) -> bool {
    let (name, _) = strip_endings(name, &PACKED);
    strip_endings(name, &ENDINGS).1
}

/// The name without one of these endings, and whether it has one.
fn strip_endings<'a>(name: &'a str, endings: &[&str]) -> (&'a str, bool) {
    let lower = name.to_ascii_lowercase();
    let ending = endings.iter().find(|ending| lower.ends_with(**ending) && lower.len() > ending.len());
    (ending.map_or(name, |ending| &name[..name.len() - ending.len()]), ending.is_some())
}

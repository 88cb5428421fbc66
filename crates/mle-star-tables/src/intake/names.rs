//! Names of table files.

use std::fs;
use std::path::Path;

use crate::folder::roles;

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
        stem.is_some_and(|stem| roles::usual(stem).is_some() || roles::likely(stem).is_some())
    })
}

/// The name of a table file without its endings.
pub fn stem(name: &str) -> &str {
    let (name, _) = without(name, &PACKED);
    without(name, &ENDINGS).0
}

fn is_table_name(name: &str) -> bool {
    let (name, _) = without(name, &PACKED);
    without(name, &ENDINGS).1
}

/// The name without one of these endings, and whether it has one.
fn without<'a>(name: &'a str, endings: &[&str]) -> (&'a str, bool) {
    let lower = name.to_ascii_lowercase();
    let ending = endings.iter().find(|ending| lower.ends_with(**ending) && lower.len() > ending.len());
    (ending.map_or(name, |ending| &name[..name.len() - ending.len()]), ending.is_some())
}

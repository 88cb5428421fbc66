//! The scripts of the corpus. A `.pair` is two scripts: `-` begins the lines that only the leaking one has, and `+` those
//! that only the mended one has. Other files are scripts as they stand, and their names say which.

use std::fs;
use std::path::Path;

/// Names and sources of all scripts of a kind: `leaks`, `mended` or `clean`.
pub fn scripts(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mle-star-leakage/corpus");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<(String, String)> = files
        .filter_map(|path| {
            let file = path.file_name()?.to_str()?;
            let (name, ending) = file.split_once('.')?;
            let text = fs::read_to_string(&path).unwrap();
            match ending.strip_suffix(".py") {
                Some(of) => (of == kind).then(|| (name.to_owned(), text)),
                None => Some((name.to_owned(), side(&text, kind)?)),
            }
        })
        .collect();
    scripts.sort();
    scripts
}

fn side(pair: &str, kind: &str) -> Option<String> {
    let (own, other) = match kind {
        "leaks" => ('-', '+'),
        "mended" => ('+', '-'),
        _ => return None,
    };
    let lines = pair.lines().filter(|line| !line.starts_with(other));
    Some(lines.flat_map(|line| [line.strip_prefix(own).unwrap_or(line), "\n"]).collect())
}

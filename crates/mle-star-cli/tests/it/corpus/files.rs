//! Writes tables of text as people have them.
//!
//! Words: a separator (`tabs`, `semicolons`, `bars`), `decimal-commas`, `bom`, and line ends (`cr`, `crlf`). Files of other
//! formats, encodings and packings are written by `python/tests/data/corpus.py`, which reads all inputs.

use super::case;

/// The endings of files that are no text.
const OTHERS: [&str; 8] = [".gz", ".zst", ".zip", ".parquet", ".feather", ".arrow", ".xlsx", ".jsonl"];

/// The bytes of a file; `None` if it is no text in UTF-8.
pub fn bytes(file: &case::File) -> Option<Vec<u8>> {
    let is_other = |word: &String| word.starts_with("from=") || word == "utf-16" || word == "windows-1252";
    let is_text =
        !OTHERS.iter().any(|ending| file.name.ends_with(ending)) && !file.words.iter().any(is_other);
    is_text.then(|| text(&file.text, &file.words))
}

/// The text with separators and line ends.
fn text(text: &str, words: &[String]) -> Vec<u8> {
    let mut text = text.to_owned();
    let separator = words.iter().find_map(|word| match word.as_str() {
        "tabs" => Some(b'\t'),
        "semicolons" => Some(b';'),
        "bars" => Some(b'|'),
        _ => None,
    });
    let commas = words.iter().any(|word| word == "decimal-commas");
    if separator.is_some() || commas {
        let mut table =
            csv::WriterBuilder::new().delimiter(separator.unwrap_or(b',')).from_writer(Vec::new());
        for row in rows(&text) {
            let cell = |cell: &String| {
                if commas && cell.parse::<f64>().is_ok() { cell.replace('.', ",") } else { cell.clone() }
            };
            table.write_record(row.iter().map(cell)).unwrap();
        }
        text = String::from_utf8(table.into_inner().unwrap()).unwrap();
    }
    for word in words {
        match word.as_str() {
            "cr" => text = text.replace('\n', "\r"),
            "crlf" => text = text.replace('\n', "\r\n"),
            "bom" => text.insert(0, '\u{feff}'),
            _ => {}
        }
    }
    text.into_bytes()
}

/// All rows with the header.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let record =
        |record: Result<csv::StringRecord, csv::Error>| record.unwrap().iter().map(str::to_owned).collect();
    reader.records().map(record).collect()
}

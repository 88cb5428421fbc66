//! Further files with the labels of training rows, which would be in the reach of every script.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;

use zip::ZipArchive;

use super::checks::Tables;
use super::seeded::Seeded;
use crate::folder::Source;
use crate::records::{self, Records, value};
use crate::split::words;

/// Endings of tables as text, except for CSV files, which are read.
const TEXTS: [&str; 6] = [".tsv", ".txt", ".dat", ".bak", ".old", ".orig"];
/// Endings of tables that name their columns within quotes.
const QUOTED: [&str; 3] = [".json", ".jsonl", ".ndjson"];
/// Endings of tables that name their columns within other bytes.
const BINARY: [&str; 7] = [".parquet", ".feather", ".arrow", ".pkl", ".pickle", ".h5", ".hdf5"];
/// Endings of files that may be a table and are not opened.
const CLOSED: [&str; 11] =
    [".xlsx", ".xls", ".npz", ".npy", ".tar", ".tar.gz", ".tgz", ".7z", ".rar", ".csv.bz2", ".csv.xz"];

/// Words in names of files with labels of training rows, and those that may stand beside them.
const LABELS: [&str; 8] = ["train", "training", "label", "labels", "target", "targets", "fold", "folds"];
const BESIDE_LABELS: [&str; 10] =
    ["all", "clean", "cleaned", "data", "full", "new", "raw", "set", "table", "v"];

/// The size of the parts of a file in which columns are named: its beginning and its end.
const PART: u64 = 1 << 20;
/// Shorter names occur in any file.
const SHORTEST_NAME: usize = 3;

/// Whether a file beside the tables has labels of training rows, or may have them if it cannot be read.
pub(super) fn has_labels(data_dir: &Path, path: &Path, tables: &Tables<'_>) -> io::Result<bool> {
    if is_named_train(path) {
        return Ok(true);
    }
    let file = data_dir.join(path);
    if has_train(&file) {
        return Ok(true);
    }
    if let (Some(source), Some(folder)) = (Source::at(&file), file.parent()) {
        return has_rows_of(folder, &source, data_dir, tables);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let ending_of =
        |endings: &[&'static str]| endings.iter().find(|ending| name.ends_with(**ending)).copied();
    if ending_of(&TEXTS).is_some() {
        return Ok(tables.targets.iter().any(|(target, _)| is_column(&file, target)));
    }
    if let Some(ending) = ending_of(&CLOSED) {
        return Ok(says_labels(&name[..name.len() - ending.len()]));
    }
    let quoted = ending_of(&QUOTED);
    let Some(ending) = quoted.or_else(|| ending_of(&BINARY)) else { return Ok(false) };
    let says_labels = says_labels(&name[..name.len() - ending.len()]);
    let parts = parts(&file)?;
    let names = |column: &str| match quoted {
        Some(_) => contains(&parts, format!("\"{column}\"").as_bytes()),
        None if column.len() < SHORTEST_NAME => says_labels,
        None => contains(&parts, column.as_bytes()),
    };
    Ok(tables.targets.iter().any(|(target, _)| names(target)) && (says_labels || names(tables.id)))
}

/// Whether a table has labels of training rows: rows with their IDs and a target, or with a target and the same other
/// values. `folder` has the table.
pub(super) fn has_rows_of(
    folder: &Path,
    other: &Source,
    data_dir: &Path,
    tables: &Tables<'_>,
) -> io::Result<bool> {
    let header = records::read(folder, other, |rows| Ok(rows.names()))?;
    let has = |name: &str| header.iter().any(|known| known.trim() == name.trim());
    let targets: Vec<&str> =
        tables.targets.iter().map(|(target, _)| *target).filter(|name| has(name)).collect();
    if targets.is_empty() {
        return Ok(false);
    }
    if has(tables.id) {
        let train: HashSet<u64> = digests(data_dir, tables.train, &[tables.id])?.into_iter().collect();
        return Ok(digests(folder, other, &[tables.id])?.iter().any(|id| train.contains(id)));
    }
    let is_target = |name: &str| tables.targets.iter().any(|(target, _)| *target == name);
    let in_train = records::read(data_dir, tables.train, |rows| Ok(rows.names()))?;
    let mut common: Vec<&str> =
        in_train.iter().map(String::as_str).filter(|name| !is_target(name) && has(name)).collect();
    if common.is_empty() {
        return Ok(false);
    }
    common.extend(targets);
    let train: HashSet<u64> = digests(data_dir, tables.train, &common)?.into_iter().collect();
    let rows = digests(folder, other, &common)?;
    let known = rows.iter().filter(|row| train.contains(row)).count();
    Ok(known > 0 && known * 2 >= rows.len())
}

/// The digests of the values of columns, in ascending order.
pub(super) fn digests(folder: &Path, source: &Source, columns: &[&str]) -> io::Result<Vec<u64>> {
    let seeded = Seeded::new(0, "ids");
    let mut digests = records::read(folder, source, |mut rows: Records<'_>| {
        let positions: Vec<usize> =
            columns.iter().map(|column| rows.position(column)).collect::<io::Result<_>>()?;
        let (mut digests, mut text) = (Vec::new(), String::new());
        while rows.next()? {
            text.clear();
            for (at, position) in positions.iter().enumerate() {
                text.push_str(if at > 0 { "\0" } else { "" });
                text.push_str(value(rows.row(), *position).unwrap_or_default());
            }
            digests.push(seeded.of(text.as_bytes()));
        }
        Ok(digests)
    })?;
    digests.sort_unstable();
    Ok(digests)
}

/// Whether a file is called `train`, with any ending of a table.
fn is_named_train(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let Some(ending) = name.strip_prefix("train") else { return false };
    let packed = [".csv", ".csv.gz", ".csv.zip"].contains(&ending);
    packed || [&TEXTS[..], &QUOTED, &BINARY, &CLOSED].iter().any(|endings| endings.contains(&ending))
}

/// Whether this is an archive with a training table.
fn has_train(path: &Path) -> bool {
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("zip")) {
        return false;
    }
    let archive = File::open(path).ok().and_then(|file| ZipArchive::new(file).ok());
    archive.is_some_and(|archive| {
        let is_train = |name: String| is_named_train(Path::new(&name)) && !name.starts_with("__MACOSX");
        archive.file_names().filter_map(|name| name.ok().map(Into::into)).any(is_train)
    })
}

/// Whether a name without its ending says that the file has labels, and nothing else.
fn says_labels(stem: &str) -> bool {
    let words = words(stem);
    let is_of = |known: &[&str], word: &str| known.contains(&word);
    words.iter().any(|word| is_of(&LABELS, word))
        && words.iter().all(|word| is_of(&LABELS, word) || is_of(&BESIDE_LABELS, word))
}

/// Whether the first line of a text names this column.
fn is_column(file: &Path, column: &str) -> bool {
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(PART).read_to_end(&mut start));
    let line = start.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut cells = line.split(['\t', ',', ';', '|']).map(|cell| cell.trim().trim_matches('"'));
    read.is_ok() && cells.clone().count() > 1 && cells.any(|cell| cell == column)
}

/// The beginning and the end of a file.
fn parts(file: &Path) -> io::Result<[Vec<u8>; 2]> {
    let mut file = File::open(file)?;
    let (mut start, mut end) = (Vec::new(), Vec::new());
    (&mut file).take(PART).read_to_end(&mut start)?;
    let last = file.metadata()?.len().saturating_sub(PART);
    file.seek(SeekFrom::Start(last))?;
    file.take(PART).read_to_end(&mut end)?;
    Ok([start, end])
}

fn contains(parts: &[Vec<u8>], wanted: &[u8]) -> bool {
    parts.iter().any(|part| part.windows(wanted.len()).any(|window| window == wanted))
}

//! Further files with the labels of training rows, which would be in the reach of every script.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::memmem;
use zip::ZipArchive;

use super::tables::Tables;
use crate::column_names::words;
use crate::folder::Source;
use crate::missing::Words;
use crate::records::{self, Records, digest, normal, value};

/// Endings of tables as text, except for CSV files, which are read.
const TEXTS: [&str; 6] = [".tsv", ".txt", ".dat", ".bak", ".old", ".orig"];
/// Endings of tables that name their columns within quotes.
const QUOTED: [&str; 3] = [".json", ".jsonl", ".ndjson"];
/// Endings of tables that name their columns within other bytes.
const BINARY: [&str; 7] = [".parquet", ".feather", ".arrow", ".pkl", ".pickle", ".h5", ".hdf5"];
/// Endings of tables that are not opened.
const CLOSED: [&str; 5] = [".xlsx", ".xls", ".npz", ".csv.bz2", ".csv.xz"];

/// Words in names of files with labels of training rows, and those that may stand beside them.
const LABELS: [&str; 8] = ["train", "training", "label", "labels", "target", "targets", "fold", "folds"];
const BESIDE_LABELS: [&str; 10] =
    ["all", "clean", "cleaned", "data", "full", "new", "raw", "set", "table", "v"];
/// Words in names of files about the rows to predict.
const OF_TEST: [&str; 4] = ["sample", "submission", "submit", "test"];

/// The size of the parts of a file in which columns are named: its beginning and its end.
const PART: u64 = 1 << 20;
/// Shorter names occur in any file.
const SHORTEST_NAME: usize = 3;
/// Names that pandas itself writes into files.
const OF_PANDAS: [&str; 4] = ["name", "field_name", "type", "metadata"];
/// Of the files of a folder with the same ending, only the first are opened: they are all of one kind.
const ALIKE: usize = 20;
/// No more files are opened.
const MOST_OPENED: usize = 2_000;

/// The endings of packed tables.
const PACKED: [&str; 3] = [".csv.gz", ".csv.zst", ".csv.zip"];
/// Looks for labels of training rows in other files.
pub(super) struct Copies<'a> {
    data_dir: &'a Path,
    tables: &'a Tables<'a>,
    /// The files that were opened, by folder and ending.
    opened: HashMap<(PathBuf, Option<OsString>), usize>,
    /// The rows of the training table, by the columns that are compared.
    train: HashMap<Vec<String>, HashMap<u64, TrainingRow>>,
}

/// What a training row has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TrainingRow {
    /// These labels.
    Labels(u64),
    /// The same values as another row.
    Alike,
}

impl<'a> Copies<'a> {
    pub(super) fn new(data_dir: &'a Path, tables: &'a Tables<'a>) -> Self {
        Self { data_dir, tables, opened: HashMap::new(), train: HashMap::new() }
    }

    /// Whether a file beside the tables has labels of training rows, or may have them if it cannot be read.
    pub(super) fn has_labels(&mut self, path: &Path) -> io::Result<bool> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        if is_named_train(&name) {
            return Ok(true);
        }
        let says = |list: &[&str]| words(&name).iter().any(|word| list.contains(&word.as_str()));
        // "train_sample.csv" may hold training rows.
        let is_of_test = says(&OF_TEST);
        if is_of_test && !says(&LABELS) || !self.may_open(path) {
            return Ok(false);
        }
        let file = self.data_dir.join(path);
        if has_train(&file) {
            return Ok(true);
        }
        if let (Some(source), Some(folder)) = (Source::at(&file), file.parent()) {
            // A table that is torn can be read with some patience.
            return self.has_rows_of(folder, &source).or_else(|_| self.is_text_of(&file, &name));
        }
        // The data plane has made plain tables of the others: what is packed is a copy, or large.
        if PACKED.iter().any(|ending| name.ends_with(ending)) {
            return Ok(true);
        }
        if is_of_test {
            return Ok(false);
        }
        let ending_of =
            |endings: &[&'static str]| endings.iter().find(|ending| name.ends_with(**ending)).copied();
        if ending_of(&TEXTS).is_some() {
            return self.is_text_of(&file, &name);
        }
        if let Some(ending) = ending_of(&CLOSED) {
            return Ok(says_labels(&name[..name.len() - ending.len()]));
        }
        let quoted = ending_of(&QUOTED);
        let Some(ending) = quoted.or_else(|| ending_of(&BINARY)) else { return Ok(false) };
        let says_labels = says_labels(&name[..name.len() - ending.len()]);
        let parts = parts(&file)?;
        let is_named = |column: &str| match quoted {
            Some(_) => are_keys(&parts, column),
            None if column.len() < SHORTEST_NAME || OF_PANDAS.contains(&column) => says_labels,
            None => is_word(&parts, column),
        };
        let targets = &self.tables.targets;
        Ok(targets.iter().any(|(target, _)| is_named(target)) && (says_labels || is_named(self.tables.id)))
    }

    /// Whether a table in `folder` has labels of training rows: rows with their IDs and a target, or, for at least half of
    /// its rows, with a target and other values that only one training row has. A table of one column has none.
    pub(super) fn has_rows_of(&mut self, folder: &Path, other: &Source) -> io::Result<bool> {
        let header = records::read(folder, other, |rows| Ok(rows.names()))?;
        if let [one] = header.as_slice() {
            let is_other_text = one.contains([';', '\t', '|']);
            let name = other.file.to_string_lossy().to_lowercase();
            return Ok(is_other_text && self.is_text_of(&folder.join(&other.file), &name)?);
        }
        let has = |name: &str| header.iter().any(|known| known.trim() == name.trim());
        let labels: Vec<&str> =
            self.tables.targets.iter().map(|(target, _)| *target).filter(|name| has(name)).collect();
        if labels.is_empty() {
            return Ok(false);
        }
        if has(self.tables.id) {
            let ids = rows(folder, other, &[self.tables.id], &[])?;
            let train = self.train(&[self.tables.id], &[])?;
            return Ok(ids.iter().any(|(id, _)| train.contains_key(id)));
        }
        let is_target = |name: &str| self.tables.targets.iter().any(|(target, _)| *target == name);
        let in_train = self.tables.train.names();
        let common: Vec<&str> =
            in_train.iter().map(String::as_str).filter(|name| !is_target(name) && has(name)).collect();
        if common.is_empty() {
            return Ok(false);
        }
        let train = self.train(&common, &labels)?;
        let rows = rows(folder, other, &common, &labels)?;
        let is_known =
            |(values, labels): &&(u64, u64)| train.get(values) == Some(&TrainingRow::Labels(*labels));
        let known = rows.iter().filter(is_known).count();
        Ok(known > 0 && known * 2 >= rows.len())
    }

    /// The labels of the training rows by their values in some columns.
    fn train(&mut self, columns: &[&str], labels: &[&str]) -> io::Result<&HashMap<u64, TrainingRow>> {
        let key: Vec<String> =
            columns.iter().chain([&""]).chain(labels).map(|name| (*name).to_owned()).collect();
        if !self.train.contains_key(&key) {
            let mut train: HashMap<u64, TrainingRow> = HashMap::new();
            let table = self.tables.train;
            let positions = table.positions(columns.iter().chain(labels).copied())?;
            let mut digests = Digests::default();
            table.each(&positions, |row| {
                // As in the other table, where no word is missing.
                let value = |at: usize| normal(row.cell(at), Words::ALL).unwrap_or_default();
                let values = digests.of((0..columns.len()).map(value));
                let labels = digests.of((columns.len()..positions.len()).map(value));
                train
                    .entry(values)
                    .and_modify(|row| *row = TrainingRow::Alike)
                    .or_insert(TrainingRow::Labels(labels));
                true
            })?;
            self.train.insert(key.clone(), train);
        }
        Ok(&self.train[&key])
    }

    /// Whether the first line of a text names a target and the ID, or a target if the name of the file says labels.
    fn is_text_of(&self, file: &Path, name: &str) -> io::Result<bool> {
        let mut start = Vec::new();
        File::open(file)?.take(PART).read_to_end(&mut start)?;
        let line = start.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let cells = line.trim_start_matches('\u{feff}').split(['\t', ',', ';', '|']);
        let cells: Vec<&str> = cells.map(|cell| cell.trim().trim_matches('"')).collect();
        let stem = name.split('.').next().unwrap_or_default();
        let names_target = self.tables.targets.iter().any(|(target, _)| cells.contains(target));
        Ok(cells.len() > 1 && names_target && (cells.contains(&self.tables.id) || says_labels(stem)))
    }

    /// Whether a file may be opened, of which there are not too many.
    fn may_open(&mut self, path: &Path) -> bool {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        if self.opened.values().sum::<usize>() >= MOST_OPENED {
            return false;
        }
        let alike = self.opened.entry((folder, path.extension().map(OsString::from))).or_default();
        *alike += 1;
        *alike <= ALIKE
    }
}

/// The digests of the values of columns and of others, for each row.
fn rows(folder: &Path, source: &Source, columns: &[&str], others: &[&str]) -> io::Result<Vec<(u64, u64)>> {
    records::read(folder, source, |mut rows: Records<'_>| {
        let positions = |columns: &[&str]| -> io::Result<Vec<usize>> {
            columns.iter().map(|column| rows.position(column)).collect()
        };
        let (columns, others) = (positions(columns)?, positions(others)?);
        let (mut found, mut digests) = (Vec::new(), Digests::default());
        while rows.next()? {
            let mut digest = |positions: &[usize]| {
                digests.of(positions.iter().map(|at| value(rows.row(), *at, Words::ALL).unwrap_or_default()))
            };
            found.push((digest(&columns), digest(&others)));
        }
        Ok(found)
    })
}

/// Makes digests of several values.
#[derive(Default)]
struct Digests {
    text: String,
}

impl Digests {
    fn of<'a>(&mut self, values: impl Iterator<Item = &'a str>) -> u64 {
        self.text.clear();
        for value in values {
            self.text.push_str(value);
            self.text.push('\0');
        }
        digest(self.text.as_str())
    }
}

/// Whether a file, with this name in lower case, is called `train`, with any ending of a table.
fn is_named_train(name: &str) -> bool {
    let Some(ending) = name.strip_prefix("train") else { return false };
    let packed = [".csv", ".csv.gz", ".csv.zip"].contains(&ending);
    packed || [&TEXTS[..], &QUOTED, &BINARY, &CLOSED].iter().any(|endings| endings.contains(&ending))
}

/// Whether this is an archive with a training table, or a table of labels.
fn has_train(path: &Path) -> bool {
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("zip")) {
        return false;
    }
    let archive = File::open(path).ok().and_then(|file| ZipArchive::new(file).ok());
    let is_train = |name: String| {
        let base = name.rsplit('/').next().unwrap_or_default().to_lowercase();
        let says_labels = base.strip_suffix(".csv").is_some_and(says_labels);
        (is_named_train(&base) || says_labels) && !name.starts_with("__MACOSX")
    };
    archive.is_some_and(|archive| {
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

/// The beginning and the end of a file.
fn parts(file: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut file = File::open(file)?;
    let mut start = Vec::new();
    (&mut file).take(PART).read_to_end(&mut start)?;
    let length = file.metadata()?.len();
    if length <= PART {
        return Ok(vec![start]);
    }
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(length - PART))?;
    file.take(PART).read_to_end(&mut end)?;
    Ok(vec![start, end])
}

/// Whether a name is a key of two objects, or of a column: an object with numbered rows, or a list.
fn are_keys(parts: &[Vec<u8>], name: &str) -> bool {
    let key = format!("\"{name}\"");
    let mut count = 0;
    for part in parts {
        for at in memmem::find_iter(part, &key) {
            let mut behind = part[at + key.len()..].iter().filter(|byte| !byte.is_ascii_whitespace());
            if behind.next() != Some(&b':') {
                continue;
            }
            count += 1;
            let is_column = match behind.next() {
                Some(b'[') => true,
                Some(b'{') => behind.next() == Some(&b'"') && behind.next().is_some_and(u8::is_ascii_digit),
                _ => false,
            };
            if is_column || count == 2 {
                return true;
            }
        }
    }
    false
}

/// Whether a name is there as a whole word.
fn is_word(parts: &[Vec<u8>], name: &str) -> bool {
    let is_within =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    parts.iter().any(|part| {
        memmem::find_iter(part, name).any(|at| {
            let before = at.checked_sub(1).and_then(|at| part.get(at));
            !is_within(before) && !is_within(part.get(at + name.len()))
        })
    })
}

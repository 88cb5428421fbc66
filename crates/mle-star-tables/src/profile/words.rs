//! Words that look missing but are values: a class called `None`, a region `NA`, the ID `null`.
//!
//! pandas takes these words for missing values in every column. They are values of a column where the IDs, the sample
//! submission or the description use them as such ([`decide`]), or where the file marks missing cells, as Parquet does, and
//! missing everywhere else. What was decided is part of
//! a profile and of the task, and everything that reads tables follows it.

mod described;

use std::io;

use crate::metrics::places_of_columns;
use mle_star_domain::task::TextColumn;

use super::{Column, ROWS_LOOKED_AT, Table};
use crate::missing::{MISSING, Words, place};
use crate::table;

/// A table with its profile.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) loaded: &'a table::Table,
    pub(crate) profile: &'a Table,
}

/// What is known when words are decided.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) train: Side<'a>,
    pub(crate) test: Option<Side<'a>>,
    pub(crate) sample: Option<Side<'a>>,
    /// The description of the task.
    pub(crate) description: &'a str,
    /// The ID column, if the user named it.
    pub(crate) id: Option<&'a str>,
    /// Whether the file of the training table marks missing cells.
    pub(crate) marks_missing: bool,
}

/// The columns that are read as text, with the words that are values there.
///
/// # Errors
/// A table cannot be read.
pub(crate) fn decide(known: &Known<'_>) -> io::Result<Vec<TextColumn>> {
    let mut found = Vec::new();
    let id = known.id_column();
    if let Some(id) = &id {
        found.extend(known.of_ids(id)?);
    }
    for column in &known.train.profile.columns {
        if id.as_ref() != Some(&column.name) {
            found.extend(known.of_values(column)?.or_else(|| long(column)));
        }
    }
    Ok(found)
}

/// A column of whole numbers that are too long for a float.
pub(super) fn long(column: &Column) -> Option<TextColumn> {
    let why = "no float holds its numbers".to_owned();
    column.long.then(|| TextColumn { column: column.name.clone(), words: Vec::new(), why })
}

/// The words that are values of a column.
pub(crate) fn words_of(columns: &[TextColumn], name: &str) -> Words {
    let column = columns.iter().find(|column| column.column == name);
    Words::of(column.into_iter().flat_map(|column| &column.words).map(String::as_str))
}

/// How often each word that looks missing is in a column, the empty cell included.
pub(crate) fn counts(table: &table::Table, column: &str) -> io::Result<Vec<(&'static str, u64)>> {
    let mut counts = [0_u64; MISSING.len()];
    if let Some(at) = table.find(column) {
        table.each(&[at], |row| {
            let cell = str::from_utf8(row.cell(0)).unwrap_or("?").trim();
            place(cell).into_iter().for_each(|at| counts[at] += 1);
            true
        })?;
    }
    Ok(MISSING.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect())
}

impl Side<'_> {
    /// The words of a column, each with its number of rows; none if the table lacks the column.
    fn words(self, column: &str) -> io::Result<Vec<(&'static str, u64)>> {
        let known = self.profile.column(column);
        // Rows that were not looked at may have some.
        let may_have = known.is_some_and(|column| column.missing > 0) || self.profile.rows > ROWS_LOOKED_AT;
        let words = if may_have { counts(self.loaded, column)? } else { Vec::new() };
        Ok(words.into_iter().filter(|(word, _)| !word.is_empty()).collect())
    }
}

impl Known<'_> {
    fn tables(&self) -> impl Iterator<Item = Side<'_>> {
        [Some(self.train), self.test, self.sample].into_iter().flatten()
    }

    /// The column with the row IDs: the given one, the first column of the sample submission that the table to predict
    /// has, or one that is named like an ID.
    fn id_column(&self) -> Option<String> {
        let predicted = self.test.unwrap_or(self.train).profile;
        let bare = |name: &str| name.trim().to_lowercase();
        let has = |name: &str| predicted.columns.iter().find(|column| bare(&column.name) == bare(name));
        let given = self.id.and_then(has);
        let first = || self.sample.and_then(|sample| has(&sample.profile.columns.first()?.name));
        let named = || {
            let says_id = |column: &&Column| {
                let lower = bare(&column.name);
                lower == "id" || lower.ends_with("_id") || column.name.ends_with("Id")
            };
            let rows = self.train.profile.rows.min(ROWS_LOOKED_AT);
            let is_unique = |column: &&Column| column.distinct + column.missing == rows;
            self.train.profile.columns.iter().filter(says_id).find(is_unique)
        };
        given.or_else(first).or_else(named).map(|column| column.name.clone())
    }

    /// The words that name rows. A word that several rows of a table have names none of them.
    fn of_ids(&self, id: &str) -> io::Result<Option<TextColumn>> {
        let (mut words, mut respelled) = (Words::default(), false);
        for side in self.tables() {
            let once = side.words(id)?.into_iter().filter(|(_, rows)| *rows == 1).map(|(word, _)| word);
            words = words.with(Words::of(once));
            respelled |= side.profile.column(id).is_some_and(|column| column.respelled || column.long);
        }
        let why = "IDs are text unless all are numbers in one notation".to_owned();
        let column =
            TextColumn { column: id.to_owned(), words: words.texts().map(str::to_owned).collect(), why };
        Ok((respelled || !words.is_empty()).then_some(column))
    }

    /// The words that are values of a column of the training table.
    fn of_values(&self, column: &Column) -> io::Result<Option<TextColumn>> {
        let in_sample = self.sample.is_some_and(|sample| sample.profile.column(&column.name).is_some());
        // Only the sample submission can tell that a word among numbers is a value. Counting reads all rows.
        if column.kind.is_number() && !in_sample {
            return Ok(None);
        }
        let present: Vec<&str> = self.train.words(&column.name)?.into_iter().map(|(word, _)| word).collect();
        if present.is_empty() {
            return Ok(None);
        }
        let (of_sample, file) = self.of_sample(column, &present)?;
        let by_sample = Words::of(of_sample.iter().copied());
        let is_predicted = self.test.is_none_or(|test| test.profile.column(&column.name).is_none());
        let others: Vec<&str> = column.top_values.iter().map(|(value, _)| value.as_str()).collect();
        let by_description = match column.kind.is_number() {
            true => Words::default(),
            false if self.marks_missing => Words::of(present.iter().copied()),
            false => described::words(self.description, &present, &others, is_predicted),
        };
        let words = by_sample.with(by_description);
        let why = match by_sample.is_empty() {
            true if self.marks_missing => "the file of the training table marks missing cells".to_owned(),
            true => "the description has it among the values".to_owned(),
            false => format!("{file} has it"),
        };
        let column = TextColumn {
            column: column.name.clone(),
            words: words.texts().map(str::to_owned).collect(),
            why,
        };
        Ok((!words.is_empty()).then_some(column))
    }

    /// Those of these words that the sample submission uses as values of a column, and its file.
    fn of_sample<'a>(&self, column: &Column, present: &[&'a str]) -> io::Result<(Vec<&'a str>, String)> {
        let Some(sample) = self.sample else { return Ok((Vec::new(), String::new())) };
        let file = sample.profile.file.display().to_string();
        let used: Vec<&str> = match sample.profile.column(&column.name) {
            Some(twin) => {
                let words = sample.words(&column.name)?;
                // One word in all rows among numbers says that nothing is predicted yet.
                let is_filler = column.kind.is_number() && twin.distinct == 0;
                words.into_iter().filter(|_| !is_filler).map(|(word, _)| word).collect()
            }
            None if column.kind.is_number() => Vec::new(),
            None => self.class_columns(sample.profile, column, present),
        };
        Ok((present.iter().copied().filter(|word| used.contains(word)).collect(), file))
    }

    /// The words that are the names of classes: the sample submission has a column for each of them and for the other values.
    fn class_columns<'a>(&self, sample: &Table, column: &Column, present: &[&'a str]) -> Vec<&'a str> {
        let is_copied = |name: &str| self.test.is_some_and(|test| test.profile.column(name).is_some());
        let names = sample.columns.iter().map(|column| column.name.as_str());
        let asked: Vec<String> = names.filter(|name| !is_copied(name)).map(str::to_owned).collect();
        let values = || column.top_values.iter().map(|(value, _)| value.clone());
        let is_class = |word: &str| {
            let classes: Vec<String> = values().chain([word.to_owned()]).collect();
            // The test table may lack the ID in the first column.
            let behind_id = asked.get(1..).unwrap_or_default();
            classes.len() > 1
                && [asked.as_slice(), behind_id]
                    .iter()
                    .any(|asked| places_of_columns(asked, &classes).is_some())
        };
        present.iter().copied().filter(|word| is_class(word)).collect()
    }
}

//! How much the score of a script depends on each column: it predicts copies of labelled rows, in each of which one column
//! is permuted, and the program scores every copy.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use csv::{ReaderBuilder, StringRecord, Writer};
use mle_star_domain::measure::{Measurement, standard_deviation};
use mle_star_domain::metric::Direction;
use mle_star_domain::protocol::SplitKind;
use mle_star_domain::question::{ColumnImportance, Importance, ImportanceRows};
use mle_star_domain::trouble::Trouble;
use mle_star_metrics::labels::{Labels, Others};
use mle_star_metrics::refit;
use mle_star_tables::permuted::{Copies, Labelled};

use super::{Evaluator, REPLICATES, opened};

/// Standard errors in half of a 95 % interval.
const IN_INTERVAL: f64 = 1.96;
/// A score that differs by more than so many standard errors of the paired difference is that of another prediction.
const TOO_FAR: f64 = 3.0;
/// What is smaller than this part of the score's standard error does not matter.
const NEGLIGIBLE: f64 = 0.25;

/// The labelled rows that are copied.
#[derive(Clone, Debug)]
pub(crate) struct CopiedRows {
    pub(crate) on: ImportanceRows,
    /// The data whose test table has them.
    pub(crate) folder: PathBuf,
    /// A table with their IDs.
    pub(crate) ids: PathBuf,
}

/// The files of a run on copies of rows.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) rows: CopiedRows,
    /// What the script predicted for all copies.
    pub(crate) predicted: PathBuf,
    /// What a script predicted for the same rows in their own table.
    pub(crate) known: PathBuf,
}

/// What a script predicted for the rows of one copy, as CSV with their own IDs.
type Predicted = Vec<u8>;

impl Evaluator {
    /// Why the importance of columns is not computed with this metric, if it is not.
    pub(crate) fn computes_no_importance(&self) -> Option<String> {
        self.by_file.as_ref().map(|by_file| by_file.computes_no("the importance of columns"))
    }

    /// The copies of these rows.
    ///
    /// # Errors
    /// Why there are none.
    pub(crate) fn copies(&self, rows: &CopiedRows) -> Result<Copies, Trouble> {
        let setup = &self.setup;
        let id = setup.id_column.as_deref().ok_or_else(|| Trouble::new("rows have no ID", ""))?;
        let split = setup.split.as_ref();
        let by = split.filter(|split| matches!(split.kind, SplitKind::Groups | SplitKind::Time));
        let of_split = by.and_then(|split| split.column.clone());
        let of_groups = split.into_iter().flat_map(|split| split.groups.iter().chain(&split.series).cloned());
        let kept: Vec<String> = self
            .targets()
            .into_iter()
            .chain(of_split)
            .chain(of_groups)
            .chain(setup.columns.cluster.clone())
            .chain(setup.columns.weight.clone())
            .collect();
        Copies::of(&rows.folder, &Labelled { file: &rows.ids, id, kept: &kept })
    }

    /// How much worse the score of each column's copies is than that of the rows as they are.
    ///
    /// # Errors
    /// Why it is not known, in one clause.
    pub(crate) fn importance(&self, files: &Copied, direction: Direction) -> Result<Importance, String> {
        if let Some(why) = self.computes_no_importance() {
            return Err(why);
        }
        let (known, on) = (self.known()?, files.rows.on);
        let labels = match on {
            ImportanceRows::HeldOut => known.holdout.as_ref().map_err(Clone::clone)?,
            ImportanceRows::LastFold => &known.search,
        };
        let copies = self.copies(&files.rows).map_err(|trouble| trouble.message)?;
        let predicted = self.of_copies(&files.predicted, &copies)?;
        let Some((own, permuted)) = predicted.split_first() else {
            return Err("there are no copies of rows".to_owned());
        };
        if permuted.iter().all(|copy| copy == own) {
            return Err("the script predicts the same whatever the columns of the test table hold".to_owned());
        }
        let before = self.score_copy(labels, own)?;
        self.is_as_known(labels, (own, &before), &files.known, &copies)?;
        let mut columns = Vec::new();
        for (column, of_column) in copies.columns.iter().zip(permuted.chunks(copies.repetitions)) {
            let after = of_column.iter().map(|copy| self.score_copy(labels, copy));
            let after = after.collect::<Result<Vec<_>, _>>()?;
            columns.push(of_column_named(column, &before, &after, direction));
        }
        columns.sort_by(|one, other| other.difference.total_cmp(&one.difference));
        let (rows, repetitions) = (copies.ids.len() as u64, copies.repetitions as u64);
        Ok(Importance { rows, on, repetitions, columns, failure: String::new() })
    }

    fn score_copy(&self, labels: &Labels, copy: &[u8]) -> Result<Measurement, String> {
        let measured = labels.evaluate(copy, &self.layout(), Others::Reject, REPLICATES);
        measured.map_err(|error| error.to_string())
    }

    /// What was predicted for each copy. The rows are in the order of the sample submission.
    fn of_copies(&self, file: &Path, copies: &Copies) -> Result<Vec<Predicted>, String> {
        let (header, rows) = table(file)?;
        let rows_of_copy = copies.ids.len();
        if rows.len() != rows_of_copy * copies.count() {
            return Err(format!("the script predicted {} rows", rows.len()));
        }
        let id = self.position_of_id(&header)?;
        rows.chunks(rows_of_copy).map(|rows| written(&header, id, &copies.ids, rows)).collect()
    }

    fn position_of_id(&self, header: &StringRecord) -> Result<usize, String> {
        let id = self.setup.id_column.as_deref().unwrap_or_default();
        header.iter().position(|name| name == id).ok_or_else(|| format!("there is no column {id}"))
    }

    /// Checks that the rows as they are were predicted as they were in their own table: a script that uses statistics of the
    /// test table, or the order of its rows, predicts copies otherwise.
    fn is_as_known(
        &self,
        labels: &Labels,
        (own, before): (&[u8], &Measurement),
        known: &Path,
        copies: &Copies,
    ) -> Result<(), String> {
        let (header, rows) = table(known)?;
        let id = self.position_of_id(&header)?;
        let by_id: HashMap<&str, &StringRecord> =
            rows.iter().filter_map(|row| Some((normal(row.get(id)?), row))).collect();
        let of = |id: &String| by_id.get(normal(id)).map(|row| (*row).clone());
        let Some(rows) = copies.ids.iter().map(of).collect::<Option<Vec<_>>>() else {
            return Err("the predictions of the same rows are not kept".to_owned());
        };
        let known = written(&header, id, &copies.ids, &rows)?;
        let differs = |words: &str| {
            Err(format!(
                "the script predicts the same rows otherwise when the test table holds copies of them ({words}): it uses statistics of the test table, or the order of its rows"
            ))
        };
        let fits = refit::compare(Some(self.setup.metric), known.as_slice(), own, &self.layout());
        if let Some(fits) = fits.ok().filter(|fits| fits.is_jump) {
            return differs(&fits.words);
        }
        let measured = self.score_copy(labels, &known)?;
        let Some(gap) = before.difference(&measured) else { return Ok(()) };
        let negligible = NEGLIGIBLE * measured.standard_error.unwrap_or_default();
        let least = (TOO_FAR * gap.standard_error).max(negligible);
        if gap.by.abs() > least {
            return differs(&format!("they score {:.6} instead of {:.6}", before.score, measured.score));
        }
        Ok(())
    }
}

/// The importance of a column, by the score of the rows as they are and those of the copies.
fn of_column_named(
    column: &str,
    before: &Measurement,
    after: &[Measurement],
    direction: Direction,
) -> ColumnImportance {
    let sign = match direction {
        Direction::Maximize => -1.0,
        Direction::Minimize => 1.0,
    };
    let times = after.len() as f64;
    let by: Vec<f64> = after.iter().map(|copy| sign * (copy.score - before.score)).collect();
    let difference = by.iter().sum::<f64>() / times;
    let replicate = |place: usize| -> Option<f64> {
        let before = before.replicates.get(place)?;
        let after = after.iter().map(|copy| copy.replicates.get(place).map(|score| score - before));
        after.sum::<Option<f64>>().map(|sum| sum / times)
    };
    let of_rows: Vec<f64> = (0..before.replicates.len()).filter_map(replicate).collect();
    let of_permutations = standard_deviation(&by).unwrap_or(0.0) / times.sqrt();
    let interval = standard_deviation(&of_rows).map(|error| {
        let reach = IN_INTERVAL * error.hypot(of_permutations);
        [difference - reach, difference + reach]
    });
    // No difference is no negative zero.
    let (difference, interval) = (difference + 0.0, interval.map(|ends| ends.map(|end| end + 0.0)));
    ColumnImportance { column: column.to_owned(), difference, interval }
}

fn table(file: &Path) -> Result<(StringRecord, Vec<StringRecord>), String> {
    let unreadable = |error: csv::Error| format!("the predictions cannot be read: {error}");
    let mut reader = ReaderBuilder::new().from_reader(opened(file)?);
    let header = reader.headers().map_err(unreadable)?.clone();
    let rows = reader.into_records().collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    Ok((header, rows))
}

/// These rows with these IDs as CSV.
fn written(
    header: &StringRecord,
    id: usize,
    ids: &[String],
    rows: &[StringRecord],
) -> Result<Predicted, String> {
    let mut writer = Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| error.to_string();
    writer.write_record(header).map_err(failed)?;
    for (own, row) in ids.iter().zip(rows) {
        let cells = row.iter().enumerate().map(|(at, cell)| if at == id { own.as_str() } else { cell });
        writer.write_record(cells).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| error.to_string())
}

/// An ID as the copies have it.
fn normal(id: &str) -> &str {
    let is_whole = |whole: &&str| whole.parse::<i64>().is_ok();
    let id = id.trim();
    id.strip_suffix(".0").filter(is_whole).unwrap_or(id)
}

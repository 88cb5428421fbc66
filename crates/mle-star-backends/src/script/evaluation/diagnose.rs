//! Where the predictions of a script are right and where they are wrong.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use csv::ReaderBuilder;
use mle_star_domain::diagnostics::{Diagnostics, Parts, RowsOf};
use mle_star_domain::protocol::SplitKind;
use mle_star_tables::labelled_cells::{RowsIn, Which, moments, own_id};
use serde::Serialize;
use serde_json::json;

use super::Evaluator;

/// The largest file of predictions that is read whole, in bytes.
const LARGEST: u64 = 256 << 20;
/// How long it may take after a run has ended. What takes longer is left out.
const AFTER_THE_RUN: Duration = Duration::from_secs(60);
/// Times are divided into about this many parts.
const TIMES: usize = 10;
/// The name of the division by folds, if folds are periods.
const PERIOD: &str = "period";
/// How many cells of a row are shown.
const CELLS: usize = 4;

/// A way to divide rows.
#[derive(Debug, Serialize)]
struct Division {
    /// What divides them.
    by: String,
    /// The part of each row, by its ID.
    part_of: HashMap<String, usize>,
    /// The names of the parts.
    names: Vec<String>,
    /// Whether the order of parts means something.
    is_ordered: bool,
}

/// The files of predictions for labelled rows.
#[derive(Debug)]
pub(crate) struct Predicted {
    /// The data of the search.
    pub(crate) folder: PathBuf,
    /// The predictions for held-out rows, and the probability of each class behind them.
    pub(crate) held_out: Option<[PathBuf; 2]>,
    /// The same for validation rows.
    pub(crate) validation: [PathBuf; 2],
}

impl Evaluator {
    /// What is found in the predictions. Score and worst rows are those of held-out rows or, without any, of validation rows;
    /// parts are of both. `None` without predictions.
    pub(crate) async fn diagnose(&self, files: &Predicted) -> Option<Diagnostics> {
        let of_validation = self.found(&files.validation, &files.folder, RowsOf::Validation).await;
        let held_out = match &files.held_out {
            Some(paths) => self.found(paths, &files.folder, RowsOf::HeldOut).await,
            None => None,
        };
        let Some(found) = held_out else { return of_validation };
        let further = of_validation.into_iter().flat_map(|found| found.parts);
        Some(Diagnostics { parts: found.parts.into_iter().chain(further).collect(), ..found })
    }

    fn rows<'a>(&'a self, folder: &'a Path, of: RowsOf) -> RowsIn<'a> {
        match of {
            RowsOf::Validation => {
                RowsIn { data_dir: folder, table: Which::Train, id: self.setup.columns.id.as_deref() }
            }
            RowsOf::HeldOut => {
                RowsIn { data_dir: folder, table: Which::Test, id: self.setup.id_column.as_deref() }
            }
        }
    }

    async fn found(
        &self,
        [predictions, scores]: &[PathBuf; 2],
        folder: &Path,
        of: RowsOf,
    ) -> Option<Diagnostics> {
        let rows = self.rows(folder, of);
        let is_small = |file: &&PathBuf| fs::metadata(file).is_ok_and(|file| file.len() <= LARGEST);
        let files = [Some(predictions).filter(is_small)?, scores];
        let files = files.map(|file| Some(file).filter(is_small));
        let question = json!({
            "question": "diagnose", "files": files, "of": of, "divisions": self.divisions(&rows),
        });
        let found: Diagnostics = self.ask(question, Instant::now() + AFTER_THE_RUN).await.ok()?;
        let parts = found.parts.into_iter().map(|parts| Parts { of, ..parts }).collect();
        Some(self.with_cells(Diagnostics { of, parts, ..found }, &rows))
    }

    /// The ways to divide these rows. What cannot be read divides nothing.
    fn divisions(&self, rows: &RowsIn<'_>) -> Vec<Division> {
        let split = self.setup.split.as_ref();
        let kind = split.map(|split| split.kind);
        let column = split.and_then(|split| split.column.as_ref());
        let time = column.filter(|_| kind == Some(SplitKind::Time));
        let groups = column.filter(|_| kind == Some(SplitKind::Groups));
        let further = split.into_iter().flat_map(|split| split.groups.iter().chain(&split.series));
        let folds = (rows.table == Which::Train).then(|| self.by_folds()).flatten();
        let has_periods = folds.as_ref().is_some_and(|folds| folds.by == PERIOD);
        let by_time = time.filter(|_| !has_periods).and_then(|column| by_time(rows, column));
        let by_groups = groups.into_iter().chain(further).filter_map(|column| by_groups(rows, column));
        folds.into_iter().chain(by_time).chain(by_groups).collect()
    }

    fn by_folds(&self) -> Option<Division> {
        let mut reader = ReaderBuilder::new().from_path(self.setup.folds.as_ref()?).ok()?;
        let header = reader.headers().ok()?.clone();
        let fold = header.iter().position(|name| name == "fold")?;
        let id = (0..header.len()).find(|at| *at != fold)?;
        let row = |row: csv::StringRecord| {
            Some((row.get(id)?.trim().to_owned(), row.get(fold)?.trim().parse::<usize>().ok()?))
        };
        let rows: Vec<(String, usize)> =
            reader.into_records().map(|one| one.ok().and_then(row)).collect::<Option<_>>()?;
        let count = rows.iter().map(|(_, fold)| fold + 1).max()?;
        let periods = self.setup.periods.as_ref().filter(|periods| periods.folds.len() >= count);
        let name = |fold: usize| match periods {
            Some(periods) => range(&periods.folds[fold].from, &periods.folds[fold].to),
            None => (fold + 1).to_string(),
        };
        Some(Division {
            by: if periods.is_some() { PERIOD } else { "fold" }.to_owned(),
            part_of: rows.into_iter().collect(),
            names: (0..count).map(name).collect(),
            is_ordered: true,
        })
    }

    /// A few cells of the worst rows, so that they can be recognized.
    fn with_cells(&self, mut found: Diagnostics, rows: &RowsIn<'_>) -> Diagnostics {
        let wanted: HashSet<String> =
            found.targets.iter().flat_map(|target| &target.worst).map(|row| own_id(&row.id)).collect();
        if wanted.is_empty() {
            return found;
        }
        let left_out: Vec<String> =
            self.targets().into_iter().chain(self.setup.columns.weight.clone()).collect();
        let Ok(cells) = rows.cells(&wanted, &left_out, CELLS) else { return found };
        for row in found.targets.iter_mut().flat_map(|target| &mut target.worst) {
            row.cells = cells.get(&own_id(&row.id)).cloned().unwrap_or_default();
        }
        found
    }
}

fn by_groups(rows: &RowsIn<'_>, column: &str) -> Option<Division> {
    let values = rows.values(column).ok()?;
    let mut numbers: BTreeMap<&str, usize> = values.iter().map(|(_, value)| (value.as_str(), 0)).collect();
    numbers.values_mut().zip(0..).for_each(|(number, place)| *number = place);
    let names = numbers.keys().map(|name| (*name).to_owned()).collect();
    let part_of = values.iter().map(|(id, value)| (id.clone(), numbers[value.as_str()])).collect();
    Some(Division { by: column.to_owned(), part_of, names, is_ordered: false })
}

/// Parts with about the same number of rows, the earliest first. Rows of the same time are in one part.
fn by_time(rows: &RowsIn<'_>, column: &str) -> Option<Division> {
    let values = rows.values(column).ok()?;
    let moments = moments(&values.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>())?;
    let mut all: Vec<(f64, &(String, String))> = moments.into_iter().zip(&values).collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let size = all.len().div_ceil(TIMES).max(1);
    let (mut part_of, mut ends): (_, Vec<(&str, &str, usize)>) = (HashMap::new(), Vec::new());
    for same in all.chunk_by(|one, other| one.0 == other.0) {
        let time = same[0].1.1.as_str();
        match ends.last_mut().filter(|(_, _, rows)| rows + same.len() / 2 < size) {
            Some((_, to, rows)) => (*to, *rows) = (time, *rows + same.len()),
            None => ends.push((time, time, same.len())),
        }
        let part = ends.len() - 1;
        part_of.extend(same.iter().map(|(_, (id, _))| (id.clone(), part)));
    }
    let names = ends.iter().map(|(from, to, _)| range(from, to)).collect();
    Some(Division { by: column.to_owned(), part_of, names, is_ordered: true })
}

fn range(from: &str, to: &str) -> String {
    if from == to { from.to_owned() } else { format!("{from} to {to}") }
}

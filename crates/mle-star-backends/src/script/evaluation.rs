//! The program's own computation of scores, from scripts' predictions and its own labels.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mle_star_domain::layout;
use mle_star_domain::measure::{Chance, Measurement};
use mle_star_domain::protocol::{HoldoutPart, Periods, Split, SplitKind};
use mle_star_domain::question::{CombinedBy, Refit};
use mle_star_domain::score::Printed;
use mle_star_domain::task::MetricFile;
use mle_star_metrics::average::{class_columns, weighted_average, weighted_labels};
use mle_star_metrics::chance::PermutedLabels;
use mle_star_metrics::intervals::{Folds, IntervalFor};
use mle_star_metrics::labels::{Columns, Forecasts, Labels, Layout, Others};
use mle_star_metrics::names::{Kind, Metric};
use mle_star_metrics::refit;
use mle_star_metrics::selection::{Member, Selection};
use mle_star_tables::altered::Shuffled;

use super::grader::Grader;
use by_file::ByFile;
use intervals::interval_for;

pub(crate) use diagnose::Predicted;
pub(crate) use importance::{Copied, CopiedRows};
pub use last_fold::{FoldFiles, LastFold};

mod by_file;
mod common_rows;
mod diagnose;
mod importance;
mod intervals;
mod last_fold;

/// Bootstrap replicates of a validation score. They are few, because each script has one.
const REPLICATES: usize = 200;
/// Bootstrap replicates of a score on held-out rows.
const HOLDOUT_REPLICATES: usize = 1000;
/// Above this number of rows, a quarter of the replicates is as good.
const MANY_ROWS: usize = 200_000;
/// The maximum size of a file with predictions, in bytes.
pub(crate) const LARGEST: u64 = 1 << 30;

/// The smallest share of the labelled rows that a script has to validate on, and the bounds of that number of rows.
const LEAST_SHARE: f64 = 0.05;
const LEAST_ROWS: usize = 20;
const ENOUGH_ROWS: usize = 500;

/// What the program needs to compute scores itself.
#[derive(Clone, Debug)]
pub struct EvaluationSetup {
    /// The metric. With a metric file, one for the same kind of predictions, which computes no score.
    pub metric: Metric,
    /// The file that computes the metric, if it is not one of the program's own.
    pub metric_file: Option<MetricFile>,
    /// The training table as scripts of the search see it.
    pub train: PathBuf,
    /// The columns of the training table that a score depends on.
    pub columns: Columns,
    /// The columns of a submission.
    pub header: Vec<String>,
    /// The column of a submission with the row IDs.
    pub id_column: Option<String>,
    /// The number of training rows that scripts of the search are told to use at most.
    pub subsample_limit: usize,
    /// How the test rows differ from the training rows, if that is known.
    pub split: Option<Split>,
    /// The number of test rows, without held-out ones.
    pub test_rows: Option<u64>,
    /// For a split by groups, how many rows each group of the test table has; empty if that is not known.
    pub test_groups: Vec<u64>,
    /// Whether the scores of scripts are computed from their validation predictions.
    pub verifies: bool,
    /// The held-out rows, if there are any.
    pub holdout: Option<HoldoutSetup>,
    /// The file with the folds that scripts of the search find with their data, if there is one.
    pub folds: Option<PathBuf>,
    /// The file with seasonal naive forecasts of the rows of the folds, if there is one.
    pub seasonal_naive: Option<PathBuf>,
    /// For a split by time, the periods.
    pub periods: Option<Periods>,
    /// Whether the score of rows of several periods is the mean of the periods' scores.
    pub mean_over_periods: bool,
    /// The labels of the test table, if the program knows them.
    pub test_labels: Option<PathBuf>,
    /// Holds out the rows of the last validation fold, if no others are held out and there are folds.
    pub last_fold: Option<LastFold>,
    /// Folders and files that contain labels of held-out rows or of the test table and are therefore hidden from the
    /// scripts of the search.
    pub closed: Vec<PathBuf>,
}

/// The files that scoring held-out rows needs.
#[derive(Clone, Debug)]
pub struct HoldoutSetup {
    /// The original data, which finalization sees.
    pub data_dir: PathBuf,
    /// The original sample submission.
    pub sample: PathBuf,
    /// Whether the held-out rows are the whole test table of the search. Scripts of the search then predict none of the
    /// original test rows.
    pub is_period: bool,
    /// The labels of the held-out rows.
    pub labels: PathBuf,
    /// Folder with the training and the test table, which the program's own script compares before the search, to find
    /// out how their rows differ.
    pub compared: PathBuf,
}

/// Computes scores.
#[derive(Debug)]
pub(crate) struct Evaluator {
    pub(crate) setup: EvaluationSetup,
    labels: OnceLock<Result<LabelledRows, String>>,
    by_file: Option<ByFile>,
}

/// The labelled rows of the task.
#[derive(Debug)]
struct LabelledRows {
    /// The labelled rows that scripts of the search see, among the classes of all rows.
    search: Labels,
    /// The same rows as `search`, but with only the classes that occur in them, which are all that scripts can know;
    /// `None` if these rows have every class.
    search_with_visible_classes: Option<Labels>,
    /// The held-out rows, or why they cannot be used.
    holdout: Result<Labels, String>,
    /// A digest of the rows that the folds validate, if there are folds.
    folds_digest: Option<String>,
}

/// The files of a script's predictions for the same rows.
#[derive(Clone, Debug)]
pub(crate) struct Predictions {
    /// The file with the columns of a submission.
    pub(crate) labels: PathBuf,
    /// The file with class probabilities, one column per class. It exists only if the script wrote it.
    pub(crate) class_scores: PathBuf,
}

/// The score of a script's validation predictions.
#[derive(Debug, Default)]
pub(crate) struct ValidationCheck {
    pub(crate) measured: Option<Measurement>,
    /// What is wrong with the predictions, for the agent that repairs the script.
    pub(crate) mismatch: Option<String>,
    /// Why the program could not compute the score.
    pub(crate) note: Option<String>,
}

impl EvaluationSetup {
    /// The file with the labels of held-out rows, or else with those of the test table.
    pub(crate) fn labels(&self) -> Option<&Path> {
        self.holdout.as_ref().map(|rows| &rows.labels).or(self.test_labels.as_ref()).map(PathBuf::as_path)
    }

    /// What intervals are for.
    pub(super) fn interval_for(&self) -> IntervalFor {
        interval_for(self.split.as_ref(), self.periods.as_ref(), &self.test_groups, self.test_rows)
    }

    /// The folds of the rows of the search, which scripts find with their data; none if they do not.
    pub(super) fn all_folds(&self) -> Result<Folds, String> {
        let Some(file) = &self.folds else { return Ok(Folds::default()) };
        Folds::read(table(file)?).map_err(|error| format!("scores are not recomputed: {error}"))
    }
}

impl Evaluator {
    /// `grader` calls the metric file, if there is one.
    pub(crate) fn new(setup: EvaluationSetup, grader: Option<Grader>) -> Self {
        let by_file = grader.map(ByFile::new);
        Self { setup, labels: OnceLock::new(), by_file }
    }

    /// The labels, read once. Those of the search and of held-out rows have the same list of classes, so that a metric
    /// that depends on the positions of classes, such as quadratic kappa, is the same for both.
    fn known(&self) -> Result<&LabelledRows, String> {
        self.labels.get_or_init(|| LabelledRows::read(&self.setup)).as_ref().map_err(Clone::clone)
    }

    /// Scores a script's validation predictions and compares the score with the printed one.
    pub(crate) fn verify(&self, predictions: File, printed: Option<Printed>) -> ValidationCheck {
        let name = format!("./{}/{}", layout::FINAL, layout::VALIDATION_PREDICTIONS);
        let setup = &self.setup;
        if let Some(by_file) = &self.by_file {
            return by_file.verify(setup, &self.layout(), &name, predictions);
        }
        let checked = self.known().and_then(|known| {
            let checked = known.search.check(&self.layout());
            checked.map(|()| known).map_err(|error| format!("scores are not recomputed: {error}"))
        });
        let known = match checked {
            Ok(known) => known,
            Err(why) => return ValidationCheck { note: Some(why), ..ValidationCheck::default() },
        };
        let labels = &known.search;
        let again = predictions.try_clone();
        let measured = match self.evaluate(labels, predictions, Others::Reject, REPLICATES) {
            Ok(measured) => measured,
            Err(why) => return ValidationCheck::mismatch(format!("{name} cannot be scored: {why}")),
        };
        let fewest = fewest_rows(labels.rows(), setup.subsample_limit, setup.split.as_ref());
        if measured.rows < fewest as u64 {
            let (rows, labelled) = (measured.rows, labels.rows());
            return ValidationCheck::mismatch(format!(
                "{name} has {rows} of {labelled} labelled rows, too few for a score: validate on at least {fewest} rows."
            ));
        }
        match printed {
            Some(printed)
                if !printed.agrees_with(measured.score)
                    && !self
                        .score_among_visible(known, again)
                        .is_some_and(|score| printed.agrees_with(score)) =>
            {
                ValidationCheck::mismatch(self.other_score(&printed, &measured, &name))
            }
            _ => {
                let on_folds = known.folds_digest.as_ref() == Some(&measured.rows_digest);
                let measured = Some(Measurement { on_folds, ..measured });
                ValidationCheck { measured, ..ValidationCheck::default() }
            }
        }
    }

    /// The message that a script printed another score than the program computed.
    fn other_score(&self, printed: &Printed, measured: &Measurement, name: &str) -> String {
        let setup = &self.setup;
        let (rows, score, printed) = (measured.rows, measured.score, printed.value);
        let order = match setup.metric {
            Metric::QuadraticKappa => " Its classes are all of the training table, with their positions.",
            _ => "",
        };
        let metric = match setup.columns.further.as_slice() {
            [] => setup.metric.name().into_owned(),
            further => format!("the mean of {} over the {} targets", setup.metric, further.len() + 1),
        };
        if measured.mean_over_periods {
            let folds = measured.periods.len();
            return format!(
                "The script printed the score {printed}, but the mean over {folds} folds of {metric}, computed for \
                 the rows of each fold in {name}, is {score}. Print this mean for exactly these {rows} rows.{order}"
            );
        }
        format!(
            "The script printed the score {printed}, but {metric} over the {rows} rows of {name} is {score}. \
             Print the score of exactly these rows, computed once over all of them.{order}"
        )
    }

    /// The score with only the classes that scripts know; `None` if scripts know all classes.
    fn score_among_visible(&self, known: &LabelledRows, predictions: io::Result<File>) -> Option<f64> {
        let (labels, mut predictions) = known.search_with_visible_classes.as_ref().zip(predictions.ok())?;
        predictions.rewind().ok()?;
        labels.score(predictions.take(LARGEST), &self.layout(), Others::Reject).ok()
    }

    /// The columns with labels.
    pub(crate) fn targets(&self) -> Vec<String> {
        let columns = &self.setup.columns;
        std::iter::once(&columns.target).chain(&columns.further).cloned().collect()
    }

    /// The score of the validation predictions of a script that was trained on permuted labels. A script without a leak
    /// scores here as if by chance.
    ///
    /// # Errors
    /// Why there is no score.
    pub(crate) fn chance(&self, predictions: File, train: &Shuffled) -> Result<Chance, String> {
        let Self { setup, .. } = self;
        if let Some(by_file) = &self.by_file {
            return Err(by_file.computes_no("the score by chance"));
        }
        let table = table(&train.table)?;
        let labels = PermutedLabels::read(table, &setup.columns, setup.metric, &train.blocks);
        let labels = labels.map_err(|error| format!("scores are not recomputed: {error}"))?;
        let labels = labels.among_classes_of(&self.known()?.search);
        labels.chance(predictions.take(LARGEST), &self.layout()).map_err(|error| error.to_string())
    }

    /// Scores the predictions for held-out rows in a submission.
    ///
    /// # Errors
    /// Why there is no score.
    pub(crate) fn look(&self, submission: &Path, part: HoldoutPart) -> Result<Measurement, String> {
        if let Some(by_file) = &self.by_file {
            return by_file.look(&self.setup, &self.layout(), submission, part);
        }
        let labels = self.known()?.holdout.as_ref().map_err(Clone::clone)?;
        let half = (part != HoldoutPart::Whole).then(|| {
            let [choosing, reporting] = labels.halves();
            if part == HoldoutPart::Choosing { choosing } else { reporting }
        });
        let file = File::open(submission).map_err(|error| format!("it left no valid submission: {error}"))?;
        self.evaluate(half.as_ref().unwrap_or(labels), file, Others::Ignore, HOLDOUT_REPLICATES)
    }

    /// Compares the submissions of two fits on the rows of the test table.
    ///
    /// # Errors
    /// Why the files are not compared.
    pub(crate) fn compare_fits(&self, first: &Path, second: &Path) -> Result<Refit, String> {
        let (first, second) = (opened(first)?, opened(second)?);
        let metric = self.by_file.is_none().then_some(self.setup.metric);
        let found = refit::compare(metric, first, second, &self.layout());
        let refit::Refit { rows, words, is_jump } = found.map_err(|why| why.to_string())?;
        Ok(Refit { rows, words, is_jump, failure: String::new() })
    }

    /// Chooses weights for files of validation predictions, each with the seconds that its script ran. The scripts with a
    /// weight together run at most `seconds`. `has_class_scores`: whether all have them for the rows of the submission, too.
    ///
    /// # Errors
    /// Why no combination was found.
    pub(crate) fn select(
        &self,
        members: &[(Predictions, f64)],
        seconds: f64,
        has_class_scores: bool,
    ) -> Result<(Selection, CombinedBy), String> {
        if let Some(by_file) = &self.by_file {
            return Err(by_file.computes_no("the best weights of solutions"));
        }
        let labels = &self.known()?.search;
        let first = members.first().and_then(|(files, _)| File::open(&files.labels).ok());
        if self.setup.metric.kind() == Kind::Guesses && first.is_some_and(|file| labels.are_torn_in(file)) {
            return Err("what separates guesses is inside a label, so they cannot be combined".to_owned());
        }
        let of = |pick: fn(&Predictions) -> &PathBuf| -> Vec<(PathBuf, f64)> {
            members.iter().map(|(files, seconds)| (pick(files).clone(), *seconds)).collect()
        };
        let scores = of(|files| &files.class_scores);
        if has_class_scores && self.predicts_labels() && scores.iter().all(|(file, _)| file.exists()) {
            // If the class probabilities cannot be used, the labels are combined. The names of columns become labels.
            let id = usize::from(self.setup.id_column.is_some());
            let columns = self.class_columns(scores.first().map(|(file, _)| file.as_path()));
            let named = columns.ok().filter(|all| labels.are_classes(all.get(id..).unwrap_or_default()));
            let selected =
                named.and_then(|all| self.select_from(&scores, &self.layout_of(&all), seconds).ok());
            if let Some(selected) = selected {
                return Ok((selected, CombinedBy::ClassScores));
            }
        }
        let by = match self.setup.metric.kind() {
            Kind::Guesses if self.has_one_column() => CombinedBy::Guesses(self.setup.metric.guesses()),
            Kind::Sets => CombinedBy::Sets,
            _ if self.predicts_labels() => CombinedBy::Votes,
            _ => CombinedBy::Mean,
        };
        Ok((self.select_from(&of(|files| &files.labels), &self.layout(), seconds)?, by))
    }

    fn select_from(
        &self,
        files: &[(PathBuf, f64)],
        layout: &Layout<'_>,
        seconds: f64,
    ) -> Result<Selection, String> {
        let labels = &self.known()?.search;
        let member = |(file, seconds): &(PathBuf, f64)| {
            // A file that is gone cannot be scored, and gets no weight.
            let predictions: Box<dyn Read> = match opened(file) {
                Ok(file) => Box::new(file),
                Err(_) => Box::new(io::empty()),
            };
            Member { predictions, seconds: *seconds }
        };
        let selected = labels.select(files.iter().map(member), layout, seconds, REPLICATES);
        let selected = selected.map_err(|error| error.to_string())?;
        selected.ok_or_else(|| {
            "no combination is better than one solution, can be scored on every fold, or runs in the time"
                .to_owned()
        })
    }

    /// Whether a submission has one column, with labels.
    fn predicts_labels(&self) -> bool {
        self.setup.metric.kind() == Kind::Labels && self.has_one_column()
    }

    fn has_one_column(&self) -> bool {
        let id = self.setup.id_column.as_ref();
        self.setup.header.iter().filter(|name| Some(*name) != id).count() == 1
    }

    /// Writes the combination of files of predictions by weights.
    ///
    /// # Errors
    /// Why they cannot be combined.
    pub(crate) fn combine(
        &self,
        members: &[(Predictions, f64)],
        by: CombinedBy,
        out: impl Write,
    ) -> Result<(), String> {
        let files = members.iter().map(|(files, weight)| {
            let file = if by == CombinedBy::ClassScores { &files.class_scores } else { &files.labels };
            opened(file).map(|file| (*weight, file))
        });
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let combined = if by == CombinedBy::ClassScores {
            let classes =
                self.class_columns(members.first().map(|(files, _)| files.class_scores.as_path()))?;
            weighted_labels(files, &self.layout_of(&classes), &self.layout(), out)
        } else {
            weighted_average(self.setup.metric, files, &self.layout(), out)
        };
        combined.map_err(|error| error.to_string())
    }

    fn class_columns(&self, file: Option<&Path>) -> Result<Vec<String>, String> {
        let file = opened(file.ok_or("there is no file")?)?;
        class_columns(file, self.setup.id_column.as_deref()).map_err(|error| error.to_string())
    }

    fn layout_of<'a>(&'a self, header: &'a [String]) -> Layout<'a> {
        Layout { header, ..self.layout() }
    }

    fn layout(&self) -> Layout<'_> {
        Layout { header: &self.setup.header, id_column: self.setup.id_column.as_deref() }
    }

    fn evaluate(
        &self,
        labels: &Labels,
        predictions: File,
        others: Others,
        replicates: usize,
    ) -> Result<Measurement, String> {
        let bytes = predictions.metadata().map_or(0, |meta| meta.len());
        if bytes > LARGEST {
            return Err(format!("the file has {} MiB; it has at most {} MiB", bytes >> 20, LARGEST >> 20));
        }
        let replicates = if labels.rows() > MANY_ROWS { replicates / 4 } else { replicates };
        let measured = labels.evaluate(predictions.take(LARGEST), &self.layout(), others, replicates);
        measured.map_err(|error| error.to_string())
    }
}

impl LabelledRows {
    fn read(setup: &EvaluationSetup) -> Result<Self, String> {
        let read = |file: &Path, columns: &Columns, others: Option<&Labels>| {
            let labels = Labels::read_among(table(file)?, columns, setup.metric, others);
            let labels = labels.map_err(|error| format!("scores are not recomputed: {error}"))?;
            Ok(labels.with_intervals_for(setup.interval_for()))
        };
        let rows = read(&setup.train, &setup.columns, None)?;
        let folds = setup.all_folds()?;
        let folds_digest = setup.folds.as_ref().map(|_| rows.digest_in(&folds));
        let rows = match setup.interval_for() {
            IntervalFor::Period if setup.mean_over_periods => {
                rows.in_periods(Arc::new(folds)).averaging_periods()
            }
            IntervalFor::Period if setup.periods.is_some() => rows.in_periods(Arc::new(folds)),
            interval_for => rows.with_intervals_for(interval_for),
        };
        let rows = match setup.seasonal_naive.as_deref().and_then(forecasts) {
            Some(forecasts) => rows.beside(forecasts),
            None => rows,
        };
        let columns = Columns { id: setup.id_column.clone(), ..setup.columns.clone() };
        let holdout = match setup.labels() {
            Some(labels) => read(labels, &columns, Some(&rows)),
            None => Err("no rows are held out".to_owned()),
        };
        let search = match &holdout {
            Ok(others) => rows.clone().among_classes_of(others),
            Err(_) => rows.clone(),
        };
        let holdout = holdout.map(|labels| labels.among_classes_of(&search));
        let search_with_visible_classes = (!rows.has_classes_of(&search)).then_some(rows);
        Ok(Self { search, search_with_visible_classes, holdout, folds_digest })
    }
}

/// The forecasts of a file; `None` if it cannot be read, because scores can do without a figure beside them.
fn forecasts(file: &Path) -> Option<Forecasts> {
    Forecasts::read(table(file).ok()?).ok()
}

impl ValidationCheck {
    pub(super) fn mismatch(text: String) -> Self {
        Self { mismatch: Some(text), ..Self::default() }
    }
}

/// The fewest rows that a validation score needs. For small tables, a third is enough. With a split by time, the times
/// decide how many rows are validated, so only [`LEAST_ROWS`] are needed.
fn fewest_rows(labelled: usize, subsample_limit: usize, split: Option<&Split>) -> usize {
    let by_time = split.is_some_and(|split| split.kind == SplitKind::Time);
    let share = if by_time { 0.0 } else { LEAST_SHARE };
    let used = labelled.min(subsample_limit);
    ((used as f64 * share) as usize).clamp(LEAST_ROWS, ENOUGH_ROWS).min(used / 3)
}

fn opened(file: &Path) -> Result<io::Take<File>, String> {
    let opened = File::open(file).map_err(|error| format!("cannot read {}: {error}", file.display()));
    opened.map(|file| file.take(LARGEST))
}

fn table(file: &Path) -> Result<File, String> {
    File::open(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

//! Scores by a metric file: a Python file that the user gives.
//!
//! It runs like a script: isolated, with limits, in its own folder. `python/grader.py` calls it with the true and the predicted
//! table, and again with resampled rows, as often as the time allows.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use csv::StringRecord;
use mle_star_domain::effects::ScriptEnd;
use mle_star_domain::layout;
use mle_star_domain::measure::interval::Bounds;
use mle_star_domain::measure::{FoldScore, Measurement};
use mle_star_domain::metric::Direction;
use mle_star_domain::task::{Answers, MetricFile};
use mle_star_metrics::bootstrap::{Rows, draws, of_other_program, of_replicates};
use mle_star_metrics::intervals::{
    FEW_GROUPS, Folds, GroupErrors, IntervalFor, Scale, for_one_more_period, for_other_groups,
    jackknife_error, places_of_groups,
};
use mle_star_metrics::labels::paired::{KnownRows, PairedRows};
use mle_star_metrics::labels::{Columns, Layout, classes_of_columns};
use serde::Deserialize;
use serde_json::json;

use super::executor::{Executor, Job};

const SCRIPT: &str = include_str!("../../python/grader.py");
/// A module that metric files of Kaggle import.
const UTILITIES: (&str, &str) =
    ("kaggle_metric_utilities.py", include_str!("../../python/kaggle_metric_utilities.py"));
/// How long a metric file may take for one score.
pub const LIMIT: Duration = Duration::from_secs(60);
/// How long the replicates of a score may take together, unless [`FEWEST`] take longer.
const REPLICATES_TAKE: Duration = Duration::from_secs(10);
/// A standard error needs so many replicates, however long they take.
const FEWEST: usize = 2;
/// The signal that ends a file that takes longer.
const ALARM: i32 = nix::libc::SIGALRM;
/// The name of the column with row numbers, if no column names the rows.
const ROW_ID: &str = "row_id";
/// The most rows that all replicates have together.
const MOST_DRAWN: usize = 100_000_000;
/// The largest answer of `python/grader.py`, in bytes.
const LARGEST: u64 = 1 << 20;

/// Computes scores with a metric file.
#[derive(Debug)]
pub struct Grader {
    file: MetricFile,
    executor: Arc<Executor>,
    /// The folders of which scripts see only what they are given.
    closed: Arc<[PathBuf]>,
    /// The folder that holds the input of a call while it runs.
    folder: PathBuf,
    /// How long it may take for one score.
    limit: Duration,
    calls: AtomicU64,
}

/// Rows with their true and their predicted values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Graded<'a> {
    pub(crate) known: &'a KnownRows,
    pub(crate) columns: &'a Columns,
    pub(crate) paired: &'a PairedRows,
    pub(crate) layout: Layout<'a>,
}

/// What an interval tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntervalTarget<'a> {
    /// How the rows of the test table differ from the scored ones.
    pub(crate) interval_for: IntervalFor,
    /// The periods of the scored rows; `None` for another split, or if they are not known.
    pub(crate) periods: Option<&'a Folds>,
    /// Whether a score over several periods is the mean of the scores of the periods.
    pub(crate) averages: bool,
}

/// What `python/grader.py` leaves.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum GraderOutput {
    Score { score: f64, seconds: f64, replicates: Vec<Option<f64>> },
    Error { error: String, file: String, line: Option<u64> },
}

/// A score and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The score.
    pub score: f64,
    /// How long the metric file took for the score of all rows, in seconds.
    pub seconds: f64,
    /// The scores of resampled rows; `None` where there is none.
    pub replicates: Vec<Option<f64>>,
}

/// A table in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextTable {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<StringRecord>,
}

impl Grader {
    /// Calls of this file run with this executor; their input lies in `folder` meanwhile.
    pub fn new(file: MetricFile, executor: Arc<Executor>, closed: Arc<[PathBuf]>, folder: PathBuf) -> Self {
        Self { file, executor, closed, folder, limit: LIMIT, calls: AtomicU64::new(0) }
    }

    /// With another limit than [`LIMIT`] for the time of one score.
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// The file.
    pub fn file(&self) -> &MetricFile {
        &self.file
    }

    /// The score of predictions with its uncertainty.
    ///
    /// # Errors
    /// Why there is no score, in one sentence.
    pub(crate) async fn measure(
        &self,
        graded: Graded<'_>,
        replicates: usize,
        interval: IntervalTarget<'_>,
    ) -> Result<Measurement, String> {
        let (truth, predictions) = (graded.answers(self.file.answers, &self.file)?, graded.predictions());
        let rows = graded.paired.drawn();
        let places = interval.places(rows.keys);
        let in_periods = places.iter().map(|(_, places)| places);
        let of_each = self.scores_at(&truth, &predictions, rows, in_periods, places.len()).await?;
        let of_periods = if interval.averages(rows.keys) {
            let known =
                places.iter().zip(&of_each).filter_map(|((_, places), score)| Some((places, (*score)?)));
            self.score_of_periods((&truth, &predictions), rows, known.collect(), replicates).await?
        } else {
            None
        };
        let mean_over_periods = of_periods.is_some();
        let scored = match of_periods {
            Some(scored) => scored,
            None => self.score(&truth, &predictions, rows, replicates).await?,
        };
        // A file may have no score for other rows than all.
        let measured = of_replicates(scored.score, &scored.replicates, rows);
        let measured = Measurement { mean_over_periods, ..measured };
        // Without bounds, the direction does not count.
        let scale = Scale { bounds: Bounds::default(), direction: Direction::Minimize };
        match interval.interval_for {
            IntervalFor::Rows(test_rows) => Ok(of_other_program(measured, test_rows)),
            IntervalFor::Period => {
                let of_fold = |((fold, places), score): (&(u32, Vec<usize>), Option<f64>)| {
                    Some(FoldScore { fold: *fold, rows: places.len() as u64, score: score? })
                };
                let periods = places.iter().zip(of_each).filter_map(of_fold).collect();
                Ok(for_one_more_period(measured, periods, scale))
            }
            IntervalFor::Groups { groups, rows: test_rows } => {
                let places = places_of_groups(rows.units);
                let sizes: Vec<u64> = places.iter().map(|places| places.len() as u64).collect();
                let by_groups = if sizes.len() > FEW_GROUPS {
                    measured.standard_error
                } else {
                    let without = without_each(&places, rows.keys.len());
                    let scores = self.scores_at(&truth, &predictions, rows, &without, FEWEST).await?;
                    jackknife_error(&scores.into_iter().flatten().collect::<Vec<f64>>(), places.len())
                };
                let errors = GroupErrors { sizes, by_groups, by_rows: None };
                Ok(for_other_groups(measured, &errors, (groups, test_rows), scale))
            }
        }
    }

    /// The mean of the scores of these periods, and that of resampled rows. `None` if there are none.
    /// There are fewer replicates than of all rows together, because each takes a call for each period.
    async fn score_of_periods(
        &self,
        (truth, predictions): (&TextTable, &TextTable),
        rows: Rows<'_>,
        periods: Vec<(&Vec<usize>, f64)>,
        replicates: usize,
    ) -> Result<Option<Scored>, String> {
        let (places, scores): (Vec<&Vec<usize>>, Vec<f64>) = periods.into_iter().unzip();
        if places.is_empty() {
            return Ok(None);
        }
        let all = rows.keys.len();
        let most = (MOST_DRAWN / all.max(1)).min(replicates) / places.len();
        let drawn = draws(rows, most.max(FEWEST));
        let counts: Vec<u8> = drawn.chunks(all).flat_map(|drawn| in_each(drawn, &places)).collect();
        let drawn = self.call(truth, predictions, &counts, FEWEST * places.len()).await?;
        let mean = |scores: &[Option<f64>]| {
            let scores = scores.iter().copied().collect::<Option<Vec<f64>>>()?;
            Some(scores.iter().sum::<f64>() / scores.len() as f64)
        };
        // The time may end between two periods.
        let replicates = drawn.replicates.chunks_exact(places.len()).map(mean).collect();
        let score = scores.iter().sum::<f64>() / scores.len() as f64;
        Ok(Some(Scored { score, replicates, ..drawn }))
    }

    /// The scores of the rows at each of these places: of the first `fewest`, and of as many more as the time allows.
    async fn scores_at(
        &self,
        truth: &TextTable,
        predictions: &TextTable,
        rows: Rows<'_>,
        places: impl IntoIterator<Item = &Vec<usize>>,
        fewest: usize,
    ) -> Result<Vec<Option<f64>>, String> {
        let mut counts = Vec::new();
        for places in places {
            let first = counts.len();
            counts.resize(first + rows.keys.len(), 0);
            places.iter().for_each(|place| counts[first + place] = 1);
        }
        if counts.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.call(truth, predictions, &counts, fewest).await?.replicates)
    }

    /// The score of two tables with the same rows in the same order. The first column of both has the row IDs.
    ///
    /// # Errors
    /// Why there is no score, in one sentence.
    pub(crate) async fn score(
        &self,
        truth: &TextTable,
        predictions: &TextTable,
        rows: Rows<'_>,
        replicates: usize,
    ) -> Result<Scored, String> {
        let replicates = replicates.min(MOST_DRAWN / rows.keys.len().max(1)).max(FEWEST);
        self.call(truth, predictions, &draws(rows, replicates), FEWEST).await
    }

    /// As [`Grader::score`]. `counts` says how often each row counts in each replicate, one replicate after another. The first
    /// `fewest` are scored however long they take.
    async fn call(
        &self,
        truth: &TextTable,
        predictions: &TextTable,
        counts: &[u8],
        fewest: usize,
    ) -> Result<Scored, String> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let stem = format!("metric-{}-{call}", std::process::id());
        let data = self.folder.join(format!("{stem}.data"));
        let written = self.write(&data, (truth, predictions), counts, fewest);
        let scored = match written {
            Ok(()) => self.run(&stem, &data, time_of_a_job(self.limit, fewest)).await,
            Err(error) => Err(format!("cannot write {}: {error}", data.display())),
        };
        let _ = fs::remove_dir_all(&data);
        for stream in ["stdout", "stderr"] {
            let _ = fs::remove_file(self.executor.log(&stem, stream));
        }
        scored
    }

    fn write(
        &self,
        data: &Path,
        (truth, predictions): (&TextTable, &TextTable),
        draws: &[u8],
        fewest: usize,
    ) -> io::Result<()> {
        let _ = fs::remove_dir_all(data);
        let metric = data.join("metric");
        fs::create_dir_all(&metric)?;
        for (name, text) in &self.file.modules {
            fs::write(metric.join(name), text)?;
        }
        fs::write(metric.join(layout::METRIC_FILE), &self.file.text)?;
        truth.write(&data.join("truth.csv"))?;
        predictions.write(&data.join("predictions.csv"))?;
        fs::write(data.join("draws.bin"), draws)?;
        let id = truth.header.first().map_or(ROW_ID, String::as_str);
        let (limit, seconds) = (self.limit.as_secs(), REPLICATES_TAKE.as_secs());
        let request = json!({ "id": id, "limit": limit, "seconds": seconds, "fewest": fewest });
        fs::write(data.join("request.json"), request.to_string())
    }

    async fn run(&self, stem: &str, data: &Path, timeout: Duration) -> Result<Scored, String> {
        let shown = self.executor.show(data, &self.closed).map_err(|trouble| trouble.message)?;
        let job = Job {
            stem: stem.to_owned(),
            script: SCRIPT.to_owned(),
            timeout,
            slot: 0,
            may_be_warm: false,
            modules: vec![(UTILITIES.0.to_owned(), UTILITIES.1.to_owned())],
            keeps_model: false,
            heard: None,
        };
        let ran = self.executor.execute(&job, Arc::new(shown)).await;
        let (executed, workplace) = ran.map_err(|trouble| trouble.message)?;
        let name = &self.file.name;
        let mut text = String::new();
        let output = workplace.output("score.json").map_err(|error| error.to_string())?;
        if let Ok(Some(file)) = output {
            file.take(LARGEST).read_to_string(&mut text).map_err(|error| error.to_string())?;
        }
        match serde_json::from_str(&text) {
            Ok(GraderOutput::Score { seconds, .. }) if seconds > self.limit.as_secs_f64() => {
                Err(self.too_slow())
            }
            Ok(GraderOutput::Score { score, seconds, replicates }) => {
                Ok(Scored { score, seconds, replicates })
            }
            Ok(GraderOutput::Error { error, file, line }) => {
                let file = if file == layout::METRIC_FILE { name } else { &file };
                Err(line.map_or_else(
                    || format!("{file} {error}"),
                    |line| format!("{file}, line {line}, {error}"),
                ))
            }
            Err(_) => match executed.outcome.end {
                ScriptEnd::TimedOut => Err(self.too_slow()),
                ScriptEnd::Signalled { signal } if signal == ALARM => Err(self.too_slow()),
                _ => {
                    let (said, notes) = (executed.outcome.stderr.text(), &executed.outcome.notes);
                    let said = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
                    let why = said.or(notes.first().map(String::as_str)).unwrap_or("it printed no error");
                    Err(format!("{name} ended Python before there was a score: {why}"))
                }
            },
        }
    }

    fn too_slow(&self) -> String {
        format!("{} takes longer than {} s for a score", self.file.name, self.limit.as_secs())
    }
}

/// Some scores are never cut short: that of all rows, the `fewest` replicates, and as many more if the file refuses the IDs of the
/// first. Besides, there is time for two rounds of replicates, and as much again for the start of Python.
fn time_of_a_job(limit: Duration, fewest: usize) -> Duration {
    limit * u32::try_from(1 + 2 * fewest).unwrap_or(u32::MAX) + REPLICATES_TAKE * 3
}

/// How often each row is drawn, with only the rows at these places, one part after another.
fn in_each(drawn: &[u8], parts: &[&Vec<usize>]) -> Vec<u8> {
    let of = |places: &&Vec<usize>| {
        let mut counts = vec![0; drawn.len()];
        places.iter().for_each(|place| counts[*place] = drawn[*place]);
        counts
    };
    parts.iter().flat_map(of).collect()
}

/// The places of all rows but those of each group.
fn without_each(groups: &[Vec<usize>], rows: usize) -> Vec<Vec<usize>> {
    let without = |group: &Vec<usize>| {
        let left_out: HashSet<usize> = group.iter().copied().collect();
        (0..rows).filter(|place| !left_out.contains(place)).collect()
    };
    groups.iter().map(without).collect()
}

impl IntervalTarget<'_> {
    /// The places of the rows of each period that is predicted; none for another split.
    fn places(&self, keys: &[u64]) -> Vec<(u32, Vec<usize>)> {
        let periods = self.periods.filter(|_| self.interval_for == IntervalFor::Period);
        periods.map(|folds| folds.places(keys)).unwrap_or_default()
    }

    /// Whether the score of these rows is the mean over periods.
    fn averages(&self, keys: &[u64]) -> bool {
        self.averages && self.periods.is_some_and(|folds| folds.of_rows(keys).is_some())
    }
}

impl Graded<'_> {
    /// The name of the column with row IDs.
    fn id(&self) -> String {
        self.layout.id_column.map_or_else(|| ROW_ID.to_owned(), |id| id.trim().to_owned())
    }

    /// The columns that are predicted.
    fn predicted(&self) -> Vec<String> {
        let names = self.layout.header.iter().map(|name| name.trim().to_owned());
        names.filter(|name| *name != self.id()).collect()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.known.header.iter().position(|column| column == name.trim())
    }

    fn targets(&self) -> Vec<(String, Option<usize>)> {
        let names = std::iter::once(&self.columns.target).chain(&self.columns.further);
        names.map(|name| (name.clone(), self.position(name))).collect()
    }

    /// The table with the predictions.
    pub(crate) fn predictions(&self) -> TextTable {
        let header: Vec<String> = std::iter::once(self.id()).chain(self.predicted()).collect();
        let place = |name: &String| self.layout.header.iter().position(|column| column.trim() == name);
        let places: Vec<Option<usize>> = header[1..].iter().map(place).collect();
        let row = |(place, row): (&usize, &StringRecord)| {
            let cells = places.iter().map(|at| at.and_then(|at| row.get(at)).unwrap_or_default());
            std::iter::once(self.known.id_of(*place)).chain(cells).collect()
        };
        TextTable { rows: self.paired.places.iter().zip(&self.paired.predictions).map(row).collect(), header }
    }

    /// The table with the true values. `form` may differ from that of `file`: a trial tries several.
    ///
    /// # Errors
    /// The columns of the submission are not about the target.
    pub(crate) fn answers(&self, form: Answers, file: &MetricFile) -> Result<TextTable, String> {
        let columns = match form {
            Answers::Targets => self.as_targets(),
            Answers::Submission => self.as_submission()?,
            Answers::Named => self.as_named(file),
            Answers::All => self.as_all(),
        };
        let header = std::iter::once(self.id()).chain(columns.iter().map(|(name, _)| name.clone())).collect();
        let row = |place: &usize| {
            let cells = columns.iter().map(|(_, of)| of.cell(&self.known.rows[*place]));
            std::iter::once(self.known.id_of(*place)).chain(cells).collect()
        };
        Ok(TextTable { header, rows: self.paired.places.iter().map(row).collect() })
    }

    /// As [`Answers::Targets`] says.
    fn as_targets(&self) -> Vec<(String, Source)> {
        let weight = self.columns.weight.iter().map(|name| (name.clone(), self.position(name)));
        let columns = self.targets().into_iter().chain(weight);
        columns.filter_map(|(name, at)| Some((name, Source::Column(at?)))).collect()
    }

    /// As [`Answers::Submission`] says.
    fn as_submission(&self) -> Result<Vec<(String, Source)>, String> {
        let (predicted, targets) = (self.predicted(), self.targets());
        let named = |name: &String| targets.iter().find(|(target, _)| target == name).and_then(|(_, at)| *at);
        if predicted.iter().all(|name| named(name).is_some()) {
            return Ok(predicted
                .into_iter()
                .filter_map(|name| Some((Source::Column(named(&name)?), name)))
                .map(|(of, name)| (name, of))
                .collect());
        }
        let target = targets.first().and_then(|(_, at)| *at).ok_or("the target is in no column")?;
        if let [name] = predicted.as_slice() {
            return Ok(vec![(name.clone(), Source::Column(target))]);
        }
        let classes = self.classes(target);
        let of_columns = classes_of_columns(&predicted, &classes)
            .ok_or("the columns of the sample submission are neither targets nor classes")?;
        Ok(predicted
            .into_iter()
            .zip(of_columns)
            .map(|(name, class)| (name, Source::Class(target, class)))
            .collect())
    }

    /// As [`Answers::Named`] says.
    fn as_named(&self, file: &MetricFile) -> Vec<(String, Source)> {
        let id = self.id();
        let is_named = |name: &String| {
            ["'", "\""].iter().any(|quote| file.text.contains(&format!("{quote}{name}{quote}")))
                || file.text.contains(&format!(".{name}"))
        };
        let names_targets = self.targets().iter().any(|(name, _)| is_named(name));
        let mut columns = if names_targets { Vec::new() } else { self.as_targets() };
        for (at, name) in
            self.known.header.iter().enumerate().filter(|(_, name)| **name != id && is_named(name))
        {
            if !columns.iter().any(|(known, _)| known == name) {
                columns.push((name.clone(), Source::Column(at)));
            }
        }
        columns
    }

    /// As [`Answers::All`] says.
    fn as_all(&self) -> Vec<(String, Source)> {
        let id = self.id();
        let own = self.known.header.iter().enumerate().map(|(at, name)| (name.clone(), Source::Column(at)));
        let mut columns: Vec<(String, Source)> = own.filter(|(name, _)| *name != id).collect();
        for (name, of) in self.as_submission().unwrap_or_default() {
            if !columns.iter().any(|(known, _)| *known == name) {
                columns.push((name, of));
            }
        }
        columns
    }

    /// The labels of a column.
    fn classes(&self, column: usize) -> Vec<String> {
        let labels = self.known.rows.iter().map(|row| row.get(column).unwrap_or_default().trim().to_owned());
        labels.collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// Predictions for the layout's columns that are mostly right: every fifth row has the values of the next one. Or the same
    /// for every row.
    pub(crate) fn trial_predictions(&self, form: &TrialForm) -> TextTable {
        let with_probabilities = *form == TrialForm::Probabilities;
        if let TrialForm::Same(cells) = form {
            let header: Vec<String> = std::iter::once(self.id()).chain(self.predicted()).collect();
            let row = |place: &usize| {
                std::iter::once(self.known.id_of(*place)).chain(cells.iter().map(String::as_str)).collect()
            };
            return TextTable { header, rows: self.paired.places.iter().map(row).collect() };
        }
        let columns = self.as_submission().unwrap_or_else(|_| {
            let first = self.targets().first().and_then(|(_, at)| *at).unwrap_or_default();
            self.predicted().into_iter().map(|name| (name, Source::Column(first))).collect()
        });
        let places = &self.paired.places;
        let header = std::iter::once(self.id()).chain(columns.iter().map(|(name, _)| name.clone())).collect();
        let wide = columns.len().max(2) as f64 - 1.0;
        let positive: Vec<Option<String>> = columns.iter().map(|(_, of)| self.positive(of)).collect();
        let row = |at: usize| {
            let from = if at % 5 == 4 { places[(at + 1) % places.len()] } else { places[at] };
            let cells = columns.iter().zip(&positive).map(|((_, of), positive)| {
                let cell = of.cell(&self.known.rows[from]);
                match (of, positive) {
                    (Source::Class(..), _) if cell == "1" => "0.9".to_owned(),
                    (Source::Class(..), _) => (0.1 / wide).to_string(),
                    (_, Some(positive)) if with_probabilities => {
                        if cell.trim() == positive {
                            "0.9".to_owned()
                        } else {
                            "0.1".to_owned()
                        }
                    }
                    _ => cell.to_owned(),
                }
            });
            std::iter::once(self.known.id_of(places[at]).to_owned()).chain(cells).collect()
        };
        TextTable { header, rows: (0..places.len()).map(row).collect() }
    }

    /// The class that a column of probabilities is about, if its column has two classes.
    fn positive(&self, of: &Source) -> Option<String> {
        let Source::Column(at) = of else { return None };
        let mut classes = self.classes(*at);
        let given = self.columns.positive.clone();
        if classes.len() == 2 { given.or_else(|| classes.pop()) } else { None }
    }
}

/// What predictions for a trial hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TrialForm {
    /// Labels and numbers.
    Labels,
    /// Where a column has two labels, probabilities of one of them.
    Probabilities,
    /// These cells in every row.
    Same(Vec<String>),
}

/// Where the cells of a column come from.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// This column of the known rows.
    Column(usize),
    /// Whether this column has this class.
    Class(usize, String),
}

impl Source {
    fn cell<'a>(&self, row: &'a StringRecord) -> &'a str {
        match self {
            Self::Column(at) => row.get(*at).unwrap_or_default(),
            Self::Class(at, class) if row.get(*at).unwrap_or_default().trim() == class => "1",
            Self::Class(..) => "0",
        }
    }
}

impl TextTable {
    fn write(&self, to: &Path) -> io::Result<()> {
        let mut writer = csv::Writer::from_path(to).map_err(io::Error::other)?;
        writer.write_record(&self.header).map_err(io::Error::other)?;
        for row in &self.rows {
            writer.write_record(row).map_err(io::Error::other)?;
        }
        writer.flush()
    }
}

//! How often reported 95 % intervals have the score of rows that are not known yet, in simulated worlds.
//!
//! `cargo run --release -p mle-star-lab --bin coverage [WORLDS [KIND ...]]` prints a table. In each of the worlds (200), three simple models
//! are validated, the best one by validation is scored on held-out rows, and then fitted to all known rows and scored on the hidden
//! ones. Optimism is how much better the held-out score is than the hidden one, as a share of the validation score. Scores and intervals are those of the program: its own code reads tables of labels and of predictions.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

mod models;
mod worlds;

use std::error::Error;
use std::sync::Arc;

use mle_star_domain::measure::interval::Grouped;
use mle_star_domain::measure::{Measurement, standard_deviation};
use mle_star_domain::metric::Direction;
use mle_star_metrics::intervals::{Folds, IntervalFor};
use mle_star_metrics::labels::{Columns, Labels, Layout, Others};
use mle_star_tables::metrics::Metric;

use worlds::{KINDS, Kind, Part, World};

type Failure = Box<dyn Error>;

const REPLICATES: usize = 200;
const HELD_OUT_REPLICATES: usize = 1000;

fn main() -> Result<(), Failure> {
    let worlds: u64 = std::env::args().nth(1).map_or(Ok(200), |count| count.parse())?;
    println!(
        "| worlds | metric | held-out interval covers | its width | validation interval covers | its width | optimism of the held-out score | standard error |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|");
    let names: Vec<String> = std::env::args().skip(2).collect();
    let is_wanted = |kind: &&Kind| names.is_empty() || names.iter().any(|name| name == kind.name);
    for kind in KINDS.iter().filter(is_wanted) {
        let cases = (0..worlds).map(|seed| case(kind, seed)).collect::<Result<Vec<_>, _>>()?;
        print(kind, &cases);
    }
    Ok(())
}

/// What one world came to.
struct Case {
    validated: f64,
    held_out: f64,
    held_out_interval: Option<[f64; 2]>,
    validation_interval: Option<[f64; 2]>,
    hidden: f64,
}

fn case(kind: &Kind, seed: u64) -> Result<Case, Failure> {
    let world = (kind.world)(seed);
    let models = world.models();
    let labels = world.labels(kind, Part::Validation)?;
    let scores = models.iter().map(|predicted| {
        Ok::<_, Failure>(labels.score(
            world.file(predicted, Part::Validation).as_bytes(),
            &layout(),
            Others::Reject,
        )?)
    });
    let scores = scores.collect::<Result<Vec<f64>, _>>()?;
    let is_better = |one: f64, other: f64| match kind.metric.direction() {
        Direction::Minimize => one < other,
        Direction::Maximize => one > other,
    };
    let mut best = 0;
    for (model, score) in scores.iter().enumerate() {
        if is_better(*score, scores[best]) {
            best = model;
        }
    }
    let measure = |part, replicates| -> Result<Measurement, Failure> {
        let file = world.file(&models[best], part);
        Ok(world.labels(kind, part)?.evaluate(file.as_bytes(), &layout(), Others::Reject, replicates)?)
    };
    let (validated, held_out) =
        (measure(Part::Validation, REPLICATES)?, measure(Part::HeldOut, HELD_OUT_REPLICATES)?);
    let hidden = world.labels(kind, Part::Hidden)?.score(
        world.file(&models[best], Part::Hidden).as_bytes(),
        &layout(),
        Others::Reject,
    )?;
    let held_out_interval = held_out.interval_beside(Some(&validated), kind.metric.direction());
    let (validation_interval, validated) = (validated.interval, validated.score);
    Ok(Case { validated, held_out: held_out.score, held_out_interval, validation_interval, hidden })
}

const HEADER: [&str; 2] = ["id", "y"];

fn layout() -> Layout<'static> {
    static COLUMNS: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    let header = COLUMNS.get_or_init(|| HEADER.map(str::to_owned).to_vec());
    Layout { header, id_column: Some(HEADER[0]) }
}

impl World {
    /// The known labels of a part, with intervals for the hidden rows.
    fn labels(&self, kind: &Kind, part: Part) -> Result<Labels, Failure> {
        let columns =
            Columns { cluster: Some("unit".to_owned()), ..Columns::new(Some("id".to_owned()), "y") };
        let columns = if self.has_units() { columns } else { Columns { cluster: None, ..columns } };
        let labels = Labels::read(self.table(part, kind.metric).as_bytes(), &columns, kind.metric)?;
        if self.is_by_time && !self.by_series {
            return Ok(labels.in_periods(Arc::new(Folds::read(self.folds().as_bytes())?)));
        }
        let hidden = self.rows_of(Part::Hidden).count() as u64;
        Ok(labels.with_intervals_for(match self.has_units() {
            true => IntervalFor::Groups {
                groups: Some(Grouped::of(self.sizes(Part::Hidden))),
                rows: Some(hidden),
            },
            false => IntervalFor::Rows(Some(hidden)),
        }))
    }
}

fn print(kind: &Kind, cases: &[Case]) {
    let count = cases.len() as f64;
    let of = |interval: &dyn Fn(&Case) -> Option<[f64; 2]>| {
        let covered = cases
            .iter()
            .filter(|case| interval(case).is_some_and(|[low, high]| (low..=high).contains(&case.hidden)))
            .count();
        let mut widths: Vec<f64> = cases
            .iter()
            .filter_map(|case| interval(case).map(|[low, high]| (high - low) / case.hidden))
            .collect();
        widths.sort_by(f64::total_cmp);
        let width = widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN);
        format!("{:.1} % | {width:.2}", 100.0 * covered as f64 / count)
    };
    let sign = match kind.metric.direction() {
        Direction::Minimize => -1.0,
        Direction::Maximize => 1.0,
    };
    let optimism: Vec<f64> =
        cases.iter().map(|case| sign * (case.held_out - case.hidden) / case.validated).collect();
    let mean = optimism.iter().sum::<f64>() / count;
    let deviation = standard_deviation(&optimism).unwrap_or(f64::NAN) / count.sqrt();
    println!(
        "| {} | {} | {} | {} | {:+.1} % | {:.1} % |",
        kind.name,
        Metric::name(kind.metric),
        of(&|case| case.held_out_interval),
        of(&|case| case.validation_interval),
        100.0 * mean,
        100.0 * deviation
    );
}

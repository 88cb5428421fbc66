//! How often reported 95 % intervals have the score of rows that are not known yet, in simulated worlds.
//!
//! `cargo run --release -p mle-star-lab --bin coverage [WORLDS [KIND ...]]` prints a table. In each of the worlds (200), three simple models
//! are validated, the best one by validation is scored on held-out rows, and then fitted to all known rows and scored on the hidden
//! ones. Optimism is how much better the held-out score is than the hidden one, as a share of the validation score. Scores and intervals are those of the data plane.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

#[path = "../../interpreter.rs"]
mod interpreter;
mod models;
#[path = "../../plane.rs"]
mod plane;
mod worlds;

use std::error::Error;
use std::fs;

use mle_star_domain::measure::interval::Grouped;
use mle_star_domain::measure::{Measurement, standard_deviation};
use mle_star_domain::metric::Direction;
use mle_star_domain::protocol::LabelColumns;
use mle_star_tables::metrics::Metric;
use plane::Plane;
use serde_json::json;

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
    let mut plane = Plane::start(interpreter::interpreter())?;
    let is_wanted = |kind: &&Kind| names.is_empty() || names.iter().any(|name| name == kind.name);
    for kind in KINDS.iter().filter(is_wanted) {
        let cases = (0..worlds).map(|seed| case(&mut plane, kind, seed)).collect::<Result<Vec<_>, _>>()?;
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

fn case(plane: &mut Plane, kind: &Kind, seed: u64) -> Result<Case, Failure> {
    let world = (kind.world)(seed);
    let models = world.models();
    let mut scores = Vec::new();
    for predicted in &models {
        scores.push(world.measured(plane, kind, (Part::Validation, predicted), 2)?.score);
    }
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
    let mut measure = |part, replicates| world.measured(plane, kind, (part, &models[best]), replicates);
    let (validated, held_out) =
        (measure(Part::Validation, REPLICATES)?, measure(Part::HeldOut, HELD_OUT_REPLICATES)?);
    let hidden = measure(Part::Hidden, 2)?.score;
    let held_out_interval = held_out.interval_beside(Some(&validated), kind.metric.direction());
    let (validation_interval, validated) = (validated.interval, validated.score);
    Ok(Case { validated, held_out: held_out.score, held_out_interval, validation_interval, hidden })
}

impl World {
    /// The score of a part, with the interval for the hidden rows.
    fn measured(
        &self,
        plane: &mut Plane,
        kind: &Kind,
        (part, predicted): (Part, &[f64]),
        replicates: usize,
    ) -> Result<Measurement, Failure> {
        let folder = tempfile::tempdir()?;
        let [answers, submission, folds] =
            ["answers.csv", "submission.csv", "folds.csv"].map(|name| folder.path().join(name));
        fs::write(&answers, self.table(part, kind.metric))?;
        fs::write(&submission, self.file(predicted, part))?;
        fs::write(&folds, self.folds())?;
        let is_by_period = self.is_by_time && !self.by_series;
        let rows = self.rows_of(Part::Hidden).count();
        let target = match (is_by_period, self.has_units()) {
            (true, _) => json!({ "kind": "period" }),
            (false, true) => {
                let of = Grouped::of(self.sizes(Part::Hidden));
                json!({ "kind": "groups", "rows": rows, "groups": of.groups, "rows_of_groups": of.rows })
            }
            (false, false) => json!({ "kind": "rows", "rows": rows }),
        };
        let cluster = self.has_units().then(|| "unit".to_owned());
        let columns = LabelColumns { cluster, ..LabelColumns::new(Some("id".to_owned()), "y") };
        let mut found = plane.ask(json!({
            "question": "score",
            "metric": kind.metric.name(),
            "answers": answers,
            "columns": columns,
            "layout": { "header": ["id", "y"], "id": "id" },
            "submission": submission,
            "replicates": replicates,
            "target": target,
            "folds": is_by_period.then_some(folds),
        }))?;
        Ok(serde_json::from_value(found["measured"].take())?)
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

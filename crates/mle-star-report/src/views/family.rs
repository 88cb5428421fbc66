//! Draws the solutions of a run: a column per step of the algorithms, with lines from the parents of each
//! solution.

use std::collections::BTreeMap;

use mle_star_domain::place;

use super::context::Context;
use super::outcome::status;
use super::spots::spot;
use super::steps::{Step, StepKind};
use crate::chart::{self, About, Dot, Fate, Spot};

/// SVG; `None` if there are fewer than two solutions.
pub fn picture(context: &Context<'_>) -> Option<String> {
    let (columns, dots, spots) = arranged(context);
    let description = format!(
        "{} solutions from the candidates on the left to the submission on the right, each with lines from what it \
         was made from. The list below has the same content as text.",
        dots.len()
    );
    let about = About { id: "family", title: "The solutions and their parents", description: &description };
    (dots.len() > 1).then(|| chart::family(&about, &columns, &dots, &spots)).flatten()
}

/// The names of the columns, the positions of the solutions, and what they tell.
fn arranged(context: &Context<'_>) -> (Vec<String>, Vec<Dot>, Vec<Spot>) {
    let steps: Vec<&Step<'_>> =
        context.steps.iter().filter(|step| makes_solution(step.kind) && !step.runs.is_empty()).collect();
    let columns: BTreeMap<Column, usize> = {
        let mut found: Vec<Column> = steps.iter().map(|step| column(step)).collect();
        found.sort();
        found.dedup();
        found.into_iter().zip(0..).collect()
    };
    let candidates =
        steps.iter().filter(|step| matches!(step.step, place::Step::Candidate(_))).map(|step| counter(step));
    let candidates = candidates.max().map_or(0, |last| last + 1);
    // Paths are drawn below one another, one row apart.
    let lanes = 1 + steps.iter().filter_map(|step| attempt(step)).max().unwrap_or_default();
    let way = context.descent.way_to_best();
    let index: BTreeMap<place::Step, usize> = steps.iter().map(|step| step.step).zip(0..).collect();
    let dot = |step: &&Step<'_>| Dot {
        column: columns.get(&column(step)).copied().unwrap_or_default(),
        row: row(step, lanes, candidates),
        fate: fate(context, step),
        on_way: way.contains(&step.step) || step.step == place::Step::Finalization,
        from: context.descent.from(step.step).iter().filter_map(|from| index.get(from).copied()).collect(),
    };
    let dots = steps.iter().map(dot).collect();
    let spots = steps.iter().map(|step| spot(step)).collect();
    (columns.keys().map(Column::name).collect(), dots, spots)
}

/// Whether a step of this kind makes a solution of its own.
fn makes_solution(kind: StepKind) -> bool {
    !matches!(kind, StepKind::Baseline | StepKind::Study | StepKind::LikeRows | StepKind::Provisional)
}

/// The horizontal order of a step: a rank, and a number within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Column(u8, usize);

impl Column {
    fn name(&self) -> String {
        match self {
            Self(0, _) => "first".to_owned(),
            Self(1, number) => format!("merge {number}"),
            Self(2, _) => "data".to_owned(),
            Self(3, _) => "check".to_owned(),
            Self(4, number) => format!("step {}", number + 1),
            Self(5, _) => "ensemble".to_owned(),
            Self(6, _) => "selection".to_owned(),
            Self(7, _) => "choice".to_owned(),
            Self(..) => "final".to_owned(),
        }
    }
}

fn column(step: &Step<'_>) -> Column {
    match step.kind {
        StepKind::Baseline | StepKind::Candidate => Column(0, 0),
        StepKind::Merge => Column(1, counter(step)),
        StepKind::Data => Column(2, 0),
        StepKind::LeakageCheck => Column(3, 0),
        StepKind::Study | StepKind::Attempt => Column(4, outer(step)),
        StepKind::Round if step.step == place::Step::Selection => Column(6, 0),
        StepKind::Round => Column(5, 0),
        StepKind::Submission if matches!(step.step, place::Step::Choice(_)) => Column(7, 0),
        StepKind::LikeRows | StepKind::Provisional | StepKind::Submission => Column(8, 0),
    }
}

fn row(step: &Step<'_>, lanes: usize, candidates: usize) -> usize {
    match step.kind {
        // Further models are below the first ones.
        StepKind::Candidate if matches!(step.step, place::Step::Extra(_)) => candidates + counter(step),
        StepKind::Candidate | StepKind::Round | StepKind::Submission => counter(step),
        StepKind::Attempt => step.place.path().unwrap_or_default() * (lanes + 1) + counter(step),
        // Solutions that were not kept do not block the lines.
        StepKind::Merge | StepKind::Data | StepKind::LeakageCheck => usize::from(!step.is_kept()),
        StepKind::Baseline | StepKind::Study | StepKind::LikeRows | StepKind::Provisional => 0,
    }
}

/// The number of an attempt, from 0.
fn attempt(step: &Step<'_>) -> Option<usize> {
    (step.kind == StepKind::Attempt).then(|| counter(step))
}

/// The last counter of a step.
fn counter(step: &Step<'_>) -> usize {
    use place::Step::{Attempt, Candidate, Choice, Extra, Merge, Outer, Round};
    match step.step {
        Candidate(count) | Merge(count) | Round(count) | Extra(count) | Choice(count) => count as usize,
        Outer { outer, .. } => outer as usize,
        Attempt { inner, .. } => inner as usize,
        _ => 0,
    }
}

/// The outer step of an attempt, or of itself.
fn outer(step: &Step<'_>) -> usize {
    match step.step {
        place::Step::Outer { outer, .. } | place::Step::Attempt { outer, .. } => outer as usize,
        _ => 0,
    }
}

fn fate(context: &Context<'_>, step: &Step<'_>) -> Fate {
    match status(context, step).0 {
        "kept" => Fate::Kept,
        "failed" => Fate::Failed,
        "open" => Fate::Open,
        _ => Fate::Dropped,
    }
}

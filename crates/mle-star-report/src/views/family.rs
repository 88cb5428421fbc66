//! Draws the solutions of a run: a column per step of the algorithms, with lines from the parents of each
//! solution.

use std::collections::{BTreeMap, BTreeSet};

use mle_star_domain::place;
use mle_star_domain::place::Step::{
    Attempt, Candidate, Choice, DataCheck, Extra, Finalization, LeakageCheck, Merge, Round, Selection,
};

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

/// The order of a column, and its name.
type Column = (u8, u32, String);

/// The names of the columns, the positions of the solutions, and what they tell.
fn arranged(context: &Context<'_>) -> (Vec<String>, Vec<Dot>, Vec<Spot>) {
    let steps: Vec<&Step<'_>> =
        context.steps.iter().filter(|step| makes_solution(step.kind) && !step.runs.is_empty()).collect();
    let count = |count: fn(place::Step) -> Option<u32>| {
        steps.iter().filter_map(|step| count(step.step)).max().map_or(0, |last| last + 1)
    };
    let candidates = count(|step| if let Candidate(count) = step { Some(count) } else { None });
    // Paths are drawn below one another, one row apart.
    let lanes = 1 + count(|step| if let Attempt { inner, .. } = step { Some(inner) } else { None });
    let positions: Vec<(Column, u32)> = steps.iter().map(|step| position(step, lanes, candidates)).collect();
    let columns: BTreeSet<&Column> = positions.iter().map(|(column, _)| column).collect();
    let way = context.descent.way_to_best();
    let index: BTreeMap<place::Step, usize> = steps.iter().map(|step| step.step).zip(0..).collect();
    let dot = |(step, (column, row)): (&&Step<'_>, &(Column, u32))| Dot {
        column: columns.iter().position(|known| *known == column).unwrap_or_default(),
        row: *row as usize,
        fate: fate(context, step),
        on_way: way.contains(&step.step) || step.step == Finalization,
        from: context.descent.from(step.step).iter().filter_map(|from| index.get(from).copied()).collect(),
    };
    let dots = steps.iter().zip(&positions).map(dot).collect();
    let spots = steps.iter().map(|step| spot(step)).collect();
    (columns.iter().map(|(.., name)| name.clone()).collect(), dots, spots)
}

/// Whether a step of this kind makes a solution of its own.
fn makes_solution(kind: StepKind) -> bool {
    !matches!(kind, StepKind::Baseline | StepKind::Study | StepKind::LikeRows | StepKind::Provisional)
}

/// The position of a solution in the picture: its column and its row.
fn position(step: &Step<'_>, lanes: u32, candidates: u32) -> (Column, u32) {
    // Solutions that were not kept do not block the lines.
    let beside = u32::from(!step.is_kept());
    let (order, name, row) = match step.step {
        Candidate(count) => ((0, 0), "first".to_owned(), count),
        // Further models are below the first ones.
        Extra(count) => ((0, 0), "first".to_owned(), candidates + count),
        Merge(count) => ((1, count), format!("merge {count}"), beside),
        DataCheck => ((2, 0), "data".to_owned(), beside),
        LeakageCheck => ((3, 0), "check".to_owned(), beside),
        Attempt { path, outer, inner } => {
            ((4, outer), format!("step {}", outer + 1), path * (lanes + 1) + inner)
        }
        Round(count) => ((5, 0), "ensemble".to_owned(), count),
        Selection => ((6, 0), "selection".to_owned(), 0),
        Choice(count) => ((7, 0), "choice".to_owned(), count),
        _ => ((8, 0), "final".to_owned(), 0),
    };
    ((order.0, order.1, name), row)
}

fn fate(context: &Context<'_>, step: &Step<'_>) -> Fate {
    match status(context, step).0 {
        "kept" => Fate::Kept,
        "failed" => Fate::Failed,
        "open" => Fate::Open,
        _ => Fate::Dropped,
    }
}

//! Every accepted edit of an existing solution: plan, diff and gain.

use mle_star::reply as read;
use mle_star_domain::config::Acceptance;
use mle_star_domain::place::{self, Name};
use mle_star_domain::role::AgentType;
use serde::Serialize;

use super::ablation;
use super::context::Context;
use super::diff::{Diff, diff};
use super::plans::plan;
use super::steps::{Step, StepKind, node_id};
use crate::cut::{OUTPUT, PROSE, cut};
use crate::figures::{number, signed};
use crate::words::place_name;

/// The accepted edits in the order of the algorithms.
#[derive(Clone, Debug, Serialize)]
pub struct Ledger {
    /// The edits.
    pub entries: Vec<Entry>,
    /// How many edits were tried and scored.
    pub tried: usize,
    /// Whether an edit without gain or loss is kept.
    pub newer_wins_ties: bool,
}

/// One accepted edit.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The place, for example `phase2/path-0/t0/k1`.
    pub place: String,
    /// The place, for people.
    pub name: String,
    /// The id of its node.
    pub node: String,
    /// The plan.
    pub plan: String,
    /// The category of the block.
    pub category: Option<String>,
    /// The score before the edit.
    pub before: String,
    /// The score after the edit.
    pub score: String,
    /// The difference; `+` means better.
    pub change: String,
    /// Whether the score improved; otherwise it was a tie, or an edit that is kept with a worse score: unused data, a removed
    /// leak, or one that is better on like rows.
    pub is_better: bool,
    /// Whether it led to the best solution.
    pub on_way: bool,
    /// The block before, for an edit of one block.
    pub block: Option<String>,
    /// The diff of the block, or of the whole script for other edits.
    pub diff: Diff,
}

/// Creates the view of a run.
pub fn ledger(context: &Context<'_>) -> Ledger {
    let edits = || context.steps.iter().filter(|step| is_edit(step.kind) && step.score().is_some());
    let way = context.descent.way_to_best();
    let kept = edits().filter(|step| step.is_kept());
    let entries = kept.filter_map(|step| entry(context, step, way.contains(&step.step))).collect();
    let newer_wins_ties = context.run.snapshot.frozen.config.acceptance == Acceptance::Paper;
    Ledger { entries, tried: edits().count(), newer_wins_ties }
}

fn is_edit(kind: StepKind) -> bool {
    use StepKind::{Attempt, Data, LeakageCheck, Merge, Round};
    matches!(kind, Merge | Data | LeakageCheck | Attempt | Round)
}

fn entry(context: &Context<'_>, step: &Step<'_>, on_way: bool) -> Option<Entry> {
    let score = step.score()?;
    let parent = context.steps.at(*context.descent.from(step.step).first()?)?;
    let before = parent.score()?;
    let target = match step.step {
        place::Step::Attempt { path, outer, .. } => {
            ablation::target(context, place::Step::Outer { path, outer })
        }
        _ => None,
    };
    let coded =
        context.steps.reply(&step.place.named(Name::Agent(AgentType::Coder))).as_ref().and_then(read::code);
    let diff = match (&target, coded) {
        (Some(target), Some(code)) => diff(&target.code_block, &code),
        _ => diff(parent.text()?, step.text()?),
    };
    let gain = score.gain_over(before);
    Some(Entry {
        place: step.place.to_string(),
        name: place_name(&step.place),
        node: node_id(&step.place),
        plan: cut(&plan(context, step).unwrap_or_else(|| words(step.kind).to_owned()), PROSE),
        category: target.as_ref().and_then(ablation::category),
        before: number(before.value()),
        score: number(score.value()),
        change: signed(gain),
        is_better: gain > 0.0,
        on_way,
        block: target.map(|target| cut(&target.code_block, OUTPUT)),
        diff,
    })
}

fn words(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Data => "Data left unused is built in.",
        StepKind::LeakageCheck => "Leakage is removed.",
        _ => "",
    }
}

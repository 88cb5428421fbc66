//! Every accepted edit of an existing solution: plan, diff and gain.

use mle_star::reply as read;
use mle_star_domain::place::{self, Name};
use mle_star_domain::role::AgentType;
use serde_json::{Value, json};

use super::ablation;
use super::context::Context;
use super::diff::diff;
use super::plans::plan;
use super::steps::{Step, StepKind};

/// The accepted edits of existing solutions, in the order of the algorithms.
pub fn edits(context: &Context<'_>) -> Vec<Value> {
    let way = context.descent.way_to_best();
    let kept = tried_steps(context).filter(|step| step.is_kept());
    kept.filter_map(|step| edit(context, step, way.contains(&step.step))).collect()
}

/// The accepted edits, and how many were scored.
pub fn ledger(context: &Context<'_>) -> Option<Value> {
    let acceptance = context.run.snapshot.frozen.config.acceptance;
    Some(json!({"edits": edits(context), "tried": tried_steps(context).count(), "acceptance": acceptance}))
}

/// The steps that edited a solution and got a score.
fn tried_steps<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Step<'a>> {
    context.steps.iter().filter(|step| is_edit(step.kind) && step.score().is_some())
}

fn is_edit(kind: StepKind) -> bool {
    use StepKind::{Attempt, Data, LeakageCheck, Merge, Round};
    matches!(kind, Merge | Data | LeakageCheck | Attempt | Round)
}

/// An edit with its plan and its gain. Edits without gain were a tie, or are kept with a worse score: unused data, a removed
/// leak, or one that is better on like rows.
fn edit(context: &Context<'_>, step: &Step<'_>, on_way: bool) -> Option<Value> {
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
    Some(json!({
        "place": step.place,
        "plan": plan(context, step).unwrap_or_else(|| words(step.kind).to_owned()),
        "before": before.value(),
        "score": score.value(),
        "gain": score.gain_over(before),
        "on_way": on_way,
        "target": target,
        "diff": diff,
    }))
}

fn words(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Data => "Data left unused is built in.",
        StepKind::LeakageCheck => "Leakage is removed.",
        _ => "",
    }
}

//! Every accepted edit of an existing solution: plan, diff and gain.

use mle_star::reply as read;
use mle_star_domain::answers::RefinePlan;
use mle_star_domain::place::{self, Name, Place};
use mle_star_domain::role::AgentType;
use serde::Serialize;
use serde_json::{Value, json};

use super::ablation;
use super::context::Context;
use super::diff::diff;
use super::plans::plan;
use super::steps::{Step, StepKind};

/// One accepted edit.
#[derive(Clone, Debug, Serialize)]
pub struct Edit {
    /// Its step.
    pub place: Place,
    /// The plan.
    pub plan: String,
    /// The score before the edit.
    pub before: f64,
    /// The score after the edit.
    pub score: f64,
    /// How much better the score is. Edits without gain were a tie, or are kept with a worse score: unused data, a removed leak, or one
    /// that is better on like rows.
    pub gain: f64,
    /// Whether it led to the best solution.
    pub on_way: bool,
    /// The block that was edited, and why; `None` for an edit of the whole script.
    pub target: Option<RefinePlan>,
    /// The diff of the block, or of the whole script.
    pub diff: Value,
}

/// The accepted edits of existing solutions, in the order of the algorithms.
pub fn edits(context: &Context<'_>) -> Vec<Edit> {
    let way = context.descent.way_to_best();
    let kept = tried(context).filter(|step| step.is_kept());
    kept.filter_map(|step| edit(context, step, way.contains(&step.step))).collect()
}

/// The accepted edits, and how many were scored.
pub fn ledger(context: &Context<'_>) -> Value {
    let acceptance = context.run.snapshot.frozen.config.acceptance;
    json!({"edits": edits(context), "tried": tried(context).count(), "acceptance": acceptance})
}

/// The steps that edited a solution and got a score.
fn tried<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Step<'a>> {
    context.steps.iter().filter(|step| is_edit(step.kind) && step.score().is_some())
}

fn is_edit(kind: StepKind) -> bool {
    use StepKind::{Attempt, Data, LeakageCheck, Merge, Round};
    matches!(kind, Merge | Data | LeakageCheck | Attempt | Round)
}

fn edit(context: &Context<'_>, step: &Step<'_>, on_way: bool) -> Option<Edit> {
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
    Some(Edit {
        place: step.place.clone(),
        plan: plan(context, step).unwrap_or_else(|| words(step.kind).to_owned()),
        before: before.value(),
        score: score.value(),
        gain: score.gain_over(before),
        on_way,
        target,
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

//! The plan of a step, in words.

use mle_star::reply as read;
use mle_star_domain::place::{self, Name};
use mle_star_domain::role::AgentType;

use super::ablation;
use super::context::Context;
use super::steps::{Step, StepKind};

/// The plan of a step, from the agents' replies.
pub fn plan(context: &Context<'_>, step: &Step<'_>) -> Option<String> {
    let prose = |agent: AgentType| {
        context.steps.reply(&step.place.named(Name::Agent(agent))).as_ref().and_then(read::prose)
    };
    // The program's own steps have no plan by an agent.
    let note = || step.verdict.as_ref().map(|verdict| verdict.note.clone()).filter(|note| !note.is_empty());
    match step.kind {
        StepKind::Candidate => note(),
        StepKind::Merge => {
            let from = context.descent.from(step.step);
            let name = |step: place::Step| context.report.tried.step(step);
            Some(format!("Build {} into {}.", name(*from.get(1)?), name(*from.first()?)))
        }
        StepKind::Attempt => match step.step {
            place::Step::Attempt { path, outer, inner: 0 } => {
                ablation::target(context, place::Step::Outer { path, outer }).map(|target| target.plan)
            }
            _ => prose(AgentType::Planner),
        },
        StepKind::Round => prose(AgentType::EnsPlanner).or_else(note),
        StepKind::Baseline
        | StepKind::Data
        | StepKind::LeakageCheck
        | StepKind::Study
        | StepKind::LikeRows
        | StepKind::Provisional
        | StepKind::Submission => None,
    }
}

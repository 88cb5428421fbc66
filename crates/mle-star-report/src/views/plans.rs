//! The plan of a step, and what it did, in words.

use mle_star::reply as read;
use mle_star_domain::place::{self, Name};
use mle_star_domain::role::AgentType;

use super::ablation;
use super::context::Context;
use super::steps::{Step, StepKind};
use crate::cut::sentence;
use crate::sanitize::first_line;

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
            let name = |step: place::Step| context.tried.step(step);
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

/// What a step did, in a few words: its model, or the beginning of its plan.
pub fn did(context: &Context<'_>, step: &Step<'_>) -> String {
    let note = step.verdict.as_ref().map(|verdict| verdict.note.clone()).unwrap_or_default();
    match step.kind {
        StepKind::Baseline | StepKind::Candidate => context.tried.step(step.step),
        StepKind::Data => "unused data".to_owned(),
        StepKind::LeakageCheck => "without the leak".to_owned(),
        StepKind::Submission if step.step == place::Step::Finalization => "submission".to_owned(),
        StepKind::Submission => step.step.title(),
        StepKind::Merge => first_clause(&note),
        _ => first_clause(&plan(context, step).filter(|plan| !plan.is_empty()).unwrap_or(note)),
    }
}

/// A plan without what comes before a colon: plans of the offline agents begin with `Strategy:`.
fn headless(plan: &str) -> String {
    let line = first_line(plan, 300);
    let after = line.split_once(": ").filter(|(head, _)| head.len() < 20);
    after.map_or(line.as_str(), |(_, rest)| rest).to_owned()
}

/// The first sentence of a plan, or two if it is short.
pub fn first_sentence(plan: &str) -> String {
    let line = headless(plan);
    let end = line.match_indices(". ").map(|(at, _)| at + 1).find(|at| *at > 40);
    sentence(&line[..end.unwrap_or(line.len())])
}

/// The beginning of a plan.
fn first_clause(plan: &str) -> String {
    let line = headless(plan);
    line[..line.find(['.', ':', ';', '(', ',']).unwrap_or(line.len())].trim().to_owned()
}

//! Predicts the agent calls that are likely to follow a call.
//!
//! The predictions follow the order of the algorithms. They affect only speed: a backend may prepare for these
//! calls, and a wrong prediction costs an unused preparation.

use mle_star_domain::config::Config;
use mle_star_domain::place::{Name, Phase, Place, Step};
use mle_star_domain::role::{AgentType, Variant};

/// A call before its prompt is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Likely {
    pub place: Place,
    pub agent: AgentType,
    pub variant: Option<Variant>,
}

/// The calls that follow this one, soonest first, and those that follow the first of them.
pub(crate) fn after(call: &Likely, config: &Config) -> Vec<Likely> {
    let mut likely = next(call, config);
    let further: Vec<Likely> = likely.first().map(|first| next(first, config)).unwrap_or_default();
    likely.extend(further);
    likely
}

fn next(call: &Likely, config: &Config) -> Vec<Likely> {
    let here = |agent| vec![ask(&call.place.parent(), agent)];
    let Some(step) = call.place.step() else {
        return (0..config.num_retrieved_models)
            .map(|index| first(Step::Candidate(index), AgentType::Init))
            .collect();
    };
    match (call.agent, call.variant) {
        (AgentType::Ablation, _) => here(AgentType::Summarize),
        (AgentType::Summarize, _) => here(AgentType::Extractor),
        (AgentType::Extractor, _) => after_extractor(step),
        (AgentType::Planner, _) => here(AgentType::Coder),
        (AgentType::EnsPlanner, _) => here(AgentType::Ensembler),
        (AgentType::Data, _) => vec![check(&Step::LeakageCheck.place()), check(&step.place())],
        (AgentType::Test, Some(Variant::SubsamplingExtract)) => {
            vec![first(step, AgentType::Test), task(Variant::SubsamplingRemove)]
        }
        (AgentType::Test, Some(Variant::SubsamplingRemove)) => here(AgentType::Test),
        (AgentType::Test, Some(_)) => Vec::new(),
        (AgentType::Leakage, _) => after_evaluation(step, config),
        // New code is checked for leakage.
        _ => vec![check(&call.place.parent())],
    }
}

fn after_extractor(step: Step) -> Vec<Likely> {
    let Step::Outer { path, outer } = step else { return Vec::new() };
    vec![first(Step::Attempt { path, outer, inner: 0 }, AgentType::Coder)]
}

/// The calls after a step's solution has been checked and has run.
fn after_evaluation(step: Step, config: &Config) -> Vec<Likely> {
    let has_next = |index: u32, count: u32| index + 1 < count;
    let data = first(Step::DataCheck, AgentType::Data);
    match step {
        Step::Candidate(_) if config.num_retrieved_models > 1 => {
            vec![first(Step::Merge(1), AgentType::Merger)]
        }
        Step::Merge(count) if has_next(count, config.num_retrieved_models) => {
            vec![first(Step::Merge(count + 1), AgentType::Merger), data]
        }
        Step::Candidate(_) | Step::Merge(_) => vec![data],
        Step::DataCheck => vec![check(&Step::LeakageCheck.place())],
        Step::LeakageCheck => {
            let paths = 0..config.num_parallel_solutions;
            paths.map(|path| first(Step::Outer { path, outer: 0 }, AgentType::Ablation)).collect()
        }
        Step::Attempt { path, outer, inner } if has_next(inner, config.inner_loop_steps) => {
            vec![first(Step::Attempt { path, outer, inner: inner + 1 }, AgentType::Planner)]
        }
        Step::Attempt { path, outer, .. } | Step::Outer { path, outer }
            if has_next(outer, config.outer_loop_steps) =>
        {
            vec![first(Step::Outer { path, outer: outer + 1 }, AgentType::Ablation)]
        }
        Step::Attempt { .. } | Step::Outer { .. } if config.num_parallel_solutions > 1 => {
            vec![first(Step::Round(0), AgentType::EnsPlanner)]
        }
        Step::Round(round) if has_next(round, config.ensemble_rounds) => {
            vec![first(Step::Round(round + 1), AgentType::EnsPlanner)]
        }
        Step::Attempt { .. } | Step::Outer { .. } | Step::Round(_) => vec![task(Variant::SubsamplingExtract)],
        Step::Extra(_) | Step::Selection | Step::Choice(_) | Step::Finalization => Vec::new(),
    }
}

fn first(step: Step, agent: AgentType) -> Likely {
    ask(&step.place(), agent)
}

fn ask(at: &Place, agent: AgentType) -> Likely {
    Likely { place: at.named(Name::Agent(agent)), agent, variant: None }
}

fn check(at: &Place) -> Likely {
    Likely { variant: Some(Variant::Detection), ..ask(at, AgentType::Leakage) }
}

fn task(variant: Variant) -> Likely {
    let place = Place::from(Phase::Finalization).named(Name::Task(variant));
    Likely { place, agent: AgentType::Test, variant: Some(variant) }
}

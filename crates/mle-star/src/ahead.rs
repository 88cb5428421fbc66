//! Which agent calls are likely to follow one, when all goes well.
//!
//! The order is that of the algorithms, and nothing but speed hangs on it: a backend may prepare for the
//! calls named here. A wrong guess costs it a preparation that is thrown away.

use crate::config::Config;
use crate::place::{Phase, Place};
use crate::role::{AgentType, Variant};

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
    let step = call.place.parent();
    let here = |agent| vec![at(&step, agent)];
    match (call.agent, call.variant) {
        (AgentType::Retriever, _) => {
            let candidates =
                (0..config.num_retrieved_models).map(|index| step.join(format!("candidate-{index}")));
            candidates.map(|candidate| at(&candidate, AgentType::Init)).collect()
        }
        (AgentType::Ablation, _) => here(AgentType::Summarize),
        (AgentType::Summarize, _) => here(AgentType::Extractor),
        (AgentType::Extractor, _) => vec![at(&step.join("k0"), AgentType::Coder)],
        (AgentType::Planner, _) => here(AgentType::Coder),
        (AgentType::EnsPlanner, _) => here(AgentType::Ensembler),
        (AgentType::Data, _) => vec![check(&step.parent().join("final")), check(&step)],
        (AgentType::Test, Some(Variant::SubsamplingExtract)) => {
            vec![at(&step, AgentType::Test), task(&step, AgentType::Test, Variant::SubsamplingRemove)]
        }
        (AgentType::Test, Some(Variant::SubsamplingRemove)) => here(AgentType::Test),
        (AgentType::Test, Some(_)) => Vec::new(),
        (AgentType::Leakage, _) => after_evaluation(&evaluated(&step), config),
        // What was written is checked.
        _ => vec![check(&step)],
    }
}

/// What follows when the solution of a step has been checked and has run.
fn after_evaluation(step: &Place, config: &Config) -> Vec<Likely> {
    let above = step.parent();
    let number = |prefix: &str| step.last().strip_prefix(prefix)?.parse::<u32>().ok();
    let merge = |count: u32| at(&above.join(format!("merge-{count}")), AgentType::Merger);
    let data = || at(&above.join("data"), AgentType::Data);
    match step.phase() {
        Some(Phase::Phase1) => match (number("candidate-"), number("merge-")) {
            (Some(_), _) if config.num_retrieved_models > 1 => vec![merge(1)],
            (None, Some(count)) if count + 1 < config.num_retrieved_models => vec![merge(count + 1), data()],
            (None, None) if step.last() == "data" => vec![check(&above.join("final"))],
            (None, None) => (0..config.num_parallel_solutions).map(first_of_path).collect(),
            _ => vec![data()],
        },
        Some(Phase::Phase2) => match (number("k"), above.last().strip_prefix('t').map(str::parse::<u32>)) {
            (Some(k), _) if k + 1 < config.inner_loop_steps => {
                vec![at(&above.join(format!("k{}", k + 1)), AgentType::Planner)]
            }
            (_, Some(Ok(t))) if t + 1 < config.outer_loop_steps => {
                vec![at(&above.parent().join(format!("t{}", t + 1)), AgentType::Ablation)]
            }
            _ if config.num_parallel_solutions > 1 => vec![first_of_ensemble()],
            _ => vec![first_of_finalization()],
        },
        Some(Phase::Phase3) => match number("r") {
            Some(round) if round + 1 < config.ensemble_rounds => {
                vec![at(&above.join(format!("r{}", round + 1)), AgentType::EnsPlanner)]
            }
            _ => vec![first_of_finalization()],
        },
        Some(Phase::Finalization) | None => Vec::new(),
    }
}

/// A repair belongs to the step whose solution it repairs.
fn evaluated(step: &Place) -> Place {
    if step.last().starts_with("debug-") { step.parent() } else { step.clone() }
}

fn first_of_path(path: u32) -> Likely {
    at(&Place::from(Phase::Phase2.name()).join(format!("path-{path}/t0")), AgentType::Ablation)
}

fn first_of_ensemble() -> Likely {
    at(&Place::from(Phase::Phase3.name()).join("r0"), AgentType::EnsPlanner)
}

fn first_of_finalization() -> Likely {
    task(&Place::from(Phase::Finalization.name()), AgentType::Test, Variant::SubsamplingExtract)
}

fn at(step: &Place, agent: AgentType) -> Likely {
    Likely { place: step.join(agent.name()), agent, variant: None }
}

fn check(step: &Place) -> Likely {
    Likely { variant: Some(Variant::Detection), ..at(step, AgentType::Leakage) }
}

fn task(step: &Place, agent: AgentType, variant: Variant) -> Likely {
    Likely { place: step.join(variant.name()), agent, variant: Some(variant) }
}

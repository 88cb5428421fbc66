//! Predicts the agent calls that are likely to follow a call.
//!
//! The predictions follow the table of steps. They affect only speed: a backend may prepare for these
//! calls, and a wrong prediction costs an unused preparation.

use mle_star_domain::config::Config;
use mle_star_domain::place::{Asked, Call, Name, Place, Script, Step};
use mle_star_domain::role::{AgentType, Variant};

/// A call before its prompt is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Likely {
    pub place: Place,
    pub agent: AgentType,
    pub variant: Option<Variant>,
}

/// The calls that follow this one, soonest first, and those that follow the first of them.
pub(crate) fn following(call: &Likely, config: &Config) -> Vec<Likely> {
    let mut likely = next(call, config);
    let further: Vec<Likely> = likely.first().map(|first| next(first, config)).unwrap_or_default();
    likely.extend(further);
    likely
}

fn next(call: &Likely, config: &Config) -> Vec<Likely> {
    let Some(step) = call.place.step() else {
        return (0..config.num_retrieved_models).map(|index| first(Step::Candidate(index))).collect();
    };
    let row = step.row();
    let is_it = |one: &Call| one.agent == call.agent && one.variant == call.variant;
    let check = vec![check(&call.place.parent())];
    let Some(at) = row.calls.iter().position(is_it).filter(|_| call.agent != AgentType::Leakage) else {
        // New code is checked for leakage, and runs after that.
        return if call.agent == AgentType::Leakage { after(step, config) } else { check };
    };
    if row.calls[at].asked == Asked::ForEachReference {
        return Vec::new();
    }
    let rest = row.calls[at + 1..].iter().filter(|call| call.asked != Asked::ForEachReference);
    let rest: Vec<&Call> = rest.collect();
    let certain = rest.iter().position(|call| call.asked != Asked::Perhaps);
    let likely = certain.map_or(&rest[..], |certain| &rest[..=certain]);
    match (likely, row.script) {
        ([], Script::Unknown | Script::Study) => after(step, config),
        ([], Script::Perhaps) => after(step, config).into_iter().chain(check).collect(),
        ([], _) => check,
        (likely, _) => likely.iter().map(|call| ask(&step.place(), **call)).collect(),
    }
}

/// The first call of the steps that are likely to follow this one.
fn after(step: Step, config: &Config) -> Vec<Likely> {
    let followers = match step {
        // The attempts follow the study that they are part of.
        Step::Outer { path, outer } => vec![Step::Attempt { path, outer, inner: 0 }],
        step => step.followers(config),
    };
    followers.into_iter().map(first).collect()
}

/// The first call of a step.
fn first(step: Step) -> Likely {
    let is_made = |call: &&Call| call.asked != Asked::UnlessFirst || step.index() > 0;
    let call = step.row().calls.iter().find(is_made).copied();
    call.map_or_else(|| check(&step.place()), |call| ask(&step.place(), call))
}

fn ask(at: &Place, Call { agent, variant, .. }: Call) -> Likely {
    let name = match variant {
        Some(variant) if agent == AgentType::Test => Name::Task(variant),
        _ => Name::Agent(agent),
    };
    Likely { place: at.named(name), agent, variant }
}

fn check(at: &Place) -> Likely {
    let (agent, variant) = (AgentType::Leakage, Some(Variant::Detection));
    Likely { place: at.named(Name::Agent(agent)), agent, variant }
}

//! Usage of the agent calls by role, phase and path.
//!
//! [`spending`] sums up the records of a journal. Every call that was made counts, even when its record was discarded,
//! because it was paid for. Where a cost is unknown, as that of an interrupted call ([`Spending::interrupted_calls`]), an
//! estimate counts, and [`Usage::estimated_usd`] tells which part of a sum that is. Its tokens are in no sum.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::money::{CallKey, CostEstimator, Prices};
use crate::record::{EffectRecord, EffectState, Kind};
use mle_star_domain::config::Config;
use mle_star_domain::effects::Usage;
use mle_star_domain::place::Phase;
use mle_star_domain::role::AgentType;

/// Usage of a run's agent calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    /// By agent.
    pub by_role: BTreeMap<AgentType, Calls>,
    /// By phase.
    pub by_phase: BTreeMap<Phase, Calls>,
    /// By refinement path, `path-0` first.
    pub by_path: BTreeMap<String, Calls>,
    /// Calls that began and never ended because their process was stopped. Their cost is estimated.
    pub interrupted_calls: u64,
}

/// Total usage of several calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calls {
    /// Number of calls.
    pub calls: u64,
    /// The usage of the calls, and that of interrupted ones. The cost is `None` if nothing about it is known.
    #[serde(flatten)]
    pub usage: Usage,
}

/// The usage of the calls in these records of a run. A call in progress counts as interrupted.
pub fn spending(effects: &[EffectRecord], config: &Config) -> Spending {
    let mut spending = Spending::default();
    for (effect, usage) in counted_effects(effects, CostEstimator::new(Prices::of(config))).1 {
        let interrupted = is_interrupted(effect);
        spending.interrupted_calls += u64::from(interrupted);
        let calls = Calls { calls: u64::from(!interrupted), usage };
        if let Some(role) = role(effect) {
            spending.by_role.entry(role).or_default().add(calls);
        }
        if let Some(phase) = effect.place.phase() {
            spending.by_phase.entry(phase).or_default().add(calls);
        }
        if effect.place.path().is_some() {
            spending.by_path.entry(effect.place.session()).or_default().add(calls);
        }
    }
    spending
}

/// The calls in these records that may have cost something, each with its usage, in which an estimate stands for an unknown
/// cost, and the estimator that knows all of them. An estimate follows from earlier calls, so that later ones do not change
/// it, unless only later ones have a known cost.
pub(crate) fn counted_effects(
    effects: &[EffectRecord],
    mut estimator: CostEstimator,
) -> (CostEstimator, Vec<(&EffectRecord, Usage)>) {
    let paid = |effect: &&EffectRecord| is_interrupted(effect) || was_made(effect);
    let completed = |estimator: &CostEstimator, effect: &EffectRecord, usage: Usage| {
        let model = effect.request.get("model").and_then(serde_json::Value::as_str).unwrap_or_default();
        let call = role(effect).map(|agent| CallKey { agent, model, prompt_bytes: 0 });
        call.map_or(usage, |call| estimator.completed(&call, usage))
    };
    let mut usages = Vec::new();
    for effect in effects.iter().filter(paid) {
        usages.push((effect, completed(&estimator, effect, effect.usage)));
        if let Some(agent) = role(effect) {
            estimator.count(agent, &effect.usage);
        }
    }
    for (effect, usage) in &mut usages {
        *usage = completed(&estimator, effect, *usage);
    }
    (estimator, usages)
}

/// The agent of a record.
pub fn role(effect: &EffectRecord) -> Option<AgentType> {
    serde_json::from_value(effect.request.get("agent")?.clone()).ok()
}

/// Whether the agent was called and the call ended; `false` if a limit refused it, or if an earlier answer counted.
pub fn was_made(effect: &EffectRecord) -> bool {
    let refused = effect.limit.is_some() && effect.usage == Usage::free();
    let read_back = effect.request.get("read_back").is_some_and(|mark| mark == true);
    effect.kind == Kind::Agent && effect.outcome.is_some() && !refused && !read_back
}

fn is_interrupted(effect: &EffectRecord) -> bool {
    let ended = effect.outcome.is_some() || matches!(effect.state, EffectState::Ended | EffectState::Aside);
    effect.kind == Kind::Agent && !ended
}

impl Spending {
    /// The total.
    pub fn total(&self) -> Calls {
        let mut total = Calls::default();
        self.by_phase.values().for_each(|part| total.add(*part));
        total
    }
}

impl Calls {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.usage = self.usage + other.usage;
    }
}

impl Default for Calls {
    fn default() -> Self {
        Self { calls: 0, usage: Usage::free() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use mle_star_domain::config::AgentsChoice;
    use mle_star_domain::effects::Limit;
    use mle_star_domain::place::Place;

    fn call(place: &str, state: EffectState, usage: Option<Usage>, limit: Option<Limit>) -> EffectRecord {
        EffectRecord {
            seq: 1,
            place: Place::from(place),
            kind: Kind::Agent,
            state,
            request: json!({"agent": "coder", "model": "sonnet"}),
            outcome: usage.map(|_| json!({})),
            limit,
            usage: usage.unwrap_or_default(),
            begun_at: String::new(),
            ended_at: None,
            elapsed_begun: 0.0,
            elapsed_ended: None,
        }
    }

    #[test]
    fn every_call_that_was_made_counts_and_no_other() {
        use EffectState::{Aside, Begun, Ended, Void};
        let paid = |cost_usd| {
            Some(Usage { cost_usd, input: 10, output: 1, cache_read: 2, cache_write: 3, ..Usage::default() })
        };
        // No price is known, and no budget needs one.
        let config = Config { agents: AgentsChoice::OpenAi, ..Config::default() };
        let check = |state, usage, limit, calls: u64, cost: Option<f64>, interrupted: u64| {
            let spending = spending(&[call("phase2/path-1/t0/k0/coder", state, usage, limit)], &config);
            let total = spending.total();
            assert_eq!((total.calls, total.usage.cost_usd), (calls, cost), "{spending:?}");
            assert_eq!(spending.interrupted_calls, interrupted);
            let path = spending.by_path.get("path-1").copied().unwrap_or_default();
            let role = spending.by_role.get(&AgentType::Coder).copied().unwrap_or_default();
            assert_eq!((path, role), (total, total));
        };
        check(Ended, paid(Some(0.5)), None, 1, Some(0.5), 0);
        check(Ended, paid(None), None, 1, None, 0);
        check(Aside, paid(Some(0.5)), None, 1, Some(0.5), 0);
        check(Void, paid(Some(0.5)), None, 1, Some(0.5), 0);
        check(Ended, paid(Some(0.5)), Some(Limit::Time), 1, Some(0.5), 0);
        check(Ended, Some(Usage::free()), Some(Limit::Budget), 0, Some(0.0), 0);
        check(Void, None, None, 0, None, 1);
        check(Begun, None, None, 0, None, 1);
        // What is unknown counts as the dearest call of its agent, also of a later one.
        let calls = [paid(None), paid(Some(0.25))].map(|usage| call("phase1/p", Ended, usage, None));
        let usage = spending(&calls, &config).total().usage;
        assert_eq!((usage.cost_usd, usage.estimated_usd), (Some(0.5), 0.25));
    }
}

//! Usage of the agent calls by role, phase and path.
//!
//! [`spending`] sums up the records of a journal. Every call that was made counts, even when its record was discarded,
//! because it was paid for. The cost and tokens of an interrupted call ([`Spending::interrupted_calls`]) are unknown: no
//! sum contains them, so show their number next to the sum.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::effects::Usage;
use crate::journal::{EffectRecord, EffectState, Kind};
use crate::place::Phase;
use crate::role::AgentType;

/// Usage of a run's agent calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    /// By agent.
    pub by_role: BTreeMap<AgentType, Calls>,
    /// By phase.
    pub by_phase: BTreeMap<Phase, Calls>,
    /// By refinement path, `path-0` first.
    pub by_path: BTreeMap<String, Calls>,
    /// Calls that began and never ended because their process was stopped. Their usage is unknown.
    pub interrupted_calls: u64,
}

/// Total usage of several calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calls {
    /// Number of calls.
    pub calls: u64,
    /// Their usage. The cost is `None` if any cost is unknown.
    #[serde(flatten)]
    pub usage: Usage,
}

/// The usage of the calls in these records. A call in progress counts as interrupted.
pub fn spending(effects: &[EffectRecord]) -> Spending {
    let mut spending = Spending::default();
    for effect in effects.iter().filter(|effect| effect.kind == Kind::Agent) {
        if is_interrupted(effect) {
            spending.interrupted_calls += 1;
        } else if was_made(effect) {
            count(&mut spending, effect);
        }
    }
    spending
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
    effect.outcome.is_none() && matches!(effect.state, EffectState::Void | EffectState::Begun)
}

fn count(spending: &mut Spending, effect: &EffectRecord) {
    if let Some(role) = role(effect) {
        spending.by_role.entry(role).or_default().add(effect.usage);
    }
    if let Some(phase) = effect.place.phase() {
        spending.by_phase.entry(phase).or_default().add(effect.usage);
    }
    if effect.place.path().is_some() {
        spending.by_path.entry(effect.place.session()).or_default().add(effect.usage);
    }
}

impl Spending {
    /// The total.
    pub fn total(&self) -> Calls {
        let mut total = Calls::default();
        for part in self.by_phase.values() {
            total.calls += part.calls;
            total.usage = total.usage + part.usage;
        }
        total
    }
}

impl Calls {
    fn add(&mut self, usage: Usage) {
        self.calls += 1;
        self.usage = self.usage + usage;
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
    use crate::effects::Limit;
    use crate::place::Place;

    fn call(place: &str, state: EffectState, usage: Option<Usage>, limit: Option<Limit>) -> EffectRecord {
        EffectRecord {
            seq: 1,
            place: Place::from(place),
            kind: Kind::Agent,
            state,
            request: json!({"agent": "coder"}),
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
        let paid = |cost_usd| Some(Usage { cost_usd, input: 10, output: 1, cache_read: 2, cache_write: 3 });
        let check = |state, usage, limit, calls: u64, cost: Option<f64>, interrupted: u64| {
            let spending = spending(&[call("phase2/path-1/t0/k0/coder", state, usage, limit)]);
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
        check(Void, None, None, 0, Some(0.0), 1);
        check(Begun, None, None, 0, Some(0.0), 1);
    }
}

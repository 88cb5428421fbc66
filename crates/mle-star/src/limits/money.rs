//! The money of a run: which calls may begin, what they hold in reserve, and what they have cost.
//!
//! A call holds a [`Reserve`] from before it begins until its cost is counted: the most that one answer can cost. A call
//! begins beside others only if their reserves fit into what is left, so the budget is exceeded by one call at most. What
//! ends without a report, such as a call that an interrupt drops, counts as an estimate.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::FINALIZATION_SHARE;
use crate::money::{CallKey, CostEstimator, Prices};
use crate::record::EffectRecord;
use crate::spending;
use mle_star_domain::config::Config;
use mle_star_domain::effects::{AgentRequest, Limit, Usage};
use mle_star_domain::place::{Phase, Place};
use mle_star_domain::role::AgentType;

/// The money of a run.
pub(crate) struct Budget {
    max_usd: Option<f64>,
    state: Mutex<State>,
    /// A call has ended: what others wait for may be there.
    settled: Notify,
}

struct State {
    estimator: CostEstimator,
    spent: f64,
    /// The calls in progress.
    in_flight: u32,
    /// The most that they can cost, together.
    reserved: f64,
    /// What they are expected to cost, together.
    expected: f64,
    /// The warnings given so far.
    given: HashSet<Warning>,
}

/// A warning about the budget. Each is issued once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Warning {
    /// 80 % of the limit is spent.
    MostIsSpent,
    /// The cost of a call is unknown.
    Estimated,
}

/// The money that a call in progress may cost, which no other call may use.
pub(crate) struct Reserve<'a> {
    purse: &'a Budget,
    agent: AgentType,
    model: String,
    prompt_bytes: usize,
    most: f64,
    expected: f64,
    /// US dollars that the call may cost by itself.
    pub max_usd: Option<f64>,
    is_settled: bool,
}

impl Budget {
    pub fn new(config: &Config) -> Self {
        let state = State {
            estimator: CostEstimator::new(Prices::of(config)),
            spent: 0.0,
            in_flight: 0,
            reserved: 0.0,
            expected: 0.0,
            given: HashSet::new(),
        };
        Self { max_usd: config.max_budget_usd, state: Mutex::new(state), settled: Notify::new() }
    }

    /// The reserve of a call, as soon as there is money for it beside the calls in progress, or the limit that refuses it.
    pub async fn reserve(&self, request: &AgentRequest) -> Result<Reserve<'_>, Limit> {
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            // What is settled from here on is noticed.
            settled.as_mut().enable();
            if let Some(answer) = self.try_reserve(request) {
                return answer;
            }
            settled.await;
        }
    }

    /// The reserve, or the limit that refuses it; `None` if calls in progress hold what it needs.
    pub fn try_reserve(&self, request: &AgentRequest) -> Option<Result<Reserve<'_>, Limit>> {
        let agent = request.agent;
        let prompt_bytes = request.system.len() + request.prompt.len();
        let call = CallKey { agent, model: &request.model, prompt_bytes };
        let mut state = self.state();
        let (most, expected) = (state.estimator.most(&call), state.estimator.expected(&call));
        match self.may_begin(&state, &request.place, expected) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(limit) => return Some(Err(limit)),
        }
        let max_usd = self.max_usd.map(|max| state.left_for(max, most));
        state.in_flight += 1;
        state.reserved += most;
        state.expected += expected;
        drop(state);
        let model = request.model.clone();
        let reserve =
            Reserve { purse: self, agent, model, prompt_bytes, most, expected, max_usd, is_settled: false };
        Some(Ok(reserve))
    }

    /// Whether a call may begin now, or later if not; the limit if there will be no money for it. As long as nothing was spent,
    /// an estimate refuses nobody.
    fn may_begin(&self, state: &State, place: &Place, expected: f64) -> Result<bool, Limit> {
        let Some(max) = self.max_usd else { return Ok(true) };
        let finalizing = place.phase() == Some(Phase::Finalization);
        let max = if finalizing { max } else { max * (1.0 - FINALIZATION_SHARE) };
        if state.spent >= max || state.spent > 0.0 && state.spent + expected > max {
            return Err(Limit::Budget);
        }
        let fits = state.spent + state.reserved <= max && state.spent + state.expected + expected <= max;
        Ok(state.in_flight == 0 || fits)
    }

    /// Counts the cost of earlier processes, including calls whose answers were discarded or never came. Returns new
    /// warnings.
    pub fn remember(&self, effects: &[EffectRecord]) -> Vec<Warning> {
        let mut state = self.state();
        let (estimator, usages) = spending::counted_effects(effects, state.estimator.clone());
        state.estimator = estimator;
        state.spent += usages.iter().filter_map(|(_, usage)| usage.cost_usd).sum::<f64>();
        let estimated = usages.iter().any(|(_, usage)| usage.estimated_usd > 0.0);
        self.warnings(&mut state, estimated)
    }

    fn warnings(&self, state: &mut State, estimated: bool) -> Vec<Warning> {
        let Some(max) = self.max_usd else { return Vec::new() };
        let holds = [(Warning::MostIsSpent, state.spent >= 0.8 * max), (Warning::Estimated, estimated)];
        let now = holds.into_iter().filter(|(_, holds)| *holds).map(|(warning, _)| warning);
        now.filter(|warning| state.given.insert(*warning)).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What a call may cost which begins now: what is left, without what calls in progress hold. One answer always fits,
    /// as long as there is money for it.
    fn left_for(&self, max: f64, most: f64) -> f64 {
        let left = (max - self.spent).max(0.0);
        (left - self.reserved).max(most.min(left))
    }
}

impl Reserve<'_> {
    /// Counts what the call used. Returns it with an estimate of what is unknown, and new warnings.
    pub fn settle(mut self, usage: Usage) -> (Usage, Vec<Warning>) {
        self.is_settled = true;
        self.count(usage)
    }

    fn count(&self, usage: Usage) -> (Usage, Vec<Warning>) {
        let mut state = self.purse.state();
        let call = CallKey { agent: self.agent, model: &self.model, prompt_bytes: self.prompt_bytes };
        let usage = state.estimator.completed(&call, usage);
        state.estimator.count(self.agent, &usage);
        state.spent += usage.cost_usd.unwrap_or(0.0);
        state.in_flight -= 1;
        state.reserved -= self.most;
        state.expected -= self.expected;
        if state.in_flight == 0 {
            // Sums of fractions leave remainders.
            (state.reserved, state.expected) = (0.0, 0.0);
        }
        let warnings = self.purse.warnings(&mut state, usage.estimated_usd > 0.0);
        drop(state);
        self.purse.settled.notify_waiters();
        (usage, warnings)
    }
}

impl Drop for Reserve<'_> {
    /// A call that was dropped may have been paid for.
    fn drop(&mut self) {
        if !self.is_settled {
            self.count(Usage::default());
        }
    }
}

impl Warning {
    /// The warning's text.
    pub fn text(self) -> &'static str {
        match self {
            Self::MostIsSpent => "80 % of the budget is spent",
            Self::Estimated => {
                "the cost of a call is unknown: an estimate counts against max_budget_usd, from other calls of the agent \
                 or from the price of the model"
            }
        }
    }
}

#[cfg(test)]
mod tests;

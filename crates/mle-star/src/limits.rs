//! Time and money: what may still be begun, and for how long it may run.
//!
//! Nothing here stops anything. [`Limits`] answers questions from the clock and the purse; the context
//! records every refusal, so that a resume decides the same.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::Config;
use crate::effects::{Limit, Usage};
use crate::journal::{EffectRecord, Kind};
use crate::place::{Phase, Place};
use crate::role::AgentType;

/// Share of the time, and of the money, that is kept for finalization.
const RESERVE: f64 = 0.1;
/// For limits of an hour or more, search ends at least this long before the limit, in seconds.
const LONG_RUN_RESERVE: f64 = 300.0;

/// What a run may still do. All times are seconds into the run.
pub(crate) struct Limits {
    total: f64,
    max_usd: Option<f64>,
    script_timeout: f64,
    agent_timeout: f64,
    ablation_timeout: f64,
    state: Mutex<State>,
}

struct State {
    /// When the current phase's share ends.
    phase_ends: f64,
    /// Script seconds each refinement path may use; unlimited when paths do not compete for slots.
    path_allowance: f64,
    path_used: HashMap<usize, f64>,
    has_solution: bool,
    spent: f64,
    /// Expected cost of the calls that are under way.
    in_flight: f64,
    dearest: HashMap<AgentType, f64>,
    /// What was told already.
    told: HashSet<Warning>,
}

/// What a person should know about money, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Warning {
    /// 80 % of the limit is spent.
    MostIsSpent,
    /// A call's cost is unknown, so that nobody can say when the limit is reached.
    CannotHold,
}

/// The expected cost of a call under way.
#[derive(Clone, Copy)]
pub(crate) struct Estimate(f64);

impl Limits {
    pub fn new(config: &Config) -> Self {
        let total = seconds(config.time_limit_seconds);
        Self {
            total,
            max_usd: config.max_budget_usd,
            script_timeout: config.script_timeout_seconds.map_or(f64::INFINITY, seconds),
            agent_timeout: seconds(config.agent_timeout_seconds),
            ablation_timeout: (total / (f64::from(config.outer_loop_steps) * 2.0)).clamp(1.0, 600.0),
            state: Mutex::new(State {
                phase_ends: total,
                path_allowance: f64::INFINITY,
                path_used: HashMap::new(),
                has_solution: false,
                spent: 0.0,
                in_flight: 0.0,
                dearest: HashMap::new(),
                told: HashSet::new(),
            }),
        }
    }

    /// A phase begins at `now`: it gets its share of what is left, against the phases still to come.
    pub fn begin_phase(&self, phase: Phase, config: &Config, now: f64) {
        let shares = config.phase_time_budget;
        // Without an ensemble, refinement gets its time.
        let ensemble = if config.num_parallel_solutions > 1 { shares.phase3_pct } else { 0.0 };
        let idle = shares.phase3_pct - ensemble;
        let (own, later) = match phase {
            Phase::Phase1 => {
                (shares.phase1_pct, shares.phase2_pct + shares.phase3_pct + shares.finalization_pct)
            }
            Phase::Phase2 => (shares.phase2_pct + idle, ensemble + shares.finalization_pct),
            Phase::Phase3 => (shares.phase3_pct, shares.finalization_pct),
            Phase::Finalization => (1.0, 0.0),
        };
        self.state().phase_ends = now + (self.total - now).max(0.0) * own / (own + later);
    }

    /// Divides what Phase 2 has left among its paths, when they share the script slots.
    pub fn divide_among_paths(&self, paths: usize, slots: usize, now: f64) {
        let mut state = self.state();
        let left = (state.phase_ends - now).max(0.0);
        #[expect(clippy::cast_precision_loss, reason = "a handful of paths")]
        let share = left / paths as f64;
        state.path_allowance = if slots >= paths { f64::INFINITY } else { share };
    }

    /// The time that refuses work at this place now, if any does.
    pub fn out_of_time(&self, place: &Place, now: f64) -> Option<Limit> {
        if now >= self.search_ends(place) {
            return Some(Limit::Time);
        }
        let state = self.state();
        let path_is_spent = place.path().is_some_and(|path| state.used(path) >= state.path_allowance);
        (now >= self.phase_ends(&state, place) || path_is_spent).then_some(Limit::Share)
    }

    /// The money that refuses an agent call, or what the call is expected to cost.
    pub fn out_of_money(&self, place: &Place, agent: AgentType) -> Result<Estimate, Limit> {
        let mut state = self.state();
        let expected = state.expected(agent);
        if let Some(max) = self.max_usd {
            let finalizing = place.phase() == Some(Phase::Finalization);
            let reserve = if finalizing { 0.0 } else { max * RESERVE };
            let committed = state.spent + state.in_flight;
            if committed >= max || committed + expected + reserve > max {
                return Err(Limit::Budget);
            }
        }
        state.in_flight += expected;
        Ok(Estimate(expected))
    }

    /// Counts what earlier processes spent, also on calls that do not count any more. A call that was cut off has
    /// cost what the dearest of its kind did, for all that is known. Gives what a person should know now.
    pub fn remember(&self, effects: &[EffectRecord]) -> Vec<Warning> {
        let asked = || effects.iter().filter(|effect| effect.kind == Kind::Agent);
        let agent = |effect: &EffectRecord| {
            serde_json::from_value::<AgentType>(effect.request.get("agent")?.clone()).ok()
        };
        let mut warnings = Vec::new();
        for effect in asked().filter(|effect| effect.outcome.is_some()) {
            warnings.extend(agent(effect).map(|agent| self.spend(agent, &effect.usage)).unwrap_or_default());
        }
        for effect in asked().filter(|effect| effect.outcome.is_none()) {
            let Some(agent) = agent(effect) else { continue };
            let cost_usd = Some(self.state().expected(agent));
            warnings.extend(self.spend(agent, &Usage { cost_usd, ..Usage::default() }));
        }
        warnings
    }

    /// A call is over. Gives what a person should know now.
    pub fn settle(&self, estimate: Estimate, agent: AgentType, usage: &Usage) -> Vec<Warning> {
        self.state().in_flight -= estimate.0;
        self.spend(agent, usage)
    }

    /// Counts money. An unknown cost counts as nothing, and is told.
    fn spend(&self, agent: AgentType, usage: &Usage) -> Vec<Warning> {
        let mut state = self.state();
        let cost = usage.cost_usd.unwrap_or(0.0);
        state.spent += cost;
        let dearest = state.dearest.entry(agent).or_insert(0.0);
        *dearest = dearest.max(cost);
        let Some(max) = self.max_usd else { return Vec::new() };
        let holds = [
            (Warning::MostIsSpent, state.spent >= 0.8 * max),
            (Warning::CannotHold, usage.cost_usd.is_none()),
        ];
        let now = holds.into_iter().filter(|(_, holds)| *holds).map(|(warning, _)| warning);
        now.filter(|warning| state.told.insert(*warning)).collect()
    }

    /// How long an agent call begun now may take, and how long with all its waiting for the service.
    pub fn agent_timeout(&self, place: &Place, now: f64) -> (Duration, Duration) {
        let left = self.left(place, now).max(1.0);
        (Duration::from_secs_f64(self.agent_timeout.min(left)), Duration::from_secs_f64(left))
    }

    /// How long a script begun now may take.
    pub fn script_timeout(&self, place: &Place, ablation: bool, now: f64) -> Duration {
        let cap = if ablation { self.script_timeout.min(self.ablation_timeout) } else { self.script_timeout };
        let state = self.state();
        let path = place.path().map_or(f64::INFINITY, |path| state.path_allowance - state.used(path));
        drop(state);
        Duration::from_secs_f64(cap.min(path).min(self.left(place, now)).max(1.0))
    }

    /// Counts the script time of a path.
    pub fn use_script_time(&self, place: &Place, seconds: f64) {
        if let Some(path) = place.path() {
            *self.state().path_used.entry(path).or_insert(0.0) += seconds;
        }
    }

    /// There is a solution now: Phase 1 has to keep to its share.
    pub fn found_solution(&self) {
        self.state().has_solution = true;
    }

    fn left(&self, place: &Place, now: f64) -> f64 {
        let state = self.state();
        self.phase_ends(&state, place).min(self.search_ends(place)) - now
    }

    /// When the finalize-now flag rises; finalization itself may use all the time there is.
    fn search_ends(&self, place: &Place) -> f64 {
        if place.phase() == Some(Phase::Finalization) {
            return self.total;
        }
        let reserve = self.total * RESERVE;
        self.total - if self.total >= 3600.0 { reserve.max(LONG_RUN_RESERVE) } else { reserve }
    }

    fn phase_ends(&self, state: &State, place: &Place) -> f64 {
        match place.phase() {
            Some(Phase::Phase1) if !state.has_solution => self.search_ends(place),
            Some(Phase::Finalization) => self.total,
            _ => state.phase_ends,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Warning {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::MostIsSpent => "80 % of the budget is spent",
            Self::CannotHold => "the cost of a call is unknown: max_budget_usd cannot be held",
        }
    }
}

impl State {
    fn used(&self, path: usize) -> f64 {
        self.path_used.get(&path).copied().unwrap_or(0.0)
    }

    /// What a call of this agent is expected to cost.
    fn expected(&self, agent: AgentType) -> f64 {
        self.dearest.get(&agent).copied().unwrap_or_else(|| self.dearest_of_all())
    }

    fn dearest_of_all(&self) -> f64 {
        self.dearest.values().copied().fold(0.0, f64::max)
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run are far below 2^52")]
fn seconds(whole: u64) -> f64 {
    whole as f64
}

//! Limits of time and money: admits or refuses work, and estimates how long scripts take from those that have run.
//!
//! [`Limits`] decides by the elapsed time and the seconds that it recorded; its [`Budget`] holds the money. The context records
//! every refusal, so that a resume decides the same. [`aim`] is the length of a script that agents are told to aim at.

mod aim;
mod money;

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::verdict::Verdict;
use mle_star_domain::config::{Config, Switch};
use mle_star_domain::effects::{Limit, Purpose, ScriptEnd, ScriptOutcome};
use mle_star_domain::place::{Deadline, Expected, Phase, Place, Step};
use mle_star_domain::protocol::Protocol;
use mle_star_domain::role::AgentType;

pub(crate) use money::{Budget, Reserve};

/// The share of the time and the budget that is reserved for finalization. A minimum of five minutes for long runs
/// would change nothing: a tenth of an hour is more.
const FINALIZATION_SHARE: f64 = 0.1;
/// What the submission script takes on all rows, relative to the longest run without the held-out ones: it has more
/// rows, and nothing is imported yet.
const FULL_FACTOR: f64 = 1.5;
/// What the submission script of an ensemble takes on all rows, relative to its scripts: a sum varies less.
const ENSEMBLE_FULL_FACTOR: f64 = 1.3;
/// How many times the rows of the search the submission script should have time for, where the search samples them. Time
/// for more would cost the search too much.
const MAX_ROWS_FACTOR: f64 = 3.0;
/// What the submission script takes when it runs again with the held-out rows, relative to its run without them.
pub(crate) const RERUN_FACTOR: f64 = 1.2;
/// The number of scripts that an ensemble should have time for.
const ENSEMBLE_SCRIPTS: f64 = 3.0;
/// The largest share of the time that is reserved for an ensemble.
const MAX_ENSEMBLE_SHARE: f64 = 0.25;
/// The largest share of the time that is reserved for the submission script's run on all rows.
const MAX_RERUN_SHARE: f64 = 0.5;
/// The share of the time that the first solutions may use, if that of Phase 1 is smaller. Everything later builds on
/// them, so a short run tries all models and merges fewer.
const FIRST_SOLUTIONS_SHARE: f64 = 0.35;
/// What the first ablation study is expected to take, relative to a script: it scores the solution and a few variants.
const ABLATION_FACTOR: f64 = 3.0;
/// Seconds that the comparison of training and test table may take in short runs. It usually takes a few, and more on a
/// busy core, where it starts beside the worker's imports. Without it, nobody knows of columns that tell the answer.
const COMPARISON_SECONDS: f64 = 20.0;
/// The largest share of the time that the linear model of the baseline takes.
const LINEAR_SHARE: f64 = 0.25;
/// The largest shares of the remaining time and of the time used so far that a probe of the final solution takes.
const PROBE_SHARES: [f64; 2] = [0.1, 0.075];
/// The same of the run that tells the importance of columns: little comes after it, and nothing depends on it.
const IMPORTANCE_SHARES: [f64; 2] = [0.5, 0.05];
/// Seconds that such a run may take however little time was used.
const CHECK_SECONDS: f64 = 60.0;
/// The largest share of the remaining time that predictions for the test rows take at the end of a phase.
const PROVISIONAL_SHARE: f64 = 0.1;
/// The same for the first such predictions, without which a run may end with nothing to submit.
const FIRST_PROVISIONAL_SHARE: f64 = 0.25;
/// Seconds from which on an agent is a model, which reads what length of a script to aim at; rules answer at once.
const MODEL_SECONDS: f64 = 1.0;
/// The number of latest scripts that tell how long a script takes, and of agent calls.
const HISTORY_LENGTH: usize = 5;

/// The limits of a run. Times are seconds since the start of the run.
pub(crate) struct Limits {
    total: f64,
    /// The money.
    pub purse: Budget,
    script_timeout: f64,
    agent_timeout: f64,
    ablation_timeout: f64,
    /// Whether an ensemble of scripts may be submitted.
    ensembles: bool,
    comparison_timeout: f64,
    /// How many times the rows of the search the submission script should have time for; 1 if the search uses all.
    more_rows: f64,
    /// Whether the submission script runs on more rows than the scripts of the search.
    repeats: bool,
    /// Whether nothing can be submitted before a script has run on all rows: scripts of the search predict an earlier period.
    must_repeat: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the current phase's share ends.
    phase_ends: f64,
    /// Script seconds that each refinement path may use; empty when paths do not compete for slots.
    allowances: Vec<f64>,
    path_used: HashMap<usize, f64>,
    has_solution: bool,
    /// Whether the test rows have predictions.
    has_predictions: bool,
    /// The longest script, in seconds, that the submission script may have to repeat on more rows.
    max_rerun: f64,
    /// The seconds of the latest scripts that had a score.
    script_times: VecDeque<f64>,
    /// The seconds of the latest calls of agents that write or plan.
    call_times: VecDeque<f64>,
    /// The seconds of the latest ablation study; none before the first.
    ablation: Option<f64>,
}

impl Limits {
    /// The limits of a run that evaluates by this protocol.
    pub fn new(config: &Config, protocol: Option<&Protocol>) -> Self {
        let total = seconds(config.time_limit_seconds);
        let more_rows = more_rows(protocol.map_or(0, |protocol| protocol.rows), config.subsample_limit);
        Self {
            total,
            purse: Budget::new(config),
            script_timeout: config.script_timeout_seconds.map_or(f64::INFINITY, seconds),
            agent_timeout: seconds(config.agent_timeout_seconds),
            ensembles: config.ensemble_selection == Switch::On && config.num_parallel_solutions > 1,
            comparison_timeout: COMPARISON_SECONDS.min(total / 3.0).max(total / 10.0).clamp(1.0, 120.0),
            more_rows,
            must_repeat: protocol.is_some_and(|protocol| protocol.holdout.is_period()),
            repeats: more_rows > 1.0 || protocol.is_some_and(|protocol| protocol.holdout.is_on()),
            ablation_timeout: (total / (f64::from(config.outer_loop_steps) * 2.0)).clamp(1.0, 600.0),
            state: Mutex::new(State { phase_ends: total, ..State::default() }),
        }
    }

    /// Begins a phase at `now`. It gets its share of the remaining time, relative to the phases that follow. If more time
    /// than finalization's share is reserved, the phases before it share what is left.
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
        let mut state = self.state();
        let planned = (self.total - now).max(0.0) * own / (own + later);
        let search = own + later - shares.finalization_pct;
        let left = (self.search_ends(&state, &Place::from(phase)) - now).max(0.0);
        state.phase_ends = now
            + match phase {
                Phase::Finalization => planned,
                _ => planned.min(left * own / search.max(f64::EPSILON)),
            };
    }

    /// Divides the remaining time of Phase 2 among its paths if they share the script slots. They begin with a solution
    /// that took this many seconds. If the time is too short for the first attempt of each, the first paths have it.
    pub fn divide_among_paths(&self, paths: usize, slots: usize, seconds: f64, now: f64) {
        let mut state = self.state();
        let left = (state.phase_ends - now).max(0.0);
        let needed = self.ablation_seconds(&state) + seconds;
        #[expect(clippy::cast_precision_loss, reason = "a handful of paths")]
        let share = |paths: usize| left * slots as f64 / paths as f64;
        let with_time = (1..=paths).rev().find(|paths| share(*paths) > needed).unwrap_or(paths);
        let allowance = |path: usize| if path < with_time { share(with_time) } else { 0.0 };
        state.allowances = if slots >= paths { Vec::new() } else { (0..paths).map(allowance).collect() };
    }

    /// The time limit that refuses work at this place now, if any.
    pub fn refusing_limit(&self, place: &Place, now: f64) -> Option<Limit> {
        self.limit_before(place, now, 0.0)
    }

    /// The time limit that ends before work of this many seconds at this place, if any.
    fn limit_before(&self, place: &Place, now: f64, needed: f64) -> Option<Limit> {
        let state = self.state();
        let ends = now + needed;
        if ends >= self.search_ends(&state, place) {
            return Some(Limit::Time);
        }
        let path_is_spent = place.path().is_some_and(|path| needed >= state.allowance_left(path));
        (ends >= self.phase_ends(&state, place) || path_is_spent).then_some(Limit::Share)
    }

    /// The time limit that leaves out a step at this place now: what is left is less than its agent and its script are
    /// expected to take. `built_on` is how long the longest script took that it is made from. The first ablation study is
    /// expected to take as long as the solution and a few variants, or until it is stopped.
    pub fn too_late_to_begin(&self, place: &Place, built_on: Option<f64>, now: f64) -> Option<Limit> {
        let answer = match expected(place) {
            Expected::OnMoreRows => 0.0,
            _ => median(&self.state().call_times),
        };
        self.limit_before(place, now, self.expected_seconds(place, built_on) + answer)
    }

    /// The time limit that leaves out a script at this place now. A script whose writer read what length to aim at may be
    /// shorter than what it is made from.
    pub fn too_late_to_run(&self, place: &Place, built_on: Option<f64>, now: f64) -> Option<Limit> {
        let aims =
            median(&self.state().call_times) >= MODEL_SECONDS && expected(place) != Expected::OnMoreRows;
        let needed = if aims { self.state().shortest() } else { self.expected_seconds(place, built_on) };
        self.limit_before(place, now, needed)
    }

    /// How long the script at this place is expected to take, with an ablation study before it.
    fn expected_seconds(&self, place: &Place, built_on: Option<f64>) -> f64 {
        let state = self.state();
        let (shortest, study) = (state.shortest(), self.ablation_seconds(&state));
        match expected(place) {
            Expected::Shortest => shortest,
            Expected::AsBefore => built_on.unwrap_or(shortest),
            Expected::StudyAndAsBefore => study + built_on.unwrap_or(shortest),
            Expected::AtLeastAsBefore => built_on.unwrap_or_default().max(shortest),
            Expected::OnMoreRows => built_on.unwrap_or_default() * RERUN_FACTOR,
        }
    }

    /// The time limit that refuses an agent call at this place now, if any.
    pub fn too_late_to_ask(&self, place: &Place, agent: AgentType, now: f64) -> Option<Limit> {
        match agent {
            AgentType::Leakage => (now >= self.checks_end(place)).then_some(Limit::Time),
            _ => self.refusing_limit(place, now),
        }
    }

    /// How long the next ablation study is expected to take, in seconds.
    fn ablation_seconds(&self, state: &State) -> f64 {
        state.ablation.unwrap_or_else(|| (state.typical() * ABLATION_FACTOR).min(self.ablation_timeout))
    }

    /// The time limits of an agent call that begins now, without and with waiting for the service.
    pub fn agent_timeout(&self, place: &Place, agent: AgentType, now: f64) -> (Duration, Duration) {
        let left = match agent {
            AgentType::Leakage => self.checks_end(place) - now,
            _ => self.left(place, now),
        };
        let left = left.max(1.0);
        (Duration::from_secs_f64(self.agent_timeout.min(left)), Duration::from_secs_f64(left))
    }

    /// The time limit of a script that begins now.
    pub fn script_timeout(&self, place: &Place, purpose: Purpose, now: f64) -> Duration {
        let own = match purpose {
            // The constant needs nothing, and is all that a very short run has.
            Purpose::Score if matches!(place.step(), Some(Step::Baseline(1..))) => self.total * LINEAR_SHARE,
            Purpose::Ablation => self.ablation_timeout,
            Purpose::Comparison => self.comparison_timeout,
            Purpose::Probe => self.probe_time(place, now),
            Purpose::Submission if matches!(place.step(), Some(Step::Provisional(_))) => {
                self.provisional_time(place, now)
            }
            // The script itself may have to run after its copy.
            Purpose::Submission if place.is_with_model() => (self.total - now) / 2.0,
            Purpose::Score if self.must_repeat => (self.total - now) / (1.0 + FULL_FACTOR),
            Purpose::Score | Purpose::Submission => f64::INFINITY,
        };
        let path = place.path().map_or(f64::INFINITY, |path| self.state().allowance_left(path));
        let most = self.script_timeout.min(own).min(path);
        Duration::from_secs_f64(most.min(self.left(place, now)).max(1.0))
    }

    /// How long the probe of the final solution at this place may take, in seconds.
    pub fn probe_time(&self, place: &Place, now: f64) -> f64 {
        let [of_left, of_used] = if place.is_importance() { IMPORTANCE_SHARES } else { PROBE_SHARES };
        ((self.total - now).max(0.0) * of_left).min((now * of_used).max(CHECK_SECONDS))
    }

    /// How long the script of an answer at the end of a phase may take, in seconds.
    pub fn provisional_time(&self, place: &Place, now: f64) -> f64 {
        let share = if self.state().has_predictions { PROVISIONAL_SHARE } else { FIRST_PROVISIONAL_SHARE };
        ((self.total - now) * share).min(self.left(place, now)).max(0.0)
    }

    /// Counts the script time of a path.
    pub fn use_script_time(&self, place: &Place, seconds: f64) {
        if let Some(path) = place.path() {
            *self.state().path_used.entry(path).or_default() += seconds;
        }
    }

    /// Records how long a script took. What the submission script may have to repeat on more rows
    /// needs time at the end.
    pub fn record_script(&self, purpose: Purpose, outcome: &ScriptOutcome) {
        let (seconds, failed) = (outcome.duration_seconds, outcome.is_error());
        let mut state = self.state();
        match purpose {
            Purpose::Submission if !failed => state.has_predictions = true,
            Purpose::Ablation if !failed || outcome.end == ScriptEnd::TimedOut => {
                state.ablation = Some(seconds);
            }
            Purpose::Score if !failed => {
                push_seconds(&mut state.script_times, seconds);
                if self.repeats {
                    state.max_rerun = state.max_rerun.max(seconds);
                }
            }
            _ => {}
        }
    }

    /// Records how long an agent took. Leakage checks read more than they write.
    pub fn record_call(&self, agent: AgentType, seconds: f64) {
        if agent != AgentType::Leakage {
            push_seconds(&mut self.state().call_times, seconds);
        }
    }

    /// Records whether the end of a step gave a solution. From then on, Phase 1 is limited to its share.
    pub fn record_verdict(&self, verdict: &Verdict) {
        self.state().has_solution |= verdict.score.is_some();
    }

    /// How long the scripts of an ensemble may take, which the submission script repeats with more rows, in seconds.
    pub fn max_ensemble_seconds(&self, now: f64) -> f64 {
        self.max_submission_seconds(now) / self.more_rows
    }

    /// How long the submission script may be expected to take, in seconds.
    pub fn max_submission_seconds(&self, now: f64) -> f64 {
        (self.total - now).max(0.0) / ENSEMBLE_FULL_FACTOR
    }

    /// Seconds until the share of the current phase ends.
    pub fn phase_seconds_left(&self, now: f64) -> f64 {
        (self.state().phase_ends - now).max(0.0)
    }

    /// The time until a limit refuses work at this place.
    pub fn time_left(&self, place: &Place, now: f64) -> Duration {
        Duration::from_secs_f64(self.left(place, now).max(0.0))
    }

    fn left(&self, place: &Place, now: f64) -> f64 {
        let state = self.state();
        self.phase_ends(&state, place).min(self.search_ends(&state, place)) - now
    }

    /// When leakage checks end. They may take half of the time that is reserved for finalization, because a script that
    /// has run would count for nothing without its check.
    fn checks_end(&self, place: &Place) -> f64 {
        f64::midpoint(self.search_ends(&self.state(), place), self.total)
    }

    /// When search ends and finalization begins. Finalization itself may use all the remaining time.
    fn search_ends(&self, state: &State, place: &Place) -> f64 {
        if place.phase() == Some(Phase::Finalization) {
            return self.total;
        }
        let largest = if self.must_repeat { FULL_FACTOR / (1.0 + FULL_FACTOR) } else { MAX_RERUN_SHARE };
        let repeated = (state.max_rerun * FULL_FACTOR * self.more_rows).min(self.total * largest);
        // An ensemble runs only if the submission script sees more rows than the search.
        let runs = self.ensembles && state.max_rerun > 0.0;
        let combined = if runs { state.typical() * ENSEMBLE_SCRIPTS * ENSEMBLE_FULL_FACTOR } else { 0.0 };
        let combined = (combined * self.more_rows).min(self.total * MAX_ENSEMBLE_SHARE);
        (self.total * (1.0 - FINALIZATION_SHARE)).min(self.total - repeated.max(combined))
    }

    /// When the phase's share of the time ends. Phase 1 may borrow from the later ones for what they build on: the first
    /// solutions, and all of the data. What follows the ensembles may use all time that is left.
    fn phase_ends(&self, state: &State, place: &Place) -> f64 {
        if place.phase() == Some(Phase::Phase1) && !state.has_solution {
            return self.search_ends(state, place);
        }
        match place.step().map_or(Deadline::Share, |step| step.row().until) {
            Deadline::Share => state.phase_ends,
            Deadline::FirstSolutions => {
                state.phase_ends.max(self.total * FIRST_SOLUTIONS_SHARE).min(self.search_ends(state, place))
            }
            Deadline::Search => self.search_ends(state, place),
            Deadline::Run => self.total,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The script seconds that a path may still use.
    fn allowance_left(&self, path: usize) -> f64 {
        let used = self.path_used.get(&path).copied().unwrap_or(0.0);
        self.allowances.get(path).map_or(f64::INFINITY, |allowance| allowance - used)
    }

    /// The time of the shortest of the latest scripts; 0 without one.
    fn shortest(&self) -> f64 {
        self.script_times.iter().copied().reduce(f64::min).unwrap_or(0.0)
    }

    /// The median time of the latest scripts that had a score; 0 without one.
    fn typical(&self) -> f64 {
        median(&self.script_times)
    }
}

/// The expected time of the script of the step at this place, as its row says.
fn expected(place: &Place) -> Expected {
    place.step().map_or(Expected::Shortest, |step| step.row().expected)
}

/// Adds the seconds of one more script or answer.
fn push_seconds(latest: &mut VecDeque<f64>, seconds: f64) {
    latest.push_front(seconds);
    latest.truncate(HISTORY_LENGTH);
}

/// The median; 0 of nothing.
fn median(latest: &VecDeque<f64>) -> f64 {
    let mut latest: Vec<f64> = latest.iter().copied().collect();
    latest.sort_by(f64::total_cmp);
    latest.get(latest.len() / 2).copied().unwrap_or(0.0)
}

/// How many times the rows of the search the submission script should have time for.
#[expect(clippy::cast_precision_loss, reason = "the rows of a table are far below 2^52")]
fn more_rows(rows: u64, sampled: u32) -> f64 {
    (rows as f64 / f64::from(sampled.max(1))).clamp(1.0, MAX_ROWS_FACTOR)
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run are far below 2^52")]
fn seconds(whole: u64) -> f64 {
    whole as f64
}

#[cfg(test)]
mod tests;

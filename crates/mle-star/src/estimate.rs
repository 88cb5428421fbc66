//! Estimates the number of agent calls and script runs of a configuration.
//!
//! [`estimate`] counts the steps of each phase; the table of steps says what each of them does. *Fewest* is a run in which everything succeeds the
//! first time, every merge helps and no attempt does. *Most* is a run that makes every repair, corrects one leak in every check,
//! repeats every call that can be repeated, and finds unused data and subsampling. Further models of the offline agents,
//! checks of the members of a combination, and answers at the ends of phases are not counted.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Mul};

use serde::Serialize;

use crate::abilities::are_rules;
use crate::beyond::choice::MAX_FINALISTS;
use crate::beyond::probes::RUNS as PROBE_RUNS;
use mle_star_domain::config::{Config, Context, LeakageCheck, MAX_KEPT_MODELS, Preset, Probes, Switch};
use mle_star_domain::place::{Call, Calls, Phase, Script, Step};
use mle_star_domain::role::AgentType;
use mle_star_domain::task::Task;

/// A lower and an upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// If everything succeeds.
    pub fewest: u64,
    /// If every optional step is needed.
    pub most: u64,
}

/// The work of one phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseEstimate {
    /// The phase.
    pub phase: Phase,
    /// Agent calls by role, without roles that are not called.
    pub calls: BTreeMap<AgentType, Count>,
    /// Script runs.
    pub scripts: Count,
}

/// The work of each phase, in order. Phase 3 is included only with several paths. `models_by_hand` is the number
/// of models that the user provides.
pub fn estimate(config: &Config, task: &Task, models_by_hand: Option<usize>) -> Vec<PhaseEstimate> {
    let mut phases = vec![initial(config, task, models_by_hand), refinement(config, task)];
    if config.num_parallel_solutions > 1 {
        // Algorithm 3.
        let mut tally = Tally::new(Phase::Phase3, config);
        tally.take(Step::Round(0), u64::from(config.ensemble_rounds), 1, task);
        phases.push(tally.phase);
    }
    phases.push(finalization(config, task));
    phases
}

/// Algorithm 1.
fn initial(config: &Config, task: &Task, models_by_hand: Option<usize>) -> PhaseEstimate {
    let mut tally = Tally::new(Phase::Phase1, config);
    let asks_again = config.search == Switch::On && !are_rules(config);
    if models_by_hand.is_none() {
        tally.ask(AgentType::Retriever, Count { fewest: 1, most: if asks_again { 2 } else { 1 } });
    }
    let wanted = u64::from(config.num_retrieved_models);
    let models = models_by_hand.map_or(wanted, |given| wanted.min(given as u64));
    let baseline = u64::from(task.baseline_solution.is_some());
    tally.take(Step::Candidate(0), models, 1, task);
    tally.evaluate(Count::exactly(baseline));
    tally.take(Step::Merge(1), (models + baseline).saturating_sub(1), 1, task);
    tally.take(Step::DataCheck, 1, 1, task);
    tally.take(Step::LeakageCheck, 1, 1, task);
    tally.phase
}

/// Algorithm 2, on every path.
fn refinement(config: &Config, task: &Task) -> PhaseEstimate {
    let mut tally = Tally::new(Phase::Phase2, config);
    let paths = u64::from(config.num_parallel_solutions);
    let (steps, attempts) = (u64::from(config.outer_loop_steps), u64::from(config.inner_loop_steps));
    tally.take(Step::Outer { path: 0, outer: 0 }, steps, paths, task);
    tally.take(Step::Attempt { path: 0, outer: 0, inner: 0 }, attempts, paths * steps, task);
    tally.phase
}

/// The probes, the submission, the importance of columns, and a comparison with each reference.
fn finalization(config: &Config, task: &Task) -> PhaseEstimate {
    let mut tally = Tally::new(Phase::Finalization, config);
    if config.probes == Probes::Final {
        let solutions = MAX_FINALISTS as u64;
        tally.phase.scripts += Count { fewest: PROBE_RUNS, most: PROBE_RUNS * solutions };
    }
    tally.take(Step::Finalization, 1, 1, task);
    if config.preset != Preset::Paper {
        // Without held-out rows, two; none where they would take too long.
        tally.phase.scripts += Count { fewest: 0, most: 2 };
    }
    tally.phase
}

struct Tally {
    phase: PhaseEstimate,
    /// Repairs of one failing script.
    repairs: u64,
    /// Whether a solution is checked only if it would be accepted.
    defers: bool,
    /// Whether agents are told more than in the paper, which spares some calls.
    spares: bool,
    /// The most calls for submission scripts that keep their models, also where a solution writes the submission; 0 if nobody is
    /// asked.
    model_calls: u64,
}

impl Tally {
    fn new(phase: Phase, config: &Config) -> Self {
        let phase = PhaseEstimate { phase, calls: BTreeMap::new(), scripts: Count::default() };
        let defers = config.leakage_check == LeakageCheck::Accepted;
        let spares = config.context == Context::Full;
        // Each solution of a combination is asked for its model.
        let most = if config.ensemble_selection == Switch::On { MAX_KEPT_MODELS } else { 1 };
        let model_calls = if spares && !are_rules(config) { most } else { 0 };
        Self { phase, repairs: u64::from(config.max_debug_attempts), defers, spares, model_calls }
    }

    /// Counts rows of steps like `step`, each of this length.
    fn take(&mut self, step: Step, length: u64, rows: u64, task: &Task) {
        let (row, steps) = (step.row(), length * rows);
        let unless_spared = Count { fewest: u64::from(!self.spares), most: 1 };
        for Call { agent, variant, asked } in row.calls {
            let count = match asked {
                Calls::Once => Count::exactly(steps),
                Calls::UpTo(most) => Count { fewest: steps, most: most * steps },
                Calls::UnlessFirst => Count::exactly(steps - rows.min(steps)),
                Calls::Perhaps => Count { fewest: 0, most: steps },
                // The check of a solution that is evaluated is counted there.
                Calls::UnlessSpared if row.script == Script::Perhaps => Count { most: 0, ..unless_spared },
                Calls::UnlessSpared
                    if self.model_calls > 0 && *agent == AgentType::Test && variant.is_none() =>
                {
                    // If the copy with the model does not predict alike, the script itself runs, too.
                    self.phase.scripts += Count { fewest: 1, most: 2 };
                    Count { fewest: 1, most: self.model_calls }
                }
                Calls::UnlessSpared => unless_spared,
                Calls::ForEachReference => {
                    let references = task.reference_discussions.iter();
                    Count::exactly(references.filter(|text| !text.trim().is_empty()).count() as u64)
                }
            };
            self.ask(*agent, count);
        }
        match row.script {
            Script::Unknown => {}
            Script::Study => self.execute(Count::exactly(steps)),
            Script::Solution => self.evaluate(Count::exactly(steps)),
            Script::Competing => self.evaluate_against(Count::exactly(steps), rows.min(steps)),
            Script::Attempt => self.evaluate_against(Count::exactly(steps), 0),
            Script::Perhaps => self.evaluate(Count { fewest: 0, most: steps }),
            Script::Submission => self.evaluate(unless_spared),
        }
    }

    fn ask(&mut self, agent: AgentType, count: Count) {
        if count != Count::default() {
            *self.phase.calls.entry(agent).or_default() += count;
        }
    }

    /// Counts scripts that are run, and repaired while they fail.
    fn execute(&mut self, scripts: Count) {
        self.ask(AgentType::Debugger, Count { fewest: 0, most: scripts.most * self.repairs });
        self.phase.scripts += Count { most: scripts.most * (1 + self.repairs), ..scripts };
    }

    /// Counts h(s) of solutions that are accepted if they run.
    fn evaluate(&mut self, solutions: Count) {
        self.evaluate_against(solutions, solutions.fewest);
    }

    /// Counts h(s) of solutions that have to replace another, as at least `accepted` do: a check of each text that runs,
    /// with at most one correction. If the check comes after the run, a corrected script runs again, and its repairs are
    /// checked.
    fn evaluate_against(&mut self, solutions: Count, accepted: u64) {
        let most = solutions.most * 2 * (1 + self.repairs);
        let fewest = if self.defers { accepted } else { solutions.fewest };
        self.ask(AgentType::Leakage, Count { fewest, most });
        self.execute(solutions);
        if self.defers {
            self.execute(Count { fewest: 0, ..solutions });
        }
    }
}

impl Count {
    /// A count whose bounds are equal.
    pub fn exactly(count: u64) -> Self {
        Self { fewest: count, most: count }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.fewest += other.fewest;
        self.most += other.most;
    }
}

impl Mul<(f64, f64)> for Count {
    type Output = (f64, f64);

    /// The count from the fewest at the lower of two amounts to the most at the higher.
    #[expect(clippy::cast_precision_loss, reason = "counts of calls are far below 2^52")]
    fn mul(self, (low, high): (f64, f64)) -> (f64, f64) {
        (self.fewest as f64 * low, self.most as f64 * high)
    }
}

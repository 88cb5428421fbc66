//! The records of a run, grouped by step of the algorithm.

use std::collections::BTreeMap;

use mle_star::journal::{EffectRecord, EffectState, Kind, Outcome, Snapshot};
use mle_star::verdict::{Verdict, Verdicts};
use mle_star_domain::effects::{AgentReply, Limit, ScriptEnd, ScriptOutcome};
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place::{self, Place};
use serde::Deserialize as _;
use serde_json::Value;

pub use mle_star_domain::place::StepKind;

use crate::step_rows::can_be_best;
use crate::step_rows::stands;

/// Every step that has begun or was skipped, in the order of the algorithms.
pub struct Steps<'a> {
    steps: BTreeMap<place::Step, Step<'a>>,
}

/// One step: a candidate, a merge, a study, an attempt, a round, the submission script.
pub struct Step<'a> {
    /// The step of the algorithms.
    pub step: place::Step,
    /// The step's place, for example `phase2/path-0/t1/k2`.
    pub place: Place,
    /// The step's kind.
    pub kind: StepKind,
    /// The scripts that ran: the first, then the repaired ones.
    pub runs: Vec<ScriptRun<'a>>,
    /// The step's journal records that were not discarded, oldest first: agent calls, scripts, selections, looks and
    /// gates.
    pub records: Vec<&'a EffectRecord>,
    /// The limit that skipped it.
    pub limit: Option<Limit>,
    /// The step's verdict; `None` while it is open.
    pub verdict: Option<Verdict>,
}

/// One run of a script.
pub struct ScriptRun<'a> {
    /// The place, for example `phase1/merge-1/debug-1/run`.
    pub place: &'a Place,
    /// The text that ran.
    pub script: &'a str,
    /// The outcome; `None` while the script runs.
    pub outcome: Option<ScriptOutcome>,
    /// The score, if it counts.
    pub score: Option<Score>,
}

impl<'a> Steps<'a> {
    /// The steps of a journal with these verdicts, without discarded records.
    pub fn of(snapshot: &'a Snapshot, verdicts: &Verdicts) -> Self {
        let direction = snapshot.frozen.task.metric_direction;
        let mut steps = BTreeMap::new();
        for record in &snapshot.effects {
            // A decision without a limit records the beginning of a phase.
            let is_mark = record.kind == Kind::Decision && record.limit.is_none();
            let Some(at) = record.place.step().filter(|_| stands(record) && !is_mark) else { continue };
            let step = steps.entry(at).or_insert_with(|| Step::new(at, verdicts.get(&at).cloned()));
            step.take(record, direction);
        }
        Self { steps }
    }

    /// Every step.
    pub fn iter(&self) -> impl Iterator<Item = &Step<'a>> {
        self.steps.values()
    }

    /// Steps of one kind.
    pub fn of_kind(&self, kind: StepKind) -> impl Iterator<Item = &Step<'a>> {
        self.iter().filter(move |step| step.kind == kind)
    }

    /// A step, if any of it was begun.
    pub fn at(&self, step: place::Step) -> Option<&Step<'a>> {
        self.steps.get(&step)
    }

    /// The agent's reply at this place; `None` if no call there counts, or it has no reply.
    pub fn reply(&self, place: &Place) -> Option<AgentReply> {
        let step = self.at(place.step()?)?;
        step.records.iter().find(|record| record.place == *place).and_then(|record| reply(record))
    }
}

impl<'a> Step<'a> {
    fn new(step: place::Step, verdict: Option<Verdict>) -> Self {
        let (place, kind) = (step.place(), step.row().kind);
        Self { step, place, kind, runs: Vec::new(), records: Vec::new(), limit: None, verdict }
    }

    /// Whether the algorithm continued with its solution.
    pub fn is_kept(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.kept)
    }

    fn take(&mut self, record: &'a EffectRecord, direction: Direction) {
        match record.kind {
            Kind::Decision => self.limit = record.limit,
            Kind::Script => {
                let place = &record.place;
                let is_aside = place.is_probe() || place.is_importance() || place.is_model();
                if place.is_corrected() && !is_aside {
                    // What ran before has a leak.
                    self.runs
                        .iter_mut()
                        .for_each(|run| run.score = run.score.filter(|_| run.place.is_corrected()));
                }
                // Scripts aside do not make the step's solution.
                self.runs.extend(ScriptRun::of(record, direction).filter(|_| !is_aside));
                self.records.push(record);
            }
            Kind::Agent | Kind::Look | Kind::Selection | Kind::Gate => self.records.push(record),
            Kind::Probe | Kind::Verdict | Kind::Failure => {}
        }
    }

    /// The run that gave the step's solution its score.
    pub fn scored(&self) -> Option<&ScriptRun<'a>> {
        self.runs.iter().rev().find(|run| run.score.is_some())
    }

    /// The score of the step's solution.
    pub fn score(&self) -> Option<Score> {
        self.scored().and_then(|run| run.score)
    }

    /// The script with the score, or the last one that ran.
    pub fn text(&self) -> Option<&'a str> {
        self.scored().or(self.runs.last()).map(|run| run.script)
    }

    /// Whether one of its records has no end, because it is in progress or was interrupted.
    pub fn is_open(&self) -> bool {
        self.records.iter().any(|record| record.state == EffectState::Begun)
    }

    /// Seconds of its agent calls, looks, selections and scripts; of a script without its wait for a slot. `None` if none has
    /// ended.
    pub fn seconds(&self) -> Option<f64> {
        self.records.iter().filter_map(|record| took(record)).reduce(|all, one| all + one)
    }
}

impl<'a> ScriptRun<'a> {
    fn of(record: &'a EffectRecord, direction: Direction) -> Option<Self> {
        let script = record.request.get("script").and_then(Value::as_str)?;
        let outcome = record.outcome.as_ref().and_then(|outcome| ScriptOutcome::deserialize(outcome).ok());
        let counted = outcome.as_ref().filter(|outcome| can_be_best(outcome, &record.request));
        let score = counted.and_then(|outcome| Score::new(outcome.value()?, direction));
        Some(Self { place: &record.place, script, outcome, score })
    }

    /// The runner that ran it; `None`: this machine.
    pub fn runner(&self) -> Option<&str> {
        self.outcome.as_ref()?.runner.as_deref()
    }

    /// The limit that skipped or stopped it.
    pub fn limit(&self) -> Option<Limit> {
        let outcome = self.outcome.as_ref()?;
        let is_late = outcome.end == ScriptEnd::TimedOut;
        outcome.limit().or(is_late.then_some(Limit::Share))
    }

    /// Whether it was begun.
    pub fn has_begun(&self) -> bool {
        self.outcome.as_ref().is_none_or(|outcome| !matches!(outcome.end, ScriptEnd::Refused { .. }))
    }

    /// Whether it succeeded.
    pub fn is_ok(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| !outcome.is_error())
    }
}

/// Seconds that an agent call, a script, a look or a selection took, without a script's wait for a slot.
pub fn took(record: &EffectRecord) -> Option<f64> {
    match record.kind {
        Kind::Agent | Kind::Look | Kind::Selection => {
            Some((record.elapsed_ended? - record.elapsed_begun).max(0.0))
        }
        Kind::Script => Some(ScriptOutcome::deserialize(record.outcome.as_ref()?).ok()?.duration_seconds),
        Kind::Decision | Kind::Gate | Kind::Probe | Kind::Verdict | Kind::Failure => None,
    }
}

/// The reply in a record.
pub fn reply(record: &EffectRecord) -> Option<AgentReply> {
    AgentReply::deserialize(record.outcome.as_ref()?).ok()
}

/// A node's ID in the page.
pub fn node_id(place: &Place) -> String {
    // A dot in an ID would have to be escaped in every style sheet and script.
    format!("at-{}", place.file_stem().replace('.', "_"))
}

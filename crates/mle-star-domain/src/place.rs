//! Places in the algorithms. Only this module formats and parses their names.
//!
//! A [`Place`] is a path of names such as `phase2/path-0/t1/k2/coder`. Every agent call and every script run has
//! exactly one; it is unique in its run and the same after a resume. The journal, the logs, the saved solutions and
//! the reports are keyed by it. A [`Step`] is the part of the algorithms that a place belongs to; `step.rs` is the table of
//! the steps.

mod step;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::role::{AgentType, Variant};

pub use step::{BASELINES, Call, Calls, Deadline, Expected, Script, Section, Step, StepKind, StepRow};

/// A path of names in the algorithms, for example `phase1/candidate-0/init`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Place(String);

/// The meaning of a place's last name: an agent call or a script run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// An agent's default task.
    Agent(AgentType),
    /// Another call of the same agent in the same step, counted from 2.
    Again(AgentType, u32),
    /// A correction of one leak, counted from 1.
    Correction(u32),
    /// A special task of the agent `test`.
    Task(Variant),
    /// The comparison with one reference, counted from 0.
    Comparison(u32),
    /// The script of the step.
    Run,
    /// What the program finds in the step's script, counted from 1.
    Gate(u32),
    /// The time for the probe or the submission script at this place.
    Plan,
    /// The correction of one such finding, counted from 1.
    GateCorrection(u32),
}

/// The four phases of a run, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Algorithm 1: retrieve, generate, merge.
    Phase1,
    /// Algorithm 2: ablate and refine, on each path.
    Phase2,
    /// Algorithm 3: ensemble.
    Phase3,
    /// Finalization: remove subsampling, then write, run and check the submission script.
    Finalization,
}

/// The names of the program's own runs.
const TABLES: &str = "tables";
const WITHOUT_LABELS: &str = "holdout";
const IMPORTANCE: &str = "importance";
const UNPERMUTED: &str = "unpermuted";
/// The name of the second submission script, which keeps its model.
const MODEL: &str = "model";
/// The name of a baseline's run on the original files, where scripts of the search predict an earlier period.
const ORIGINAL: &str = "original";
/// The name of the look at the answer that stands if finalization fails.
const FALLBACK: &str = "fallback";
/// The name of a second evaluation or selection in a step, without the leak.
const CORRECTED: &str = "corrected";
/// The name of a submission script that also keeps its model.
const WITH_MODEL: &str = "with-model";
/// The prefixes of the names with a counter.
const PATH: &str = "path-";
const MEMBER: &str = "member-";
const PROBE: &str = "probe-";
const REPAIR: &str = "debug-";
/// The name of the record that marks an end.
const END: &str = "end";
/// The name of the records that say which solutions a part of a phase starts from. By them, a resume with other limits sees
/// whether it still starts from the same.
const BASIS: &str = "basis";

impl Place {
    /// The empty path, above all phases.
    pub fn root() -> Self {
        Self::default()
    }

    /// This place with one more name at its end.
    #[must_use]
    pub(crate) fn join(&self, name: impl fmt::Display) -> Self {
        if self.0.is_empty() { Self(name.to_string()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// The place of an effect in the step or repair at this place.
    #[must_use]
    pub fn named(&self, name: Name) -> Self {
        self.join(name)
    }

    /// The place of the repair number `count` (from 1) of the script at this place.
    #[must_use]
    pub fn repaired(&self, count: u32) -> Self {
        self.join(format_args!("{REPAIR}{count}"))
    }

    /// The place of a refinement path.
    #[must_use]
    pub fn of_path(path: u32) -> Self {
        Self::from(Phase::Phase2).join(format_args!("{PATH}{path}"))
    }

    /// The place of the comparison of training and test table, before all phases.
    pub fn tables() -> Self {
        Self(TABLES.to_owned())
    }

    /// The place of the submission script's run before it sees the labels of the held-out rows.
    #[must_use]
    pub fn without_labels(&self) -> Self {
        self.join(WITHOUT_LABELS)
    }

    /// Whether it belongs to that run.
    pub fn is_without_labels(&self) -> bool {
        self.is_within(&Step::Finalization.place().without_labels())
    }

    /// The place of the submission script's run on copies of rows, in each of which one column is permuted.
    #[must_use]
    pub fn importance(&self) -> Self {
        self.join(IMPORTANCE)
    }

    /// The place of the same script's run that predicts these rows in their own table.
    #[must_use]
    pub fn unpermuted(&self) -> Self {
        self.importance().join(UNPERMUTED)
    }

    /// Whether it belongs to one of these runs.
    pub fn is_importance(&self) -> bool {
        self.is_within(&Step::Finalization.place().importance())
    }

    /// The place of a script that makes the submission again and keeps its model.
    #[must_use]
    pub fn model(&self) -> Self {
        self.join(MODEL)
    }

    /// The place of a copy of the submission script that keeps its model, and runs in its stead.
    #[must_use]
    pub fn with_model(&self) -> Self {
        self.join(WITH_MODEL)
    }

    /// Whether it belongs to such a copy.
    pub fn is_with_model(&self) -> bool {
        self.is_within(&Step::Finalization.place().with_model())
    }

    /// Whether it belongs to the script that keeps the submission's model.
    pub fn is_model(&self) -> bool {
        self.is_within(&Step::Finalization.place().model())
    }

    /// The place of a baseline's run on the original files.
    #[must_use]
    pub fn original(&self) -> Self {
        self.join(ORIGINAL)
    }

    /// The place of the look at the answer that stands if finalization fails.
    #[must_use]
    pub fn fallback(&self) -> Self {
        self.join(FALLBACK)
    }

    /// The place of a solution without the leak that was found after its first run.
    #[must_use]
    pub fn corrected(&self) -> Self {
        self.join(CORRECTED)
    }

    /// Whether it belongs to a solution without the leak that was found after its first run.
    pub fn is_corrected(&self) -> bool {
        self.step().is_some_and(|step| self.is_within(&step.place().corrected()))
    }

    /// The place of a member of a combination, counted from 1.
    #[must_use]
    pub fn member(&self, count: u32) -> Self {
        self.join(format_args!("{MEMBER}{count}"))
    }

    /// The place of a probe of a solution, counted from 0.
    #[must_use]
    pub fn probe(&self, solution: u32, name: &str) -> Self {
        self.join(format_args!("{PROBE}{solution}")).join(name)
    }

    /// The name of the probe that it belongs to.
    pub fn probe_name(&self) -> Option<&str> {
        self.names().nth(2).filter(|_| self.is_probe())
    }

    /// Whether it belongs to a probe.
    pub fn is_probe(&self) -> bool {
        self.phase() == Some(Phase::Finalization)
            && self.names().nth(1).is_some_and(|name| counter(name, PROBE).is_some())
    }

    /// The place that marks the end of the phase at this place, or of the run for the root.
    #[must_use]
    pub fn end(&self) -> Self {
        self.join(END)
    }

    /// Whether it marks the beginning or the end of a phase, or the end of the run.
    pub fn is_mark(&self) -> bool {
        let names: Vec<&str> = self.names().collect();
        let is_phase = |name: &str| Phase::ALL.iter().any(|phase| phase.name() == name);
        matches!(names.as_slice(), [name] if is_phase(name) || *name == END)
            || matches!(names.as_slice(), [phase, END] if is_phase(phase))
    }

    /// The place that records the inputs of a part of a phase: the solutions that it starts from.
    pub fn inputs_of(phase: Phase, part: &str) -> Self {
        Self::from(phase).join(BASIS).join(part)
    }

    /// Whether the place records the inputs of a part of a phase.
    pub fn is_inputs(&self) -> bool {
        self.names().nth(1) == Some(BASIS)
    }

    /// The path as text, names joined by `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name, empty for the root.
    pub fn last(&self) -> &str {
        self.names().next_back().unwrap_or_default()
    }

    /// The parent place.
    #[must_use]
    pub fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or(String::new(), |(parent, _)| parent.to_owned()))
    }

    /// Whether this place is `above` or below it.
    pub fn is_within(&self, above: &Self) -> bool {
        self.0.strip_prefix(above.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The phase this place belongs to; `None` outside of phases: for the root, the comparison of the tables, and the end of
    /// the run.
    pub fn phase(&self) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| self.names().next() == Some(phase.name()))
    }

    /// The refinement path, for a place of Phase 2.
    pub fn path(&self) -> Option<usize> {
        let mut names = self.names();
        (names.next() == Some(Phase::Phase2.name())).then_some(())?;
        names.next()?.strip_prefix(PATH)?.parse().ok()
    }

    /// The step this place belongs to; `None` for phases but finalization, for paths, and for calls before the first step.
    pub fn step(&self) -> Option<Step> {
        step::parse(self.phase()?, self.names().skip(1))
    }

    /// The number of the repair that this place belongs to, from 1; `None` before any repair.
    pub fn repair(&self) -> Option<u32> {
        self.names().rev().take(2).find_map(|name| counter(name, REPAIR))
    }

    /// The label that groups agent calls: `phase1`, `path-0`, …, `phase3`, `finalization`.
    pub fn session(&self) -> String {
        match (self.path(), self.names().next()) {
            (Some(path), _) => format!("{PATH}{path}"),
            (None, Some(phase)) => phase.to_owned(),
            (None, None) => String::new(),
        }
    }

    /// The place as a file stem: `/` becomes `.`.
    pub fn file_stem(&self) -> String {
        self.0.replace('/', ".")
    }

    fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }
}

/// The path in the label of a session, see [`Place::session`].
pub fn path_of_session(label: &str) -> Option<u32> {
    counter(label, PATH)
}

/// The number behind `prefix`.
fn counter(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(agent) => f.write_str(agent.name()),
            Self::Again(agent, count) => write!(f, "{}-{count}", agent.name()),
            Self::Correction(count) => write!(f, "{}-fix-{count}", AgentType::Leakage.name()),
            Self::Task(variant) => f.write_str(variant.name()),
            Self::Comparison(count) => write!(f, "{}-{count}", Variant::Contamination.name()),
            Self::Run => f.write_str("run"),
            Self::Plan => f.write_str("plan"),
            Self::Gate(count) => write!(f, "gate-{count}"),
            Self::GateCorrection(count) => write!(f, "gate-fix-{count}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Place {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<Phase> for Place {
    fn from(phase: Phase) -> Self {
        Self::from(phase.name())
    }
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Self; 4] = [Self::Phase1, Self::Phase2, Self::Phase3, Self::Finalization];

    /// The name used in places and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Phase1 => "phase1",
            Self::Phase2 => "phase2",
            Self::Phase3 => "phase3",
            Self::Finalization => "finalization",
        }
    }

    /// The name shown to people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Phase1 => "initial solution",
            Self::Phase2 => "refinement",
            Self::Phase3 => "ensemble",
            Self::Finalization => "finalization",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_place_and_every_place_its_step() {
        let check = |step: Step, text: &str| {
            assert_eq!(step.place().as_str(), text);
            for below in ["", "/run", "/debug-1/run", "/leakage-fix-2", "/debug-12/debugger"] {
                assert_eq!(
                    Place::from(format!("{text}{below}").as_str()).step(),
                    Some(step),
                    "{text}{below}"
                );
            }
            assert_eq!(serde_json::to_value(step).unwrap(), text);
            assert_eq!(serde_json::from_value::<Step>(text.into()).unwrap(), step);
        };
        let (path, outer, inner) = (1, 0, 2);
        let in_order = [
            (Step::Candidate(10), "phase1/candidate-10"),
            (Step::Merge(1), "phase1/merge-1"),
            (Step::DataCheck, "phase1/data"),
            (Step::LeakageCheck, "phase1/final"),
            (Step::Provisional(Phase::Phase1), "phase1/provisional"),
            (Step::Outer { path, outer }, "phase2/path-1/t0"),
            (Step::Attempt { path, outer, inner }, "phase2/path-1/t0/k2"),
            (Step::Outer { path, outer: 1 }, "phase2/path-1/t1"),
            (Step::LikeRows(Phase::Phase2), "phase2/like-rows"),
            (Step::Provisional(Phase::Phase2), "phase2/provisional"),
            (Step::Round(0), "phase3/r0"),
            (Step::Provisional(Phase::Phase3), "phase3/provisional"),
            (Step::Finalization, "finalization"),
        ];
        in_order.iter().for_each(|(step, text)| check(*step, text));
        assert!(in_order.is_sorted_by_key(|(step, _)| *step));
        for text in
            ["", "phase1", "phase1/retriever", "phase1/retriever-2", "phase2/path-0", "phase3", "x/t0"]
        {
            assert_eq!(Place::from(text).step(), None, "{text}");
        }
        assert!(serde_json::from_value::<Step>("phase1/merge-1/run".into()).is_err());
    }

    #[test]
    fn a_place_is_within_itself_and_what_is_above() {
        let check = |place: &str, above: &str, expected| {
            assert_eq!(Place::from(place).is_within(&Place::from(above)), expected, "{place} in {above}");
        };
        check("phase2/path-1/t0", "phase2/path-1", true);
        check("phase2/path-1", "phase2/path-1", true);
        check("phase2/path-10/t0", "phase2/path-1", false);
        check("phase2", "phase2/path-1", false);
    }
}

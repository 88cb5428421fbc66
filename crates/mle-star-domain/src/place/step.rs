//! The steps of the algorithms, and the table of what is known about each: its names, its place in the order, how long it
//! is expected to take and may take, and which calls and scripts it makes.
//!
//! A new step is a variant, its place and a row here, and its code. Limits, estimates, continuations and views read them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Phase, Place, counter};
use crate::config::Config;
use crate::role::{AgentType, Variant};

/// A step of the algorithms. Counters are those of the paper: they begin at 0, merges at 1. Steps are ordered as the algorithms take them; path by path where paths run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A solution of the program's own that costs little, before any agent is asked: one of [`BASELINES`].
    Baseline(u32),
    /// Algorithm 1, lines 2-5: the solution for one model.
    Candidate(u32),
    /// Algorithm 1, lines 8-16: one reference solution merged into the best so far.
    Merge(u32),
    /// Section 3.4: unused data, built in.
    DataCheck,
    /// Section 3.4: the leakage check of s_0 itself.
    LeakageCheck,
    /// Algorithm 2, lines 4-27: an ablation study and the refinement of one block.
    Outer {
        /// The refinement path.
        path: u32,
        /// t of the paper.
        outer: u32,
    },
    /// Algorithm 2, lines 9-25: one attempt at the block of an outer step.
    Attempt {
        /// The refinement path.
        path: u32,
        /// t of the paper.
        outer: u32,
        /// k of the paper.
        inner: u32,
    },
    /// Algorithm 3, lines 4-8: one ensemble.
    Round(u32),
    /// A solution for a model that Phase 1 had no time or no place for, counted from 0.
    Extra(u32),
    /// Ensemble selection.
    Selection,
    /// The comparison of the best solutions on held-out rows, counted from 0.
    Choice(u32),
    /// The best of the solutions of a phase, if they validated on different rows.
    LikeRows(Phase),
    /// The answer so far, at the end of a phase: the best script runs on the original files.
    Provisional(Phase),
    /// The submission script.
    Finalization,
}

/// What is known about a kind of step.
#[derive(Clone, Copy, Debug)]
pub struct StepRow {
    /// The phase that it belongs to.
    pub phase: Phase,
    /// What views show of it.
    pub kind: StepKind,
    /// What several of them are called; `None` for steps of paths, and where only the phase is named.
    pub noun: Option<&'static str>,
    /// The section of the run that its records belong to.
    pub section: Section,
    /// How long its script is expected to take.
    pub expected: Expected,
    /// How long it may begin, and its script may run.
    pub until: Deadline,
    /// The agents that it asks, in order, without repairs and checks.
    pub calls: &'static [Call],
    /// The script that it runs after them.
    pub script: Script,
}

/// What views show of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A solution of the program's own.
    Baseline,
    /// A first solution for one model.
    Candidate,
    /// One solution merged into another.
    Merge,
    /// Unused data added.
    Data,
    /// The last leakage check of the initial solution.
    LeakageCheck,
    /// An ablation study and the choice of a code block.
    Study,
    /// One attempt at a code block.
    Attempt,
    /// One ensemble.
    Round,
    /// The comparison of solutions that validated on different rows.
    LikeRows,
    /// The best solution so far on the original files.
    Provisional,
    /// The submission script.
    Submission,
}

/// A part of a run in which each record depends on those before it: if one is made again, all later ones are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The solutions of the program's own.
    Baselines,
    /// The comparison of the tables, and the retriever.
    Start,
    /// The solution for one model.
    Candidate(u32),
    /// The merges of Algorithm 1.
    Merges,
    /// The data check and the leakage check of s_0.
    Checks,
    /// One refinement path.
    Path(usize),
    /// The solutions for further models.
    Extras,
    /// The ensembles of Algorithm 3.
    Rounds,
    /// Selection, final choice and finalization.
    Last,
}

/// How long the script of a step is expected to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// As long as the shortest of the latest scripts.
    Shortest,
    /// As long as the script that it is made from.
    AsBefore,
    /// An ablation study, then as long as the script that it is made from.
    StudyAndAsBefore,
    /// At least as long as the longest script that it is made from.
    AtLeastAsBefore,
    /// As long as the same script took on fewer rows; nothing is known before that.
    OnMoreRows,
}

/// How long a step may begin, and its script may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// Until the share of its phase ends.
    Share,
    /// Until the larger share ends that the first solutions have.
    FirstSolutions,
    /// Until the search ends.
    Search,
    /// Until the run ends.
    Run,
}

/// An agent that a step asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The agent.
    pub agent: AgentType,
    /// Its task, if it has several.
    pub variant: Option<Variant>,
    /// How often it is asked.
    pub asked: Calls,
}

/// How often a step asks an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Once.
    Once,
    /// Once, and again while its answer is of no use: so often at most.
    UpTo(u64),
    /// Once, but not in the first step of a row.
    UnlessFirst,
    /// Once if an earlier answer calls for it.
    Perhaps,
    /// Once. Where agents are told more than in the paper, the call is left out if it is not needed.
    UnlessSpared,
    /// Once for each reference solution of the task.
    ForEachReference,
}

/// The script that a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// None, or a number that is not known in advance.
    Unknown,
    /// An ablation study.
    Study,
    /// A solution that is kept if it runs.
    Solution,
    /// A solution that has to replace the best one. The first of a row replaces none.
    Competing,
    /// A solution that has to replace the best one.
    Attempt,
    /// A solution, if an agent changes something.
    Perhaps,
    /// The submission script, unless a solution is one already.
    Submission,
}

/// The solutions of the program's own, by the number of their step.
pub const BASELINES: [&str; 2] = ["constant", "linear"];

/// The names of the steps in places.
const BASELINE: &str = "baseline-";
const CANDIDATE: &str = "candidate-";
const MERGE: &str = "merge-";
const DATA_CHECK: &str = "data";
const LEAKAGE_CHECK: &str = "final";
const PATH: &str = super::PATH;
const OUTER: &str = "t";
const INNER: &str = "k";
const ROUND: &str = "r";
const EXTRA: &str = "extra-";
const SELECTION: &str = "selection";
const CHOICE: &str = "choice-";
const PROVISIONAL: &str = "provisional";
const LIKE_ROWS: &str = "like-rows";

/// The step at a place of this phase, below which these names follow.
pub(super) fn parse<'a>(phase: Phase, mut names: impl Iterator<Item = &'a str>) -> Option<Step> {
    match (phase, names.next()) {
        (Phase::Finalization, name) => {
            let choice = name.and_then(|name| counter(name, CHOICE)).map(Step::Choice);
            Some(choice.unwrap_or(Step::Finalization))
        }
        (phase, Some(PROVISIONAL)) => Some(Step::Provisional(phase)),
        (phase, Some(LIKE_ROWS)) => Some(Step::LikeRows(phase)),
        (Phase::Phase1, Some(DATA_CHECK)) => Some(Step::DataCheck),
        (Phase::Phase1, Some(LEAKAGE_CHECK)) => Some(Step::LeakageCheck),
        (Phase::Phase1, Some(name)) if let Some(baseline) = name.strip_prefix(BASELINE) => {
            (0..).zip(BASELINES).find(|(_, name)| *name == baseline).map(|(index, _)| Step::Baseline(index))
        }
        (Phase::Phase1, Some(name)) => {
            counter(name, CANDIDATE).map(Step::Candidate).or_else(|| counter(name, MERGE).map(Step::Merge))
        }
        (Phase::Phase2, Some(name)) => {
            let (path, outer) = (counter(name, PATH)?, counter(names.next()?, OUTER)?);
            let inner = names.next().and_then(|name| counter(name, INNER));
            Some(inner.map_or(Step::Outer { path, outer }, |inner| Step::Attempt { path, outer, inner }))
        }
        (Phase::Phase3, Some(SELECTION)) => Some(Step::Selection),
        (Phase::Phase3, Some(name)) => {
            counter(name, ROUND).map(Step::Round).or_else(|| counter(name, EXTRA).map(Step::Extra))
        }
        (_, None) => None,
    }
}

impl Call {
    const fn once(agent: AgentType) -> Self {
        Self { agent, variant: None, asked: Calls::Once }
    }

    const fn of(agent: AgentType, variant: Variant, asked: Calls) -> Self {
        Self { agent, variant: Some(variant), asked }
    }

    const fn asked(self, asked: Calls) -> Self {
        Self { asked, ..self }
    }
}

impl StepRow {
    /// A step that asks nobody in advance, and whose records are always open.
    const LAST: Self = Self {
        phase: Phase::Finalization,
        kind: StepKind::Submission,
        noun: None,
        section: Section::Last,
        expected: Expected::OnMoreRows,
        until: Deadline::Run,
        calls: &[],
        script: Script::Unknown,
    };
}

impl Step {
    /// The step's place.
    pub fn place(self) -> Place {
        let phase = Place::from(self.phase());
        match self {
            Self::Baseline(index) => phase.join(format_args!("{BASELINE}{}", baseline(index))),
            Self::Candidate(index) => phase.join(format_args!("{CANDIDATE}{index}")),
            Self::Merge(count) => phase.join(format_args!("{MERGE}{count}")),
            Self::DataCheck => phase.join(DATA_CHECK),
            Self::LeakageCheck => phase.join(LEAKAGE_CHECK),
            Self::Outer { path, outer } => Place::of_path(path).join(format_args!("{OUTER}{outer}")),
            Self::Attempt { path, outer, inner } => {
                Self::Outer { path, outer }.place().join(format_args!("{INNER}{inner}"))
            }
            Self::Round(round) => phase.join(format_args!("{ROUND}{round}")),
            Self::Extra(index) => phase.join(format_args!("{EXTRA}{index}")),
            Self::Selection => phase.join(SELECTION),
            Self::Choice(index) => phase.join(format_args!("{CHOICE}{index}")),
            Self::LikeRows(_) => phase.join(LIKE_ROWS),
            Self::Provisional(_) => phase.join(PROVISIONAL),
            Self::Finalization => phase,
        }
    }

    /// The table.
    #[expect(clippy::too_many_lines, reason = "a table")]
    pub fn row(self) -> StepRow {
        use AgentType::{Ablation, Coder, Data, EnsPlanner, Ensembler, Extractor, Init, Leakage, Merger};
        use AgentType::{Planner, Summarize, Test};
        match self {
            Self::Baseline(_) => StepRow {
                phase: Phase::Phase1,
                kind: StepKind::Baseline,
                section: Section::Baselines,
                expected: Expected::Shortest,
                until: Deadline::Search,
                ..StepRow::LAST
            },
            Self::Candidate(index) => StepRow {
                phase: Phase::Phase1,
                kind: StepKind::Candidate,
                noun: Some("candidate"),
                section: Section::Candidate(index),
                expected: Expected::Shortest,
                until: Deadline::FirstSolutions,
                calls: const { &[Call::once(Init)] },
                script: Script::Solution,
            },
            Self::Merge(_) => StepRow {
                phase: Phase::Phase1,
                kind: StepKind::Merge,
                noun: Some("merge"),
                section: Section::Merges,
                expected: Expected::AtLeastAsBefore,
                until: Deadline::Share,
                calls: const { &[Call::once(Merger)] },
                script: Script::Solution,
            },
            Self::DataCheck => StepRow {
                phase: Phase::Phase1,
                kind: StepKind::Data,
                noun: Some("check"),
                section: Section::Checks,
                expected: Expected::Shortest,
                until: Deadline::Search,
                calls: const { &[Call::once(Data)] },
                script: Script::Perhaps,
            },
            Self::LeakageCheck => StepRow {
                phase: Phase::Phase1,
                kind: StepKind::LeakageCheck,
                noun: Some("check"),
                section: Section::Checks,
                expected: Expected::Shortest,
                until: Deadline::Search,
                calls: const { &[Call::of(Leakage, Variant::Detection, Calls::UnlessSpared)] },
                script: Script::Perhaps,
            },
            Self::Outer { path, .. } => StepRow {
                phase: Phase::Phase2,
                kind: StepKind::Study,
                noun: None,
                section: Section::Path(path as usize),
                expected: Expected::StudyAndAsBefore,
                until: Deadline::Share,
                calls: const {
                    &[
                        Call::once(Ablation),
                        Call::once(Summarize),
                        Call::once(Extractor).asked(Calls::UpTo(3)),
                    ]
                },
                script: Script::Study,
            },
            Self::Attempt { path, .. } => StepRow {
                phase: Phase::Phase2,
                kind: StepKind::Attempt,
                noun: None,
                section: Section::Path(path as usize),
                expected: Expected::AsBefore,
                until: Deadline::Share,
                calls: const { &[Call::once(Planner).asked(Calls::UnlessFirst), Call::once(Coder)] },
                script: Script::Attempt,
            },
            Self::Round(_) => StepRow {
                phase: Phase::Phase3,
                kind: StepKind::Round,
                noun: Some("ensemble"),
                section: Section::Rounds,
                expected: Expected::AtLeastAsBefore,
                until: Deadline::Share,
                calls: const { &[Call::once(EnsPlanner), Call::once(Ensembler)] },
                script: Script::Competing,
            },
            Self::Extra(_) => StepRow {
                phase: Phase::Phase3,
                kind: StepKind::Candidate,
                noun: Some("further model"),
                section: Section::Extras,
                expected: Expected::Shortest,
                until: Deadline::Search,
                calls: const { &[Call::once(Init)] },
                script: Script::Solution,
            },
            Self::Selection => StepRow {
                phase: Phase::Phase3,
                kind: StepKind::Round,
                expected: Expected::Shortest,
                until: Deadline::Search,
                ..StepRow::LAST
            },
            Self::Choice(_) => StepRow::LAST,
            Self::LikeRows(phase) => StepRow {
                phase,
                kind: StepKind::LikeRows,
                expected: Expected::Shortest,
                until: Deadline::Search,
                ..StepRow::LAST
            },
            Self::Provisional(phase) => StepRow {
                phase,
                kind: StepKind::Provisional,
                expected: Expected::AsBefore,
                until: Deadline::Search,
                ..StepRow::LAST
            },
            Self::Finalization => StepRow {
                calls: const {
                    &[
                        Call::of(Test, Variant::SubsamplingExtract, Calls::UnlessSpared),
                        Call::of(Test, Variant::SubsamplingRemove, Calls::Perhaps),
                        Call::once(Test).asked(Calls::UnlessSpared),
                        Call::of(Test, Variant::Contamination, Calls::ForEachReference),
                    ]
                },
                script: Script::Submission,
                ..StepRow::LAST
            },
        }
    }

    /// Its name for people, counted from 1: `path 1, step 2, attempt 3`.
    pub fn title(self) -> String {
        match self {
            Self::Baseline(index) => format!("baseline: {}", baseline(index)),
            Self::Candidate(index) => format!("candidate {}", index + 1),
            Self::Merge(count) => format!("merge {count}"),
            Self::DataCheck => "unused data".to_owned(),
            Self::LeakageCheck => "leakage check".to_owned(),
            Self::Outer { path, outer } => format!("path {}, step {}", path + 1, outer + 1),
            Self::Attempt { path, outer, inner } => {
                format!("{}, attempt {}", Self::Outer { path, outer }.title(), inner + 1)
            }
            Self::Round(round) => format!("round {}", round + 1),
            Self::Extra(index) => format!("further model {}", index + 1),
            Self::Selection => "ensemble selection".to_owned(),
            Self::Choice(index) => format!("finalist {}", index + 1),
            Self::LikeRows(phase) => format!("best of {}, on like rows", phase.title()),
            Self::Provisional(phase) => format!("answer after {}", phase.title()),
            Self::Finalization => "finalization".to_owned(),
        }
    }

    /// The number of steps of its kind before it in a row.
    pub fn index(self) -> u32 {
        match self {
            Self::Baseline(index)
            | Self::Candidate(index)
            | Self::Extra(index)
            | Self::Round(index)
            | Self::Choice(index) => index,
            Self::Merge(count) => count.saturating_sub(1),
            Self::Outer { outer, .. } => outer,
            Self::Attempt { inner, .. } => inner,
            Self::DataCheck
            | Self::LeakageCheck
            | Self::Selection
            | Self::LikeRows(_)
            | Self::Provisional(_)
            | Self::Finalization => 0,
        }
    }

    /// The step's phase.
    pub fn phase(self) -> Phase {
        self.row().phase
    }

    /// How many steps of its kind a run with this configuration takes in a row.
    pub fn times(self, config: &Config) -> u32 {
        match self {
            Self::Baseline(_) => 2,
            Self::Candidate(_) | Self::Extra(_) => config.num_retrieved_models,
            Self::Merge(_) => config.num_retrieved_models.saturating_sub(1),
            Self::Outer { .. } => config.outer_loop_steps,
            Self::Attempt { .. } => config.inner_loop_steps,
            Self::Round(_) => config.ensemble_rounds,
            Self::DataCheck
            | Self::LeakageCheck
            | Self::Selection
            | Self::Choice(_)
            | Self::LikeRows(_)
            | Self::Provisional(_)
            | Self::Finalization => 1,
        }
    }

    /// The step's refinement path.
    pub fn path(self) -> Option<u32> {
        match self {
            Self::Outer { path, .. } | Self::Attempt { path, .. } => Some(path),
            _ => None,
        }
    }

    fn order(self) -> (u8, u32, u32, Option<u32>) {
        match self {
            Self::Baseline(index) => (0, index, 0, None),
            Self::Candidate(index) => (1, index, 0, None),
            Self::Merge(count) => (2, count, 0, None),
            Self::DataCheck => (3, 0, 0, None),
            Self::LeakageCheck => (4, 0, 0, None),
            Self::Outer { path, outer } => (5, path, outer, None),
            Self::Attempt { path, outer, inner } => (5, path, outer, Some(inner)),
            Self::Extra(index) => (6, index, 0, None),
            Self::Round(round) => (7, round, 0, None),
            Self::Selection => (8, 0, 0, None),
            Self::Choice(index) => (9, index, 0, None),
            // After all steps whose solutions it compares.
            Self::LikeRows(Phase::Phase1) => (4, 1, 0, None),
            Self::LikeRows(Phase::Phase2) => (5, u32::MAX, 0, None),
            Self::LikeRows(Phase::Phase3) => (7, u32::MAX, 0, None),
            Self::LikeRows(Phase::Finalization) => (9, u32::MAX, 0, None),
            // After all steps of its phase.
            Self::Provisional(Phase::Phase1) => (4, 2, 0, None),
            Self::Provisional(Phase::Phase2) => (5, u32::MAX, 1, None),
            Self::Provisional(Phase::Phase3) => (8, 1, 0, None),
            Self::Finalization | Self::Provisional(Phase::Finalization) => (10, 0, 0, None),
        }
    }
}

fn baseline(index: u32) -> &'static str {
    BASELINES.get(index as usize).copied().unwrap_or_default()
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.place().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = Place::deserialize(deserializer)?;
        let step = place.step().filter(|step| step.place() == place);
        step.ok_or_else(|| serde::de::Error::custom(format_args!("{place} is not a step")))
    }
}

impl JsonSchema for Step {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Place::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Place::json_schema(generator)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place().fmt(f)
    }
}

impl From<Step> for Place {
    fn from(step: Step) -> Self {
        step.place()
    }
}

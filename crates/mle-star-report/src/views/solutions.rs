//! Every solution of a run: its parents, its outcome and its code.
//!
//! A script is shown as a diff against the one it was made from. Its whole text is shown once if there is room for it,
//! and always if it has no parent or led to the best solution.

use std::collections::BTreeSet;

use mle_star_domain::place::{self, Phase, Place};
use serde::Serialize;

use super::context::Context;
use super::diff::{Diff, diff};
use super::outcome::{error, status};
use super::steps::{ScriptRun, Step, StepKind, node_id};
use super::{family, plans};
use crate::cut::{CODE, PROSE, cut};
use crate::figures::{duration, number, signed};
use crate::sanitize::first_line;
use crate::words::{phase_title, place_name};

/// The most bytes of whole scripts. Those without a parent and those that led to the best solution take room, too, but
/// are shown even if there is none.
const ROOM: usize = 300_000;

/// The solutions by phase.
#[derive(Clone, Debug, Serialize)]
pub struct Tree {
    /// The run ID.
    pub run: String,
    /// SVG: the solutions and their parents.
    pub picture: Option<String>,
    /// The phases and paths, in order.
    pub groups: Vec<Group>,
    /// The outcomes that occur, of those that a reader chooses from: `kept`, `dropped`, `failed`.
    pub outcomes: Vec<&'static str>,
}

/// The steps of a phase or path.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The title.
    pub name: String,
    /// The steps, in order.
    pub nodes: Vec<Node>,
}

/// One step and its solution.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// The step, for example `phase2/path-0/t1/k2`.
    pub place: String,
    /// The ID in the page.
    pub id: String,
    /// The title.
    pub name: String,
    /// The kind of step.
    pub kind: &'static str,
    /// Indentation: attempts are below their study.
    pub depth: u8,
    /// The solutions that it was made from; it is compared with the first.
    pub from: Vec<Origin>,
    /// The status: `kept`, `dropped`, `failed`, `skipped`, `open` or `done`.
    pub status: &'static str,
    /// The status for people.
    pub outcome: String,
    /// Whether it led to the best solution.
    pub on_way: bool,
    /// The score.
    pub score: Option<String>,
    /// The difference from the score of its first parent; `+` means better.
    pub change: Option<String>,
    /// The time of its agent calls and scripts together.
    pub time: Option<String>,
    /// The plan, or the model's name.
    pub plan: Option<String>,
    /// The runners of its scripts; `None`: this machine.
    pub ran_on: Option<String>,
    /// The scripts that ran: the first, then the repaired ones.
    pub runs: Vec<ShownRun>,
}

/// A link to another node.
#[derive(Clone, Debug, Serialize)]
pub struct Origin {
    /// Its ID.
    pub id: String,
    /// The title.
    pub name: String,
}

/// One run of a script.
#[derive(Clone, Debug, Serialize)]
pub struct ShownRun {
    /// The place of the run.
    pub place: String,
    /// The file with the whole script, relative to the run's folder.
    pub file: String,
    /// `first run`, `repair 1`, `without the leak`, `without the leak, repair 1` or `without the held-out labels`.
    pub name: String,
    /// How it ended.
    pub outcome: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// Its score.
    pub score: Option<String>,
    /// The time it took.
    pub time: Option<String>,
    /// Its runner; `None`: this machine.
    pub runner: Option<String>,
    /// The last traceback, or another description of the failure.
    pub error: Option<String>,
    /// The title of the script that it is compared with.
    pub against: Option<String>,
    /// The diff against that script.
    pub diff: Option<Diff>,
    /// The whole script, unless it is shown elsewhere or there is no room.
    pub code: Option<String>,
    /// The number of lines of the script.
    pub lines: usize,
}

/// Creates the view of a run.
pub fn tree(context: &Context<'_>) -> Tree {
    let way = context.descent.way_to_best();
    let mut whole = WholeScripts { shown: BTreeSet::new(), room: ROOM, way };
    let mut groups: Vec<Group> = Vec::new();
    for step in context.steps.iter() {
        let node = node(context, step, &mut whole);
        // A note counts the steps that a limit left out.
        if node.status == "skipped" && !step.runs.iter().any(ScriptRun::has_begun) {
            continue;
        }
        let name = group_name(&step.place);
        if groups.last().is_none_or(|group| group.name != name) {
            groups.push(Group { name, nodes: Vec::new() });
        }
        if let Some(group) = groups.last_mut() {
            group.nodes.push(node);
        }
    }
    let has = |status: &&str| groups.iter().flat_map(|group| &group.nodes).any(|node| node.status == *status);
    let outcomes = ["kept", "dropped", "failed"].into_iter().filter(has).collect();
    let run = context.run.summary.run.run_id.clone();
    Tree { run, picture: family::picture(context), outcomes, groups }
}

/// Decides which scripts are shown whole.
struct WholeScripts {
    shown: BTreeSet<String>,
    room: usize,
    way: BTreeSet<place::Step>,
}

impl WholeScripts {
    /// The script, if it is to be shown whole; each text only once.
    fn take(&mut self, step: place::Step, script: &str, has_parent: bool) -> Option<String> {
        let digest = mle_star::journal::digest(&serde_json::Value::from(script));
        if self.shown.contains(&digest)
            || (has_parent && !self.way.contains(&step) && script.len() > self.room)
        {
            return None;
        }
        self.room = self.room.saturating_sub(script.len());
        self.shown.insert(digest);
        Some(cut(script, CODE))
    }
}

fn group_name(place: &Place) -> String {
    match (place.path(), place.phase()) {
        (Some(path), _) => format!("{}, path {}", phase_title(Phase::Phase2), path + 1),
        (None, Some(phase)) => phase_title(phase),
        (None, None) => String::new(),
    }
}

fn node(context: &Context<'_>, step: &Step<'_>, whole: &mut WholeScripts) -> Node {
    let from = context.descent.from(step.step);
    let parent = from.first().and_then(|step| context.steps.at(*step));
    let (status, outcome) = status(context, step);
    let change = step.score().zip(parent.and_then(Step::score));
    let on_way = whole.way.contains(&step.step);
    Node {
        place: step.place.to_string(),
        id: node_id(&step.place),
        name: place_name(&step.place),
        kind: kind(step),
        depth: u8::from(step.kind == StepKind::Attempt),
        from: from
            .iter()
            .map(|step| step.place())
            .map(|place| Origin { id: node_id(&place), name: place_name(&place) })
            .collect(),
        status,
        outcome,
        on_way,
        score: step.score().map(|score| number(score.value())),
        change: change.map(|(score, parent)| signed(score.gain_over(parent))),
        time: step.seconds().map(duration),
        plan: plans::plan(context, step).map(|plan| cut(&plan, PROSE)),
        ran_on: ran_on(step),
        runs: runs(step, parent, whole),
    }
}

/// The distinct runners of a step's scripts, in order.
fn ran_on(step: &Step<'_>) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in step.runs.iter().filter_map(ScriptRun::runner) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

fn kind(step: &Step<'_>) -> &'static str {
    match step.kind {
        StepKind::Submission if matches!(step.step, place::Step::Choice(_)) => "comparison",
        StepKind::Baseline => "baseline",
        StepKind::Candidate => "candidate",
        StepKind::Merge => "merge",
        StepKind::Data => "data",
        StepKind::LeakageCheck => "leakage check",
        StepKind::Study => "ablation study",
        StepKind::Attempt => "attempt",
        StepKind::Round => "ensemble",
        StepKind::LikeRows => "comparison",
        StepKind::Provisional => "answer so far",
        StepKind::Submission => "submission",
    }
}

fn runs(step: &Step<'_>, parent: Option<&Step<'_>>, whole: &mut WholeScripts) -> Vec<ShownRun> {
    let mut before = parent.and_then(|parent| Some((place_name(&parent.place), parent.text()?)));
    let mut shown = Vec::new();
    for run in &step.runs {
        let compared = before.take();
        let name = run_name(run);
        let code = whole.take(step.step, run.script, compared.is_some());
        shown.push(ShownRun {
            place: run.place.to_string(),
            file: format!("{}/{}.py", mle_star_domain::layout::SOLUTIONS, run.place.file_stem()),
            outcome: outcome(run),
            ok: run.is_ok(),
            score: run.score.map(|score| number(score.value())),
            time: run.outcome.as_ref().map(|outcome| duration(outcome.duration_seconds)),
            runner: run.runner().map(str::to_owned),
            error: error(run),
            diff: compared.as_ref().map(|(_, text)| diff(text, run.script)),
            against: compared.map(|(name, _)| name),
            code,
            lines: run.script.lines().count(),
            name: name.clone(),
        });
        before = Some((name, run.script));
    }
    shown
}

/// What a run of a step's script is called.
pub fn run_name(run: &ScriptRun<'_>) -> String {
    let repair = run.place.repair().map(|number| format!("repair {number}"));
    let without = match run.place {
        place if place.is_corrected() => Some("without the leak"),
        place if place.is_without_labels() => Some("without the held-out labels"),
        _ => None,
    };
    match (without, repair) {
        (Some(without), Some(repair)) => format!("{without}, {repair}"),
        (Some(without), None) => without.to_owned(),
        (None, Some(repair)) => repair,
        (None, None) => "first run".to_owned(),
    }
}

fn outcome(run: &ScriptRun<'_>) -> String {
    match &run.outcome {
        None => "not ended".to_owned(),
        Some(_) if let Some(limit) = run.limit() => format!("not ended: {}", limit.name()),
        Some(outcome) if outcome.is_error() => first_line(&outcome.headline(), 160),
        Some(_) => "ran".to_owned(),
    }
}

#[cfg(test)]
impl Tree {
    /// The node of the step at a place.
    pub fn node(&self, place: &str) -> Option<&Node> {
        self.groups.iter().flat_map(|group| &group.nodes).find(|node| node.place == place)
    }
}

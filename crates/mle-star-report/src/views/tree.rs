//! Every solution of a run: its parents, its outcome and its code.
//!
//! A script is shown as a diff against the one it was made from. Its whole text is shown once if there is room for it,
//! and always if it has no parent or led to the best solution.

use std::collections::BTreeSet;

use mle_star_domain::layout::SOLUTIONS;
use mle_star_domain::metric::Score;
use mle_star_domain::place::{self, Phase, Place};
use serde_json::{Value, json};

use super::diff::diff;
use super::outcome::{run_values, status};
use super::plans;
use super::steps::{ScriptRun, Step, StepKind};
use super::{Context, RunReport};
use crate::cut::{CODE, cut};
use crate::run_view::argument;
use crate::words::phase_title;

/// The most bytes of whole scripts. Those without a parent and those that led to the best solution take room, too, but
/// are shown even if there is none.
const ROOM: usize = 300_000;

/// The solutions by phase and path.
pub fn tree(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let way = context.descent.way_to_best();
    let mut whole = WholeScripts { shown: BTreeSet::new(), room: ROOM, way };
    let (mut groups, mut occurring) = (Vec::<(String, Vec<Value>)>::new(), BTreeSet::new());
    for step in context.steps.iter() {
        let (status, outcome) = status(context, step);
        // A note counts the steps that a limit left out.
        if status == "skipped" && !step.runs.iter().any(ScriptRun::has_begun) {
            continue;
        }
        occurring.insert(status);
        let mut node = node(context, step, &mut whole);
        (node["status"], node["outcome"]) = (status.into(), outcome.into());
        let name = group_name(&step.place);
        match groups.last_mut().filter(|(last, _)| *last == name) {
            Some((_, nodes)) => nodes.push(node),
            None => groups.push((name, vec![node])),
        }
    }
    // Those that a reader chooses from.
    let outcomes: Vec<_> =
        ["kept", "dropped", "failed"].into_iter().filter(|one| occurring.contains(one)).collect();
    Some(json!({
        "run": context.run.summary.run.run_id, "argument": argument(&context.run.folder), "outcomes": outcomes,
        "groups": groups,
    }))
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

/// A step and its solution. It is compared with the first of those that it was made from.
fn node(context: &Context<'_>, step: &Step<'_>, whole: &mut WholeScripts) -> Value {
    let from = context.descent.from(step.step);
    let parent = from.first().and_then(|step| context.steps.at(*step));
    let change = step.score().zip(parent.and_then(Step::score));
    let mut runners: Vec<&str> = step.runs.iter().filter_map(ScriptRun::runner).collect();
    runners.dedup();
    json!({
        "place": step.place,
        "name": context.tried.step(step.step),
        "kind": kind(step),
        "is_attempt": step.kind == StepKind::Attempt,
        "from": from.iter().map(|from| (from, context.tried.step(*from))).collect::<Vec<_>>(),
        "on_way": whole.way.contains(&step.step),
        "score": step.score().map(Score::value),
        "gain": change.map(|(score, parent)| score.gain_over(parent)),
        "seconds": step.seconds(),
        "plan": plans::plan(context, step),
        "runners": runners,
        "runs": runs(context, step, parent, whole),
    })
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

/// The runs of a step's script, each with the diff against the script before it.
fn runs(
    context: &Context<'_>,
    step: &Step<'_>,
    parent: Option<&Step<'_>>,
    whole: &mut WholeScripts,
) -> Vec<Value> {
    let name = |parent: &Step<'_>| json!(context.tried.step(parent.step));
    let mut before = parent.and_then(|parent| Some((name(parent), parent.text()?)));
    let mut shown = Vec::new();
    for run in &step.runs {
        let mut value = run_values(run);
        let name = value["name"].clone();
        value["code"] = whole.take(step.step, run.script, before.is_some()).into();
        value["lines"] = run.script.lines().count().into();
        value["file"] = format!("{SOLUTIONS}/{}.py", run.place.file_stem()).into();
        value["diff"] = before.as_ref().map(|(_, text)| diff(text, run.script)).into();
        value["against"] = before.map(|(name, _)| name).into();
        before = Some((name, run.script));
        shown.push(value);
    }
    shown
}

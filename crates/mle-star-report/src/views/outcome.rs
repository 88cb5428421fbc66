//! The outcome of a step, and of each run of its script, in words for the report.

use mle_star::findings::Findings;
use mle_star::journal::{EffectRecord, EffectState, Kind};
use mle_star_domain::config::LeakageGate;
use mle_star_domain::metric::Score;
use mle_star_domain::place;
use mle_star_domain::trust::Severity;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::context::Context;
use super::steps::{ScriptRun, Step, StepKind};
use crate::cut::{OUTPUT, cut};
use crate::run_view::State;
use crate::sanitize::first_line;

/// The outcome of a step: a word for programs and a phrase for people.
pub fn status(context: &Context<'_>, step: &Step<'_>) -> (&'static str, String) {
    if let Some(limit) = step.limit {
        return ("skipped", format!("skipped: {}", limit.name()));
    }
    let refused = step.verdict.as_ref().and_then(|verdict| verdict.limit).filter(|_| step.runs.is_empty());
    if let Some(limit) = refused {
        return ("skipped", format!("skipped: {}", limit.name()));
    }
    if step.is_open() || is_between_records(context, step) {
        return ("open", open(context, step).to_owned());
    }
    let last = step.runs.last();
    if let Some(limit) = last.and_then(ScriptRun::limit) {
        return ("skipped", format!("not ended: {}", limit.name()));
    }
    let failure = last.and_then(|run| run.outcome.as_ref()).filter(|outcome| outcome.is_error());
    if let Some(outcome) = failure {
        return ("failed", format!("failed: {}", first_line(&outcome.headline(), 160)));
    }
    match (step.kind, last, step.score()) {
        (StepKind::Study, Some(_), _) => ("done", "measured".to_owned()),
        (StepKind::Submission | StepKind::Provisional, Some(run), _)
            if let Some(fault) = submission_fault(run) =>
        {
            ("failed", fault)
        }
        (StepKind::Submission, ..) if matches!(step.step, place::Step::Choice(_)) => finalist_status(step),
        (StepKind::Submission | StepKind::Provisional, Some(_), _) => ("kept", "valid submission".to_owned()),
        (StepKind::LikeRows, ..) => ("done", "compared on like rows".to_owned()),
        (StepKind::Provisional, None, _) => ("skipped", "skipped: no time for it".to_owned()),
        (StepKind::Submission, None, _) if step.is_kept() => {
            ("kept", "valid submission, written by the solution itself".to_owned())
        }
        (_, None, _) => without_run(context, step),
        (_, _, None) => ("failed", "printed no score".to_owned()),
        (StepKind::Baseline | StepKind::Candidate, ..) => ("kept", "scored".to_owned()),
        _ if step.is_kept() => ("kept", "kept".to_owned()),
        _ => ("dropped", "not kept".to_owned()),
    }
}

/// Whether an unfinished run goes on with the step although none of its records is open. A study is over when its script is:
/// the attempts go on.
fn is_between_records(context: &Context<'_>, step: &Step<'_>) -> bool {
    let is_study = step.kind == StepKind::Study && !step.runs.is_empty();
    step.verdict.is_none() && !is_study && context.result().is_none()
}

/// The outcome of a step in progress.
fn open(context: &Context<'_>, step: &Step<'_>) -> &'static str {
    let begun = || step.records.iter().filter(|record| record.state == EffectState::Begun);
    // The program's own work needs no slot.
    let waits = |record: &&EffectRecord| {
        matches!(record.kind, Kind::Agent | Kind::Script) && context.at_work.slot(&record.place).is_none()
    };
    let is_waiting = step.is_open() && begun().all(waits);
    match context.run.summary.run.state {
        State::Running if context.at_work.progress().is_some() && is_waiting => "waits for its turn",
        State::Running => "being worked on",
        State::Finished | State::Unfinished => "cut off",
    }
}

/// The outcome of a finalist without a fault.
fn finalist_status(step: &Step<'_>) -> (&'static str, String) {
    let has_score = step.verdict.as_ref().is_some_and(|verdict| verdict.score.is_some());
    match (step.is_kept(), has_score) {
        (true, _) => ("kept", "chosen on held-out rows".to_owned()),
        (false, true) => ("dropped", "compared on held-out rows, not chosen".to_owned()),
        (false, false) => ("dropped", "no score on held-out rows".to_owned()),
    }
}

/// The outcome of a step whose script did not run.
fn without_run(context: &Context<'_>, step: &Step<'_>) -> (&'static str, String) {
    let blocks = context.run.snapshot.frozen.config.leakage_gate == LeakageGate::Block;
    let examined = step.records.iter().rev().find(|record| record.kind == Kind::Gate);
    let findings = examined.and_then(|record| Findings::deserialize(record.outcome.as_ref()?).ok());
    let leak = findings.and_then(|all| all.found.into_iter().find(|one| one.severity == Severity::Block));
    let was_written = examined.is_some() || step.records.iter().any(|record| record.place.repair().is_some());
    let note = step.verdict.as_ref().map(|verdict| first_line(&verdict.note, 160)).unwrap_or_default();
    match (step.kind, leak.filter(|_| blocks)) {
        (_, Some(leak)) => ("failed", format!("not run: it leaks (line {})", leak.line)),
        (_, None) if was_written => ("failed", "no script that can be run".to_owned()),
        (StepKind::LeakageCheck, None) if note.is_empty() => ("done", "nothing to correct".to_owned()),
        (StepKind::Data, None) if note.is_empty() => ("done", "nothing to add".to_owned()),
        (StepKind::LeakageCheck | StepKind::Data, None) => ("done", note),
        _ => ("failed", "no script to run".to_owned()),
    }
}

/// What is wrong with the submission that a script should have written.
fn submission_fault(run: &ScriptRun<'_>) -> Option<String> {
    match run.outcome.as_ref().and_then(|outcome| outcome.submission.as_ref()) {
        Some(submission) if submission.findings.is_empty() => None,
        Some(submission) => {
            Some(format!("no valid submission: {}", first_line(&submission.findings.join("; "), 160)))
        }
        None => Some("wrote no submission".to_owned()),
    }
}

/// One run of a script as templates read it, also where the script had to be repaired.
pub fn run_values(run: &ScriptRun<'_>) -> Value {
    let seconds = run.outcome.as_ref().map(|outcome| outcome.duration_seconds);
    let ended = match &run.outcome {
        None => "not ended".to_owned(),
        Some(_) if let Some(limit) = run.limit() => format!("not ended: {}", limit.name()),
        Some(outcome) if outcome.is_error() => first_line(&outcome.headline(), 160),
        Some(_) => "ran".to_owned(),
    };
    json!({
        "place": run.place, "name": run_name(run), "ok": run.is_ok(), "outcome": ended, "error": error_text(run),
        "score": run.score.map(Score::value), "seconds": seconds, "runner": run.runner(),
    })
}

/// What a run of a step's script is called.
fn run_name(run: &ScriptRun<'_>) -> String {
    let without = match run.place {
        place if place.is_corrected() => Some("without the leak".to_owned()),
        place if place.is_without_labels() => Some("without the held-out labels".to_owned()),
        _ => None,
    };
    let repair = run.place.repair().map(|number| format!("repair {number}"));
    let parts: Vec<String> = without.into_iter().chain(repair).collect();
    if parts.is_empty() { "first run".to_owned() } else { parts.join(", ") }
}

/// The traceback of a failed run, or the end of its stderr.
fn error_text(run: &ScriptRun<'_>) -> Option<String> {
    let outcome = run.outcome.as_ref().filter(|outcome| outcome.is_error())?;
    let text = outcome.traceback.clone().unwrap_or_else(|| outcome.stderr.text());
    let notes = outcome.notes.iter().map(|note| format!("Note: {note}"));
    let whole = std::iter::once(text.trim_end().to_owned()).chain(notes).collect::<Vec<_>>().join("\n");
    Some(cut(&whole, OUTPUT)).filter(|text| !text.trim().is_empty())
}

//! What became of a step.

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
    if step.is_open() {
        return ("open", open(context, step).to_owned());
    }
    let last = step.runs.last();
    if let Some(limit) = last.and_then(ScriptRun::limit) {
        return ("skipped", format!("skipped: {}", limit.name()));
    }
    let failure = last.and_then(|run| run.outcome.as_ref()).filter(|outcome| outcome.is_error());
    if let Some(outcome) = failure {
        return ("failed", format!("failed: {}", first_line(&outcome.headline(), 160)));
    }
    match (step.kind, last, step.score()) {
        (StepKind::Study, Some(_), _) => ("done", "measured".to_owned()),
        (StepKind::Submission | StepKind::Provisional, Some(run), _) => submission_status(run),
        (StepKind::LikeRows, ..) => ("done", "compared on like rows".to_owned()),
        (StepKind::Provisional, None, _) => ("skipped", "skipped: no time for it".to_owned()),
        (StepKind::Submission, None, _) if step.is_kept() => {
            ("kept", "valid submission, written by the solution itself".to_owned())
        }
        (StepKind::LeakageCheck, None, _) => ("done", "nothing to correct".to_owned()),
        (StepKind::Data, None, _) => ("done", "nothing to add".to_owned()),
        (_, None, _) => ("failed", "no script to run".to_owned()),
        (_, _, None) => ("failed", "printed no score".to_owned()),
        (StepKind::Candidate, ..) => ("kept", "scored".to_owned()),
        _ if step.is_kept() => ("kept", "kept".to_owned()),
        _ => ("dropped", "not kept".to_owned()),
    }
}

/// The outcome of a step in progress.
fn open(context: &Context<'_>, step: &Step<'_>) -> &'static str {
    let is_at_work = || step.records.iter().any(|record| context.at_work.slot(&record.place).is_some());
    match context.run.summary.run.state {
        State::Running if context.at_work.progress().is_some() && !is_at_work() => "waits for its turn",
        State::Running => "being worked on",
        State::Finished | State::Unfinished => "cut off",
    }
}

fn submission_status(run: &ScriptRun<'_>) -> (&'static str, String) {
    match run.outcome.as_ref().and_then(|outcome| outcome.submission.as_ref()) {
        Some(submission) if submission.findings.is_empty() => ("kept", "valid submission".to_owned()),
        Some(submission) => {
            ("failed", format!("no valid submission: {}", first_line(&submission.findings.join("; "), 160)))
        }
        None => ("failed", "wrote no submission".to_owned()),
    }
}

/// The traceback of a failed run, or the end of its stderr.
pub fn error(run: &ScriptRun<'_>) -> Option<String> {
    let outcome = run.outcome.as_ref().filter(|outcome| outcome.is_error())?;
    let text = outcome.traceback.clone().unwrap_or_else(|| outcome.stderr.text());
    let notes = outcome.notes.iter().map(|note| format!("Note: {note}"));
    let whole = std::iter::once(text.trim_end().to_owned()).chain(notes).collect::<Vec<_>>().join("\n");
    Some(cut(&whole, OUTPUT)).filter(|text| !text.trim().is_empty())
}

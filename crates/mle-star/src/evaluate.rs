//! h(s): leakage check, run, and repair on failure. Only this module creates a [`Scored`] solution.

use std::sync::Arc;

use crate::agents;
use crate::ctx::Ctx;
use crate::effects::{Limit, Purpose, ScriptEnd, ScriptOutcome};
use crate::evaluation::{Evaluation, Failure};
use crate::place::Name;
use crate::python::{exit_call, hidden_errors};
use crate::solution::{Evidence, Scored, Solution};
use crate::stop::Stop;

/// The outcome of a script after all repairs.
pub(crate) struct Execution {
    /// The last text that ran.
    pub solution: Solution,
    /// Whether that text has a leak that could not be corrected.
    pub leaks: bool,
    /// Its last run; `Err` if every repair failed.
    pub result: Result<Ran, Failure>,
}

/// A successful run of a script.
pub(crate) struct Ran {
    pub outcome: ScriptOutcome,
    pub place: crate::place::Place,
    pub at: jiff::Timestamp,
}

/// A solution after the leakage check.
#[derive(Clone)]
pub(crate) struct Checked {
    pub solution: Solution,
    /// Whether a leak was found that could not be corrected.
    pub leaks: bool,
    /// The limit that prevented the check.
    pub refused: Option<Limit>,
}

/// h(s) of the paper: checks the solution for leakage, runs it, and lets the debugger repair it while it fails.
pub(crate) async fn evaluate(ctx: &Ctx<'_>, solution: Solution) -> Result<Evaluation, Stop> {
    let checked = without_leakage(ctx, solution).await?;
    evaluate_checked(ctx, checked).await
}

/// h(s) of a solution after its leakage check.
pub(crate) async fn evaluate_checked(ctx: &Ctx<'_>, checked: Checked) -> Result<Evaluation, Stop> {
    if let Some(limit) = checked.refused {
        return Ok(Evaluation::refused(checked.solution, limit));
    }
    let step = ctx.step()?;
    let Execution { solution, leaks, result } = execute(ctx, checked, Purpose::Score).await?;
    let scored = result.and_then(|ran| {
        let score = ran.outcome.value().and_then(|value| ctx.score(value)).ok_or_else(no_score)?;
        let measured = ran.outcome.measured.map(Arc::new);
        let wrote_submission =
            ran.outcome.submission.is_some_and(|submission| submission.findings.is_empty());
        let evidence = Evidence { step, place: ran.place, ran_at: ran.at, wrote_submission, leaks, measured };
        Ok(Scored::new(solution.clone(), score, evidence))
    });
    if let Ok(scored) = &scored {
        ctx.scored(scored);
    }
    Ok(Evaluation { solution, scored })
}

/// Runs a script. While it fails, the debugger repairs it, and the repaired text is checked and run.
pub(crate) async fn execute(ctx: &Ctx<'_>, checked: Checked, purpose: Purpose) -> Result<Execution, Stop> {
    let mut execution = attempt(ctx, checked, purpose).await?;
    for count in 1..=ctx.config().max_debug_attempts {
        let Err(failure) = &execution.result else { break };
        if failure.limit.is_some() {
            break;
        }
        if purpose == Purpose::Submission {
            ctx.warn(format!("no valid submission yet, it is repaired: {}", failure.headline()));
        }
        let ctx = &ctx.repair(count);
        ctx.info(format!("repair {count} of {}: {}", ctx.config().max_debug_attempts, failure.headline()));
        let Some(repaired) = agents::debugger(ctx, &execution.solution, &failure.error).await? else {
            continue;
        };
        let repaired = match purpose {
            Purpose::Score => without_leakage(ctx, with_score_line(ctx, &repaired)).await?,
            Purpose::Submission => without_leakage(ctx, repaired).await?,
            Purpose::Ablation | Purpose::Comparison => Checked::unchecked(repaired),
        };
        // The same text would fail the same way.
        if repaired.solution != execution.solution {
            execution = attempt(ctx, repaired, purpose).await?;
        }
    }
    if let Err(failure) = execution.result.as_ref().map(drop)
        && failure.limit.is_none()
    {
        let repairs = ctx.config().max_debug_attempts;
        ctx.warn(format!(
            "not repaired in {repairs} attempts; the last version that ran stands: {}",
            failure.headline()
        ));
    }
    Ok(execution)
}

/// Finds leaks and lets the agent correct each leaking block.
pub(crate) async fn without_leakage(ctx: &Ctx<'_>, solution: Solution) -> Result<Checked, Stop> {
    let mut checked = Checked::unchecked(solution);
    if checked.solution.text().trim().is_empty() {
        return Ok(checked);
    }
    let text = checked.solution.text().to_owned();
    let leaks = match agents::detect_leakage(ctx, &checked.solution).await? {
        Ok(leaks) => leaks,
        Err(limit) => return Ok(Checked { refused: Some(limit), ..checked }),
    };
    for (count, quoted) in (1..).zip(&leaks) {
        let solution = &checked.solution;
        let block = match solution.find_first_block(quoted) {
            Ok(block) => block,
            Err(error) => {
                ctx.warn(format!("a leak was reported and not corrected: {error}"));
                checked.leaks = true;
                continue;
            }
        };
        let corrected = agents::correct_leakage(ctx, count, solution, &block).await?;
        match corrected.and_then(|code| solution.replace_block(&block, &code).ok()) {
            Some(replaced) => {
                ctx.info(format!("leaking block of {} characters corrected", block.as_str().chars().count()));
                checked.solution = replaced;
            }
            None => {
                ctx.warn("a leak was reported and its correction is unusable");
                checked.leaks = true;
            }
        }
    }
    let (found, changed) = (leaks.len(), checked.solution.text() != text);
    ctx.info(format!(
        "leakage check: {found} leaks found, {}",
        if changed { "script changed" } else { "script unchanged" }
    ));
    Ok(checked)
}

impl Checked {
    /// A text without a leakage check: it is not scored, or it is empty.
    pub fn unchecked(solution: Solution) -> Self {
        Self { solution, leaks: false, refused: None }
    }
}

/// Runs a script once. Its type ensures that a scored text has passed the leakage check.
async fn attempt(ctx: &Ctx<'_>, checked: Checked, purpose: Purpose) -> Result<Execution, Stop> {
    let Checked { solution, leaks, refused } = checked;
    if let Some(limit) = refused.filter(|_| purpose == Purpose::Score) {
        return Ok(Execution { solution, leaks, result: Err(Failure::refused(limit)) });
    }
    if let Some(error) = rejection(solution.text()) {
        return Ok(Execution { solution, leaks, result: Err(Failure { error, limit: None }) });
    }
    for advice in hidden_errors(solution.text()) {
        ctx.warn(advice);
    }
    let run = ctx.run(solution.text(), purpose).await?;
    let result = match failure(&run.value, purpose) {
        Some(failure) => Err(failure),
        None => Ok(Ran { outcome: run.value, place: ctx.place().named(Name::Run), at: run.at }),
    };
    Ok(Execution { solution, leaks, result })
}

/// Why a script cannot be run.
fn rejection(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("The script is empty: there was no code in the reply.".to_owned());
    }
    exit_call(text).map(|call| {
        format!("The script calls {call}(), which is not allowed because it hides how the script ended. Remove the call.")
    })
}

fn failure(outcome: &ScriptOutcome, purpose: Purpose) -> Option<Failure> {
    if let ScriptEnd::Refused { limit } = outcome.end {
        return Some(Failure::refused(limit));
    }
    let failed = |error: String| Some(Failure { error, limit: None });
    if outcome.is_error() {
        return failed(error_text(outcome));
    }
    match purpose {
        Purpose::Score if outcome.score.is_none() => Some(no_score()),
        Purpose::Score => outcome.mismatch.clone().and_then(failed),
        Purpose::Ablation | Purpose::Comparison => None,
        Purpose::Submission => match &outcome.submission {
            None => failed("The script ran, but did not write ./final/submission.csv.".to_owned()),
            Some(submission) if submission.findings.is_empty() => None,
            Some(submission) => failed(format!(
                "./final/submission.csv is not valid:\n- {}",
                submission.findings.join("\n- ")
            )),
        },
    }
}

fn no_score() -> Failure {
    let error = "The script ran, but its output has no line `Final Validation Performance: <number>` with a finite number.";
    Failure { error: error.to_owned(), limit: None }
}

/// The error for the debugger: the traceback if there is one, otherwise what is known.
fn error_text(outcome: &ScriptOutcome) -> String {
    let mut text = outcome.traceback.clone().unwrap_or_else(|| {
        let output = outcome.stderr.text();
        let tail: String = output
            .lines()
            .rev()
            .take(40)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join("\n");
        format!("{}\n{tail}", outcome.headline())
    });
    let memory = outcome
        .out_of_memory
        .map(|how| format!("the script ran out of memory: {}. Reduce its memory use.", how.words()));
    for note in memory.iter().chain(&outcome.notes) {
        text.push_str("\nNote: ");
        text.push_str(note);
    }
    text.trim_end().to_owned()
}

/// Restores the score line of a repaired script that lost it.
fn with_score_line(ctx: &Ctx<'_>, repaired: &Solution) -> Solution {
    let text = &repaired.text();
    if text.contains("Final Validation Performance") {
        return repaired.clone();
    }
    ctx.warn("the repaired script prints no score; a line that does is added");
    const LINE: &str = "print(f\"Final Validation Performance: {final_validation_score}\")\n";
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let main = lines.iter().position(|line| line.starts_with("if __name__")).unwrap_or(lines.len());
    let (before, after) = lines.split_at(main);
    let end = if after.is_empty() { String::new() } else { format!("{}\n", after.join("\n")) };
    repaired.with_text(format!("{}\n{LINE}{end}", before.join("\n")))
}

//! h(s): leakage check, run, and repair on failure. The only maker of a [`Scored`] solution.

use crate::agents;
use crate::ctx::Ctx;
use crate::effects::{Limit, Purpose, ScriptEnd, ScriptOutcome};
use crate::place::Name;
use crate::python::{exit_call, hidden_errors};
use crate::solution::{Evidence, Scored, Solution};
use crate::stop::Stop;

/// What became of a script.
pub(crate) struct Execution {
    /// The text that was run last.
    pub solution: Solution,
    /// A leak was found in that text that could not be corrected.
    pub leaks: bool,
    /// What it did; `Err` when it failed to the end.
    pub result: Result<Ran, Failure>,
}

/// A script that did what was wanted of it.
pub(crate) struct Ran {
    pub outcome: ScriptOutcome,
    pub place: crate::place::Place,
    pub at: jiff::Timestamp,
}

/// Why a script did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The error as the debugger sees it.
    pub error: String,
    /// The limit that kept it from running.
    pub limit: Option<Limit>,
}

/// h(s): the solution with its score, or how it failed.
pub(crate) struct Evaluation {
    /// The text that was run last.
    pub solution: Solution,
    pub scored: Result<Scored, Failure>,
}

/// A solution after the leakage check.
pub(crate) struct Checked {
    pub solution: Solution,
    /// A leak was found that could not be corrected.
    pub leaks: bool,
    /// The limit that kept it from being checked.
    pub refused: Option<Limit>,
}

impl Evaluation {
    /// A solution that a limit kept from being made or scored.
    pub fn refused(solution: Solution, limit: Limit) -> Self {
        Self { solution, scored: Err(Failure::refused(limit)) }
    }
}

impl Failure {
    /// The line of the error that names it, without traceback and notes.
    pub fn headline(&self) -> &str {
        let names_it = |line: &&str| {
            !line.trim().is_empty() && !line.starts_with([' ', '\t']) && !line.starts_with("Note: ")
        };
        self.error.lines().rev().find(names_it).unwrap_or_default()
    }

    fn refused(limit: Limit) -> Self {
        Self { error: format!("not run: {}", limit.name()), limit: Some(limit) }
    }
}

/// h(s) of the paper: checks the solution for leakage, runs it, and has it repaired while it fails.
pub(crate) async fn evaluate(ctx: &Ctx<'_>, solution: Solution) -> Result<Evaluation, Stop> {
    let checked = without_leakage(ctx, solution).await?;
    evaluate_checked(ctx, checked).await
}

/// h(s) of a solution that has been through the leakage check.
pub(crate) async fn evaluate_checked(ctx: &Ctx<'_>, checked: Checked) -> Result<Evaluation, Stop> {
    if let Some(limit) = checked.refused {
        return Ok(Evaluation::refused(checked.solution, limit));
    }
    let step = ctx.step()?;
    let Execution { solution, leaks, result } = execute(ctx, checked, Purpose::Score).await?;
    let scored = result.and_then(|ran| {
        let score = ran.outcome.score.and_then(|value| ctx.score(value)).ok_or_else(no_score)?;
        let wrote_submission =
            ran.outcome.submission.is_some_and(|submission| submission.findings.is_empty());
        let evidence = Evidence { step, place: ran.place, ran_at: ran.at, wrote_submission, leaks };
        Ok(Scored::new(solution.clone(), score, evidence))
    });
    if let Ok(scored) = &scored {
        ctx.scored(scored);
    }
    Ok(Evaluation { solution, scored })
}

/// Runs a script; while it fails, the debugger repairs it and the repaired text is checked and run.
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
            Purpose::Ablation => Checked::unchecked(repaired),
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

/// Finds leaks and has each leaking block corrected.
pub(crate) async fn without_leakage(ctx: &Ctx<'_>, solution: Solution) -> Result<Checked, Stop> {
    let mut checked = Checked::unchecked(solution);
    if checked.solution.text.trim().is_empty() {
        return Ok(checked);
    }
    let text = checked.solution.text.clone();
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
    let (found, changed) = (leaks.len(), checked.solution.text != text);
    ctx.info(format!(
        "leakage check: {found} leaks found, {}",
        if changed { "script changed" } else { "script unchanged" }
    ));
    Ok(checked)
}

impl Checked {
    /// A text that nobody looked at: it is not scored, or holds nothing to look at.
    pub fn unchecked(solution: Solution) -> Self {
        Self { solution, leaks: false, refused: None }
    }
}

/// Runs a script once. A text that is to be scored has to have been checked.
async fn attempt(ctx: &Ctx<'_>, checked: Checked, purpose: Purpose) -> Result<Execution, Stop> {
    let Checked { solution, leaks, refused } = checked;
    if let Some(limit) = refused.filter(|_| purpose == Purpose::Score) {
        return Ok(Execution { solution, leaks, result: Err(Failure::refused(limit)) });
    }
    if let Some(error) = rejection(&solution.text) {
        return Ok(Execution { solution, leaks, result: Err(Failure { error, limit: None }) });
    }
    for advice in hidden_errors(&solution.text) {
        ctx.warn(advice);
    }
    let run = ctx.run(&solution.text, purpose).await?;
    let result = match failure(&run.value, purpose) {
        Some(failure) => Err(failure),
        None => Ok(Ran { outcome: run.value, place: ctx.place().named(Name::Run), at: run.at }),
    };
    Ok(Execution { solution, leaks, result })
}

/// Why a script is not run at all.
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
        Purpose::Score | Purpose::Ablation => None,
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

/// What went wrong, for the debugger: the traceback where there is one, else what is known.
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
        format!("{}\n{tail}", headline(outcome))
    });
    let memory = outcome
        .out_of_memory
        .map(|how| format!("the script ran out of memory: {}. It has to do with less memory.", how.words()));
    for note in memory.iter().chain(&outcome.notes) {
        text.push_str("\nNote: ");
        text.push_str(note);
    }
    text.trim_end().to_owned()
}

/// What went wrong, in one line for people.
pub fn headline(outcome: &ScriptOutcome) -> String {
    if let Some(how) = outcome.out_of_memory {
        return format!("The script ran out of memory: {}.", how.words());
    }
    match outcome.end {
        ScriptEnd::TimedOut => {
            format!("The script was stopped at its time limit after {:.0} s.", outcome.duration_seconds)
        }
        ScriptEnd::Signalled { signal } => format!("The script was killed by signal {signal}."),
        ScriptEnd::Refused { limit } => format!("not run: {}", limit.name()),
        ScriptEnd::Exited { code } => match outcome.traceback.as_deref().and_then(exception) {
            Some(exception) => exception.to_owned(),
            None => format!("The script ended with exit code {code}."),
        },
    }
}

/// The exception's own line: the last of a traceback that is not indented.
fn exception(traceback: &str) -> Option<&str> {
    traceback.lines().rev().find(|line| !line.trim().is_empty() && !line.starts_with([' ', '\t']))
}

/// A repaired script that lost its score line gets it back.
fn with_score_line(ctx: &Ctx<'_>, repaired: &Solution) -> Solution {
    let text = &repaired.text;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_named_by_its_own_line() {
        let check = |error: &str, expected: &str| {
            let failure = Failure { error: error.to_owned(), limit: None };
            assert_eq!(failure.headline(), expected, "{error:?}");
        };
        check("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'", "KeyError: 'x'");
        check(
            "The script was stopped at its time limit after 2 s.\nNote: stopped after 2.0 s",
            "The script was stopped at its time limit after 2 s.",
        );
        check("OSError: full\n  indented\n\n", "OSError: full");
        check("", "");
    }

    #[test]
    fn the_exception_is_the_last_line_of_a_traceback_that_is_not_indented() {
        let check = |traceback, expected| assert_eq!(exception(traceback), expected, "{traceback:?}");
        check(
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n",
            Some("KeyError: 'x'"),
        );
        check("KeyError: 'x'\n\n  \n\tnote\n", Some("KeyError: 'x'"));
        check(" \n", None);
    }
}

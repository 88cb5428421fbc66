//! Running a script: once, or repaired by the debugger while it fails.

use super::gate;
use super::leakage::without_leakage;
use crate::about::beginning;
use crate::agents::{self, Repair};
use crate::ctx::Ctx;
use crate::evaluation::{Failure, Script};
use crate::python::{exit_call, hidden_errors};
use crate::solution::Solution;
use crate::stop::Stop;
use crate::traceback::fails_while_saving;
use mle_star_domain::effects::{Purpose, ScriptEnd, ScriptOutcome, Submission};
use mle_star_domain::place::{Name, Place};

/// The most characters of an error in a line that later agents read.
const MAX_ERROR_CHARS: usize = 120;

/// The outcome of a script after all repairs.
pub(crate) struct Execution {
    /// The last text that ran.
    pub solution: Solution,
    /// Whether that text has a leak that could not be corrected.
    pub leaks: bool,
    /// Whether that text was checked for leakage.
    pub checked: bool,
    /// The last run of the script; `Err` if every repair failed.
    pub result: Result<Ran, Failure>,
    /// The errors that were repaired, one line each.
    pub mishaps: Vec<String>,
}

/// A successful run of a script.
pub(crate) struct Ran {
    pub outcome: ScriptOutcome,
    pub place: Place,
    pub at: jiff::Timestamp,
}

impl Execution {
    /// The outcome of the last run, or why there is none.
    pub fn outcome(&self) -> Result<&ScriptOutcome, &Failure> {
        self.result.as_ref().map(|ran| &ran.outcome)
    }
}

/// Runs a script. While it fails, the debugger repairs it, and the repaired text is checked and run.
pub(crate) async fn execute(ctx: &Ctx<'_>, checked: Script, purpose: Purpose) -> Result<Execution, Stop> {
    let is_checked = checked.checked;
    let mut execution = attempt(ctx, checked, purpose).await?;
    let (mut repairs, mut mishaps): (Vec<Repair>, Vec<String>) = Default::default();
    for count in 1..=ctx.config().max_debug_attempts {
        let Err(failure) = &execution.result else { break };
        if failure.is_final {
            break;
        }
        if purpose == Purpose::Submission {
            ctx.warn(format!("no valid submission yet, it is repaired: {}", failure.headline()));
        }
        let ctx = &ctx.below(|place| place.repaired(count));
        ctx.info(format!("repair {count} of {}: {}", ctx.config().max_debug_attempts, failure.headline()));
        let repaired = agents::debugger(ctx, &execution.solution, failure, &repairs, purpose).await?;
        let Some(repaired) = repaired else { continue };
        let repaired = match purpose {
            Purpose::Score => with_score_line(ctx, &repaired),
            Purpose::Submission | Purpose::Ablation | Purpose::Comparison | Purpose::Probe => repaired,
        };
        let repaired = match is_checked {
            true => without_leakage(ctx, repaired).await?,
            false => Script::new(repaired),
        };
        // The same text would fail the same way.
        if repaired.solution != execution.solution {
            let before = beginning(failure.headline(), MAX_ERROR_CHARS);
            repairs.push(Repair::of(failure, &execution.solution, &repaired.solution));
            execution = attempt(ctx, repaired, purpose).await?;
            let now = execution.result.as_ref().err().map(|now| beginning(now.headline(), MAX_ERROR_CHARS));
            mishaps.extend((now.as_ref() != Some(&before)).then(|| format!("repaired after {before}")));
        }
    }
    if let Err(failure) = execution.result.as_ref().map(drop)
        && !failure.is_final
    {
        let repairs = ctx.config().max_debug_attempts;
        ctx.warn(format!(
            "not repaired in {repairs} attempts; the last version that ran stands: {}",
            failure.headline()
        ));
    }
    Ok(Execution { mishaps, ..execution })
}

/// Runs a script once, without repairs.
pub(crate) async fn attempt(ctx: &Ctx<'_>, script: Script, purpose: Purpose) -> Result<Execution, Stop> {
    let script = if purpose == Purpose::Score { gate::pass(ctx, script).await? } else { script };
    run_once(ctx, script, purpose).await
}

/// Runs a script once as it is, whatever the program would find in it.
pub(crate) async fn run_once(ctx: &Ctx<'_>, script: Script, purpose: Purpose) -> Result<Execution, Stop> {
    let Script { solution, leaks, checked, refused, blocked, .. } = script;
    let rejected = rejection(solution.text()).map(Failure::new);
    let rejected = refused.filter(|_| purpose == Purpose::Score).map(Failure::refused).or(rejected);
    let leaking = |leak| Failure::beyond_repair(format!("not scored, because it leaks: {leak}"));
    let rejected = blocked.map(leaking).or(rejected);
    if let Some(failure) = rejected {
        return Ok(Execution { solution, leaks, checked, result: Err(failure), mishaps: Vec::new() });
    }
    // A study goes on after a variant that fails.
    if purpose != Purpose::Ablation {
        hidden_errors(solution.text()).into_iter().for_each(|advice| ctx.warn(advice));
    }
    let run = ctx.run(solution.text(), purpose).await?;
    let result = match failure(&run.value, purpose) {
        Some(failure) if !(ctx.tells_more() && wrote_before(solution.text(), &run.value, purpose)) => {
            Err(failure.of(&run.value))
        }
        failed => {
            if let Some(failure) = failed {
                let error = failure.headline().to_owned();
                ctx.warn(format!(
                    "the submission counts, although its script failed after writing it: {error}"
                ));
            }
            Ok(Ran { outcome: run.value, place: ctx.place().named(Name::Run), at: run.at })
        }
    };
    Ok(Execution { solution, leaks, checked, result, mishaps: Vec::new() })
}

/// Whether a script had written a valid submission and failed while it saved its model.
fn wrote_before(script: &str, outcome: &ScriptOutcome, purpose: Purpose) -> bool {
    let is_valid = outcome.submission.as_ref().is_some_and(|submission| submission.findings.is_empty());
    let saves = |traceback: &String| fails_while_saving(script, traceback);
    purpose == Purpose::Submission && is_valid && outcome.traceback.as_ref().is_some_and(saves)
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

pub(super) fn failure(outcome: &ScriptOutcome, purpose: Purpose) -> Option<Failure> {
    if let ScriptEnd::Refused { limit } = outcome.end {
        return Some(Failure::refused(limit));
    }
    if outcome.loss().is_some() {
        return Some(Failure::beyond_repair(outcome.headline()));
    }
    let failed = |error: String| Some(Failure::new(error));
    // A study prints each effect as soon as it is known.
    let knows_some = outcome.end == ScriptEnd::TimedOut && !outcome.stdout.text().trim().is_empty();
    if purpose == Purpose::Ablation && knows_some {
        return None;
    }
    if outcome.is_error() {
        let failure = Failure::new(error_text(outcome));
        // What a script printed before it was stopped says nothing of that.
        let is_own = matches!(outcome.end, ScriptEnd::Exited { .. }) && outcome.out_of_memory.is_none();
        return Some(if is_own { failure } else { failure.named(outcome.headline()) });
    }
    match purpose {
        Purpose::Score if outcome.score.is_none() => Some(no_score()),
        Purpose::Score => outcome.mismatch.clone().and_then(failed),
        Purpose::Ablation | Purpose::Comparison | Purpose::Probe => None,
        Purpose::Submission => match &outcome.submission {
            None => failed("The script ran, but did not write ./final/submission.csv.".to_owned()),
            Some(submission) if submission.findings.is_empty() => None,
            Some(Submission { findings, .. }) => {
                let text = format!("./final/submission.csv is not valid:\n- {}", findings.join("\n- "));
                findings.first().map(|first| Failure::new(text).named(first))
            }
        },
    }
}

pub(super) fn no_score() -> Failure {
    Failure::new(
        "The script ran, but its output has no line `Final Validation Performance: <number>` with a finite number.",
    )
}

/// The error for the debugger: the traceback if there is one, otherwise what is known.
fn error_text(outcome: &ScriptOutcome) -> String {
    let mut text = outcome.traceback.clone().unwrap_or_else(|| {
        let output = outcome.stderr.text();
        let lines: Vec<&str> = output.lines().collect();
        let tail = lines[lines.len().saturating_sub(40)..].join("\n");
        format!("{}\n{tail}", outcome.headline())
    });
    let memory = outcome
        .out_of_memory
        .map(|how| format!("the script ran out of memory: {}. Reduce its memory use.", how.words()));
    memory.iter().chain(&outcome.notes).for_each(|note| text.extend(["\nNote: ", note]));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{failed, submitted};
    use mle_star_domain::effects::Captured;

    #[test]
    fn a_failure_is_named_by_what_ended_the_script() {
        let check = |outcome: &ScriptOutcome, purpose, expected: &str| {
            let failure = failure(outcome, purpose);
            assert_eq!(failure.as_ref().map(Failure::headline), Some(expected), "{failure:?}");
        };
        let warned = Captured::whole("[I 2025-01-01] Trial 12 finished with value: 0.81\n");
        let stopped = ScriptOutcome {
            duration_seconds: 60.0,
            stderr: warned.clone(),
            ..ScriptOutcome::of(ScriptEnd::TimedOut)
        };
        let late = "The script was stopped at its time limit after 60 s.";
        check(&stopped, Purpose::Score, late);
        let traceback = failed("KeyError: 'x'").traceback;
        check(&ScriptOutcome { traceback, ..stopped }, Purpose::Score, late);
        check(&failed("KeyError: 'x'"), Purpose::Score, "KeyError: 'x'");
        let exited = ScriptOutcome { stderr: warned, ..ScriptOutcome::of(ScriptEnd::Exited { code: 1 }) };
        check(&exited, Purpose::Score, "[I 2025-01-01] Trial 12 finished with value: 0.81");
        check(&submitted(&["it has no rows", "it has no column y"]), Purpose::Submission, "it has no rows");
    }
}

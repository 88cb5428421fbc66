//! h(s): leakage check, run, and repair on failure. Only this module creates a [`Scored`] solution.

use std::sync::Arc;

use crate::agents::{self, Gain, Repair};
use crate::composition::Composition;
use crate::ctx::Ctx;
use crate::evaluation::{Evaluation, Failure};
use crate::gate;
use crate::lessons::number;
use crate::python::{exit_call, hidden_errors};
use crate::solution::{Evidence, Scored, Solution};
use crate::stop::Stop;
use mle_star_domain::config::{AgentsChoice, LeakageCheck};
use mle_star_domain::effects::{CombinedBy, Limit, Purpose, RunFacts, ScriptEnd, ScriptOutcome};
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::Name;

/// The outcome of a script after all repairs.
pub(crate) struct Execution {
    /// The last text that ran.
    pub solution: Solution,
    /// Whether that text has a leak that could not be corrected.
    pub leaks: bool,
    /// Whether that text was checked for leakage.
    pub checked: bool,
    /// Its last run; `Err` if every repair failed.
    pub result: Result<Ran, Failure>,
    /// The errors that were repaired, one line each.
    pub mishaps: Vec<String>,
}

/// A successful run of a script.
pub(crate) struct Ran {
    pub outcome: ScriptOutcome,
    pub place: mle_star_domain::place::Place,
    pub at: jiff::Timestamp,
}

/// A solution after the leakage check, or one that needs none yet.
#[derive(Clone)]
pub(crate) struct Checked {
    pub solution: Solution,
    /// Whether a leak was found that could not be corrected.
    pub leaks: bool,
    /// Whether there was a check.
    pub checked: bool,
    /// The limit that prevented the check.
    pub refused: Option<Limit>,
    /// The leak with which the gate does not let it pass.
    pub blocked: Option<String>,
}

/// h(s) of the paper: checks the solution for leakage, runs it, and lets the debugger repair it while it fails.
///
/// With `leakage_check: accepted`, it runs first. It is checked if its score would replace that of `rival`, the solution
/// that it competes with, and a corrected text runs again.
pub(crate) async fn evaluate(
    ctx: &Ctx<'_>,
    solution: Solution,
    rival: Option<&Scored>,
) -> Result<Evaluation, Stop> {
    let rule = ctx.config().acceptance;
    // Rules cost nothing, so everything that they write is checked.
    let is_free = ctx.config().agents == AgentsChoice::Offline;
    if is_free || ctx.config().leakage_check == LeakageCheck::Each {
        let checked = without_leakage(ctx, solution).await?;
        return evaluate_checked(ctx, checked).await;
    }
    let evaluation = score(ctx, Checked::unchecked(solution)).await?;
    let replaces = |scored: &&Scored| rival.is_none_or(|rival| scored.replaces(rival, rule));
    let Some(scored) = evaluation.scored.as_ref().ok().filter(replaces) else {
        announce(ctx, &evaluation);
        return Ok(evaluation);
    };
    let gain = Gain { scored, rival };
    let checked = check(ctx, scored.solution().clone(), Some(&gain)).await?;
    if let Some(limit) = checked.refused {
        let refused = Evaluation::refused(checked.solution, limit);
        return Ok(Evaluation { mishaps: evaluation.mishaps, ..refused });
    }
    if checked.solution != *scored.solution() {
        let leak = format!("it scored {} with a leak, which was removed", number(scored.score().value()));
        let corrected = evaluate_checked(&ctx.corrected(), checked).await?;
        let mishaps = evaluation.mishaps.into_iter().chain([leak]).chain(corrected.mishaps).collect();
        return Ok(Evaluation { mishaps, ..corrected });
    }
    let evaluation =
        Evaluation { scored: evaluation.scored.map(|scored| scored.checked(checked.leaks)), ..evaluation };
    announce(ctx, &evaluation);
    Ok(evaluation)
}

/// h(s) of a solution after its leakage check.
pub(crate) async fn evaluate_checked(ctx: &Ctx<'_>, checked: Checked) -> Result<Evaluation, Stop> {
    if let Some(limit) = checked.refused {
        return Ok(Evaluation::refused(checked.solution, limit));
    }
    let evaluation = score(ctx, checked).await?;
    announce(ctx, &evaluation);
    Ok(evaluation)
}

/// Runs a solution, with repairs, for its score.
async fn score(ctx: &Ctx<'_>, solution: Checked) -> Result<Evaluation, Stop> {
    let step = ctx.step()?;
    let Execution { solution, leaks, checked, result, mishaps } =
        execute(ctx, solution, Purpose::Score).await?;
    let scored = result.and_then(|ran| {
        let no_score = || no_score().of(&ran.outcome);
        let score = ran.outcome.value().and_then(|value| ctx.score(value)).ok_or_else(no_score)?;
        let facts = ran.outcome.facts();
        let measured = ran.outcome.measured.map(Arc::new);
        let wrote_submission =
            ran.outcome.submission.is_some_and(|submission| submission.findings.is_empty());
        let (place, ran_at) = (ran.place, ran.at);
        let composition = None;
        let evidence =
            Evidence { step, place, ran_at, wrote_submission, leaks, checked, facts, measured, composition };
        Ok(Scored::new(solution.clone(), score, evidence))
    });
    Ok(Evaluation { solution, scored, mishaps })
}

/// The solution that combines others by weights, with the score of their combined predictions. Nothing runs.
pub(crate) async fn combine(
    ctx: &Ctx<'_>,
    composition: Arc<Composition>,
    members: &[(Scored, f64)],
    by: CombinedBy,
    measured: Measurement,
) -> Result<Result<Scored, Failure>, Stop> {
    let (step, solution) = (ctx.step()?, composition.script());
    let ran_at = members.iter().map(|(member, _)| member.ran_at()).max().unwrap_or_default();
    let seconds = members.iter().map(|(member, _)| member.facts().seconds).sum();
    let (place, outcome) = ctx.combine(solution.text(), members, by, measured).await?;
    if let Some(failure) = failure(&outcome, Purpose::Submission) {
        return Ok(Err(failure));
    }
    let Some(score) = outcome.value().and_then(|value| ctx.score(value)) else {
        return Ok(Err(Failure::new("the combined predictions have no score")));
    };
    ctx.will_repeat(seconds);
    let evidence = Evidence {
        step,
        place,
        ran_at,
        wrote_submission: true,
        leaks: false,
        checked: true,
        facts: RunFacts { seconds, ..RunFacts::default() },
        measured: outcome.measured.map(Arc::new),
        composition: Some(composition),
    };
    let scored = Scored::new(solution, score, evidence);
    ctx.scored(&scored);
    Ok(Ok(scored))
}

/// Whether a solution leaks. If it was not checked before, it is checked now; `None` if a limit prevents that.
pub(crate) async fn leaks(ctx: &Ctx<'_>, scored: &Scored) -> Result<Option<bool>, Stop> {
    if scored.is_checked() {
        return Ok(Some(scored.leaks()));
    }
    let leaks = agents::detect_leakage(ctx, scored.solution(), None).await?;
    Ok(leaks.ok().map(|leaks| !leaks.is_empty()))
}

fn announce(ctx: &Ctx<'_>, evaluation: &Evaluation) {
    if let Ok(scored) = &evaluation.scored {
        ctx.scored(scored);
    }
}

/// Runs a script. While it fails, the debugger repairs it, and the repaired text is checked and run.
pub(crate) async fn execute(ctx: &Ctx<'_>, checked: Checked, purpose: Purpose) -> Result<Execution, Stop> {
    let is_checked = checked.checked;
    let mut execution = attempt(ctx, checked, purpose).await?;
    let (mut repairs, mut mishaps): (Vec<Repair>, Vec<String>) = Default::default();
    for count in 1..=ctx.config().max_debug_attempts {
        let Err(failure) = &execution.result else { break };
        if failure.is_final() {
            break;
        }
        if purpose == Purpose::Submission {
            ctx.warn(format!("no valid submission yet, it is repaired: {}", failure.headline()));
        }
        let ctx = &ctx.repair(count);
        ctx.info(format!("repair {count} of {}: {}", ctx.config().max_debug_attempts, failure.headline()));
        let repaired = agents::debugger(ctx, &execution.solution, failure, &repairs, purpose).await?;
        let Some(repaired) = repaired else { continue };
        let repaired = match purpose {
            Purpose::Score => with_score_line(ctx, &repaired),
            Purpose::Submission | Purpose::Ablation | Purpose::Comparison | Purpose::Probe => repaired,
        };
        let repaired = match is_checked {
            true => without_leakage(ctx, repaired).await?,
            false => Checked::unchecked(repaired),
        };
        // The same text would fail the same way.
        if repaired.solution != execution.solution {
            let before = beginning(failure.headline());
            repairs.push(Repair::of(failure, &execution.solution, &repaired.solution));
            execution = attempt(ctx, repaired, purpose).await?;
            let again =
                execution.result.as_ref().err().is_some_and(|now| beginning(now.headline()) == before);
            mishaps.extend((!again).then(|| format!("repaired after {before}")));
        }
    }
    if let Err(failure) = execution.result.as_ref().map(drop)
        && !failure.is_final()
    {
        let repairs = ctx.config().max_debug_attempts;
        ctx.warn(format!(
            "not repaired in {repairs} attempts; the last version that ran stands: {}",
            failure.headline()
        ));
    }
    Ok(Execution { mishaps, ..execution })
}

/// An error in a line that later agents read.
fn beginning(headline: &str) -> String {
    headline.chars().take(120).collect()
}

/// Finds leaks and lets the agent correct each leaking block.
pub(crate) async fn without_leakage(ctx: &Ctx<'_>, solution: Solution) -> Result<Checked, Stop> {
    check(ctx, solution, None).await
}

async fn check(ctx: &Ctx<'_>, solution: Solution, gain: Option<&Gain<'_>>) -> Result<Checked, Stop> {
    let mut checked = Checked { checked: true, ..Checked::unchecked(solution) };
    if checked.solution.text().trim().is_empty() {
        return Ok(checked);
    }
    let text = checked.solution.text().to_owned();
    let leaks = match agents::detect_leakage(ctx, &checked.solution, gain).await? {
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
        let corrected = agents::correct_leakage(ctx, Name::Correction(count), solution, &block, None).await?;
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
        "leakage check: {found} leak{} found, {}",
        if found == 1 { "" } else { "s" },
        if changed { "script changed" } else { "script unchanged" }
    ));
    Ok(checked)
}

impl Checked {
    /// A solution with the result of its check.
    pub fn of(scored: &Scored) -> Self {
        Self { leaks: scored.leaks(), checked: true, ..Self::unchecked(scored.solution().clone()) }
    }

    /// A text without a leakage check: it is not scored, or checked later.
    pub fn unchecked(solution: Solution) -> Self {
        Self { solution, leaks: false, checked: false, refused: None, blocked: None }
    }
}

/// Runs a script once, without repairs.
pub(crate) async fn attempt(ctx: &Ctx<'_>, script: Checked, purpose: Purpose) -> Result<Execution, Stop> {
    let script = if purpose == Purpose::Score { gate::pass(ctx, script).await? } else { script };
    let Checked { solution, leaks, checked, refused, blocked } = script;
    let rejected = rejection(solution.text()).map(Failure::new);
    let rejected = refused.filter(|_| purpose == Purpose::Score).map(Failure::refused).or(rejected);
    let rejected = blocked.map(Failure::leaking).or(rejected);
    if let Some(failure) = rejected {
        return Ok(Execution { solution, leaks, checked, result: Err(failure), mishaps: Vec::new() });
    }
    for advice in hidden_errors(solution.text()) {
        ctx.warn(advice);
    }
    let run = ctx.run(solution.text(), purpose).await?;
    let result = match failure(&run.value, purpose) {
        Some(failure) => Err(failure.of(&run.value)),
        None => Ok(Ran { outcome: run.value, place: ctx.place().named(Name::Run), at: run.at }),
    };
    Ok(Execution { solution, leaks, checked, result, mishaps: Vec::new() })
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
    if outcome.loss().is_some() {
        return Some(Failure::lost(outcome));
    }
    let failed = |error: String| Some(Failure::new(error));
    // A study prints each effect as soon as it is known.
    let knows_some = outcome.end == ScriptEnd::TimedOut && !outcome.stdout.text().trim().is_empty();
    if purpose == Purpose::Ablation && knows_some {
        return None;
    }
    if outcome.is_error() {
        return failed(error_text(outcome));
    }
    match purpose {
        Purpose::Score if outcome.score.is_none() => Some(no_score()),
        Purpose::Score => outcome.mismatch.clone().and_then(failed),
        Purpose::Ablation | Purpose::Comparison | Purpose::Probe => None,
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
    Failure::new(
        "The script ran, but its output has no line `Final Validation Performance: <number>` with a finite number.",
    )
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

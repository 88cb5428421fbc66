//! Evaluates a solution (h(s) in the paper): leakage check, run, and repair on failure. Only this module creates a [`Scored`] solution.

mod changes;
mod execute;
mod gate;
mod leakage;
mod settings;

use std::sync::Arc;

use crate::abilities::are_rules;
use crate::agents::{self, Excerpt, ScoreComparison};
use crate::composition::Composition;
use crate::ctx::Ctx;
use crate::evaluation::{Evaluation, Failure, Script};
use crate::lessons::number;
use crate::outcomes::RunFacts;
use crate::scored::{Evidence, Scored};
use crate::solution::Solution;
use crate::stop::Stop;

pub(crate) use execute::{Execution, attempt, execute, run_once};
use execute::{failure, no_score};
use leakage::check;
pub(crate) use leakage::without_leakage;
use mle_star_domain::config::LeakageCheck;
use mle_star_domain::effects::{Purpose, ScriptOutcome};
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::{Name, Place};
use mle_star_domain::question::{CombinedBy, Comparison, FileStem, Question};

/// h(s) of the paper: checks the solution for leakage, runs it, and lets the debugger repair it while it fails.
///
/// With `leakage_check: accepted`, it runs first. It is checked if its score would replace that of `rival`, the solution
/// that it competes with, and a corrected text runs again.
pub(crate) async fn evaluate(
    ctx: &Ctx<'_>,
    solution: Result<Solution, Failure>,
    rival: Option<&Scored>,
) -> Result<Evaluation, Stop> {
    evaluate_change(ctx, solution, rival, None).await
}

/// h(s) of a solution that was made from `before` by a change. Agents look for leaks where the change can leak.
pub(crate) async fn evaluate_change(
    ctx: &Ctx<'_>,
    solution: Result<Solution, Failure>,
    rival: Option<&Scored>,
    before: Option<&Scored>,
) -> Result<Evaluation, Stop> {
    let solution = match solution {
        Ok(solution) => solution,
        Err(failure) => return Ok(Evaluation::unwritten(failure)),
    };
    let rule = ctx.acceptance();
    // A check that costs nothing is made of every text.
    if are_rules(ctx.config()) || ctx.config().leakage_check == LeakageCheck::Each {
        let checked = without_leakage(ctx, solution).await?;
        let evaluation = evaluate_checked(ctx, checked).await?;
        return compare(ctx, evaluation, rival).await;
    }
    let execution = execute(ctx, Script::new(solution), Purpose::Score).await?;
    let evaluation = scored(ctx, execution)?;
    let evaluation = compare(ctx, evaluation, rival).await?;
    let replaces = |scored: &&Scored| rival.is_none_or(|rival| scored.replaces(rival, rule));
    let Some(scored) = evaluation.scored.as_ref().ok().filter(replaces) else {
        announce(ctx, &evaluation);
        return Ok(evaluation);
    };
    let gain = ScoreComparison { scored, rival, before };
    let checked = check(ctx, scored.solution().clone(), Some(&gain)).await?;
    if let Some(limit) = checked.refused {
        let refused = Evaluation::refused(checked.solution, limit);
        return Ok(Evaluation { mishaps: evaluation.mishaps, ..refused });
    }
    if checked.solution != *scored.solution() {
        let leak = format!("it scored {} with a leak, which was removed", number(scored.score().value()));
        let ctx = &ctx.below(Place::corrected);
        let corrected = evaluate_checked(ctx, checked).await?;
        let corrected = compare(ctx, corrected, rival).await?;
        let mishaps = evaluation.mishaps.into_iter().chain([leak]).chain(corrected.mishaps).collect();
        return Ok(Evaluation { mishaps, ..corrected });
    }
    let evaluation =
        Evaluation { scored: evaluation.scored.map(|scored| scored.checked(checked.leaks)), ..evaluation };
    announce(ctx, &evaluation);
    Ok(evaluation)
}

/// The evaluation, compared with the solution that it competes with if that validated on other rows.
pub(crate) async fn compare(
    ctx: &Ctx<'_>,
    evaluation: Evaluation,
    rival: Option<&Scored>,
) -> Result<Evaluation, Stop> {
    let Some((scored, rival)) = evaluation.scored.as_ref().ok().zip(rival) else { return Ok(evaluation) };
    let Some(comparison) = on_common_rows(ctx, scored, rival).await? else { return Ok(evaluation) };
    let scored = evaluation.scored.map(|scored| scored.against(rival, comparison));
    Ok(Evaluation { scored, ..evaluation })
}

/// Compares two solutions that validated on other rows, on the rows that both predicted; `None` if they validated on the same
/// rows, if these are not known, or if scripts do not find the program's folds.
pub(crate) async fn on_common_rows(
    ctx: &Ctx<'_>,
    one: &Scored,
    other: &Scored,
) -> Result<Option<Comparison>, Stop> {
    let has_folds = ctx.protocol().is_some_and(|protocol| protocol.has_folds_file);
    if !has_folds || one.other_rows(other).is_none() {
        return Ok(None);
    }
    Ok(Some(ctx.measure(Question::Compare { one: one.kept(), other: other.kept() }).await?.value))
}

/// h(s) of a solution after its leakage check.
pub(crate) async fn evaluate_checked(ctx: &Ctx<'_>, checked: Script) -> Result<Evaluation, Stop> {
    if let Some(limit) = checked.refused {
        return Ok(Evaluation::refused(checked.solution, limit));
    }
    let evaluation = scored(ctx, execute(ctx, checked, Purpose::Score).await?)?;
    announce(ctx, &evaluation);
    Ok(evaluation)
}

/// Runs a solution of the program's own for its score: it is neither checked for leaks nor repaired.
pub(crate) async fn score_once(ctx: &Ctx<'_>, solution: Solution) -> Result<Evaluation, Stop> {
    let script = Script { checked: true, ..Script::new(solution) };
    let evaluation = scored(ctx, run_once(ctx, script, Purpose::Score).await?)?;
    announce(ctx, &evaluation);
    Ok(evaluation)
}

/// The score of a solution that ran.
fn scored(ctx: &Ctx<'_>, execution: Execution) -> Result<Evaluation, Stop> {
    let step = ctx.current_step()?;
    let Execution { solution, leaks, checked, result, mishaps } = execution;
    let scored = result.and_then(|ran| {
        let no_score = || no_score().of(&ran.outcome);
        let score = ran.outcome.value().and_then(|value| ctx.score(value)).ok_or_else(no_score)?;
        let evidence = Evidence {
            step,
            place: ran.place,
            ran_at: ran.at,
            leaks,
            checked,
            facts: RunFacts::from(&ran.outcome),
            measured: ran.outcome.measured.map(Arc::new),
            wrote_submission: ran.outcome.submission.is_some_and(|written| written.findings.is_empty()),
            composition: None,
            against: None,
        };
        Ok(Scored::new(solution.clone(), score, evidence))
    });
    Ok(Evaluation { solution, scored, mishaps })
}

/// The solution that combines others by weights, with the score of their combined predictions. Nothing runs. It is checked for
/// leaks if all its members are.
pub(crate) async fn combine(
    ctx: &Ctx<'_>,
    composition: Arc<Composition>,
    members: &[(Scored, f64)],
    by: CombinedBy,
    measured: Measurement,
) -> Result<Result<Scored, Failure>, Stop> {
    let (step, solution) = (ctx.current_step()?, composition.script());
    let ran_at = members.iter().map(|(member, _)| member.ran_at()).max().unwrap_or_default();
    let seconds = members.iter().map(|(member, _)| member.facts().seconds).sum();
    let (place, script) = (ctx.place().named(Name::Run), solution.text().to_owned());
    let runs = members.iter().map(|(member, weight)| (member.kept(), *weight)).collect();
    let to = FileStem::new(&place, &script);
    let outcome =
        ctx.measure::<Box<ScriptOutcome>>(Question::Combine { runs, by, to, script, measured }).await?;
    let outcome = *outcome.value;
    if let (None, Some(why)) = (&outcome.submission, outcome.notes.first()) {
        return Ok(Err(Failure::new(format!("the predictions cannot be combined: {why}"))));
    }
    if let Some(failure) = failure(&outcome, Purpose::Submission) {
        return Ok(Err(failure));
    }
    let Some(score) = outcome.value().and_then(|value| ctx.score(value)) else {
        return Ok(Err(Failure::new("the combined predictions have no score")));
    };
    let evidence = Evidence {
        step,
        place,
        ran_at,
        wrote_submission: true,
        leaks: members.iter().any(|(member, _)| member.leaks()),
        checked: members.iter().all(|(member, _)| member.is_checked()),
        facts: RunFacts { seconds, ..RunFacts::default() },
        measured: outcome.measured.map(Arc::new),
        composition: Some(composition),
        against: None,
    };
    let scored = Scored::new(solution, score, evidence);
    ctx.scored(&scored);
    Ok(Ok(scored))
}

/// Whether a solution leaks. If it was not checked before, it is checked now; `None` if that is refused or fails.
pub(crate) async fn leaks(ctx: &Ctx<'_>, scored: &Scored) -> Result<Option<bool>, Stop> {
    if scored.is_checked() {
        return Ok(Some(scored.leaks()));
    }
    let leaks = agents::detect_leakage(ctx, &Excerpt::whole(scored.text()), None).await?;
    Ok(leaks.ok().map(|leaks| !leaks.is_empty()))
}

fn announce(ctx: &Ctx<'_>, evaluation: &Evaluation) {
    if let Ok(scored) = &evaluation.scored {
        ctx.scored(scored);
    }
}

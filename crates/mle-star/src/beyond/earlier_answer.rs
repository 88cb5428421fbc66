//! After a limit was raised: keeps the answer from before unless the new one is at least as good.
//!
//! Why: more time must never cost anything. What it may change: the answer, back to the one from before. If the solution
//! from before takes part in the new final choice, the run has compared them by its own rule. If not, as for an ensemble
//! whose inputs have changed, or if what the rule chose could not be finalized, their validation scores are compared.

use crate::ctx::Ctx;
use crate::result::{FinalResult, FinishedRun, SearchModels};
use crate::stop::Stop;
use crate::verdict::{Lineage, lineage};
use mle_star_domain::place::Step;
use mle_star_domain::trust::Trust;

/// The new result, with the answer from before the limit was raised if the new answer is worse.
pub(crate) fn unless_worse(ctx: &Ctx<'_>, new: FinishedRun) -> Result<FinishedRun, Stop> {
    let Some(earlier) = ctx.run.journal.earlier_result()? else { return Ok(new) };
    if !is_worse(ctx, &new, &earlier)? {
        return Ok(new);
    }
    ctx.info(format!(
        "the answer from before the limit was raised stands: it scores {}, and the new one {}",
        earlier.search_score(),
        new.result.search_score()
    ));
    let looks = new.result.trust.as_ref().map_or(0, |trust| trust.holdout_looks);
    let result = FinalResult {
        final_solution: earlier.final_solution,
        expected: earlier.expected,
        submission_path: earlier.submission_path,
        not_run: earlier.not_run,
        not_best: earlier.not_best,
        contamination: earlier.contamination,
        lineage: earlier.lineage,
        leakage_suspected: earlier.leakage_suspected,
        importance: earlier.importance,
        importance_why: earlier.importance_why,
        importance_rows: earlier.importance_rows,
        importance_on: earlier.importance_on,
        trust: earlier.trust.map(|trust| Trust { holdout_looks: looks, ..trust }),
        answer_is_earlier: true,
        model: earlier.model,
        ..new.result
    };
    let model = Err("the submission is from before".to_owned());
    Ok(FinishedRun {
        result,
        submission: None,
        model,
        search_models: SearchModels::default(),
        keeps_earlier_answer: true,
        predictions: None,
    })
}

fn is_worse(ctx: &Ctx<'_>, new: &FinishedRun, earlier: &FinalResult) -> Result<bool, Stop> {
    let had_submission = !earlier.submission_path.is_empty();
    if had_submission != new.submission.is_some() {
        return Ok(had_submission);
    }
    // The rule's choice could not be finalized, so another answer stands.
    let is_chosen = new.result.not_best.is_none();
    let is_own = matches!(earlier.final_step(), Some(Step::Baseline(_)));
    if let Some(step) = earlier.last_search_step().filter(|_| is_chosen && !is_own)
        && still_has(ctx, step)?
    {
        return Ok(false);
    }
    let score = |result: &FinalResult| ctx.score(result.search_score());
    let (Some(before), Some(now)) = (score(earlier), score(&new.result)) else { return Ok(false) };
    let finalized =
        |result: &FinalResult| result.phases_completed.iter().any(|phase| phase == "finalization");
    let is_at_least_as_good = before.beats_or_ties(now);
    Ok(before.beats(now) || (is_at_least_as_good && finalized(earlier) && !finalized(&new.result)))
}

/// Whether the run still has the solution of a step of an earlier result: the step ended before a limit was raised, with this
/// score.
fn still_has(ctx: &Ctx<'_>, known: &Lineage) -> Result<bool, Stop> {
    let Some(step) = known.place.step() else { return Ok(false) };
    let now = lineage(&ctx.history().verdicts, step);
    let is_same = now.last().is_some_and(|now| now.score == known.score);
    Ok(is_same && ctx.run.journal.is_from_before(step)?)
}

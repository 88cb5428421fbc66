//! After a limit was raised: the answer from before stands unless the new one is at least as good.
//!
//! More time must never cost anything. What a continuation finds is compared by the validation score, the rule of the
//! search; a choice on held-out rows that included the answer from before has made this comparison already.

use super::Finished;
use crate::ctx::Ctx;
use crate::metric::Score;
use crate::result::FinalResult;
use crate::stop::Stop;
use crate::trust::{ChoiceCandidate, Trust};

/// The new result, with the answer from before the limit was raised if the new answer is worse.
pub(super) fn unless_worse(ctx: &Ctx<'_>, new: Finished) -> Result<Finished, Stop> {
    let Some(earlier) = ctx.earlier_result()? else { return Ok(new) };
    if !is_worse(ctx, &new, &earlier) {
        return Ok(new);
    }
    ctx.info(format!(
        "the answer from before the limit was raised stands: it scores {}, and the new one {}",
        earlier.validation_score(),
        new.result.validation_score()
    ));
    let looks = new.result.trust.as_ref().map_or(0, |trust| trust.holdout_looks);
    let trust = earlier.trust.map(|trust| Trust { holdout_looks: looks, ..trust });
    let FinalResult {
        final_solution,
        submission_path,
        not_run,
        contamination,
        lineage,
        leakage_suspected,
        ..
    } = earlier;
    let result = FinalResult {
        final_solution,
        submission_path,
        not_run,
        contamination,
        lineage,
        leakage_suspected,
        trust,
        ..new.result
    };
    Ok(Finished { result, submission: None, stays: true })
}

fn is_worse(ctx: &Ctx<'_>, new: &Finished, earlier: &FinalResult) -> bool {
    let had_submission = !earlier.submission_path.is_empty();
    if had_submission != new.submission.is_some() {
        return had_submission;
    }
    if compared_on_held_out_rows(&new.result, earlier) {
        return false;
    }
    let score = |result: &FinalResult| ctx.score(result.validation_score());
    let (Some(before), Some(now)) = (score(earlier), score(&new.result)) else { return false };
    let finalized =
        |result: &FinalResult| result.phases_completed.iter().any(|phase| phase == "finalization");
    before.beats(now) || (is_tie(before, now) && finalized(earlier) && !finalized(&new.result))
}

fn is_tie(one: Score, other: Score) -> bool {
    one.beats_or_ties(other) && other.beats_or_ties(one)
}

/// Whether held-out rows chose the new answer from solutions that include the earlier one.
fn compared_on_held_out_rows(new: &FinalResult, earlier: &FinalResult) -> bool {
    let candidates = |result: &FinalResult| {
        result.trust.iter().flat_map(|trust| trust.choice.candidates.clone()).collect::<Vec<_>>()
    };
    let Some(before) = candidates(earlier).into_iter().next() else { return false };
    let is_it = |one: &ChoiceCandidate| one.place == before.place && one.validation == before.validation;
    candidates(new).iter().any(|one| one.holdout.is_some() && is_it(one))
}

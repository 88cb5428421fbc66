//! Section 3.4 of the MLE-STAR paper: the data check of the initial solution, and the last leakage check of s_0, the
//! solution that Phase 1 ends with.

use mle_star_domain::place::Step;

use crate::agents;
use crate::ctx::Ctx;
use crate::evaluate::{evaluate, evaluate_checked, without_leakage};
use crate::evaluation::{Evaluation, Failure, Script};
use crate::library::Library;
use crate::scored::Scored;
use crate::stop::Stop;
use crate::verdict::Verdict;

/// s_0 after both checks.
pub(crate) struct CheckedSolution {
    pub best: Scored,
    /// Whether a suspected leak could not be removed.
    pub leakage_suspected: bool,
}

/// Both checks. What they score becomes part of the library, and a solution that turns out to leak leaves it.
pub(crate) async fn check(
    ctx: &Ctx<'_>,
    best: Scored,
    library: &mut Library,
) -> Result<CheckedSolution, Stop> {
    let best = use_all_data(ctx, best, library).await?;
    check_for_leaks(ctx, best, library).await
}

/// Calls `A_data` once. Its revision is kept if it runs, even with a worse score.
async fn use_all_data(ctx: &Ctx<'_>, best: Scored, library: &mut Library) -> Result<Scored, Stop> {
    let ctx = &ctx.at(Step::DataCheck, [&best]);
    let revising = async {
        let Some(revised) = agents::data(ctx, &best).await? else { return Ok(None) };
        evaluate(ctx, Ok(revised), None).await.map(Some)
    };
    let revised = ctx.step_always(revising, |end| revision(end, &best)).await?;
    revised.iter().for_each(|revised| library.add(revised));
    Ok(revised.unwrap_or(best))
}

/// The revised solution if it runs, and the verdict.
fn revision(end: Result<Option<Evaluation>, String>, best: &Scored) -> (Option<Scored>, Verdict) {
    let scored = match end {
        Ok(None) => {
            return (None, Verdict::default().made_from([best]).best(best).note("no data is left unused"));
        }
        Ok(Some(evaluation)) => evaluation.scored,
        Err(cause) => Evaluation::broken(cause).scored,
    };
    let warned =
        |failure: &Failure| format!("the revision that uses more data does not run: {}", failure.headline());
    let verdict = Verdict::of(&scored, scored.is_ok())
        .made_from([best])
        .note("data left unused is built in")
        .telling_difference(scored.as_ref().ok(), best)
        .warning(scored.as_ref().err().map(warned))
        .best(scored.as_ref().unwrap_or(best));
    (scored.ok(), verdict)
}

/// The leakage check of s_0 itself.
async fn check_for_leaks(
    ctx: &Ctx<'_>,
    best: Scored,
    library: &mut Library,
) -> Result<CheckedSolution, Stop> {
    let ctx = &ctx.at(Step::LeakageCheck, [&best]);
    let checking = async {
        let script = without_leakage(ctx, best.solution().clone()).await?;
        if script.solution == *best.solution() {
            return Ok((script, None));
        }
        // At once: a limit may end the run before the corrected script has run.
        ctx.history().forget_submission(&best);
        let corrected = ctx.isolated(Box::pin(evaluate_checked(ctx, script.clone()))).await?;
        Ok((script, Some(corrected.unwrap_or_else(Evaluation::broken))))
    };
    let check = ctx.step_always(checking, |end| last_check(end, &best)).await?;
    if !check.is_leaking {
        return Ok(CheckedSolution { best, leakage_suspected: false });
    }
    ctx.history().forget_submission(&best);
    library.remove(&best);
    check.corrected.iter().for_each(|corrected| library.add(corrected));
    let leakage_suspected = check.leakage_suspected;
    // Without a corrected solution, the leaking one goes on, marked as such.
    Ok(CheckedSolution { best: check.corrected.unwrap_or_else(|| best.checked(true)), leakage_suspected })
}

/// What the leakage check of s_0 came to.
struct LastCheck {
    /// Whether a leak was found.
    is_leaking: bool,
    /// The solution without the leak, if it runs.
    corrected: Option<Scored>,
    /// Whether a leak may remain in the solution that goes on.
    leakage_suspected: bool,
}

fn last_check(end: Result<(Script, Option<Evaluation>), String>, best: &Scored) -> (LastCheck, Verdict) {
    let unchanged = |is_leaking: bool, note: &str| {
        let verdict = Verdict::default().made_from([best]).best(best).note(note);
        (LastCheck { is_leaking, corrected: None, leakage_suspected: is_leaking }, verdict)
    };
    match end {
        Err(cause) => unchanged(false, &cause),
        Ok((Script { leaks: true, .. }, None)) => unchanged(true, "a leak is suspected"),
        Ok((Script { refused: Some(_), .. } | Script { is_unknown: true, .. }, None)) => {
            unchanged(false, "not checked again for leakage")
        }
        Ok((_, None)) => unchanged(false, "no leak found"),
        Ok((script, Some(Evaluation { scored, .. }))) => {
            let leakage_suspected = script.leaks || scored.is_err();
            let verdict = Verdict::of(&scored, scored.is_ok()).made_from([best]).note("leakage removed");
            let verdict = verdict.best(scored.as_ref().unwrap_or(best));
            (LastCheck { is_leaking: true, corrected: scored.ok(), leakage_suspected }, verdict)
        }
    }
}

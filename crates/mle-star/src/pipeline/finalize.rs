//! Finalization: subsampling removed, submission script written, run and checked.

use crate::agents;
use crate::answers::Verdict;
use crate::ctx::Ctx;
use crate::effects::Purpose;
use crate::evaluate::{Ran, execute, without_leakage};
use crate::metric::Score;
use crate::place::Place;
use crate::result::SolutionScript;
use crate::solution::{Scored, Solution};
use crate::stop::Stop;

/// How the run ends.
pub(super) struct Last {
    /// The submission script, or the validation script when no submission could be made of it.
    pub solution: SolutionScript,
    /// The place of the run that wrote a valid submission.
    pub submission: Option<Place>,
    /// The step the final solution comes from.
    pub step: Place,
    pub contamination: Option<Verdict>,
    pub leakage_suspected: bool,
    /// Was it done without falling back?
    pub completed: bool,
}

/// Section 3.4 and Figures 25 to 28: the best solution becomes a submission.
pub(super) async fn finalize(ctx: &Ctx<'_>, best: &Scored) -> Result<Last, Stop> {
    let whole = without_subsampling(ctx, best.solution().clone()).await?;
    let script = agents::test(ctx, &whole).await?;
    let checked = without_leakage(ctx, script).await?;
    let execution = execute(ctx, checked, Purpose::Submission).await?;
    let mut last = match execution.result {
        Ok(ran) => submitted(ctx, best, &execution.solution, ran, execution.leaks),
        Err(failure) => {
            ctx.warn(format!("no submission script could be made: {}", failure.headline()));
            fall_back(best)
        }
    };
    last.contamination = compare_with_references(ctx, &last.solution).await?;
    Ok(last)
}

fn submitted(ctx: &Ctx<'_>, best: &Scored, solution: &Solution, ran: Ran, leaks: bool) -> Last {
    let score = ran.outcome.score.and_then(|value| ctx.score(value));
    ctx.descends_to(ctx.place(), score, &[best]);
    Last {
        solution: SolutionScript {
            score: score.map(Score::value),
            is_executable: true,
            created_at: ran.at.to_string(),
            ..SolutionScript::failed(solution)
        },
        submission: Some(ran.place),
        step: ctx.place().clone(),
        contamination: None,
        leakage_suspected: leaks,
        completed: true,
    }
}

/// The best validation script as it is, with the submission that its own run left, if it was valid.
fn fall_back(best: &Scored) -> Last {
    Last {
        solution: SolutionScript::from(best),
        submission: best.wrote_submission().then(|| best.place().clone()),
        step: best.step(),
        contamination: None,
        leakage_suspected: best.leaks(),
        completed: false,
    }
}

/// Figures 26 and 27: the block that subsamples, rewritten without it. What cannot be found stays.
async fn without_subsampling(ctx: &Ctx<'_>, solution: Solution) -> Result<Solution, Stop> {
    let Some(block) = agents::subsampling_extract(ctx, &solution).await? else { return Ok(solution) };
    let Some(code) = agents::subsampling_remove(ctx, &block).await? else { return Ok(solution) };
    Ok(solution.replace_block(&block, &code).unwrap_or(solution))
}

/// Figure 28: `Same` when any reference says so, `Novel` when all do, else not clear.
async fn compare_with_references(ctx: &Ctx<'_>, solution: &SolutionScript) -> Result<Option<Verdict>, Stop> {
    let script = Solution::new(solution.content.clone(), solution.phase);
    let mut verdicts = Vec::new();
    for (index, reference) in ctx.task().reference_discussions.iter().enumerate() {
        if !reference.trim().is_empty() {
            verdicts.push(agents::contamination(ctx, index, &script, reference).await?);
        }
    }
    Ok(overall(&verdicts))
}

fn overall(verdicts: &[Option<Verdict>]) -> Option<Verdict> {
    if verdicts.contains(&Some(Verdict::Same)) {
        return Some(Verdict::Same);
    }
    let all_novel = !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == Some(Verdict::Novel));
    all_novel.then_some(Verdict::Novel)
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Novel, Same};
    use super::overall;

    #[test]
    fn one_same_is_enough_and_novel_needs_all() {
        let check = |verdicts: &[_], expected| assert_eq!(overall(verdicts), expected, "{verdicts:?}");
        check(&[], None);
        check(&[Some(Novel)], Some(Novel));
        check(&[Some(Novel), Some(Same)], Some(Same));
        check(&[Some(Novel), None], None);
        check(&[None, Some(Same)], Some(Same));
    }
}

//! Finalization: removes subsampling, then writes, runs and checks the submission script.

use crate::agents;
use crate::answers::Contamination;
use crate::ctx::Ctx;
use crate::effects::Purpose;
use crate::evaluate::{Ran, execute, without_leakage};
use crate::metric::Score;
use crate::place::{Place, Step};
use crate::result::SolutionScript;
use crate::solution::{Scored, Solution};
use crate::stop::Stop;
use crate::verdict::{Best, Verdict};

/// The outcome of finalization.
pub(super) struct Last {
    /// The submission script, or the validation script if it could not be turned into a submission.
    pub solution: SolutionScript,
    /// The place of the run that wrote a valid submission.
    pub submission: Option<Place>,
    /// The step the final solution comes from.
    pub step: Step,
    pub contamination: Option<Contamination>,
    pub leakage_suspected: bool,
    /// Whether it succeeded without a fallback.
    pub completed: bool,
}

/// Section 3.4 and Figures 25 to 28: turns the best solution into a submission.
pub(super) async fn finalize(ctx: &Ctx<'_>, best: &Scored) -> Result<Last, Stop> {
    let ctx = &ctx.begin(Step::Finalization);
    let whole = without_subsampling(ctx, best.solution()).await?;
    let script = agents::test(ctx, &whole).await?;
    let checked = without_leakage(ctx, script).await?;
    let execution = execute(ctx, checked, Purpose::Submission).await?;
    let subsampled = whole != *best.solution();
    let (mut last, verdict) = match execution.result {
        Ok(ran) => submitted(ctx, &execution.solution, ran, execution.leaks),
        Err(failure) => {
            let score = best.score().value();
            ctx.warn(format!(
                "no submission script could be made: {}; the solution of {} stands, score {score}",
                failure.headline(),
                best.step()
            ));
            (fall_back(best), Verdict { limit: failure.limit, ..Verdict::default() })
        }
    };
    let note = changes(best.solution(), &last.solution.content, subsampled);
    ctx.close(verdict.made_from([best]).note(note))?;
    last.contamination = compare_with_references(ctx, &last.solution).await?;
    Ok(last)
}

/// The outcome after a failed finalization: the best validation script.
pub(super) fn after_failure(ctx: &Ctx<'_>, best: &Scored, cause: String) -> Result<Last, Stop> {
    ctx.close_after_failure(Verdict::default().made_from([best]).note(cause))?;
    Ok(fall_back(best))
}

fn submitted(ctx: &Ctx<'_>, solution: &Solution, ran: Ran, leaks: bool) -> (Last, Verdict) {
    let score = ran.outcome.score.and_then(|value| ctx.score(value)).map(Score::value);
    let best_now = score.map(|score| Best { step: Step::Finalization, run: ran.place.clone(), score });
    let last = Last {
        solution: SolutionScript {
            score,
            is_executable: true,
            created_at: ran.at.to_string(),
            ..SolutionScript::failed(solution)
        },
        submission: Some(ran.place),
        step: Step::Finalization,
        contamination: None,
        leakage_suspected: leaks,
        completed: true,
    };
    (last, Verdict { score, kept: true, best: best_now, ..Verdict::default() })
}

/// The unchanged best validation script, with the submission of its own run if that was valid.
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

/// Figures 26 and 27: rewrites the block that subsamples. A block that cannot be found stays.
async fn without_subsampling(ctx: &Ctx<'_>, solution: &Solution) -> Result<Solution, Stop> {
    let Some(block) = agents::subsampling_extract(ctx, solution).await? else {
        ctx.info("no subsampling is removed");
        return Ok(solution.clone());
    };
    let Some(code) = agents::subsampling_remove(ctx, &block).await? else { return Ok(solution.clone()) };
    let replaced = solution.replace_block(&block, &code).unwrap_or_else(|_| solution.clone());
    let (before, after) = (solution.text().chars().count(), replaced.text().chars().count());
    ctx.info(format!("subsampling removed: {before} characters before, {after} after"));
    Ok(replaced)
}

/// How the submission script differs from the solution it was made from.
fn changes(best: &Solution, script: &str, subsampled: bool) -> String {
    let lines =
        |text: &str, other: &str| text.lines().filter(|line| !other.lines().any(|one| one == *line)).count();
    let (added, removed) = (lines(script, best.text()), lines(best.text(), script));
    let subsampling = if subsampled { "subsampling removed" } else { "no subsampling removed" };
    format!("{subsampling}; {added} lines added, {removed} removed")
}

/// Figure 28: `Same` if the comparison with any reference says so, `Novel` if all do, otherwise unclear.
async fn compare_with_references(
    ctx: &Ctx<'_>,
    solution: &SolutionScript,
) -> Result<Option<Contamination>, Stop> {
    let script = Solution::new(solution.content.clone(), solution.phase);
    let references = (0..).zip(&ctx.task().reference_discussions);
    let mut verdicts = Vec::new();
    for (index, reference) in references.filter(|(_, text)| !text.trim().is_empty()) {
        verdicts.push(agents::contamination(ctx, index, &script, reference).await?);
    }
    let overall = overall(&verdicts);
    ctx.info(match verdicts.len() {
        0 => "no references to compare the solution with".to_owned(),
        count => {
            let words: Vec<&str> = verdicts.iter().map(|verdict| in_words(*verdict)).collect();
            format!("compared with {count} references: {}; overall {}", words.join(", "), in_words(overall))
        }
    });
    Ok(overall)
}

fn in_words(verdict: Option<Contamination>) -> &'static str {
    match verdict {
        Some(Contamination::Novel) => "Novel",
        Some(Contamination::Same) => "Same",
        None => "unclear",
    }
}

fn overall(verdicts: &[Option<Contamination>]) -> Option<Contamination> {
    if verdicts.contains(&Some(Contamination::Same)) {
        return Some(Contamination::Same);
    }
    let all_novel =
        !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == Some(Contamination::Novel));
    all_novel.then_some(Contamination::Novel)
}

#[cfg(test)]
mod tests {
    use super::{changes, overall};
    use crate::answers::Contamination::{Novel, Same};
    use crate::solution::{Solution, SolutionPhase};

    #[test]
    fn one_same_is_enough_and_novel_needs_all() {
        let check = |verdicts: &[_], expected| assert_eq!(overall(verdicts), expected, "{verdicts:?}");
        check(&[], None);
        check(&[Some(Novel)], Some(Novel));
        check(&[Some(Novel), Some(Same)], Some(Same));
        check(&[Some(Novel), None], None);
        check(&[None, Some(Same)], Some(Same));
    }

    #[test]
    fn changes_are_counted_in_lines() {
        let best = Solution::new("load()\nfit()\nscore()".to_owned(), SolutionPhase::Ensemble);
        let script = "load()\nload_test()\nfit()\npredict()\nsubmit()";
        assert_eq!(changes(&best, script, true), "subsampling removed; 3 lines added, 1 removed");
        assert_eq!(changes(&best, best.text(), false), "no subsampling removed; 0 lines added, 0 removed");
    }
}

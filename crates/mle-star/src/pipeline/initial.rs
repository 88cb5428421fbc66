//! Algorithm 1: the initial solution.

use futures_util::future::try_join_all;

use super::retrieve::{Retrieved, retrieve};
use crate::agents;
use crate::ctx::Ctx;
use crate::evaluate::{evaluate, evaluate_checked, without_leakage};
use crate::evaluation::Evaluation;
use crate::journal::Line;
use crate::result::Merge;
use crate::solution::{Scored, Solution, SolutionPhase};
use crate::stop::Stop;
use crate::verdict::Verdict;
use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::metric::sort_best_first;
use mle_star_domain::place::Step;

/// The result of Phase 1.
pub(super) struct Initial {
    pub retrieved: Retrieved,
    pub candidates: Vec<Evaluation>,
    pub merges: Vec<Merge>,
    /// s_0.
    pub best: Scored,
    pub leakage_suspected: bool,
}

impl Initial {
    /// The models to try after refinement: those that Phase 1 had no time to run, and those that it had no place for.
    /// None if the retriever named only as many as wanted.
    pub fn further_models(&self) -> Vec<RetrievedModel> {
        let Retrieved { models, others, .. } = &self.retrieved;
        if others.is_empty() {
            return Vec::new();
        }
        // A candidate that ran and was stopped has a mishap: the error that was to be repaired.
        let was_refused = |candidate: &Evaluation| {
            candidate.mishaps.is_empty()
                && candidate.scored.as_ref().is_err_and(|failure| failure.limit.is_some())
        };
        let refused = models.iter().zip(&self.candidates).filter(|(_, candidate)| was_refused(candidate));
        refused.map(|(model, _)| model).chain(others).cloned().collect()
    }
}

/// Algorithm 1, then the data check and the last leakage check of the paper's section 3.4.
pub(super) async fn initial_solution(ctx: &Ctx<'_>) -> Result<Initial, Stop> {
    let retrieved = retrieve(ctx).await?; // line 1
    let candidates = evaluate_candidates(ctx, &retrieved.models).await?; // 2-5
    let mut ranked: Vec<Scored> = candidates.iter().filter_map(|one| one.scored.clone().ok()).collect();
    sort_best_first(&mut ranked, Scored::score); // 7
    report_order(ctx, &ranked);
    let ranked = ctx.to_build_on(ranked)?;
    ctx.rest_on(Line::Merges, &ranked)?;
    let mut ranked = ranked.into_iter();
    let Some(mut best) = ranked.next() else { return Err(no_candidate(ctx, &retrieved.models)?) }; // 6

    let mut merges = Vec::new();
    for (count, reference) in (1..).zip(ranked) {
        let ctx = &ctx.at(Step::Merge(count)); // 8
        ctx.builds_on([&best, &reference]);
        if let Some(limit) = ctx.skip(ctx.config().num_retrieved_models - 1)? {
            ctx.close(Verdict::skipped(limit).best(&best))?;
            break;
        }
        let merging = async {
            let merged = agents::merger(ctx, &best, &reference).await?; // 9
            evaluate(ctx, merged, Some(&best)).await // 10
        };
        let merged = ctx.isolated(Box::pin(merging)).await?.unwrap_or_else(Evaluation::broken);
        let Evaluation { scored: merged, mishaps, .. } = merged;
        let rule = ctx.config().acceptance;
        let accepted = match &merged {
            Ok(merged) => merged.replaces(&best, rule) && ctx.may_build_on(merged)?, // 11
            Err(_) => false,
        };
        let merge = Merge::of(&reference, merged.as_ref().ok(), accepted);
        let verdict = Verdict::of(&merged, accepted).compared(merged.as_ref().ok(), Some(&best));
        let verdict = verdict.made_from([&best, &reference]).note(merge.words(&mishaps));
        let verdict = verdict.remark(merged.as_ref().ok().and_then(|merged| merged.other_rows(&best)));
        merges.push(merge);
        match merged {
            Ok(merged) if accepted => {
                ctx.warn_of_other_rows(&merged, Some(&best));
                ctx.close(verdict.best(&merged))?;
                best = merged; // 12-13
            }
            _ => {
                ctx.close(verdict.best(&best))?;
                break; // 14-16
            }
        }
    }
    ctx.rest_on(Line::Checks, [&best])?;
    let best = use_all_data(&ctx.begin(Step::DataCheck), best).await?;
    let (best, leakage_suspected) = check_once_more(&ctx.begin(Step::LeakageCheck), best).await?;
    ctx.end_phase(Some(&best))?;
    Ok(Initial { retrieved, candidates, merges, best, leakage_suspected }) // 18
}

/// Lines 2-5 for all models concurrently, because they are independent. The user's own solution comes last.
async fn evaluate_candidates(ctx: &Ctx<'_>, models: &[RetrievedModel]) -> Result<Vec<Evaluation>, Stop> {
    let candidates = (0..).zip(models).map(async |(index, model)| {
        let ctx = &ctx.at(Step::Candidate(index));
        let candidate = ctx.isolated(Box::pin(evaluate_candidate(ctx, model))).await?;
        let broken = |cause| Evaluation::broken(cause).of_model(&model.model_name);
        close_candidate(ctx, candidate.unwrap_or_else(broken), &model.model_name)
    });
    let mut candidates = try_join_all(candidates).await?;
    if let Some(baseline) = &ctx.task().baseline_solution {
        let ctx = &ctx.begin(Step::Candidate(u32::try_from(models.len()).unwrap_or(u32::MAX)));
        let solution = Solution::new(baseline.clone(), SolutionPhase::Init).of_model("baseline");
        let candidate = ctx.isolated(Box::pin(evaluate(ctx, solution, None))).await?;
        let broken = |cause| Evaluation::broken(cause).of_model("baseline");
        candidates.push(close_candidate(ctx, candidate.unwrap_or_else(broken), "baseline")?);
    }
    Ok(candidates)
}

pub(super) async fn evaluate_candidate(ctx: &Ctx<'_>, model: &RetrievedModel) -> Result<Evaluation, Stop> {
    if let Some(limit) = ctx.skip(ctx.config().num_retrieved_models)? {
        let solution = Solution::new(String::new(), SolutionPhase::Init).of_model(&model.model_name);
        return Ok(Evaluation::refused(solution, limit));
    }
    let solution = agents::init(ctx, model).await?; // 3
    evaluate(ctx, solution, None).await // 4
}

fn close_candidate(ctx: &Ctx<'_>, candidate: Evaluation, model: &str) -> Result<Evaluation, Stop> {
    if let Err(failure) = &candidate.scored {
        ctx.warn(format!("candidate {model} is left out: {}", failure.headline()));
    }
    ctx.close(Verdict::of(&candidate.scored, candidate.scored.is_ok()).note(model))?;
    Ok(candidate)
}

/// Calls `A_data` once. Its revision is kept if it runs, even with a worse score.
async fn use_all_data(ctx: &Ctx<'_>, best: Scored) -> Result<Scored, Stop> {
    let revising = async {
        let Some(revised) = agents::data(ctx, &best).await? else { return Ok(None) };
        Ok(Some(evaluate(ctx, revised, None).await?))
    };
    let revised = ctx.isolated(Box::pin(revising)).await?;
    let Some(Evaluation { scored, .. }) = revised.unwrap_or_else(|cause| Some(Evaluation::broken(cause)))
    else {
        ctx.close(Verdict::default().made_from([&best]).best(&best).note("no data is left unused"))?;
        return Ok(best);
    };
    let verdict =
        Verdict::of(&scored, scored.is_ok()).made_from([&best]).note("data left unused is built in");
    let verdict = verdict.telling_difference(scored.as_ref().ok(), &best);
    if let Err(failure) = &scored {
        ctx.warn(format!("the revision that uses more data does not run: {}", failure.headline()));
    }
    let best = scored.unwrap_or(best);
    ctx.close(verdict.best(&best))?;
    Ok(best)
}

/// The leakage check of s_0 itself. Returns whether a suspected leak could not be removed.
async fn check_once_more(ctx: &Ctx<'_>, best: Scored) -> Result<(Scored, bool), Stop> {
    let checked = match ctx.isolated(without_leakage(ctx, best.solution().clone())).await? {
        Ok(checked) => checked,
        Err(cause) => {
            ctx.close(Verdict::default().made_from([&best]).best(&best).note(cause))?;
            return Ok((best, false));
        }
    };
    let leaks = checked.leaks;
    if checked.solution == *best.solution() {
        let note = match (checked.refused, leaks) {
            (Some(_), _) => "not checked again for leakage",
            (None, true) => "a leak is suspected",
            (None, false) => "no leak found",
        };
        ctx.close(Verdict::default().made_from([&best]).best(&best).note(note))?;
        let best = if leaks { ctx.leaking(best) } else { best };
        return Ok((best, leaks));
    }
    let best = ctx.leaking(best);
    let scored = ctx.isolated(Box::pin(evaluate_checked(ctx, checked))).await?;
    let Evaluation { scored, .. } = scored.unwrap_or_else(Evaluation::broken);
    let verdict = Verdict::of(&scored, scored.is_ok()).made_from([&best]).note("leakage removed");
    let leaks = leaks || scored.is_err();
    let best = scored.unwrap_or(best);
    ctx.close(verdict.best(&best))?;
    Ok((best, leaks))
}

fn report_order(ctx: &Ctx<'_>, ranked: &[Scored]) {
    let one = |scored: &Scored| {
        let model = scored.solution().source_model().unwrap_or_default();
        format!("{model} {}", scored.score().value())
    };
    ctx.info(format!("candidates, best first: {}", ranked.iter().map(one).collect::<Vec<_>>().join(", ")));
}

fn no_candidate(ctx: &Ctx<'_>, models: &[RetrievedModel]) -> Result<Stop, Stop> {
    if let Some(limit) = ctx.limit_reached()? {
        return Ok(Stop::Limit(limit));
    }
    let count = models.len() + usize::from(ctx.task().baseline_solution.is_some());
    let names: Vec<&str> = models.iter().map(|model| model.model_name.as_str()).collect();
    ctx.warn(format!("no candidate runs: {}", names.join(", ")));
    Ok(Stop::NoSolution(format!("Phase 1 failed: all {count} candidates produced execution errors")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Failure;
    use crate::testing::scored_as;
    use mle_star_domain::answers::Retrieval;
    use mle_star_domain::effects::Limit;

    #[test]
    fn models_without_time_come_before_those_without_a_place() {
        let models = |names: &[&str]| -> Vec<RetrievedModel> {
            let model = |name: &&str| RetrievedModel {
                model_name: (*name).to_owned(),
                example_code: String::new(),
                sources: Vec::new(),
            };
            names.iter().map(model).collect()
        };
        let further = |others: &[&str]| {
            let best = scored_as("a", 0.5).unwrap();
            let solution = best.solution().clone();
            let failed = |text: &str, limit, mishaps: &[&str]| Evaluation {
                solution: Solution::new(text.to_owned(), SolutionPhase::Init),
                scored: Err(Failure { limit, ..Failure::new("it failed") }),
                mishaps: mishaps.iter().map(|mishap| (*mishap).to_owned()).collect(),
            };
            let candidates = vec![
                Evaluation { solution, scored: Ok(best.clone()), mishaps: Vec::new() },
                failed("", Some(Limit::Share), &[]),
                failed("stopped()", Some(Limit::Time), &["repaired after the script was stopped"]),
                failed("wrong()", None, &[]),
                failed("waited()", Some(Limit::Share), &[]),
            ];
            let (models, others) = (models(&["a", "b", "c", "d", "e"]), models(others));
            let retrieved = Retrieved { models, others, retrieval: Retrieval::Rules, lookups: Vec::new() };
            let merges = Vec::new();
            let initial = Initial { retrieved, candidates, merges, best, leakage_suspected: false };
            let names = initial.further_models().into_iter().map(|model| model.model_name);
            names.collect::<Vec<String>>()
        };
        assert_eq!(further(&["f", "g"]), ["b", "e", "f", "g"]);
        assert_eq!(further(&[]), Vec::<String>::new());
    }
}

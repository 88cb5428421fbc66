//! Before the ensembles: writes and scores solutions for models that Phase 1 did not try.
//!
//! Why: Phase 1 may have had no time for a model, and agents whose calls are free know more models than Phase 1 tries.
//! Most of these solutions lose alone and help in a combination. What it may change: it adds solutions to the library,
//! and one of them may become the answer, if it is the best of the run.

use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::config::{Acceptance, Switch};
use mle_star_domain::place::{Section, Step};

use crate::agents::Retrieved;
use crate::ctx::Ctx;
use crate::evaluate::compare;
use crate::evaluation::{Evaluation, StepEnd};
use crate::library::Library;
use crate::paper::initial::candidate;
use crate::scored::Scored;
use crate::stop::Stop;
use crate::verdict::{Best, Verdict};

/// The models to try after refinement: those that Phase 1 had no time to run, and those that it had no place for.
/// None if the retriever named only as many as wanted.
pub(crate) fn further_models(retrieved: &Retrieved, candidates: &[Evaluation]) -> Vec<RetrievedModel> {
    let Retrieved { models, others, .. } = retrieved;
    if others.is_empty() {
        return Vec::new();
    }
    // A candidate that ran and was stopped has a mishap: the error that was to be repaired.
    let was_refused = |candidate: &Evaluation| {
        candidate.mishaps.is_empty()
            && candidate.scored.as_ref().is_err_and(|failure| failure.limit.is_some())
    };
    let refused = models.iter().zip(candidates).filter(|(_, candidate)| was_refused(candidate));
    refused.map(|(model, _)| model).chain(others).cloned().collect()
}

/// The best solution for a model that Phase 1 had no time or no place for. They are tried while there is time, at most as many as
/// Phase 2 has attempts. Only the retriever of the offline agents names such models, because others cost money.
pub(crate) async fn try_further_models(
    ctx: &Ctx<'_>,
    models: &[RetrievedModel],
    library: &mut Library,
) -> Result<Option<Scored>, Stop> {
    let mut best: Option<Scored> = None;
    let config = ctx.config();
    let attempts = config.outer_loop_steps.saturating_mul(config.inner_loop_steps);
    let most = config.num_parallel_solutions.saturating_mul(attempts);
    let names: Vec<&str> = models.iter().map(|one| one.model_name.as_str()).collect();
    ctx.declare_inputs(Section::Extras, &names)?;
    let wanted = if config.ensemble_selection == Switch::On { most } else { 0 };
    for (index, model) in (0..wanted).zip(models) {
        let ctx = &ctx.at(Step::Extra(index), []);
        let trying = async {
            let candidate = candidate(ctx, model).await?;
            let compares = ctx.protocol().is_some_and(|protocol| protocol.like_rows);
            compare(ctx, candidate, best.as_ref().filter(|_| compares)).await
        };
        let end = |end: StepEnd<Evaluation>| {
            let candidate = end.evaluation();
            let made = candidate.scored.as_ref().ok();
            let is_better =
                |made: &&Scored| best.as_ref().is_none_or(|best| made.replaces(best, Acceptance::Paper));
            let best = made.filter(is_better).or(best.as_ref()).cloned();
            let verdict = Verdict::of(&candidate.scored, candidate.scored.is_ok()).note(&model.model_name);
            ((candidate, best.clone()), Verdict { best: best.as_ref().map(Best::from), ..verdict })
        };
        let (candidate, now) = ctx.step(trying, end).await?;
        best = now;
        library.add_evaluated([&candidate]);
        if candidate.limit().is_some() {
            break;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Failure;
    use crate::solution::{Solution, SolutionPhase};
    use crate::testing::scored;
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
            let best = scored("a").unwrap();
            let solution = best.solution().clone();
            let failed = |text: &str, limit, mishaps: &[&str]| Evaluation {
                solution: Solution::new(text.to_owned(), SolutionPhase::Init),
                scored: Err(Failure { limit, ..Failure::new("it failed") }),
                mishaps: mishaps.iter().map(|mishap| (*mishap).to_owned()).collect(),
            };
            let candidates = vec![
                Evaluation { solution, scored: Ok(best), mishaps: Vec::new() },
                failed("", Some(Limit::Share), &[]),
                failed("stopped()", Some(Limit::Time), &["repaired after the script was stopped"]),
                failed("wrong()", None, &[]),
                failed("waited()", Some(Limit::Share), &[]),
            ];
            let (models, others) = (models(&["a", "b", "c", "d", "e"]), models(others));
            let retrieved = Retrieved { models, others, retrieval: Retrieval::Rules, lookups: Vec::new() };
            let names = further_models(&retrieved, &candidates).into_iter().map(|model| model.model_name);
            names.collect::<Vec<String>>()
        };
        assert_eq!(further(&["f", "g"]), ["b", "e", "f", "g"]);
        assert_eq!(further(&[]), Vec::<String>::new());
    }
}

//! The four phases: the algorithms, each with the stages around it.

use futures_util::future::try_join_all;
use mle_star_domain::effects::{DataView, Purpose};
use mle_star_domain::metric::last_best;
use mle_star_domain::place::{Place, Section, Step};
use mle_star_domain::protocol::Shift;

use super::search::{Ensemble, Search};
use crate::abilities::are_rules;
use crate::beyond::baseline::{Baseline, baseline};
use crate::beyond::fallback::FinalAnswer;
use crate::beyond::further_models::{further_models, try_further_models};
use crate::beyond::like_rows::best_on_like_rows;
use crate::beyond::provisional::answer_so_far;
use crate::beyond::submission;
use crate::beyond::{choice, probes, selection};
use crate::ctx::Ctx;
use crate::event::Event;
use crate::library::Library;
use crate::paper::checks;
use crate::paper::ensemble::{Rounds, ensemble};
use crate::paper::initial::{Initial, initial_solution};
use crate::paper::refine::{Refinement, refine};
use crate::result::{EnsembleAttempt, PathRecord, StepRecord};
use crate::scored::Scored;
use crate::stop::Stop;
use crate::verdict::Best;

/// Phase 1: the baseline, Algorithm 1, then the checks of s_0. If a limit ends it without a solution, the baseline stands.
pub(super) async fn initial(ctx: &Ctx<'_>) -> Result<Search, Stop> {
    let baseline = baseline(ctx).await?;
    compare_tables(ctx).await?;
    match (Box::pin(solutions(ctx, &baseline)).await, baseline.best()) {
        (Err(Stop::Limit(limit)), Some(best)) => {
            let before = format!("the {} ended the search before its first solution", limit.name());
            ctx.warn(format!("{before}, so the baseline stands"));
            Ok(Search::of_baseline(baseline, best))
        }
        (made, _) => made,
    }
}

/// Compares training and test table with the program's own script, before the first step. A comparison that fails is a warning.
async fn compare_tables(ctx: &Ctx<'_>) -> Result<(), Stop> {
    let Some(protocol) = ctx.run.frozen.protocol.as_ref().filter(|protocol| !protocol.comparison.is_empty())
    else {
        return Ok(());
    };
    let ctx = ctx.below(|_| Place::tables()).seeing(DataView::Compared);
    let outcome = ctx.run(&protocol.comparison, Purpose::Comparison).await?.value;
    match Shift::parse(&outcome.stdout.text()).filter(|_| !outcome.is_error()) {
        Some(shift) => {
            shift.sentences().into_iter().for_each(|sentence| ctx.info(sentence));
            // Nothing else sets it.
            let _ = ctx.run.shift.set(shift);
        }
        None => ctx.warn(format!("training and test table were not compared: {}", outcome.headline())),
    }
    Ok(())
}

async fn solutions(ctx: &Ctx<'_>, baseline: &Baseline) -> Result<Search, Stop> {
    let Initial { retrieved, candidates, merges, best } = initial_solution(ctx).await?;
    let mut library = Library::default();
    library.add_evaluated(&candidates);
    merges.iter().filter_map(|merge| merge.scored.as_ref()).for_each(|scored| library.add(scored));
    ctx.declare_inputs(Section::Checks, &[best.text()])?;
    let initial = checks::check(ctx, best, &mut library).await?;
    let provisional = answer_so_far(ctx, &initial.best, &library, baseline.provisional.clone()).await?;
    ctx.end_phase(Some(&initial.best))?;
    let (paths, ensemble, baseline) = (Vec::new(), None, baseline.solutions.clone());
    Ok(Search { baseline, retrieved, candidates, merges, initial, paths, ensemble, library, provisional })
}

/// Phase 2: Algorithm 2 on L paths in parallel. A failed path keeps its best solution, and the others continue.
pub(super) async fn refinement(ctx: &Ctx<'_>, mut search: Search) -> Result<Search, Stop> {
    let (paths, initial) = (ctx.config().num_parallel_solutions, &search.initial.best);
    ctx.declare_inputs(Section::Path(0), &[initial.text()])?;
    let (slots, seconds) = (ctx.run.outside.script_slots.most(), initial.facts().seconds);
    let began = ctx.run.journal.mark(ctx.place())?;
    ctx.run.limits.divide_among_paths(paths as usize, slots, seconds, began);
    let agents = ctx.config().max_concurrent_agents;
    if paths > agents {
        ctx.warn(format!("{paths} paths share {agents} agent calls at a time; the others wait"));
    }
    let refined = try_join_all((0..paths).map(async |path| {
        let ctx = &ctx.below(|_| Place::of_path(path));
        let mut refinement = Refinement::new(path, initial);
        let ended = ctx.isolated(refine(ctx, &mut refinement)).await?;
        let record = end_path(ctx, &mut refinement, ended.err())?;
        Ok::<_, Stop>((refinement, record))
    }));
    search.paths = refined.await?;
    for (path, _) in &mut search.paths {
        search.library.extend(std::mem::take(&mut path.library));
    }
    ctx.isolated(best_on_like_rows(ctx, &search.refined())).await?.ok();
    let best = search.solution_of(ctx.answer(), ctx.acceptance());
    search.provisional = answer_so_far(ctx, &best, &search.library, search.provisional).await?;
    ctx.end_phase(Some(&best))?;
    Ok(search)
}

/// Ends a path and closes the steps that a failure (`cause`) left open.
fn end_path(ctx: &Ctx<'_>, path: &mut Refinement, cause: Option<String>) -> Result<PathRecord, Stop> {
    let open = u32::try_from(path.steps.len()).unwrap_or(u32::MAX)..ctx.config().outer_loop_steps;
    for outer in open.filter(|_| cause.is_some()) {
        let step = StepRecord::failed(cause.as_deref().unwrap_or_default()).with_outcome(outer, &path.best);
        let ctx = ctx.at(Step::Outer { path: path.path, outer }, [&path.current]);
        ctx.close_after_failure(step.verdict(&path.current, &path.best))?;
        path.current = path.best.clone();
        path.steps.push(step);
    }
    let record = PathRecord::of(path.path, ctx.history().cut_on(path.path), cause);
    let PathRecord { path: number, status, cause } = record.clone();
    ctx.emit(Event::PathEnded { path: number, status, cause, best: Best::from(&path.best) });
    Ok(record)
}

/// Phase 3: solutions for further models, Algorithm 3, and ensemble selection over all solutions of the run. If one fails,
/// the run continues without it.
pub(super) async fn ensembles(ctx: &Ctx<'_>, mut search: Search) -> Result<Search, Stop> {
    let solutions = search.refined();
    let (count, rounds, task) = (solutions.len(), ctx.config().ensemble_rounds, &ctx.task().competition_id);
    ctx.info(format!("Phase 3 combines {count} solutions in {rounds} rounds: {task}"));
    let models = further_models(&search.retrieved, &search.candidates);
    let further = try_further_models(ctx, &models, &mut search.library);
    let further = ctx.isolated(further).await?.ok().flatten();
    let mut rounds = Rounds::default();
    let made = ctx.isolated(ensemble_of(ctx, &solutions, &mut rounds)).await?.ok().flatten();
    search.library.extend(std::mem::take(&mut rounds.library));
    let made: Vec<Scored> = further.into_iter().chain(made).collect();
    let all: Vec<Scored> = solutions.iter().chain(&made).cloned().collect();
    let compared = ctx.isolated(best_on_like_rows(ctx, &all)).await?.ok().flatten();
    let answer = ctx.answer().map(|best| best.run);
    let is_answer = |one: &&Scored| Some(one.place()) == answer.as_ref();
    let selected = match all.iter().find(is_answer) {
        Some(best) => ctx.isolated(selection::select(ctx, best, &mut search.library)).await?.ok().flatten(),
        None => None,
    };
    let compared = compared.filter(|best| made.iter().any(|one| one.place() == best.place()));
    let made = compared.or_else(|| last_best(made, Scored::score));
    let mut rounds = rounds.attempts;
    // Those that never began have neither plan nor script.
    let all = usize::try_from(ctx.config().ensemble_rounds).unwrap_or(usize::MAX);
    rounds.resize_with(all, || EnsembleAttempt::without_script(String::new()));
    search.ensemble = selected.or(made).map(|best| Ensemble { rounds, best });
    let best = search.solution_of(ctx.answer(), ctx.acceptance());
    search.provisional = answer_so_far(ctx, &best, &search.library, search.provisional).await?;
    ctx.end_phase(search.ensemble.as_ref().map(|ensemble| &ensemble.best))?;
    Ok(search)
}

/// Algorithm 3, if there is something to combine: its best ensemble, or the best of the solutions if every round failed.
pub(super) async fn ensemble_of(
    ctx: &Ctx<'_>,
    solutions: &[Scored],
    rounds: &mut Rounds,
) -> Result<Option<Scored>, Stop> {
    if let [only] = solutions {
        return Ok(Some(only.clone()));
    }
    if are_rules(ctx.config()) && solutions.iter().all(|one| one.text() == solutions[0].text()) {
        ctx.info("all paths have the same solution, so there is nothing to combine");
        return Ok(None);
    }
    ctx.declare_inputs(Section::Rounds, &solutions.iter().map(Scored::text).collect::<Vec<_>>())?;
    let best = ensemble(ctx, solutions, rounds).await?;
    if rounds.attempts.iter().all(EnsembleAttempt::was_left_out) {
        return Ok(None);
    }
    let all = rounds.attempts.len();
    let Some(best) = best else {
        ctx.warn(format!("Phase 3 ensemble: all {all} attempts failed; falling back to best input solution"));
        return Ok(last_best(solutions.iter().cloned(), Scored::score));
    };
    let made = rounds.attempts.iter().filter(|round| round.score.is_some()).count();
    let (step, score) = (best.step(), best.score().value());
    ctx.info(format!("the best ensemble is that of {step}, score {score}; {made} of {all} rounds succeeded"));
    Ok(Some(best))
}

/// Finalization: chooses, probes and finalizes the answer.
pub(super) async fn finalization(ctx: &Ctx<'_>, search: &Search) -> Result<FinalAnswer, Stop> {
    let best = &search.solution_of(ctx.answer(), ctx.acceptance());
    let before = search.provisional.as_ref();
    let mut stands = choice::Chosen::by_validation(best, std::slice::from_ref(best));
    let last = Box::pin(async {
        let chosen = choice::choose(ctx, best, &search.answers(), &search.library).await?;
        submission::announce(ctx, &chosen.best, &search.library, before);
        let chosen = probes::probe(ctx, chosen, &search.library).await?;
        stands = chosen;
        submission::finalize(ctx, &stands, before).await
    });
    let last = ctx.isolated(last).await?;
    let last = last.or_else(|cause| submission::after_failure(ctx, &stands, before, cause))?;
    let last = submission::score(ctx, last).await?;
    ctx.end_phase(Some(&last.candidate.solution))?;
    Ok(last)
}

//! Late solutions: those of steps that a limit had cut off, and that a larger limit allows.
//!
//! A late solution replaces one that the run built on only if it is better than all that the run had before ([`Age`]).
//! Otherwise the earlier work stands, and the late solution is a further one to combine and to choose from.

use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::metric::sort_best_first;

use crate::ctx::Ctx;
use crate::evaluation::Evaluation;
use crate::journal::Age;
use crate::scored::Scored;
use crate::stop::Stop;
use mle_star_domain::place::Section;

/// The candidates to merge, best first: the first one, and the others. Without one that runs, the run ends.
pub(crate) fn best_first(
    ctx: &Ctx<'_>,
    models: &[RetrievedModel],
    candidates: &[Evaluation],
) -> Result<(Scored, Vec<Scored>), Stop> {
    let mut ranked: Vec<Scored> = candidates.iter().filter_map(|one| one.scored.clone().ok()).collect();
    sort_best_first(&mut ranked, Scored::score);
    // Solutions that validated on the program's folds come first: scores on other rows cannot be compared with theirs.
    ranked.sort_by_key(|one| !one.is_on_folds());
    let one = |scored: &Scored| {
        let model = scored.solution().source_model().unwrap_or_default();
        format!("{model} {}", scored.score().value())
    };
    ctx.info(format!("candidates, best first: {}", ranked.iter().map(one).collect::<Vec<_>>().join(", ")));
    let mut ranked = to_build_on(ctx, ranked)?;
    ctx.declare_inputs(Section::Merges, &ranked.iter().map(Scored::text).collect::<Vec<_>>())?;
    if ranked.is_empty() {
        return Err(no_candidate(ctx, models, candidates.len())?);
    }
    Ok((ranked.remove(0), ranked))
}

/// Why a run ends none of whose candidates runs.
fn no_candidate(ctx: &Ctx<'_>, models: &[RetrievedModel], count: usize) -> Result<Stop, Stop> {
    if let Some(limit) = ctx.run.journal.first_limit()? {
        return Ok(Stop::Limit(limit));
    }
    let names: Vec<&str> = models.iter().map(|model| model.model_name.as_str()).collect();
    ctx.warn(format!("no candidate runs: {}", names.join(", ")));
    Ok(Stop::NoSolution(format!("Phase 1 failed: all {count} candidates produced execution errors")))
}

/// The merged solution, and whether it takes the place of `best`: by the rule of the configuration, and if the run may
/// build on it.
pub(crate) fn judged(ctx: &Ctx<'_>, merged: Evaluation, best: &Scored) -> Result<(Evaluation, bool), Stop> {
    let accepted = match &merged.scored {
        Ok(one) if one.replaces(best, ctx.acceptance()) => age(ctx, one)? != Age::Late,
        _ => false,
    };
    Ok((merged, accepted))
}

/// The solutions that the run builds on: all, unless some came with a larger limit and none of those is better than
/// what the run had before.
fn to_build_on(ctx: &Ctx<'_>, solutions: Vec<Scored>) -> Result<Vec<Scored>, Stop> {
    let ages = solutions.iter().map(|one| age(ctx, one)).collect::<Result<Vec<_>, _>>()?;
    if ages.contains(&Age::LateAndBest) {
        return Ok(solutions);
    }
    let originals = solutions.into_iter().zip(ages).filter(|(_, age)| *age == Age::Original);
    Ok(originals.map(|(solution, _)| solution).collect())
}

fn age(ctx: &Ctx<'_>, solution: &Scored) -> Result<Age, Stop> {
    Ok(ctx.run.journal.age(solution.place(), solution.score())?)
}

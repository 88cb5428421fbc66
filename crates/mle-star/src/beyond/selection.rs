//! Ensemble selection: the weighted combination of all solutions of the run.
//!
//! Why: every solution of the run left predictions for the same validation rows, so a combination of them needs no training,
//! and agents only to check its members for leaks. Weights are chosen greedily (Caruana et al., *Ensemble selection from
//! libraries of models*, 2004). What it may change: the answer, if the combination is ahead of the best solution on rows
//! that chose neither, or behind by at most one standard error: the errors of several solutions balance out.

use std::sync::Arc;

use crate::composition::Composition;
use crate::ctx::Ctx;
use crate::evaluate::{combine, leaks};
use crate::evaluation::Failure;
use crate::lessons::number;
use crate::library::Library;
use crate::scored::Scored;
use crate::stop::Stop;
use crate::verdict::{Best, Verdict};
use mle_star_domain::config::Switch;
use mle_star_domain::measure::Difference;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::question::{Question, Selection};

/// The most solutions to choose from.
const MAX_MEMBERS: u64 = 40;
/// The most rows of all of them, which are in memory at once.
const MAX_ROWS: u64 = 20_000_000;

/// The weighted combination of the solutions in the library, if it is better than `best`.
pub(crate) async fn select(
    ctx: &Ctx<'_>,
    best: &Scored,
    library: &mut Library,
) -> Result<Option<Scored>, Stop> {
    let members = members(best, library);
    if ctx.config().ensemble_selection == Switch::Off || members.len() < 2 {
        return Ok(None);
    }
    let ctx = &ctx.at(Step::Selection, []);
    let end = |end| closed(end, best);
    let Some(Combination { made, is_better, .. }) = ctx.step_always(combination(ctx, members), end).await?
    else {
        return Ok(None);
    };
    let made = made.ok().filter(Scored::is_checked);
    made.iter().for_each(|made| library.add(made));
    Ok(made.filter(|_| is_better))
}

/// A combination that was made.
struct Combination {
    /// The solutions with their weights.
    members: Vec<(Scored, f64)>,
    note: String,
    made: Result<Scored, Failure>,
    is_better: bool,
    /// How it compares with the best solution, both on rows that chose neither.
    lead: Option<String>,
}

/// The combination of the members that do not leak; `Err` says why there is none. The members of a combination that is not
/// ahead of the best solution are not checked for leaks, since it answers nothing.
async fn combination(ctx: &Ctx<'_>, mut members: Vec<Scored>) -> Result<Result<Combination, String>, Stop> {
    let seconds = ctx.run.limits.max_ensemble_seconds(ctx.run.journal.elapsed());
    let mut selection = weights(ctx, &members, seconds).await?;
    if replaces(&selection) && !are_clean(ctx, &mut members, &selection.weights).await? {
        if members.len() < 2 {
            return Ok(Err("fewer than two solutions without a leak".to_owned()));
        }
        selection = weights(&ctx.below(Place::corrected), &members, seconds).await?;
    }
    let is_better = replaces(&selection);
    let Selection { weights, by, measured, lead, failure, note: why, .. } = selection;
    let Some(measured) = measured else { return Ok(Err(failure)) };
    let members: Vec<(Scored, f64)> =
        members.into_iter().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
    let parts = members.iter().map(|(member, weight)| member.weighted(*weight)).collect();
    let composition = Composition { members: parts, by, id_column: ctx.task().roles.id.clone() };
    let why = if why.is_empty() { why } else { format!("; {why}") };
    let note = format!("weighted combination of {} solutions{why}", members.len());
    let lead = lead.map(|Difference { by, standard_error }| {
        let [own, best, error] = [measured.score, measured.score - by, standard_error].map(number);
        format!("{own} instead of {best} (± {error}) on rows that chose neither")
    });
    let made = combine(ctx, Arc::new(composition), &members, by, measured).await?;
    Ok(Ok(Combination { members, note, made, is_better, lead }))
}

/// Whether the combination takes the place of the best solution.
fn replaces(selection: &Selection) -> bool {
    let is_tie = |lead: Difference| lead.by.abs() <= lead.standard_error;
    selection.is_better || selection.lead.is_some_and(is_tie)
}

/// Weights for the predictions of these solutions, which may run this many seconds together.
async fn weights(ctx: &Ctx<'_>, members: &[Scored], seconds: f64) -> Result<Selection, Stop> {
    let runs = members.iter().map(|one| (one.kept(), one.facts().seconds)).collect();
    Ok(ctx.measure(Question::Select { runs, seconds }).await?.value)
}

fn closed(end: Result<Result<Combination, String>, String>, best: &Scored) -> (Option<Combination>, Verdict) {
    let combination = match end.flatten() {
        Ok(combination) => combination,
        Err(why) => return (None, Verdict::default().note(why)),
    };
    let Combination { members, note, made, is_better, lead } = &combination;
    let from = [best].into_iter().chain(members.iter().map(|(member, _)| member));
    let verdict = Verdict::of(made, *is_better && made.is_ok())
        .compared(made.as_ref().ok(), Some(best))
        .made_from(from)
        .note(note)
        .remark(lead.clone());
    let replaces = lead
        .as_ref()
        .filter(|_| *is_better && made.is_ok())
        .map(|lead| format!("a combination of {} solutions replaces the best one: {lead}", members.len()));
    let verdict = verdict.warning(replaces);
    let kept = made.as_ref().ok().filter(|_| *is_better);
    let verdict = Verdict { best: kept.map(Best::from), ..verdict };
    (Some(combination), verdict)
}

/// Checks the solutions with weight for leakage, as far as they were not. If some leak or cannot be checked, only the
/// solutions that were checked and do not leak remain, and it is `false`.
async fn are_clean(ctx: &Ctx<'_>, members: &mut Vec<Scored>, weights: &[f64]) -> Result<bool, Stop> {
    let mut leaking = false;
    for (count, (member, weight)) in (1..).zip(members.iter_mut().zip(weights)) {
        if *weight <= 0.0 && !member.is_checked() {
            continue;
        }
        let leaks = leaks(&ctx.below(|place| place.member(count)), member).await?;
        let why = match leaks {
            Some(false) => None,
            Some(true) => Some("leaks"),
            None => Some("could not be checked for leakage"),
        };
        if let Some(why) = why {
            ctx.warn(format!("the solution of {} {why}, so it is not combined with others", member.title()));
            leaking = true;
        }
        if let Some(leaks) = leaks {
            *member = member.clone().checked(leaks);
        }
    }
    if leaking {
        members.retain(|member| member.is_checked() && !member.leaks());
    }
    Ok(!leaking)
}

/// The solutions that can be combined, best first.
fn members(best: &Scored, library: &Library) -> Vec<Scored> {
    let Some(measured) = best.measured() else { return Vec::new() };
    let mut members = library.best_first();
    let has_same_rows =
        |member: &Scored| member.measured().is_some_and(|own| own.rows_digest == measured.rows_digest);
    members.retain(|member| member.composition().is_none() && has_same_rows(member));
    let most = (MAX_ROWS / measured.rows.max(1)).clamp(4, MAX_MEMBERS);
    members.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    members
}

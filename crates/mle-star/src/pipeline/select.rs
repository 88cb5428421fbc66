//! Ensemble selection, and solutions for more models while time is left. Neither is part of the paper.
//!
//! Every solution of the run left predictions for the same validation rows, so a combination of them needs no agent and
//! no training: weights are chosen greedily (Caruana et al., *Ensemble selection from libraries of models*, 2004).

use std::sync::Arc;

use super::initial::evaluate_candidate;
use crate::answers::RetrievedModel;
use crate::composition::Composition;
use crate::config::Switch;
use crate::ctx::Ctx;
use crate::effects::Selection;
use crate::evaluate::combine;
use crate::place::Step;
use crate::solution::Scored;
use crate::stop::Stop;
use crate::verdict::{Best, Verdict};

/// Solutions without a gain in a row, after which no more models are tried.
const PATIENCE: u32 = 6;
/// The most solutions to choose from.
const MOST_MEMBERS: u64 = 40;
/// The most rows of all of them, which are in memory at once.
const MOST_ROWS: u64 = 20_000_000;

/// The best ensemble after selection, if there is one. `best` is the best solution so far, and `ensemble` the best
/// ensemble so far. While time is left, solutions for `models` join the others.
pub(super) async fn select(
    ctx: &Ctx<'_>,
    best: &Scored,
    ensemble: Option<&Scored>,
    models: &[RetrievedModel],
) -> Result<Option<Scored>, Stop> {
    let mut state = State { best: best.clone(), ensemble: ensemble.cloned() };
    if ctx.config().ensemble_selection == Switch::Off || best.measured().is_none() {
        return Ok(state.ensemble);
    }
    let (mut models, mut without_gain) = ((0..).zip(models), 0);
    for count in 0.. {
        let members = members(ctx, &state.best);
        let gained = match members.len() {
            0 | 1 => false,
            _ => combine_all(&ctx.begin(Step::Selection(count)), &mut state, members).await?,
        };
        without_gain = if gained { 0 } else { without_gain + 1 };
        let Some((index, model)) = models.next().filter(|_| without_gain <= PATIENCE) else { break };
        if !one_more(&ctx.at(Step::Extra(index)), model, &mut state).await? {
            break;
        }
    }
    Ok(state.ensemble)
}

/// The best solutions so far.
struct State {
    /// Of all but combinations.
    best: Scored,
    /// Of those that Phase 3 made.
    ensemble: Option<Scored>,
}

impl State {
    /// Keeps a solution if it replaces the best one.
    fn keep(&mut self, ctx: &Ctx<'_>, made: &Scored) -> bool {
        let kept = made.replaces(&self.best, ctx.config().acceptance);
        if kept {
            self.best = made.clone();
            // A combination gives way to the next combination only.
            if self.ensemble.as_ref().is_none_or(|ensemble| ensemble.composition().is_none()) {
                self.ensemble = Some(made.clone());
            }
        }
        kept
    }

    fn close(&self, ctx: &Ctx<'_>, verdict: Verdict) -> Result<(), Stop> {
        ctx.close(Verdict { best: self.ensemble.as_ref().map(Best::from), ..verdict })
    }
}

/// Combines the predictions of solutions. Returns whether that is the best solution.
async fn combine_all(ctx: &Ctx<'_>, state: &mut State, members: Vec<Scored>) -> Result<bool, Stop> {
    let Selection { weights, by_vote, measured, is_better, failure } =
        ctx.select(&members, ctx.time_to_repeat()).await?;
    let Some(measured) = measured else {
        state.close(ctx, Verdict::default().note(failure))?;
        return Ok(false);
    };
    let chosen: Vec<(Scored, f64)> =
        members.into_iter().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
    let composition = Composition::new(&chosen, by_vote, ctx.task().id_column.as_deref());
    let note = format!("weighted combination of {} solutions", composition.len());
    let made = combine(ctx, Arc::new(composition), &chosen, measured).await?;
    let before = state.best.clone();
    let kept = is_better && made.is_ok();
    if let Some(made) = made.as_ref().ok().filter(|_| kept) {
        state.ensemble = Some(made.clone());
    }
    let verdict = Verdict::of(&made, kept).compared(made.as_ref().ok(), Some(&before));
    let from = [&before].into_iter().chain(chosen.iter().map(|(member, _)| member));
    state.close(ctx, verdict.made_from(from).note(note))?;
    Ok(kept)
}

/// The solutions that can be combined, best first.
fn members(ctx: &Ctx<'_>, best: &Scored) -> Vec<Scored> {
    let Some(measured) = best.measured() else { return Vec::new() };
    let mut members = ctx.combinable(measured);
    members.retain(|member| member.composition().is_none());
    let most = (MOST_ROWS / measured.rows.max(1)).clamp(4, MOST_MEMBERS);
    members.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    members
}

/// Evaluates the solution for one more model. Returns whether there was time for it.
async fn one_more(ctx: &Ctx<'_>, model: &RetrievedModel, state: &mut State) -> Result<bool, Stop> {
    let candidate = evaluate_candidate(ctx, model).await?;
    let limit = candidate.scored.as_ref().err().and_then(|failure| failure.limit);
    let kept = candidate.scored.as_ref().is_ok_and(|made| state.keep(ctx, made));
    state.close(ctx, Verdict::of(&candidate.scored, kept).note(&model.model_name))?;
    Ok(limit.is_none())
}

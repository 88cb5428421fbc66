//! The final choice: which of the best solutions is submitted.
//!
//! Why: the best validation score is the one that a leak made best, if one did. What it may change: which solution becomes
//! the answer. It is the one with the best validation score, as in the paper, unless one half of the rows that no script has
//! seen contradicts this score. Then, that half chooses among all solutions of the run, since the next best may have the
//! same leak; solutions that it cannot tell apart go by validation. Either way, the other half reports. Few held-out rows are
//! not halved: validation chooses, and all of them report. With `final_choice: holdout`, it always chooses, among the few best.

use super::held_out::holdout_score;
use super::ranking::{Ranked, ranking};
use crate::agents::test_agent;
use crate::ctx::Ctx;
use crate::evaluate::{execute, without_leakage};
use crate::evaluation::Script;
use crate::lessons::number;
use crate::library::Library;
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use crate::verdict::Verdict;
use mle_star_domain::config::FinalChoice;
use mle_star_domain::effects::Purpose;
use mle_star_domain::measure::Measurement;
use mle_star_domain::metric::sort_best_first;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::protocol::HoldoutPart;
use mle_star_domain::trust::{Choice, ChoiceCandidate, MAX_Z_SCORE, Probe};

/// The maximum number of solutions that are compared.
pub(crate) const MAX_FINALISTS: usize = 4;
/// The maximum number if the best validation score is contradicted.
const MAX_COMPARED: usize = 40;
/// The fewest held-out rows of which one half can choose and the other half still reports well.
const MIN_HALVED_ROWS: u64 = 2_000;
/// What chooses among solutions, in words.
const HELD_OUT: &str = "held-out score; within one standard error, validation score";
const ENSEMBLE: &str = "combination of solutions, better than the best of them on rows that chose neither";
const CONTRADICTS: &str = "score on one half of the held-out rows, which contradicts the best validation score; within one standard error, validation score; the other half is reported";

/// The chosen solution.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub best: Scored,
    /// The predictions of the solution for the held-out rows, if it has any.
    pub predictions: Option<Predictions>,
    /// The score of the solution on the choosing half of the held-out rows, if it was looked at.
    pub looked: Option<Measurement>,
    /// The part of the held-out rows that reports the score.
    pub reports: HoldoutPart,
    pub choice: Choice,
    /// The solutions to try if it is suspect, in this order.
    pub others: Vec<Scored>,
    pub probes: Vec<Probe>,
}

/// A script that wrote a submission without having seen the labels of the held-out rows.
#[derive(Clone)]
pub(crate) struct Predictions {
    pub script: String,
    pub run: Place,
    pub at: jiff::Timestamp,
    /// Whether it has a leak that could not be corrected.
    pub leaks: bool,
}

/// A solution in the comparison.
#[derive(Clone)]
struct Finalist {
    solution: Scored,
    predictions: Option<Predictions>,
    measured: Option<Measurement>,
}

/// Chooses among `solutions`, of which `best` has the best validation score.
pub(crate) async fn choose(
    ctx: &Ctx<'_>,
    best: &Scored,
    solutions: &[Scored],
    library: &Library,
) -> Result<Chosen, Stop> {
    let finalists = finalists(best, solutions);
    let all = with_all(library, &finalists);
    let looked = match ctx.config().final_choice {
        FinalChoice::Auto if all.len() > 1 && ctx.holdout().rows() >= Some(MIN_HALVED_ROWS) => {
            look_at_half(ctx, best).await?
        }
        _ => None,
    };
    let contradicted = looked.as_ref().filter(|(_, is_contradicted)| *is_contradicted);
    match ctx.config().final_choice {
        FinalChoice::Holdout if ctx.holdout().is_on() && finalists.len() > 1 => {
            compare(ctx, None, finalists).await
        }
        FinalChoice::Auto if let Some((known, _)) = contradicted => {
            compare(ctx, Some(known.clone()), all).await
        }
        _ => {
            // The half that did not contradict has decided, so the other one reports.
            let chosen = Chosen::by_validation(best, &finalists);
            let looked = looked.and_then(|(finalist, _)| finalist.measured);
            let reports = if looked.is_some() { HoldoutPart::Reporting } else { chosen.reports };
            Ok(Chosen { reports, looked, ..chosen })
        }
    }
}

/// Compares the solutions on the choosing half. The first one is known if that half contradicted it.
async fn compare(ctx: &Ctx<'_>, mut known: Option<Finalist>, solutions: Vec<Scored>) -> Result<Chosen, Stop> {
    let (mut compared, is_contradicted) = (Vec::new(), known.is_some());
    for (index, solution) in (0..).zip(solutions) {
        let ctx = &ctx.begin(Step::Choice(index));
        compared.push(match known.take() {
            Some(known) => known,
            None => scored_on_held_out(ctx, solution).await?,
        });
    }
    let ranked = compared.iter().map(|one| Ranked {
        validation: one.solution.score(),
        validated: one.solution.measured(),
        held_out: one.measured.as_ref(),
    });
    let ranking = ranking(&ranked.collect::<Vec<_>>());
    let score = |one: &Finalist| one.measured.as_ref().map(|measured| measured.score);
    let rule = if is_contradicted { CONTRADICTS } else { HELD_OUT };
    if is_contradicted {
        report_ranking(ctx, &compared, &ranking);
    }
    for (index, finalist) in (0..).zip(&compared) {
        let (score, kept) = (score(finalist), usize::try_from(index) == Ok(ranking[0]));
        let verdict = Verdict { score, kept, ..Verdict::default() };
        ctx.at(Step::Choice(index), []).close(verdict.made_from([&finalist.solution]))?;
    }
    let ranked = || ranking.iter().map(|place| &compared[*place]);
    let candidates = ranked().map(|one| candidate(&one.solution, score(one))).collect();
    let choice = Choice { rule: rule.to_owned(), candidates };
    let others = ranked().skip(1).take(MAX_FINALISTS - 1).map(|one| one.solution.clone()).collect();
    let Finalist { solution: best, predictions, measured: looked } = compared[ranking[0]].clone();
    let (reports, probes) = (HoldoutPart::Reporting, Vec::new());
    Ok(Chosen { best, predictions, looked, reports, choice, others, probes })
}

/// The best solution with its score on the choosing half, and whether that is far worse than its validation score; `None` if it
/// has no score there. A solution without predictions is not looked at.
async fn look_at_half(ctx: &Ctx<'_>, best: &Scored) -> Result<Option<(Finalist, bool)>, Stop> {
    let Some((validated, predictions)) = best.measured().zip(Predictions::of(best)) else { return Ok(None) };
    let held_out = holdout_score(ctx, &predictions.run, &predictions.script, HoldoutPart::Choosing).await?;
    let Some(held_out) = held_out else { return Ok(None) };
    let is_contradicted = is_worse(ctx, &held_out, validated, MAX_Z_SCORE);
    if is_contradicted {
        ctx.warn(format!(
            "the best solution scores {:.6} validated but {:.6} on half of the held-out rows, so this half chooses",
            validated.score, held_out.score
        ));
    }
    let (solution, predictions, measured) = (best.clone(), Some(predictions), Some(held_out));
    Ok(Some((Finalist { solution, predictions, measured }, is_contradicted)))
}

/// The finalists, then the other solutions of the run that left predictions, from the first: the later ones may all have the
/// leak of the best.
fn with_all(library: &Library, finalists: &[Scored]) -> Vec<Scored> {
    let mut others = library.best_first();
    others.retain(|other| finalists.iter().all(|known| known.text() != other.text()));
    others.sort_by_key(Scored::step);
    finalists.iter().cloned().chain(others).take(MAX_COMPARED).collect()
}

/// Whether a held-out score is worse than a validation score by more than this many standard errors of the difference. If
/// that error is not known, it is not.
pub(super) fn is_worse(ctx: &Ctx<'_>, held_out: &Measurement, validated: &Measurement, errors: f64) -> bool {
    let scores = ctx.score(held_out.score).zip(ctx.score(validated.score));
    let error = held_out.error_of_gap(validated);
    scores.zip(error).is_some_and(|((now, then), error)| then.gain_over(now) > errors * error)
}

/// The solutions with different scripts: `best`, then the others, best first.
fn finalists(best: &Scored, solutions: &[Scored]) -> Vec<Scored> {
    let mut finalists: Vec<Scored> = Vec::new();
    for solution in [best].into_iter().chain(solutions) {
        if finalists.iter().all(|known| known.text() != solution.text()) {
            finalists.push(solution.clone());
        }
    }
    if let [_, others @ ..] = finalists.as_mut_slice() {
        sort_best_first(others, Scored::score);
    }
    finalists.truncate(MAX_FINALISTS);
    finalists
}

/// Scores a finalist's predictions for the choosing half. A script of the search that wrote no submission gets a
/// submission script first.
async fn scored_on_held_out(ctx: &Ctx<'_>, solution: Scored) -> Result<Finalist, Stop> {
    let predictions = match Predictions::of(&solution) {
        Some(own) => Some(own),
        None => submission_script(ctx, &solution).await?,
    };
    let measured = match &predictions {
        Some(own) => holdout_score(ctx, &own.run, &own.script, HoldoutPart::Choosing).await?,
        None => None,
    };
    Ok(Finalist { solution, predictions, measured })
}

async fn submission_script(ctx: &Ctx<'_>, solution: &Scored) -> Result<Option<Predictions>, Stop> {
    let script = test_agent::submission_script(ctx, solution.solution()).await?;
    let checked = without_leakage(ctx, script).await?;
    let execution = execute(ctx, checked, Purpose::Submission).await?;
    let (script, leaks) = (execution.solution.text().to_owned(), execution.leaks);
    Ok(execution.result.ok().map(|ran| Predictions { script, run: ran.place, at: ran.at, leaks }))
}

/// The candidate that a solution is, with its score on held-out rows.
fn candidate(solution: &Scored, holdout: Option<f64>) -> ChoiceCandidate {
    let (place, validation) = (solution.place().clone(), solution.score().value());
    ChoiceCandidate { place, validation, holdout }
}

/// Says whether the best solution by validation, the first of the finalists, gives way.
fn report_ranking(ctx: &Ctx<'_>, finalists: &[Finalist], ranking: &[usize]) {
    let (count, best, chosen) = (finalists.len(), &finalists[0], &finalists[ranking[0]]);
    match chosen.measured.as_ref().zip(best.measured.as_ref()).filter(|_| ranking[0] != 0) {
        Some((own, before)) => ctx.warn(format!(
            "this half chooses that of {} among {count}: {} instead of {} there",
            chosen.solution.title(),
            number(own.score),
            number(before.score)
        )),
        None => ctx.info(format!(
            "none of the {count} solutions is better beyond chance on this half, so the best one stays"
        )),
    }
}

impl Chosen {
    /// The solution with the best validation score.
    pub fn by_validation(best: &Scored, finalists: &[Scored]) -> Self {
        let choice = Choice {
            rule: if best.composition().is_some() { ENSEMBLE } else { "validation score" }.to_owned(),
            candidates: finalists.iter().map(|solution| candidate(solution, None)).collect(),
        };
        let predictions = Predictions::of(best);
        let is_other = |other: &&Scored| other.text() != best.text();
        let others = finalists.iter().filter(is_other).cloned().collect();
        let (looked, reports, probes) = (None, HoldoutPart::Whole, Vec::new());
        Self { best: best.clone(), predictions, looked, reports, choice, others, probes }
    }

    /// The answer from before finalization, which stands although another solution was chosen.
    pub fn instead(&self, before: &Scored) -> Self {
        let rule = "the answer from before finalization, which failed".to_owned();
        let made = Self::by_validation(before, std::slice::from_ref(before));
        Self { choice: Choice { rule, ..made.choice }, reports: self.reports, ..made }
    }
}

impl Predictions {
    /// The predictions of the solution's own run, if it left a valid submission.
    pub fn of(solution: &Scored) -> Option<Self> {
        let (script, run) = (solution.text().to_owned(), solution.place().clone());
        let (at, leaks) = (solution.ran_at(), solution.leaks());
        solution.wrote_submission().then_some(Self { script, run, at, leaks })
    }

    /// The script, as it was checked.
    pub fn checked(&self) -> Script {
        let solution = Solution::new(self.script.clone(), SolutionPhase::Final);
        Script { leaks: self.leaks, checked: true, ..Script::new(solution) }
    }
}

//! Has predictions for held-out rows scored, and compares what two fits of a script predict for the test table.

use crate::ctx::Ctx;
use crate::event::Event;
use crate::journal::Kind;
use crate::stop::Stop;
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::HoldoutPart;
use mle_star_domain::question::{FileStem, HoldoutScore, Question, Refit};

/// Scores the predictions for held-out rows in the submission that `script` wrote at `run`.
pub(super) async fn holdout_score(
    ctx: &Ctx<'_>,
    run: &Place,
    script: &str,
    part: HoldoutPart,
) -> Result<Option<Measurement>, Stop> {
    let look = ctx.measure::<HoldoutScore>(Question::Look { run: FileStem::new(run, script), part }).await?;
    let HoldoutScore { measured, failure } = look.value;
    if measured.is_none() {
        ctx.warn(format!("the predictions of {run} for held-out rows have no score: {failure}"));
    }
    let score = measured.as_ref().map(|measured| measured.score);
    let (place, run, replayed) = (Question::scoring_place(ctx.place(), part), run.clone(), look.replayed);
    ctx.emit(Event::Look { place, run, part, score, replayed });
    Ok(measured)
}

/// Whether an earlier process scored predictions for this part of the held-out rows at this place.
pub(super) fn has_looked(ctx: &Ctx<'_>, part: HoldoutPart) -> Result<bool, Stop> {
    Ok(ctx.run.journal.has_any(&Question::scoring_place(ctx.place(), part), Kind::Look)?)
}

/// How what the script of `second` predicted for the rows of the test table differs from what that of `first` did, which had
/// seen fewer rows; `None` if they cannot be compared.
pub(super) async fn compare_fits(
    ctx: &Ctx<'_>,
    first: (&Place, &str),
    second: (&Place, &str),
) -> Result<Option<Refit>, Stop> {
    let [kept, again] = [first, second].map(|(run, script)| FileStem::new(run, script));
    let refit = ctx.measure::<Refit>(Question::Fits { first: kept, second: again }).await?.value;
    if !refit.failure.is_empty() {
        let ([first, second], why) = ([first.0, second.0], &refit.failure);
        ctx.info(format!("the predictions of {first} and {second} are not compared: {why}"));
    }
    Ok(Some(refit).filter(|refit| refit.failure.is_empty()))
}

//! How much the score of the final solution depends on each column.
//!
//! Why: who uses a model asks which columns matter, and a script alone does not tell. What it may change: nothing but what is
//! told.
//!
//! The final script runs once more, on a test table of copies of the held-out rows: one as they are, and others in which one
//! column is permuted. One fit gives all columns, and no label of these rows reaches the script.

use super::last::Last;
use crate::ctx::Ctx;
use crate::stop::Stop;
use mle_star_domain::effects::{Importance, Purpose};

/// How much longer than before the script is expected to take: its test table is larger.
const LONGER: f64 = 1.5;

/// The importance of the columns for the final solution, or why it is not known. `None` with `preset: paper`.
pub(super) async fn importance(ctx: &Ctx<'_>, last: &Last) -> Result<Option<Importance>, Stop> {
    let Some(protocol) = ctx.protocol() else { return Ok(None) };
    let unknown = |why: &str| Ok(Some(Importance::unknown(why)));
    if !protocol.verifies {
        let why = protocol.unverified.as_deref();
        return unknown(why.unwrap_or("the program does not compute scores from predictions in this run"));
    }
    let Some((run, script)) = last.predicted_held_out(ctx) else {
        return unknown(match ctx.holds_out() || ctx.knows_test() {
            true => "the final solution did not predict the held-out rows",
            false => "no rows are held out",
        });
    };
    let at = ctx.permuting();
    if at.was_left_out_before()? {
        return unknown("an earlier version of the program finished this run");
    }
    let seconds = last.rehearsal.as_ref().map_or(last.chosen.facts().seconds, |one| one.seconds);
    let time = at.time_for_probe(seconds, LONGER).await?;
    if !time.has_room_for(seconds) {
        let why = format!("the final script has no time to run once more: {}", time.refusal(seconds));
        return Ok(Some(Importance::unknown(why)));
    }
    let outcome = at.run(&last.solution.content, Purpose::Probe).await?.value;
    let found = match outcome.submission.as_ref().map(|submission| submission.findings.as_slice()) {
        _ if outcome.is_error() => Importance::unknown(format!(
            "the final script failed on copies of the held-out rows: {}",
            outcome.headline().trim_end_matches('.')
        )),
        Some([]) => at.importance(&last.solution.content, (run, script)).await?,
        Some([first, ..]) => Importance::unknown(format!(
            "the final script does not predict copies of the held-out rows: {first}"
        )),
        None => Importance::unknown("the final script wrote no submission for copies of the held-out rows"),
    };
    if !found.failure.is_empty() {
        at.info(format!("the importance of columns is not known: {}", found.failure));
    }
    Ok(Some(found))
}

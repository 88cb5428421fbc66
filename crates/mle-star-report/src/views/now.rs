//! What a running run does now: calls and scripts with what they print, what waits, and how much of its limits is used.

use jiff::{SignedDuration, Timestamp};
use mle_star::journal::{EffectRecord, EffectState, Kind};
use mle_star::spending::role;
use mle_star_domain::place::Step;
use serde_json::{Value, json};

use super::{Context, RunReport};
use crate::at_work::AtWork;
use crate::figures::{brief, duration, roughly};
use crate::money;
use crate::progress::{Progress, RunningCall, Wait};
use crate::run_view::{RunView, State};
use crate::script_output;
use crate::words::{done_words, in_line, on_runner, place_name};

/// What is told about calls and scripts without a slot.
const WAITS: &str = "waits for its turn";

/// What runs now, then what waits; `None` unless the run is running.
pub fn now(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    present(context.run, context.at_work)
}

/// What runs now, for a page that follows the events of a run, which come more often than records.
pub fn present(run: &RunView, at_work: &AtWork) -> Option<Value> {
    let (summary, config, progress) = (&run.summary, &run.snapshot.frozen.config, at_work.progress());
    if summary.run.state != State::Running {
        return None;
    }
    // The moment that the journal tells of; `None` while the clock of the run does not run.
    let used = SignedDuration::try_from_secs_f64(summary.spent.elapsed_seconds).unwrap_or_default();
    let now = progress.and_then(|progress| progress.zero()?.checked_add(used).ok());
    let open = open(run).map(|record| entry(run, record, progress, now));
    let waiting = progress.into_iter().flat_map(|progress| waiting(run, progress));
    let left = progress.zip(now).and_then(|(progress, now)| progress.seconds_left(now));
    Some(json!({
        "done": done_words(summary.done),
        "percent": summary.done.percent,
        "time_limit": config.time_limit_seconds,
        "budget": config.max_budget_usd,
        "spent": summary.spent,
        "cost": money::cost(summary.spent.cost_usd, summary.spent.estimated_usd),
        "zero": progress.and_then(Progress::zero).map(Timestamp::as_second),
        "left": left.map(roughly),
        "work": open.chain(waiting).collect::<Vec<_>>(),
    }))
}

/// Requested calls and scripts, and the program's own work, that have not ended.
fn open(run: &RunView) -> impl Iterator<Item = &EffectRecord> {
    run.snapshot.effects.iter().filter(|record| record.state == EffectState::Begun)
}

/// Steps of which nothing is requested: their next call waits for a slot.
fn waiting(run: &RunView, progress: &Progress) -> Vec<Value> {
    let is_at_work = |step: Step| {
        open(run).any(|record| match step.path() {
            Some(path) => record.place.path() == Some(path as usize),
            None => record.place.is_within(&step.place()),
        })
    };
    // An attempt stands for its outer step.
    let attempts = progress.steps.keys().filter(|step| matches!(step, Step::Attempt { .. }));
    let in_attempts: Vec<Option<u32>> = attempts.map(|step| step.path()).collect();
    let stands = |step: Step| !matches!(step, Step::Outer { .. }) || !in_attempts.contains(&step.path());
    // Finalists stay open until all of them are compared.
    let is_finalist = |step: Step| matches!(step, Step::Choice(_));
    let waits = |step: &Step| stands(*step) && !is_at_work(*step) && !is_finalist(*step);
    let waiting = progress.steps.keys().copied().filter(waits);
    waiting.map(|step| work(&progress.models.step(step), "", WAITS, true)).collect()
}

/// An entry of the list: a call, a script or a step that is in progress, or waits.
fn work(place: &str, what: &str, since: &str, waits: bool) -> Value {
    let (none, output) = (Value::Null, Value::Array(Vec::new()));
    json!({
        "place": place, "what": what, "since": since, "waits": waits, "output": output,
        "began": none, "at_most": none, "tool": none,
    })
}

/// A call or script that was requested, or the program's own work, which waits for no slot.
fn entry(run: &RunView, record: &EffectRecord, progress: Option<&Progress>, now: Option<Timestamp>) -> Value {
    let EffectRecord { place: at, kind, .. } = record;
    let slot = progress.and_then(|progress| progress.running.get(at));
    let place = progress.map_or_else(|| place_name(at), |progress| progress.models.place(at));
    let what = match kind {
        Kind::Agent => role(record).map_or_else(String::new, |role| role.name().to_owned()),
        Kind::Script => format!("script{}", on_runner(slot.and_then(|slot| slot.runner.as_deref()))),
        _ => "the program".to_owned(),
    };
    let mut shown = match (progress, slot) {
        (Some(progress), Some(slot)) => running(&place, &what, slot, progress, now.unwrap_or(slot.began)),
        (Some(_), None) if matches!(kind, Kind::Agent | Kind::Script) => work(&place, &what, WAITS, true),
        _ => work(&place, &what, &since(record.elapsed_begun), false),
    };
    if *kind == Kind::Script {
        shown["output"] = json!(script_output::script_outputs(&run.folder, at, &record.begun_at));
    }
    shown
}

/// A call or script with a slot.
fn running(place: &str, what: &str, slot: &RunningCall, progress: &Progress, now: Timestamp) -> Value {
    let (began, at_most) = (slot.since(now), slot.at_most(now));
    let mut shown = match slot.waits(now) {
        Some(Wait { why, .. }) => {
            let again =
                if at_most > 0.0 { format!(", asks again after {}", brief(at_most)) } else { String::new() };
            work(place, what, &format!("waits for the service{again}: {why}"), true)
        }
        None => work(place, what, &since(progress.elapsed(began)), false),
    };
    if at_most > 0.0 && shown["waits"] == false {
        shown["at_most"] = brief(at_most).into();
    }
    shown["began"] = began.as_second().into();
    shown["tool"] = slot.tool.as_deref().map(in_line).into();
    shown
}

fn since(seconds: f64) -> String {
    format!("since {} into the run", duration(seconds))
}

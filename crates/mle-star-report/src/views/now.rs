//! What a running run does now: calls and scripts with what they print, what waits, and how much of its limits is used.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use mle_star::event::Done;
use mle_star::journal::{EffectRecord, EffectState, Kind};
use mle_star::spending::role;
use mle_star_domain::place::{Place, Step};
use serde::Serialize;
use serde_json::{Value, json};

use crate::at_work::AtWork;
use crate::figures::{brief, duration, roughly};
use crate::money;
use crate::progress::{Progress, RunningCall, Wait};
use crate::run_view::{RunView, Spent, State};
use crate::script_output;
use crate::words::{agent_name, done_words, in_line, on_runner, place_name};

/// What the journal tells of a run's present. With events and the output of scripts, it is the part of the page that changes most.
pub struct Present {
    limits: Limits,
    spent: Spent,
    done: Done,
    /// Requested calls and scripts, and the program's own work, that have not ended.
    open: Vec<Open>,
}

#[derive(Clone, Copy, Serialize)]
struct Limits {
    seconds: u64,
    usd: Option<f64>,
}

/// A requested call or script, or work of the program itself.
struct Open {
    place: Place,
    who: Who,
    /// Seconds into the run, and RFC 3339.
    requested: (f64, String),
}

enum Who {
    /// An agent of this name.
    Agent(String),
    Script,
    /// The program itself, which waits for no slot.
    Program,
}

impl Present {
    /// The present of a running run; `None` for others.
    pub fn of(run: &RunView) -> Option<Self> {
        let open = run.snapshot.effects.iter().filter(|record| record.state == EffectState::Begun);
        let open = open.map(|record| Open {
            place: record.place.clone(),
            who: Who::of(record),
            requested: (record.elapsed_begun, record.begun_at.clone()),
        });
        let config = &run.snapshot.frozen.config;
        let limits = Limits { seconds: config.time_limit_seconds, usd: config.max_budget_usd };
        let is_running = run.summary.run.state == State::Running;
        let (spent, done) = (run.summary.spent, run.summary.done);
        is_running.then(|| Self { limits, spent, done, open: open.collect() })
    }

    /// Changes when a script has printed something.
    pub fn stamp(&self, folder: &Path) -> String {
        let scripts = self.open.iter().filter(|open| matches!(open.who, Who::Script));
        scripts.map(|open| script_output::stamp(folder, &open.place)).collect()
    }

    /// What runs now, in the run of this folder, then what waits.
    pub fn view(&self, folder: &Path, at_work: &AtWork) -> Value {
        let progress = at_work.progress();
        let now = self.now(progress);
        let open = self.open.iter().map(|open| open.view(folder, progress, now));
        let waiting = progress.into_iter().flat_map(|progress| self.waiting(progress));
        let left = progress.zip(now).and_then(|(progress, now)| progress.seconds_left(now));
        json!({
            "done": done_words(self.done),
            "percent": self.done.percent,
            "limits": self.limits,
            "spent": self.spent,
            "cost": money::cost(self.spent.cost_usd, self.spent.estimated_usd),
            "zero": progress.and_then(Progress::zero).map(Timestamp::as_second),
            "left": left.map(roughly),
            "work": open.chain(waiting).collect::<Vec<_>>(),
        })
    }

    /// The moment that the journal tells of; `None` while the clock of the run does not run.
    fn now(&self, progress: Option<&Progress>) -> Option<Timestamp> {
        let used = SignedDuration::try_from_secs_f64(self.spent.elapsed_seconds).ok()?;
        progress?.zero()?.checked_add(used).ok()
    }

    /// Steps of which nothing is requested: their next call waits for a slot.
    fn waiting(&self, progress: &Progress) -> Vec<Value> {
        let is_at_work = |step: Step| {
            self.open.iter().any(|open| match step.path() {
                Some(path) => open.place.path() == Some(path as usize),
                None => open.place.is_within(&step.place()),
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
}

/// Something that is in progress, or waits.
fn work(place: &str, what: &str, since: &str, waits: bool) -> Value {
    let (none, output) = (Value::Null, Value::Array(Vec::new()));
    json!({
        "place": place, "what": what, "since": since, "waits": waits, "output": output,
        "began": none, "at_most": none, "tool": none,
    })
}

/// What is told about calls and scripts without a slot.
const WAITS: &str = "waits for its turn";

impl Who {
    fn of(record: &EffectRecord) -> Self {
        match record.kind {
            Kind::Agent => Self::Agent(role(record).map(agent_name).unwrap_or_default()),
            Kind::Script => Self::Script,
            _ => Self::Program,
        }
    }
}

impl Open {
    fn view(&self, folder: &Path, progress: Option<&Progress>, now: Option<Timestamp>) -> Value {
        let slot = progress.and_then(|progress| progress.running.get(&self.place));
        let place =
            progress.map_or_else(|| place_name(&self.place), |progress| progress.models.place(&self.place));
        let what = match &self.who {
            Who::Agent(name) => name.clone(),
            Who::Script => format!("script{}", on_runner(slot.and_then(|slot| slot.runner.as_deref()))),
            Who::Program => "the program".to_owned(),
        };
        let mut shown = match (progress, slot) {
            (Some(progress), Some(slot)) => running(&place, &what, slot, progress, now.unwrap_or(slot.began)),
            (Some(_), None) if !matches!(self.who, Who::Program) => work(&place, &what, WAITS, true),
            _ => work(&place, &what, &since(self.requested.0), false),
        };
        if matches!(self.who, Who::Script) {
            shown["output"] = json!(script_output::of_script(folder, &self.place, &self.requested.1));
        }
        shown
    }
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

//! What a running run does now: calls and scripts with what they print, what waits, and how much of its limits is used.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use mle_star::event::Done;
use mle_star::journal::{EffectRecord, EffectState, Kind};
use mle_star::spending::role;
use mle_star_domain::place::{Place, Step};
use serde::Serialize;

use crate::at_work::AtWork;
use crate::figures::{brief, duration, roughly};
use crate::money;
use crate::progress::{Progress, RunningCall, Wait};
use crate::run_view::{RunView, Spent, State};
use crate::script_output::{self, Output};
use crate::words::{agent_name, in_line, on_runner};

/// What the journal tells of a run's present. With events and the output of scripts, it makes a [`NowView`].
pub struct Present {
    limits: Limits,
    spent: Spent,
    done: Done,
    /// Requested calls and scripts, and the program's own work, that have not ended.
    open: Vec<Open>,
}

#[derive(Clone, Copy)]
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

/// What runs now.
#[derive(Clone, Debug, Serialize)]
pub struct NowView {
    /// How far the run is.
    pub done: Done,
    /// The time limit.
    pub time: TimeBar,
    /// The money limit, if there is one.
    pub money: Option<MoneyBar>,
    /// Calls and scripts in progress, then what waits.
    pub work: Vec<Work>,
}

/// How much of the time limit is used.
#[derive(Clone, Debug, Serialize)]
pub struct TimeBar {
    /// Seconds used.
    pub used: f64,
    /// The limit in seconds.
    pub limit: u64,
    /// When the clock of the run was at zero, in seconds since 1970; `None` while the clock does not run.
    pub zero: Option<i64>,
    /// `12m 03s of 30m used, 17m 57s left`.
    pub words: String,
    /// The estimated end: `about 9m to go at the pace so far`.
    pub pace: Option<String>,
}

/// How much of the money limit is used.
#[derive(Clone, Debug, Serialize)]
pub struct MoneyBar {
    /// US dollars; `None` if unknown.
    pub used: Option<f64>,
    /// The limit in US dollars.
    pub limit: f64,
    /// `$1.23 of $10.00 spent`.
    pub words: String,
}

/// An agent call or a script that runs or waits, or a step that waits.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Work {
    /// The place, for people.
    pub place: String,
    /// The agent's name, or `script` with its runner, or `the program`; empty for a step.
    pub what: String,
    /// When it began to run, or what it waits for.
    pub since: String,
    /// Whether it waits.
    pub waits: bool,
    /// When it began what it does, in seconds since 1970.
    pub began: Option<i64>,
    /// The time that it may take.
    pub at_most: Option<String>,
    /// The tool that an agent used last.
    pub tool: Option<String>,
    /// The end of what a script has printed.
    pub output: Vec<Output>,
}

impl Work {
    /// `path 1, step 2, attempt 3: coder, since 3m 12s into the run`.
    pub fn words(&self) -> String {
        let about = [self.what.as_str(), &self.since].into_iter().filter(|part| !part.is_empty());
        format!("{}: {}", self.place, about.collect::<Vec<_>>().join(", "))
    }
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

    /// What runs now, in the run of this folder.
    pub fn view(&self, folder: &Path, at_work: &AtWork) -> NowView {
        let progress = at_work.progress();
        let now = self.now(progress);
        let of_open = self.open.iter().map(|open| open.view(folder, progress, now));
        let waiting = progress.into_iter().flat_map(|progress| self.waiting(progress));
        NowView {
            done: self.done,
            time: self.time(progress),
            money: self.money(),
            work: of_open.chain(waiting).collect(),
        }
    }

    /// The moment that the journal tells of; `None` while the clock of the run does not run.
    fn now(&self, progress: Option<&Progress>) -> Option<Timestamp> {
        let used = SignedDuration::try_from_secs_f64(self.spent.elapsed_seconds).ok()?;
        progress?.zero()?.checked_add(used).ok()
    }

    fn time(&self, progress: Option<&Progress>) -> TimeBar {
        let (used, limit) = (self.spent.elapsed_seconds, self.limits.seconds);
        #[expect(clippy::cast_precision_loss, reason = "seconds of a run are far below 2^52")]
        let whole = limit as f64;
        let zero = progress.and_then(Progress::zero);
        let left = progress.zip(self.now(progress)).and_then(|(progress, now)| progress.seconds_left(now));
        TimeBar {
            used: used.min(whole),
            limit,
            zero: zero.map(Timestamp::as_second),
            words: format!(
                "{} of {} used, {} left",
                brief(used),
                brief(whole),
                brief((whole - used).max(0.0))
            ),
            pace: left.map(|left| format!("{} to go at the pace so far", roughly(left))),
        }
    }

    fn money(&self) -> Option<MoneyBar> {
        let Spent { cost_usd, estimated_usd, .. } = self.spent;
        let limit = self.limits.usd?;
        let words = format!("{} of {} spent", money::cost(cost_usd, estimated_usd), money::usd(limit));
        Some(MoneyBar { used: cost_usd.map(|used| used.min(limit)), limit, words })
    }

    /// Steps of which nothing is requested: their next call waits for a slot.
    fn waiting(&self, progress: &Progress) -> Vec<Work> {
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
        let work = |step: Step| Work {
            place: progress.models.step(step),
            since: WAITS.to_owned(),
            waits: true,
            ..Work::default()
        };
        waiting.map(work).collect()
    }
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
    fn view(&self, folder: &Path, progress: Option<&Progress>, now: Option<Timestamp>) -> Work {
        let slot = progress.and_then(|progress| progress.running.get(&self.place));
        let models = progress.map(|progress| progress.models.clone());
        let place = models.unwrap_or_default().place(&self.place);
        let work = match &self.who {
            Who::Agent(name) => Work { place, what: name.clone(), ..Work::default() },
            Who::Script => {
                let what = format!("script{}", on_runner(slot.and_then(|slot| slot.runner.as_deref())));
                let output = script_output::of_script(folder, &self.place, &self.requested.1);
                Work { place, what, output, ..Work::default() }
            }
            Who::Program => Work { place, what: "the program".to_owned(), ..Work::default() },
        };
        match (progress, slot) {
            (Some(progress), Some(slot)) => running(work, slot, progress, now.unwrap_or(slot.began)),
            (Some(_), None) if !matches!(self.who, Who::Program) => {
                Work { since: WAITS.to_owned(), waits: true, ..work }
            }
            _ => Work { since: since(self.requested.0), ..work },
        }
    }
}

/// A call or script with a slot.
fn running(work: Work, slot: &RunningCall, progress: &Progress, now: Timestamp) -> Work {
    let at_most = Some(slot.at_most(now)).filter(|seconds| *seconds > 0.0).map(brief);
    let (began, waits) = (slot.since(now), slot.waits(now));
    let (since, at_most) = match (waits, at_most) {
        (Some(Wait { why, .. }), Some(again)) => {
            (format!("waits for the service, asks again after {again}: {why}"), None)
        }
        (Some(Wait { why, .. }), None) => (format!("waits for the service: {why}"), None),
        (None, at_most) => (since(progress.elapsed(began)), at_most),
    };
    let tool = slot.tool.as_deref().map(in_line);
    Work { since, at_most, tool, waits: waits.is_some(), began: Some(began.as_second()), ..work }
}

fn since(seconds: f64) -> String {
    format!("since {} into the run", duration(seconds))
}

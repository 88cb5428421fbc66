//! What a running run does now: calls and scripts with what they print, what waits, and how much of its limits is used.

use std::path::Path;

use mle_star::journal::{EffectState, Kind};
use mle_star::spending::role;
use mle_star_domain::place::{Place, Step};
use serde::Serialize;

use crate::at_work::AtWork;
use crate::figures::{brief, duration, roughly};
use crate::money;
use crate::progress::{Progress, RunningCall};
use crate::run_view::{RunView, Spent, State};
use crate::script_output::{self, Output};
use crate::words::{agent_name, in_line, on_runner, place_name};

/// What the journal tells of a run's present. With events and the output of scripts, it makes a [`NowView`].
pub struct Present {
    limits: Limits,
    spent: Spent,
    /// Requested calls and scripts that have not ended.
    open: Vec<Open>,
}

#[derive(Clone, Copy)]
struct Limits {
    seconds: u64,
    usd: Option<f64>,
}

/// A requested call or script.
struct Open {
    place: Place,
    /// The agent; `None`: a script.
    agent: Option<String>,
    /// Seconds into the run, and RFC 3339.
    requested: (f64, String),
}

/// What runs now.
#[derive(Clone, Debug, Serialize)]
pub struct NowView {
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
    /// The agent's name, or `script`, with its runner; empty for a step.
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
            agent: (record.kind == Kind::Agent).then(|| role(record).map(agent_name).unwrap_or_default()),
            requested: (record.elapsed_begun, record.begun_at.clone()),
        });
        let config = &run.snapshot.frozen.config;
        let limits = Limits { seconds: config.time_limit_seconds, usd: config.max_budget_usd };
        let is_running = run.summary.run.state == State::Running;
        is_running.then(|| Self { limits, spent: run.summary.spent, open: open.collect() })
    }

    /// Changes when a script has printed something.
    pub fn stamp(&self, folder: &Path) -> String {
        let scripts = self.open.iter().filter(|open| open.agent.is_none());
        scripts.map(|open| script_output::stamp(folder, &open.place)).collect()
    }

    /// What runs now, in the run of this folder.
    pub fn view(&self, folder: &Path, at_work: &AtWork) -> NowView {
        let progress = at_work.progress();
        let of_open = self.open.iter().map(|open| open.view(folder, progress));
        let waiting = progress.into_iter().flat_map(|progress| self.waiting(progress));
        NowView { time: self.time(progress), money: self.money(), work: of_open.chain(waiting).collect() }
    }

    fn time(&self, progress: Option<&Progress>) -> TimeBar {
        let (used, limit) = (self.spent.elapsed_seconds, self.limits.seconds);
        #[expect(clippy::cast_precision_loss, reason = "seconds of a run are far below 2^52")]
        let whole = limit as f64;
        let zero = progress.and_then(Progress::zero);
        let now =
            jiff::SignedDuration::try_from_secs_f64(used).ok().and_then(|used| zero?.checked_add(used).ok());
        let left = progress.zip(now).and_then(|(progress, now)| progress.seconds_left(now));
        TimeBar {
            used: used.min(whole),
            limit,
            zero: zero.map(jiff::Timestamp::as_second),
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
        let waiting = progress.steps.keys().copied().filter(|step| stands(*step) && !is_at_work(*step));
        let work = |step: Step| Work {
            place: place_name(&step.place()),
            since: WAITS.to_owned(),
            waits: true,
            ..Work::default()
        };
        waiting.map(work).collect()
    }
}

/// What is told about calls and scripts without a slot.
const WAITS: &str = "waits for its turn";

impl Open {
    fn view(&self, folder: &Path, progress: Option<&Progress>) -> Work {
        let slot = progress.and_then(|progress| progress.running.get(&self.place));
        let runner = on_runner(slot.and_then(|slot| slot.runner.as_deref()));
        let what = self.agent.clone().unwrap_or_else(|| format!("script{runner}"));
        let output = match self.agent {
            Some(_) => Vec::new(),
            None => script_output::of_script(folder, &self.place, &self.requested.1),
        };
        let work = Work { place: place_name(&self.place), what, output, ..Work::default() };
        match (progress, slot) {
            (Some(progress), Some(slot)) => running(work, slot, progress),
            (Some(_), None) => Work { since: WAITS.to_owned(), waits: true, ..work },
            (None, _) => Work { since: since(self.requested.0), ..work },
        }
    }
}

/// A call or script with a slot.
fn running(work: Work, slot: &RunningCall, progress: &Progress) -> Work {
    let timeout = Some(slot.timeout).filter(|timeout| *timeout > 0.0).map(brief);
    let (since, at_most) = match (&slot.waits, timeout) {
        (Some(why), Some(again)) => (format!("waits for the service, asks again after {again}: {why}"), None),
        (Some(why), None) => (format!("waits for the service: {why}"), None),
        (None, timeout) => (since(progress.elapsed(slot.since)), timeout),
    };
    let tool = slot.tool.as_deref().map(in_line);
    Work { since, at_most, tool, waits: slot.waits.is_some(), began: Some(slot.since.as_second()), ..work }
}

fn since(seconds: f64) -> String {
    format!("since {} into the run", duration(seconds))
}

//! The runners of a run: where its scripts ran, and what became of the runners.

use std::collections::BTreeMap;

use mle_star::event::RunnerState;
use mle_star::journal::{EffectRecord, EffectState, Kind, Outcome as _};
use mle_star_domain::effects::ScriptOutcome;
use serde::{Deserialize as _, Serialize};

use super::context::Context;
use crate::chart::{self, About, Bar, Mood};
use crate::figures::{count, duration};
use crate::run_view::State;
use crate::runners::{Runner, name as runner_state};
use crate::sanitize::first_line;
use crate::words::place_name;

/// The name of the place where scripts without a runner run.
const HERE: &str = "this machine";
/// The most bars of a picture.
const MOST_BARS: usize = 40;
/// The longest name of a machine, in characters.
const HOST: usize = 100;
/// The longest detail, in characters.
const DETAIL: usize = 400;

/// The runners of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Runners {
    /// `34 scripts on 3 runners, and 2 on this machine. 2 scripts ran again elsewhere, because their runners were lost.`
    pub summary: String,
    /// SVG: the time of scripts by runner.
    pub chart: Option<String>,
    /// Runners by name, then this machine if scripts ran here.
    pub rows: Vec<RunnerRow>,
}

/// One runner.
#[derive(Clone, Debug, Serialize)]
pub struct RunnerRow {
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// `good`, `bad` or nothing.
    pub mood: &'static str,
    /// Why it is in its state, or what it prepares.
    pub detail: String,
    /// The places of the scripts that run on it now.
    pub now: Vec<String>,
    /// The time of its scripts.
    pub time: String,
    /// `lost twice`; `None` if it was never lost.
    pub lost: Option<String>,
    /// The time that its starts waited.
    pub waiting: Option<String>,
}

/// The figures of a runner. Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Its name; `this machine` for scripts without a runner.
    pub name: String,
    /// The name of its machine.
    pub host: Option<String>,
    /// Its state; `None` if the events do not tell, and for this machine.
    pub state: Option<&'static str>,
    /// How many scripts it runs at once.
    pub slots: Option<u64>,
    /// Scripts that ended on it.
    pub scripts: u64,
    /// The time of these scripts.
    pub seconds: f64,
    /// How often it was lost.
    pub losses: u64,
    /// Scripts that it did not finish, because it was lost.
    pub lost_scripts: u64,
    /// From its starts until it was ready, or could not be used: engines' queues, environments.
    pub waited: Option<f64>,
}

/// The scripts of runners that were lost.
#[derive(Clone, Copy, Debug, Default)]
struct Fates {
    repeated: u64,
    given_up: u64,
}

/// Creates the view of a run.
pub fn runners(context: &Context<'_>) -> Option<Runners> {
    let seen = context.at_work.runners().iter();
    let mut rows: BTreeMap<String, RunnerRow> =
        seen.map(|(name, runner)| (name.to_owned(), RunnerRow::of(context, name, runner))).collect();
    let (mut here, mut fates) = (RunnerRow::called(HERE), Fates::default());
    for outcome in context.run.snapshot.effects.iter().filter_map(outcome) {
        for name in &outcome.lost_runners {
            at(&mut rows, name).figures.lost_scripts += 1;
        }
        let ran_on = outcome.runner.as_deref();
        let figures = &mut ran_on.map_or(&mut here, |name| at(&mut rows, name)).figures;
        if outcome.limit().is_some() {
            continue;
        }
        if outcome.loss().is_some() {
            figures.lost_scripts += 1;
            fates.given_up += 1;
            continue;
        }
        figures.scripts += 1;
        figures.seconds += outcome.duration_seconds;
        fates.repeated += u64::from(!outcome.lost_runners.is_empty());
    }
    if rows.is_empty() {
        return None;
    }
    let mut rows: Vec<RunnerRow> = rows.into_values().collect();
    if here.figures.scripts > 0 {
        rows.push(here);
    }
    rows.iter_mut().for_each(|row| row.time = duration(row.figures.seconds));
    Some(Runners { summary: summary(&rows, fates), chart: picture(&rows), rows })
}

/// The row of a runner. The events may not know it, for example after a full disk.
fn at<'a>(rows: &'a mut BTreeMap<String, RunnerRow>, name: &str) -> &'a mut RunnerRow {
    rows.entry(name.to_owned()).or_insert_with(|| RunnerRow::called(name))
}

/// The outcome of a script that counts.
fn outcome(record: &EffectRecord) -> Option<ScriptOutcome> {
    let counts = record.kind == Kind::Script && record.state == EffectState::Ended;
    ScriptOutcome::deserialize(record.outcome.as_ref().filter(|_| counts)?).ok()
}

fn summary(rows: &[RunnerRow], fates: Fates) -> String {
    let scripts = |is_here: bool| -> u64 {
        let of = rows.iter().filter(|row| (row.figures.name == HERE) == is_here);
        of.map(|row| row.figures.scripts).sum()
    };
    let used = rows.iter().filter(|row| row.figures.name != HERE && row.figures.scripts > 0).count();
    let here = match scripts(true) {
        0 => String::new(),
        here => format!(", and {here} on {HERE}"),
    };
    let ran = format!("{} on {}{here}.", count(scripts(false), "script"), count(used as u64, "runner"));
    let again = match fates.repeated {
        0 => String::new(),
        1 => " 1 script ran again elsewhere, because its runner was lost.".to_owned(),
        more => format!(" {more} scripts ran again elsewhere, because their runners were lost."),
    };
    let given_up = match fates.given_up {
        0 => String::new(),
        given_up => format!(" {} given up after several lost runners.", were(given_up)),
    };
    ran + &again + &given_up
}

fn were(scripts: u64) -> String {
    format!("{} {}", count(scripts, "script"), if scripts == 1 { "was" } else { "were" })
}

/// The time of scripts by runner; `None` for a single place, and for more than fit a picture.
fn picture(rows: &[RunnerRow]) -> Option<String> {
    let bar = |row: &RunnerRow| Bar {
        name: row.figures.name.clone(),
        value: row.figures.seconds,
        shown: row.time.clone(),
        mood: if row.figures.losses > 0 { Mood::Bad } else { Mood::Plain },
    };
    let bars: Vec<Bar> = rows.iter().filter(|row| row.figures.scripts > 0).map(bar).collect();
    let about = About {
        id: "time-by-runner",
        title: "Time of scripts by runner",
        description: "Seconds of scripts on each runner; runners that were lost are red.",
    };
    chart::bars(&about, &bars).filter(|_| (2..=MOST_BARS).contains(&bars.len()))
}

fn lost(times: u64) -> Option<String> {
    match times {
        0 => None,
        1 => Some("lost once".to_owned()),
        2 => Some("lost twice".to_owned()),
        more => Some(format!("lost {more} times")),
    }
}

impl RunnerRow {
    fn called(name: &str) -> Self {
        let figures = Figures { name: name.to_owned(), ..Figures::default() };
        let (detail, time) = (String::new(), String::new());
        Self { figures, mood: "", detail, now: Vec::new(), time, lost: None, waiting: None }
    }

    fn of(context: &Context<'_>, name: &str, runner: &Runner) -> Self {
        let is_there = runner.is_current && context.run.summary.run.state == State::Running;
        let status = &runner.status;
        let (state, mood) = match status.state {
            RunnerState::Waiting | RunnerState::Ready if !is_there => ("ended", ""),
            RunnerState::Ready => (runner_state(status.state), "good"),
            RunnerState::Lost | RunnerState::Failed => (runner_state(status.state), "bad"),
            RunnerState::Waiting | RunnerState::GivenBack => (runner_state(status.state), ""),
        };
        let detail =
            status.host.as_ref().and_then(|host| status.detail.strip_prefix(host)?.strip_prefix(": "));
        let figures = Figures {
            name: name.to_owned(),
            host: status.host.as_deref().map(|host| first_line(host, HOST)),
            state: Some(state),
            slots: Some(status.slots),
            losses: runner.losses,
            waited: Some(runner.waited),
            ..Figures::default()
        };
        Self {
            figures,
            mood,
            detail: first_line(detail.unwrap_or(&status.detail), DETAIL),
            now: context.at_work.places_on(name).map(place_name).collect(),
            time: String::new(),
            lost: lost(runner.losses),
            waiting: Some(duration(runner.waited)),
        }
    }

    /// The row in words: `far-1 on far.example: 12 scripts, 34 s, lost twice, 2 scripts lost`.
    pub fn words(&self) -> String {
        let Figures { name, host, state, scripts, lost_scripts, .. } = &self.figures;
        let host = host.as_ref().map_or_else(String::new, |host| format!(" on {host}"));
        let lost = (*lost_scripts > 0).then(|| format!("{} lost", count(*lost_scripts, "script")));
        let time = (*scripts > 0).then(|| self.time.clone());
        let state = state.filter(|state| *state != "ended").map(|state| match self.mood {
            "bad" => format!("{state} ({})", first_line(&self.detail, 120)),
            _ => state.to_owned(),
        });
        let parts = [Some(count(*scripts, "script")), time, self.lost.clone(), lost, state];
        format!("{name}{host}: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

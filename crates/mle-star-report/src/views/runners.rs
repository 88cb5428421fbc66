//! The runners of a run: where its scripts ran, and what became of the runners.

use std::collections::BTreeMap;

use mle_star::event::RunnerState;
use mle_star::journal::{EffectRecord, EffectState, Kind, Outcome as _};
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::place::Place;
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};

use super::{Context, RunReport};
use crate::run_view::State;
use crate::runners::{Runner, name as state_name};
use crate::sanitize::first_line;

/// The name of the place where scripts without a runner run.
const HERE: &str = "this machine";
/// The longest name of a machine, in characters.
const HOST: usize = 100;

/// A runner as `show --json` has it. Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunnerRow {
    /// The runner's name; `this machine` for scripts without a runner.
    pub name: String,
    /// The name of its machine.
    pub host: Option<String>,
    /// The runner's state; `None` if the events do not tell, and for this machine.
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

/// The runners by name, then this machine if scripts ran here; empty for a run without runners.
pub fn runner_rows(context: &Context<'_>) -> Vec<RunnerRow> {
    let seen = context.at_work.runners().iter();
    let mut rows: BTreeMap<String, RunnerRow> =
        seen.map(|(name, runner)| (name.to_owned(), RunnerRow::of(context, name, runner))).collect();
    let mut here = RunnerRow::called(HERE);
    for outcome in outcomes(context) {
        for name in &outcome.lost_runners {
            at(&mut rows, name).lost_scripts += 1;
        }
        let ran_on = outcome.runner.as_deref();
        let row = ran_on.map_or(&mut here, |name| at(&mut rows, name));
        if outcome.loss().is_some() {
            row.lost_scripts += 1;
        } else if outcome.limit().is_none() {
            row.scripts += 1;
            row.seconds += outcome.duration_seconds;
        }
    }
    let here = Some(here).filter(|here| here.scripts > 0 && !rows.is_empty());
    rows.into_values().chain(here).collect()
}

/// The runners with what they do now, and what became of the scripts of lost ones; `None` for a run without runners.
pub fn runners(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let rows = runner_rows(context);
    if rows.is_empty() {
        return None;
    }
    let row = |one: &RunnerRow| {
        let now: Vec<&Place> = context.at_work.places_on(&one.name).collect();
        json!({"figures": one, "detail": detail(context, &one.name), "now": now})
    };
    let (here, away): (Vec<&RunnerRow>, Vec<&RunnerRow>) = rows.iter().partition(|one| one.name == HERE);
    let is_repeated = |one: &ScriptOutcome| !one.lost_runners.is_empty() && one.limit().is_none();
    Some(json!({
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "scripts": away.iter().map(|one| one.scripts).sum::<u64>(),
        "used": away.iter().filter(|one| one.scripts > 0).count(),
        "here": here.first().map(|one| one.scripts),
        "repeated": outcomes(context).filter(|one| one.loss().is_none() && is_repeated(one)).count(),
        "given_up": outcomes(context).filter(|one| one.loss().is_some()).count(),
    }))
}

/// The row of a runner. The events may not know it, for example after a full disk.
fn at<'a>(rows: &'a mut BTreeMap<String, RunnerRow>, name: &str) -> &'a mut RunnerRow {
    rows.entry(name.to_owned()).or_insert_with(|| RunnerRow::called(name))
}

/// The outcomes of scripts that count.
fn outcomes<'a>(context: &'a Context<'_>) -> impl Iterator<Item = ScriptOutcome> + 'a {
    let counts = |record: &&EffectRecord| record.kind == Kind::Script && record.state == EffectState::Ended;
    let records = context.run.snapshot.effects.iter().filter(counts);
    records.filter_map(|record| ScriptOutcome::deserialize(record.outcome.as_ref()?).ok())
}

/// Why a runner is in its state, or what it prepares.
fn detail<'a>(context: &'a Context<'_>, name: &str) -> Option<&'a str> {
    let (_, runner) = context.at_work.runners().iter().find(|(known, _)| *known == name)?;
    let detail = &runner.status.detail;
    let short = runner.status.host.as_ref().and_then(|host| detail.strip_prefix(host)?.strip_prefix(": "));
    Some(short.unwrap_or(detail))
}

impl RunnerRow {
    fn called(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    fn of(context: &Context<'_>, name: &str, runner: &Runner) -> Self {
        let is_there = runner.is_current && context.run.summary.run.state == State::Running;
        let status = &runner.status;
        let has_ended = !is_there && matches!(status.state, RunnerState::Waiting | RunnerState::Ready);
        Self {
            host: status.host.as_deref().map(|host| first_line(host, HOST)),
            state: Some(if has_ended { "ended" } else { state_name(status.state) }),
            slots: Some(status.slots),
            losses: runner.losses,
            waited: Some(runner.waited),
            ..Self::called(name)
        }
    }
}

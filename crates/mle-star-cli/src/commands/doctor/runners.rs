//! `doctor` with runners: starts one of each entry of the settings, measures it and ends it.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use mle_star_backends::runners::entry::RunnerEntry;
use mle_star_backends::runners::fleet::{PythonStatus, RunnerMeasurement, probe};
use mle_star_backends::runners::protocol::Hello;
use mle_star_backends::script::environment::{Environment, made_environment};
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::{count, duration, rounded};
use mle_star_report::sanitize::first_line;
use mle_star_run::settings::Settings;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{gpus, headed, python};
use crate::exit::Failure;
use crate::foreground::signals::listen;
use crate::output;

/// How long a runner may take to be measured after its start.
const MEASURE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long commands may take to end after Ctrl-C.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest text of a runner that is shown, in characters.
const MAX_WAIT: usize = 400;

/// An entry with what was found.
#[derive(Debug, Serialize)]
pub struct CheckedRunner {
    name: String,
    /// How many runners of it there are at most.
    count: u32,
    /// Scripts at once of each, as far as is known.
    slots: usize,
    /// Whether its command led to a runner that answers.
    reached: bool,
    /// Seconds until it answered, or until it was given up.
    seconds: f64,
    /// Why it was not reached.
    reason: Option<String>,
    #[serde(flatten)]
    found: Option<ReachedRunner>,
}

/// A runner that was reached.
#[derive(Debug, Serialize)]
struct ReachedRunner {
    #[serde(flatten)]
    hello: Hello,
    /// The interpreter that the entry names for scripts.
    python_of_entry: Option<String>,
    /// Whether scripts can run there; `None` if that is known only once the first run has made an environment.
    python_works: Option<bool>,
    /// The same in words.
    python_says: String,
    /// The median time until an answer.
    round_trip_ms: f64,
    /// The speed of data to it.
    megabytes_per_second: f64,
}

/// Checks all runners of the settings side by side.
///
/// # Errors
/// Ctrl-C.
pub async fn check(settings: &Settings) -> Result<Vec<CheckedRunner>, Failure> {
    let entries = &settings.invocation.runners;
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    // Installed before anything is printed.
    let signals = listen()?;
    let mut cancel = signals.cancel().clone();
    let longest = entries.iter().map(|entry| entry.start_timeout).max().unwrap_or_default();
    output::talk(&format!("starting {}, for up to {longest} s", count(entries.len() as u64, "runner")));
    let all = async {
        let here = environment(settings.config.python.as_deref()).await;
        join_all(entries.iter().map(|entry| check_one(entry, here.as_ref(), signals.cancel().clone()))).await
    };
    tokio::pin!(all);
    tokio::select! {
        checked = &mut all => Ok(checked),
        _ = cancel.wait_for(|wanted| *wanted) => {
            // A command that waits in a queue takes its job out.
            let _ = timeout(END_TIMEOUT, all).await;
            let message = "stopped before all runners were checked";
            let trouble = Trouble::new(message, "check some of them with --runner NAME");
            Err(Failure { exit: signals.exit(), trouble })
        }
    }
}

/// What scripts on this machine run with, if it exists.
async fn environment(given: Option<&Path>) -> Option<Environment> {
    match given {
        Some(_) => python(given).await,
        None => made_environment().await,
    }
}

async fn check_one(
    entry: &RunnerEntry,
    here: Option<&Environment>,
    mut stopped: watch::Receiver<bool>,
) -> CheckedRunner {
    let began = Instant::now();
    let limit = Duration::from_secs(entry.start_timeout).saturating_add(MEASURE_TIMEOUT);
    let unwanted = async { drop(stopped.wait_for(|stopped| *stopped).await) };
    let probed = timeout(limit, probe(entry, here, unwanted)).await.unwrap_or_else(|_| {
        Err(format!("it answered, but could not be measured within {} s", MEASURE_TIMEOUT.as_secs()))
    });
    let reached = probed.is_ok();
    let (seconds, slots, reason, found) = match probed {
        Ok(probe) => {
            let slots = entry.slots.map_or(probe.hello.machine.gpus.len().max(1), |slots| slots as usize);
            (probe.started_in.as_secs_f64(), slots, None, Some(describe(entry, probe)))
        }
        Err(reason) => (began.elapsed().as_secs_f64(), entry.expected_slots(), Some(reason), None),
    };
    CheckedRunner { name: entry.name.clone(), count: entry.count, slots, reached, seconds, reason, found }
}

fn describe(
    entry: &RunnerEntry,
    RunnerMeasurement { hello, round_trip, bytes_per_second, python, .. }: RunnerMeasurement,
) -> ReachedRunner {
    let (python_works, python_says) = match python {
        PythonStatus::Works => (Some(true), "can run".to_owned()),
        PythonStatus::Fails(reason) => (Some(false), format!("cannot run: {reason}")),
        PythonStatus::Later => (None, "the first run makes their environment".to_owned()),
        PythonStatus::Starts => {
            let says = "their Python starts; the first run compares its versions with those here";
            (None, says.to_owned())
        }
    };
    ReachedRunner {
        python_of_entry: entry.python.as_ref().map(|python| python.display().to_string()),
        python_works,
        python_says,
        hello,
        round_trip_ms: round_trip.as_secs_f64() * 1e3,
        megabytes_per_second: bytes_per_second / 1e6,
    }
}

impl CheckedRunner {
    /// The findings, with a blank line before.
    pub fn lines(&self) -> Vec<String> {
        let Self { name, count: most, slots, seconds, reason, found, .. } = self;
        let after = duration(*seconds);
        let Some(found) = found else {
            let why = first_line(reason.as_deref().unwrap_or_default(), MAX_WAIT);
            return vec![String::new(), format!("runner {name}: not reached after {after}: {why}")];
        };
        let scripts = count(*slots as u64, "script");
        let head =
            format!("runner {name}: reached in {after}; up to {most} of them, {scripts} at once on each");
        let rows = found.rows().into_iter();
        let rows = rows.map(|(what, text)| format!("  {what:<12}{}", first_line(&text, MAX_WAIT)));
        [String::new(), head].into_iter().chain(rows).collect()
    }
}

impl ReachedRunner {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let Hello { host, platform, version, protocol, machine, isolation, python, .. } = &self.hello;
        let path = python.as_deref().unwrap_or("none");
        let python = match &self.python_of_entry {
            Some(given) => format!("{given} as configured ({path} on its PATH)"),
            None => format!("{path} on its PATH"),
        };
        let mut rows = vec![
            ("host:", format!("{host} ({platform})")),
            ("mle-star:", format!("{version}, protocol {protocol}")),
            ("python:", python),
            ("scripts:", self.python_says.clone()),
            ("cores:", machine.cores.to_string()),
            ("memory:", format!("{} GiB", machine.memory_mib / 1024)),
            ("gpus:", gpus(machine)),
        ];
        // What is not enforced comes last.
        rows.extend(headed("isolation:", isolation.split("; ").map(str::to_owned)));
        rows.extend([
            ("round trip:", format!("{} ms", rounded(self.round_trip_ms))),
            ("data:", format!("{} MB/s", rounded(self.megabytes_per_second))),
        ]);
        rows
    }
}

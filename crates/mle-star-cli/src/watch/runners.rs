//! The runners of a run as a line at the bottom of the terminal.

use std::collections::BTreeSet;

use jiff::Timestamp;
use mle_star::event::RunnerState;
use mle_star_report::figures::brief;
use mle_star_report::pace::seconds;
use mle_star_report::runners::{Runner, Runners, name as runner_state};
use mle_star_report::sanitize::first_line;

use super::text::{Style, Text};

/// The runners now in one line, while scripts run on those of `busy`; `None` without any.
pub fn line(runners: &Runners, busy: &BTreeSet<&str>, now: Timestamp) -> Option<Text> {
    let of = |state: RunnerState| {
        let current = runners.iter().filter(|(_, runner)| runner.is_current);
        current.filter(move |(_, runner)| runner.status.state == state)
    };
    let ready = of(RunnerState::Ready).count();
    let at_work = of(RunnerState::Ready).filter(|(name, _)| busy.contains(name)).count();
    let (prepared, queued): (Vec<&Runner>, Vec<&Runner>) =
        of(RunnerState::Waiting).map(|(_, runner)| runner).partition(|runner| runner.status.host.is_some());
    let ready = match (ready, at_work) {
        (0, _) => None,
        (_, 0) => Some(format!("{ready} ready")),
        _ => Some(format!("{ready} ready ({at_work} busy)")),
    };
    let waiting = [waiting(&queued, "waiting", now), waiting(&prepared, "preparing", now)];
    let gone = |state: RunnerState| {
        Some(of(state).count())
            .filter(|count| *count > 0)
            .map(|count| format!("{count} {}", runner_state(state)))
    };
    let plain = [ready].into_iter().chain(waiting).chain([gone(RunnerState::GivenBack)]);
    let bad = [RunnerState::Lost, RunnerState::Failed].map(gone);
    let parts = plain.map(|part| (Style::Plain, part)).chain(bad.map(|part| (Style::Bad, part)));
    let parts = parts.filter_map(|(style, part)| Some((style, part?)));
    parts.fold(None, |line: Option<Text>, (style, part)| {
        let line =
            line.map_or_else(|| Text::of(Style::Plain, "runners: "), |line| line.and(Style::Plain, ", "));
        Some(line.and(style, part))
    })
}

/// `2 waiting for 40s`, `1 preparing for 3s: installs numpy`.
fn waiting(runners: &[&Runner], what: &str, now: Timestamp) -> Option<String> {
    let first = runners.first()?;
    let longest = runners.iter().map(|runner| seconds(runner.since, now)).fold(0.0, f64::max);
    let detail = match first.status.detail.as_str() {
        "" => String::new(),
        detail => format!(": {}", first_line(detail, 60)),
    };
    Some(format!("{} {what} for {}{detail}", runners.len(), brief(longest)))
}

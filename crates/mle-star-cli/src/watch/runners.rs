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

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use mle_star::event::Line;
    use serde_json::{Value, json};

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    /// The runners after these events, each with its second.
    fn runners(events: &[(i64, Value)]) -> Runners {
        let mut runners = Runners::default();
        for (second, event) in events {
            let event = serde_json::from_value(event.clone()).unwrap();
            runners.take(&Line { time: at(*second), run_id: "r".to_owned(), event });
        }
        runners
    }

    fn runner(name: &str, state: &str, host: Option<&str>, detail: &str) -> Value {
        let waited = (state == "ready").then_some(4.5);
        json!({"event": "runner", "runner": name, "state": state, "host": host, "slots": 2, "waited": waited,
            "detail": detail})
    }

    fn ended() -> Value {
        json!({"event": "run_ended", "exit_code": 1, "error": null, "hint": null})
    }

    #[test]
    fn the_line_counts_the_runners_of_this_process_by_state() {
        let check = |events: &[(i64, Value)], busy: &[&str], expected: &str| {
            let busy = busy.iter().copied().collect();
            let line = line(&runners(events), &busy, at(50)).map(|line| line.drawn(200, false).text);
            assert_eq!(line.unwrap_or_default(), expected, "{events:?}");
        };
        check(&[], &[], "");
        let mut events =
            vec![(10, runner("a-1", "waiting", None, "")), (20, runner("a-2", "waiting", None, ""))];
        check(&events, &[], "runners: 2 waiting for 40s");
        events.push((22, runner("a-2", "waiting", Some("host"), "installs numpy\nand more")));
        check(&events, &[], "runners: 1 waiting for 40s, 1 preparing for 30s: installs numpy");
        events.push((23, runner("a-1", "ready", Some("host"), "")));
        events.push((24, runner("a-2", "ready", Some("host"), "")));
        check(&events, &[], "runners: 2 ready");
        check(&events, &["a-2", "gone"], "runners: 2 ready (1 busy)");
        events.push((25, runner("a-1", "lost", Some("host"), "killed")));
        events.push((26, runner("b-1", "failed", None, "no such host")));
        events.push((26, runner("b-2", "given_back", Some("host"), "")));
        check(&events, &["a-1", "a-2"], "runners: 1 ready (1 busy), 1 given back, 1 lost, 1 failed");
        events.push((27, ended()));
        check(&events, &[], "");
        events.push((30, runner("a-1", "waiting", None, "")));
        check(&events, &[], "runners: 1 waiting for 20s");
    }
}

//! The status of a run at the bottom of the terminal.
//!
//! Pure functions from [`Progress`], the time and the size of the screen to [`Text`].

use jiff::Timestamp;
use jiff::tz::TimeZone;
use mle_star_domain::place::Place;
use mle_star_report::figures::{brief, count, number, roughly};
use mle_star_report::money;
use mle_star_report::pace::seconds;
use mle_star_report::progress::{Best, Progress, RunningCall};
use mle_star_report::words::{done_words, on_runner, phase_title};

use super::text::{Style, Text};
use crate::output;

/// The time and the screen.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The time.
    pub now: Timestamp,
    /// The time zone of the user.
    pub zone: TimeZone,
    /// Width of the screen.
    pub columns: usize,
    /// Height of the screen.
    pub rows: usize,
}

impl Frame {
    /// The current time and the terminal behind stderr. One column stays free, because some terminals wrap a full
    /// line.
    pub fn now() -> Self {
        let (columns, rows) = output::size();
        Self { now: Timestamp::now(), zone: TimeZone::system(), columns: columns.saturating_sub(1), rows }
    }
}

/// The status.
pub fn lines(progress: &Progress, frame: &Frame) -> Vec<Text> {
    let head = [vec![heading(progress, frame)], vec![score(progress, frame)], vec![counts(progress)]];
    let head = head.into_iter().flatten().flat_map(|parts| flowing(parts, frame.columns));
    // The cursor needs a row, too.
    head.chain(rows(progress, frame)).take(frame.rows.saturating_sub(1).max(1)).collect()
}

/// Phase, elapsed time, estimated end.
fn heading(progress: &Progress, frame: &Frame) -> Vec<Text> {
    let phase = progress.phase.map_or_else(|| "Getting ready".to_owned(), phase_title);
    let limit = progress.outline.as_ref().map_or(0, |outline| outline.time_limit);
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run are far below 2^52")]
    let of = if limit > 0 { format!(" of {}", brief(limit as f64)) } else { String::new() };
    let elapsed = format!("{}{of}", brief(progress.elapsed(frame.now)));
    let done = progress.done(frame.now).map(done_words).unwrap_or_default();
    let mut parts =
        vec![Text::of(Style::Bold, phase), Text::of(Style::Plain, done), Text::of(Style::Plain, elapsed)];
    if let Some(left) = progress.seconds_left(frame.now) {
        parts.push(Text::of(Style::Plain, format!("{} left, until {}", roughly(left), end(left, frame))));
    }
    parts
}

/// The estimated time of day of the run's end, with the day of the week if that is not today.
fn end(left: f64, frame: &Frame) -> String {
    let now = frame.now.to_zoned(frame.zone.clone());
    let left = jiff::SignedDuration::try_from_secs_f64(left).unwrap_or_default();
    let end = now.checked_add(left).unwrap_or_else(|_| now.clone());
    let is_today = end.date() == now.date();
    end.strftime(if is_today { "%H:%M" } else { "%a %H:%M" }).to_string()
}

/// The best score, and the step that made it.
fn score(progress: &Progress, frame: &Frame) -> Vec<Text> {
    let metric = progress.outline.as_ref().map_or("best", |outline| outline.metric.as_str());
    let Some(best) = &progress.best else {
        return vec![Text::of(Style::Plain, format!("{metric}: no score yet"))];
    };
    let value = Text::of(Style::Plain, format!("{metric} ")).and(Style::Bold, number(best.score));
    vec![value, last_change(progress, best, frame)]
}

fn last_change(progress: &Progress, best: &Best, frame: &Frame) -> Text {
    let ago = brief(seconds(best.time, frame.now));
    let by = format!("{}, {ago} ago", progress.models.place(&best.place));
    match progress.score(best.score).zip(best.from.and_then(|from| progress.score(from))) {
        None => Text::of(Style::Plain, by),
        Some((score, before)) => {
            let gain = number(score.gain_over(before));
            let change = Text::of(Style::Good, format!("improved {gain}"));
            change.and(Style::Plain, format!(" by {by}"))
        }
    }
}

/// Scripts, calls, money.
fn counts(progress: &Progress) -> Vec<Text> {
    let (run, failed) = progress.scripts;
    let scripts = Text::of(Style::Plain, format!("{} run", count(run, "script")));
    let scripts = match (run, failed) {
        (0, _) => scripts,
        (_, 0) => scripts.and(Style::Plain, ", none failed"),
        _ => scripts.and(Style::Plain, ", ").and(Style::Bad, format!("{failed} failed")),
    };
    let mut parts = vec![scripts, Text::of(Style::Plain, count(progress.calls, "agent call"))];
    let of = progress.outline.as_ref().and_then(|outline| outline.max_budget_usd);
    if let Some(spent) = progress.spent.filter(|spent| !money::is_free(spent)) {
        let of = of.map_or_else(String::new, |max| format!(" of {}", money::usd(max)));
        let cost = spent.cost_usd.map_or_else(|| "cost unknown".to_owned(), |_| money::cost_of(&spent));
        parts.push(Text::of(Style::Plain, format!("{cost}{of}")));
        parts.push(Text::of(Style::Plain, format!("{} tokens", money::tokens(money::all_tokens(&spent)))));
    }
    parts
}

/// The calls and scripts that run now, the oldest first.
fn rows(progress: &Progress, frame: &Frame) -> Vec<Text> {
    let mut running: Vec<(&Place, &RunningCall)> = progress.running.iter().collect();
    running.sort_by_key(|(_, call)| call.began);
    let label = |place: &Place| Text::of(Style::Plain, progress.models.place(place));
    let widest = running.iter().map(|(place, _)| label(place).width()).max().unwrap_or(0);
    let row = |(place, call): (&Place, &RunningCall)| {
        label(place).padded(widest + 2).then(activity(place, call, frame))
    };
    running.into_iter().map(row).collect()
}

/// `coder 12s of 15m`, `debugger (repair 2) 3s of 15m`, `script on far-1 3s of 1h`, `retriever 40s of 15m, WebSearch:
/// tabular models`.
fn activity(place: &Place, effect: &RunningCall, frame: &Frame) -> Text {
    let repair = place.repair().map_or_else(String::new, |repair| format!(" (repair {repair})"));
    let at_most = effect.at_most(frame.now);
    let of = if at_most > 0.0 { format!(" of {}", brief(at_most)) } else { String::new() };
    let time = format!(" {}{of}", brief(seconds(effect.since(frame.now), frame.now)));
    let tool = effect.tool.as_ref().map_or_else(String::new, |tool| format!(", {tool}"));
    let at = on_runner(effect.runner.as_deref());
    Text::of(Style::Plain, format!("{}{repair}{at}", effect.words(frame.now)))
        .and(Style::Dim, format!("{time}{tool}"))
}

/// The parts on one line, or on two if they do not fit.
fn flowing(parts: Vec<Text>, columns: usize) -> Vec<Text> {
    const BETWEEN: &str = " · ";
    let mut lines: Vec<Text> = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        match lines.pop() {
            None => lines.push(part),
            Some(line)
                if line.width() + BETWEEN.chars().count() + part.width() <= columns || lines.len() == 1 =>
            {
                lines.push(line.and(Style::Dim, BETWEEN).then(part));
            }
            Some(line) => lines.extend([line, part]),
        }
    }
    lines
}

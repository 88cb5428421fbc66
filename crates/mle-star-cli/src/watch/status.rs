//! The status of a run at the bottom of the terminal.
//!
//! Pure functions from [`Progress`], the time and the size of the screen to [`Text`].

use jiff::Timestamp;
use jiff::tz::TimeZone;
use mle_star_domain::place::{Phase, Place, Step};
use mle_star_report::figures::{brief, count, number, roughly};
use mle_star_report::money;
use mle_star_report::pace::seconds;
use mle_star_report::progress::{Best, PathState, Progress, RunningCall};
use mle_star_report::sanitize::width;
use mle_star_report::words::{done_words, on_runner, phase_title, place_name};

use super::runners;
use super::text::{Style, Text, sparkline};
use crate::output;

/// From this width on there is room for words.
const WIDE: usize = 60;
/// The longest sparkline.
const SPARKS: usize = 24;

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

/// A path or step in progress.
struct StatusRow {
    /// Path or step.
    label: String,
    /// Steps of a path.
    at: String,
    best: Option<f64>,
    doing: Text,
}

/// The status.
pub fn lines(progress: &Progress, frame: &Frame) -> Vec<Text> {
    let head = [vec![heading(progress, frame)], vec![score(progress, frame)], vec![counts(progress)]];
    let head = head.into_iter().flatten().flat_map(|parts| flowing(parts, frame.columns));
    let runners = runners::line(&progress.runners, &progress.busy().collect(), frame.now);
    bounded(head.chain(runners).collect(), rows(progress, frame), frame.rows)
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

/// The best score, its history, and the step that made it.
fn score(progress: &Progress, frame: &Frame) -> Vec<Text> {
    let metric = progress.outline.as_ref().map_or("best", |outline| outline.metric.as_str());
    let Some(best) = &progress.best else {
        return vec![Text::of(Style::Plain, format!("{metric}: no score yet"))];
    };
    let room = SPARKS.min(frame.columns / 4);
    let sparks = sparkline(&progress.history, room);
    let value = Text::of(Style::Plain, format!("{metric} ")).and(Style::Bold, number(best.score));
    let value = if sparks.is_empty() { value } else { value.and(Style::Plain, format!(" {sparks}")) };
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

/// The paths of Phase 2, and other steps in progress.
fn rows(progress: &Progress, frame: &Frame) -> Vec<Text> {
    let mut rows: Vec<StatusRow> = Vec::new();
    if progress.phase == Some(Phase::Phase2) {
        let of_path = |(path, state): (&usize, &PathState)| {
            let running = || progress.running.iter().filter(|(place, _)| place.path() == Some(*path));
            path_row(*path, state, longest(running()), running().count(), frame)
        };
        rows.extend(progress.paths.iter().map(of_path));
    }
    let mut steps: Vec<Place> = progress.running.keys().map(step_of).collect();
    steps.extend(progress.steps.keys().map(|step| step.place()));
    steps.retain(|step| step.path().is_none());
    steps.sort_by_key(|place| (place.phase(), place.step()));
    steps.dedup();
    rows.extend(steps.iter().map(|step| step_row(step, progress, frame)));
    in_columns(&rows, frame.columns >= WIDE)
}

/// Rows in aligned columns; without scores on a narrow screen.
fn in_columns(rows: &[StatusRow], is_wide: bool) -> Vec<Text> {
    let best = |row: &StatusRow| row.best.filter(|_| is_wide).map(|best| format!("best {}", number(best)));
    let parts = |row: &StatusRow| [row.label.clone(), row.at.clone(), best(row).unwrap_or_default()];
    let gap = if is_wide { 2 } else { 1 };
    let columns = [0, 1, 2].map(|part| {
        let widest = rows.iter().map(|row| width(&parts(row)[part])).max().unwrap_or(0);
        if widest == 0 { 0 } else { widest + gap }
    });
    let line = |row: &StatusRow| {
        let cells = parts(row).into_iter().zip(columns);
        let start = cells.map(|(part, columns)| Text::of(Style::Plain, part).padded(columns));
        start.fold(Text::default(), Text::then).then(row.doing.clone())
    };
    rows.iter().map(line).collect()
}

fn path_row(
    path: usize,
    state: &PathState,
    running: Option<(&Place, &RunningCall)>,
    others: usize,
    frame: &Frame,
) -> StatusRow {
    let step = |letter: &str, step: Option<(u32, u32)>| step.map(|(at, of)| format!("{letter}{at}/{of}"));
    let at = [step("t", state.outer), step("k", state.inner)].into_iter().flatten().collect::<Vec<_>>();
    let doing = match running {
        Some((place, effect)) => activity(place, effect, frame).then(more(others)),
        None if state.is_over => Text::of(Style::Dim, "done"),
        None => Text::of(Style::Dim, "waits for its turn"),
    };
    StatusRow { label: format!("path {}", path + 1), at: at.join(" "), best: state.best, doing }
}

fn step_row(step: &Place, progress: &Progress, frame: &Frame) -> StatusRow {
    let within = || progress.running.iter().filter(|(place, _)| step_of(place) == *step);
    let doing = match longest(within()) {
        Some((place, effect)) => activity(place, effect, frame).then(more(within().count())),
        None => Text::of(Style::Dim, "waits for its turn"),
    };
    // Only numbered steps are one of several.
    let numbered =
        step.step().filter(|step| matches!(step, Step::Candidate(_) | Step::Merge(_) | Step::Round(_)));
    let of = numbered.and_then(|step| progress.steps.get(&step)).map(|step| step.of);
    let name = || progress.models.place(step);
    let label = of.map_or_else(name, |of| format!("{}/{of}", place_name(step)));
    StatusRow { label, at: String::new(), best: None, doing }
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

fn more(running: usize) -> Text {
    match running {
        0 | 1 => Text::default(),
        _ => Text::of(Style::Dim, format!(", +{} more", running - 1)),
    }
}

/// The effect that began first.
fn longest<'a>(
    effects: impl Iterator<Item = (&'a Place, &'a RunningCall)>,
) -> Option<(&'a Place, &'a RunningCall)> {
    effects.min_by_key(|(_, effect)| effect.began)
}

/// The path or step that a place belongs to, otherwise its phase.
fn step_of(place: &Place) -> Place {
    match (place.path(), place.step(), place.phase()) {
        (Some(path), _, _) => Place::of_path(u32::try_from(path).unwrap_or(u32::MAX)),
        (None, Some(step), _) => step.place(),
        (None, None, Some(phase)) => Place::from(phase),
        (None, None, None) => Place::root(),
    }
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

/// At most as many lines as the screen has room for, with one row for the cursor; says how many rows are hidden.
fn bounded(head: Vec<Text>, mut rows: Vec<Text>, height: usize) -> Vec<Text> {
    let room = height.saturating_sub(1).max(1);
    let mut lines = head;
    lines.truncate(room);
    let left = room - lines.len();
    if rows.len() > left {
        let hidden = rows.len() + 1 - left.max(1);
        rows.truncate(left.saturating_sub(1));
        if left > 0 {
            rows.push(Text::of(Style::Dim, format!("+{hidden} more")));
        }
    }
    lines.extend(rows);
    lines
}

//! `watch --news`: what happened in a run, for those who ask now and then.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::{self, RunSummary, State};
use mle_star_report::sanitize::first_line;
use mle_star_report::words::done_words;
use serde::Serialize;

use super::{outcome, unreadable};
use crate::args::{Until, WatchArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::watch::{News, NewsItem};

const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// After the first news, others are waited for a moment.
const MOMENT: Duration = Duration::from_millis(600);

/// The state of a run, and what happened in it.
#[derive(Debug, Serialize)]
struct NewsReport {
    #[serde(flatten)]
    summary: RunSummary,
    folder: PathBuf,
    /// Agent calls and scripts in progress.
    now: Vec<String>,
    /// Estimated; null while it is too early to say.
    seconds_left: Option<f64>,
    /// What happened, oldest first.
    news: Vec<String>,
    /// For `--since` of the next call.
    next: usize,
    /// Of a run that is not running: the exit code of its process.
    exit_code: Option<u8>,
    /// Why it ended without a result, with a hint.
    error: Option<String>,
}

/// Waits for news of a run, and prints them with its state.
///
/// # Errors
/// The events or the journal cannot be read.
pub fn print(folder: &Path, args: &WatchArgs) -> Result<Exit, Failure> {
    let mut news = News::of(folder);
    let mut items = read(&mut news, folder)?;
    // What happened before is known to the caller, unless it says otherwise.
    let since = args.since.unwrap_or(news.read);
    items.retain(|item| item.at >= since);
    output::talk(&status(&summary(folder)?));
    items.iter().for_each(|item| output::talk(&item.text));
    let mut until = Instant::now() + Duration::from_secs(args.wait);
    loop {
        // Checked before reading, so that the last lines of a process that ends now are read, too.
        let is_running = run_view::is_running(folder);
        let new = read(&mut news, folder)?;
        new.iter().for_each(|item| output::talk(&item.text));
        items.extend(new);
        if args.until == Until::News && !items.is_empty() {
            until = until.min(Instant::now() + MOMENT);
        }
        if !is_running || Instant::now() >= until {
            break;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let report_of_run = report(folder, &news, &items)?;
    if args.json {
        output::json(&report_of_run)?;
    } else {
        output::shown(&status(&report_of_run.summary));
    }
    Ok(Exit::Done)
}

fn read(news: &mut News, folder: &Path) -> Result<Vec<NewsItem>, Failure> {
    news.new_items().map_err(|error| unreadable(folder, &error))
}

fn summary(folder: &Path) -> Result<RunSummary, Failure> {
    Ok(run_view::read(folder)?.summary)
}

/// The state in a line.
fn status(summary: &RunSummary) -> String {
    let run = &summary.run;
    let best = summary.best_score.map(|best| format!(", best validation score {}", number(best)));
    let (done, time) = (done_words(summary.done), duration(summary.spent.elapsed_seconds));
    let (stage, best) = (summary.stage(), best.unwrap_or_default());
    format!("run {} is {}: {stage}, {done}{best}, {time}", run.run_id, run.state.name())
}

fn report(folder: &Path, news: &News, items: &[NewsItem]) -> Result<NewsReport, Failure> {
    let (summary, progress, time) = (summary(folder)?, &news.progress, Timestamp::now());
    let is_running = summary.run.state == State::Running;
    let running = progress.running.iter().map(|(place, effect)| {
        let since = duration(time.duration_since(effect.since(time)).as_secs_f64());
        format!("{}: {}, for {since}", progress.models.place(place), first_line(&effect.words(time), 100))
    });
    let (exit_code, error) = match outcome(folder) {
        _ if is_running => (None, None),
        Ok(exit) => (Some(exit.code()), None),
        Err(Failure { exit, trouble }) => {
            (Some(exit.code()), Some(format!("{}; hint: {}", trouble.message, trouble.hint)))
        }
    };
    Ok(NewsReport {
        now: if is_running { running.collect() } else { Vec::new() },
        seconds_left: progress.seconds_left(time).filter(|_| is_running),
        news: items.iter().map(|item| first_line(&item.text, 300)).collect(),
        next: news.read,
        folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
        summary,
        exit_code,
        error,
    })
}

//! The tool `watch`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mle_star::event::{Done, Event};
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::{count, duration, number};
use mle_star_report::run_view::{self, State};
use mle_star_report::sanitize::first_line;
use mle_star_report::words::{done_words, phase_title};
use mle_star_run::runs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Hub;
use super::answer::Answer;
use super::caller::Caller;
use crate::commands::watch::{outcome, unreadable};
use crate::processes::Late;
use crate::watch::{Item, News};

pub const ABOUT: &str = "Wait for news of a run, or with until=\"end\" for its end, at most wait_seconds, and return its progress. \
Call it again until the state is not running. Pass next of the last answer as since to miss nothing in between.";

/// The default and the longest wait. Many clients end a call after a minute.
const WAIT: u64 = 30;
const LONGEST_WAIT: u64 = 600;
const LOOK: Duration = Duration::from_millis(250);
/// After the first news, others are waited for a moment.
const MOMENT: Duration = Duration::from_millis(600);
/// How often a client that listens hears from a run without news.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// The most news that are shown.
const MOST_NEWS: usize = 30;

/// What to wait for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchInput {
    /// Run ID, or path of the run folder
    run: String,
    /// Answer after this time at the latest; default 30, at most 600. Many clients end a call after 60 seconds
    wait_seconds: Option<u64>,
    /// What to wait for; default news
    #[serde(default)]
    until: Until,
    /// next of the last answer; news after it are reported, also those from before this call
    since: Option<usize>,
}

/// What to wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Until {
    /// A step or phase that ended, a warning, or the end of the run
    #[default]
    News,
    /// The end of the run
    End,
}

/// The progress of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Watched {
    run_id: String,
    folder: PathBuf,
    state: State,
    /// `Phase 2: refinement`
    phase: Option<String>,
    /// The best validation score so far.
    best_score: Option<f64>,
    /// The step that reached it.
    best_at: Option<String>,
    /// How far the run is; null before it has a plan.
    done: Option<Done>,
    elapsed_seconds: f64,
    /// Estimated; null while it is too early to say.
    seconds_left: Option<f64>,
    scripts: u64,
    failed_scripts: u64,
    agent_calls: u64,
    /// Estimates included; null if nothing is known.
    cost_usd: Option<f64>,
    /// The estimated part.
    estimated_usd: f64,
    /// Agent calls and scripts in progress.
    now: Vec<String>,
    /// What happened, oldest first.
    news: Vec<String>,
    /// How many earlier news are not shown.
    news_left_out: usize,
    /// Pass it as since next time.
    next: usize,
    /// Of a run that is not running: the exit code of its process; 0 is a checked submission.
    exit_code: Option<u8>,
    /// Why it ended without a result, with a hint.
    error: Option<String>,
}

/// Waits for news of a run.
pub async fn watch(hub: Arc<Hub>, input: WatchInput, caller: Caller) -> Result<Answer<Watched>, Trouble> {
    let wait = Duration::from_secs(input.wait_seconds.unwrap_or(WAIT).min(LONGEST_WAIT));
    let began = Instant::now();
    let until = began + wait;
    let folder = loop {
        match hub.find(&input.run) {
            Ok(folder) => break folder,
            // A large data folder is still being read.
            Err(trouble) if !hub.late.is_preparing(&hub.runs_dir.join(&input.run)) => return Err(trouble),
            Err(_) if Instant::now() >= until || !caller.pause(LOOK).await => {
                let hint = "its data is being read; watch it again";
                return Err(Trouble::new(format!("run {} has not begun yet", input.run), hint));
            }
            Err(_) => {}
        }
    };
    let late = hub.late.clone();
    let mut watching = Watching { news: News::of(&folder), items: Vec::new(), folder, late };
    let since = input.since;
    watching.read()?;
    // What happened before is known to the caller, unless it says otherwise.
    let since = since.unwrap_or(watching.news.read);
    let is_running = watching.wait(&caller, input.until, since, began, until).await?;
    let watched = watching.seen(is_running, since);
    Ok(Answer::new(&watched.lines(), watched))
}

struct Watching {
    folder: PathBuf,
    news: News,
    items: Vec<Item>,
    late: Late,
}

impl Watching {
    fn read(&mut self) -> Result<(), Trouble> {
        // The file may be large the first time.
        let new = tokio::task::block_in_place(|| self.news.new_items());
        self.items.extend(new.map_err(|error| unreadable(&self.folder, &error).trouble)?);
        Ok(())
    }

    /// Waits until there is what is waited for, time is over or the caller has left; returns whether the run is running.
    /// The caller's call began at `began`: the first read can take seconds.
    async fn wait(
        &mut self,
        caller: &Caller,
        until: Until,
        since: usize,
        began: Instant,
        mut end: Instant,
    ) -> Result<bool, Trouble> {
        // What the caller has missed is news to it, too: a run may have ended before the first read.
        let missed = self.items.iter().filter(|item| item.at >= since).count();
        let (mut told, mut told_at) = (self.items.len() - missed, began);
        let mut has_news = false;
        loop {
            // Checked before reading, so that the last lines of a process that ends now are read, too.
            let is_running = self.late.is_in_progress(&self.folder) || run_view::is_held(&self.folder);
            self.read()?;
            if caller.listens() && (told < self.items.len() || told_at.elapsed() >= SIGN_OF_LIFE) {
                let text = self.items[told..].iter().map(|item| item.text.clone()).collect::<Vec<_>>();
                let text = if text.is_empty() { self.status() } else { text.join("\n") };
                caller.tell(began.elapsed().as_secs_f64(), &text);
                (told, told_at) = (self.items.len(), Instant::now());
            }
            if until == Until::News && !has_news && self.items.iter().any(|item| item.at >= since) {
                has_news = true;
                end = end.min(Instant::now() + MOMENT);
            }
            if !is_running || Instant::now() >= end || !caller.pause(LOOK).await {
                return Ok(is_running);
            }
        }
    }

    /// The progress in a line.
    fn status(&self) -> String {
        let progress = &self.news.progress;
        let phase = progress.phase.map_or_else(|| "preparing".to_owned(), phase_title);
        let best = progress.best.as_ref().map(|best| format!(", best score {}", number(best.score)));
        let (calls, scripts) = progress.at_work();
        let done = progress.done(Timestamp::now()).map(done_words);
        let done = done.map(|done| format!(", {done}")).unwrap_or_default();
        format!(
            "{phase}{done}{}, {} and {} at work",
            best.unwrap_or_default(),
            count(calls as u64, "agent"),
            count(scripts as u64, "script")
        )
    }

    fn seen(&self, is_running: bool, since: usize) -> Watched {
        let progress = &self.news.progress;
        // A process that was killed has no end in the events.
        let now = progress.last().filter(|_| !is_running).unwrap_or_else(Timestamp::now);
        let news: Vec<&Item> = self.items.iter().filter(|item| item.at >= since).collect();
        let left_out = news.len().saturating_sub(MOST_NEWS);
        let (exit_code, error) = match self.late.failed(&self.folder) {
            _ if is_running => (None, None),
            Some(trouble) => (None, Some(in_words(&trouble))),
            None => end(&self.folder, self.news.end.clone()),
        };
        let has_result = run_view::is_finished(&self.folder);
        let running = progress.running.iter().map(|(place, effect)| {
            let since = duration(now.duration_since(effect.since(now)).as_secs_f64());
            format!("{}: {}, for {since}", progress.models.place(place), first_line(&effect.words(now), 100))
        });
        Watched {
            run_id: runs::name(&self.folder).unwrap_or_default(),
            folder: self.folder.clone(),
            state: State::of(is_running, has_result),
            phase: progress.phase.map(phase_title),
            best_score: progress.best.as_ref().map(|best| best.score),
            best_at: progress.best.as_ref().map(|best| progress.models.place(&best.place)),
            done: progress.done(now),
            elapsed_seconds: progress.elapsed(now),
            seconds_left: progress.seconds_left(now).filter(|_| is_running),
            scripts: progress.scripts.0,
            failed_scripts: progress.scripts.1,
            agent_calls: progress.calls,
            cost_usd: progress.spent.and_then(|spent| spent.cost_usd),
            estimated_usd: progress.spent.map_or(0.0, |spent| spent.estimated_usd),
            now: if is_running { running.collect() } else { Vec::new() },
            news: news[left_out..].iter().map(|item| first_line(&item.text, 300)).collect(),
            news_left_out: left_out,
            next: self.news.read,
            exit_code,
            error,
        }
    }
}

/// Exit code and error of a run on which no process works.
fn end(folder: &Path, end: Option<Event>) -> (Option<u8>, Option<String>) {
    match outcome(folder, end) {
        Ok(exit) => (Some(exit.code()), None),
        Err(failure) => (Some(failure.exit.code()), Some(in_words(&failure.trouble))),
    }
}

fn in_words(trouble: &Trouble) -> String {
    format!("{}; hint: {}", trouble.message, trouble.hint)
}

impl Watched {
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.news_left_out > 0 {
            lines.push(format!("({} earlier news are not shown)", self.news_left_out));
        }
        lines.extend(self.news.iter().cloned());
        let phase = self.phase.as_ref().map(|phase| format!(", {phase}")).unwrap_or_default();
        lines.push(format!("run {} is {}{phase}", self.run_id, self.state.name()));
        let at = self.best_at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
        lines.extend(self.best_score.map(|best| format!("best validation score: {}{at}", number(best))));
        let left = self.seconds_left.map(|left| format!(", about {} left", duration(left)));
        let done = self.done.map(|done| format!("{}, ", done_words(done))).unwrap_or_default();
        lines.push(format!(
            "{done}{}{}; {}, {} failed; {}",
            duration(self.elapsed_seconds),
            left.unwrap_or_default(),
            count(self.scripts, "script"),
            self.failed_scripts,
            count(self.agent_calls, "agent call")
        ));
        lines.extend(self.now.iter().map(|now| format!("now: {now}")));
        lines.extend(self.error.iter().map(|error| format!("error: {error}")));
        match self.state {
            State::Running => lines.push(format!("next: watch again with since={}", self.next)),
            State::Finished => lines.push("next: result".to_owned()),
            State::Unfinished => lines.push("next: result for the answer so far, or resume".to_owned()),
        }
        lines
    }
}

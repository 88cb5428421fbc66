//! Rewrites the report during a run, in the background and rarely enough not to slow the run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mle_star::event::Event;
use mle_star_report::html::{self, Extent};
use mle_star_report::run_view::{self, RunView, State};
use tokio::sync::{Mutex, Notify, oneshot};
use tokio::task::JoinHandle;

use crate::report;

/// The minimum time between two reports.
const MIN_INTERVAL: Duration = Duration::from_secs(5);
/// The pause is at least this many times as long as the last report took.
const PAUSE_FACTOR: u32 = 20;

/// How long the end of a run waits for a report in progress.
const IN_PROGRESS_TIMEOUT: Duration = Duration::from_secs(5);
/// How long it waits for the last report.
const LAST_TIMEOUT: Duration = Duration::from_secs(60);

/// Writes the report of a run until [`end`](Self::end).
pub struct ReportWriter {
    shared: Arc<Shared>,
    writing: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    /// Something happened that a report tells.
    news: Notify,
    /// Locked while a report is written.
    in_progress: Mutex<()>,
    is_over: AtomicBool,
}

impl ReportWriter {
    /// Starts; requires a runtime.
    pub fn start(folder: &Path) -> Self {
        let shared = Arc::new(Shared::default());
        let writing = tokio::spawn(write_on(folder.to_owned().into(), Arc::clone(&shared)));
        Self { shared, writing }
    }

    /// Takes an event, which may be a reason for a new report.
    pub fn take(&self, event: &Event) {
        let is_news = matches!(
            event,
            Event::PhaseStarted { .. }
                | Event::AgentEnded { .. }
                | Event::ScriptEnded { .. }
                | Event::StepEnded { .. }
        );
        if is_news {
            self.shared.news.notify_one();
        }
    }

    /// Stops. If the report in progress takes too long, it is abandoned; the note says so. The last report is written
    /// separately.
    pub async fn end(&self) -> Option<String> {
        self.shared.is_over.store(true, Ordering::Release);
        let ended = tokio::time::timeout(IN_PROGRESS_TIMEOUT, self.shared.in_progress.lock()).await;
        self.writing.abort();
        let seconds = IN_PROGRESS_TIMEOUT.as_secs();
        ended.is_err().then(|| format!("note: a report was abandoned after {seconds} s"))
    }
}

async fn write_on(folder: Arc<Path>, shared: Arc<Shared>) {
    loop {
        shared.news.notified().await;
        let (began, lock) = (Instant::now(), shared.in_progress.lock().await);
        let (folder, shared) = (Arc::clone(&folder), Arc::clone(&shared));
        // Errors are ignored here: only the last report must succeed.
        let _ = in_thread(move || {
            let view = run_view::read(&folder).ok()?;
            let html = html::render(&view, Extent::Brief).ok()?;
            // A report that finishes late must not replace the last one.
            let is_over = shared.is_over.load(Ordering::Acquire);
            (!is_over).then(|| report::keep(&view, &html))
        })
        .await;
        drop(lock);
        tokio::time::sleep(MIN_INTERVAL.max(began.elapsed() * PAUSE_FACTOR)).await;
    }
}

/// Writes the report of a run that was stopped; returns a note if that fails.
pub async fn leave(folder: &Path) -> Option<String> {
    // This process still holds the lock and is about to end.
    write_last(folder, |view| view.summary.run.state = State::Unfinished).await
}

/// Writes the last report of a run, with a `change` that the journal does not record; returns a note if that fails or
/// takes too long.
pub async fn write_last(folder: &Path, change: impl FnOnce(&mut RunView) + Send + 'static) -> Option<String> {
    let folder = folder.to_owned();
    let making = in_thread(move || {
        let mut view = run_view::read(&folder).map_err(|error| error.to_string())?;
        change(&mut view);
        report::write(&view, Extent::Brief).map(drop).map_err(|trouble| trouble.message)
    });
    let made = match tokio::time::timeout(LAST_TIMEOUT, making).await {
        Ok(made) => made.unwrap_or_else(|| Err("the thread that makes reports has ended".to_owned())),
        Err(_) => Err(format!("not made within {} s", LAST_TIMEOUT.as_secs())),
    };
    made.err().map(|error| format!("note: no report: {error}"))
}

/// Does `work` on a thread that the end of the runtime does not wait for. `None` if it cannot be started.
async fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = oneshot::channel();
    let made = thread::Builder::new().name("report".to_owned()).spawn(move || drop(sender.send(work())));
    made.ok()?;
    receiver.await.ok()
}

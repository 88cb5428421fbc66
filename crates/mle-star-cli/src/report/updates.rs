//! Rewrites the report during a run, in the background and rarely enough not to slow the run.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use mle_star::event::{Event, EventSink};
use mle_star_report::html;
use mle_star_report::run_view::{self, RunView, State};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::report;

/// The minimum time between two reports within a phase.
const PAUSE: Duration = Duration::from_secs(5);
/// The pause is at least this many times as long as the last report took.
const PAUSE_FACTOR: u32 = 20;

/// How long the end of a run waits for a report in progress.
const IN_PROGRESS_TIMEOUT: Duration = Duration::from_secs(5);
/// How long it waits for the last report.
const LAST_TIMEOUT: Duration = Duration::from_secs(60);

/// Writes the report of a run until [`end`](Self::end).
pub struct Reporting {
    triggers: Arc<Triggers>,
    writing: JoinHandle<()>,
}

/// Forwards events and triggers reports.
pub struct Beside<'a> {
    triggers: &'a Triggers,
    others: &'a dyn EventSink,
}

/// Triggers the task that writes reports.
#[derive(Default)]
struct Triggers {
    something: Notify,
    phase: Notify,
    is_over: AtomicBool,
}

impl Reporting {
    /// Starts; requires a runtime.
    pub fn start(folder: &Path) -> Self {
        let folder = folder.to_owned();
        // Errors are ignored here: only the last report must succeed.
        Self::start_with(move |triggers| {
            let Ok(view) = run_view::read(&folder) else { return };
            let Ok(html) = html::render(&view) else { return };
            // A report that finishes late must not replace the last one.
            if !triggers.is_over() {
                let _ = report::keep(&view, &html);
            }
        })
    }

    fn start_with(write: impl Fn(&Triggers) + Send + Sync + 'static) -> Self {
        let triggers = Arc::new(Triggers::default());
        let writing = tokio::spawn(write_on(Arc::new(write), Arc::clone(&triggers)));
        Self { triggers, writing }
    }

    /// A sink that forwards to `others`.
    pub fn beside<'a>(&'a self, others: &'a dyn EventSink) -> Beside<'a> {
        Beside { triggers: &self.triggers, others }
    }

    /// Stops. If the report in progress takes too long, it is abandoned; the note says so.
    pub async fn end(self) -> Option<String> {
        self.end_within(IN_PROGRESS_TIMEOUT).await
    }

    async fn end_within(self, limit: Duration) -> Option<String> {
        self.triggers.is_over.store(true, Ordering::Release);
        self.triggers.phase.notify_one();
        self.triggers.something.notify_one();
        // The last report is written separately.
        let ended = tokio::time::timeout(limit, self.writing).await;
        let seconds = limit.as_secs();
        ended.is_err().then(|| format!("note: a report was abandoned after {seconds} s"))
    }
}

impl EventSink for Beside<'_> {
    fn emit(&self, event: Event) {
        self.triggers.take(&event);
        self.others.emit(event);
    }
}

impl Triggers {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    fn take(&self, event: &Event) {
        match event {
            Event::PhaseStarted { .. } => {
                self.phase.notify_one();
                self.something.notify_one();
            }
            Event::AgentEnded { .. } | Event::ScriptEnded { .. } | Event::StepEnded { .. } => {
                self.something.notify_one();
            }
            _ => {}
        }
    }
}

/// Writes the report of a run that was stopped; returns a note if that fails.
pub async fn leave(folder: &Path) -> Option<String> {
    // This process still holds the lock and is about to end.
    last(folder, |view| view.summary.run.state = State::Unfinished).await
}

/// Writes the last report of a run, with a `change` that the journal does not record; returns a note if that fails or
/// takes too long.
pub async fn last(folder: &Path, change: impl FnOnce(&mut RunView) + Send + 'static) -> Option<String> {
    let folder = folder.to_owned();
    let making = made(move || {
        let mut view = run_view::read(&folder).map_err(|error| error.to_string())?;
        change(&mut view);
        report::write(&view).map(drop).map_err(|trouble| trouble.message)
    });
    let made = match tokio::time::timeout(LAST_TIMEOUT, making).await {
        Ok(made) => made.unwrap_or_else(|| Err("the thread that makes reports has ended".to_owned())),
        Err(_) => Err(format!("not made within {} s", LAST_TIMEOUT.as_secs())),
    };
    made.err().map(|error| format!("note: no report: {error}"))
}

/// Does `work` on the only thread that renders the reports of this process, so that reports reuse memory and those
/// of several runs do not compete. `None` if the thread cannot be started.
async fn made<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    type Work = Box<dyn FnOnce() + Send>;
    static MAKER: OnceLock<Option<mpsc::Sender<Work>>> = OnceLock::new();
    let maker = MAKER.get_or_init(|| {
        let (sender, works) = mpsc::channel::<Work>();
        let make = move || works.into_iter().for_each(|work| work());
        thread::Builder::new().name("reports".to_owned()).spawn(make).ok().map(|_| sender)
    });
    let (sender, receiver) = oneshot::channel();
    maker.as_ref()?.send(Box::new(move || drop(sender.send(work())))).ok()?;
    receiver.await.ok()
}

async fn write_on(write: Arc<impl Fn(&Triggers) + Send + Sync + 'static>, triggers: Arc<Triggers>) {
    while !triggers.is_over() {
        triggers.something.notified().await;
        if triggers.is_over() {
            return;
        }
        let started = Instant::now();
        let (write, triggers_of_write) = (Arc::clone(&write), Arc::clone(&triggers));
        let _ = made(move || write(&triggers_of_write)).await;
        let pause = PAUSE.max(started.elapsed() * PAUSE_FACTOR);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = triggers.phase.notified() => {}
        }
    }
}

//! The report, written again and again while a run goes on: in the background, and never often enough to cost a step.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mle_star::event::{Event, EventSink};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::report;
use crate::run_view::{self, State};

/// The least time between two reports within a phase.
const PAUSE: Duration = Duration::from_secs(5);
/// A report that took long to make is made less often: the pause is at least so many times as long.
const SHARE: u32 = 20;

/// Writes a run's report as long as it lives.
pub struct Reporting {
    news: Arc<News>,
    writing: JoinHandle<()>,
}

/// Hands events on to others, and hears what is in them.
pub struct Beside<'a> {
    news: &'a News,
    others: &'a dyn EventSink,
}

/// What the events say to the one who writes.
#[derive(Default)]
struct News {
    something: Notify,
    phase: Notify,
    is_over: AtomicBool,
}

impl Reporting {
    /// Begins; needs a runtime.
    pub fn begin(folder: &Path) -> Self {
        let folder = folder.to_owned();
        // A report that cannot be written now is written later; of the last one a failure is told.
        Self::begin_with(move || drop(run_view::read(&folder).map(|view| report::write(&view))))
    }

    fn begin_with(write: impl Fn() + Send + Sync + 'static) -> Self {
        let news = Arc::new(News::default());
        let writing = tokio::spawn(write_on(Arc::new(write), Arc::clone(&news)));
        Self { news, writing }
    }

    /// Where events go that are meant for `others`.
    pub fn beside<'a>(&'a self, others: &'a dyn EventSink) -> Beside<'a> {
        Beside { news: &self.news, others }
    }

    /// Ends; nothing is written afterwards.
    pub async fn end(self) {
        self.news.is_over.store(true, Ordering::Release);
        self.news.phase.notify_one();
        self.news.something.notify_one();
        // Whatever became of it, the last report is made anew.
        let _ = self.writing.await;
    }
}

impl EventSink for Beside<'_> {
    fn emit(&self, event: Event) {
        self.news.hear(&event);
        self.others.emit(event);
    }
}

impl News {
    fn hear(&self, event: &Event) {
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

/// Writes the report of a run that something stopped; without it nothing else is lost.
pub fn leave(folder: &Path) {
    if let Ok(mut view) = run_view::read(folder) {
        // This process still has hold of it, and is about to end.
        view.summary.state = State::Unfinished;
        let _ = report::write(&view);
    }
}

async fn write_on(write: Arc<impl Fn() + Send + Sync + 'static>, news: Arc<News>) {
    while !news.is_over.load(Ordering::Acquire) {
        news.something.notified().await;
        if news.is_over.load(Ordering::Acquire) {
            return;
        }
        let began = Instant::now();
        let write = Arc::clone(&write);
        let _ = spawn_blocking(move || write()).await;
        let pause = PAUSE.max(began.elapsed() * SHARE);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = news.phase.notified() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use mle_star::place::{Phase, Place};
    use tokio::sync::mpsc;

    use super::*;

    fn script_ended() -> Event {
        let place = Place::from("phase1/candidate-0/run");
        Event::ScriptEnded { place, seconds: 1.0, score: None, failure: None, replayed: false }
    }

    #[tokio::test]
    async fn reports_are_few_within_a_phase_and_prompt_at_its_end() {
        let (told, mut written) = mpsc::unbounded_channel();
        let began = Instant::now();
        let reporting = Reporting::begin_with(move || told.send(()).unwrap());
        reporting.news.hear(&script_ended());
        written.recv().await.unwrap();
        (0..1000).for_each(|_| reporting.news.hear(&script_ended()));
        reporting.news.hear(&Event::PhaseStarted { phase: Phase::Phase2 });
        written.recv().await.unwrap();
        assert!(began.elapsed() < PAUSE, "a phase is not waited with");
        (0..1000).for_each(|_| reporting.news.hear(&script_ended()));
        reporting.end().await;
        assert!(began.elapsed() < PAUSE, "the end is not waited with");
        let mut more = 0;
        while written.recv().await.is_some() {
            more += 1;
        }
        // A phase that begins while a report is made is told by the next one, at once.
        assert!(more <= 1, "{more}");
    }
}

//! The program's side of the connection to one runner.
//!
//! A runner is not trusted: what it sends is checked, and one that sends something else is ended.

mod files;
mod launch;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mle_star_domain::effects::{ScriptEnd, ScriptOutcome};
use tokio::sync::{OnceCell, mpsc, oneshot, watch};
use tokio::time::timeout;

use super::protocol::{Ended, FromRunner, Hello, RunSetup, ScriptOrder, Stream, ToRunner};
use super::wire::{Outbox, lock};
use crate::script::executor::{Execution, Job};
pub use files::{Received, Source};
use files::{ReceivedFiles, send};
pub(super) use launch::{Hope, NotStarted};

/// How long after its time limit a script may take to end before its runner is given up.
const PING_TIMEOUT: Duration = Duration::from_secs(120);
/// How many messages about a script are queued at most.
const CHANNEL_CAPACITY: usize = 16;
/// The longest text of an outcome, in bytes.
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// The most notes of an outcome.
const MAX_NOTES: usize = 100;

/// The connection to a runner that can be given scripts.
#[derive(Debug)]
pub(super) struct Connection {
    /// The runner's name.
    pub(super) name: String,
    /// What the runner told about itself.
    pub(super) hello: Hello,
    shared: Arc<Shared>,
    /// The number of the next job.
    jobs: AtomicU64,
}

/// What the tasks of a connection share.
#[derive(Debug)]
struct Shared {
    out: Outbox,
    /// The scripts that run, by the number of the job.
    jobs: Mutex<HashMap<u64, mpsc::Sender<JobMessage>>>,
    /// By the number of the run.
    runs: Mutex<HashMap<u64, Arc<Opening>>>,
    /// By the digest of the data's manifest.
    data: Mutex<HashMap<String, Arc<Sending>>>,
    pings: Mutex<HashMap<u64, oneshot::Sender<()>>>,
    /// Why the runner is gone, once it is.
    gone: watch::Sender<Option<String>>,
    /// A sentence on what the runner is preparing now, such as an environment; shown as its status.
    progress: watch::Sender<String>,
}

/// A run that the runner prepares, or has prepared.
#[derive(Debug, Default)]
struct Opening {
    done: OnceCell<()>,
    answer: Mutex<Option<oneshot::Sender<Result<(), NotStarted>>>>,
}

/// Data that the runner prepares, or has prepared.
#[derive(Debug)]
struct Sending {
    source: Arc<Source>,
    done: OnceCell<()>,
    answer: Mutex<Option<oneshot::Sender<Result<(), String>>>>,
}

/// A message about a script.
#[derive(Debug)]
enum JobMessage {
    Output(Stream, bool, Vec<u8>),
    File(String, Vec<u8>),
    Ended(Box<Ended>),
    Failed(String),
}

/// A script to run on a runner.
pub(super) struct RemoteJob<'a> {
    pub(super) run: u64,
    pub(super) job: &'a Job,
    pub(super) source: &'a Arc<Source>,
    /// The files that are wanted, with their largest size in bytes.
    pub(super) outputs: &'a [(&'static str, u64)],
    /// The files for standard output and standard error.
    pub(super) logs: [PathBuf; 2],
    /// The folder for the files that it writes.
    pub(super) folder: PathBuf,
}

/// What a runner reports about its disk after a script, besides the script's outcome: the free space if the disk is
/// full, and whether the script changed the runner's copy of the data.
pub(super) struct DiskFindings {
    pub(super) disk_left: Option<String>,
    pub(super) changed_data: bool,
}

impl Connection {
    /// Why the runner is gone; `None` while it is there.
    pub(super) fn loss(&self) -> Option<String> {
        self.shared.gone.borrow().clone()
    }

    /// Waits until the runner is gone, and says why.
    pub(super) async fn wait_until_gone(&self) -> String {
        let mut gone = self.shared.gone.subscribe();
        let reason = gone.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or_default()
    }

    /// What it prepares, now and after each change.
    pub(super) fn progress(&self) -> watch::Receiver<String> {
        self.shared.progress.subscribe()
    }

    /// Ends the runner for a reason.
    pub(super) fn give_up(&self, reason: String) {
        self.shared.give_up(reason);
    }

    /// Tells the runner that it is not needed any more.
    pub(super) fn say_goodbye(&self) {
        self.shared.out.send(&ToRunner::Bye, &[]);
    }

    /// Tells the runner that a run is over.
    pub(super) fn close(&self, run: u64) {
        if lock(&self.shared.runs).remove(&run).is_some() {
            self.shared.out.send(&ToRunner::Close { run }, &[]);
        }
    }

    /// The time from a message with this many bytes to its answer; `None` if the runner is lost.
    pub(super) async fn ping(&self, bytes: usize) -> Option<Duration> {
        static PINGS: AtomicU64 = AtomicU64::new(0);
        let (number, (answer, answered)) = (PINGS.fetch_add(1, Ordering::Relaxed), oneshot::channel());
        lock(&self.shared.pings).insert(number, answer);
        let began = Instant::now();
        // Connections that compress are not to look faster than they are.
        let noise = (0..bytes as u32).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[0]);
        self.shared.out.send(&ToRunner::Ping { number }, &noise.collect::<Vec<_>>());
        self.or_lost(answered).await.ok()?.ok()?;
        Some(began.elapsed())
    }

    /// Lets the runner prepare a run, unless it already did.
    pub(super) async fn open(&self, setup: &RunSetup) -> Result<(), NotStarted> {
        let opening = Arc::clone(lock(&self.shared.runs).entry(setup.run).or_default());
        let ask = async || {
            let (answer, answered) = oneshot::channel();
            *lock(&opening.answer) = Some(answer);
            self.shared.out.send(&ToRunner::Open(Box::new(setup.clone())), &[]);
            self.or_lost(answered).await?.unwrap_or_else(|_| Err("it did not answer".to_owned().into()))
        };
        opening.done.get_or_try_init(ask).await.copied()
    }

    /// Makes sure that the runner has this data.
    async fn provide(&self, source: &Arc<Source>) -> Result<(), String> {
        let new = || {
            let (done, answer) = (OnceCell::new(), Mutex::new(None));
            Arc::new(Sending { source: Arc::clone(source), done, answer })
        };
        let data = source.data().to_owned();
        loop {
            let sending = Arc::clone(lock(&self.shared.data).entry(data.clone()).or_insert_with(new));
            let ask = async || {
                let (answer, answered) = oneshot::channel();
                *lock(&sending.answer) = Some(answer);
                self.shared.out.send(&ToRunner::Data { data: data.clone() }, &[]);
                self.or_lost(answered).await?.unwrap_or_else(|_| Err("it did not answer".to_owned()))
            };
            let done = sending.done.get_or_try_init(ask).await.copied();
            if done.is_ok() {
                return done;
            }
            let mut known = lock(&self.shared.data);
            if known.get(&data).is_some_and(|known| Arc::ptr_eq(known, &sending)) {
                known.remove(&data);
            }
            // The files may be those of another run that had this data first, and be gone.
            if Arc::ptr_eq(&sending.source, source) || sending.source.unreadable().is_none() {
                return done;
            }
        }
    }

    /// Runs a script. Dropping the future ends the script.
    ///
    /// # Errors
    /// Why the runner reported no outcome.
    pub(super) async fn run(
        &self,
        remote: &RemoteJob<'_>,
    ) -> Result<(Box<Execution>, Received, DiskFindings), String> {
        self.provide(remote.source).await?;
        let (job, (sender, mut messages)) =
            (self.jobs.fetch_add(1, Ordering::Relaxed), mpsc::channel(CHANNEL_CAPACITY));
        lock(&self.shared.jobs).insert(job, sender);
        let _cancels = CancelOnDrop { shared: &self.shared, job };
        let outputs = remote.outputs.iter().map(|(name, most)| ((*name).to_owned(), *most)).collect();
        let order = ScriptOrder {
            job,
            run: remote.run,
            data: remote.source.data().to_owned(),
            timeout_ms: u64::try_from(remote.job.timeout.as_millis()).unwrap_or(u64::MAX),
            slot: remote.job.slot,
            may_be_warm: remote.job.may_be_warm,
            modules: remote.job.modules.clone(),
            outputs,
        };
        let mut receiving = ReceivedFiles::new(remote).map_err(|trouble| trouble.message)?;
        self.shared.out.send(&ToRunner::Script(Box::new(order)), remote.job.script.as_bytes());
        let (began, limit) = (Instant::now(), remote.job.timeout + PING_TIMEOUT);
        let ended = loop {
            let left = limit.saturating_sub(began.elapsed());
            let next = self.or_lost(timeout(left.max(PING_TIMEOUT), messages.recv())).await?;
            match next {
                Ok(Some(JobMessage::Output(..))) | Err(_) if left.is_zero() => {
                    return Err("it did not end a script at its time limit".to_owned());
                }
                // The limit may be nearer than this.
                Err(_) => {}
                Ok(None) => return Err(self.wait_until_gone().await),
                Ok(Some(JobMessage::Failed(message))) => return Err(message),
                Ok(Some(JobMessage::Ended(ended))) => break *ended,
                Ok(Some(JobMessage::Output(stream, is_new, bytes))) => {
                    receiving.output(stream, is_new, &bytes).await?;
                }
                Ok(Some(JobMessage::File(name, piece))) => receiving.file(&name, piece).await?,
            }
        };
        lock(&self.shared.jobs).remove(&job);
        let Ended { executed, files, changed_data, disk_left, .. } = ended;
        if changed_data {
            lock(&self.shared.data).remove(remote.source.data());
        }
        let executed = checked(executed, remote.job.timeout).map_err(|what| self.reject(&what))?;
        let received = receiving.end(files).map_err(|what| self.reject(&what))?;
        Ok((Box::new(executed), received, DiskFindings { disk_left, changed_data }))
    }

    /// Gives up the runner, because it sent an impossible outcome; returns the reason.
    fn reject(&self, what: &str) -> String {
        let reason = format!("it sent an outcome that cannot be: {what}");
        self.give_up(reason.clone());
        reason
    }

    /// Awaits an answer, or fails when the runner is gone.
    async fn or_lost<T>(&self, answer: impl Future<Output = T>) -> Result<T, String> {
        tokio::select! {
            biased;
            answer = answer => Ok(answer),
            reason = self.wait_until_gone() => Err(reason),
        }
    }
}

/// The outcome, if a runner may send it, without what the program itself finds out; else what is wrong with it.
fn checked(executed: Execution, time: Duration) -> Result<Execution, String> {
    let outcome = &executed.outcome;
    let texts = [&outcome.stdout, &outcome.stderr].into_iter().flat_map(|text| [&text.head, &text.tail]);
    let texts = texts.chain(&outcome.traceback).chain(&outcome.notes);
    if let Some(text) = texts.into_iter().find(|text| text.len() > MAX_TEXT_BYTES) {
        return Err(format!("a text of {} bytes", text.len()));
    }
    if outcome.notes.len() > MAX_NOTES {
        return Err(format!("{} notes", outcome.notes.len()));
    }
    if matches!(outcome.end, ScriptEnd::Lost { .. } | ScriptEnd::Refused { .. }) {
        return Err(outcome.end.words());
    }
    let seconds = outcome.duration_seconds;
    if !(0.0..=(time + PING_TIMEOUT).as_secs_f64()).contains(&seconds) {
        return Err(format!("it ran for {seconds} s"));
    }
    // These come from the files, at which the program looks itself.
    let (submission, measured, mismatch, chance, fits, runner, lost_runners) = Default::default();
    let outcome = ScriptOutcome {
        submission,
        measured,
        mismatch,
        chance,
        fits,
        runner,
        lost_runners,
        ..executed.outcome
    };
    Ok(Execution { outcome, ..executed })
}

impl Shared {
    fn give_up(&self, reason: String) {
        self.gone.send_if_modified(|gone| {
            let is_first = gone.is_none();
            gone.get_or_insert(reason);
            is_first
        });
    }

    /// Handles a message of the runner.
    async fn handle(self: &Arc<Self>, message: FromRunner, bytes: Vec<u8>) -> Result<(), String> {
        match message {
            FromRunner::Alive => {}
            FromRunner::Hello(_) => return Err("it introduced itself twice".to_owned()),
            FromRunner::Pong { number } => {
                let ping = lock(&self.pings).remove(&number);
                ping.map(|ping| ping.send(()));
            }
            FromRunner::Progress { text } => {
                self.progress.send_replace(short(&text));
            }
            FromRunner::Opened { run, .. } => self.answer_open(run, Ok(())),
            FromRunner::NotOpened { run, message, is_final } => {
                let hope = if is_final { Hope::None } else { Hope::Some };
                self.answer_open(run, Err(NotStarted { reason: short(&message), hope }));
            }
            FromRunner::Need { data, files } => {
                let Some(sending) = lock(&self.data).get(&data).cloned() else {
                    return Err("it wants data that is not for it".to_owned());
                };
                tokio::spawn(send(Arc::clone(&sending.source), files, self.out.clone()));
            }
            FromRunner::Ready { data } => self.answer_data(&data, Ok(())),
            FromRunner::NoData { data, message } => self.answer_data(&data, Err(short(&message))),
            FromRunner::Output { job, stream, is_new } => {
                self.post(job, JobMessage::Output(stream, is_new, bytes)).await;
            }
            FromRunner::File { job, name } => self.post(job, JobMessage::File(name, bytes)).await,
            FromRunner::Ended(ended) => self.post(ended.job, JobMessage::Ended(ended)).await,
            FromRunner::Failed { job, message } => self.post(job, JobMessage::Failed(short(&message))).await,
            FromRunner::Leaving { reason } => return Err(format!("it has to end: {}", short(&reason))),
        }
        Ok(())
    }

    fn answer_open(&self, run: u64, result: Result<(), NotStarted>) {
        let opening = lock(&self.runs).get(&run).cloned();
        let answer = opening.and_then(|opening| lock(&opening.answer).take());
        answer.map(|answer| answer.send(result));
    }

    fn answer_data(&self, data: &str, result: Result<(), String>) {
        let sending = lock(&self.data).get(data).cloned();
        let answer = sending.and_then(|sending| lock(&sending.answer).take());
        answer.map(|answer| answer.send(result));
    }

    /// Passes a message on to whoever waits for the script. Nobody does after it was cancelled.
    async fn post(&self, job: u64, message: JobMessage) {
        let sender = lock(&self.jobs).get(&job).cloned();
        if let Some(sender) = sender {
            let _ = sender.send(message).await;
        }
    }
}

/// When dropped, ends a script on its runner, unless it has ended.
struct CancelOnDrop<'a> {
    shared: &'a Shared,
    job: u64,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if lock(&self.shared.jobs).remove(&self.job).is_some() {
            self.shared.out.send(&ToRunner::Cancel { job: self.job }, &[]);
        }
    }
}

/// A text of a runner, shortened for display.
fn short(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(400).collect()
}

//! Starts a runner and listens to it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::process::Stdio;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mle_star_process::variables::is_secret;
use mle_star_process::{ProcessTree, Streams};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Connection, Shared, lock, short};
use crate::runners::entry::USUAL_START;
use crate::runners::protocol::{Frames, FromRunner, Hello, MAX_IDLE, PROTOCOL, ToRunner, VERSION, is_ours};
use crate::runners::wire::{LastHeard, Outbox, channel};

/// How much of what a command writes to standard error is kept, in bytes.
const MAX_KEPT_BYTES: usize = 4096;
/// How long a command may take to end after its runner is gone: by itself, and when it is told to.
const END_TIMEOUTS: [Duration; 2] = [Duration::from_secs(3); 2];
/// The same for a runner that has said that it leaves: an engine that ends a runner says why as it ends its command, and
/// on a busy machine that takes a while.
const LEAVING_END_TIMEOUTS: [Duration; 2] = [Duration::from_secs(15), Duration::from_secs(3)];
/// How long the command of a silent runner may take to end. It does not hear that it is to end, and its scripts go on
/// meanwhile.
const SILENT_END_TIMEOUTS: [Duration; 2] = [Duration::ZERO, Duration::from_secs(1)];

/// The beginnings of names that look like those of secrets, and that engines such as `kubectl` and Ray need.
const ENGINE_VARIABLES: [&str; 5] =
    ["AWS_", "AZURE_CLIENT_", "GOOGLE_APPLICATION_CREDENTIALS", "MLE_STAR_", "RAY_AUTH_TOKEN"];

/// Why there is no runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::runners) struct NotStarted {
    pub(in crate::runners) reason: String,
    pub(in crate::runners) hope: Hope,
}

impl From<String> for NotStarted {
    fn from(reason: String) -> Self {
        Self { reason, hope: Hope::Some }
    }
}

/// Whether another try may end differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runners) enum Hope {
    /// It may.
    Some,
    /// It may, but nobody should wait for it.
    Little,
    /// It will not.
    None,
}

/// How long a runner may take to answer after other things were printed: a login script may be slow.
const START_TIMEOUT: Duration = Duration::from_secs(25);

/// How long what a command wrote may take to arrive, once the command has ended.
const FINAL_MESSAGE_TIMEOUT: Duration = Duration::from_millis(500);

/// What a command writes to standard error: its last part.
struct StderrTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reading: AbortOnDrop,
}

/// A command that was started, and whose runner may answer.
struct Launch {
    tree: ProcessTree,
    frames: Frames<ChildStdout>,
    out: Outbox,
    writing: AbortOnDrop,
    complaints: StderrTail,
}

impl Connection {
    /// Starts a command and waits until its runner answers, or is not wanted any more.
    pub(in crate::runners) async fn start(
        name: &str,
        argv: &[OsString],
        limit: Duration,
        unwanted: impl Future<Output = ()>,
    ) -> Result<Arc<Self>, NotStarted> {
        let mut launched = Launch::of(argv)?;
        let hello = launched.hello(limit, unwanted).await?;
        let shared = Arc::new(Shared {
            out: launched.out.clone(),
            jobs: Mutex::default(),
            runs: Mutex::default(),
            data: Mutex::default(),
            pings: Mutex::default(),
            gone: watch::Sender::new(None),
            progress: watch::Sender::new(String::new()),
        });
        tokio::spawn(launched.serve(Arc::clone(&shared)));
        Ok(Arc::new(Self { name: name.to_owned(), hello, shared, jobs: AtomicU64::new(0) }))
    }
}

impl Launch {
    fn of(argv: &[OsString]) -> Result<Self, NotStarted> {
        let failed = |reason| NotStarted { reason, hope: Hope::Some };
        let Some((program, arguments)) = argv.split_first() else {
            return Err(NotStarted { reason: "its command is empty".to_owned(), hope: Hope::None });
        };
        let mut command = Command::new(program);
        command.args(arguments);
        // Some engines hand the environment on to other machines.
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_withheld(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        let (tree, Streams { stdin, stdout, stderr }) = ProcessTree::spawn(command, Stdio::piped())
            .map_err(|error| failed(format!("{} cannot be started: {error}", program.to_string_lossy())))?;
        let stdin = stdin.ok_or_else(|| failed("its command has no input".to_owned()))?;
        let (out, written) = channel();
        let version = VERSION.to_owned();
        // An engine may lose what a runner writes before its output is followed, so the program speaks first.
        out.send(&ToRunner::Welcome { protocol: PROTOCOL, version }, &[]);
        let writing = AbortOnDrop(tokio::spawn(written.write_to(stdin, ToRunner::Ping { number: u64::MAX })));
        Ok(Self { tree, frames: Frames::new(stdout), out, writing, complaints: StderrTail::of(stderr) })
    }

    /// Waits until the runner answers.
    async fn hello(
        &mut self,
        limit: Duration,
        unwanted: impl Future<Output = ()>,
    ) -> Result<Hello, NotStarted> {
        let failed = |reason| NotStarted { reason, hope: Hope::Some };
        let given_up = tokio::select! {
            greeted = greeting(&mut self.frames, patience(limit)) => match greeted {
                Ok(hello) => return Ok(hello),
                Err(Greeting::Other(reason)) => {
                    end_of(&mut self.tree, END_TIMEOUTS).await;
                    return Err(NotStarted { reason, hope: Hope::None });
                }
                Err(Greeting::Nonsense) => {
                    end_of(&mut self.tree, [Duration::ZERO, END_TIMEOUTS[1]]).await;
                    let said = self.complaints.and(&self.frames.unused());
                    let reason = format!(
                        "what its command printed is not from a runner, and none answered within {} s{said}",
                        START_TIMEOUT.as_secs()
                    );
                    return Err(NotStarted { reason, hope: Hope::Little });
                }
                Err(Greeting::None(said)) => {
                    let end = end_of(&mut self.tree, END_TIMEOUTS).await;
                    let said = self.complaints.and_all(&said).await;
                    return Err(failed(format!("its command {end} before the runner answered{said}")));
                }
            },
            () = sleep(limit) => format!("it did not answer within {} s", limit.as_secs()),
            () = unwanted => "it is not needed any more".to_owned(),
        };
        // Only a command that is told to end takes its job out of an engine's queue.
        end_of(&mut self.tree, [Duration::ZERO, END_TIMEOUTS[1]]).await;
        Err(failed(format!("{given_up}{}", self.complaints.and(&self.frames.unused()))))
    }

    /// Listens to the runner until it is gone, and ends its command.
    async fn serve(self, shared: Arc<Shared>) {
        let Self { mut tree, frames, writing, mut complaints, .. } = self;
        let mut wanted = shared.gone.subscribe();
        let (reason, [mut alone, told]) = tokio::select! {
            gone = listen(&shared, frames) => gone,
            _ = wanted.wait_for(Option::is_some) => (String::new(), END_TIMEOUTS),
        };
        // The command sees the end of its input.
        drop(writing);
        if !reason.is_empty() {
            // An engine that ends a runner says why, but not always before the runner leaves.
            let said = match timeout(alone, tree.ended()).await {
                Ok(_) => complaints.and_all("").await,
                Err(_) => complaints.and(""),
            };
            shared.give_up(format!("{reason}{said}"));
            alone = Duration::ZERO;
        }
        // It may say why.
        let end = end_of(&mut tree, [alone, told]).await;
        shared.give_up(format!("its command {end}{}", complaints.and_all("").await));
        lock(&shared.jobs).clear();
    }
}

/// Does a variable hold a credential that no engine needs? The key of an endpoint does, unless its name is one for engines.
fn is_withheld(name: &str) -> bool {
    // The program's own settings are no secrets, but a user may have named a key after the program.
    let is_own_key = name.strip_prefix("MLE_STAR").is_some_and(is_secret);
    let is_of_engines = !is_own_key && ENGINE_VARIABLES.iter().any(|start| name.starts_with(start));
    let is_of_agents = name.starts_with("AWS_BEARER_TOKEN_") || name.ends_with("_API_KEY");
    is_of_agents || is_secret(name) && !is_of_engines
}

/// Ends a task when dropped.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What came instead of a greeting.
enum Greeting {
    /// Nothing that can be understood; the text is what came.
    None(String),
    /// One of another version.
    Other(String),
    /// Something else, and no greeting after it.
    Nonsense,
}

/// How long a greeting may take once something has come. A longer time limit than the usual one is for engines that print
/// while they wait in a queue.
fn patience(limit: Duration) -> Duration {
    if limit > USUAL_START { limit } else { START_TIMEOUT }
}

/// Waits for the first message, once something has come for no longer than `patience`.
async fn greeting(frames: &mut Frames<ChildStdout>, patience: Duration) -> Result<Hello, Greeting> {
    frames.begun().await;
    timeout(patience, introduction(frames)).await.unwrap_or(Err(Greeting::Nonsense))
}

async fn introduction(frames: &mut Frames<ChildStdout>) -> Result<Hello, Greeting> {
    frames.skip_to_magic().await.map_err(Greeting::None)?;
    // Of another version, only these two values are known.
    let first = frames.next::<Value>(|| ()).await.map_err(|error| Greeting::None(error.to_string()))?;
    let (first, _) = first.ok_or_else(|| Greeting::None(String::new()))?;
    if !is_ours(&first) {
        return Err(Greeting::Other(format!(
            "it is mle-star {} with protocol {}, and this is mle-star {VERSION} with protocol {PROTOCOL}; install \
             the same version on both machines",
            first["version"].as_str().unwrap_or("of an unknown version"),
            first["protocol"],
        )));
    }
    match serde_json::from_value(first) {
        Ok(FromRunner::Hello(hello)) => {
            let Hello { host, version, isolation, python, platform, .. } = &*hello;
            let [host, version, isolation, platform] =
                [host, version, isolation, platform].map(|text| short(text));
            let python = python.as_deref().map(short);
            Ok(Hello { host, version, isolation, python, platform, ..*hello })
        }
        Ok(_) => Err(Greeting::None("it did not introduce itself".to_owned())),
        Err(error) => Err(Greeting::None(error.to_string())),
    }
}

/// Handles what the runner sends until it is gone, and says why, and how long its command may take to end by itself; an
/// empty reason: its command ended.
async fn listen(shared: &Arc<Shared>, mut frames: Frames<ChildStdout>) -> (String, [Duration; 2]) {
    let heard = LastHeard::now();
    let handling = async {
        loop {
            match frames.next(|| heard.note_arrival()).await {
                Ok(Some((message, bytes))) => {
                    let leaves = matches!(message, FromRunner::Leaving { .. });
                    if let Err(reason) = heard.during(shared.handle(message, bytes)).await {
                        return (reason, if leaves { LEAVING_END_TIMEOUTS } else { END_TIMEOUTS });
                    }
                }
                Ok(None) => return (String::new(), END_TIMEOUTS),
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return (String::new(), END_TIMEOUTS);
                }
                Err(error) => return (format!("what it sends cannot be understood: {error}"), END_TIMEOUTS),
            }
        }
    };
    tokio::select! {
        gone = handling => gone,
        () = heard.wait_for_silence(MAX_IDLE) => {
            (format!("nothing was heard from it for {} s", MAX_IDLE.as_secs()), SILENT_END_TIMEOUTS)
        }
    }
}

/// Ends a command, and says how it ended.
async fn end_of(tree: &mut ProcessTree, [alone, told]: [Duration; 2]) -> String {
    if timeout(alone, tree.ended()).await.is_err() {
        tree.terminate();
        if timeout(told, tree.ended()).await.is_err() {
            tree.kill();
        }
    }
    match tree.ended().await.ok().and_then(|ending| ending.status) {
        Some(status) => match status.code() {
            Some(code) => format!("ended with exit code {code}"),
            None => format!("was ended by {status}"),
        },
        None => "was ended".to_owned(),
    }
}

impl StderrTail {
    fn of(mut source: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let into = Arc::clone(&kept);
        let reading = AbortOnDrop(tokio::spawn(async move {
            let mut piece = vec![0; MAX_KEPT_BYTES];
            while let Ok(length @ 1..) = source.read(&mut piece).await {
                let mut kept = lock(&into);
                kept.extend(&piece[..length]);
                let surplus = kept.len().saturating_sub(MAX_KEPT_BYTES);
                kept.drain(..surplus);
            }
        }));
        Self { kept, reading }
    }

    /// What the command has said last, to follow a reason. `before` was on standard output.
    fn and(&self, before: &str) -> String {
        let kept: Vec<u8> = lock(&self.kept).iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let lines = before.lines().chain(text.lines()).map(str::trim).filter(|line| !line.is_empty());
        let last: Vec<&str> = lines.collect();
        let last = short(&last[last.len().saturating_sub(3)..].join(" / "));
        if last.is_empty() { String::new() } else { format!(": {last}") }
    }

    /// What the ended command said last, once everything is read, after `before`.
    async fn and_all(&mut self, before: &str) -> String {
        let _ = timeout(FINAL_MESSAGE_TIMEOUT, &mut self.reading.0).await;
        self.and(before)
    }
}

//! Runs a child to its end and stops it at its limits: time, memory, processes, files, disk.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::cgroup::Group;
use crate::error::Error;
use crate::excess::{Excess, Resource};
use crate::process_tree::{Ending, ProcessTree, Streams};
use crate::stream::Stream;
use crate::warm::stall::stalled;
use crate::{disk, memory, open_file_limit};

/// Between `SIGTERM` and `SIGKILL`.
const GRACE: Duration = Duration::from_secs(5);
/// How long output may still arrive after every process of the tree has ended.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// What a child may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From its start.
    pub time: Duration,
    /// Memory and processes.
    pub memory: memory::Limits,
    /// Disk space and files.
    pub disk: disk::Limits,
    /// The folder whose size is limited.
    pub folder: PathBuf,
    /// How often the limit on open files had been lowered before the start ([`open_file_limit::restore_limit`]).
    pub times_lowered: u64,
    /// How long the child may neither run nor print; for children that a worker forked.
    pub stall: Option<Duration>,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Exited {
        /// The exit code.
        code: i32,
    },
    /// It was killed by this signal.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It was stopped at its time limit.
    TimedOut,
}

/// How a child ended, and what had to be done about it.
#[derive(Debug)]
pub struct ChildEnd {
    /// How it ended.
    pub end: End,
    /// One sentence for each limit that it exceeded and each thing that was cleaned up.
    pub notes: Vec<String>,
    /// The limit that it was stopped for, other than its time.
    pub exceeded: Option<Resource>,
    /// The most memory that it was seen to use, in MiB.
    pub peak_memory_mib: Option<u64>,
    /// Why the end was not the child's doing, so that it has to be run again without a worker. Counts only if a worker forked it.
    pub worker_fault: Option<&'static str>,
}

/// Runs a child to its end, which comes by itself or at one of the limits, and passes on its output. When this returns,
/// no process of the child runs any more. `group` is the control group that the child is in.
///
/// # Errors
/// The child cannot be waited for, or its output cannot be read.
pub async fn run<Out: FnMut(&[u8]), Err: FnMut(&[u8])>(
    tree: &mut ProcessTree,
    streams: Streams,
    limits: &Limits,
    group: Option<&Group>,
    (stdout, stderr): (&mut Stream<Out>, &mut Stream<Err>),
) -> Result<ChildEnd, Error> {
    let Streams { stdout: out, stderr: err, .. } = streams;
    let logs = [stdout.file().to_owned(), stderr.file().to_owned()];
    let [out_file, err_file] = logs.clone();
    let pumps = async {
        let failed = |file: PathBuf| move |error| Error::Output { file, error };
        let out = async { stdout.pump(out).await.map_err(failed(out_file)) };
        let err = async { stderr.pump(err).await.map_err(failed(err_file)) };
        tokio::try_join!(out, err)
    };
    let mut pumps = pin!(pumps);
    let mut watch = pin!(watch(tree, limits, &logs));
    let finished = tokio::select! {
        finished = &mut watch => {
            // No writer is left, so this only drains the pipes. The timeout is for a process that got hold of one.
            if let Ok(pumped) = timeout(LAST_OUTPUT, &mut pumps).await {
                pumped?;
            }
            finished
        }
        pumped = &mut pumps => {
            pumped?;
            watch.await
        }
    };
    Ok(finished.map_err(Error::Process)?.with_kills_of(group, limits))
}

/// Waits for the child's end and stops it at its limits. Its output goes to `logs`.
async fn watch(tree: &mut ProcessTree, limits: &Limits, logs: &[PathBuf; 2]) -> io::Result<ChildEnd> {
    let (root, peak) = (tree.root(), Arc::new(memory::Peak::default()));
    let over_memory = async {
        match root {
            Some(root) => memory::exceeded(root, limits.memory, Arc::clone(&peak)).await,
            None => std::future::pending().await,
        }
    };
    let has_stalled = async {
        match limits.stall.zip(root) {
            Some((limit, root)) => stalled(root, logs, limit).await,
            None => std::future::pending().await,
        }
    };
    let finished = tokio::select! {
        ending = tree.ended() => Ok(ChildEnd::of(ending?)),
        () = tokio::time::sleep(limits.time) => stop_at_time_limit(tree, limits.time).await,
        excess = over_memory => stop_for(tree, excess).await,
        excess = disk::exceeded(limits.folder.clone(), limits.disk) => stop_for(tree, excess).await,
        excess = open_file_limit::wait_until_lowered(limits.times_lowered) => stop_for(tree, excess).await,
        () = has_stalled => {
            tree.kill();
            let finished = ChildEnd::of(tree.ended().await?);
            Ok(ChildEnd { worker_fault: Some("the script made no progress"), ..finished })
        }
    };
    finished.map(|finished| ChildEnd { peak_memory_mib: peak.mib(), ..finished })
}

/// Kills a child that exceeds a limit.
async fn stop_for(tree: &mut ProcessTree, excess: Excess) -> io::Result<ChildEnd> {
    tree.kill();
    let finished = ChildEnd::of(tree.ended().await?);
    Ok(ChildEnd { notes: vec![excess.message], exceeded: Some(excess.resource), ..finished })
}

/// Sends `SIGTERM`, and kills after a while.
async fn stop_at_time_limit(tree: &mut ProcessTree, limit: Duration) -> io::Result<ChildEnd> {
    tree.terminate();
    if timeout(GRACE, tree.ended()).await.is_err() {
        tree.kill();
        tree.ended().await?;
    }
    let note = format!("stopped after {:.1} s, its time limit", limit.as_secs_f64());
    Ok(ChildEnd {
        end: End::TimedOut,
        notes: vec![note],
        exceeded: None,
        peak_memory_mib: None,
        worker_fault: None,
    })
}

impl ChildEnd {
    /// How a child ended, without the limit that it may have been stopped for.
    fn of(ending: Ending) -> Self {
        let mut notes = Vec::new();
        let end = match ending.status {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => End::Exited { code },
                (None, signal) => End::Signalled { signal: signal.unwrap_or_default() },
            },
            None => {
                notes.push("its supervisor process was killed, and the script with it".to_owned());
                End::Signalled { signal: 9 }
            }
        };
        match ending.left_behind {
            0 => {}
            1 => notes.push("killed 1 process that the script left running".to_owned()),
            count => notes.push(format!("killed {count} processes that the script left running")),
        }
        let worker_fault = ending.status.is_none().then_some("the worker was killed");
        Self { end, notes, exceeded: None, peak_memory_mib: None, worker_fault }
    }

    /// Notes if the kernel killed the child because its control group ran out of memory.
    fn with_kills_of(mut self, group: Option<&Group>, limits: &Limits) -> Self {
        let is_killed = self.exceeded.is_none() && self.end == (End::Signalled { signal: 9 });
        if is_killed && group.is_some_and(Group::ran_out_of_memory) {
            let limit = limits.memory.memory_mib;
            self.notes
                .push(format!("stopped: it requested more memory than allowed, the limit is {limit} MiB"));
            self.exceeded = Some(Resource::Memory);
        }
        self
    }
}

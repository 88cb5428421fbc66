//! Watches a running script: its time, its memory, its processes, its files.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::Duration;

use mle_star::effects::ScriptEnd;
use tokio::time::timeout;

use super::cgroup::Group;
use super::warm::progress;
use super::{disk, memory, open_files};
use crate::process::{Ending, Tree};

/// Between the request to end and the end.
const GRACE: Duration = Duration::from_secs(5);

/// What a script may use.
pub(super) struct Limits {
    /// From its start.
    pub(super) time: Duration,
    pub(super) memory: memory::Limits,
    pub(super) disk: disk::Limits,
    /// How often the program's open files had been limited before.
    pub(super) times_lowered: u64,
    /// The folder that it fills.
    pub(super) folder: PathBuf,
    /// How long it may do nothing; given when a worker forked it.
    pub(super) patience: Option<Duration>,
}

/// How a script ended, and what had to be done about it.
pub(super) struct Watched {
    pub(super) end: ScriptEnd,
    pub(super) notes: Vec<String>,
    /// What it was stopped for, when it was not for its time.
    pub(super) excess_of: Option<Resource>,
    /// Why this says nothing about the script, should a worker have forked it.
    pub(super) spoiled: Option<&'static str>,
}

/// What a script has too much of.
#[derive(Debug)]
pub(super) struct Excess {
    /// A sentence that says so.
    pub(super) said: String,
    pub(super) of: Resource,
}

/// What a script can have too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Memory,
    Processes,
    /// Files of its own.
    Files,
    /// The program's open files: not too many, but no longer as many as it needs.
    OpenFiles,
    /// The last of the disk space, which may be others' doing.
    Volume,
}

/// Sees a script to its end, which comes by itself or at one of the limits. `logs` is where its output goes.
///
/// # Errors
/// What the system says when it cannot be waited for.
pub(super) async fn watch(tree: &mut Tree, limits: &Limits, logs: &[PathBuf; 2]) -> io::Result<Watched> {
    let root = tree.root();
    let over_memory = async {
        match root {
            Some(root) => memory::exceeded(root, limits.memory).await,
            None => std::future::pending().await,
        }
    };
    let stalled = async {
        match limits.patience.zip(root) {
            Some((patience, root)) => progress::stalled(root, logs, patience).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ending = tree.ended() => Ok(Watched::by_itself(ending?)),
        () = tokio::time::sleep(limits.time) => stop_at_limit(tree, limits.time).await,
        excess = over_memory => stop_for(tree, excess).await,
        excess = disk::exceeded(limits.folder.clone(), limits.disk) => stop_for(tree, excess).await,
        excess = open_files::lowered(limits.times_lowered) => stop_for(tree, excess).await,
        () = stalled => {
            tree.kill();
            let watched = Watched::by_itself(tree.ended().await?);
            Ok(Watched { spoiled: Some("the script made no progress"), ..watched })
        }
    }
}

/// Ends a script that takes more than it may.
async fn stop_for(tree: &mut Tree, excess: Excess) -> io::Result<Watched> {
    tree.kill();
    let watched = Watched::by_itself(tree.ended().await?);
    Ok(Watched { notes: vec![excess.said], excess_of: Some(excess.of), ..watched })
}

/// Asks first, then kills.
async fn stop_at_limit(tree: &mut Tree, limit: Duration) -> io::Result<Watched> {
    tree.terminate();
    if timeout(GRACE, tree.ended()).await.is_err() {
        tree.kill();
        tree.ended().await?;
    }
    let note = format!("stopped after {:.1} s, the time it had", limit.as_secs_f64());
    Ok(Watched { end: ScriptEnd::TimedOut, notes: vec![note], excess_of: None, spoiled: None })
}

impl Watched {
    /// With what the kernel had to do about the script's control group, before anybody saw it.
    pub(super) fn with(mut self, group: Option<&Group>, limits: &Limits) -> Self {
        let is_killed = self.excess_of.is_none() && self.end == (ScriptEnd::Signalled { signal: 9 });
        if is_killed && group.is_some_and(Group::ran_out_of_memory) {
            let limit = limits.memory.memory_mib;
            self.notes
                .push(format!("stopped: it wanted more memory than it may use, the limit is {limit} MiB"));
            self.excess_of = Some(Resource::Memory);
        }
        self
    }

    pub(super) fn by_itself(ending: Ending) -> Self {
        let mut notes = Vec::new();
        let end = match ending.status {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => ScriptEnd::Exited { code },
                (None, signal) => ScriptEnd::Signalled { signal: signal.unwrap_or_default() },
            },
            None => {
                notes
                    .push("the process that guards the script was killed, and the script with it".to_owned());
                ScriptEnd::Signalled { signal: 9 }
            }
        };
        if ending.left_behind > 0 {
            let count = ending.left_behind;
            notes
                .push(format!("{count} processes that the script had started and not waited for were ended"));
        }
        let spoiled = ending.status.is_none().then_some("the worker was killed");
        Self { end, notes, excess_of: None, spoiled }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Stdio;

    use tokio::io::AsyncReadExt;
    use tokio::process::Command;

    use super::*;
    use crate::process::{Confinement, arrange_elsewhere};

    #[tokio::test]
    async fn a_deadline_holds_under_the_guard_of_other_systems() {
        let check = async |script: &str, seconds: u64| {
            let folder = tempfile::tempdir().unwrap();
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            let tree = Tree::spawn_under(arrange_elsewhere, command, Stdio::null(), Confinement::default());
            let (mut tree, mut streams) = tree.unwrap();
            let memory = memory::Limits { memory_mib: u64::MAX, share_mib: u64::MAX, processes: u64::MAX };
            let disk = disk::Limits { disk_mib: u64::MAX, files: u64::MAX, reserve_mib: 0 };
            let (folder, logs) = (folder.path().to_owned(), [PathBuf::new(), PathBuf::new()]);
            let time = Duration::from_secs(seconds);
            let limits = Limits { time, memory, disk, folder, times_lowered: 0, patience: None };
            let watched = watch(&mut tree, &limits, &logs).await.unwrap();
            // Whoever is left of the group has it open.
            let mut rest = Vec::new();
            let closed = timeout(Duration::from_secs(30), streams.stdout.read_to_end(&mut rest)).await;
            closed.expect("somebody is left").unwrap();
            watched
        };
        let watched = check("sleep 60 & sleep 60", 1).await;
        assert_eq!(
            (watched.end, watched.notes),
            (ScriptEnd::TimedOut, vec!["stopped after 1.0 s, the time it had".to_owned()])
        );
        assert_eq!(check("exit 4", 60).await.end, ScriptEnd::Exited { code: 4 });
    }
}

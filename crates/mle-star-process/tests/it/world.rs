//! A folder for one child, and what it printed.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mle_star_process::enforce::{self, ChildEnd, Limits};
use mle_star_process::machine::Machine;
use mle_star_process::sandbox::{Isolation, Sandbox};
use mle_star_process::stream::Stream;
use mle_star_process::{Confinement, ProcessTree, disk, memory, open_file_limit};
use tokio::process::Command;

pub struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("child")
    }

    /// Limits that nothing here reaches.
    pub fn limits(&self) -> Limits {
        Limits {
            time: Duration::from_secs(60),
            memory: memory::Limits { memory_mib: 2_000, share_mib: u64::MAX, processes: 100 },
            disk: disk::Limits { disk_mib: 100, files: 1_000, reserve_mib: 0 },
            folder: self.folder(),
            times_lowered: open_file_limit::restore_limit().unwrap(),
            stall: None,
        }
    }

    /// Runs a shell script to its end; returns how it ended and what it printed to both streams.
    pub async fn run(&self, script: &str, limits: Limits, confinement: Confinement) -> (ChildEnd, String) {
        std::fs::create_dir_all(self.folder()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(self.folder());
        let (mut tree, streams) = ProcessTree::spawn_confined(command, Stdio::null(), confinement).unwrap();
        let log = |name: &str| self.folder.path().join(name);
        let mut stdout = Stream::new(log("stdout"), |_: &[u8]| ());
        let mut stderr = Stream::new(log("stderr"), |_: &[u8]| ());
        let finished = enforce::run(&mut tree, streams, &limits, None, (&mut stdout, &mut stderr)).await;
        (finished.unwrap(), stdout.excerpt().head + &stderr.excerpt().head)
    }

    pub fn confinement(&self, isolation: Isolation) -> Confinement {
        std::fs::create_dir_all(self.folder()).unwrap();
        let machine = Machine { cores: 2, memory_mib: 1_000, gpus: Vec::new() };
        let sandbox = Sandbox::new(isolation, Path::new("/bin/sh"), &[], &machine);
        sandbox.confinement(&self.folder(), [], 10, None).unwrap()
    }
}

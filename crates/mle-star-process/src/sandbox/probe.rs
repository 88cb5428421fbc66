//! Tests what this machine's kernel offers, and makes the namespaces of a child accordingly.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::libc;
use nix::sys::resource::Resource;
use nix::unistd::{getegid, geteuid};
use procfs::process::Process;
use procfs::{Current, KernelVersion, LoadAverage};

use super::access::Access;
use super::layers::{Layers, Network};
use super::{hidden, own_proc};
use crate::cgroup::{self, Cgroups};
use crate::machine::Machine;
use crate::spawn::{Confinement, Mounts, Namespaces, REPORT, arrange, landlock_version};

pub(super) use super::hidden::hidden_folders;

/// Since this version, each process namespace has its own `pid_max`; before, root would change the system's.
const OWN_PROCESS_IDS: (u8, u8) = (6, 14);
/// The capabilities to map any user and group.
const SET_USERS: u64 = 1 << 6 | 1 << 7;

impl Layers {
    /// Tests each layer.
    pub(super) fn probe() -> Self {
        let none = Self { landlock: landlock_version(), limits: true, cgroups: cgroups(), ..Self::none() };
        let network = Self { network: true, ..none.clone() };
        let mounts = Self { shared_memory: true, ..network.clone() };
        let all = Self { processes: true, ..mounts.clone() };
        let mut refusal = None;
        for layers in [all, mounts, network] {
            match layers.try_out() {
                Ok(()) => return Self { refusal, ..layers },
                // The first refusal belongs to the most complete combination.
                Err(error) => refusal = refusal.or(Some(why(&error))),
            }
        }
        Self { refusal, ..none }
    }

    fn try_out(&self) -> io::Result<()> {
        // The trial writes nothing, but limiting where it may write is part of the test.
        let folder = std::env::temp_dir();
        let access = Access { writable: vec![folder], opens_proc: self.processes, ..Access::any_program() };
        let hidden = hidden_folders(&access);
        let namespaces = self.namespaces(Network::Denied, &access, &hidden, 1, 1_000);
        trial(Confinement { namespaces, ..Confinement::default() })
    }

    /// The namespaces of one child; `None` without any.
    pub(super) fn namespaces(
        &self,
        network: Network,
        access: &Access,
        hidden: &[PathBuf],
        shared_memory_mib: u64,
        tasks: u64,
    ) -> Option<Namespaces> {
        if !(self.network || self.processes || self.shared_memory) {
            return None;
        }
        let (users, may_set_groups) = users();
        let is_new = |version: KernelVersion| (version.major, version.minor) >= OWN_PROCESS_IDS;
        let own_ids = self.processes && KernelVersion::current().is_ok_and(is_new);
        let options = CString::new(format!("size={shared_memory_mib}m,mode=1777")).ok();
        Some(Namespaces {
            users,
            may_set_groups,
            network: self.network && network == Network::Denied,
            processes: self.processes,
            kernel_settings: if access.opens_proc { own_proc::settings() } else { Vec::new() },
            process_ids: own_ids.then(|| tasks.to_string().into_bytes()),
            shared_memory: options.filter(|_| self.shared_memory),
            mounts: if self.shared_memory { hidden::mounts(hidden, access) } else { Mounts::default() },
        })
    }
}

/// May a child write to `/proc`?
pub(super) fn opens_proc(layers: &Layers, machine: &Machine) -> bool {
    own_proc::is_open(layers, !machine.gpus.is_empty())
}

/// The delegated group, if a program runs in a group created there.
fn cgroups() -> Result<Cgroups, String> {
    let groups = Cgroups::delegated()?;
    let limits = cgroup::Limits { memory_mib: 1024, tasks: 1024 };
    let tried = groups
        .group(limits)
        .and_then(|group| trial(Confinement { cgroup: Some(group.entrance()?), ..Confinement::default() }));
    tried.map_err(|error| format!("cannot create a limited cgroup: {error}"))?;
    Ok(groups)
}

/// Runs a program that does nothing under `confinement`.
///
/// # Errors
/// The system does not allow it.
fn trial(confinement: Confinement) -> io::Result<()> {
    let (orders, control) = io::pipe()?;
    let (mut report, status) = io::pipe()?;
    let mut command = Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    arrange(&mut command, orders.into(), status.into(), confinement);
    let mut supervisor = command.spawn()?;
    // The command holds this process's copy of the report's writing end.
    drop(command);
    supervisor.wait()?;
    drop(control);
    let mut answer = [0; REPORT];
    report.read_exact(&mut answer)?;
    if answer == [0; REPORT] { Ok(()) } else { Err(io::Error::other("a confined program does not run")) }
}

/// The limit on processes and threads for a child that may have `tasks` of them; `None`: not limited.
pub(super) fn task_limit(tasks: u64, counts_by_itself: bool) -> Option<(Resource, u64, u64)> {
    // Root is exempt. Without a namespace, the kernel counts everything the user runs.
    if geteuid().is_root() {
        return None;
    }
    let others = if counts_by_itself { 0 } else { tasks_of_all() };
    Some((Resource::RLIMIT_NPROC, tasks + others, tasks + others))
}

/// Every process and thread of the system: at least as many as the user has.
fn tasks_of_all() -> u64 {
    LoadAverage::current().map_or(32_768, |load| load.max.into())
}

/// Explains why the kernel refuses a namespace.
fn why(error: &io::Error) -> String {
    match error.raw_os_error() {
        // The limit may be 0.
        Some(libc::ENOSPC | libc::EUSERS) => "user.max_user_namespaces allows no more".to_owned(),
        Some(libc::EPERM | libc::EACCES) => {
            "the system does not allow its users to create namespaces".to_owned()
        }
        Some(libc::ENOSYS | libc::EINVAL) => "the kernel is too old".to_owned(),
        _ => error.to_string(),
    }
}

/// `uid_map`, `gid_map`, and whether groups may be set. A privileged process maps all users, so that files of others
/// look the same inside; any other maps only its own user.
fn users() -> ([Vec<u8>; 2], bool) {
    let status = Process::myself().and_then(|this| this.status());
    let capabilities = status.map_or(0, |status| status.capeff);
    if capabilities & SET_USERS == SET_USERS {
        let maps = ["uid_map", "gid_map"].map(|name| identity(&format!("/proc/self/{name}")));
        if let [Some(users), Some(groups)] = maps {
            return ([users, groups], true);
        }
    }
    let own = |id: u32| format!("{id} {id} 1\n").into_bytes();
    ([own(geteuid().as_raw()), own(getegid().as_raw())], false)
}

/// A map of all users that this process sees to the same numbers. `procfs` does not parse these files.
fn identity(map: &str) -> Option<Vec<u8>> {
    let text = fs::read_to_string(map).ok()?;
    let line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [inside, _, count] = fields.as_slice() else { return None };
        Some(format!("{inside} {inside} {count}\n"))
    };
    let lines: Option<String> = text.lines().map(line).collect();
    Some(lines?.into_bytes()).filter(|lines| !lines.is_empty())
}

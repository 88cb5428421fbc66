//! What keeps a script from doing harm: which layers this machine's kernel offers, and how one script is bound.
//!
//! [`Layers`] is probed once and says what is enforced. [`Isolation`] is what a runner asks for. `Sandbox` is both
//! made ready for one runner: from it and from the paths of one script (`Access`) comes the confinement that is
//! applied between fork and exec. No layer needs root, and a missing one takes no other away.
//!
//! A worker that forks scripts binds each of them alike: it gets the confinement as a message, the ruleset as a descriptor
//! that goes with it. The ruleset's late paths are added inside, since they are mounted there.

use std::io;
use std::path::{Path, PathBuf};

use mle_star::config::Switch;
use mle_star::effects::ScriptEnd;
use nix::sys::resource::{Resource, getrlimit};

use super::cgroup::{self, Group};
use super::environment::Environment;
use super::machine::Machine;
use super::workplace::Workplace;
use crate::process::{Confinement, Namespaces};

mod access;
mod layers;
#[cfg_attr(not(target_os = "linux"), path = "sandbox/elsewhere.rs")]
mod probe;
#[cfg(target_os = "linux")]
mod rules;
#[cfg(target_os = "linux")]
mod view;
mod words;

pub(crate) use access::Access;
pub use layers::{Layer, Layers};

/// Descriptors a script may have open; more than any honest one needs.
const DESCRIPTORS: u64 = 65_536;
/// Descriptors a script may have open unless it asks for more.
const DESCRIPTORS_AT_FIRST: u64 = 8_192;
/// Threads a script may have for each core, apart from its processes.
const THREADS_PER_CORE: u64 = 64;

/// The first version of Landlock that knows TCP.
const TCP_SINCE: i32 = 4;

/// What keeps a runner's scripts from doing harm.
#[derive(Clone, Debug)]
pub struct Isolation {
    /// What the kernel offers.
    pub layers: Layers,
    /// May scripts use the network?
    pub network: Switch,
    /// Folders that scripts may write to as well as to their own; none as a rule.
    pub writable: Vec<PathBuf>,
    /// The most disk space of one script's folder, in MiB; `None`: half of what is free when it starts, and no
    /// more than 100 GiB.
    pub disk_limit_mib: Option<u64>,
    /// The most files in one script's folder.
    pub files_limit: u64,
    /// The most processes of one script.
    pub processes_limit: u64,
}

impl Isolation {
    /// Everything this machine offers, with the limits that fit any honest script.
    pub fn new(network: Switch) -> Self {
        let layers = Layers::probed().clone();
        let (writable, disk_limit_mib) = (Vec::new(), None);
        Self { layers, network, writable, disk_limit_mib, files_limit: 500_000, processes_limit: 1_000 }
    }

    /// Is it enforced that scripts have no network at all?
    pub fn closes_network(&self) -> bool {
        self.network == Switch::Off && self.layers.network
    }

    /// Is TCP all that is closed of the network? Landlock does it where there is no namespace.
    fn closes_only_tcp(&self) -> bool {
        self.network == Switch::Off && !self.layers.network && self.layers.landlock >= TCP_SINCE
    }

    /// One line for people: what is enforced, what is not and why.
    pub fn line(&self) -> String {
        self.layers.line(self.network)
    }
}

/// One runner's isolation with what does not change from script to script.
#[derive(Clone, Debug)]
pub(super) struct Sandbox {
    /// As it was asked for.
    pub(super) isolation: Isolation,
    /// What every script may use.
    access: Access,
    /// Folders of no concern to scripts.
    strange: Vec<PathBuf>,
    machine: Machine,
}

impl Sandbox {
    pub(super) fn new(isolation: Isolation, environment: &Environment, machine: &Machine) -> Self {
        let mut access = Access::of_every_script(environment, machine, isolation.network);
        access.writable.extend_from_slice(&isolation.writable);
        let strange = probe::strange_folders(&access);
        Self { isolation, access, strange, machine: machine.clone() }
    }

    /// A control group for one script that may use `memory_mib`, where there can be one; otherwise, why it cannot be had
    /// now, when it could be before. The watches hold without it.
    pub(super) fn group(&self, memory_mib: u64) -> (Option<Group>, Option<String>) {
        let limits = cgroup::Limits { memory_mib, tasks: self.tasks() };
        match self.isolation.layers.cgroups.as_ref().map(|groups| groups.group(limits)) {
            Ok(Ok(group)) => (Some(group), None),
            Ok(Err(error)) => (None, Some(format!("no control group could be made for the script: {error}"))),
            Err(_) => (None, None),
        }
    }

    /// Binds one script that has `workplace`, may fill `disk_mib` of the disk and is put into `group`.
    ///
    /// # Errors
    /// A layer that this machine offers cannot be had now.
    pub(super) fn confinement(
        &self,
        workplace: &Workplace,
        disk_mib: u64,
        group: Option<&Group>,
    ) -> io::Result<Confinement> {
        let mut access = self.access.clone();
        access.writable.insert(0, workplace.folder().to_owned());
        access.readable.extend_from_slice(workplace.sources());
        access.readable.push(workplace.temporary().to_owned());
        let layers = &self.isolation.layers;
        let (namespaces, tasks) = (self.namespaces_for(&access), self.tasks());
        let counts_by_itself = namespaces.is_some();
        let rules = access.rules(layers, self.isolation.network)?;
        let limits = limits(disk_mib, tasks, counts_by_itself);
        let cgroup = group.map(Group::entrance).transpose()?;
        Ok(Confinement { cgroup, namespaces, rules, limits, is_humble: layers.limits })
    }

    /// Of which kind the namespaces of every script are; what is seen of the files depends on the script.
    pub(super) fn namespaces(&self) -> Option<Namespaces> {
        self.namespaces_for(&self.access)
    }

    fn namespaces_for(&self, access: &Access) -> Option<Namespaces> {
        let (layers, network) = (&self.isolation.layers, self.isolation.network);
        layers.namespaces(network, access, &self.strange, self.shared_memory_mib(), self.tasks())
    }

    /// The most processes and threads of a script.
    fn tasks(&self) -> u64 {
        let threads = THREADS_PER_CORE * self.machine.cores as u64;
        // The smallest number that the kernel takes.
        (self.isolation.processes_limit + threads).max(302)
    }

    /// What a script's end and the exception at the end of its `traceback` have to do with this; `None`: nothing. Its
    /// `folder` must still be there.
    pub(super) fn explanation(
        &self,
        end: &ScriptEnd,
        traceback: Option<&str>,
        folder: &Path,
    ) -> Option<String> {
        if let ScriptEnd::Signalled { signal } = end {
            return words::explanation_of_signal(*signal);
        }
        let is_hidden = |file: &Path| {
            let file = folder.join(file);
            let real = file.canonicalize().or_else(|_| file.parent().unwrap_or(&file).canonicalize());
            real.is_ok_and(|real| {
                !real.starts_with(folder) && self.strange.iter().any(|f| real.starts_with(f))
            })
        };
        words::explanation(traceback?, &self.isolation, is_hidden)
    }

    /// As much as systems give to all their processes by default: half of the memory.
    fn shared_memory_mib(&self) -> u64 {
        (self.machine.memory_mib / 2).max(256)
    }
}

/// No limit of the address space: CUDA and torch reserve far more than they use. The watch sees what is used.
fn limits(disk_mib: u64, tasks: u64, counts_by_itself: bool) -> Vec<(Resource, u64, u64)> {
    let mut wanted = vec![
        (Resource::RLIMIT_CORE, 0, 0),
        (Resource::RLIMIT_NOFILE, DESCRIPTORS_AT_FIRST, DESCRIPTORS),
        (Resource::RLIMIT_FSIZE, disk_mib << 20, disk_mib << 20),
    ];
    wanted.extend(probe::task_limit(tasks, counts_by_itself));
    let within = |(resource, soft, hard): (Resource, u64, u64)| {
        let most = getrlimit(resource).map_or(u64::MAX, |(_, hard)| hard);
        (resource, soft.min(most), hard.min(most))
    };
    wanted.into_iter().map(within).collect()
}

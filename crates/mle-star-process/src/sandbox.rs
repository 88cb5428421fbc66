//! What keeps a child from doing harm: the layers that this machine's kernel offers, and how they confine one child.
//!
//! [`Layers`] is probed once and says what is enforced. [`Isolation`] is what the caller asks for. [`Sandbox`] prepares
//! both for many children; with the paths of one child it makes the [`Confinement`] that is applied between fork and
//! exec. No layer needs root, and each works without the others.
//!
//! A worker that forks children confines each of them in the same way: it receives the confinement as a message, and the
//! ruleset as a descriptor with it. The ruleset's late paths are added inside, because they are mounted there.

use std::io;
use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit};

use crate::cgroup::{self, Group};
use crate::machine::Machine;
use crate::spawn::{Confinement, Namespaces};

mod access;
mod hidden;
mod layers;
mod own_proc;
mod probe;
mod rules;

use access::Access;
pub use layers::{Layer, Layers, Network};

/// The folder in a child's own that takes the place of `/tmp`.
pub const TEMPORARY: &str = ".system-tmp";
/// The hard limit on a child's open descriptors.
const DESCRIPTORS: u64 = 65_536;
/// The soft limit on a child's open descriptors.
const DESCRIPTORS_AT_FIRST: u64 = 8_192;
/// Threads a child may have for each core, in addition to its processes.
const THREADS_PER_CORE: u64 = 64;

/// The first version of Landlock with rules for TCP.
const TCP_SINCE: i32 = 4;

/// How children are isolated.
#[derive(Clone, Debug)]
pub struct Isolation {
    /// What the kernel offers.
    pub layers: Layers,
    /// May children use the network?
    pub network: Network,
    /// Folders that children may write to besides their own; usually none.
    pub writable: Vec<PathBuf>,
    /// Limit on the disk space of one child's folder, in MiB. `None`: half of what is free when it starts, at most
    /// 100 GiB.
    pub disk_limit_mib: Option<u64>,
    /// Limit on the files in one child's folder.
    pub files_limit: u64,
    /// Limit on the processes of one child.
    pub processes_limit: u64,
}

impl Isolation {
    /// Everything this machine offers, with limits that ordinary scripts do not reach.
    pub fn new(network: Network) -> Self {
        let layers = Layers::probed().clone();
        let (writable, disk_limit_mib) = (Vec::new(), None);
        Self { layers, network, writable, disk_limit_mib, files_limit: 500_000, processes_limit: 1_000 }
    }

    /// Is all network access blocked?
    pub fn closes_network(&self) -> bool {
        self.network == Network::Denied && self.layers.network
    }

    /// Is a child kept from reading files that it is not given?
    pub fn closes_reads(&self) -> bool {
        self.layers.landlock > 0 || self.layers.shared_memory
    }

    /// Is TCP blocked and the rest of the network open? Landlock blocks it where a namespace cannot.
    pub fn closes_only_tcp(&self) -> bool {
        self.network == Network::Denied && !self.layers.network && self.layers.landlock >= TCP_SINCE
    }

    /// One line for people: what is enforced, and what is not and why.
    pub fn line(&self) -> String {
        self.layers.line(self.network)
    }
}

/// An isolation with everything that is the same for all children.
#[derive(Clone, Debug)]
pub struct Sandbox {
    isolation: Isolation,
    /// What every child may use.
    access: Access,
    /// Folders that children do not see.
    hidden: Vec<PathBuf>,
    machine: Machine,
}

impl Sandbox {
    /// A sandbox for Python scripts that run with the interpreter `python`. `removed` names the variables that they do
    /// not inherit.
    pub fn new(isolation: Isolation, python: &Path, removed: &[&str], machine: &Machine) -> Self {
        let mut access = Access::python(python, removed, machine, isolation.network);
        access.writable.extend_from_slice(&isolation.writable);
        access.opens_proc = probe::opens_proc(&isolation.layers, machine);
        let hidden = probe::hidden_folders(&access);
        Self { isolation, access, hidden, machine: machine.clone() }
    }

    /// Closes these folders, even if they lie in one that children may read, such as a project whose package is
    /// installed from its source folder. What a child is given by itself stays open.
    #[must_use]
    pub fn without(self, closed: &[PathBuf]) -> Self {
        let closed: Vec<PathBuf> = closed.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        let access = self.access.without(&closed);
        let hidden = probe::hidden_folders(&access);
        Self { access, hidden, ..self }
    }

    /// The isolation as it was asked for.
    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// A control group for one child that may use `memory_mib`, if the system has any; else a sentence if it could be
    /// created before and cannot now. The limits hold without it.
    pub fn group(&self, memory_mib: u64) -> (Option<Group>, Option<String>) {
        let limits = cgroup::Limits { memory_mib, tasks: self.tasks() };
        match self.isolation.layers.cgroups.as_ref().map(|groups| groups.group(limits)) {
            Ok(Ok(group)) => (Some(group), None),
            Ok(Err(error)) => (None, Some(format!("cannot create its control group: {error}"))),
            Err(_) => (None, None),
        }
    }

    /// Confines one child that runs in `folder`, may also read `readable`, may write `disk_mib` to the disk and enters
    /// `group`.
    ///
    /// # Errors
    /// A layer that this machine offers fails.
    pub fn confinement(
        &self,
        folder: &Path,
        readable: impl IntoIterator<Item = PathBuf>,
        disk_mib: u64,
        group: Option<&Group>,
    ) -> io::Result<Confinement> {
        let mut access = self.access.clone();
        access.writable.insert(0, folder.to_owned());
        access.readable.extend(readable);
        access.temporary = Some(folder.join(TEMPORARY)).filter(|folder| folder.is_dir());
        let layers = &self.isolation.layers;
        let (namespaces, tasks) = (self.namespaces_for(&access), self.tasks());
        let counts_by_itself = namespaces.is_some();
        let has_own = |namespaces: &Namespaces| namespaces.mounts.temporary.is_some();
        // Without a mount of its own, `/tmp` is that of the system.
        access.temporary = access.temporary.filter(|_| namespaces.as_ref().is_some_and(has_own));
        let rules = access.rules(layers, self.isolation.network)?;
        let limits = limits(disk_mib, tasks, counts_by_itself);
        let cgroup = group.map(Group::entrance).transpose()?;
        Ok(Confinement { cgroup, namespaces, rules, limits, drops_privileges: layers.limits })
    }

    /// The namespaces that every child has. The files that are visible in them depend on the child.
    pub fn namespaces(&self) -> Option<Namespaces> {
        self.namespaces_for(&self.access)
    }

    fn namespaces_for(&self, access: &Access) -> Option<Namespaces> {
        let (layers, network) = (&self.isolation.layers, self.isolation.network);
        layers.namespaces(network, access, &self.hidden, self.shared_memory_mib(), self.tasks())
    }

    /// The limit on processes and threads of a child.
    fn tasks(&self) -> u64 {
        let threads = THREADS_PER_CORE * self.machine.cores as u64;
        // The kernel accepts no smaller `pid_max`.
        (self.isolation.processes_limit + threads).max(302)
    }

    /// Does `file`, as seen from `folder`, lie in a hidden folder? `folder` is the child's own and must still exist.
    pub fn hides(&self, file: &Path, folder: &Path) -> bool {
        let file = folder.join(file);
        let real = file.canonicalize().or_else(|_| file.parent().unwrap_or(&file).canonicalize());
        real.is_ok_and(|real| {
            !real.starts_with(folder) && self.hidden.iter().any(|hidden| real.starts_with(hidden))
        })
    }

    /// Is everything at `path` read-only for children? Mounts see to it; Landlock alone leaves modes and times open.
    pub fn keeps(&self, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize();
        let writable = self.access.writable.iter().filter_map(|path| real(path).ok());
        let overlaps =
            |path: &Path| writable.clone().any(|open| path.starts_with(&open) || open.starts_with(path));
        self.isolation.layers.shared_memory && real(path).is_ok_and(|path| !overlaps(&path))
    }

    /// Half of the memory, the default size of `/dev/shm`.
    fn shared_memory_mib(&self) -> u64 {
        (self.machine.memory_mib / 2).max(256)
    }
}

/// The address space is not limited: CUDA and torch reserve far more than they use.
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

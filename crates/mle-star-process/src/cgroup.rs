//! Control groups: the kernel limits what all processes of a child use together, if a version 2 group was delegated to
//! this program.
//!
//! The program checks limits a few times a second; the kernel enforces them at every moment: it hands out no page and
//! forks no process beyond the limit, root's included. A group holds either processes or other groups with limits, so
//! the program first moves itself and what it has started into a group below the delegated one ([`PROGRAM`]). Each
//! child then gets a group next to that one. Processes of other programs are never moved.
//!
//! The interface is described at <https://docs.kernel.org/admin-guide/cgroup-v2.html>.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::unistd::geteuid;

use crate::proc;

/// The group of the program itself and of everything it starts without limits.
const PROGRAM: &str = "mle-star.programs";
/// Prefix of the names of children's groups.
const CHILD: &str = "mle-star-";
/// The controllers that limit a child.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// Systemd marks the groups that it leaves to others, such as a user's own service manager, with these attributes.
const MARKS: [&str; 2] = ["user.delegate", "trusted.delegate"];
/// Exists if systemd runs the machine.
const SYSTEMD: &str = "/run/systemd/system";
/// How to get a delegated group.
const CURE: &str = "; `systemd-run --user --scope -p Delegate=yes mle-star ...` starts it in its own group";
/// How long to wait for the end of killed processes.
const DEATH_TIMEOUT: Duration = Duration::from_secs(2);

/// How many groups this process has made.
static GROUPS: AtomicU64 = AtomicU64::new(0);

/// A delegated control group, in which the groups of children are created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroups {
    base: PathBuf,
}

/// What the processes of one group may use together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Memory in MiB, with files in `/dev/shm` and the kernel's own memory, without file caches that can be dropped.
    pub(crate) memory_mib: u64,
    /// Processes and threads.
    pub(crate) tasks: u64,
}

/// The group of one child. Dropping it ends the processes left in it.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
}

impl Cgroups {
    /// The group that was delegated to this program, prepared for those of children.
    ///
    /// # Errors
    /// A sentence that says why there is none.
    pub(crate) fn delegated() -> Result<Self, String> {
        let own = own_folder().ok_or("there is no cgroup v2")?;
        // A program that this one started is already in the group for programs.
        let of_programs = own.file_name().is_some_and(|name| name == PROGRAM);
        let base = own.parent().filter(|_| of_programs).unwrap_or(&own).to_owned();
        let offered = read(&base, "cgroup.controllers");
        let has = |controller: &&str| offered.split_whitespace().any(|offered| offered == *controller);
        if let Some(missing) = CONTROLLERS.iter().find(|controller| !has(controller)) {
            return Err(format!("the cgroup of this program has no {missing} controller"));
        }
        let refused = |error: io::Error| match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => nothing_delegated(),
            _ => format!("the cgroup of this program cannot be used: {error}"),
        };
        if !is_delegated(&base) {
            return Err(nothing_delegated());
        }
        let groups = Self { base };
        groups.remove_leftovers();
        groups.make_room().map_err(refused)?;
        Ok(groups)
    }

    /// Moves this program and what it has started out of the base, so that the base can limit the groups in it.
    fn make_room(&self) -> io::Result<()> {
        // The root group of a machine may hold processes and limit groups.
        let Err(error) = self.enable() else { return Ok(()) };
        if error.raw_os_error() != Some(nix::libc::EBUSY) {
            return Err(error);
        }
        let home = self.base.join(PROGRAM);
        let others = || io::Error::other(format!("it holds other programs{}", cure()));
        // Repeats, because a process may fork meanwhile.
        for _ in 0..100 {
            let mine = proc::descendants(process::id(), u64::MAX);
            let is_mine = |process: &u32| *process == process::id() || mine.contains(process);
            let inside = processes(&self.base);
            if !inside.iter().all(is_mine) {
                return Err(others());
            }
            make_folder(&home)?;
            for process in inside {
                // Fails if the process has ended meanwhile.
                let _ = fs::write(home.join("cgroup.procs"), process.to_string());
            }
            match self.enable() {
                Err(error) if error.raw_os_error() == Some(nix::libc::EBUSY) => {}
                done => return done,
            }
        }
        Err(others())
    }

    /// Enables limits for the groups in the base.
    fn enable(&self) -> io::Result<()> {
        fs::write(self.base.join("cgroup.subtree_control"), "+memory +pids")
    }

    /// Removes the groups of programs that were killed. The kernel does not remove a group that has processes.
    fn remove_leftovers(&self) {
        let own = process::id().to_string();
        let entries = fs::read_dir(&self.base).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| name.strip_prefix(CHILD)?.split_once('-'));
            // This program may have got the process ID of a killed one; it has created no groups yet.
            let is_left = |owner: &str| owner == own || !Path::new("/proc").join(owner).exists();
            if owner.is_some_and(|(owner, _)| is_left(owner)) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// A new, empty group with these limits.
    ///
    /// # Errors
    /// The group cannot be created.
    pub(crate) fn group(&self, limits: Limits) -> io::Result<Group> {
        let number = GROUPS.fetch_add(1, Ordering::Relaxed);
        let folder = self.base.join(format!("{CHILD}{}-{number}", process::id()));
        // A service manager that reloads its units may have disabled the controllers.
        self.enable()?;
        fs::create_dir(&folder)?;
        let group = Group { folder };
        let bytes = limits.memory_mib.checked_mul(1024 * 1024);
        let set = |file: &str, value: String| fs::write(group.folder.join(file), value);
        set("memory.max", bytes.map_or_else(|| "max".to_owned(), |bytes| bytes.to_string()))?;
        // Kills all processes of the group: a child must not continue without some of its processes.
        set("memory.oom.group", "1".to_owned())?;
        set("pids.max", limits.tasks.to_string())?;
        Ok(group)
    }
}

impl Group {
    /// The file to which a process writes `0` to enter the group, with everything it starts later.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn entrance(&self) -> io::Result<OwnedFd> {
        Ok(File::options().write(true).open(self.folder.join("cgroup.procs"))?.into())
    }

    /// Did the kernel kill processes of the group because it reached its memory limit? Kills because a parent group or
    /// the machine ran out of memory do not count.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = read(&self.folder, "memory.events");
        let count =
            |event: &str| events.lines().find_map(|line| line.strip_prefix(event)?.trim().parse().ok());
        let any = |event: &str| count(event).is_some_and(|count: u64| count > 0);
        any("oom ") && any("oom_kill ")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let deadline = Instant::now() + DEATH_TIMEOUT;
        while let Err(error) = fs::remove_dir(&self.folder) {
            // Kernels before 5.14 have no `cgroup.kill`; there the supervisor has killed everything.
            let _ = fs::write(self.folder.join("cgroup.kill"), "1");
            if error.kind() != ErrorKind::ResourceBusy || Instant::now() > deadline {
                return;
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// The folder of this process's version 2 group; `None` without one.
pub(crate) fn own_folder() -> Option<PathBuf> {
    let (group, mounts) = proc::control_group()?;
    folder_of(&group, &mounts)
}

/// The folder of `group`; `mounts` are pairs of root and mount point.
fn folder_of(group: &Path, mounts: &[(PathBuf, PathBuf)]) -> Option<PathBuf> {
    mounts.iter().find_map(|(root, mount_point)| {
        let below = group.strip_prefix(root).ok()?;
        // The path of a group outside of this process's cgroup namespace begins like that.
        (!below.starts_with("..")).then(|| mount_point.join(below))
    })
}

/// May this program arrange the group, provided that it holds no other program? If systemd runs the machine, it may if
/// the group or one above was delegated: a user's own service manager does not mark its units. A group owned by a user
/// other than root was given to that user; older systemd shows its marks only to root. Without systemd, write
/// permission decides.
fn is_delegated(group: &Path) -> bool {
    let is_marked = |group: &Path, mark: &str| {
        xattr::get(group, mark).is_ok_and(|value| value.as_deref() == Some(b"1".as_slice()))
    };
    let owner = fs::metadata(group.join("cgroup.subtree_control")).map(|file| file.uid());
    let is_given = !geteuid().is_root() && owner.is_ok_and(|owner| owner == geteuid().as_raw());
    is_given
        || group.ancestors().any(|group| MARKS.iter().any(|mark| is_marked(group, mark)))
        || !systemd_runs()
}

fn systemd_runs() -> bool {
    Path::new(SYSTEMD).exists()
}

fn nothing_delegated() -> String {
    format!("no cgroup is delegated to this program{}", cure())
}

fn cure() -> &'static str {
    if systemd_runs() { CURE } else { "" }
}

fn processes(group: &Path) -> Vec<u32> {
    read(group, "cgroup.procs").lines().filter_map(|process| process.parse().ok()).collect()
}

fn read(group: &Path, file: &str) -> String {
    fs::read_to_string(group.join(file)).unwrap_or_default()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_below_its_mount() {
        let check = |group: &str, mounts: &[(&str, &str)], expected: Option<&str>| {
            let owned: Vec<(PathBuf, PathBuf)> =
                mounts.iter().map(|(root, at)| (root.into(), at.into())).collect();
            let found = folder_of(Path::new(group), &owned);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{group} {mounts:?}");
        };
        let plain = [("/", "/sys/fs/cgroup")];
        check("/user.slice/a.scope", &plain, Some("/sys/fs/cgroup/user.slice/a.scope"));
        check("/", &plain, Some("/sys/fs/cgroup/"));
        check("/b", &[("/box", "/box"), ("/", "/sys/fs/cgroup/unified")], Some("/sys/fs/cgroup/unified/b"));
        check("/box/a", &[("/box", "/sys/fs/cgroup")], Some("/sys/fs/cgroup/a"));
        check("/other", &[("/box", "/sys/fs/cgroup")], None);
        check("/../other", &plain, None);
        check("/a", &[], None);
    }
}

//! Control groups: the kernel's own limits of what all processes of a script use together, where a version 2 group
//! was delegated to this program.
//!
//! What the watches look at ten times a second the kernel knows at every moment: no page beyond the limit is handed
//! out, no process beyond it is forked, root's included. A group holds either processes or other groups with limits, so
//! the program first moves itself, with what it has started, out of the delegated group into one in there ([`PROGRAM`]).
//! Each script then gets a group beside that one. Nobody else's processes are moved.
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

use super::memory::descendants;

/// The group of the program itself, and of all that it starts but scripts.
const PROGRAM: &str = "mle-star.programs";
/// How the names of scripts' groups begin.
const SCRIPT: &str = "mle-star-";
/// What limits a script.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// By these attributes systemd says which groups it leaves to others, such as the manager of a user's own units.
const MARKS: [&str; 2] = ["user.delegate", "trusted.delegate"];
/// What tells that systemd runs the machine.
const SYSTEMD: &str = "/run/systemd/system";
/// How one is had that can be used.
const CURE: &str = "; `systemd-run --user --scope -p Delegate=yes mle-star ...` starts it in one of its own";
/// How long the end of what was killed is waited for.
const DYING: Duration = Duration::from_secs(2);

/// How many groups this process has made.
static GROUPS: AtomicU64 = AtomicU64::new(0);

/// A delegated control group, in which those of scripts are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroups {
    base: PathBuf,
}

/// What the processes of one group may use together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// In MiB; what lies in `/dev/shm` counts, and the kernel's own memory, but no cached files that can be dropped.
    pub(super) memory_mib: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

/// The group of one script. Dropping it ends what is left in there.
#[derive(Debug)]
pub(super) struct Group {
    folder: PathBuf,
}

impl Cgroups {
    /// The group that was delegated to this program, made ready for those of scripts.
    ///
    /// # Errors
    /// In words, why there is none.
    pub(super) fn delegated() -> Result<Self, String> {
        let own = own_folder().ok_or("there is no cgroup v2")?;
        // A program that this one started finds itself in the group that was made for programs.
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

    /// Moves this program and what it has started out of the base, which then may limit the groups in it.
    fn make_room(&self) -> io::Result<()> {
        // The first group of a machine may hold processes as well.
        let Err(error) = self.enable() else { return Ok(()) };
        if error.raw_os_error() != Some(nix::libc::EBUSY) {
            return Err(error);
        }
        let home = self.base.join(PROGRAM);
        let others = || io::Error::other(format!("other programs are in there{}", cure()));
        // What forks meanwhile is found by looking again.
        for _ in 0..100 {
            let mine = descendants(process::id(), u64::MAX);
            let is_mine = |process: &u32| *process == process::id() || mine.contains(process);
            let inside = processes(&self.base);
            if !inside.iter().all(is_mine) {
                return Err(others());
            }
            make_folder(&home)?;
            for process in inside {
                // One that has ended meanwhile is no more to be moved.
                let _ = fs::write(home.join("cgroup.procs"), process.to_string());
            }
            match self.enable() {
                Err(error) if error.raw_os_error() == Some(nix::libc::EBUSY) => {}
                done => return done,
            }
        }
        Err(others())
    }

    /// Lets the groups in the base have limits.
    fn enable(&self) -> io::Result<()> {
        fs::write(self.base.join("cgroup.subtree_control"), "+memory +pids")
    }

    /// Removes the groups of programs that were killed. One that somebody is in stays: the kernel sees to it.
    fn remove_leftovers(&self) {
        let own = process::id().to_string();
        let entries = fs::read_dir(&self.base).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| name.strip_prefix(SCRIPT)?.split_once('-'));
            // Its process id may be this program's by now, which has made none yet.
            let is_left = |owner: &str| owner == own || !Path::new("/proc").join(owner).exists();
            if owner.is_some_and(|(owner, _)| is_left(owner)) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// A new group with these limits, and nobody in it.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn group(&self, limits: Limits) -> io::Result<Group> {
        let number = GROUPS.fetch_add(1, Ordering::Relaxed);
        let folder = self.base.join(format!("{SCRIPT}{}-{number}", process::id()));
        // A manager that arranges its units anew may have taken the controllers away.
        self.enable()?;
        fs::create_dir(&folder)?;
        let group = Group { folder };
        let bytes = limits.memory_mib.checked_mul(1024 * 1024);
        let set = |file: &str, value: String| fs::write(group.folder.join(file), value);
        set("memory.max", bytes.map_or_else(|| "max".to_owned(), |bytes| bytes.to_string()))?;
        // All of them, or a script would go on with a part of itself missing.
        set("memory.oom.group", "1".to_owned())?;
        set("pids.max", limits.tasks.to_string())?;
        Ok(group)
    }
}

impl Group {
    /// What a process writes `0` to in order to be in the group, with all it starts from then on.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn entrance(&self) -> io::Result<OwnedFd> {
        Ok(File::options().write(true).open(self.folder.join("cgroup.procs"))?.into())
    }

    /// Did the kernel end processes in here because they wanted more memory than the group may have? Those that it
    /// ended because a larger group or the machine ran out of memory do not count.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let events = read(&self.folder, "memory.events");
        let count =
            |event: &str| events.lines().find_map(|line| line.strip_prefix(event)?.trim().parse().ok());
        let any = |event: &str| count(event).is_some_and(|count: u64| count > 0);
        any("oom ") && any("oom_kill ")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let deadline = Instant::now() + DYING;
        while let Err(error) = fs::remove_dir(&self.folder) {
            // Kernels before 5.14 do not kill; there the guard has done it.
            let _ = fs::write(self.folder.join("cgroup.kill"), "1");
            if error.kind() != ErrorKind::ResourceBusy || Instant::now() > deadline {
                return;
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// Where the version 2 group of this process is seen; `None` without one.
pub(super) fn own_folder() -> Option<PathBuf> {
    let text = |file: &str| fs::read_to_string(file).ok();
    folder_of(&text("/proc/self/cgroup")?, &text("/proc/self/mountinfo")?)
}

/// From the contents of `/proc/PROCESS/cgroup` and `/proc/PROCESS/mountinfo`.
fn folder_of(groups: &str, mounts: &str) -> Option<PathBuf> {
    let own = Path::new(groups.lines().find_map(|line| line.strip_prefix("0::"))?);
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then_some(())?;
        let mut fields = mount.split(' ').skip(3);
        let (root, at) = (fields.next()?, fields.next()?);
        let below = own.strip_prefix(root).ok()?;
        // One that lies outside of what this process may see has such a path.
        (!below.starts_with("..")).then(|| Path::new(at).join(below))
    })
}

/// Is the group, when nobody else is in it, this program's to arrange? Where systemd runs the machine it is when it lies
/// in one that was delegated: a user's own manager marks none of its units. What belongs to a user who is not root was
/// given to him, which older systemd only tells root. Elsewhere whoever may write there decides.
fn is_delegated(group: &Path) -> bool {
    let is_marked = |group: &Path, mark: &str| {
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(group, mark, &mut value[..]);
        length.is_ok_and(|length| value.get(..length) == Some(b"1".as_slice()))
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
        let check = |groups: &str, mounts: &str, expected: Option<&str>| {
            assert_eq!(folder_of(groups, mounts).as_deref(), expected.map(Path::new), "{groups} {mounts}");
        };
        let mount = |root: &str, at: &str| format!("30 23 0:26 {root} {at} rw,nosuid - cgroup2 cgroup2 rw\n");
        let plain = mount("/", "/sys/fs/cgroup");
        check("0::/user.slice/a.scope\n", &plain, Some("/sys/fs/cgroup/user.slice/a.scope"));
        check("0::/\n", &plain, Some("/sys/fs/cgroup/"));
        let hybrid = format!(
            "31 23 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n{}",
            mount("/", "/sys/fs/cgroup/unified")
        );
        check("8:pids:/a\n0::/b\n", &hybrid, Some("/sys/fs/cgroup/unified/b"));
        check("0::/box/a\n", &mount("/box", "/sys/fs/cgroup"), Some("/sys/fs/cgroup/a"));
        check("0::/other\n", &mount("/box", "/sys/fs/cgroup"), None);
        check("0::/../other\n", &plain, None);
        check("8:pids:/a\n", &plain, None);
        check("0::/a\n", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n", None);
    }
}

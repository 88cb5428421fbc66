//! What this machine's kernel offers, found out by trying, and the namespaces that come of it.

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::PathBuf;

use mle_star::config::Switch;
use nix::libc;
use nix::sys::resource::Resource;
use nix::sys::utsname::uname;
use nix::unistd::{getegid, geteuid};

use super::view;
use super::{Access, Layers};
use crate::process::{Confinement, Mounts, Namespaces, landlock_version, trial};
use crate::script::cgroup::{self, Cgroups};

pub(super) use super::view::strange_folders;

/// Since this kernel the largest process id is a matter of each namespace; before, root would change the system's.
const OWN_PROCESS_IDS: (u32, u32) = (6, 14);
/// The capabilities to map any user and group.
const SET_USERS: u64 = 1 << 6 | 1 << 7;

impl Layers {
    /// Tries out what there is.
    pub(super) fn probe() -> Self {
        let none = Self { landlock: landlock_version(), limits: true, cgroups: cgroups(), ..Self::none() };
        let network = Self { network: true, ..none.clone() };
        let mounts = Self { shared_memory: true, ..network.clone() };
        let all = Self { processes: true, ..mounts.clone() };
        let mut refusal = None;
        for layers in [all, mounts, network] {
            match layers.try_out() {
                Ok(()) => return Self { refusal, ..layers },
                // The first refusal is the one of what was wanted most.
                Err(error) => refusal = refusal.or(Some(why(&error))),
            }
        }
        Self { refusal, ..none }
    }

    fn try_out(&self) -> io::Result<()> {
        // Where the trial writes is of no matter, but that this can be confined is.
        let folder = std::env::temp_dir();
        let access = Access { writable: vec![folder], ..Access::of_any_program() };
        let strange = view::strange_folders(&access);
        let namespaces = self.namespaces(Switch::Off, &access, &strange, 1, 1_000);
        trial(Confinement { namespaces, ..Confinement::default() })
    }

    /// The namespaces of one script; `None` without any.
    pub(super) fn namespaces(
        &self,
        network: Switch,
        access: &Access,
        strange: &[PathBuf],
        shared_memory_mib: u64,
        tasks: u64,
    ) -> Option<Namespaces> {
        if !(self.network || self.processes || self.shared_memory) {
            return None;
        }
        let (users, may_set_groups) = users();
        let own_ids = self.processes && kernel() >= OWN_PROCESS_IDS;
        let options = CString::new(format!("size={shared_memory_mib}m,mode=1777")).ok();
        Some(Namespaces {
            users,
            may_set_groups,
            network: self.network && network == Switch::Off,
            processes: self.processes,
            process_ids: own_ids.then(|| tasks.to_string().into_bytes()),
            shared_memory: options.filter(|_| self.shared_memory),
            mounts: if self.shared_memory { view::mounts(strange, access) } else { Mounts::default() },
        })
    }
}

/// The delegated group, when a program runs in one that is made there.
fn cgroups() -> Result<Cgroups, String> {
    let groups = Cgroups::delegated()?;
    let limits = cgroup::Limits { memory_mib: 1024, tasks: 1024 };
    let tried = groups
        .group(limits)
        .and_then(|group| trial(Confinement { cgroup: Some(group.entrance()?), ..Confinement::default() }));
    tried.map_err(|error| format!("no limited cgroup can be made: {error}"))?;
    Ok(groups)
}

/// The most processes and threads of a script that may have `tasks` of them; `None`: not limited.
pub(super) fn task_limit(tasks: u64, counts_by_itself: bool) -> Option<(Resource, u64, u64)> {
    // Root is exempt. Outside a namespace the count is that of everything the user runs anywhere.
    if geteuid().is_root() {
        return None;
    }
    let others = if counts_by_itself { 0 } else { tasks_of_all() };
    Some((Resource::RLIMIT_NPROC, tasks + others, tasks + others))
}

/// Every process and thread of the system: at least as many as the user has.
fn tasks_of_all() -> u64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let all = text.split_whitespace().nth(3).and_then(|counts| counts.split_once('/'));
    all.and_then(|(_, all)| all.parse().ok()).unwrap_or(32_768)
}

/// What the kernel's refusal of a namespace means.
fn why(error: &io::Error) -> String {
    match error.raw_os_error() {
        // It says so of a count, which may be none at all.
        Some(libc::ENOSPC | libc::EUSERS) => "user.max_user_namespaces allows no more".to_owned(),
        Some(libc::EPERM | libc::EACCES) => "the system does not allow namespaces to its users".to_owned(),
        Some(libc::ENOSYS | libc::EINVAL) => "the kernel is too old for it".to_owned(),
        _ => error.to_string(),
    }
}

/// `uid_map`, `gid_map`, and whether groups may be set. Who may map everybody does, so that files of others look
/// the same inside; anybody else maps only himself.
fn users() -> ([Vec<u8>; 2], bool) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok()).unwrap_or(0);
    if capabilities & SET_USERS == SET_USERS {
        let maps = ["uid_map", "gid_map"].map(|name| identity(&format!("/proc/self/{name}")));
        if let [Some(users), Some(groups)] = maps {
            return ([users, groups], true);
        }
    }
    let own = |id: u32| format!("{id} {id} 1\n").into_bytes();
    ([own(geteuid().as_raw()), own(getegid().as_raw())], false)
}

/// A map of everybody that this process itself sees to the same number.
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

fn kernel() -> (u32, u32) {
    let release = uname().map(|name| name.release().to_string_lossy().into_owned()).unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_names_everybody_the_process_sees() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let check = |text: &str, expected: Option<&str>| {
            fs::write(file.path(), text).unwrap();
            let found = identity(file.path().to_str().unwrap());
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{text:?}");
        };
        check("         0          0 4294967295\n", Some("0 0 4294967295\n"));
        check("0 1000 1\n1 100000 65536\n", Some("0 0 1\n1 1 65536\n"));
        check("", None);
        check("what\n", None);
    }
}

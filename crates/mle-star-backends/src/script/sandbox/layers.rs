//! What this machine's kernel offers to keep scripts from doing harm, found out by trying.

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mle_star::config::Switch;
use nix::libc;
use nix::sys::utsname::uname;
use nix::unistd::{AccessFlags, access, getegid, geteuid};
use serde::Serialize;

use super::Access;
use super::view;
use crate::process::{Confinement, Mounts, Namespaces, landlock_version, trial};

/// Since this kernel the largest process id is a matter of each namespace; before, root would change the system's.
const OWN_PROCESS_IDS: (u32, u32) = (6, 14);
/// The capabilities to map any user and group.
const SET_USERS: u64 = 1 << 6 | 1 << 7;

/// What the kernel enforces. [`Layers::probed`] finds out; [`Layers::none`] is for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The version of Landlock; 0: none.
    pub landlock: i32,
    /// Scripts can have a network of their own, with nothing in it.
    pub network: bool,
    /// Scripts can have a numbering of processes of their own.
    pub processes: bool,
    /// Scripts can have shared memory of their own, and everything outside their folders read-only.
    pub shared_memory: bool,
    /// Why not all of these are there.
    pub refusal: Option<String>,
    /// Resource limits and dropped capabilities, which every kernel has.
    pub limits: bool,
    /// What is known of a delegated cgroup.
    pub cgroup: &'static str,
}

/// One layer as people and programs are told about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// What it protects or limits.
    pub name: &'static str,
    /// Does it hold?
    pub enforced: bool,
    /// By what it is enforced, or why it is not; empty where there is nothing to say.
    pub detail: String,
}

impl Layers {
    /// What this machine offers; tried at the first call.
    pub fn probed() -> &'static Self {
        static PROBED: OnceLock<Layers> = OnceLock::new();
        PROBED.get_or_init(Self::probe)
    }

    /// No layer at all, only what always holds: deadline, output cap, watches, and that nothing survives.
    pub fn none() -> Self {
        Self {
            landlock: 0,
            network: false,
            processes: false,
            shared_memory: false,
            refusal: Some("switched off".to_owned()),
            limits: false,
            cgroup: "switched off",
        }
    }

    fn probe() -> Self {
        let none = Self { landlock: landlock_version(), limits: true, cgroup: cgroup(), ..Self::none() };
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

    /// Every layer, those that always hold included.
    pub fn list(&self, network: Switch) -> Vec<Layer> {
        let refusal = || self.refusal.clone().unwrap_or_default();
        let layer = |name, enforced, yes: &str, no: String| {
            let detail = if enforced { yes.to_owned() } else { no };
            Layer { name, enforced, detail }
        };
        let always = |name| layer(name, true, "", String::new());
        let files = self.landlock > 0;
        let (writes, reads) = match (files, self.shared_memory) {
            (true, true) => ("landlock, read-only mounts", "landlock, hidden folders"),
            (true, false) => ("landlock", "landlock"),
            _ => ("read-only mounts", "hidden folders, but /etc is open"),
        };
        let tcp_only = !self.network && self.landlock >= 4;
        let by = if tcp_only { "landlock, TCP only" } else { "namespace" };
        let closed = network == Switch::Off && (self.network || tcp_only);
        let open = if network == Switch::On { "switched on".to_owned() } else { refusal() };
        vec![
            layer("writes", files || self.shared_memory, writes, "the kernel has no Landlock".to_owned()),
            layer("reads", files || self.shared_memory, reads, "the kernel has no Landlock".to_owned()),
            layer("network", closed, by, open),
            layer("processes", self.processes, "namespace", refusal()),
            layer("shared memory", self.shared_memory, "namespace", refusal()),
            layer("resource limits", self.limits, "", "switched off".to_owned()),
            always("memory watch"),
            always("folder watch"),
            layer("cgroup limits", false, "", self.cgroup.to_owned()),
        ]
    }

    /// One line: what is enforced, what is not and why.
    pub(super) fn line(&self, network: Switch) -> String {
        let word = |layer: &Layer| match layer.detail.as_str() {
            "" => layer.name.to_owned(),
            detail => format!("{} ({detail})", layer.name),
        };
        let (enforced, missing): (Vec<Layer>, Vec<Layer>) =
            self.list(network).into_iter().partition(|layer| layer.enforced);
        let words = |layers: &[Layer]| layers.iter().map(word).collect::<Vec<_>>().join(", ");
        format!("{}; not enforced: {}", words(&enforced), words(&missing))
    }
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

/// Has this process a cgroup of its own whose limits it may set? None is set in this version.
fn cgroup() -> &'static str {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let folder = path.map(|path| Path::new("/sys/fs/cgroup").join(path));
    let is_delegated = |folder: &Path| {
        let controllers = fs::read_to_string(folder.join("cgroup.controllers")).unwrap_or_default();
        let has = |name| controllers.split_whitespace().any(|controller| controller == name);
        has("memory")
            && has("pids")
            && access(&folder.join("cgroup.subtree_control"), AccessFlags::W_OK).is_ok()
    };
    match folder {
        Some(folder) if is_delegated(&folder) => "a delegated cgroup is there, but not used",
        _ => "no v2 cgroup of its own with memory and pids",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_and_what_does_not_is_one_line() {
        let check = |change: fn(&mut Layers), network, expected: &str| {
            let mut layers = Layers {
                landlock: 6,
                network: true,
                processes: true,
                shared_memory: true,
                refusal: None,
                limits: true,
                cgroup: "no delegated cgroup",
            };
            change(&mut layers);
            assert_eq!(layers.line(network), expected);
        };
        let end = "resource limits, memory watch, folder watch; not enforced: ";
        let all = "writes (landlock, read-only mounts), reads (landlock, hidden folders), network (namespace), processes (namespace), shared memory (namespace), ";
        check(|_| (), Switch::Off, &format!("{all}{end}cgroup limits (no delegated cgroup)"));
        let open = all.replace("network (namespace), ", "");
        check(
            |_| (),
            Switch::On,
            &format!("{open}{end}network (switched on), cgroup limits (no delegated cgroup)"),
        );
        let without = |layers: &mut Layers| {
            (layers.network, layers.processes, layers.shared_memory) = (false, false, false);
            layers.refusal = Some("EPERM".to_owned());
        };
        let bare = |layers: &mut Layers| layers.landlock = 0;
        let mounts = all
            .replace("landlock, read-only", "read-only")
            .replace("landlock, hidden folders", "hidden folders, but /etc is open");
        check(bare, Switch::Off, &format!("{mounts}{end}cgroup limits (no delegated cgroup)"));
        check(
            without,
            Switch::Off,
            &format!(
                "writes (landlock), reads (landlock), network (landlock, TCP only), {end}processes (EPERM), \
                 shared memory (EPERM), cgroup limits (no delegated cgroup)"
            ),
        );
    }

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

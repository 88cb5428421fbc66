//! What keeps scripts from doing harm, as people are told about it.

use std::sync::OnceLock;

use mle_star::config::Switch;
use serde::Serialize;

use crate::script::cgroup::Cgroups;

/// Why a layer is missing on other systems.
const NEEDS_LINUX: &str = "needs Linux";

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
    /// The control group in which those of scripts are made, or why there is none.
    pub cgroups: Result<Cgroups, String>,
    /// Is there what only Linux has: sight of all processes of a script and of their memory, and of those that left
    /// its group? Other systems have none of the layers above but resource limits.
    pub is_linux: bool,
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
            cgroups: Err("switched off".to_owned()),
            is_linux: cfg!(target_os = "linux"),
        }
    }

    /// What a system has that is not Linux.
    #[cfg(any(test, not(target_os = "linux")))]
    pub(super) fn elsewhere() -> Self {
        let refusal = Some(NEEDS_LINUX.to_owned());
        let cgroups = Err(NEEDS_LINUX.to_owned());
        Self { refusal, limits: true, cgroups, is_linux: false, ..Self::none() }
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
        let unprotected =
            || if self.is_linux { "the kernel has no Landlock" } else { NEEDS_LINUX }.to_owned();
        let no_cgroups = self.cgroups.as_ref().err().cloned().unwrap_or_default();
        let of_linux = |name| layer(name, self.is_linux, "", NEEDS_LINUX.to_owned());
        let mut layers = vec![
            layer("writes", files || self.shared_memory, writes, unprotected()),
            layer("reads", files || self.shared_memory, reads, unprotected()),
            layer("network", closed, by, open),
            layer("processes", self.processes, "namespace", refusal()),
            layer("shared memory", self.shared_memory, "namespace", refusal()),
            layer("resource limits", self.limits, "", "switched off".to_owned()),
            of_linux("memory watch"),
            always("folder watch"),
            layer("cgroup limits", self.cgroups.is_ok(), "memory, processes and threads", no_cgroups),
        ];
        if !self.is_linux {
            layers.extend(["process count", "daemons that leave the group", "warm start"].map(of_linux));
        }
        layers
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
        if missing.is_empty() {
            return words(&enforced);
        }
        format!("{}; not enforced: {}", words(&enforced), words(&missing))
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
                cgroups: Err("no delegated cgroup".to_owned()),
                is_linux: true,
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
        check(
            |layers| *layers = Layers::elsewhere(),
            Switch::Off,
            "resource limits, folder watch; not enforced: writes (needs Linux), reads (needs Linux), \
             network (needs Linux), processes (needs Linux), shared memory (needs Linux), memory watch (needs Linux), \
             cgroup limits (needs Linux), process count (needs Linux), daemons that leave the group (needs Linux), \
             warm start (needs Linux)",
        );
    }
}

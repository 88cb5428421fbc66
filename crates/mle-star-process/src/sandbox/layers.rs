//! The layers of isolation, and how they are described to people.

use std::sync::OnceLock;

use serde::Serialize;

use crate::cgroup::Cgroups;

/// May children use the network?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// They may.
    Allowed,
    /// They may not, as far as the kernel can enforce it.
    Denied,
}

/// What the kernel enforces. [`Layers::probed`] finds out; [`Layers::none`] is for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The version of Landlock; 0 if there is none.
    pub landlock: i32,
    /// Network namespaces: a child has an empty network.
    pub network: bool,
    /// Process namespaces: a child sees only its own processes.
    pub processes: bool,
    /// Mount namespaces: a child has its own shared memory, and everything outside its folders is read-only.
    pub shared_memory: bool,
    /// Why some of these are missing.
    pub refusal: Option<String>,
    /// Resource limits and dropped capabilities, which every kernel has.
    pub limits: bool,
    /// The control group for those of children, or why there is none.
    pub cgroups: Result<Cgroups, String>,
}

/// One layer, described.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// What it protects or limits.
    pub name: &'static str,
    /// Is it enforced?
    pub enforced: bool,
    /// What enforces it, or why it is not enforced; may be empty.
    pub detail: String,
}

impl Layers {
    /// What this machine offers, tested at the first call.
    pub fn probed() -> &'static Self {
        static PROBED: OnceLock<Layers> = OnceLock::new();
        PROBED.get_or_init(Self::probe)
    }

    /// No layer. Time limit, output cap, memory and disk limits, and the end of all processes are enforced anyway.
    pub fn none() -> Self {
        Self {
            landlock: 0,
            network: false,
            processes: false,
            shared_memory: false,
            refusal: Some("switched off".to_owned()),
            limits: false,
            cgroups: Err("switched off".to_owned()),
        }
    }

    /// Every layer, with those that are always enforced.
    pub fn list(&self, network: Network) -> Vec<Layer> {
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
        let closed = network == Network::Denied && (self.network || tcp_only);
        let open = if network == Network::Allowed { "switched on".to_owned() } else { refusal() };
        let unprotected = || "the kernel has no Landlock".to_owned();
        let no_cgroups = self.cgroups.as_ref().err().cloned().unwrap_or_default();
        vec![
            layer("writes", files || self.shared_memory, writes, unprotected()),
            layer("reads", files || self.shared_memory, reads, unprotected()),
            layer("network", closed, by, open),
            layer("processes", self.processes, "namespace", refusal()),
            layer("shared memory", self.shared_memory, "namespace", refusal()),
            layer("resource limits", self.limits, "", "switched off".to_owned()),
            always("memory watch"),
            always("folder watch"),
            layer("cgroup limits", self.cgroups.is_ok(), "memory, processes and threads", no_cgroups),
        ]
    }

    /// One line: what is enforced, and what is not and why.
    pub(super) fn line(&self, network: Network) -> String {
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
            };
            change(&mut layers);
            assert_eq!(layers.line(network), expected);
        };
        let end = "resource limits, memory watch, folder watch; not enforced: ";
        let all = "writes (landlock, read-only mounts), reads (landlock, hidden folders), network (namespace), processes (namespace), shared memory (namespace), ";
        check(|_| (), Network::Denied, &format!("{all}{end}cgroup limits (no delegated cgroup)"));
        let open = all.replace("network (namespace), ", "");
        check(
            |_| (),
            Network::Allowed,
            &format!("{open}{end}network (switched on), cgroup limits (no delegated cgroup)"),
        );
    }
}

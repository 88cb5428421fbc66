//! What systems other than Linux offer: resource limits, but no isolation of files, network or processes.

use std::io;
use std::path::PathBuf;

use nix::sys::resource::Resource;

use super::access::Access;
use super::layers::{Layers, Network};
use crate::machine::Machine;
use crate::spawn::{Namespaces, Rules};

impl Layers {
    /// There is nothing to test.
    pub(super) fn probe() -> Self {
        Self::elsewhere()
    }

    /// These systems have no namespaces.
    pub(super) fn namespaces(
        &self,
        _network: Network,
        _access: &Access,
        _hidden: &[PathBuf],
        _shared_memory_mib: u64,
        _tasks: u64,
    ) -> Option<Namespaces> {
        None
    }
}

impl Access {
    /// These systems have no rules for access.
    pub(super) fn rules(&self, _layers: &Layers, _network: Network) -> io::Result<Option<Rules>> {
        Ok(None)
    }
}

/// There is no `/proc`.
pub(super) fn opens_proc(_layers: &Layers, _machine: &Machine) -> bool {
    false
}

/// No folder is hidden.
pub(super) fn hidden_folders(_access: &Access) -> Vec<PathBuf> {
    Vec::new()
}

/// Not limited: the system counts everything the user runs, and how much that is cannot be determined here.
pub(super) fn task_limit(_tasks: u64, _counts_by_itself: bool) -> Option<(Resource, u64, u64)> {
    None
}

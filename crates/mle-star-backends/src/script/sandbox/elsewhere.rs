//! What systems offer that are not Linux: resource limits, and nothing that closes files, network or processes.

use std::io;
use std::path::PathBuf;

use mle_star::config::Switch;
use nix::sys::resource::Resource;

use super::{Access, Layers};
use crate::process::{Namespaces, Rules};

impl Layers {
    /// There is nothing to try.
    pub(super) fn probe() -> Self {
        Self::elsewhere()
    }

    /// None.
    pub(super) fn namespaces(
        &self,
        _network: Switch,
        _access: &Access,
        _strange: &[PathBuf],
        _shared_memory_mib: u64,
        _tasks: u64,
    ) -> Option<Namespaces> {
        None
    }
}

impl Access {
    /// None.
    pub(super) fn rules(&self, _layers: &Layers, _network: Switch) -> io::Result<Option<Rules>> {
        Ok(None)
    }
}

/// None is hidden.
pub(super) fn strange_folders(_access: &Access) -> Vec<PathBuf> {
    Vec::new()
}

/// Not limited: the count would be that of everything the user runs, and it cannot be known here.
pub(super) fn task_limit(_tasks: u64, _counts_by_itself: bool) -> Option<(Resource, u64, u64)> {
    None
}

//! What is done between fork and exec so that a child can do no harm, on systems that are not Linux: limits.

use std::io;
use std::os::fd::OwnedFd;

use nix::sys::resource::{Resource, setrlimit};

/// Everything that binds one child.
#[derive(Debug, Default)]
pub(crate) struct Confinement {
    /// Of no effect.
    pub(crate) cgroup: Option<OwnedFd>,
    /// None.
    pub(crate) namespaces: Option<Namespaces>,
    /// None.
    pub(crate) rules: Option<Rules>,
    /// Soft and hard limits.
    pub(crate) limits: Vec<(Resource, u64, u64)>,
    /// Of no effect.
    pub(crate) is_humble: bool,
}

/// There are none.
#[derive(Debug)]
pub(crate) enum Namespaces {}

/// There are none.
#[derive(Debug)]
pub(crate) enum Rules {}

impl Confinement {
    /// Binds the calling process for good.
    pub(super) fn apply(&self) -> io::Result<()> {
        self.limits.iter().try_for_each(|(resource, soft, hard)| Ok(setrlimit(*resource, *soft, *hard)?))
    }
}

//! Confines a child between fork and exec on systems other than Linux: resource limits only.

use std::io;
use std::os::fd::OwnedFd;

use nix::sys::resource::{Resource, setrlimit};

/// Everything that confines one child. The default confines nothing.
#[derive(Debug, Default)]
pub struct Confinement {
    /// Has no effect.
    pub(crate) cgroup: Option<OwnedFd>,
    /// Always `None`.
    pub(crate) namespaces: Option<Namespaces>,
    /// Always `None`.
    pub(crate) rules: Option<Rules>,
    /// Soft and hard limits.
    pub(crate) limits: Vec<(Resource, u64, u64)>,
    /// Has no effect.
    pub(crate) drops_privileges: bool,
}

/// These systems have no namespaces.
#[derive(Debug)]
pub enum Namespaces {}

/// These systems have no Landlock.
#[derive(Debug)]
pub(crate) enum Rules {}

impl Confinement {
    /// Confines the calling process for good.
    pub(super) fn apply(&self) -> io::Result<()> {
        self.limits.iter().try_for_each(|(resource, soft, hard)| Ok(setrlimit(*resource, *soft, *hard)?))
    }
}

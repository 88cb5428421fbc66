//! Where a script runs: a slot of a machine.

/// A machine with slots. Numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(pub u64);

/// A slot of a host. No two leases share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The machine.
    pub host: Host,
    /// The number of the slot on its host, from 0.
    pub index: usize,
}

impl Host {
    /// This machine.
    pub const HERE: Self = Self(0);
}

impl Slot {
    /// A slot of this machine.
    pub fn here(index: usize) -> Self {
        Self { host: Host::HERE, index }
    }
}

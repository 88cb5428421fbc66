//! The limits that a child can exceed.

/// A limit that a child exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// One sentence: what it used, and the limit.
    pub message: String,
    /// The limit that it exceeded.
    pub resource: Resource,
}

/// The limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Memory, files in memory included.
    Memory,
    /// Processes.
    Processes,
    /// The files of its own folder.
    Files,
    /// This program's open files: the child lowered the limit.
    OpenFiles,
    /// The last free space of the disk, which others may have taken.
    Disk,
}

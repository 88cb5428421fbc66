//! What is published: the static program, the wheel that carries it, the crates, and what belongs to them.

pub mod archive;
pub mod crates;
mod notices;
pub mod tools;
pub mod version;
pub mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{cargo, root, succeeds};

/// Where everything is built.
pub fn folder() -> PathBuf {
    root().join("target/published")
}

/// Whether the licences and sources of all dependencies are allowed, and the arrows between crates point down.
pub fn has_good_dependencies(deny: &Path) -> bool {
    let mut deny = Command::new(deny);
    deny.current_dir(root()).args(["check", "licenses", "bans", "sources"]);
    // It starts cargo.
    if let Some(path) = cargo("").get_program().to_str().filter(|path| path.contains('/')) {
        deny.env("CARGO", path);
    }
    succeeds(deny)
}

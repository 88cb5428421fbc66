//! Where a path leads.

use std::path::{Component, Path, PathBuf};

/// The path with links followed and without `.` and `..`. What does not exist is taken as it is written.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    if let Ok(resolved) = path.canonicalize() {
        return resolved;
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    match (plain.parent(), plain.file_name()) {
        (Some(parent), Some(name)) if parent != plain => resolve(parent).join(name),
        _ => plain,
    }
}

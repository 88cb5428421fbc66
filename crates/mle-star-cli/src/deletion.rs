//! Deletes runs that no process works on.

use std::fs;
use std::path::{Path, PathBuf};

use mle_star::journal::hold;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_process::remove::remove_tree;

/// What the folder of a run that is being deleted is called; no run ID begins with a dot.
const DELETED_PREFIX: &str = ".deleted-";

/// Deletes the folder of a run with everything in it, but nothing that links in it lead to.
///
/// The run is locked, then renamed, then removed: no process can begin to work on it meanwhile, and a deletion that is
/// interrupted leaves no part of a run. The next deletion in the same directory removes what it left.
///
/// # Errors
/// A process works on the run, the folder is a link, or it cannot be removed.
pub fn delete(folder: &Path) -> Result<(), Trouble> {
    let cannot = |error: &dyn std::fmt::Display| {
        let hint = "check who owns the folder and its files, and that the file system can be written";
        Trouble::new(format!("cannot delete {}: {error}", folder.display()), hint)
    };
    // A path that ends in a slash would lead to what a link leads to.
    let folder = &folder.components().collect::<PathBuf>();
    if folder.symlink_metadata().map_err(|error| cannot(&error))?.is_symlink() {
        let message = format!("{} is a link to a folder elsewhere", folder.display());
        return Err(Trouble::new(message, "delete the run where it is, and then the link"));
    }
    // `.` and what ends in `..` have no name.
    let folder = &folder.canonicalize().map_err(|error| cannot(&error))?;
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A project of the user may have a file with the name of a task, too.
    if ![layout::JOURNAL, layout::LOCK].iter().any(|name| folder.join(name).is_file()) {
        let message = format!("{} has no journal, so it may not be a run", folder.display());
        return Err(Trouble::new(message, "look into the folder, and delete it yourself"));
    }
    let held = hold(folder).map_err(|error| error.trouble().of(&id))?;
    let gone = folder.with_file_name(format!("{DELETED_PREFIX}{id}-{}", std::process::id()));
    fs::rename(folder, &gone).map_err(|error| cannot(&error))?;
    drop(held);
    remove_tree(&gone).map_err(|error| cannot(&error))?;
    remove_leftovers(folder);
    Ok(())
}

fn remove_leftovers(folder: &Path) {
    let entries = folder.parent().and_then(|runs| fs::read_dir(runs).ok()).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(DELETED_PREFIX)) {
        // Another deletion may be at it.
        drop(remove_tree(&entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_run_is_deleted_whole_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (runs, data) = (dir.path().join("runs"), dir.path().join("data"));
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("train.csv"), "x").unwrap();
        let run = |id: &str| {
            let folder = runs.join(id);
            fs::create_dir_all(folder.join("data")).unwrap();
            fs::write(folder.join(layout::JOURNAL), "x").unwrap();
            fs::write(folder.join("data/train.csv"), "x").unwrap();
            fs::set_permissions(folder.join("data"), fs::Permissions::from_mode(0o555)).unwrap();
            symlink(&data, folder.join(layout::INPUT)).unwrap();
            folder
        };
        let (one, other) = (run("one"), run("other"));
        let held = hold(&one).unwrap();
        let refused = delete(&one).unwrap_err();
        assert!(refused.message.contains("held by another process"), "{refused:?}");
        drop(held);
        fs::create_dir(dir.path().join("project")).unwrap();
        fs::write(dir.path().join("project").join(layout::TASK), "{}").unwrap();
        assert!(delete(&dir.path().join("project")).unwrap_err().message.contains("may not be a run"));
        let link = runs.join("link");
        symlink(&other, &link).unwrap();
        assert!(delete(&link).unwrap_err().message.contains("link"));
        fs::create_dir_all(runs.join(".deleted-x-1/data")).unwrap();
        delete(&one.join("data/..")).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["link", "other"]);
        assert!(other.join(layout::JOURNAL).exists() && data.join("train.csv").exists());
    }
}

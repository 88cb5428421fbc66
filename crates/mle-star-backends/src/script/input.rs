//! The view of the data that a script gets as `./input`, and the check that the data stayed as it was.
//!
//! Scripts run as the same user as the program, so file modes alone protect nothing that matters. A small
//! data folder is copied, and a script can only spoil its own copy. A large one is linked; there a changed
//! file is noticed after the run and said loudly.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Data folders up to this size are copied for each script, in bytes.
const COPIED_UP_TO: u64 = 32 * 1024 * 1024;
/// Data folders with up to so many files are copied for each script.
const FILES_UP_TO: usize = 1000;

/// A data folder as it was when the run began.
#[derive(Debug)]
pub(super) struct Data {
    folder: PathBuf,
    /// Never part of the view: runs write here.
    runs: PathBuf,
    files: BTreeMap<PathBuf, Stamp>,
}

/// What tells cheaply that a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Data {
    /// Looks at every file of `folder`, a folder of runs inside it left out. Both paths are absolute.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn new(folder: PathBuf, run_folder: &Path) -> io::Result<Self> {
        let siblings = run_folder.parent().filter(|runs| runs.starts_with(&folder) && *runs != folder);
        let runs = siblings.unwrap_or(run_folder).to_owned();
        let mut data = Self { folder, runs, files: BTreeMap::new() };
        data.files = data.stamps()?;
        Ok(data)
    }

    /// Makes the view in the new folder `view`: copies or links, not writable.
    ///
    /// # Errors
    /// The view cannot be made.
    pub(super) fn show(&self, view: &Path) -> io::Result<()> {
        fs::create_dir(view)?;
        let bytes: u64 = self.files.values().map(|stamp| stamp.bytes).sum();
        if bytes <= COPIED_UP_TO && self.files.len() <= FILES_UP_TO {
            self.copy(view)?;
        } else {
            self.link(view)?;
        }
        fs::set_permissions(view, fs::Permissions::from_mode(0o555))
    }

    fn copy(&self, view: &Path) -> io::Result<()> {
        for name in self.files.keys() {
            let copy = view.join(name);
            if let Some(parent) = copy.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::copy(self.folder.join(name), &copy)?;
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o444))?;
        }
        Ok(())
    }

    fn link(&self, view: &Path) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.path() != self.runs {
                symlink(entry.path(), view.join(entry.file_name()))?;
            }
        }
        Ok(())
    }

    /// Names the files that are no longer as they were, a few of them, one sentence in all.
    pub(super) fn damage(&self) -> Option<String> {
        let now = self.stamps().unwrap_or_default();
        let before = |name: &PathBuf| self.files.get(name);
        let changed = now.iter().filter(|(name, stamp)| before(name) != Some(*stamp)).map(|(name, _)| name);
        let gone = self.files.keys().filter(|name| !now.contains_key(*name));
        let names: Vec<String> = changed.chain(gone).map(|name| format!("`{}`", name.display())).collect();
        let shown = names.get(..3).unwrap_or(&names).join(", ");
        let more = if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
        (!names.is_empty()).then(|| {
            let folder = self.folder.display();
            format!("THE DATA IS NO LONGER WHAT IT WAS when the run began: {shown}{more} in {folder} changed")
        })
    }

    /// Every regular file below the folder; links to files count as files, links to folders are followed.
    fn stamps(&self) -> io::Result<BTreeMap<PathBuf, Stamp>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![(PathBuf::new(), 0)];
        while let Some((inside, depth)) = folders.pop() {
            for entry in fs::read_dir(self.folder.join(&inside))? {
                let entry = entry?;
                let name = inside.join(entry.file_name());
                // A dangling link, or a file that vanished meanwhile, is not data.
                let Ok(meta) = fs::metadata(entry.path()) else { continue };
                if meta.is_file() {
                    found.insert(name, Stamp { bytes: meta.len(), modified: meta.modified().ok() });
                } else if meta.is_dir() && depth < 32 && entry.path() != self.runs {
                    folders.push((name, depth + 1));
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> (tempfile::TempDir, Data) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("images")).unwrap();
        fs::create_dir_all(folder.path().join("runs/r1/work")).unwrap();
        fs::write(folder.path().join("train.csv"), "id\n1\n").unwrap();
        fs::write(folder.path().join("images/a.png"), "png").unwrap();
        fs::create_dir_all(folder.path().join("runs/r0")).unwrap();
        fs::write(folder.path().join("runs/r1/work/x"), "x").unwrap();
        let data = Data::new(folder.path().to_owned(), &folder.path().join("runs/r1")).unwrap();
        (folder, data)
    }

    #[test]
    fn a_view_shows_the_data_and_not_the_run() {
        let (folder, data) = data();
        for (name, make) in
            [("copied", Data::copy as fn(&Data, &Path) -> io::Result<()>), ("linked", Data::link)]
        {
            let view = folder.path().join("runs").join(name);
            fs::create_dir(&view).unwrap();
            make(&data, &view).unwrap();
            assert_eq!(fs::read_to_string(view.join("train.csv")).unwrap(), "id\n1\n", "{name}");
            assert_eq!(fs::read_to_string(view.join("images/a.png")).unwrap(), "png", "{name}");
            assert!(!view.join("runs").exists(), "{name}");
        }
    }

    #[test]
    fn changed_new_and_missing_files_are_named() {
        let check = |change: fn(&Path), expected: Option<&str>| {
            let (folder, data) = data();
            change(folder.path());
            let damage = data.damage();
            assert_eq!(damage.is_some(), expected.is_some(), "{damage:?}");
            assert!(expected.is_none_or(|name| damage.as_ref().unwrap().contains(name)), "{damage:?}");
        };
        check(|_| (), None);
        check(|folder| fs::write(folder.join("runs/r0/log"), "x").unwrap(), None);
        check(|folder| fs::write(folder.join("train.csv"), "id\n1\n2\n").unwrap(), Some("`train.csv`"));
        check(|folder| fs::write(folder.join("new.csv"), "").unwrap(), Some("`new.csv`"));
        check(|folder| fs::remove_file(folder.join("images/a.png")).unwrap(), Some("`images/a.png`"));
    }
}

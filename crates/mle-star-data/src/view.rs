//! The view of the data that scripts and agents get as `./input`, and the check that the data stayed as it was.
//!
//! Scripts run as the same user as the program, so file modes alone protect nothing that matters. A small
//! data folder is copied, and a script can only spoil its own copy. A large one is linked; there a changed
//! file is noticed after the run and said loudly.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mle_star::effects::DATA_CHANGED;

use super::tree;

/// Data folders up to this size are copied for each script, in bytes.
const COPIED_UP_TO: u64 = 32 * 1024 * 1024;
/// Data folders with up to so many files are copied for each script.
const FILES_UP_TO: usize = 1000;

/// A data folder as it was when the run began.
#[derive(Debug)]
pub struct Data {
    folder: PathBuf,
    files: BTreeMap<PathBuf, Stamp>,
    /// Links in the folder, or the folders that they lead to.
    linked: Vec<PathBuf>,
}

/// What tells cheaply that a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Data {
    /// Looks at every file of `folder`, an absolute path.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn new(folder: PathBuf) -> io::Result<Self> {
        let tree = tree::look(&folder)?;
        let linked = tree.linked();
        let files = stamps(&folder, tree.files);
        Ok(Self { folder, files, linked })
    }

    /// Makes the view in the new folder `view`: copies or links, not writable. Returns where the links lead to,
    /// which whoever uses the view has to be able to read.
    ///
    /// # Errors
    /// The view cannot be made.
    pub fn show(&self, view: &Path) -> io::Result<Vec<PathBuf>> {
        fs::create_dir(view)?;
        let mut sources = Vec::new();
        let bytes: u64 = self.files.values().map(|stamp| stamp.bytes).sum();
        if bytes <= COPIED_UP_TO && self.files.len() <= FILES_UP_TO {
            self.copy(view)?;
        } else {
            sources = tree::link(&self.folder, view, |_| false)?;
            sources.extend_from_slice(&self.linked);
        }
        fs::set_permissions(view, fs::Permissions::from_mode(0o555))?;
        Ok(sources)
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

    /// Names the files that are no longer as they were, a few of them, one sentence in all; or says that they could
    /// not be looked at.
    pub fn damage(&self) -> Option<String> {
        let folder = self.folder.display();
        let now = match tree::look(&self.folder) {
            Ok(tree) => stamps(&self.folder, tree.files),
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                return Some(format!("nobody could look whether the data in {folder} changed: {error}"));
            }
        };
        let before = |name: &PathBuf| self.files.get(name);
        let changed = now.iter().filter(|(name, stamp)| before(name) != Some(*stamp)).map(|(name, _)| name);
        let gone = self.files.keys().filter(|name| !now.contains_key(*name));
        let names: Vec<String> = changed.chain(gone).map(|name| format!("`{}`", name.display())).collect();
        let shown = names.get(..3).unwrap_or(&names).join(", ");
        let more = if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
        (!names.is_empty())
            .then(|| format!("{DATA_CHANGED} when the run began: {shown}{more} in {folder} changed"))
    }
}

fn stamps(folder: &Path, files: Vec<PathBuf>) -> BTreeMap<PathBuf, Stamp> {
    let stamp = |name: PathBuf| {
        // A file that vanished meanwhile is not there.
        let meta = fs::metadata(folder.join(&name)).ok()?;
        Some((name, Stamp { bytes: meta.len(), modified: meta.modified().ok() }))
    };
    files.into_iter().filter_map(stamp).collect()
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
        for run in ["runs/r0", "runs/r1"] {
            fs::write(folder.path().join(run).join("journal.lock"), "").unwrap();
        }
        let data = Data::new(folder.path().to_owned()).unwrap();
        (folder, data)
    }

    #[test]
    fn a_view_shows_the_data_and_not_the_run() {
        let (folder, data) = data();
        let linked = |data: &Data, view: &Path| {
            let sources = tree::link(&data.folder, view, |_| false)?;
            assert!(sources.iter().all(|source| !Path::new("runs/r1").starts_with(source)), "{sources:?}");
            Ok(())
        };
        type Make<'a> = &'a dyn Fn(&Data, &Path) -> io::Result<()>;
        for (name, make) in [("copied", &Data::copy as Make<'_>), ("linked", &linked)] {
            let view = folder.path().join("runs/r1").join(name);
            fs::create_dir(&view).unwrap();
            make(&data, &view).unwrap();
            assert_eq!(fs::read_to_string(view.join("train.csv")).unwrap(), "id\n1\n", "{name}");
            assert_eq!(fs::read_to_string(view.join("images/a.png")).unwrap(), "png", "{name}");
            assert!(!view.join("runs").exists(), "{name}");
        }
    }

    #[test]
    fn much_data_is_opened_as_a_whole_unless_a_run_lies_in_it() {
        let check = |files: usize, with_run: bool, expected: usize| {
            let folder = tempfile::tempdir().unwrap();
            let (data, view) = (folder.path().join("data"), folder.path().join("view"));
            fs::create_dir_all(data.join("run")).unwrap();
            fs::create_dir(&view).unwrap();
            (0..files).for_each(|n| fs::write(data.join(n.to_string()), "").unwrap());
            if with_run {
                fs::write(data.join("run/journal.lock"), "").unwrap();
            } else {
                fs::remove_dir(data.join("run")).unwrap();
            }
            let sources = tree::link(&data, &view, |_| false).unwrap();
            assert_eq!(sources.len(), expected, "{files} {with_run}");
            assert_eq!(sources == [data], expected == 1, "{files} {with_run}");
        };
        check(3, false, 3);
        check(100, false, 1);
        check(100, true, 100);
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
        check(|folder| fs::remove_dir_all(folder).unwrap(), Some("`images/a.png`"));
    }

    #[test]
    fn data_that_cannot_be_looked_at_has_not_changed() {
        let (folder, data) = data();
        fs::remove_dir_all(folder.path()).unwrap();
        fs::write(folder.path(), "").unwrap();
        let damage = data.damage().unwrap();
        assert!(damage.contains("nobody could look") && !damage.contains(DATA_CHANGED), "{damage}");
        fs::remove_file(folder.path()).unwrap();
    }
}

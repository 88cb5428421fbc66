//! The data as scripts and agents see it in `./input`, and the check that it did not change.
//!
//! Scripts run as the same user as the program, so file modes alone do not protect the data. Where the system keeps
//! scripts from changing it, they see links to it. Elsewhere a small data folder is copied, and a script can damage only
//! its own copy; a large one is linked. A changed file is detected after the script and reported.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mle_star_domain::effects::DATA_CHANGED;

use super::walk::{self, walk};

/// Data folders up to this size in bytes are copied, or linked file by file, for each script.
const MAX_COPIED_BYTES: u64 = 32 * 1024 * 1024;
/// The same in files.
const MAX_COPIED_FILES: usize = 1000;

/// A data folder as it was when the run began.
#[derive(Debug)]
pub struct Data {
    folder: PathBuf,
    files: BTreeMap<PathBuf, Stamp>,
    /// What a script that sees links must be able to read.
    readable: Vec<PathBuf>,
    /// Links in the folder, or the folders of their targets.
    linked: Vec<PathBuf>,
}

/// What keeps scripts from changing the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// The system: it is read-only for them.
    ReadOnly,
    /// File modes, which the same user can change.
    Modes,
}

/// Shows cheaply whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Data {
    /// Records every file of `folder`, an absolute path. Scripts may see some files of the `closed` folders, but never
    /// one of these folders as a whole.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn new(folder: PathBuf, closed: &[PathBuf]) -> io::Result<Self> {
        let found = walk(&folder)?;
        let real = folder.canonicalize()?;
        let entries = found.entries(&real, |_| false)?;
        let (readable, linked) = (found.readable(real, &entries), found.linked(closed));
        let files = stamps(&folder, found.files);
        Ok(Self { folder, files, readable, linked })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its files, sorted. Paths are relative to the folder.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Every path that a script must be able to read if it sees links.
    pub fn targets(&self) -> impl Iterator<Item = &PathBuf> {
        self.readable.iter().chain(&self.linked)
    }

    /// Creates the read-only folder `input` with copies of the data or links to it. Returns the targets of the links,
    /// which a script must be able to read.
    ///
    /// Small data has real folders, so that a walk finds its files; folders of other data are links.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn show(&self, input: &Path, protection: Protection) -> io::Result<Vec<PathBuf>> {
        fs::create_dir(input)?;
        let bytes: u64 = self.files.values().map(|stamp| stamp.bytes).sum();
        let is_small = bytes <= MAX_COPIED_BYTES && self.files.len() <= MAX_COPIED_FILES;
        let targets = match protection {
            _ if !is_small => {
                let mut targets = walk::link(&self.folder, input, |_| false)?;
                targets.extend_from_slice(&self.linked);
                targets
            }
            Protection::ReadOnly => {
                self.link_files(input)?;
                self.targets().cloned().collect()
            }
            Protection::Modes => {
                self.copy(input)?;
                Vec::new()
            }
        };
        fs::set_permissions(input, fs::Permissions::from_mode(0o555))?;
        Ok(targets)
    }

    fn link_files(&self, input: &Path) -> io::Result<()> {
        self.files.keys().try_for_each(|name| walk::link_file(&self.folder, name, input))
    }

    fn copy(&self, input: &Path) -> io::Result<()> {
        for name in self.files.keys() {
            let copy = input.join(name);
            if let Some(parent) = copy.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::copy(self.folder.join(name), &copy)?;
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o444))?;
        }
        Ok(())
    }

    /// One sentence that names some of the files that changed, or says that the check failed; `None` if none changed.
    pub fn damage(&self) -> Option<String> {
        let folder = self.folder.display();
        let now = match walk(&self.folder) {
            Ok(found) => stamps(&self.folder, found.files),
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                return Some(format!("could not check whether the data in {folder} changed: {error}"));
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
        // A file that vanished meanwhile counts as missing.
        let meta = fs::metadata(folder.join(&name)).ok()?;
        Some((name, Stamp { bytes: meta.len(), modified: meta.modified().ok() }))
    };
    files.into_iter().filter_map(stamp).collect()
}

#[cfg(test)]
mod tests {
    use mle_star_domain::layout;

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
            fs::write(folder.path().join(run).join(layout::LOCK), "").unwrap();
        }
        let data = Data::new(folder.path().to_owned(), &[]).unwrap();
        (folder, data)
    }

    #[test]
    fn the_input_has_the_data_and_not_the_run() {
        let (folder, data) = data();
        let linked = |data: &Data, view: &Path| {
            let sources = walk::link(&data.folder, view, |_| false)?;
            assert!(sources.iter().all(|source| !Path::new("runs/r1").starts_with(source)), "{sources:?}");
            Ok(())
        };
        type Make<'a> = &'a dyn Fn(&Data, &Path) -> io::Result<()>;
        let ways = [("copied", &Data::copy as Make<'_>), ("linked", &linked), ("each", &Data::link_files)];
        for (name, make) in ways {
            let view = folder.path().join("runs/r1").join(name);
            fs::create_dir(&view).unwrap();
            make(&data, &view).unwrap();
            assert_eq!(fs::read_to_string(view.join("train.csv")).unwrap(), "id\n1\n", "{name}");
            assert_eq!(fs::read_to_string(view.join("images/a.png")).unwrap(), "png", "{name}");
            assert!(!view.join("runs").exists(), "{name}");
        }
    }

    #[test]
    fn read_only_data_is_linked_file_by_file_and_other_small_data_copied() {
        let check = |large: bool, protection, links: &[&str], sources: &[&str]| {
            let (folder, _) = data();
            if large {
                fs::File::create(folder.path().join("images/big")).unwrap().set_len(33 << 20).unwrap();
            }
            let data = Data::new(folder.path().canonicalize().unwrap(), &[]).unwrap();
            let input = folder.path().join("runs/r1/input");
            let mut shown = data.show(&input, protection).unwrap();
            shown.sort();
            let whole: Vec<PathBuf> = sources.iter().map(|name| data.folder.join(name)).collect();
            let is_link = |name: &&str| input.join(name).is_symlink();
            let found: Vec<&str> =
                ["images", "images/a.png", "train.csv"].into_iter().filter(is_link).collect();
            assert_eq!((found.as_slice(), shown), (links, whole), "{large} {protection:?}");
            assert_eq!(fs::read_to_string(input.join("images/a.png")).unwrap(), "png");
        };
        let both = ["images", "train.csv"];
        check(false, Protection::Modes, &[], &[]);
        check(false, Protection::ReadOnly, &["images/a.png", "train.csv"], &both);
        check(true, Protection::ReadOnly, &["images", "train.csv"], &both);
        check(true, Protection::Modes, &["images", "train.csv"], &both);
    }

    #[test]
    fn a_closed_folder_is_never_readable_as_a_whole() {
        let check = |links: usize, closed: &str, expected: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for name in ["store/data/runs/r", "view"] {
                fs::create_dir_all(root.join(name)).unwrap();
            }
            for n in 0..links {
                fs::write(root.join(format!("store/data/{n}")), "").unwrap();
                walk::link_file(&root.join("store/data"), Path::new(&n.to_string()), &root.join("view"))
                    .unwrap();
            }
            let data = Data::new(root.join("view"), &[root.join(closed)]).unwrap();
            let whole: Vec<&Path> =
                data.linked.iter().map(|path| path.strip_prefix(&root).unwrap()).collect();
            if expected.is_empty() {
                assert_eq!(whole.len(), links, "{links} {closed}");
                assert!(whole.iter().all(|path| path.starts_with("view")), "{whole:?}");
            } else {
                assert_eq!(whole, expected.iter().map(Path::new).collect::<Vec<_>>(), "{links} {closed}");
            }
        };
        check(100, "elsewhere", &["store/data"]);
        check(100, "store/data", &[]);
        check(100, "store/data/runs/r", &[]);
        check(100, "store", &["store/data"]);
        check(3, "elsewhere", &[]);
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
}

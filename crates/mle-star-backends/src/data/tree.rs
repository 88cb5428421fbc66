//! The files of a data folder: one answer for listing, digest, unpacking and what scripts see.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Folders below a data folder are looked into to this depth.
const MAX_DEPTH: usize = 32;
/// More files than this are not opened to a script one by one.
const MANY: usize = 64;

/// A data folder at one moment. Paths are relative to it.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Every regular file, in order; links count as what they lead to. Hidden files and what runs made are no data.
    pub(crate) files: Vec<PathBuf>,
    /// Folders of runs, and links to folders that hold the link.
    left_out: BTreeSet<PathBuf>,
    /// The links to files and folders, whole paths.
    linked: BTreeSet<PathBuf>,
}

/// Looks at every file below `folder`.
///
/// # Errors
/// A folder cannot be read.
pub(crate) fn look(folder: &Path) -> io::Result<Tree> {
    let mut tree = Tree::default();
    tree.walk(folder, Path::new(""), &mut vec![folder.canonicalize()?])?;
    tree.files.sort();
    Ok(tree)
}

/// Fills `into` with links to the data in `folder`, except to top entries that `is_left_out` names. Folders with
/// nothing but data in them are linked as a whole. Returns what the links lead to: `folder` where it is much and has
/// nothing but data in it.
///
/// # Errors
/// The folder cannot be read, or a link cannot be made.
pub(crate) fn link(
    folder: &Path,
    into: &Path,
    is_left_out: impl Fn(&Path) -> bool,
) -> io::Result<Vec<PathBuf>> {
    let (folder, tree) = (folder.canonicalize()?, look(folder)?);
    let mut sources = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = PathBuf::from(entry?.file_name());
        if !is_left_out(&name) {
            tree.link(&folder, &name, into, &mut sources)?;
        }
    }
    if sources.len() > MANY && tree.left_out.is_empty() {
        sources = vec![folder];
    }
    Ok(sources)
}

impl Tree {
    /// The links in it; where they are many, the folders of what they lead to.
    pub(crate) fn linked(&self) -> Vec<PathBuf> {
        if self.linked.len() <= MANY {
            return self.linked.iter().cloned().collect();
        }
        let folder = |link: &PathBuf| Some(link.canonicalize().ok()?.parent()?.to_owned());
        let folders: BTreeSet<PathBuf> = self.linked.iter().filter_map(folder).collect();
        folders.into_iter().collect()
    }

    /// `above` holds the real paths of the folders on the way to `below`.
    fn walk(&mut self, root: &Path, below: &Path, above: &mut Vec<PathBuf>) -> io::Result<()> {
        for entry in fs::read_dir(root.join(below))? {
            let entry = entry?;
            let name = entry.file_name();
            let path = below.join(&name);
            let whole = root.join(&path);
            // A dangling link, or a file that vanished meanwhile, is not data.
            let Some(meta) = fs::metadata(&whole).ok().filter(|_| !is_hidden(&name)) else { continue };
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if meta.is_file() {
                if is_link {
                    self.linked.insert(whole);
                }
                self.files.push(path);
            } else if meta.is_dir() {
                let real = whole.canonicalize()?;
                let leads_back = above.iter().any(|folder| folder.starts_with(&real));
                if leads_back || is_run(&whole) || above.len() > MAX_DEPTH {
                    self.left_out.insert(path);
                    continue;
                }
                if is_link {
                    self.linked.insert(whole);
                }
                above.push(real);
                self.walk(root, &path, above)?;
                above.pop();
            }
        }
        Ok(())
    }

    fn link(&self, folder: &Path, path: &Path, into: &Path, sources: &mut Vec<PathBuf>) -> io::Result<()> {
        let hidden = path.file_name().is_some_and(is_hidden);
        if hidden || self.left_out.contains(path) {
            return Ok(());
        }
        if !self.left_out.iter().any(|left_out| left_out.starts_with(path)) {
            sources.push(folder.join(path));
            return symlink(folder.join(path), into.join(path));
        }
        if self.files.iter().any(|file| file.starts_with(path)) {
            fs::create_dir(into.join(path))?;
            for entry in fs::read_dir(folder.join(path))? {
                self.link(folder, &path.join(entry?.file_name()), into, sources)?;
            }
        }
        Ok(())
    }
}

/// What runs made is not data, wherever the runs directory lies. A run's lock is its first file.
fn is_run(folder: &Path) -> bool {
    ["journal.lock", "journal.db"].iter().any(|name| folder.join(name).exists())
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Removes a folder with everything below it, unwritable folders included, however deep they lie.
///
/// Nobody else may be at work in there. Folders in folders are moved up before they are emptied, so neither the length
/// of a path nor the number of open files nor the stack grows with the depth.
///
/// # Errors
/// The first thing that cannot be removed.
pub(crate) fn remove_tree(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(meta) if !meta.is_dir() => return fs::remove_file(folder),
        Ok(_) => open_up(folder)?,
    }
    let mut moved = 0;
    loop {
        let before = moved;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open_up(&entry.path())?;
                empty(&entry.path(), folder, &mut moved)?;
                fs::remove_dir(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        match fs::remove_dir(folder) {
            // What was moved there while it was listed may not have been on the list.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && moved > before => {}
            done => return done,
        }
    }
}

/// Removes what is in `folder`, but for folders that are not empty: they go up to `top`, under a number.
fn empty(folder: &Path, top: &Path, moved: &mut u64) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_dir() {
            fs::remove_file(path)?;
        } else if fs::remove_dir(&path).is_err() {
            open_up(&path)?;
            move_up(&path, top, moved)?;
        }
    }
    Ok(())
}

/// Gives `folder` the next number in `top` that is not taken.
fn move_up(folder: &Path, top: &Path, moved: &mut u64) -> io::Result<()> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    loop {
        *moved += 1;
        match fs::rename(folder, top.join(format!(".{moved}"))) {
            Err(error) if matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory) => {}
            done => return done,
        }
    }
}

/// Lets its owner do everything in `folder`.
fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data folder with runs in two places, links that lead back and one that does not.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        };
        let data = ["data/train.csv", "data/images/a.png", "data/.git/config", "big/b.png"];
        let runs =
            ["data/runs/r/journal.lock", "data/runs/r/work/x", "data/old/notes.txt", "data/old/r/journal.db"];
        data.into_iter().chain(runs).for_each(make);
        let link = |target: &str, name: &str| symlink(target, folder.path().join(name)).unwrap();
        link("../big", "data/linked");
        link("../..", "data/images/up");
        link("../data", "big/back");
        link("nowhere", "data/dangling");
        folder
    }

    #[test]
    fn runs_hidden_files_and_links_that_lead_back_are_no_data() {
        let folder = folder();
        let data = folder.path().join("data");
        let expected = ["images/a.png", "linked/b.png", "old/notes.txt", "train.csv"].map(PathBuf::from);
        assert_eq!(look(&data).unwrap().files, expected);

        let view = data.join("runs/r/view");
        fs::create_dir(&view).unwrap();
        link(&data, &view, |name| name == Path::new("train.csv")).unwrap();
        assert_eq!(look(&view).unwrap().files, expected[..3]);
        assert!(!view.join("runs").exists() && !view.join("old/r").exists());
        assert!(view.join("images").is_dir() && !view.join("images/up").exists());
    }

    #[test]
    fn a_folder_goes_with_all_below_it() {
        let check = |fill: &dyn Fn(&Path)| {
            let parent = tempfile::tempdir().unwrap();
            let (folder, outside) = (parent.path().join("folder"), parent.path().join("outside"));
            fs::create_dir(&folder).unwrap();
            fs::write(&outside, "x").unwrap();
            fill(&folder);
            remove_tree(&folder).unwrap();
            assert!(fs::symlink_metadata(&folder).is_err() && outside.exists());
        };
        check(&|folder| fs::remove_dir(folder).unwrap());
        check(&|folder| {
            fs::remove_dir(folder).unwrap();
            symlink("outside", folder).unwrap();
        });
        check(&|folder| {
            fs::create_dir_all(folder.join("a/b/c/d")).unwrap();
            fs::write(folder.join("a/b/c/x"), "x").unwrap();
            // Names that folders could get which are moved up.
            fs::write(folder.join(".1"), "x").unwrap();
            fs::create_dir_all(folder.join(".2/x/y")).unwrap();
            symlink("../../outside", folder.join("a/link")).unwrap();
            symlink("../..", folder.join("a/back")).unwrap();
            for name in ["a/b", "a"] {
                fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o300)).unwrap();
            }
        });
        // Deeper than a path can say and than files can be open: made from the inside out.
        check(&|folder| {
            let (inner, outer) = (folder.join("inner"), folder.join("outer"));
            fs::create_dir(&inner).unwrap();
            for _ in 0..5_000 {
                fs::create_dir(&outer).unwrap();
                fs::rename(&inner, outer.join("inner")).unwrap();
                fs::rename(&outer, &inner).unwrap();
            }
        });
    }
}

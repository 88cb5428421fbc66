//! The files of a data folder: one answer for listing, digest, unpacking and what scripts see.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Folders below a data folder are looked into to this depth.
const MAX_DEPTH: usize = 32;
/// More files than this are not opened to a script one by one.
const MANY: usize = 64;

/// A data folder at one moment. Paths are relative to it.
#[derive(Debug, Default)]
pub struct Tree {
    /// Every regular file, in order; links count as what they lead to. Hidden files and what runs made are no data.
    pub files: Vec<PathBuf>,
    /// Folders of runs, and links to folders that hold the link.
    left_out: BTreeSet<PathBuf>,
    /// The links to files and folders, whole paths.
    linked: BTreeSet<PathBuf>,
}

/// Looks at every file below `folder`.
///
/// # Errors
/// A folder cannot be read.
pub fn look(folder: &Path) -> io::Result<Tree> {
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
pub fn link(folder: &Path, into: &Path, is_left_out: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
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
    pub fn linked(&self) -> Vec<PathBuf> {
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
}

//! The files of a data folder. Listing, digest, unpacking and `./input` all use this walk.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use mle_star_domain::layout;

/// Folders are walked to this depth below a data folder.
const MAX_DEPTH: usize = 32;
/// More files than this are not made readable one by one.
const MAX_FILES: usize = 64;

/// The contents of a data folder at one moment. Paths are relative to it.
#[derive(Debug, Default)]
pub struct FolderContents {
    /// Every regular file, sorted. Links count as their targets. Hidden files and the files of runs are not data.
    pub files: Vec<PathBuf>,
    /// Folders of runs, links to folders that contain the link, and folders that are too deep.
    left_out: BTreeSet<PathBuf>,
    /// The links to files and folders, as whole paths.
    linked: BTreeSet<PathBuf>,
}

/// Finds every file below `folder`.
///
/// # Errors
/// A folder cannot be read.
pub fn walk(folder: &Path) -> io::Result<FolderContents> {
    let mut found = FolderContents::default();
    found.add(folder, Path::new(""), &mut vec![folder.canonicalize()?])?;
    found.files.sort();
    Ok(found)
}

/// Fills `into` with links to the data in `folder`, except for top-level entries that `is_left_out` selects. Folders
/// that contain only data are linked as a whole. Returns the targets of the links, or `folder` itself if they are many
/// and it contains only data.
///
/// # Errors
/// The folder cannot be read, or a link cannot be created.
pub fn link(folder: &Path, into: &Path, is_left_out: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    let (folder, found) = (folder.canonicalize()?, walk(folder)?);
    let entries = found.entries(&folder, is_left_out)?;
    for entry in &entries {
        link_file(&folder, entry, into)?;
    }
    Ok(found.readable(folder, &entries))
}

/// Creates a link in `into` to the entry `name` of `folder`, with the folders around it.
///
/// # Errors
/// The link cannot be created.
pub fn link_file(folder: &Path, name: &Path, into: &Path) -> io::Result<()> {
    let link = into.join(name);
    if let Some(parent) = link.parent() {
        fs::create_dir_all(parent)?;
    }
    symlink(folder.join(name), link)
}

impl FolderContents {
    /// The files and folders that contain only data and no link back, without those within others.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn entries(&self, folder: &Path, is_left_out: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = PathBuf::from(entry?.file_name());
            if !is_left_out(&name) {
                self.add_entries(folder, &name, &mut entries)?;
            }
        }
        Ok(entries)
    }

    /// The paths that make these entries readable: each of them, or `folder` if they are many and it contains only data.
    pub fn readable(&self, folder: PathBuf, entries: &[PathBuf]) -> Vec<PathBuf> {
        if entries.len() > MAX_FILES && self.left_out.is_empty() {
            return vec![folder];
        }
        entries.iter().map(|entry| folder.join(entry)).collect()
    }

    /// The links. If they are many, the folders of their targets, except for folders that are `closed` or contain a
    /// closed one.
    pub fn linked(&self, closed: &[PathBuf]) -> Vec<PathBuf> {
        if self.linked.len() <= MAX_FILES {
            return self.linked.iter().cloned().collect();
        }
        let opened = |link: &PathBuf| {
            let folder = link.canonicalize().ok()?.parent()?.to_owned();
            let is_closed = closed.iter().any(|closed| closed.starts_with(&folder));
            Some(if is_closed { link.clone() } else { folder })
        };
        let opened: BTreeSet<PathBuf> = self.linked.iter().filter_map(opened).collect();
        opened.into_iter().collect()
    }

    /// Folders of runs in `folder`, and links that lead back, as whole paths.
    pub fn left_out(&self, folder: &Path) -> impl Iterator<Item = PathBuf> {
        self.left_out.iter().map(move |path| folder.join(path))
    }

    /// `above` holds the real paths of the folders on the way to `below`.
    fn add(&mut self, root: &Path, below: &Path, above: &mut Vec<PathBuf>) -> io::Result<()> {
        for entry in fs::read_dir(root.join(below))? {
            let entry = entry?;
            let name = entry.file_name();
            let path = below.join(&name);
            let whole = root.join(&path);
            // A dangling link, or a file that vanished meanwhile, is not data.
            let Ok(meta) = fs::metadata(&whole) else { continue };
            if is_hidden(&name) {
                if meta.is_dir() && is_run(&whole) {
                    self.left_out.insert(path);
                }
                continue;
            }
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
                self.add(root, &path, above)?;
                above.pop();
            }
        }
        Ok(())
    }

    fn add_entries(&self, folder: &Path, path: &Path, entries: &mut Vec<PathBuf>) -> io::Result<()> {
        let hidden = path.file_name().is_some_and(is_hidden);
        if hidden || self.left_out.contains(path) {
            return Ok(());
        }
        if !self.left_out.iter().any(|left_out| left_out.starts_with(path)) {
            entries.push(path.to_owned());
        } else if self.files.iter().any(|file| file.starts_with(path)) {
            for entry in fs::read_dir(folder.join(path))? {
                self.add_entries(folder, &path.join(entry?.file_name()), entries)?;
            }
        }
        Ok(())
    }
}

/// Is it the folder of a run? The files of runs are not data, wherever the runs directory lies. A run's lock is its first
/// file.
pub fn is_run(folder: &Path) -> bool {
    [layout::LOCK, layout::JOURNAL].iter().any(|name| folder.join(name).exists())
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data folder with runs in two places, links to parent folders and a link elsewhere.
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
    fn runs_hidden_files_and_links_to_parents_are_not_data() {
        let folder = folder();
        let data = folder.path().join("data");
        let expected = ["images/a.png", "linked/b.png", "old/notes.txt", "train.csv"].map(PathBuf::from);
        assert_eq!(walk(&data).unwrap().files, expected);

        let view = data.join("runs/r/view");
        fs::create_dir(&view).unwrap();
        link(&data, &view, |name| name == Path::new("train.csv")).unwrap();
        assert_eq!(walk(&view).unwrap().files, expected[..3]);
        assert!(!view.join("runs").exists() && !view.join("old/r").exists());
        assert!(view.join("images").is_dir() && !view.join("images/up").exists());
    }
}

//! The fresh folder that one script runs in, and what is kept of it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use mle_star::stop::Trouble;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

use super::short_links::ShortLinks;
use mle_star_data::removal::remove_tree;
use mle_star_data::view::Data;

/// The script's file name; tracebacks show it.
pub(super) const SCRIPT: &str = "solution.py";
/// Where a script writes what it submits.
pub(super) const SUBMISSION: &str = "final/submission.csv";
/// Sockets in TMPDIR have at most 107 bytes for their path, of which multiprocessing takes some forty.
const LONGEST_TEMPORARY: usize = 60;

/// A script's folder: `solution.py`, `input/`, `final/`, a private HOME and TMPDIR. Removed when dropped.
#[derive(Debug)]
pub(super) struct Workplace {
    folder: PathBuf,
    temporary: PathBuf,
    sources: Vec<PathBuf>,
}

impl Workplace {
    /// Makes the folder anew; what a killed run left there is removed first.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub(super) fn new(folder: PathBuf, script: &str, data: &Data, links: &ShortLinks) -> io::Result<Self> {
        remove_tree(&folder)?;
        let mut workplace = Self { temporary: folder.join(".tmp"), folder, sources: Vec::new() };
        fs::create_dir_all(workplace.folder.join("final"))?;
        for private in [workplace.home(), workplace.temporary.clone()] {
            fs::DirBuilder::new().mode(0o700).create(private)?;
        }
        workplace.sources = data.show(&workplace.folder.join("input"))?;
        fs::write(workplace.folder.join(SCRIPT), script)?;
        workplace.with_short_temporary(links)
    }

    /// Where the script runs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the data lies that `input/` leads to.
    pub(super) fn sources(&self) -> &[PathBuf] {
        &self.sources
    }

    /// The script's HOME.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.join(".home")
    }

    /// The script's TMPDIR; a short link to it where its own path is too long for sockets.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The submission, opened, when the script wrote one as a regular file; or a sentence that says why what it wrote
    /// is none. Where a link leads to the file, what lies there may be others' and is not touched.
    ///
    /// # Errors
    /// It cannot be opened, which is no doing of the script.
    pub(super) fn submission(&self) -> io::Result<Result<Option<File>, String>> {
        Ok(match self.open_submission() {
            Ok(opened) => Ok(opened),
            Err(Errno::ENOENT) => Ok(None),
            Err(Errno::ELOOP | Errno::ENOTDIR) => Err(format!(
                "{SUBMISSION} was reached by a link, or by what is no folder: it is no submission"
            )),
            Err(error @ (Errno::EACCES | Errno::EPERM | Errno::ENXIO)) => {
                Err(format!("{SUBMISSION} cannot be read ({error}): it is no submission"))
            }
            Err(error) => return Err(error.into()),
        })
    }

    /// Step by step, so that no link is followed, nor one that is put there meanwhile; without waiting for a pipe's
    /// other end.
    fn open_submission(&self) -> nix::Result<Option<File>> {
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let (folder, name) = SUBMISSION.split_once('/').ok_or(Errno::EINVAL)?;
        let root = open(&self.folder, flags | OFlag::O_DIRECTORY, Mode::empty())?;
        let folder = openat(&root, folder, flags | OFlag::O_DIRECTORY, Mode::empty())?;
        let file = File::from(openat(&folder, name, flags, Mode::empty())?);
        Ok(Some(file).filter(|file| file.metadata().is_ok_and(|meta| meta.is_file())))
    }

    fn with_short_temporary(mut self, links: &ShortLinks) -> io::Result<Self> {
        if self.temporary.as_os_str().len() > LONGEST_TEMPORARY {
            self.temporary = links.link_to(&self.temporary)?;
        }
        Ok(self)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if !self.temporary.starts_with(&self.folder) {
            let _ = fs::remove_file(&self.temporary);
        }
        // What cannot be removed now is removed before the same place runs again.
        let _ = remove_tree(&self.folder);
    }
}

/// An input or output error for people.
pub(crate) fn broken(doing: &str, path: &Path, error: &io::Error) -> Trouble {
    Trouble::io(doing, path, error)
}

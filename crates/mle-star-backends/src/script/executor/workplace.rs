//! The new folder that one script runs in.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mle_star_domain::layout;
use mle_star_process::remove::remove_tree;
use mle_star_process::sandbox::TEMPORARY;
use mle_star_process::short_links::ShortLinks;
use mle_star_tables::input::{Data, Protection};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

/// A socket's path has at most 107 bytes, of which multiprocessing needs about forty below TMPDIR.
const MAX_TEMP_PATH_CHARS: usize = 60;

/// A script's folder: the script, its input and output folders, a private HOME and TMPDIR. Removed when dropped.
#[derive(Debug)]
pub struct Workplace {
    folder: PathBuf,
    /// TMPDIR, or a short link to it.
    temporary: PathBuf,
    /// The targets of links to the data.
    sources: Vec<PathBuf>,
}

impl Workplace {
    /// Creates the folder. If a killed run left one, removes it first.
    ///
    /// # Errors
    /// The folder cannot be created or written.
    pub(super) fn new(
        folder: PathBuf,
        script: &str,
        (data, protection): (&Data, Protection),
        links: &ShortLinks,
    ) -> io::Result<Self> {
        remove_tree(&folder)?;
        let mut workplace = Self { temporary: folder.join(".tmp"), folder, sources: Vec::new() };
        fs::create_dir_all(workplace.folder.join(layout::FINAL))?;
        for private in [workplace.home(), workplace.temporary.clone(), workplace.folder.join(TEMPORARY)] {
            fs::DirBuilder::new().mode(0o700).create(private)?;
        }
        workplace.sources = data.show(&workplace.folder.join(layout::INPUT), protection)?;
        // Tracebacks show this name.
        fs::write(workplace.folder.join(layout::SOLUTION), script)?;
        workplace.with_short_temporary(links)
    }

    /// Adds modules for the script, if there are any.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn with_modules(self, modules: &[(String, String)]) -> io::Result<Self> {
        if !modules.is_empty() {
            fs::create_dir(self.modules())?;
        }
        for (name, text) in modules {
            fs::write(self.modules().join(name), text)?;
        }
        Ok(self)
    }

    /// The folder for its fitted model.
    pub(super) fn model(&self) -> PathBuf {
        self.folder.join(layout::FINAL).join(layout::MODEL)
    }

    /// Copies the fitted model that the script left, after its end, into a new folder. Returns its size in bytes; `None` if there
    /// is none. If the script also wrote a script that predicts with the model, the new folder has both, side by side.
    ///
    /// # Errors
    /// It cannot be copied, is larger than `most` bytes, or has something else than files and folders.
    pub fn take_model(&self, into: &Path, most: u64) -> io::Result<Option<u64>> {
        let model = self.model();
        if !fs::symlink_metadata(&model).is_ok_and(|about| about.is_dir()) {
            return Ok(None);
        }
        let mut bytes = 0;
        let predict = model.with_file_name(layout::PREDICT);
        if fs::symlink_metadata(&predict).is_ok_and(|about| about.is_file()) {
            copy_tree(&model, &into.join(layout::MODEL), &mut bytes, most)?;
            if bytes + fs::symlink_metadata(&predict)?.len() > most {
                return Err(io::Error::other("it is too large"));
            }
            fs::copy(predict, into.join(layout::PREDICT))?;
        } else {
            copy_tree(&model, into, &mut bytes, most)?;
        }
        Ok((bytes > 0).then_some(bytes))
    }

    /// The folder of its modules.
    pub(super) fn modules(&self) -> PathBuf {
        self.folder.join(".modules")
    }

    /// The folder that the script runs in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The paths outside that the script must be able to read: targets of links to the data, and its TMPDIR.
    pub(super) fn readable(&self) -> impl Iterator<Item = PathBuf> {
        self.sources.iter().chain([&self.temporary]).cloned()
    }

    /// The script's HOME.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.join(".home")
    }

    /// The script's TMPDIR, or a short link to it if its path is too long for sockets.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The file called `name` in the script's output folder, if the script wrote it as a regular file, or a sentence that
    /// says why it is not accepted. A file behind a link may belong to others and is not opened.
    ///
    /// # Errors
    /// The file cannot be opened for a reason that is not the script's doing.
    pub fn output(&self, name: &str) -> io::Result<Result<Option<File>, String>> {
        let shown = || format!("{}/{name}", layout::FINAL);
        Ok(match self.open_output(name) {
            Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
            Ok(_) => Err(format!("{} is not a regular file, so it is not accepted", shown())),
            Err(Errno::ENOENT) => Ok(None),
            Err(Errno::ELOOP | Errno::ENOTDIR) => Err(format!(
                "{} lies behind a link or below a file that is not a folder, so it is not accepted",
                shown()
            )),
            Err(error @ (Errno::EACCES | Errno::EPERM | Errno::ENXIO)) => {
                Err(format!("cannot read {} ({error}), so it is not accepted", shown()))
            }
            Err(error) => return Err(error.into()),
        })
    }

    /// Whether the script wrote its submission as the last of its files, after this time, and all of them end with a whole line.
    /// Rows that the submission lacks are not looked for here.
    pub(super) fn has_answer(&self, scored: SystemTime) -> bool {
        let submitted = self.written(layout::SUBMISSION);
        let others = [
            layout::VALIDATION_PREDICTIONS,
            layout::VALIDATION_CLASS_SCORES,
            layout::SUBMISSION_CLASS_SCORES,
        ];
        let is_before = |name| self.written(name).is_some_and(|at| Some(at) <= submitted);
        submitted >= Some(scored) && others.into_iter().all(is_before)
    }

    /// When this file in the output folder was last written, long ago if it is missing; `None` if its last line is not whole.
    fn written(&self, name: &str) -> Option<SystemTime> {
        let file = match self.open_output(name) {
            Err(Errno::ENOENT) => return Some(SystemTime::UNIX_EPOCH),
            opened => opened.ok()?,
        };
        let (about, mut last) = (file.metadata().ok()?, [0]);
        file.read_exact_at(&mut last, about.len().checked_sub(1)?).ok()?;
        about.modified().ok().filter(|_| last == *b"\n")
    }

    /// Opens folder by folder, so that no link is followed, even one created meanwhile, and without waiting for the
    /// other end of a pipe.
    fn open_output(&self, name: &str) -> nix::Result<File> {
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let root = open(&self.folder, flags | OFlag::O_DIRECTORY, Mode::empty())?;
        let folder = openat(&root, layout::FINAL, flags | OFlag::O_DIRECTORY, Mode::empty())?;
        Ok(File::from(openat(&folder, name, flags, Mode::empty())?))
    }

    fn with_short_temporary(mut self, links: &ShortLinks) -> io::Result<Self> {
        if self.temporary.as_os_str().len() > MAX_TEMP_PATH_CHARS {
            self.temporary = links.link_to(&self.temporary)?;
        }
        Ok(self)
    }
}

/// Copies files and folders, without following links.
fn copy_tree(from: &Path, into: &Path, bytes: &mut u64, most: u64) -> io::Result<()> {
    fs::create_dir_all(into)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (about, target) = (entry.metadata()?, into.join(entry.file_name()));
        if about.is_dir() {
            copy_tree(&entry.path(), &target, bytes, most)?;
            continue;
        }
        *bytes += about.len();
        if !about.is_file() || *bytes > most {
            let why = if about.is_file() { "it is too large" } else { "it has links" };
            return Err(io::Error::other(why));
        }
        fs::copy(entry.path(), target)?;
    }
    Ok(())
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if !self.temporary.starts_with(&self.folder) {
            let _ = fs::remove_file(&self.temporary);
        }
        // If it cannot be removed now, it is removed before the same place runs again.
        let _ = remove_tree(&self.folder);
    }
}

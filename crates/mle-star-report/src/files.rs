//! The one place that opens files of a run for reading.
//!
//! Scripts and other users may have put anything into a run folder. [`open`] opens only regular files below it. It
//! follows no symbolic link, not even for a folder on the path, and does not block on a pipe. Readers of whole files
//! set a size limit.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use nix::fcntl::{OFlag, open as open_folder, openat};
use nix::sys::stat::Mode;

/// Opens a regular file by its path below a folder. The folder itself may be a symbolic link.
///
/// `openat2` does this in one call, but the system call filters of older containers lack it. cap-std follows
/// links that stay below the folder.
///
/// # Errors
/// The file is missing, not readable or not a regular file.
pub fn open(folder: &Path, name: &str) -> io::Result<File> {
    let always = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    let mut at = open_folder(folder, always | OFlag::O_DIRECTORY, Mode::empty())?;
    let mut parts = Path::new(name).components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(part) = part else { return Err(refused("leads out of the folder")) };
        let kind = if parts.peek().is_some() { OFlag::O_DIRECTORY } else { OFlag::O_NONBLOCK };
        at = openat(&at, part, always | OFlag::O_NOFOLLOW | kind, Mode::empty())?;
    }
    let file = File::from(at);
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused("not a regular file")) }
}

/// The text of a file of at most `most` bytes.
///
/// # Errors
/// The file cannot be opened, is larger than `most`, or is not UTF-8.
pub fn read(folder: &Path, name: &str, most: u64) -> io::Result<String> {
    let file = open(folder, name)?;
    if file.metadata()?.len() > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("larger than {most} bytes")));
    }
    let mut text = String::new();
    file.take(most).read_to_string(&mut text)?;
    Ok(text)
}

/// The last `most` bytes of a file, and whether the file is longer.
///
/// # Errors
/// The file is not readable.
pub fn tail(mut file: File, most: u64) -> io::Result<(String, bool)> {
    let start = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), start > 0))
}

/// Changes when the file does; `None` if it is missing or empty.
pub fn stamp(folder: &Path, name: &str) -> Option<(u64, i64, i64, u64)> {
    let meta = folder.join(name).symlink_metadata().ok().filter(|meta| meta.len() > 0)?;
    Some((meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino()))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn only_regular_files_below_the_folder_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let (run, outside) = (dir.path().join("run"), dir.path().join("outside"));
        fs::create_dir_all(run.join("logs")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        fs::write(run.join("logs/a.log"), "text").unwrap();
        fs::write(run.join("empty"), "").unwrap();
        symlink(&outside, run.join("away")).unwrap();
        symlink(outside.join("secret"), run.join("logs/link")).unwrap();
        symlink("logs", run.join("within")).unwrap();
        symlink(&run, dir.path().join("alias")).unwrap();
        mkfifo(&run.join("pipe"), Mode::S_IRWXU).unwrap();
        File::create(run.join("sparse")).unwrap().set_len(3 << 30).unwrap();
        let check = |folder: &Path, name: &str, expected: Option<&str>| {
            assert_eq!(read(folder, name, 100).ok().as_deref(), expected, "{name}");
        };
        check(&run, "logs/a.log", Some("text"));
        check(&run, "empty", Some(""));
        // A person may name a run by a link.
        check(&dir.path().join("alias"), "logs/a.log", Some("text"));
        let outside = outside.join("secret").display().to_string();
        let names =
            ["away/secret", "logs/link", "within/a.log", "pipe", "sparse", "logs", "none", "", "..", "."];
        for name in names.iter().chain(&["logs/../logs/a.log", "../outside/secret", &outside]) {
            check(&run, name, None);
        }
    }

    #[test]
    fn the_end_of_a_file_is_read_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let check = |text: &str, expected: (&str, bool)| {
            fs::write(dir.path().join("x"), text).unwrap();
            let (end, is_cut) = tail(open(dir.path(), "x").unwrap(), 4).unwrap();
            assert_eq!((end.as_str(), is_cut), expected);
        };
        check("", ("", false));
        check("abcd", ("abcd", false));
        check("abcde", ("bcde", true));
    }
}

//! What a user wrote about a run: a star and a remark, each a file in the run's folder.
//!
//! No part of the search reads them. Notes to the agents of a run are something else.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mle_star_domain::layout::{REMARK, STAR};
use mle_star_report::files;
use mle_star_run::runs::inputs::remove_file;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// The longest remark, in bytes.
const LONGEST: u64 = 64 << 10;

/// What a user wrote about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Whether it has a star.
    pub star: bool,
    /// The remark; empty if there is none.
    pub remark: String,
}

/// The marks of the run in a folder.
pub fn read(folder: &Path) -> Marks {
    let remark = files::read(folder, REMARK, LONGEST).unwrap_or_default();
    Marks { star: files::open(folder, STAR).is_ok(), remark: remark.trim().to_owned() }
}

/// Gives the run a star, or takes it away.
///
/// # Errors
/// The folder cannot be written.
pub fn set_star(folder: &Path, star: bool) -> io::Result<()> {
    if star { write(folder, STAR, "starred\n") } else { remove_file(&folder.join(STAR)) }
}

/// Replaces the remark; an empty one removes the file.
///
/// # Errors
/// It is too long, or the folder cannot be written.
pub fn set_remark(folder: &Path, remark: &str) -> io::Result<()> {
    let remark = remark.trim().replace("\r\n", "\n");
    if remark.len() as u64 >= LONGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 64 KB"));
    }
    if remark.is_empty() {
        remove_file(&folder.join(REMARK))
    } else {
        write(folder, REMARK, &format!("{remark}\n"))
    }
}

/// Writes a file whole, and through no link.
fn write(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let mut partial = NamedTempFile::new_in(folder)?;
    partial.write_all(text.as_bytes())?;
    // Others see the marks on a shared runs directory, too.
    partial.as_file().set_permissions(PermissionsExt::from_mode(0o644))?;
    partial.as_file().sync_all()?;
    partial.persist(folder.join(name))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn marks_are_files_of_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let check = |star: bool, remark: &str, shown: &str, files: &[&str]| {
            set_star(folder.path(), star).unwrap();
            set_remark(folder.path(), remark).unwrap();
            assert_eq!(read(folder.path()), Marks { star, remark: shown.to_owned() });
            let mut names: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, files);
        };
        check(false, " ", "", &[]);
        check(true, " two\r\nlines \n", "two\nlines", &[REMARK, STAR]);
        check(true, "é", "é", &[REMARK, STAR]);
        check(false, "", "", &[]);
        assert!(set_remark(folder.path(), &"x".repeat(70_000)).is_err());
        // A link is replaced, not followed.
        let outside = tempfile::NamedTempFile::new().unwrap();
        symlink(outside.path(), folder.path().join(REMARK)).unwrap();
        assert_eq!(read(folder.path()), Marks::default());
        set_remark(folder.path(), "mine").unwrap();
        assert_eq!(fs::read_to_string(outside.path()).unwrap(), "");
    }
}

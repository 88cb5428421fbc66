//! The members of zip archives that are not packed tables, such as `train.zip` with images.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

/// Whether a file's name is that of a zip archive.
pub(crate) fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"))
}

/// The paths of the files in an archive by its table of contents, sorted, without hidden ones and what macOS adds.
///
/// # Errors
/// It cannot be read, or is no archive.
pub(crate) fn members(archive: &Path) -> io::Result<Vec<PathBuf>> {
    let archive = ZipArchive::new(io::BufReader::new(File::open(archive)?))?;
    let is_hidden = |path: &Path| {
        let parts = path.components().map(|part| part.as_os_str().as_encoded_bytes());
        parts.into_iter().any(|part| part.starts_with(b".") || part == b"__MACOSX")
    };
    let names = archive.file_names().filter_map(|name| name.ok().map(String::from));
    let files = names.filter(|name| !name.ends_with('/')).map(PathBuf::from);
    let mut files: Vec<PathBuf> = files.filter(|path| !is_hidden(path)).collect();
    files.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    Ok(files)
}

//! The members of zip archives that are not packed tables, such as `train.zip` with images.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

/// Of a member, at most this many bytes are read.
const BEGINNING: u64 = 1 << 18;

/// What an archive holds.
#[derive(Debug)]
pub(crate) struct Members {
    /// The paths of its files, sorted, without hidden ones and what macOS adds.
    pub(crate) files: Vec<PathBuf>,
    /// Their size when unpacked, if the archive says it.
    pub(crate) bytes: Option<u128>,
}

/// Whether a file's name is that of a zip archive.
pub(crate) fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"))
}

/// What an archive holds, by its table of contents.
///
/// # Errors
/// It cannot be read, or is no archive.
pub(crate) fn members(archive: &Path) -> io::Result<Members> {
    let archive = ZipArchive::new(io::BufReader::new(File::open(archive)?))?;
    let is_hidden = |path: &Path| {
        let parts = path.components().map(|part| part.as_os_str().as_encoded_bytes());
        parts.into_iter().any(|part| part.starts_with(b".") || part == b"__MACOSX")
    };
    let names = archive.file_names().filter_map(|name| name.ok().map(String::from));
    let files = names.filter(|name| !name.ends_with('/')).map(PathBuf::from);
    let mut files: Vec<PathBuf> = files.filter(|path| !is_hidden(path)).collect();
    files.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    Ok(Members { files, bytes: archive.decompressed_size() })
}

/// The beginning of a file in an archive.
///
/// # Errors
/// It cannot be read.
pub(crate) fn beginning(archive: &Path, member: &Path) -> io::Result<Vec<u8>> {
    let mut archive = ZipArchive::new(io::BufReader::new(File::open(archive)?))?;
    let mut begin = Vec::new();
    archive.by_name(&member.to_string_lossy())?.take(BEGINNING).read_to_end(&mut begin)?;
    Ok(begin)
}

//! A digest of a data folder, because a resumed run must find the data it began with.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use blake3::Hasher;
use mle_star_domain::trouble::Trouble;

use crate::walk::walk;

/// Files up to this size are read completely. Of larger files, this much is read at each end.
const MAX_WHOLE_BYTES: u64 = 64 << 20;
/// From this size of all files on, files in subfolders, such as images, are only sampled.
const LARGE_BYTES: u64 = 4 << 30;
/// The same as [`MAX_WHOLE_BYTES`] for these files.
const SAMPLE_BYTES: u64 = 8 << 10;

/// Files that describe the task; they are not data.
const ABOUT_THE_TASK: [&str; 7] =
    ["description.md", "task.yaml", "task.yml", "task.toml", "config.yaml", "config.yml", "config.toml"];

/// A digest of the path, size and contents of every file (of both ends of very large files, and of files in the
/// subfolders of very large data). Hidden files and
/// `task.*`, `config.*` and `description.md` at the top do not count; the run stores them separately.
///
/// # Errors
/// The folder or a file cannot be read.
pub fn digest(data_dir: &Path) -> Result<String, Trouble> {
    digest_of(data_dir, LARGE_BYTES)
}

fn digest_of(data_dir: &Path, large: u64) -> Result<String, Trouble> {
    let mut hasher = Hasher::new();
    let files = files(data_dir)?;
    let size = |path: &PathBuf| fs::metadata(data_dir.join(path)).map_or(0, |about| about.len());
    let is_large = files.iter().map(size).sum::<u64>() >= large;
    for path in files {
        let whole = if is_large && path.components().count() > 1 { SAMPLE_BYTES } else { MAX_WHOLE_BYTES };
        add(&mut hasher, data_dir, &path, whole).map_err(|error| {
            Trouble::new(format!("cannot read {}: {error}", path.display()), "check the file's permissions")
        })?;
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Every file of a data folder, as sorted relative paths, without hidden files and those that describe the task.
fn files(data_dir: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let name = data_dir.display();
    let mut found = walk(data_dir)
        .map_err(|error| {
            Trouble::new(
                format!("cannot read the data folder {name}: {error}"),
                "check the folder's permissions",
            )
        })?
        .files;
    found.retain(|path| !ABOUT_THE_TASK.iter().any(|name| path == Path::new(name)));
    Ok(found)
}

/// Adds a file; one larger than `whole` by its ends.
fn add(hasher: &mut Hasher, data_dir: &Path, path: &Path, whole: u64) -> io::Result<()> {
    let whole_path = data_dir.join(path);
    let about = fs::metadata(&whole_path)?;
    hasher.update(path.to_string_lossy().as_bytes()).update(&[0]).update(&about.len().to_le_bytes());
    if !about.is_file() {
        return Ok(());
    }
    let mut file = File::open(whole_path)?;
    if about.len() <= whole {
        return feed(hasher, &mut file);
    }
    feed(hasher, &mut file.by_ref().take(whole / 2))?;
    file.seek(SeekFrom::Start(about.len() - whole / 2))?;
    feed(hasher, &mut file)
}

fn feed(hasher: &mut Hasher, text: &mut dyn Read) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match text.read(&mut buffer)? {
            0 => return Ok(()),
            read => hasher.update(&buffer[..read]),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_of_the_data_changes_the_digest() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        let now = || digest(dir.path()).unwrap();
        write("train.csv", "a\n1\n");
        let first = now();
        write("task.yaml", "x: 1");
        assert_eq!(now(), first);
        write("train.csv", "a\n2\n");
        let second = now();
        assert_ne!(second, first);
        write("other.csv", "");
        assert_ne!(now(), second);
    }
}

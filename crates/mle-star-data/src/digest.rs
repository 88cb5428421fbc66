//! A digest of a data folder, because a resumed run must find the data it began with.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use blake3::Hasher;
use mle_star::stop::Trouble;

/// Files up to this size are read completely. Of larger files, this much is read at each end.
const WHOLE: u64 = 64 << 20;

/// A digest of the path, size and contents of every file (of both ends of very large files). Hidden files and
/// `task.*`, `config.*` and `description.md` at the top do not count; the run stores them separately.
///
/// # Errors
/// The folder or a file cannot be read.
pub fn digest(data_dir: &Path) -> Result<String, Trouble> {
    let mut hasher = Hasher::new();
    for path in super::folder::files(data_dir)? {
        add(&mut hasher, data_dir, &path).map_err(|error| {
            Trouble::new(format!("cannot read {}: {error}", path.display()), "check the file's permissions")
        })?;
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn add(hasher: &mut Hasher, data_dir: &Path, path: &Path) -> io::Result<()> {
    let whole_path = data_dir.join(path);
    let about = fs::metadata(&whole_path)?;
    hasher.update(path.to_string_lossy().as_bytes()).update(&[0]).update(&about.len().to_le_bytes());
    if !about.is_file() {
        return Ok(());
    }
    let mut file = File::open(whole_path)?;
    if about.len() <= WHOLE {
        return feed(hasher, &mut file);
    }
    feed(hasher, &mut file.by_ref().take(WHOLE / 2))?;
    file.seek(SeekFrom::Start(about.len() - WHOLE / 2))?;
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

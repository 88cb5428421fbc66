//! What a data folder holds: the list of its files with their digests.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use mle_star_tables::input::Data;
use serde::{Deserialize, Serialize};

/// The files of a data folder. Its digest names the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Sorted by path.
    pub files: Vec<Entry>,
}

/// A file of a data folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its path in the folder.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// BLAKE3, in hexadecimal.
    pub digest: String,
    /// Where it lies on the program's machine.
    pub at: PathBuf,
}

impl Manifest {
    /// Reads all files of a data folder.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of(data: &Data) -> io::Result<Self> {
        let entry = |path: &Path| {
            let at = data.folder().join(path).canonicalize()?;
            let (digest, bytes) = digest(&at)?;
            Ok(Entry { path: path.to_owned(), bytes, digest, at })
        };
        Ok(Self { files: data.files().map(entry).collect::<io::Result<_>>()? })
    }

    /// The manifest as a file, with its digest.
    ///
    /// # Errors
    /// A path is not text.
    pub fn text(&self) -> io::Result<(String, Vec<u8>)> {
        let text = serde_json::to_vec(self)?;
        Ok((blake3::hash(&text).to_hex().to_string(), text))
    }

    /// Reads a manifest that another machine wrote.
    ///
    /// # Errors
    /// It is damaged, or names files outside the folder.
    pub fn read(text: &[u8]) -> io::Result<Self> {
        let manifest: Self = serde_json::from_slice(text)?;
        let is_plain = |path: &Path| {
            let plain = |part| matches!(part, std::path::Component::Normal(_));
            path.file_name().is_some() && path.components().all(plain)
        };
        let is_fine = |entry: &Entry| is_plain(&entry.path) && is_digest(&entry.digest);
        match manifest.files.iter().find(|entry| !is_fine(entry)) {
            None => Ok(manifest),
            Some(entry) => {
                let message = format!("the list of files has the unusable entry {}", entry.path.display());
                Err(io::Error::new(io::ErrorKind::InvalidData, message))
            }
        }
    }
}

/// Digest and size of a file.
///
/// # Errors
/// The file cannot be read.
pub fn digest(path: &Path) -> io::Result<(String, u64)> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok((hasher.finalize().to_hex().to_string(), hasher.count()))
}

/// Is it a digest as this module writes it? Digests become names of files.
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_only_files_of_its_folder() {
        let check = |path: &str, digest: &str, is_fine: bool| {
            let entry = Entry { path: path.into(), bytes: 1, digest: digest.to_owned(), at: "/x".into() };
            let (_, text) = Manifest { files: vec![entry] }.text().unwrap();
            assert_eq!(Manifest::read(&text).is_ok(), is_fine, "{path} {digest}");
        };
        let digest = "0".repeat(64);
        check("a/b.csv", &digest, true);
        for path in ["/etc/passwd", "../x", "a/../../x", ".", ""] {
            check(path, &digest, false);
        }
        for digest in ["", "../../x", &"G".repeat(64), &"A".repeat(64)] {
            check("a", digest, false);
        }
    }
}

//! The program's side of file transfer: sends data to a runner, and receives what its scripts write.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mle_star_domain::trouble::Trouble;
use mle_star_tables::input::Data;
use tokio::io::AsyncWriteExt;

use super::RemoteJob;
use crate::runners::manifest::Manifest;
use crate::runners::protocol::{CHUNK_BYTES, Stream, ToRunner, Written, compressed, decompressed};
use crate::runners::wire::{Gone, Outbox};
use crate::script::in_background;

/// The longest output of a script in one stream that is kept, in bytes. A runner sends less.
const MAX_OUTPUT_BYTES: u64 = 128 << 20;

/// Data that runners can be given.
#[derive(Debug)]
pub struct Source {
    /// The digest of the manifest, which names the data.
    data: String,
    /// The manifest as JSON.
    list: Vec<u8>,
    /// The files by the digests of their content.
    paths: HashMap<String, PathBuf>,
    /// Why this machine could not send a file.
    unreadable: OnceLock<String>,
}

impl Source {
    /// Reads the data, to name it by its content.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn new(data: &Data) -> io::Result<Self> {
        let manifest = Manifest::of(data)?;
        let (data, list) = manifest.text()?;
        let paths = manifest.files.into_iter().map(|entry| (entry.digest, entry.at)).collect();
        Ok(Self { data, list, paths, unreadable: OnceLock::new() })
    }

    /// Why this machine could not read a file that a runner wanted; `None` if there was none.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.get().map(String::as_str)
    }

    fn cannot_be_read(&self, digest: &str, error: &io::Error) -> String {
        let path = self.paths.get(digest).map_or_else(String::new, |path| format!(" {}", path.display()));
        let why = format!("this machine cannot read{path}, which a runner needs: {error}");
        self.unreadable.get_or_init(|| why).clone()
    }

    /// The digest that names the data.
    pub fn data(&self) -> &str {
        &self.data
    }

    fn open(&self, digest: &str, from: u64) -> io::Result<Box<dyn Read + Send>> {
        if digest == self.data {
            let from = usize::try_from(from).unwrap_or(usize::MAX).min(self.list.len());
            return Ok(Box::new(io::Cursor::new(self.list[from..].to_vec())));
        }
        let path = self.paths.get(digest).ok_or(io::ErrorKind::NotFound)?;
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        Ok(Box::new(file))
    }
}

/// Sends the files that a runner needs: for each digest, the bytes after those that it has.
pub(super) async fn send(source: Arc<Source>, files: Vec<(String, u64)>, out: Outbox) {
    for (digest, have) in files {
        match send_file(&source, &digest, have, &out).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let why = source.cannot_be_read(&digest, &error);
                out.send(&ToRunner::Unreadable { digest, why }, &[]);
            }
            Err(Gone) => return,
        }
    }
}

async fn send_file(
    source: &Arc<Source>,
    digest: &str,
    have: u64,
    out: &Outbox,
) -> Result<io::Result<()>, Gone> {
    let mut offset = have;
    let mut file: Option<Box<dyn Read + Send>> = None;
    loop {
        let (source, name) = (Arc::clone(source), digest.to_owned());
        let next = in_background(move || {
            let mut file = file.map_or_else(|| source.open(&name, offset), Ok)?;
            let mut piece = Vec::with_capacity(CHUNK_BYTES);
            file.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut piece)?;
            io::Result::Ok((compressed(&piece)?, piece.len(), file))
        });
        let (piece, length, rest) = match next.await.map_err(io::Error::other).flatten() {
            Ok(next) => next,
            Err(error) => return Ok(Err(error)),
        };
        let is_last = length < CHUNK_BYTES;
        out.send_bulk(&ToRunner::Piece { digest: digest.to_owned(), offset, is_last }, &piece).await?;
        if is_last {
            return Ok(Ok(()));
        }
        offset += length as u64;
        file = Some(rest);
    }
}

/// The output and the files of a script as they arrive.
pub(super) struct ReceivedFiles {
    /// Standard output and standard error: the log file, and its bytes so far.
    logs: [(PathBuf, tokio::fs::File, u64); 2],
    folder: PathBuf,
    /// The files of which something has arrived, by name.
    files: HashMap<String, PartialFile>,
    /// How many bytes of each wanted file may still come.
    left: HashMap<String, u64>,
}

/// A file that arrives in pieces.
struct PartialFile {
    file: File,
    hasher: blake3::Hasher,
}

impl ReceivedFiles {
    pub(super) fn new(remote: &RemoteJob<'_>) -> Result<Self, Trouble> {
        let open = |path: &PathBuf| {
            let file = File::create(path).map_err(|error| Trouble::io("write", path, &error))?;
            Ok::<_, Trouble>((path.clone(), tokio::fs::File::from_std(file), 0))
        };
        let [out, err] = &remote.logs;
        // An interrupted process may have left it.
        let _ = fs::remove_dir_all(&remote.folder);
        fs::create_dir_all(&remote.folder).map_err(|error| Trouble::io("create", &remote.folder, &error))?;
        let left = remote.outputs.iter().map(|(name, most)| ((*name).to_owned(), *most)).collect();
        let (logs, folder) = ([open(out)?, open(err)?], remote.folder.clone());
        Ok(Self { logs, folder, files: HashMap::new(), left })
    }

    pub(super) async fn output(&mut self, stream: Stream, is_new: bool, bytes: &[u8]) -> Result<(), String> {
        let (path, file, length) = &mut self.logs[usize::from(stream == Stream::Stderr)];
        // A script that is started again begins anew.
        *length = if is_new { 0 } else { *length } + bytes.len() as u64;
        if *length > MAX_OUTPUT_BYTES {
            return Err("it sent more output than a script may have".to_owned());
        }
        let write = async {
            if is_new {
                file.set_len(0).await?;
                tokio::io::AsyncSeekExt::rewind(file).await?;
            }
            file.write_all(bytes).await?;
            file.flush().await
        };
        write.await.map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    pub(super) async fn file(&mut self, name: &str, piece: Vec<u8>) -> Result<(), String> {
        let left = self.left.get_mut(name).ok_or_else(|| format!("it sent the file {name:?}"))?;
        let mut arriving = match self.files.remove(name) {
            Some(arriving) => arriving,
            None => {
                let path = self.folder.join(name);
                let file = File::create_new(&path)
                    .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
                PartialFile { file, hasher: blake3::Hasher::new() }
            }
        };
        let write = in_background(move || {
            let piece = decompressed(&piece)?;
            arriving.hasher.update(&piece);
            arriving.file.write_all(&piece)?;
            io::Result::Ok((arriving, piece.len() as u64))
        });
        let (arriving, length) = write
            .await
            .map_err(io::Error::other)
            .flatten()
            .map_err(|error| format!("cannot keep {name}: {error}"))?;
        *left = left.checked_sub(length).ok_or_else(|| format!("it sent too much of {name}"))?;
        self.files.insert(name.to_owned(), arriving);
        Ok(())
    }

    /// Checks that the files are those that the script wrote.
    pub(super) fn end(self, written: Vec<(String, Written)>) -> Result<Received, String> {
        let Self { folder, files, .. } = self;
        let received = Received { folder, files: written.into_iter().collect() };
        for (name, arriving) in &files {
            let digest = arriving.hasher.finalize().to_hex();
            match received.files.get(name) {
                Some(Written::File { digest: expected, .. }) if *expected == *digest.as_str() => {}
                _ => return Err(format!("{name} is not what it should be")),
            }
        }
        let empty = blake3::hash(b"").to_hex();
        for (name, written) in &received.files {
            let Written::File { digest, .. } = written else { continue };
            let is_plain = Path::new(name).components().count() == 1;
            if !files.contains_key(name) {
                if *digest != *empty.as_str() || !is_plain {
                    return Err(format!("{name} did not arrive"));
                }
                File::create(received.folder.join(name)).map_err(|error| error.to_string())?;
            }
        }
        Ok(received)
    }
}

/// The files that a script wrote on a runner. Removed when dropped.
#[derive(Debug)]
pub struct Received {
    folder: PathBuf,
    files: HashMap<String, Written>,
}

impl Received {
    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file with this name, if the script wrote it, or a sentence that says why it is not accepted.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn output(&self, name: &str) -> io::Result<Result<Option<File>, String>> {
        match self.files.get(name) {
            None => Ok(Ok(None)),
            Some(Written::Refused(why)) => Ok(Err(why.chars().take(500).collect())),
            Some(Written::File { .. }) => File::open(self.folder.join(name)).map(|file| Ok(Some(file))),
        }
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        // If it cannot be removed now, it is removed before the same place runs again.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runners::protocol::{Frames, MAX_IDLE};
    use crate::runners::wire::channel;

    #[tokio::test]
    async fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("train.csv");
        fs::write(&file, "x\n1\n").unwrap();
        let source = Arc::new(Source::new(&Data::new(folder.path().to_owned(), &[]).unwrap()).unwrap());
        let digest = source.paths.keys().next().unwrap().clone();
        fs::remove_file(&file).unwrap();
        let ((out, written), (sink, from)) = (channel(), tokio::io::duplex(1 << 16));
        assert_eq!(source.unreadable(), None);
        send(Arc::clone(&source), vec![(digest.clone(), 0)], out).await;
        tokio::spawn(written.write_to(sink, ToRunner::Bye));
        let mut frames = Frames::new(from);
        let why = loop {
            match tokio::time::timeout(MAX_IDLE, frames.next(|| ())).await.unwrap().unwrap().unwrap().0 {
                ToRunner::Unreadable { why, .. } => break why,
                _ => continue,
            }
        };
        assert!(why.starts_with(&format!("this machine cannot read {}", file.display())), "{why}");
        assert_eq!(source.unreadable(), Some(&*why));
    }
}

//! The runner's side of data transfer: receives the files of a run, by digest, from the program into the local cache.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OnceCell, mpsc};

use super::super::cache::{Claim, IncomingFile, View};
use super::super::manifest::{Manifest, is_digest};
use super::super::protocol::{FromRunner, decompressed};
use super::{Server, lock};
use crate::script::in_background;

/// How many files are asked for at a time. Each is open while it arrives.
const MAX_FILES_IN_FLIGHT: usize = 200;
/// How many chunks of files wait to be written.
const CHANNEL_CAPACITY: usize = 8;
/// How often to try to prepare data, if files vanish or turn out to be damaged meanwhile.
const MAX_ATTEMPTS: usize = 3;
/// Data of more bytes than this is announced before it is received.
const PROGRESS_THRESHOLD_BYTES: u64 = 16 << 20;
/// How often to look whether another runner has received a file.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Data that was asked for: its folder once it is there.
pub(super) type PreparedData = OnceCell<Arc<CachedData>>;

/// Data in the local cache, where scripts can read it.
#[derive(Debug)]
pub(super) struct CachedData {
    pub(super) view: View,
    pub(super) manifest: Manifest,
}

/// A chunk of a file: where it begins, its compressed bytes, whether it is the last; or why there are no more.
type ChunkResult = Result<(u64, Vec<u8>, bool), String>;

/// The files that are being received, by digest, with whoever writes them.
#[derive(Debug, Default)]
pub(super) struct PendingDownloads(Mutex<HashMap<String, mpsc::Sender<(String, ChunkResult)>>>);

impl PendingDownloads {
    /// Passes a chunk on to whoever waits for it.
    pub(super) async fn deliver_chunk(&self, digest: &str, piece: (u64, Vec<u8>, bool)) {
        self.pass(digest, Ok(piece)).await;
    }

    /// Tells whoever waits for a file that it does not come.
    pub(super) async fn fail_download(&self, digest: &str, why: String) {
        self.pass(digest, Err(why)).await;
    }

    async fn pass(&self, digest: &str, arrived: ChunkResult) {
        let receiver = lock(&self.0).get(digest).cloned();
        if let Some(receiver) = receiver {
            // Whoever waited may have failed on an earlier chunk.
            let _ = receiver.send((digest.to_owned(), arrived)).await;
        }
    }
}

impl Server {
    pub(super) fn spawn_prepare(self: &Arc<Self>, data: String) {
        let server = Arc::clone(self);
        tokio::spawn(async move {
            let cell = Arc::clone(lock(&server.data).entry(data.clone()).or_default());
            let prepared = cell.get_or_try_init(|| server.prepare_data(&data)).await;
            let message = match prepared {
                Ok(_) => FromRunner::Ready { data },
                Err(error) => FromRunner::NoData { data, message: error.to_string() },
            };
            server.out.send(&message, &[]);
        });
    }

    /// The data with this digest, if it is there.
    pub(super) fn cached_data(&self, data: &str) -> Option<Arc<CachedData>> {
        lock(&self.data).get(data)?.get().cloned()
    }

    /// Data that a script changed is not used again.
    pub(super) fn forget(&self, data: &str, ready: &CachedData) {
        lock(&self.data).remove(data);
        // If files stay, the check of their size or digest finds them, or no run asks for them again.
        let _ = self.cache.forget(data, &ready.manifest);
    }

    async fn prepare_data(&self, data: &str) -> io::Result<Arc<CachedData>> {
        if !is_digest(data) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the data has no usable digest"));
        }
        let mut tries = 1;
        loop {
            match self.try_to_prepare(data).await {
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < MAX_ATTEMPTS => tries += 1,
                prepared => return prepared,
            }
        }
    }

    async fn try_to_prepare(&self, data: &str) -> io::Result<Arc<CachedData>> {
        let list = vec![data.to_owned()];
        self.fetch(data, list).await?;
        let (cache, name) = (self.cache.clone(), data.to_owned());
        let list_missing = move || {
            let lock = cache.hold(&name)?;
            let manifest = cache.list(&name)?;
            let (mut missing, mut bytes) = (Vec::new(), 0);
            let mut seen = HashSet::new();
            for entry in &manifest.files {
                if seen.insert(&entry.digest)
                    && !cache.in_place(entry)
                    && let Some(rest) = cache.missing(entry)?
                {
                    missing.push(entry.digest.clone());
                    bytes += rest;
                }
            }
            cache.make_room(bytes, &manifest)?;
            Ok((lock, manifest, missing, bytes))
        };
        let (lock, manifest, missing, bytes) = run_blocking(list_missing).await?;
        if bytes > PROGRESS_THRESHOLD_BYTES {
            let text = format!("receives {} MiB of data", bytes >> 20);
            self.out.send(&FromRunner::Progress { text }, &[]);
        }
        for digests in missing.chunks(MAX_FILES_IN_FLIGHT) {
            self.fetch(data, digests.to_vec()).await?;
        }
        let (cache, data) = (self.cache.clone(), data.to_owned());
        run_blocking(move || {
            let view = cache.view(&data, &manifest, lock)?;
            Ok(Arc::new(CachedData { view, manifest }))
        })
        .await
    }

    /// Receives files, each from the program or by waiting until another runner of this machine has received it.
    async fn fetch(&self, data: &str, mut digests: Vec<String>) -> io::Result<()> {
        loop {
            let (cache, wanted) = (self.cache.clone(), digests);
            let claim = move || {
                let (mut mine, mut busy) = (BTreeMap::new(), Vec::new());
                for digest in wanted {
                    match cache.claim(&digest)? {
                        Claim::Have => {}
                        Claim::Mine(incoming) => drop(mine.insert(digest, *incoming)),
                        Claim::Busy => busy.push(digest),
                    }
                }
                Ok((mine, busy))
            };
            let (mine, busy) = run_blocking(claim).await?;
            if !mine.is_empty() {
                self.receive(data, mine).await?;
            } else if !busy.is_empty() {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            if busy.is_empty() {
                return Ok(());
            }
            digests = busy;
        }
    }

    /// Receives the claimed files from the program.
    async fn receive(&self, data: &str, mut files: BTreeMap<String, IncomingFile>) -> io::Result<()> {
        let (sender, mut chunks) = mpsc::channel::<(String, ChunkResult)>(CHANNEL_CAPACITY);
        let wanted: Vec<(String, u64)> =
            files.iter().map(|(digest, file)| (digest.clone(), file.have())).collect();
        for (digest, _) in &wanted {
            lock(&self.arrivals.0).insert(digest.clone(), sender.clone());
        }
        drop(sender);
        let needs = FromRunner::Need { data: data.to_owned(), files: wanted.clone() };
        self.out.send(&needs, &[]);
        let write = move || {
            while !files.is_empty() {
                let Some((digest, arrived)) = chunks.blocking_recv() else {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                };
                let (offset, piece, is_last) = arrived.map_err(io::Error::other)?;
                let Some(file) = files.get_mut(&digest) else { continue };
                if file.add(offset, &decompressed(&piece)?, is_last)? {
                    files.remove(&digest);
                }
            }
            Ok(())
        };
        let written = run_blocking(write).await;
        let mut arrivals = lock(&self.arrivals.0);
        wanted.iter().for_each(|(digest, _)| drop(arrivals.remove(digest)));
        written
    }
}

/// Runs blocking work on another thread.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    in_background(work).await.map_err(io::Error::other)?
}

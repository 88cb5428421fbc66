//! The runner's side of one job: runs a script, and sends its output and files to the program.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mle_star_process::disk;
use tokio::sync::{oneshot, watch};

use super::super::protocol::{CHUNK_BYTES, Ended, FromRunner, ScriptOrder, Stream, Written, compressed};
use super::super::wire::{Gone, Outbox};
use super::{Server, lock};
use crate::script::executor::{Job, Workplace};
use crate::script::in_background;

/// A piece of a file.
type Piece = Vec<u8>;

impl Server {
    pub(super) fn spawn_script(self: &Arc<Self>, order: ScriptOrder, script: Vec<u8>) {
        let (server, job) = (Arc::clone(self), order.job);
        let (registered, starts) = oneshot::channel::<()>();
        let running = tokio::spawn(async move {
            // It can be cancelled from its first moment.
            if starts.await.is_err() {
                return;
            }
            let message = match server.run_script(&order, script).await {
                Ok(Ok(ended)) => FromRunner::Ended(Box::new(ended)),
                Ok(Err(message)) => FromRunner::Failed { job, message },
                Err(Gone) => return,
            };
            // In order, after its output.
            let _ = server.out.send_bulk(&message, &[]).await;
            lock(&server.jobs).remove(&job);
        });
        lock(&self.jobs).insert(job, running.abort_handle());
        // It waits for this.
        let _ = registered.send(());
    }

    async fn run_script(&self, order: &ScriptOrder, script: Vec<u8>) -> Result<Result<Ended, String>, Gone> {
        let Some((run, data)) = self.run(order.run).zip(self.cached_data(&order.data)) else {
            return Ok(Err("its run or its data is not prepared".to_owned()));
        };
        let Ok(script) = String::from_utf8(script) else { return Ok(Err("it is not text".to_owned())) };
        let shown = match run.executor.prepare_input(&data.view.folder, &run.closed) {
            Ok(shown) => Arc::new(shown),
            Err(trouble) => return Ok(Err(trouble.message)),
        };
        // The program's names of files are not those of this machine.
        let stem = format!("job-{}", order.job);
        let (heard, hears) = watch::channel(0_u64);
        let job = Job {
            stem: stem.clone(),
            script,
            timeout: Duration::from_millis(order.timeout_ms),
            slot: order.slot,
            may_be_warm: order.may_be_warm,
            modules: order.modules.clone(),
            keeps_model: false,
            heard: Some(heard),
        };
        let logs =
            [Stream::Stdout, Stream::Stderr].map(|stream| (stream, run.executor.log(&stem, stream.name())));
        let _removed = RemoveOnDrop(logs.each_ref().map(|(_, file)| file.clone()));
        let executing = async {
            let executed = run.executor.execute(&job, Arc::clone(&shown)).await;
            // Closes the channel, so that whoever follows the output ends with it.
            drop(job);
            executed
        };
        let following = async {
            let [out, err] = &logs;
            let follow = |(stream, file): &(Stream, PathBuf)| {
                follow(order.job, *stream, file.clone(), hears.clone(), &self.out)
            };
            tokio::try_join!(follow(out), follow(err))
        };
        let (executed, followed) = tokio::join!(executing, following);
        followed?;
        let (executed, workplace) = match executed {
            Ok(executed) => executed,
            Err(trouble) => return Ok(Err(trouble.message)),
        };
        let files = self.send_files(order, &workplace).await?;
        let folder = self.folder.clone();
        let after = in_background(move || {
            drop(workplace);
            (shown.data.damage().is_some(), disk::left_if_full(&folder))
        });
        let Ok((changed_data, disk_left)) = after.await else {
            return Ok(Err("a background task failed".to_owned()));
        };
        if changed_data {
            self.forget(&order.data, &data);
        }
        Ok(Ok(Ended { job: order.job, executed, files, changed_data, disk_left }))
    }

    /// Sends the files that the script wrote, as far as they are wanted.
    async fn send_files(
        &self,
        order: &ScriptOrder,
        workplace: &Workplace,
    ) -> Result<Vec<(String, Written)>, Gone> {
        let mut files = Vec::new();
        for (name, most) in &order.outputs {
            let written = match workplace.output(name) {
                Ok(Ok(None)) => continue,
                Ok(Ok(Some(file))) => {
                    let bytes = file.metadata().map_or(0, |meta| meta.len());
                    match self.send_file(order.job, name, file.take(*most)).await? {
                        Ok(digest) => Written::File { bytes, digest },
                        Err(error) => Written::Refused(format!("{name} cannot be read: {error}")),
                    }
                }
                Ok(Err(refused)) => Written::Refused(refused),
                Err(error) => Written::Refused(format!("{name} cannot be opened: {error}")),
            };
            files.push((name.clone(), written));
        }
        Ok(files)
    }

    /// Returns the digest of what was sent.
    async fn send_file(
        &self,
        job: u64,
        name: &str,
        mut file: io::Take<File>,
    ) -> Result<io::Result<String>, Gone> {
        let mut hasher = blake3::Hasher::new();
        loop {
            let next = in_background(move || -> io::Result<(io::Take<File>, Piece, Piece)> {
                let mut piece = Vec::with_capacity(CHUNK_BYTES);
                file.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut piece)?;
                let packed = compressed(&piece)?;
                Ok((file, piece, packed))
            });
            let (rest, piece, packed) = match next.await {
                Ok(Ok(next)) => next,
                Ok(Err(error)) => return Ok(Err(error)),
                Err(trouble) => return Ok(Err(io::Error::other(trouble))),
            };
            if piece.is_empty() {
                return Ok(Ok(hasher.finalize().to_hex().to_string()));
            }
            file = rest;
            hasher.update(&piece);
            self.out.send_bulk(&FromRunner::File { job, name: name.to_owned() }, &packed).await?;
        }
    }
}

/// Removes the logs of a script when it has ended.
struct RemoveOnDrop([PathBuf; 2]);

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        for file in &self.0 {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Sends what a script prints, at the speed at which it can be sent, until nobody can print any more.
async fn follow(
    job: u64,
    stream: Stream,
    file: PathBuf,
    mut hears: watch::Receiver<u64>,
    out: &Outbox,
) -> Result<(), Gone> {
    let (mut sent, mut is_new) = (0, false);
    loop {
        let is_last = hears.changed().await.is_err();
        hears.mark_unchanged();
        loop {
            let (path, from) = (file.clone(), sent);
            let Ok((from, piece)) = in_background(move || next_chunk(&path, from)).await else { break };
            if from < sent {
                (sent, is_new) = (from, true);
            }
            if piece.is_empty() {
                break;
            }
            sent += piece.len() as u64;
            out.send_bulk(&FromRunner::Output { job, stream, is_new }, &piece).await?;
            is_new = false;
            // More would be heard.
            if piece.len() < CHUNK_BYTES {
                break;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// The next piece of a file from here, and where it begins: a script that is started again writes its log anew.
fn next_chunk(file: &Path, from: u64) -> (u64, Piece) {
    let read = || -> io::Result<(u64, Piece)> {
        let mut file = File::open(file)?;
        let from = if file.metadata()?.len() < from { 0 } else { from };
        file.seek(SeekFrom::Start(from))?;
        let mut piece = Vec::new();
        file.take(CHUNK_BYTES as u64).read_to_end(&mut piece)?;
        Ok((from, piece))
    };
    read().unwrap_or_default()
}

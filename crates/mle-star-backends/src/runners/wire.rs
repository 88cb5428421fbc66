//! What both sides of a connection do: write frames in order, show that they are there, and notice when the other is
//! gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::protocol::{PING_INTERVAL, frame};

/// Capacity of the queue of frames that carry pieces of files.
const BULK_QUEUE: usize = 4;

/// Sends frames. Clones send to the same side.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    /// Frames that are written first.
    soon: mpsc::UnboundedSender<Vec<u8>>,
    /// Frames with pieces of files, in a short queue.
    bulk: mpsc::Sender<Vec<u8>>,
}

/// The frames that [`Outbox`] has sent and that are still to be written.
#[derive(Debug)]
pub(super) struct FrameQueue {
    soon: mpsc::UnboundedReceiver<Vec<u8>>,
    bulk: mpsc::Receiver<Vec<u8>>,
}

/// When the last bytes from the other side arrived. Clones share the value.
#[derive(Clone, Debug)]
pub(super) struct LastHeard(Arc<Mutex<Instant>>);

/// The other side is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone;

/// The value in a mutex, whatever became of its last holder.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A sender of frames, and the frames to write.
pub(super) fn channel() -> (Outbox, FrameQueue) {
    let (soon, soon_from) = mpsc::unbounded_channel();
    let (bulk, bulk_from) = mpsc::channel(BULK_QUEUE);
    (Outbox { soon, bulk }, FrameQueue { soon: soon_from, bulk: bulk_from })
}

impl Outbox {
    /// Sends a message before all pieces of files that wait. One that is too long is not sent.
    pub(super) fn send<M: Serialize>(&self, message: &M, bytes: &[u8]) {
        if let Ok(frame) = frame(message, bytes) {
            // If the other side is gone, the reader notices.
            let _ = self.soon.send(frame);
        }
    }

    /// Sends one of many messages, in order. Waits until there is room in their queue.
    pub(super) async fn send_bulk<M: Serialize>(&self, message: &M, bytes: &[u8]) -> Result<(), Gone> {
        let frame = frame(message, bytes).map_err(|_| Gone)?;
        self.bulk.send(frame).await.map_err(|_| Gone)
    }
}

impl FrameQueue {
    /// Writes the frames, and `alive` at each [`PING_INTERVAL`]. Returns when nothing more can be sent or written.
    pub(super) async fn write_to<M: Serialize>(mut self, mut sink: impl AsyncWrite + Unpin, alive: M) {
        let mut beat = interval(PING_INTERVAL);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let frame = tokio::select! {
                biased;
                frame = self.soon.recv() => frame,
                _ = beat.tick() => frame(&alive, &[]).ok(),
                frame = self.bulk.recv() => frame,
            };
            let Some(frame) = frame else { return };
            if sink.write_all(&frame).await.is_err() || sink.flush().await.is_err() {
                return;
            }
        }
    }
}

impl LastHeard {
    pub(super) fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// Notes that bytes arrived now.
    pub(super) fn note_arrival(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Runs `work`, during which this side does not read frames, without counting that time as silence of the other
    /// side.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let mut beat = interval(PING_INTERVAL);
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = beat.tick() => self.note_arrival(),
            }
        }
    }

    /// Waits until nothing has arrived for this long.
    pub(super) async fn wait_for_silence(&self, limit: Duration) {
        loop {
            let since = self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
            if since >= limit {
                return;
            }
            tokio::time::sleep(limit.saturating_sub(since)).await;
        }
    }
}

//! Work behind a queue, so that a slow or stuck reader does not block a run.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// A thread and its queue.
pub struct Queue<T> {
    fed: Mutex<Option<(Sender<T>, JoinHandle<()>)>>,
}

impl<T: Send + 'static> Queue<T> {
    /// Starts the work, which lasts until the queue is closed. If the system cannot start a thread, items are lost.
    pub fn new(work: impl FnOnce(&Receiver<T>) + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(move || work(&receiver));
        Self { fed: Mutex::new(thread.ok().map(|thread| (sender, thread))) }
    }

    /// Queues an item.
    pub fn send(&self, item: T) {
        if let Some((sender, _)) = &*self.fed.lock().unwrap_or_else(PoisonError::into_inner) {
            // Fails if the work panicked, which was reported.
            let _ = sender.send(item);
        }
    }
}

impl<T> Queue<T> {
    /// Closes the queue and waits until every item is processed.
    pub fn finish(&self) {
        let fed = self.fed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = fed {
            drop(sender);
            // As above.
            let _ = thread.join();
        }
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        self.finish();
    }
}

//! Processes started before their call, so that the call does not wait for the start.
//!
//! A process that is never used costs memory and some CPU time but no request: `claude` sends nothing before it
//! has a prompt. The number of processes is bounded; a new one replaces the oldest.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::child::Child;
use crate::invocation::Invocation;

/// Idle processes, oldest first.
pub(crate) struct Prefetched {
    most: usize,
    idle: Mutex<VecDeque<Child>>,
}

impl Prefetched {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, idle: Mutex::default() }
    }

    /// Takes an idle process that serves this invocation.
    pub(crate) fn take(&self, invocation: &Invocation) -> Option<Child> {
        let found = {
            let mut idle = self.idle();
            let position = idle.iter().position(|child| child.invocation.serves(invocation))?;
            idle.remove(position)?
        };
        if found.is_alive() {
            return Some(found);
        }
        drop_in_background(found);
        None
    }

    /// Starts a process unless an idle one serves this invocation. It replaces one with another budget.
    pub(crate) fn start(&self, invocation: Invocation, start: impl FnOnce(Invocation) -> Option<Child>) {
        let outdated = {
            let mut idle = self.idle();
            if idle.iter().any(|child| child.invocation.serves(&invocation)) {
                return;
            }
            let position = idle.iter().position(|child| child.invocation.alike == invocation.alike);
            position.and_then(|position| idle.remove(position))
        };
        outdated.into_iter().for_each(drop_in_background);
        let Some(child) = start(invocation) else { return };
        let evicted = {
            let mut idle = self.idle();
            idle.push_back(child);
            if idle.len() > self.most { idle.pop_front() } else { None }
        };
        if let Some(evicted) = evicted {
            drop_in_background(evicted);
        }
    }

    /// Hold the guard for one statement or block only: every call takes it.
    fn idle(&self) -> MutexGuard<'_, VecDeque<Child>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ending a process blocks for a moment, which must not delay the calls in progress.
fn drop_in_background(child: Child) {
    tokio::task::spawn_blocking(move || drop(child));
}

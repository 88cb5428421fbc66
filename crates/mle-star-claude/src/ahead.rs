//! Processes started before their call comes, so that the call does not wait for their start.
//!
//! One that is never needed has cost memory and a moment of a core, and no request: `claude` asks nothing
//! before it has a prompt. There are never more than a fixed number; the oldest makes room.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::command::Invocation;
use crate::process::Process;

/// Waiting processes, oldest first.
pub(crate) struct Ahead {
    most: usize,
    waiting: Mutex<VecDeque<Process>>,
}

impl Ahead {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, waiting: Mutex::default() }
    }

    /// The waiting process that was started just so.
    pub(crate) fn take(&self, invocation: &Invocation) -> Option<Process> {
        let found = {
            let mut waiting = self.waiting();
            let position = waiting.iter().position(|process| process.invocation == *invocation)?;
            waiting.remove(position)?
        };
        if found.is_alive() {
            return Some(found);
        }
        end_elsewhere(found);
        None
    }

    /// Starts a process unless it waits already.
    pub(crate) fn prepare(&self, invocation: Invocation, start: impl FnOnce(Invocation) -> Option<Process>) {
        if self.waiting().iter().any(|process| process.invocation == invocation) {
            return;
        }
        let Some(process) = start(invocation) else { return };
        let evicted = {
            let mut waiting = self.waiting();
            waiting.push_back(process);
            if waiting.len() > self.most { waiting.pop_front() } else { None }
        };
        if let Some(evicted) = evicted {
            end_elsewhere(evicted);
        }
    }

    /// Hold it for one statement or block only.
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Process>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a process takes a moment, in which the calls under way go on.
fn end_elsewhere(process: Process) {
    tokio::task::spawn_blocking(move || drop(process));
}

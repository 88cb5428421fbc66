//! Limits how many scripts run and how many agents work at the same time.
//!
//! All runs of a process share [`Slots`]. Each run has a [`Share`] and waits for a [`Lease`]. The next free slot
//! goes to the run with the fewest leases, so that a run with many paths does not starve the others. Among equal
//! runs it goes to the one that has waited longest since its last lease, and within the run to the path that has.
//! Dropping a lease returns its slot.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A fixed number of slots. Clones share them.
#[derive(Clone)]
pub struct Slots(Arc<Pool>);

struct Pool {
    count: usize,
    state: Mutex<State>,
}

/// One run's share of [`Slots`].
pub(crate) struct Share {
    slots: Slots,
    run: usize,
    most: usize,
}

/// Whether other leases may exist at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exclusivity {
    /// Yes, as many as there are slots.
    Shared,
    /// No.
    Exclusive,
}

/// One slot, returned on drop.
pub(crate) struct Lease {
    slots: Slots,
    run: usize,
    index: usize,
}

/// A request in the queue, removed on drop.
struct Queued<'a> {
    slots: &'a Slots,
    ticket: u64,
}

#[derive(Default)]
struct State {
    free: Vec<usize>,
    /// For each slot: whether another slot has been in use since it was leased.
    overlapped: Vec<bool>,
    /// Whether an exclusive lease is held.
    exclusive: bool,
    queue: Vec<Waiting>,
    runs: Vec<Client>,
    /// Counts requests and leases.
    clock: u64,
    /// The ticket of an exclusive request whose turn it is: no other request is served before it.
    next_exclusive: Option<u64>,
}

struct Waiting {
    ticket: u64,
    run: usize,
    path: Option<usize>,
    exclusivity: Exclusivity,
    grant: oneshot::Sender<Lease>,
}

/// The queue's record of a run. Times are values of the request counter.
#[derive(Default)]
struct Client {
    held: usize,
    most: usize,
    served: u64,
    paths_served: BTreeMap<Option<usize>, u64>,
}

impl Slots {
    /// `count` slots, at least one.
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        let (free, overlapped) = ((0..count).rev().collect(), vec![false; count]);
        Self(Arc::new(Pool { count, state: Mutex::new(State { free, overlapped, ..State::default() }) }))
    }

    /// The number of slots.
    pub fn count(&self) -> usize {
        self.0.count
    }

    /// The share of another run, which holds at most `most` slots at a time.
    pub(crate) fn share(&self, most: usize) -> Share {
        let most = most.clamp(1, self.count());
        let mut state = self.state();
        state.runs.push(Client { most, ..Client::default() });
        Share { slots: self.clone(), run: state.runs.len() - 1, most }
    }

    /// Serves every request that can be served now.
    fn serve(&self) {
        loop {
            let Some((index, waiting)) = self.state().next() else { return };
            let lease = Lease { slots: self.clone(), run: waiting.run, index };
            // When the receiver is gone, this drops the lease, which returns the slot.
            drop(waiting.grant.send(lease));
        }
    }

    /// Hold the guard for one statement only.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// The maximum number of slots that the run can hold.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Waits for a slot on behalf of one of the run's paths.
    pub async fn lease(&self, path: Option<usize>, exclusivity: Exclusivity) -> Lease {
        let (grant, granted) = oneshot::channel();
        let ticket =
            self.slots.state().enqueue(|ticket| Waiting { ticket, run: self.run, path, exclusivity, grant });
        let _queued = Queued { slots: &self.slots, ticket };
        self.slots.serve();
        match granted.await {
            Ok(lease) => lease,
            // Only a request that left the queue loses its sender.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Lease {
    /// The number of the slot, from 0. No two leases share one.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether any other slot has been in use since this one was leased.
    pub fn overlapped(&self) -> bool {
        self.slots.state().overlapped[self.index]
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.slots.state().take_back(self.run, self.index);
        self.slots.serve();
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        if self.slots.state().leave(self.ticket) {
            self.slots.serve();
        }
    }
}

impl State {
    fn enqueue(&mut self, waiting: impl FnOnce(u64) -> Waiting) -> u64 {
        self.clock += 1;
        self.queue.push(waiting(self.clock));
        self.clock
    }

    /// Returns whether the request was still waiting.
    fn leave(&mut self, ticket: u64) -> bool {
        let before = self.queue.len();
        self.queue.retain(|waiting| waiting.ticket != ticket);
        self.next_exclusive = self.next_exclusive.filter(|next| *next != ticket);
        self.queue.len() < before
    }

    /// Takes the next request out of the queue, with its slot; `None` when no request can be served.
    fn next(&mut self) -> Option<(usize, Waiting)> {
        let position = self.first_in_turn()?;
        let waiting = &self.queue[position];
        if waiting.exclusivity == Exclusivity::Exclusive && self.free.len() < self.overlapped.len() {
            self.next_exclusive = Some(waiting.ticket);
            return None;
        }
        let index = self.free.pop()?;
        let waiting = self.queue.swap_remove(position);
        self.next_exclusive = None;
        self.exclusive = waiting.exclusivity == Exclusivity::Exclusive;
        self.lend(index, &waiting);
        Some((index, waiting))
    }

    fn first_in_turn(&self) -> Option<usize> {
        if self.exclusive || self.free.is_empty() {
            return None;
        }
        let turn = |waiting: &Waiting| {
            let run = &self.runs[waiting.run];
            let path_served = run.paths_served.get(&waiting.path).copied().unwrap_or_default();
            (Some(waiting.ticket) != self.next_exclusive, run.held, run.served, path_served, waiting.ticket)
        };
        let may = |waiting: &&Waiting| self.runs[waiting.run].held < self.runs[waiting.run].most;
        let first = self.queue.iter().filter(may).min_by_key(|waiting| turn(waiting))?.ticket;
        self.queue.iter().position(|waiting| waiting.ticket == first)
    }

    fn lend(&mut self, index: usize, waiting: &Waiting) {
        self.clock += 1;
        let run = &mut self.runs[waiting.run];
        run.held += 1;
        run.served = self.clock;
        run.paths_served.insert(waiting.path, self.clock);
        self.overlapped[index] = false;
        if self.free.len() + 1 < self.overlapped.len() {
            self.overlapped.fill(true);
        }
    }

    fn take_back(&mut self, run: usize, index: usize) {
        self.runs[run].held -= 1;
        self.free.push(index);
        self.exclusive = false;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use futures_util::poll;

    use super::*;

    /// Requests (run, path, exclusivity) made at once, in this order. The leases are returned one at a time, oldest
    /// first. Gives runs and paths in the order in which they were served, with `|` before each return.
    async fn served(count: usize, most: &[usize], asked: &[(usize, usize, Exclusivity)]) -> String {
        let slots = Slots::new(count);
        let shares: Vec<Share> = most.iter().map(|most| slots.share(*most)).collect();
        let mut waiting: Vec<_> = asked
            .iter()
            .map(|(run, path, how)| ((*run, *path), Box::pin(shares[*run].lease(Some(*path), *how))))
            .collect();
        let (mut held, mut order) = (std::collections::VecDeque::new(), Vec::new());
        while !waiting.is_empty() || !held.is_empty() {
            let mut granted = Vec::new();
            for ((run, path), lease) in &mut waiting {
                if let Poll::Ready(lease) = poll!(lease) {
                    granted.push(((*run, *path), lease));
                }
            }
            waiting.retain(|(who, _)| granted.iter().all(|(granted, _)| granted != who));
            order.extend(granted.iter().map(|((run, path), _)| format!("{run}.{path}")));
            held.extend(granted);
            order.push("|".to_owned());
            assert!(held.pop_front().is_some(), "no request is served: {order:?}");
        }
        order.join(" ")
    }

    #[tokio::test]
    async fn slots_go_round_among_runs_and_then_among_paths() {
        use Exclusivity::{Exclusive, Shared};
        let check = async |count, most: &[usize], asked: &[(usize, usize, Exclusivity)], expected: &str| {
            assert_eq!(served(count, most, asked).await, expected, "{asked:?}");
        };
        let many = [(0, 0, Shared), (0, 1, Shared), (0, 2, Shared), (1, 0, Shared), (1, 1, Shared)];
        check(1, &[9], &many[..3], "0.0 | 0.1 | 0.2 |").await;
        check(1, &[9, 9], &many, "0.0 | 1.0 | 0.1 | 1.1 | 0.2 |").await;
        check(2, &[9, 9], &many, "0.0 0.1 | 1.0 | 0.2 | 1.1 | |").await;
        // A run limited to one slot leaves the other to the rest.
        check(2, &[1, 9], &many, "0.0 1.0 | 0.1 | 1.1 | 0.2 | |").await;
        // An exclusive request waits for the others to end, and no other request is served before it.
        let exclusive = [(0, 0, Shared), (1, 0, Exclusive), (0, 1, Shared), (0, 2, Shared)];
        check(2, &[9, 9], &exclusive, "0.0 | 1.0 | 0.1 0.2 | |").await;
        check(1, &[9], &[(0, 0, Exclusive), (0, 1, Shared)], "0.0 | 0.1 |").await;
    }

    #[tokio::test]
    async fn leases_are_distinct_and_come_back_however_they_go() {
        let slots = Slots::new(2);
        let share = slots.share(2);
        let lease = || share.lease(None, Exclusivity::Shared);
        let (a, b) = (lease().await, lease().await);
        assert_ne!(a.index(), b.index());
        let (freed, kept) = (a.index(), b.index());
        let mut first = Box::pin(lease());
        let mut second = pin!(lease());
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        drop(a);
        // Leased to the first, which is dropped before it takes the lease.
        drop(first);
        assert_eq!(second.await.index(), freed);
        assert_eq!(lease().await.index(), freed);
        // A dropped exclusive request stops blocking the others.
        let mut exclusive = Box::pin(share.lease(None, Exclusivity::Exclusive));
        assert!(poll!(&mut exclusive).is_pending());
        let mut behind = pin!(lease());
        assert!(poll!(&mut behind).is_pending());
        drop(exclusive);
        assert_ne!(behind.await.index(), kept);
    }

    #[tokio::test]
    async fn a_lease_knows_whether_it_overlapped_another() {
        let slots = Slots::new(2);
        let share = slots.share(2);
        let (a, alone) = (share.lease(None, Exclusivity::Shared).await, |lease: &Lease| !lease.overlapped());
        assert!(alone(&a));
        let b = share.lease(None, Exclusivity::Shared).await;
        drop(b);
        assert!(a.overlapped());
        drop(a);
        assert!(alone(&share.lease(None, Exclusivity::Shared).await));
    }
}

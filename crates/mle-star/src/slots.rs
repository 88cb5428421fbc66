//! What only so many may do at once in this process: run a script, ask an agent.
//!
//! [`Slots`] is shared by all runs of a process. Each run has a [`Share`] and waits for a [`Lease`]; the next free
//! slot goes to the run that holds fewest, among those to the one that was served longest ago, and within the run
//! to the path that was. A lease is given back when it is dropped, however that comes about.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A fixed number of slots; a clone is another handle to the same ones.
#[derive(Clone)]
pub struct Slots(Arc<Shared>);

struct Shared {
    count: usize,
    state: Mutex<State>,
}

/// What one run may use of [`Slots`].
pub(crate) struct Share {
    slots: Slots,
    run: usize,
    most: usize,
}

/// May others hold slots at the same time?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Company {
    /// As many as there are slots.
    Welcome,
    /// None at all.
    Excluded,
}

/// One slot, given back when dropped.
pub(crate) struct Lease {
    slots: Slots,
    run: usize,
    index: usize,
}

/// A place in the queue, given up when dropped.
struct Queued<'a> {
    slots: &'a Slots,
    ticket: u64,
}

#[derive(Default)]
struct State {
    free: Vec<usize>,
    /// By slot: has another one been in use since it was lent?
    company: Vec<bool>,
    /// The one lease there is excludes others.
    alone: bool,
    queue: Vec<Waiting>,
    runs: Vec<Client>,
    /// Counts what was asked and lent.
    clock: u64,
    /// The ticket of one that waits for company to leave: nobody else is served before it.
    next_alone: Option<u64>,
}

struct Waiting {
    ticket: u64,
    run: usize,
    path: Option<usize>,
    company: Company,
    grant: oneshot::Sender<Lease>,
}

/// A run as the queue sees it. Times are readings of the clock.
#[derive(Default)]
struct Client {
    held: usize,
    most: usize,
    served: u64,
    paths_served: BTreeMap<Option<usize>, u64>,
}

impl Slots {
    /// So many slots, at least one.
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        let (free, company) = ((0..count).rev().collect(), vec![false; count]);
        Self(Arc::new(Shared { count, state: Mutex::new(State { free, company, ..State::default() }) }))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.count
    }

    /// The access of one more run, which holds at most `most` slots at a time.
    pub(crate) fn share(&self, most: usize) -> Share {
        let most = most.clamp(1, self.count());
        let mut state = self.state();
        state.runs.push(Client { most, ..Client::default() });
        Share { slots: self.clone(), run: state.runs.len() - 1, most }
    }

    /// Serves whoever can be served now.
    fn serve(&self) {
        loop {
            let Some((index, waiting)) = self.state().next() else { return };
            let lease = Lease { slots: self.clone(), run: waiting.run, index };
            // Whoever has gone away meanwhile hands it back by not taking it.
            drop(waiting.grant.send(lease));
        }
    }

    /// Hold it for one statement only.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// How many slots the run can hold at a time.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Waits for a slot on behalf of one of the run's paths.
    pub async fn lease(&self, path: Option<usize>, company: Company) -> Lease {
        let (grant, granted) = oneshot::channel();
        let ticket =
            self.slots.state().enqueue(|ticket| Waiting { ticket, run: self.run, path, company, grant });
        let _queued = Queued { slots: &self.slots, ticket };
        self.slots.serve();
        match granted.await {
            Ok(lease) => lease,
            // Only a place that was given up loses its grant unanswered.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Lease {
    /// Which slot it is, from 0; no two leases have the same.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Has any other slot been in use since this one was lent?
    pub fn had_company(&self) -> bool {
        self.slots.state().company[self.index]
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

    /// Whether it was still waiting.
    fn leave(&mut self, ticket: u64) -> bool {
        let before = self.queue.len();
        self.queue.retain(|waiting| waiting.ticket != ticket);
        self.next_alone = self.next_alone.filter(|next| *next != ticket);
        self.queue.len() < before
    }

    /// Takes the one to be served now out of the queue, with its slot; `None` when nobody can be.
    fn next(&mut self) -> Option<(usize, Waiting)> {
        let position = self.first_in_turn()?;
        let waiting = &self.queue[position];
        if waiting.company == Company::Excluded && self.free.len() < self.company.len() {
            self.next_alone = Some(waiting.ticket);
            return None;
        }
        let index = self.free.pop()?;
        let waiting = self.queue.swap_remove(position);
        self.next_alone = None;
        self.alone = waiting.company == Company::Excluded;
        self.lend(index, &waiting);
        Some((index, waiting))
    }

    fn first_in_turn(&self) -> Option<usize> {
        if self.alone || self.free.is_empty() {
            return None;
        }
        let turn = |waiting: &Waiting| {
            let run = &self.runs[waiting.run];
            let path_served = run.paths_served.get(&waiting.path).copied().unwrap_or_default();
            (Some(waiting.ticket) != self.next_alone, run.held, run.served, path_served, waiting.ticket)
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
        self.company[index] = false;
        if self.free.len() + 1 < self.company.len() {
            self.company.fill(true);
        }
    }

    fn take_back(&mut self, run: usize, index: usize) {
        self.runs[run].held -= 1;
        self.free.push(index);
        self.alone = false;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use futures_util::poll;

    use super::*;

    /// What is asked for at once, in this order: run, path, company. What is lent is given back in the order of
    /// lending, one at a time; the runs and paths in the order in which they were served, `|` before each return.
    async fn served(count: usize, most: &[usize], asked: &[(usize, usize, Company)]) -> String {
        let slots = Slots::new(count);
        let shares: Vec<Share> = most.iter().map(|most| slots.share(*most)).collect();
        let mut waiting: Vec<_> = asked
            .iter()
            .map(|(run, path, company)| ((*run, *path), Box::pin(shares[*run].lease(Some(*path), *company))))
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
            assert!(held.pop_front().is_some(), "nobody is served: {order:?}");
        }
        order.join(" ")
    }

    #[tokio::test]
    async fn slots_go_round_among_runs_and_then_among_paths() {
        use Company::{Excluded, Welcome};
        let check = async |count, most: &[usize], asked: &[(usize, usize, Company)], expected: &str| {
            assert_eq!(served(count, most, asked).await, expected, "{asked:?}");
        };
        let many = [(0, 0, Welcome), (0, 1, Welcome), (0, 2, Welcome), (1, 0, Welcome), (1, 1, Welcome)];
        check(1, &[9], &many[..3], "0.0 | 0.1 | 0.2 |").await;
        check(1, &[9, 9], &many, "0.0 | 1.0 | 0.1 | 1.1 | 0.2 |").await;
        check(2, &[9, 9], &many, "0.0 0.1 | 1.0 | 0.2 | 1.1 | |").await;
        // A run that may hold one slot leaves the other to the rest.
        check(2, &[1, 9], &many, "0.0 1.0 | 0.1 | 1.1 | 0.2 | |").await;
        // Who excludes others waits for them to end, and nobody is served before it.
        let alone = [(0, 0, Welcome), (1, 0, Excluded), (0, 1, Welcome), (0, 2, Welcome)];
        check(2, &[9, 9], &alone, "0.0 | 1.0 | 0.1 0.2 | |").await;
        check(1, &[9], &[(0, 0, Excluded), (0, 1, Welcome)], "0.0 | 0.1 |").await;
    }

    #[tokio::test]
    async fn leases_are_distinct_and_come_back_however_they_go() {
        let slots = Slots::new(2);
        let share = slots.share(2);
        let lease = || share.lease(None, Company::Welcome);
        let (a, b) = (lease().await, lease().await);
        assert_ne!(a.index(), b.index());
        let (freed, kept) = (a.index(), b.index());
        let mut first = Box::pin(lease());
        let mut second = pin!(lease());
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        drop(a);
        // Lent to the first, which goes away without having taken it.
        drop(first);
        assert_eq!(second.await.index(), freed);
        assert_eq!(lease().await.index(), freed);
        // So does one that keeps others waiting.
        let mut alone = Box::pin(share.lease(None, Company::Excluded));
        assert!(poll!(&mut alone).is_pending());
        let mut behind = pin!(lease());
        assert!(poll!(&mut behind).is_pending());
        drop(alone);
        assert_ne!(behind.await.index(), kept);
    }

    #[tokio::test]
    async fn company_is_remembered() {
        let slots = Slots::new(2);
        let share = slots.share(2);
        let (a, alone) = (share.lease(None, Company::Welcome).await, |lease: &Lease| !lease.had_company());
        assert!(alone(&a));
        let b = share.lease(None, Company::Welcome).await;
        drop(b);
        assert!(a.had_company());
        drop(a);
        assert!(alone(&share.lease(None, Company::Welcome).await));
    }
}

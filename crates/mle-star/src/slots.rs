//! Limits how many scripts run and how many agents work at the same time.
//!
//! [`Slots`] belong to hosts: this machine, and runners on others, which come and go. A run waits for a [`Lease`]. The next
//! free slot goes to the path that has waited longest since its last lease. Of several free slots, the one of the oldest host
//! is taken, so that a runner that is not needed becomes idle. Dropping a lease returns its slot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

use mle_star_domain::slot::{Host, Slot};

/// The slots of this machine and of runners. Clones share them.
#[derive(Clone)]
pub struct Slots(Arc<Pool>);

struct Pool {
    state: Mutex<State>,
    /// How many requests no free slot serves.
    waiting: watch::Sender<usize>,
}

/// Whether other leases of the same host may exist at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusivity {
    /// Yes, as many as there are slots.
    Shared,
    /// No.
    Exclusive,
}

/// One slot, returned on drop.
pub struct Lease {
    slots: Slots,
    slot: Slot,
    name: Option<Arc<str>>,
}

/// A request in the queue, removed on drop.
struct Queued<'a> {
    slots: &'a Slots,
    ticket: u64,
}

#[derive(Default)]
struct State {
    hosts: BTreeMap<Host, HostSlots>,
    /// How many slots are free, on all hosts.
    free: usize,
    /// The hosts with a slot for a shared lease.
    open: BTreeSet<Host>,
    /// Of these, those without a lease.
    idle: BTreeSet<Host>,
    /// The requests, by ticket.
    queue: BTreeMap<u64, Waiting>,
    /// When each path got its last lease.
    served: BTreeMap<Option<usize>, u64>,
    /// Counts requests and leases.
    clock: u64,
    /// How many hosts there have been.
    known: u64,
    /// How many slots runners can add.
    expected: usize,
    /// The ticket of an exclusive request whose turn it is, and the host that nobody else is given.
    reserved: Option<(u64, Host)>,
}

/// The slots of one host.
struct HostSlots {
    /// `None`: this machine.
    name: Option<Arc<str>>,
    free: BTreeSet<usize>,
    /// For each slot: whether another slot of the host has been in use since it was leased.
    overlapped: Vec<bool>,
    /// Whether an exclusive lease is held.
    exclusive: bool,
}

struct Waiting {
    ticket: u64,
    path: Option<usize>,
    exclusivity: Exclusivity,
    grant: oneshot::Sender<Lease>,
}

impl Slots {
    /// `count` slots of this machine.
    pub fn new(count: usize) -> Self {
        let state = State::default();
        let (waiting, _) = watch::channel(0);
        let slots = Self(Arc::new(Pool { state: Mutex::new(state), waiting }));
        slots.open(None, count);
        slots
    }

    /// The number of slots of this machine.
    pub fn count(&self) -> usize {
        self.state().hosts.get(&Host::HERE).map_or(0, |slots| slots.overlapped.len())
    }

    /// Adds the slots of a runner.
    pub fn add(&self, name: &str, count: usize) -> Host {
        self.open(Some(name.into()), count)
    }

    /// Withdraws the slots of a runner. Leases of it that are held end as usual.
    pub fn remove(&self, host: Host) {
        self.state().remove(host);
        self.serve();
    }

    /// Withdraws the slots of a runner if none is leased. Returns whether it did.
    pub fn remove_if_idle(&self, host: Host) -> bool {
        let mut state = self.state();
        let idle = state.hosts.get(&host).is_some_and(HostSlots::is_idle);
        if idle {
            state.remove(host);
        }
        idle
    }

    /// How many slots of a host are leased.
    pub fn in_use(&self, host: Host) -> usize {
        self.state().hosts.get(&host).map_or(0, |slots| slots.overlapped.len() - slots.free.len())
    }

    /// Tells how many slots runners can add at most.
    pub fn expect(&self, count: usize) {
        self.state().expected = count;
    }

    /// How many requests no free slot serves, now and after each change.
    pub fn waiting(&self) -> watch::Receiver<usize> {
        self.0.waiting.subscribe()
    }

    /// The number of slots there can be at most.
    pub fn most(&self) -> usize {
        self.count() + self.state().expected
    }

    /// Waits for a slot on behalf of one of the run's paths.
    pub async fn lease(&self, path: Option<usize>, exclusivity: Exclusivity) -> Lease {
        let (grant, granted) = oneshot::channel();
        let ticket = self.state().enqueue(|ticket| Waiting { ticket, path, exclusivity, grant });
        let _queued = Queued { slots: self, ticket };
        self.serve();
        match granted.await {
            Ok(lease) => lease,
            // Only a request that left the queue loses its sender.
            Err(_) => std::future::pending().await,
        }
    }

    fn open(&self, name: Option<Arc<str>>, count: usize) -> Host {
        let slots =
            HostSlots { name, free: (0..count).collect(), overlapped: vec![false; count], exclusive: false };
        let mut state = self.state();
        let host = Host(state.known);
        state.known += 1;
        state.free += count;
        state.hosts.insert(host, slots);
        state.sort(host);
        drop(state);
        self.serve();
        host
    }

    /// Serves every request that can be served now.
    fn serve(&self) {
        loop {
            let next = self.state().next();
            let Some((slot, name, waiting)) = next else { break };
            let lease = Lease { slots: self.clone(), slot, name };
            // When the receiver is gone, this drops the lease, which returns the slot.
            drop(waiting.grant.send(lease));
        }
        let waiting = self.state().queue.len();
        self.0.waiting.send_if_modified(|known| std::mem::replace(known, waiting) != waiting);
    }

    /// The guard has to be gone before a lease is dropped.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// The slot.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The name of the runner that it belongs to; `None`: this machine.
    pub fn runner(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether any other slot of the host has been in use since this one was leased.
    pub fn overlapped(&self) -> bool {
        let slots = |state: &State| Some(state.hosts.get(&self.slot.host)?.overlapped[self.slot.index]);
        slots(&self.slots.state()).unwrap_or_default()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.slots.state().take_back(self.slot);
        self.slots.serve();
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        let left = self.slots.state().leave(self.ticket);
        if left.is_some() {
            self.slots.serve();
        }
    }
}

impl State {
    fn enqueue(&mut self, waiting: impl FnOnce(u64) -> Waiting) -> u64 {
        self.clock += 1;
        self.queue.insert(self.clock, waiting(self.clock));
        self.clock
    }

    /// Takes a request out of the queue, if it is there.
    fn leave(&mut self, ticket: u64) -> Option<Waiting> {
        let left = self.queue.remove(&ticket)?;
        self.reserved = self.reserved.filter(|(reserved, _)| *reserved != ticket);
        Some(left)
    }

    fn remove(&mut self, host: Host) {
        self.free -= self.hosts.remove(&host).map_or(0, |slots| slots.free.len());
        self.sort(host);
        self.reserved = self.reserved.filter(|(_, reserved)| *reserved != host);
    }

    /// Notes what the slots of a host can be used for.
    fn sort(&mut self, host: Host) {
        let slots = self.hosts.get(&host);
        let slots = slots.filter(|slots| !slots.free.is_empty() && !slots.exclusive);
        for (hosts, is_there) in
            [(&mut self.open, slots.is_some()), (&mut self.idle, slots.is_some_and(HostSlots::is_idle))]
        {
            if is_there {
                hosts.insert(host)
            } else {
                hosts.remove(&host)
            };
        }
    }

    /// Takes the next request out of the queue, with its slot; `None` when no request can be served.
    fn next(&mut self) -> Option<(Slot, Option<Arc<str>>, Waiting)> {
        while self.free > 0 {
            let (first, slot) = self.first()?;
            let Some(slot) = slot else {
                self.reserved = self.to_reserve().map(|host| (first.ticket, host));
                continue;
            };
            let waiting = self.leave(first.ticket)?;
            let name = self.lend(slot, &waiting);
            return Some((slot, name, waiting));
        }
        None
    }

    /// The next request that can be served, with its slot, or without one if a host is to be reserved for it.
    fn first(&self) -> Option<(&Waiting, Option<Slot>)> {
        if let Some((ticket, host)) = self.reserved {
            let served =
                self.queue.get(&ticket).and_then(|waiting| Some((waiting, Some(self.slot_for(waiting)?))));
            // Nobody else gets this host, and nobody reserves another.
            if served.is_some() || self.open.iter().all(|open| *open == host) {
                return served;
            }
        }
        let can = |waiting: &&Waiting| self.slot_for(waiting).is_some() || self.may_reserve(waiting);
        let served = |waiting: &&Waiting| self.served.get(&waiting.path).copied();
        let first = self.queue.values().filter(can).min_by_key(served)?;
        Some((first, self.slot_for(first)))
    }

    /// A free slot that a request may have now.
    fn slot_for(&self, waiting: &Waiting) -> Option<Slot> {
        let hosts = match waiting.exclusivity {
            Exclusivity::Shared => &self.open,
            Exclusivity::Exclusive => &self.idle,
        };
        let mine = self.reserved.filter(|(ticket, _)| *ticket == waiting.ticket);
        let host = match mine {
            Some((_, host)) => hosts.get(&host),
            None => hosts.iter().find(|host| self.reserved.is_none_or(|(_, reserved)| reserved != **host)),
        };
        let host = *host?;
        Some(Slot { host, index: *self.hosts.get(&host)?.free.first()? })
    }

    /// Whether a host can be reserved for a request.
    fn may_reserve(&self, waiting: &Waiting) -> bool {
        let is_exclusive = waiting.exclusivity == Exclusivity::Exclusive;
        is_exclusive && self.reserved.is_none() && self.to_reserve().is_some()
    }

    /// The host that is to be kept free for an exclusive request: of those with a free slot, the one with the fewest leases.
    fn to_reserve(&self) -> Option<Host> {
        let hosts = self.hosts.iter().filter(|(_, slots)| !slots.free.is_empty());
        let least = hosts.min_by_key(|(_, slots)| slots.overlapped.len() - slots.free.len());
        least.map(|(host, _)| *host)
    }

    /// Returns the name of the host.
    fn lend(&mut self, slot: Slot, waiting: &Waiting) -> Option<Arc<str>> {
        self.clock += 1;
        self.served.insert(waiting.path, self.clock);
        let slots = self.hosts.get_mut(&slot.host)?;
        slots.exclusive = waiting.exclusivity == Exclusivity::Exclusive;
        slots.free.remove(&slot.index);
        slots.overlapped[slot.index] = false;
        if slots.free.len() + 1 < slots.overlapped.len() {
            slots.overlapped.fill(true);
        }
        let name = slots.name.clone();
        self.free -= 1;
        self.sort(slot.host);
        name
    }

    fn take_back(&mut self, slot: Slot) {
        if let Some(slots) = self.hosts.get_mut(&slot.host) {
            self.free += usize::from(slots.free.insert(slot.index));
            slots.exclusive = false;
            self.sort(slot.host);
        }
    }
}

impl HostSlots {
    fn is_idle(&self) -> bool {
        self.free.len() == self.overlapped.len()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use futures_util::poll;

    use super::*;

    /// Requests (number, path, exclusivity) made at once, in this order. The leases are returned one at a time, oldest
    /// first. Gives the numbers in the order in which they were served, with `|` before each return.
    async fn served(count: usize, asked: &[(usize, usize, Exclusivity)]) -> String {
        let slots = Slots::new(count);
        let mut waiting: Vec<_> = asked
            .iter()
            .map(|(number, path, how)| (*number, Box::pin(slots.lease(Some(*path), *how))))
            .collect();
        let (mut held, mut order) = (std::collections::VecDeque::new(), Vec::new());
        while !waiting.is_empty() || !held.is_empty() {
            let mut granted = Vec::new();
            for (number, lease) in &mut waiting {
                if let Poll::Ready(lease) = poll!(lease) {
                    granted.push((*number, lease));
                }
            }
            waiting.retain(|(who, _)| granted.iter().all(|(granted, _)| granted != who));
            order.extend(granted.iter().map(|(number, _)| number.to_string()));
            held.extend(granted);
            order.push("|".to_owned());
            assert!(held.pop_front().is_some(), "no request is served: {order:?}");
        }
        order.join(" ")
    }

    #[tokio::test]
    async fn slots_go_round_among_paths() {
        use Exclusivity::{Exclusive, Shared};
        let check = async |count, asked: &[(usize, usize, Exclusivity)], expected: &str| {
            assert_eq!(served(count, asked).await, expected, "{asked:?}");
        };
        let many = [(0, 0, Shared), (1, 0, Shared), (2, 0, Shared), (3, 1, Shared), (4, 1, Shared)];
        check(1, &many[..3], "0 | 1 | 2 |").await;
        check(1, &many, "0 | 3 | 1 | 4 | 2 |").await;
        check(2, &many, "0 1 | 3 | 2 | 4 | |").await;
        // An exclusive request waits for the others to end, and no other request is served before it.
        let exclusive = [(0, 0, Shared), (1, 1, Exclusive), (2, 2, Shared), (3, 3, Shared)];
        check(2, &exclusive, "0 | 1 | 2 3 | |").await;
        check(1, &[(0, 0, Exclusive), (1, 1, Shared)], "0 | 1 |").await;
    }

    #[tokio::test]
    async fn leases_are_distinct_and_come_back_however_they_go() {
        let slots = Slots::new(2);
        let lease = || slots.lease(None, Exclusivity::Shared);
        let (a, b) = (lease().await, lease().await);
        assert_ne!(a.slot(), b.slot());
        let (freed, kept) = (a.slot(), b.slot());
        let mut first = Box::pin(lease());
        let mut second = pin!(lease());
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        drop(a);
        // Leased to the first, which is dropped before it takes the lease.
        drop(first);
        assert_eq!(second.await.slot(), freed);
        assert_eq!(lease().await.slot(), freed);
        // A dropped exclusive request stops blocking the others.
        let mut exclusive = Box::pin(slots.lease(None, Exclusivity::Exclusive));
        assert!(poll!(&mut exclusive).is_pending());
        let mut behind = pin!(lease());
        assert!(poll!(&mut behind).is_pending());
        drop(exclusive);
        assert_ne!(behind.await.slot(), kept);
    }

    #[tokio::test]
    async fn an_exclusive_request_waits_for_one_host_and_the_others_go_on() {
        let slots = Slots::new(1);
        let far = slots.add("far", 2);
        let lease = |exclusivity| slots.lease(None, exclusivity);
        let (here, one) = (lease(Exclusivity::Shared).await, lease(Exclusivity::Shared).await);
        let mut alone = Box::pin(lease(Exclusivity::Exclusive));
        assert!(poll!(&mut alone).is_pending());
        drop(one);
        let alone = alone.await;
        assert_eq!(alone.slot().host, far);
        let mut behind = Box::pin(lease(Exclusivity::Shared));
        assert!(poll!(&mut behind).is_pending());
        drop(here);
        assert_eq!(behind.await.slot(), Slot::here(0));
        drop(alone);
        // The reserved host may go.
        let (here, _one) = (lease(Exclusivity::Shared).await, lease(Exclusivity::Shared).await);
        let mut alone = Box::pin(lease(Exclusivity::Exclusive));
        assert!(poll!(&mut alone).is_pending());
        slots.remove(far);
        assert!(poll!(&mut alone).is_pending());
        drop(here);
        assert_eq!(alone.await.slot(), Slot::here(0));
    }
}

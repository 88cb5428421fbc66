//! Limits how many scripts run and how many agents work at the same time.
//!
//! [`Slots`] belong to hosts: this machine, and runners on others, which come and go. A run waits for a [`Lease`], and who asked
//! first gets the next free slot. Of several free slots, the one of the oldest host is taken, so that a runner that is not
//! needed becomes idle. Dropping a lease returns its slot.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use mle_star_domain::slot::{Host, Slot};

/// The slots of this machine and of runners. Clones share them.
#[derive(Clone)]
pub struct Slots(Arc<Pool>);

struct Pool {
    state: Mutex<State>,
    /// How many requests no free slot serves, after each change.
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

/// A request, which leaves the queue on drop.
struct Queued<'a> {
    slots: &'a Slots,
    number: u64,
}

#[derive(Default)]
struct State {
    hosts: BTreeMap<Host, HostSlots>,
    /// How many hosts there have been.
    known: u64,
    /// How many slots runners can add.
    expected: usize,
    /// The requests by their numbers, the first one first.
    queue: BTreeMap<u64, Exclusivity>,
    /// How many requests there have been.
    requests: u64,
}

/// The slots of one host.
#[derive(Clone)]
struct HostSlots {
    /// `None`: this machine.
    name: Option<Arc<str>>,
    /// For each slot that is leased: whether another slot of the host has been in use since.
    leased: Vec<Option<bool>>,
    /// Whether no slot is given to anybody else: an exclusive lease is held, or waited for.
    closed: bool,
}

impl Slots {
    /// `count` slots of this machine.
    pub fn new(count: usize) -> Self {
        let (waiting, _) = watch::channel(0);
        let slots = Self(Arc::new(Pool { state: Mutex::default(), waiting }));
        slots.open(None, count);
        slots
    }

    /// The number of slots of this machine.
    pub fn count(&self) -> usize {
        self.state().hosts.get(&Host::HERE).map_or(0, |host| host.leased.len())
    }

    /// Adds the slots of a runner.
    pub fn add(&self, name: &str, count: usize) -> Host {
        self.open(Some(name.into()), count)
    }

    /// Withdraws the slots of a runner. Leases of it that are held end as usual.
    pub fn remove(&self, host: Host) {
        self.change(|state| state.hosts.remove(&host));
    }

    /// Withdraws the slots of a runner if none is leased. Returns whether it did.
    pub fn remove_if_idle(&self, host: Host) -> bool {
        self.change(|state| {
            let is_idle = state.hosts.get(&host).is_some_and(|slots| slots.in_use() == 0);
            is_idle && state.hosts.remove(&host).is_some()
        })
    }

    /// How many slots of a host are leased.
    pub fn in_use(&self, host: Host) -> usize {
        self.state().hosts.get(&host).map_or(0, HostSlots::in_use)
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

    /// Waits for a slot.
    pub async fn lease(&self, exclusivity: Exclusivity) -> Lease {
        let mut changes = self.waiting();
        let number = self.change(|state| {
            state.requests += 1;
            state.queue.insert(state.requests, exclusivity);
            state.requests
        });
        let _queued = Queued { slots: self, number };
        loop {
            changes.mark_unchanged();
            let lent = self.state().lend(number);
            if let Some((slot, name)) = lent {
                return Lease { slots: self.clone(), slot, name };
            }
            // The sender lives as long as these slots.
            let _ = changes.changed().await;
        }
    }

    fn open(&self, name: Option<Arc<str>>, count: usize) -> Host {
        self.change(|state| {
            let host = Host(state.known);
            state.known += 1;
            state.hosts.insert(host, HostSlots { name, leased: vec![None; count], closed: false });
            host
        })
    }

    /// Changes the state, and tells everybody who waits.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let changed = change(&mut state);
        // Told while the state is locked, so that the last number is the latest one.
        self.0.waiting.send_replace(state.queue.len() - state.served().len());
        changed
    }

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
        let state = self.slots.state();
        state.hosts.get(&self.slot.host).and_then(|host| host.leased[self.slot.index]).unwrap_or_default()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.slots.change(|state| {
            if let Some(host) = state.hosts.get_mut(&self.slot.host) {
                host.leased[self.slot.index] = None;
                host.closed = false;
            }
        });
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.slots.change(|state| state.queue.remove(&self.number));
    }
}

impl State {
    /// The hosts whose slots requests get now. While none serves an exclusive one, the host with the fewest leases is kept for
    /// it.
    fn served(&self) -> BTreeMap<u64, Host> {
        let (mut hosts, mut served) = (self.hosts.clone(), BTreeMap::new());
        let mut keeps_one = false;
        for (number, exclusivity) in &self.queue {
            let lent = hosts.iter_mut().find_map(|(id, host)| host.lend(*exclusivity).map(|_| *id));
            if let Some(host) = lent {
                served.insert(*number, host);
            } else if *exclusivity == Exclusivity::Exclusive && !keeps_one {
                keeps_one = true;
                let hosts = hosts.values_mut().filter(|host| !host.leased.is_empty());
                hosts.min_by_key(|host| host.in_use()).into_iter().for_each(|host| host.closed = true);
            }
        }
        served
    }

    /// The slot of a request and the name of its host, if it is the request's turn.
    fn lend(&mut self, number: u64) -> Option<(Slot, Option<Arc<str>>)> {
        let host = *self.served().get(&number)?;
        let (exclusivity, slots) = (self.queue.remove(&number)?, self.hosts.get_mut(&host)?);
        Some((Slot { host, index: slots.lend(exclusivity)? }, slots.name.clone()))
    }
}

impl HostSlots {
    fn in_use(&self) -> usize {
        self.leased.iter().flatten().count()
    }

    /// Leases the first free slot; `None` if there is none for such a lease.
    fn lend(&mut self, exclusivity: Exclusivity) -> Option<usize> {
        let (is_exclusive, overlaps) = (exclusivity == Exclusivity::Exclusive, self.in_use() > 0);
        if self.closed || is_exclusive && overlaps {
            return None;
        }
        let free = self.leased.iter().position(Option::is_none)?;
        self.leased[free] = Some(overlaps);
        if overlaps {
            self.leased.iter_mut().flatten().for_each(|overlapped| *overlapped = true);
        }
        self.closed = is_exclusive;
        Some(free)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use futures_util::poll;

    use super::*;

    /// Requests made at once, in this order. The leases are returned one at a time, oldest first. Gives the numbers of the
    /// requests in the order in which they were served, with `|` before each return.
    async fn served(count: usize, asked: &[Exclusivity]) -> String {
        let slots = Slots::new(count);
        let mut waiting: Vec<_> =
            asked.iter().enumerate().map(|(number, how)| (number, Box::pin(slots.lease(*how)))).collect();
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
    async fn who_asks_first_is_served_first() {
        use Exclusivity::{Exclusive, Shared};
        let check = async |count, asked: &[Exclusivity], expected: &str| {
            assert_eq!(served(count, asked).await, expected, "{asked:?}");
        };
        check(1, &[Shared; 3], "0 | 1 | 2 |").await;
        check(2, &[Shared; 5], "0 1 | 2 | 3 | 4 | |").await;
        // An exclusive request waits for the others to end, and no later one is served before it.
        check(2, &[Shared, Exclusive, Shared, Shared], "0 | 1 | 2 3 | |").await;
        check(2, &[Shared, Shared, Exclusive, Shared], "0 1 | | 2 | 3 |").await;
        check(1, &[Exclusive, Shared], "0 | 1 |").await;
    }

    #[tokio::test]
    async fn leases_are_distinct_and_come_back_however_they_go() {
        let slots = Slots::new(2);
        let lease = || slots.lease(Exclusivity::Shared);
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
        let mut exclusive = Box::pin(slots.lease(Exclusivity::Exclusive));
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
        let lease = |exclusivity| slots.lease(exclusivity);
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

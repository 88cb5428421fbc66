//! The places on the machine where scripts run, lent one at a time in the order of asking.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

/// A fixed number of slots.
pub(crate) struct Slots {
    permits: Semaphore,
    free: Mutex<Vec<usize>>,
}

/// One slot, given back when dropped.
pub(crate) struct Lease<'a> {
    index: usize,
    slots: &'a Slots,
    _permit: Option<SemaphorePermit<'a>>,
}

impl Slots {
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        Self { permits: Semaphore::new(count), free: Mutex::new((0..count).rev().collect()) }
    }

    /// Waits for a free slot.
    pub async fn lease(&self) -> Lease<'_> {
        // The semaphore is never closed; without a permit the slot list still decides.
        let permit = self.permits.acquire().await.ok();
        let index = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        Lease { index, slots: self, _permit: permit }
    }
}

impl Lease<'_> {
    pub fn index(&self) -> usize {
        self.index
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.slots.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn leases_are_distinct_and_come_back() {
        let slots = Slots::new(2);
        let (a, b) = (slots.lease().await, slots.lease().await);
        assert_ne!(a.index(), b.index());
        let freed = a.index();
        drop(a);
        assert_eq!(slots.lease().await.index(), freed);
    }
}

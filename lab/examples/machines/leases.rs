//! The queue for the slots of many runners.

use std::time::Instant;

use mle_star::slots::{Exclusivity, Share, Slots};

use super::{Failure, quartiles};

/// So many runs, each with a request, for the slots of so many hosts. The oldest lease is returned, and the next
/// request is served, until all have been.
pub async fn leases(hosts: usize, runs: usize) -> Result<(), Failure> {
    let slots = Slots::new(0);
    for host in 0..hosts {
        slots.add(&format!("host-{host}"), 1);
    }
    let shares: Vec<Share> = (0..runs).map(|_| slots.share(0)).collect();
    let began = Instant::now();
    let mut waiting = Vec::with_capacity(runs);
    for share in &shares {
        let mut lease = Box::pin(share.lease(Some(0), Exclusivity::Shared));
        let polled = futures_util::poll!(&mut lease);
        waiting.push((lease, polled));
    }
    println!("{hosts} hosts, {runs} runs: {:.2} µs for a request", us(began, runs));
    let (mut each, began) = (Vec::with_capacity(runs), Instant::now());
    // Among equal runs, the one that has waited longest is next, so they are served in this order.
    let mut held = std::collections::VecDeque::new();
    for (lease, polled) in waiting {
        if held.len() == hosts {
            let began = Instant::now();
            drop(held.pop_front());
            each.push(us(began, 1));
        }
        held.push_back(match polled {
            std::task::Poll::Ready(lease) => lease,
            std::task::Poll::Pending => lease.await,
        });
    }
    println!("{:.2} µs for a lease, {:.2} s in all", us(began, runs), began.elapsed().as_secs_f64());
    let [low, middle, high] = quartiles(each);
    println!("median of a return, which serves the next: {middle:.2} µs ({low:.2} to {high:.2})");
    Ok(())
}

fn us(began: Instant, count: usize) -> f64 {
    began.elapsed().as_secs_f64() * 1e6 / count.max(1) as f64
}

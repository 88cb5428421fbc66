//! The turn of an agent call: it waits for a slot, and for money that calls in progress hold.

use super::Ctx;
use crate::limits::Reserve;
use crate::slots::{Exclusivity, Lease};
use crate::stop::Stop;
use mle_star_domain::effects::{AgentRequest, Limit, Usage};

/// The slot and the reserve that a call holds while it is in progress.
pub(super) struct Turn<'a> {
    _lease: Lease,
    pub(super) reserve: Reserve<'a>,
}

impl<'a> Ctx<'a> {
    /// Waits for an agent slot and for money, and sets the limits of the call; or the limit that refuses it.
    pub(super) async fn turn(&self, request: &mut AgentRequest) -> Result<Result<Turn<'a>, Limit>, Stop> {
        let lease = self.or_interrupted(self.run.outside.agent_slots.lease(Exclusivity::Shared)).await?;
        let limits = &self.run.limits;
        let mut reserve: Option<Reserve<'_>> = None;
        loop {
            let now = self.run.journal.elapsed();
            if let Some(limit) = limits.too_late_to_ask(&request.place, request.agent, now) {
                // It was not asked.
                reserve.into_iter().for_each(|reserve| drop(reserve.settle(Usage::free())));
                return Ok(Err(limit));
            }
            (request.timeout, request.time_left) = limits.agent_timeout(&request.place, request.agent, now);
            if let Some(reserve) = reserve {
                request.max_usd = reserve.max_usd;
                return Ok(Ok(Turn { _lease: lease, reserve }));
            }
            let reserved = tokio::time::timeout(request.time_left, limits.purse.reserve(request));
            reserve = match self.or_interrupted(reserved).await? {
                Ok(Err(limit)) => return Ok(Err(limit)),
                Ok(Ok(reserve)) => Some(reserve),
                Err(_) => None,
            };
        }
    }
}

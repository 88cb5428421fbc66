//! What an agent call used and cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cost and tokens of one agent call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// US dollars, as far as they are known or estimated; `None` when nothing is.
    pub cost_usd: Option<f64>,
    /// The part of them that is estimated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_usd: f64,
    /// How many conversations `cost_usd` does not contain, because their price is not known. It is not stored: before a record
    /// is written, their cost is estimated and added.
    #[serde(skip)]
    pub unpriced: u32,
    /// Tokens read, outside any cache.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
}

impl Usage {
    /// No cost and no tokens.
    pub fn free() -> Self {
        Self { cost_usd: Some(0.0), ..Self::default() }
    }

    /// The number of conversations whose cost is unknown.
    pub fn unpriced(&self) -> u32 {
        self.unpriced.max(u32::from(self.cost_usd.is_none()))
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    /// The sum of two usages. A known cost stays known, and [`Usage::unpriced`] tells that something is missing.
    fn add(self, other: Self) -> Self {
        let cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two).filter(|known| *known > 0.0),
        };
        Self {
            cost_usd,
            estimated_usd: self.estimated_usd + other.estimated_usd,
            unpriced: self.unpriced() + other.unpriced(),
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(usd: &f64) -> bool {
    *usd == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_stays_known_beside_something_unknown() {
        let of = |cost_usd: Option<f64>| Usage { cost_usd, ..Usage::default() };
        let check = |parts: &[Option<f64>], cost: Option<f64>, unpriced: u32| {
            let sum = parts.iter().fold(Usage::free(), |sum, cost| sum + of(*cost));
            assert_eq!((sum.cost_usd, sum.unpriced()), (cost, unpriced), "{parts:?}");
        };
        check(&[], Some(0.0), 0);
        check(&[Some(0.5), Some(0.25)], Some(0.75), 0);
        check(&[None], None, 1);
        check(&[None, Some(0.0)], None, 1);
        check(&[None, Some(0.5)], Some(0.5), 1);
        check(&[Some(0.5), None, None, Some(0.5)], Some(1.0), 2);
    }
}

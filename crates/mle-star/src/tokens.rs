//! Tokens of a call as services count them that report no money.

use crate::money::cost_of_tokens;
use mle_star_domain::config::Price;
use mle_star_domain::effects::Usage;

/// Tokens as the service counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Read, cached ones included.
    pub input: u64,
    /// Read from a cache.
    pub cached: u64,
    /// Written.
    pub output: u64,
}

impl Tokens {
    /// The usage of a call, with its cost if the model has a price.
    pub fn usage(self, price: Option<&Price>) -> Usage {
        let Self { input, output, .. } = self;
        let cached = self.cached.min(input);
        let own = input - cached;
        #[expect(clippy::cast_precision_loss, reason = "no call has that many tokens")]
        let cost = |price: &Price| cost_of_tokens(price, own as f64, cached as f64, output as f64);
        Usage { cost_usd: price.map(cost), input: own, output, cache_read: cached, ..Usage::default() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_cost_follows_the_price_and_is_unknown_without_one() {
        let check = |tokens: Tokens, price: Value, expected: f64| {
            let price: Price = serde_json::from_value(price).unwrap();
            let cost = tokens.usage(Some(&price)).cost_usd.unwrap();
            assert!((cost - expected).abs() < 1e-12, "{cost}, expected {expected}");
        };
        let tokens = Tokens { input: 1000, cached: 400, output: 100 };
        check(tokens, json!({"input": 2.0, "output": 10.0}), 0.003);
        check(tokens, json!({"input": 2.0, "output": 10.0, "cached_input": 0.5}), 0.0024);
        check(tokens, json!({"input": 0, "output": 0}), 0.0);
        // Some servers count cached tokens that they do not count as read.
        check(Tokens { cached: 5000, ..tokens }, json!({"input": 1.0, "output": 0}), 0.001);
        let unknown = tokens.usage(None);
        let expected = Usage { input: 600, output: 100, cache_read: 400, ..Usage::default() };
        assert_eq!(unknown, expected);
    }
}

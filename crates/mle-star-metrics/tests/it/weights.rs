//! A row of weight two counts like two equal rows.

use mle_star_metrics::names::Metric;
use proptest::prelude::*;

use super::data::{Random, Rows};

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn weights_are_repetition(metric in 0..Metric::ALL.len(), classes in 2_usize..5, rows in 6_usize..40, seed: u64) {
        let rows = Rows::random(Metric::ALL[metric], classes, rows, seed);
        let mut random = Random(seed ^ 1);
        let weights: Vec<f64> = rows.truth.iter().map(|_| (random.next() * 3.0).floor()).collect();
        prop_assume!(weights.iter().any(|weight| *weight > 0.0));
        let (weighted, repeated) = (rows.score(Some(&weights)), rows.repeated(&weights).score(None));
        let same = match (&weighted, &repeated) {
            (Ok(weighted), Ok(repeated)) => (weighted - repeated).abs() <= 1e-9 * repeated.abs().max(1.0),
            (Err(weighted), Err(repeated)) => weighted == repeated,
            _ => false,
        };
        prop_assert!(same, "{}: {weighted:?}, {repeated:?}", rows.metric);
    }
}

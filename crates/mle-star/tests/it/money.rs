//! The budget holds with many calls in flight, whatever they cost and however they end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mle_star::journal::{EffectRecord, Frozen, Journal, Kind};
use mle_star::spending::spending;
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen};
use mle_star_domain::effects::{Limit, Usage};
use mle_star_domain::place::Place;
use proptest::prelude::*;

use crate::{Folder, go_on};

/// A run of eight paths.
fn with_budget(max: f64) -> Frozen {
    let mut inputs = frozen();
    inputs.config.max_budget_usd = Some(max);
    (inputs.config.num_retrieved_models, inputs.config.num_parallel_solutions) = (8, 8);
    inputs
}

/// A random number from 0 to 1 for each call.
fn random(seed: u64, place: &Place, call: usize, what: &str) -> f64 {
    let digest = blake3::hash(format!("{seed} {place} {call} {what}").as_bytes());
    let [first, second, ..] = *digest.as_bytes();
    f64::from(u16::from_be_bytes([first, second])) / f64::from(u16::MAX)
}

/// A world in which a call costs up to `dearest`. Some calls report nothing, and some died once before they answered.
/// Returns the costs that were reported.
fn world(seed: u64, dearest: f64) -> (World, Arc<Mutex<Vec<f64>>>) {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let costs = Arc::clone(&reported);
    let used = move |place: &Place| {
        let mut costs = costs.lock().unwrap();
        let random = |what| random(seed, place, costs.len(), what);
        let usage = Usage { cost_usd: Some(dearest * random("cost")), ..Usage::default() };
        let usage = match random("end") {
            0.0..0.15 => return Usage::default(),
            0.15..0.3 => Usage::default() + usage,
            _ => usage,
        };
        costs.extend(usage.cost_usd);
        usage
    };
    (World::new().agents_take(Duration::from_secs(7)).uses(used), reported)
}

/// What one call counts as, at most.
fn one_call(effects: &[EffectRecord], frozen: &Frozen) -> f64 {
    let alone = |effect: &EffectRecord| {
        // Its estimate depends on the other calls.
        let others = effects.iter().filter(|other| other.seq != effect.seq).cloned().collect::<Vec<_>>();
        let cost = |effects: &[EffectRecord]| spending(effects, &frozen.config).total().usage.cost_usd;
        cost(effects).unwrap_or(0.0) - cost(&others).unwrap_or(0.0)
    };
    let cost = |effect: &EffectRecord| match effect.outcome {
        Some(_) => effect.usage.cost_usd.unwrap_or(0.0),
        None => alone(effect),
    };
    effects.iter().filter(|effect| effect.kind == Kind::Agent).map(cost).fold(0.0, f64::max)
}

/// Runs, kills after each of these times, and resumes to the end.
async fn holds(seed: u64, max: f64, dearest: f64, kills: &[u64]) {
    let (folder, inputs) = (Folder::fresh(), with_budget(max));
    let (world, reported) = world(seed, dearest);
    let mut journal = Journal::create(folder.path(), &inputs).unwrap();
    for kill in kills.iter().map(Some).chain([None]) {
        let running = go_on(&world, &inputs, &journal);
        let ended = match kill {
            Some(seconds) => tokio::time::timeout(Duration::from_secs(*seconds), running).await,
            None => Ok(running.await),
        };
        let cut = matches!(ended, Ok(Err(Stop::Limit(Limit::Budget))));
        assert!(cut || !matches!(ended, Ok(Err(_))), "{:?}", ended.unwrap().err());
        let effects = journal.effects().unwrap();
        let spent = spending(&effects, &inputs.config).total().usage;
        let (counted, one) = (spent.cost_usd.unwrap_or(0.0), one_call(&effects, &inputs));
        assert!(counted <= max + one + 1e-9, "{counted} of {max} with calls of up to {one}");
        let known: f64 = reported.lock().unwrap().iter().sum();
        assert!((counted - spent.estimated_usd - known).abs() < 1e-6, "{spent:?} for {known}");
        drop(journal);
        journal = Journal::open(folder.path()).unwrap().0;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_more_is_spent_than_the_budget_and_one_call(
        seed: u64,
        // Even on a logarithmic scale.
        max in (-1.0..1.0).prop_map(|exponent: f64| 10_f64.powf(exponent)),
        dearest in prop_oneof![Just(0.01), Just(0.1), Just(1.0), Just(1.9)],
        kills in proptest::collection::vec(1_u64..200, 0..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(holds(seed, max, dearest, &kills));
    }
}

#[tokio::test(start_paused = true)]
async fn eight_candidates_of_one_dollar_do_not_spend_eight() {
    let check = async |max: f64, expected: f64| {
        let mut world = World::new().costs(Some(0.0)).agents_take(Duration::from_secs(5));
        for candidate in 0..8 {
            world = world.costs_at(&format!("phase1/candidate-{candidate}/init"), 1.0);
        }
        let (folder, inputs) = (Folder::fresh(), with_budget(max));
        let journal = Journal::create(folder.path(), &inputs).unwrap();
        // Without money for its check, the first script is no solution.
        let ended = go_on(&world, &inputs, &journal).await;
        assert_eq!(ended.is_err(), max <= 1.0);
        let spent = spending(&journal.effects().unwrap(), &inputs.config).total().usage.cost_usd.unwrap();
        assert!((spent - expected).abs() < 1e-9, "{spent} of {max}");
    };
    check(1.0, 1.0).await;
    check(1.5, 1.0).await;
    check(4.0, 3.0).await;
    check(6.0, 5.0).await;
}

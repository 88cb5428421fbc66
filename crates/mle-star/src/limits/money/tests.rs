//! Tests of the money.

use futures_util::FutureExt as _;

use super::*;
use crate::testing::called;

/// A call at a place whose one answer costs at most 2 US dollars, prompt included.
fn call(place: &Place, agent: AgentType) -> AgentRequest {
    AgentRequest { place: place.clone(), agent, model: "sonnet".to_owned(), ..called::request("") }
}

fn purse(max: f64) -> Budget {
    Budget::new(&Config { max_budget_usd: Some(max), ..Config::default() })
}

fn paid(cost: f64) -> Usage {
    Usage { cost_usd: Some(cost), ..Usage::free() }
}

fn places() -> [Place; 2] {
    [Phase::Phase2, Phase::Finalization].map(Place::from)
}

/// Whether a call may begin: its own limit in cents, `None` if it has to wait, or the limit that refuses it.
fn begins(purse: &Budget, place: &Place, agent: AgentType) -> Option<Result<f64, Limit>> {
    let reserve = purse.try_reserve(&call(place, agent))?;
    let reserve = match reserve {
        Ok(reserve) => reserve,
        Err(limit) => return Some(Err(limit)),
    };
    let max = reserve.max_usd.unwrap_or(f64::INFINITY);
    reserve.settle(Usage::free());
    Some(Ok((max * 100.0).round() / 100.0))
}

#[test]
fn calls_begin_beside_others_only_if_all_reserves_fit() {
    let [search, last] = places();
    let check = |max: f64, calls: usize| {
        let purse = purse(max);
        let reserve =
            || purse.try_reserve(&call(&search, AgentType::Init)).map(|reserve| reserve.ok().unwrap());
        let held: Vec<Reserve<'_>> = std::iter::from_fn(reserve).take(8).collect();
        assert_eq!(held.len(), calls, "{max}");
    };
    for (max, calls) in [(0.1, 1), (1.0, 1), (2.0, 1), (2.5, 2), (4.5, 3), (9.0, 5), (100.0, 8)] {
        check(max, calls);
    }
    // Finalization may use what the search leaves.
    let purse = purse(2.0);
    let _held = purse.try_reserve(&call(&search, AgentType::Init)).unwrap().ok().unwrap();
    assert_eq!(begins(&purse, &search, AgentType::Init), None);
    assert!(begins(&purse, &last, AgentType::Init).is_some());
}

#[test]
fn an_estimate_does_not_refuse_the_first_call() {
    let [search, _] = places();
    let purse = purse(0.01);
    assert_eq!(begins(&purse, &search, AgentType::Retriever), Some(Ok(0.01)));
    let first = purse.try_reserve(&call(&search, AgentType::Retriever)).unwrap().ok().unwrap();
    assert_eq!(begins(&purse, &search, AgentType::Init), None);
    first.settle(paid(0.001));
    assert_eq!(begins(&purse, &search, AgentType::Init), Some(Ok(0.01)));
}

#[test]
fn a_call_may_cost_what_is_left_and_the_calls_in_progress_do_not_hold() {
    let [_, last] = places();
    let purse = purse(5.0);
    let max = |agent| purse.try_reserve(&call(&last, agent)).unwrap().ok().unwrap();
    let first = max(AgentType::Coder);
    let second = max(AgentType::Coder);
    let cents = |reserve: &Reserve<'_>| (reserve.max_usd.unwrap() * 100.0).round();
    assert_eq!((cents(&first), cents(&second)), (500.0, 307.0));
    // The third has room for one answer.
    assert_eq!(cents(&max(AgentType::Coder)), 193.0);
    // The third was dropped, as by an interrupt, and counts 0.07 by its price; the second as much as the first.
    first.settle(paid(1.0));
    drop(second);
    assert_eq!(begins(&purse, &last, AgentType::Planner), Some(Ok(2.93)));
}

#[tokio::test]
async fn a_call_waits_until_another_has_settled() {
    let [search, _] = places();
    let check = async |usage: Option<Usage>, expected: Result<(), Limit>| {
        let purse = purse(1.0);
        let request = call(&search, AgentType::Init);
        let first = purse.reserve(&request).await.ok().unwrap();
        let mut waiting = std::pin::pin!(purse.reserve(&request));
        assert!(waiting.as_mut().now_or_never().is_none());
        match usage {
            Some(usage) => drop(first.settle(usage)),
            None => drop(first),
        }
        let second = waiting.now_or_never().unwrap();
        assert_eq!(second.map(drop), expected, "{usage:?}");
    };
    check(Some(paid(0.2)), Ok(())).await;
    check(Some(paid(0.5)), Err(Limit::Budget)).await;
    check(Some(paid(1.0)), Err(Limit::Budget)).await;
    check(None, Ok(())).await;
}

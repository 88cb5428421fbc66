//! Tests of prices and estimates.

use serde_json::json;

use super::*;

fn estimator(agents: &str, max_budget_usd: Option<f64>) -> CostEstimator {
    let config = json!({
        "agents": agents, "max_budget_usd": max_budget_usd, "prices": {"mine": {"input": 2.0, "output": 10.0}},
    });
    CostEstimator::new(Prices::of(&serde_json::from_value(config).unwrap()))
}

fn coder(model: &str) -> CallKey<'_> {
    CallKey { agent: AgentType::Coder, model, prompt_bytes: 30_000 }
}

#[test]
fn one_answer_reserves_the_longest_at_the_price_of_its_model() {
    let check = |agents: &str, model: &str, most: f64| {
        let estimator = estimator(agents, None);
        assert!(
            (estimator.most(&coder(model)) - most).abs() < 1e-9,
            "{model}: {}",
            estimator.most(&coder(model))
        );
    };
    check("claude", "haiku", 0.01 + 0.64);
    check("claude", "claude-sonnet-4-5", 0.03 + 1.92);
    check("claude", "Opus", 0.05 + 3.2);
    check("claude", "my-own-model", 0.05 + 3.2);
    check("openai", "mine", 0.02 + 1.28);
    check("codex", "sonnet", 0.05 + 3.2);
    check("offline", "sonnet", 0.0);
    check("files", "sonnet", 0.0);
    let mut dear = estimator("claude", None);
    dear.count(AgentType::Coder, &Usage { cost_usd: Some(7.0), ..Usage::default() });
    assert!((dear.most(&coder("haiku")) - 7.0).abs() < 1e-9);
}

#[test]
fn unknown_costs_are_estimated_upwards_and_known_ones_stay() {
    let usage =
        |cost_usd, unpriced, output| Usage { cost_usd, unpriced, input: 1000, output, ..Usage::default() };
    let check = |estimator: &CostEstimator, model: &str, before: Usage, cost: Option<f64>, estimated: f64| {
        let after = estimator.completed(&coder(model), before);
        let is = |left: f64, right: f64| (left - right).abs() < 1e-9;
        assert!(after.cost_usd.zip(cost).map_or(after.cost_usd == cost, |(a, b)| is(a, b)), "{after:?}");
        assert!(is(after.estimated_usd, estimated), "{after:?}");
        assert_eq!(after.unpriced() > 0, cost.is_none(), "{after:?}");
    };
    let mut claude = estimator("claude", None);
    // Neither does a call that was not asked, or that another run paid.
    claude.count(AgentType::Planner, &Usage::free());
    assert!(claude.expected(&coder("sonnet")) > 0.0);
    // 10,000 tokens read and 4,000 written.
    let by_price = 0.03 + 0.06;
    check(&claude, "sonnet", usage(Some(0.5), 0, 100), Some(0.5), 0.0);
    check(&claude, "sonnet", usage(None, 0, 0), Some(by_price), by_price);
    check(&claude, "sonnet", usage(Some(0.5), 1, 100), Some(0.5 + by_price), by_price);
    check(&claude, "sonnet", usage(Some(0.5), 2, 100), Some(0.5 + 2.0 * by_price), 2.0 * by_price);
    check(&claude, "my-own-model", usage(None, 0, 100), None, 0.0);
    claude.count(AgentType::Coder, &usage(Some(0.4), 0, 100));
    claude.count(AgentType::Coder, &usage(Some(0.2), 0, 100));
    // What is estimated teaches nothing.
    claude.count(AgentType::Coder, &Usage { estimated_usd: 9.0, ..usage(Some(9.1), 0, 0) });
    check(&claude, "my-own-model", usage(None, 0, 100), Some(0.4), 0.4);
    check(&claude, "sonnet", usage(Some(0.5), 1, 100), Some(0.9), 0.4);
    // Tokens tell more than other calls.
    check(&claude, "sonnet", usage(None, 0, 100), Some(0.0045), 0.0045);
    check(&estimator("openai", Some(1.0)), "theirs", usage(None, 0, 100), Some(0.0075), 0.0075);
    check(&estimator("openai", None), "theirs", usage(None, 0, 100), None, 0.0);
}

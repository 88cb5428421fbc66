//! Whole runs with the real `claude`, in a network with only loopback.

use mle_star_needs::needs;
use std::collections::BTreeMap;

use serde_json::Value;

use super::answers::{self, answer, is_search};
use super::api::{Api, Asked, MESSAGES, USAGE};
use super::closed::in_closed_network;
use super::network::{attempts_to_leave, try_to_leave};
use super::roles::{ROLES, role_of};
use super::scripts::Style;
use super::world::{TRAPS, World, calls, events, said};

/// Two of everything except outer steps.
const WHOLE: &str = "--set num_retrieved_models=2 --set outer_loop_steps=1 --set inner_loop_steps=2 \
                     --set num_parallel_solutions=2 --set ensemble_rounds=2 --set subsample_limit=3000 \
                     --time-limit 1200 --jobs 2";

#[test]
fn a_whole_run_asks_every_agent_and_nobody_else() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network("real_runs::real_claude::a_whole_run_asks_every_agent_and_nobody_else", async {
        let api = Api::start(|asked| answer(asked, Style::Learned)).await;
        let world = World::new(&api);
        let description = description(&world);
        world.sealed.write("flights/description.md", description.as_bytes());

        let whole = said(world.run("whole", WHOLE));
        assert_eq!(whole.code, 0, "{}", whole.stderr);
        let asked = api.all();
        check_that_calls_are_requests(&whole, &asked);
        check_prompts(&asked, &description);
        check_bill(&world.result("whole"), &asked);
        check_result(&world);
        assert_eq!(attempts_to_leave(), 0);
        try_to_leave();
        assert_ne!(attempts_to_leave(), 0);
    });
}

/// The task's description, text that might be interpreted, and 200 KiB of other text.
fn description(world: &World) -> String {
    let words = world.sealed.read("flights/description.md");
    format!("{words}{TRAPS}{}The end.", "All flights are equal. ".repeat(9000))
}

/// Every call of the run is a conversation with the service, which gets no other requests.
fn check_that_calls_are_requests(whole: &crate::sealed::Said, asked: &[Asked]) {
    let calls = calls(&events(whole));
    let places: Vec<String> = calls.started.iter().map(|(place, ..)| place.clone()).collect();
    assert_eq!(places, calls.ended);
    let mut at_service: BTreeMap<String, Vec<&Asked>> = BTreeMap::new();
    for asked in asked {
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", MESSAGES), "{asked:?}");
        at_service.entry(answers::place(asked)).or_default().push(asked);
    }
    assert_eq!(at_service.keys().cloned().collect::<Vec<_>>(), places);
    for (place, agent, variant) in &calls.started {
        let requests = &at_service[place];
        assert_eq!(requests.len(), answers::requests(place), "{place}");
        for request in requests.iter().filter(|request| !is_search(request)) {
            let role = role_of(&request.prompt()).unwrap_or_else(|| panic!("{place}: {}", request.prompt()));
            assert_eq!((&role.agent, &role.variant), (agent, variant), "{place}");
        }
    }
    for role in &ROLES {
        let is_asked =
            calls.started.iter().any(|(_, agent, variant)| (*agent, *variant) == (role.agent, role.variant));
        assert!(is_asked, "{role:?} was never asked");
    }
}

/// The exact prompts of the agents.
fn check_prompts(asked: &[Asked], description: &str) {
    let parts =
        [description, "Metric: ROC-AUC", "Direction: maximize (a higher score is better)", "CPU core"];
    let judges = ["leakage", "summarize", "subsampling", "contamination"];
    for request in asked.iter().filter(|request| !is_search(request)) {
        let blocks = request.body["system"].as_array().unwrap().iter();
        let system: String = blocks.filter_map(|block| block["text"].as_str()).collect();
        let call = request.scenario.rsplit('.').next().unwrap_or_default();
        let judges = judges.iter().any(|name| call.starts_with(name));
        for part in parts {
            let start: String = part.chars().take(60).collect();
            assert_eq!(system.contains(part), !judges, "{}: {start}", request.scenario);
        }
        assert!(!request.prompt().contains(description), "{}: said twice", request.scenario);
    }
}

/// Compares costs and tokens of the result with those of the service.
fn check_bill(result: &Value, asked: &[Asked]) {
    let by_phase =
        |phase: &str| asked.iter().filter(|asked| answers::place(asked).starts_with(phase)).count();
    // A call with one request, like all of them.
    let price = &result["usage"]["by_role"]["init"];
    let price = price["cost_usd"].as_f64().unwrap() / price["calls"].as_f64().unwrap();
    assert!(price > 0.0);
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-9;
    for phase in ["phase1", "phase2", "phase3", "finalization"] {
        let requests = by_phase(phase);
        let usage = &result["usage"]["by_phase"][phase];
        let tokens =
            ["input", "cache_write", "cache_read", "output"].map(|name| usage[name].as_u64().unwrap());
        assert_eq!(tokens, USAGE.map(|tokens| tokens * requests as u64), "{phase}");
        let searches = asked.iter().filter(|asked| phase == "phase1" && is_search(asked)).count();
        let expected = price * requests as f64 + 0.01 * searches as f64;
        let cost = &result["costs"][format!("{phase}_cost_usd")];
        assert!(near(cost, expected), "{phase}: {cost}, expected {expected}");
    }
    let tokens =
        ["input", "cache_write", "cache_read", "output"].map(|name| result["tokens"][name].as_u64().unwrap());
    assert_eq!(tokens, USAGE.map(|tokens| tokens * asked.len() as u64));
    let costs = &result["costs"];
    let paths = costs["phase2_per_path_cost_usd"].as_array().unwrap().iter();
    assert!(near(&costs["phase2_cost_usd"], paths.map(|cost| cost.as_f64().unwrap()).sum()), "{costs}");
}

/// The outcome of the agents' work.
fn check_result(world: &World) {
    let result = world.result("whole");
    let done = result["phases_completed"].as_array().unwrap().len();
    assert_eq!(done, 4, "{} {}", result["phases_completed"], result["trust"]);
    assert_eq!(result["contamination"], "Novel");
    assert_eq!(result["leakage_suspected"], false);
    assert_eq!(result["phase1"]["lookups"][0]["what"], "models for small tables");
    let script = result["final_solution"]["content"].as_str().unwrap();
    for part in ["# All training samples are used.", "X_fit.mean()", "planes = read(\"planes\")"] {
        assert!(script.contains(part), "{part}:\n{script}");
    }
    let submission = world.sealed.read("runs/whole/final/submission.csv");
    assert_eq!((submission.lines().next(), submission.lines().count()), (Some("id,delayed"), 1501));
}

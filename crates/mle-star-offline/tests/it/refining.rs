//! Refinement: which block comes first, and which plans are proposed for it.

use std::collections::BTreeSet;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::role::AgentType;
use serde_json::{Value, json};

use super::ask::{blocks, merged};
use super::role_answers::{asked, is_code, strategies};
use super::tasks::{agents, shape};

#[test]
fn the_extractor_follows_the_study_and_prefers_new_parts() {
    let agents = agents(&shape("F1", Maximize, 2));
    let output = "Baseline: 0.800000\n\
        Without Model: LightGBM (the library's own defaults): 0.790000 | baseline 0.800000 | difference -0.010000\n\
        Without Features: XGBoost (half of it): 0.700000 | baseline 0.800000 | difference -0.100000\n\
        Without Blend (LightGBM alone): 0.805000 | baseline 0.800000 | difference +0.005000\n";
    let ask = asked(&agents, "phase2/path-0/t0");
    let script = merged(&ask, ["LightGBM", "XGBoost"]);
    let summary = ask.ask(AgentType::Summarize, None, json!({ "ablation_code": "", "raw_result": output }));
    let mut previous: Vec<Value> = Vec::new();
    for expected in ["Features: XGBoost", "Model: LightGBM", "Blend"] {
        let inputs = json!({
            "solution_script": script, "ablation_summary": summary, "previous_code_blocks": previous, "note": "",
        });
        let plans = ask.json(AgentType::Extractor, None, inputs);
        let block = plans["plans"][0]["code_block"].clone();
        assert_eq!(block.as_str().unwrap().lines().next(), Some(format!("# === {expected} ===").as_str()));
        previous.push(block);
    }
}

#[test]
fn planners_propose_what_was_not_tried() {
    let agents = agents(&shape("accuracy", Maximize, 3));
    let ask = asked(&agents, "phase2/path-0/t0");
    let script = merged(&ask, ["LightGBM", "XGBoost"]);
    let mut pairs = 0;
    for (block, first) in blocks(&ask, &script) {
        let mut plans = vec![first];
        for _ in 0..3 {
            let scores: Vec<Value> =
                (0..plans.len()).map(|at| if at == 2 { Value::Null } else { json!(0.5) }).collect();
            let inputs = json!({ "code_block": block, "plans": plans, "scores": scores });
            let plan = ask.ask(AgentType::Planner, None, inputs);
            assert!(!plans.contains(&plan) || plan.starts_with("Keep"), "{plan}");
            let edited = ask.code(AgentType::Coder, None, json!({ "code_block": block, "plan": plan }));
            assert!(is_code(&edited), "{edited}");
            pairs += usize::from(plan.matches("Strategy: ").count() == 2 && edited != block);
            plans.push(plan);
        }
    }
    assert!(pairs > 0, "no plan builds on two that scored");
}

#[test]
fn paths_share_the_strategies_of_a_block() {
    let agents = agents(&shape("RMSE", Minimize, 0));
    let script = merged(&asked(&agents, "phase1/merge-1"), ["LightGBM", "CatBoost"]);
    let plans = |path: usize, block: &str| -> Vec<String> {
        let place = format!("phase2/path-{path}/t0");
        strategies(&asked(&agents, &place), block)
    };
    let mut shared = 0;
    for (block, _) in blocks(&asked(&agents, "phase2/path-0/t0"), &script) {
        let [all, other, third] = [0, 1, 2].map(|path| plans(path, &block));
        let set = |plans: &[String]| plans.iter().cloned().collect::<BTreeSet<String>>();
        assert_eq!((set(&all), set(&all)), (set(&other), set(&third)));
        let half = all.len() / 2;
        assert!(set(&all[..half]).is_disjoint(&set(&other[..half])), "{all:?}\n{other:?}");
        // The first strategy is the most promising of all, and every path begins with another one.
        if all.len() >= 4 {
            assert!(all[0] != third[0] && other[0] != third[0], "{all:?}\n{third:?}");
            shared += 1;
        }
    }
    assert!(shared > 1, "{script}");
}

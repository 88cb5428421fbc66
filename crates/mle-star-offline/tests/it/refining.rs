//! Refinement: which block comes first, and which plans are proposed for it.

use mle_star::lessons::lessons;
use mle_star::metric::Direction::{Maximize, Minimize};
use mle_star::place::Step;
use mle_star::role::AgentType;
use mle_star::solution::{Solution, SolutionPhase};
use mle_star::verdict::{Verdict, Verdicts};
use serde_json::{Value, json};

use super::ask::{blocks, merged};
use super::role_answers::{asked, is_code};
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
fn paths_begin_differently_and_answers_repeat() {
    let agents = agents(&shape("RMSE", Minimize, 0));
    let script = merged(&asked(&agents, "phase1/merge-1"), ["LightGBM", "CatBoost"]);
    let study = |place: &str| {
        let inputs = json!({ "solution_script": script, "previous_ablations": [] });
        asked(&agents, place).code(AgentType::Ablation, None, inputs)
    };
    assert_eq!(study("phase2/path-0/t0/ablation"), study("phase2/path-0/t0/ablation"));
    assert_ne!(study("phase2/path-0/t0/ablation"), study("phase2/path-1/t0/ablation"));
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
fn what_did_not_help_elsewhere_is_not_proposed_for_the_same_block() {
    let agents = agents(&shape("RMSE", Minimize, 0));
    let ask = asked(&agents, "phase2/path-1/t0");
    let script = ask.code(AgentType::Init, None, json!({ "model_name": "LightGBM" }));
    let solution = Solution::new(script.clone(), SolutionPhase::Init);
    let (block, first) = blocks(&ask, &script).swap_remove(0);
    let block = solution.find_block(&block).unwrap();
    // The lessons of a run in which path 1 tried this plan.
    let told = |plan: &str, kept: bool, part: String| {
        let start = Step::Candidate(0);
        let attempt = Step::Attempt { path: 0, outer: 0, inner: 0 };
        let began = Verdict { score: Some(1.0), ..Verdict::default() };
        let note = plan.to_owned();
        let tried = Verdict { score: Some(1.5), kept, from: vec![start], note, part, ..Verdict::default() };
        let lines = lessons(&Verdicts::from([(start, began), (attempt, tried)]), Minimize, None);
        json!({ "lessons": lines })
    };
    let first_plan = |told: Value| {
        let inputs = json!({
            "solution_script": script, "ablation_summary": "", "previous_code_blocks": [], "note": "",
        });
        let reply = ask.ask_telling(AgentType::Extractor, None, inputs, told);
        let plans: Value = serde_json::from_str(&reply).unwrap();
        let plans = plans["plans"].as_array().unwrap();
        let of_block = plans.iter().find(|plan| plan["code_block"] == block.as_str()).unwrap();
        of_block["plan"].as_str().unwrap().to_owned()
    };
    let next_plan = |told: Value| {
        let inputs = json!({ "code_block": block.as_str(), "plans": [], "scores": [] });
        ask.ask_telling(AgentType::Planner, None, inputs, told)
    };
    for plan_of in [&first_plan as &dyn Fn(Value) -> String, &next_plan] {
        assert!(plan_of(json!({})).starts_with(&first), "{first}");
        assert!(!plan_of(told(&first, false, block.label())).starts_with(&first));
        // It helped, it was tried on another block, or only together with another strategy.
        assert!(plan_of(told(&first, true, block.label())).starts_with(&first));
        assert!(plan_of(told(&first, false, "block `# === Other ===`".to_owned())).starts_with(&first));
        let together = first.replacen(". ", ". Strategy: clipping to the range seen in training. ", 1);
        assert!(plan_of(told(&together, false, block.label())).starts_with(&first));
    }
}

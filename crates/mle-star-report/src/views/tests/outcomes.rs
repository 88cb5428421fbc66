//! What is said of steps without a script of their own, of steps that were stopped, and of work that needs no slot.

use mle_star::testing::{measured, protocol, submitted};
use mle_star_domain::config::{FinalChoice, LeakageGate};
use mle_star_domain::effects::{AgentReply, Usage};
use mle_star_domain::protocol::{Holdout, Protocol};
use serde_json::json;

use super::*;

/// Inputs with 100 of 1,000 rows held out, which choose among the best.
fn held_out() -> Frozen {
    let holdout = Holdout::On { rows: 100, of: 1000, seed: 1, digest: "d".to_owned(), period: false };
    let mut inputs = Frozen { protocol: Some(Protocol { holdout, ..protocol() }), ..frozen() };
    inputs.config.final_choice = FinalChoice::Holdout;
    inputs
}

/// A run in which the first round wrote its own submission, and is not the best on held-out rows.
fn finalists() -> World {
    let round = ScriptOutcome { submission: submitted(&[]).submission, ..measured(&[0.9, 0.89, 0.91]) };
    World::new()
        .script("phase3/r0/run", round)
        .scores("phase2/path-0/t0/k0/run", 0.7)
        .held_out("phase3/r0/run", &[0.8, 0.79, 0.81])
        .held_out("finalization/choice-1/run", &[0.86, 0.85, 0.87])
        .held_out("finalization/holdout/run", &[0.86, 0.85, 0.87])
}

/// A script that scores a copy of the truth.
const LEAKING: &str = "import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.metrics import r2_score
df = pd.read_csv('d.csv')
a, b, c, d = train_test_split(df.drop(columns='y'), df['y'])
pred = d.copy()
pred[:] = d.values
print('Final Validation Performance:', r2_score(d, pred))";

fn outcome(view: &RunView, place: &str) -> (String, String) {
    let node = node(view, place);
    (node["status"].as_str().unwrap().to_owned(), node["outcome"].as_str().unwrap().to_owned())
}

fn check(view: &RunView, place: &str, status: &str, words: &str) {
    assert_eq!(outcome(view, place), (status.to_owned(), words.to_owned()));
}

#[tokio::test]
async fn finalists_were_compared_whoever_wrote_their_submission() {
    let made = made(&finalists().fails("finalization/holdout/run"), &held_out()).await;
    check(&made.view, "finalization/choice-0", "dropped", "compared on held-out rows, not chosen");
    check(&made.view, "finalization/choice-1", "kept", "chosen on held-out rows");
    assert_eq!(node(&made.view, "finalization/choice-1")["kind"], "comparison");
    assert_eq!(node(&made.view, "finalization")["runs"][0]["name"], "without the held-out labels");
    let failures = part(&made.view, "failures");
    assert_eq!(failures["scripts"][0]["runs"][0]["run"]["name"], "without the held-out labels");
}

#[tokio::test]
async fn the_reason_why_no_script_ran_is_told() {
    let leak = json!({"answers": [{"leakage_status": "Yes Data Leakage", "code_block": "absent"}]});
    let world = World::new().reply("phase1/final/leakage", AgentReply::text(leak.to_string()));
    let Made { view, folder: _folder } = made(&world, &frozen()).await;
    check(&view, "phase1/final", "done", "a leak is suspected");
    check(&view, "phase1/data", "done", "no data is left unused");

    let mut inputs = Frozen { protocol: Some(protocol()), ..frozen() };
    inputs.config.leakage_gate = LeakageGate::Block;
    inputs.task.roles.target = Some("y".to_owned().into());
    let world = World::new().agent("phase1/candidate-1/init", &format!("```python\n{LEAKING}\n```"));
    let world = (1..9)
        .fold(world, |world, count| world.agent(&format!("phase1/candidate-1/gate-fix-{count}"), "no idea"));
    let view = made(&world, &inputs).await.view;
    check(&view, "phase1/candidate-1", "failed", "not run: it leaks (line 9)");

    let world = World::new().agent("phase1/candidate-1/init", "```python\nexit()\n```");
    let mut inputs = frozen();
    inputs.config.max_debug_attempts = 1;
    let world = world.agent_fails("phase1/candidate-1/debug-1/debugger");
    let view = made(&world, &inputs).await.view;
    check(&view, "phase1/candidate-1", "failed", "no script that can be run");
}

#[tokio::test]
async fn a_step_that_a_stop_cut_off_has_not_failed() {
    let known = Usage { cost_usd: Some(0.1), ..Usage::default() };
    let world = World::new().denies_once("phase2/path-1/t0/k1/coder", known);
    let Made { view, folder: _folder } = begun(&world, &frozen()).await;
    check(&view, "phase2/path-1/t0/k1", "open", "cut off");
    let outcomes = &part(&view, "tree")["outcomes"];
    assert!(!outcomes.as_array().unwrap().contains(&"failed".into()), "{outcomes}");
    check(&view, "phase2/path-1/t0", "done", "measured");
}

#[tokio::test]
async fn a_leaking_solution_that_the_last_check_replaced_is_never_the_best() {
    let world = leaking(World::new(), "phase1/merge-1/merger", "phase1/final/leakage")
        .scores("phase1/merge-1/run", 0.95)
        .scores("phase1/final/run", 0.6);
    let Made { view, .. } = made(&world, &frozen()).await;
    assert!(world.trace().contains(&"phase1/final/run".to_owned()), "{:?}", world.trace());
    assert_eq!(view.summary.best_score, Some(0.6));
}

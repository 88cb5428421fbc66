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

fn outcome(views: &Views, place: &str) -> (&'static str, String) {
    let node = views.tree.node(place).unwrap_or_else(|| panic!("no {place}"));
    (node.status, node.outcome.clone())
}

#[tokio::test]
async fn finalists_were_compared_whoever_wrote_their_submission() {
    let made = made(&finalists().fails("finalization/holdout/run"), &held_out()).await;
    let views = of_run(&made.view);
    let lost = ("dropped", "compared on held-out rows, not chosen".to_owned());
    assert_eq!(outcome(&views, "finalization/choice-0"), lost);
    assert_eq!(outcome(&views, "finalization/choice-1"), ("kept", "chosen on held-out rows".to_owned()));
    assert_eq!(views.tree.node("finalization/choice-1").unwrap().kind, "comparison");
    let names = |place: &str| {
        let node = views.tree.node(place).unwrap();
        node.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(names("finalization")[0], "without the held-out labels");
    assert_eq!(views.failures.scripts[0].runs[0].name, "without the held-out labels");
}

#[tokio::test]
async fn the_reason_why_no_script_ran_is_told() {
    let leak = json!({"answers": [{"leakage_status": "Yes Data Leakage", "code_block": "absent"}]});
    let world = World::new().reply("phase1/final/leakage", AgentReply::text(leak.to_string()));
    let views = of_run(&made(&world, &frozen()).await.view);
    assert_eq!(outcome(&views, "phase1/final"), ("done", "a leak is suspected".to_owned()));
    assert_eq!(outcome(&views, "phase1/data"), ("done", "no data is left unused".to_owned()));

    let mut inputs = Frozen { protocol: Some(protocol()), ..frozen() };
    inputs.config.leakage_gate = LeakageGate::Block;
    inputs.task.roles.target = Some("y".to_owned().into());
    let world = World::new().agent("phase1/candidate-1/init", &format!("```python\n{LEAKING}\n```"));
    let world = (1..9)
        .fold(world, |world, count| world.agent(&format!("phase1/candidate-1/gate-fix-{count}"), "no idea"));
    let views = of_run(&made(&world, &inputs).await.view);
    assert_eq!(outcome(&views, "phase1/candidate-1"), ("failed", "not run: it leaks (line 9)".to_owned()));

    let world = World::new().agent("phase1/candidate-1/init", "```python\nexit()\n```");
    let mut inputs = frozen();
    inputs.config.max_debug_attempts = 1;
    let world = world.agent_fails("phase1/candidate-1/debug-1/debugger");
    let views = of_run(&made(&world, &inputs).await.view);
    let unusable = ("failed", "no script that can be run".to_owned());
    assert_eq!(outcome(&views, "phase1/candidate-1"), unusable);
}

#[tokio::test]
async fn a_step_that_a_stop_cut_off_has_not_failed() {
    let known = Usage { cost_usd: Some(0.1), ..Usage::default() };
    let world = World::new().denies_once("phase2/path-1/t0/k1/coder", known);
    let made = begun(&world, &frozen()).await;
    let views = of_run(&made.view);
    assert_eq!(outcome(&views, "phase2/path-1/t0/k1"), ("open", "cut off".to_owned()));
    assert!(views.tree.outcomes.iter().all(|outcome| *outcome != "failed"), "{:?}", views.tree.outcomes);
    assert_eq!(outcome(&views, "phase2/path-1/t0"), ("done", "measured".to_owned()));
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

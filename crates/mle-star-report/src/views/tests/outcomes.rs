//! What is said of steps without a script of their own, of steps that were stopped, and of work that needs no slot.

use mle_star::event::{Event, Line, Outline};
use mle_star::journal::EffectState;
use mle_star::testing::{measured, protocol, scored_with_submission, submitted};
use mle_star_domain::config::{Context as AgentContext, FinalChoice, LeakageGate};
use mle_star_domain::effects::{AgentReply, Usage};
use mle_star_domain::layout::{EVENTS, LOGS};
use mle_star_domain::place::Phase;
use mle_star_domain::protocol::{Holdout, Protocol};
use serde_json::json;

use super::*;
use crate::run_view;
use crate::views::now::NowView;

/// Inputs with 100 of 1,000 rows held out, which choose among the best.
pub fn held_out() -> Frozen {
    let holdout = Holdout::On { rows: 100, of: 1000, seed: 1, digest: "d".to_owned(), period: false };
    let mut inputs = Frozen { protocol: Some(Protocol { holdout, ..protocol() }), ..frozen() };
    inputs.config.final_choice = FinalChoice::Holdout;
    inputs
}

/// A run in which the first round wrote its own submission, and is not the best on held-out rows.
pub fn finalists() -> World {
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
async fn a_run_that_only_keeps_the_model_is_not_the_submission() {
    let mut inputs = frozen();
    inputs.config.context = AgentContext::Full;
    let world = World::new()
        .script("phase3/r1/run", scored_with_submission(0.8))
        .agent("phase3/r1/ensembler", "```python\nwrites = 'the submission'\n```")
        .agent("finalization/model/test", "```python\nopen('predict.py')\n```")
        .fails("finalization/model/run");
    let made = made(&world, &inputs).await;
    assert!(world.trace().contains(&"finalization/model/run".to_owned()), "{:?}", world.trace());
    let views = of_run(&made.view);
    let valid = ("kept", "valid submission, written by the solution itself".to_owned());
    assert_eq!(outcome(&views, "finalization"), valid);
    assert!(views.failures.scripts.is_empty(), "{:?}", views.failures.scripts);
    let code = code::at(&made.view, "finalization").unwrap();
    assert_eq!(code.script, made.view.result.unwrap().final_solution.content);
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
    inputs.task.target_column = Some("y".to_owned().into());
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

/// What a running run does, with these events of its world.
fn now(made: &mut Made, inputs: &Frozen, events: Vec<Event>) -> NowView {
    let outline = Outline::new(inputs, false, 0.0, Usage::free());
    let all = [Event::RunStarted(Box::new(outline))].into_iter().chain(events);
    let line = |(second, event)| {
        let time = jiff::Timestamp::from_second(second).unwrap();
        serde_json::to_string(&Line { time, run_id: "r".to_owned(), event }).unwrap() + "\n"
    };
    let logs = made.folder.path().join(LOGS);
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(logs.join(EVENTS), (0..).zip(all).map(line).collect::<String>()).unwrap();
    made.view.summary.run.state = State::Running;
    of_run(&made.view).now.unwrap()
}

#[tokio::test]
async fn the_program_itself_waits_for_no_turn() {
    let (world, inputs) = (finalists().breaks_once("finalization/choice-1/look-choosing"), held_out());
    let mut made = begun(&world, &inputs).await;
    let ends = |event: &Event| matches!(event, Event::Stopped(_) | Event::RunEnded { .. });
    let events = world.events().into_iter().filter(|event| !ends(event)).collect();
    let now = now(&mut made, &inputs, events);
    let told: Vec<(&str, bool)> = now.work.iter().map(|work| (work.what.as_str(), work.waits)).collect();
    assert_eq!(told, [("the program", false)], "{:?}", now.work);
    assert_eq!(outcome(&of_run(&made.view), "finalization/choice-1"), ("open", "being worked on".to_owned()));
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

#[tokio::test]
async fn the_best_score_has_no_step_while_another_solution_goes_on() {
    let data = "```python\nprint('more')\nblock = 'data'\nprint(block)\n```";
    let world = World::new()
        .scores("phase1/merge-1/run", 0.9)
        .agent("phase1/data/data", data)
        .scores("phase1/data/run", 0.85)
        .breaks_once("phase2/path-0/t0/ablation");
    let made = begun(&world, &frozen()).await;
    let score = of_run(&made.view).overview.score;
    assert_eq!((made.view.summary.best_score, score.best_at), (Some(0.9), None));
}

#[tokio::test]
async fn a_run_with_a_language_model_is_not_said_to_have_no_cost() {
    let made = begun(&World::new().breaks_once("phase1/retriever"), &frozen()).await;
    assert_eq!(of_run(&made.view).costs.nothing, "Nothing was spent.");
}

#[tokio::test]
async fn a_phase_that_was_set_aside_is_not_the_current_one() {
    let mut made = made(&World::new(), &frozen()).await;
    assert_eq!(made.view.summary.phase, Some(Phase::Finalization));
    for effect in &mut made.view.snapshot.effects {
        if effect.place.phase() == Some(Phase::Finalization) {
            effect.state = EffectState::Aside;
        }
    }
    assert_eq!(run_view::phase(&made.view.snapshot), Some(Phase::Phase3));
}

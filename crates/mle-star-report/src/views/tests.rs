//! Views of runs in a scripted world: finished, failed, running, hostile and large ones.

mod data;
mod hostile;
mod large;
mod markup;
mod outcomes;
mod runners;
mod trust;
pub(super) mod world;

use mle_star_domain::place::{Place, Step};

use mle_star::journal::{Frozen, Kind};
use mle_star::testing::{World, failed, frozen};
use mle_star_domain::config::LeakageCheck;
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::metric::Direction;

use serde_json::Value;

use super::*;
use crate::at_work::AtWork;
use crate::html::{self, Extent};
use crate::run_view::{RunView, State};
use crate::views::descent::Descent;
use world::{Made, begun, leaking, made};

/// What the template of a part reads.
fn part(view: &RunView, name: &str) -> Value {
    values(view, name).unwrap()
}

/// The step at this place, as the list of solutions shows it.
fn node(view: &RunView, place: &str) -> Value {
    let tree = part(view, "tree");
    let groups = tree["groups"].as_array().unwrap();
    let mut nodes = groups.iter().flat_map(|group| group[1].as_array().unwrap());
    nodes.find(|node| node["place"] == place).unwrap_or_else(|| panic!("no {place}")).clone()
}

fn rows(view: &RunView) -> Vec<Solution> {
    RunReport::of(view).leaderboard().into_iter().cloned().collect()
}

fn notes(view: &RunView) -> Vec<String> {
    RunReport::of(view).notes()
}

/// Worlds that end in different ways through the algorithms.
fn worlds() -> Vec<(&'static str, World)> {
    let scores = |world: World, scores: &[(&str, f64)]| {
        scores.iter().fold(world, |world, (place, score)| world.scores(&format!("{place}/run"), *score))
    };
    vec![
        ("ties", World::new()),
        (
            "a merge and one attempt help",
            scores(
                World::new(),
                &[
                    ("phase1/candidate-0", 0.4),
                    ("phase1/candidate-1", 0.6),
                    ("phase1/merge-1", 0.7),
                    ("phase2/path-0/t0/k0", 0.65),
                    ("phase2/path-0/t0/k1", 0.8),
                    ("phase2/path-1/t0/k0", 0.75),
                    ("phase2/path-1/t0/k1", 0.72),
                    ("phase3/r0", 0.9),
                    ("phase3/r1", 0.85),
                ],
            ),
        ),
        (
            "nothing helps",
            scores(
                World::new(),
                &[
                    ("phase1/candidate-0", 0.9),
                    ("phase1/merge-1", 0.1),
                    ("phase2/path-0/t0/k0", 0.2),
                    ("phase2/path-0/t0/k1", 0.3),
                    ("phase2/path-1/t0/k0", 0.2),
                    ("phase2/path-1/t0/k1", 0.3),
                    ("phase3/r0", 0.4),
                    ("phase3/r1", 0.5),
                ],
            ),
        ),
        (
            "repairs",
            World::new()
                .costs(Some(0.25))
                .fails("phase1/candidate-0/run")
                .fails("phase2/path-0/t0/k0/run")
                .fails("phase2/path-0/t0/k0/debug-1/run")
                .fails("phase3/r1/run"),
        ),
        ("leaks", leaking(World::new(), "phase1/candidate-0/init", "phase1/candidate-0/leakage")),
        (
            "data",
            World::new()
                .agent("phase1/data/data", "```python\nprint('more')\nblock = 'data'\nprint(block)\n```"),
        ),
    ]
}

#[tokio::test]
async fn descent_is_that_of_the_result() {
    for (name, world) in worlds() {
        for direction in [Direction::Maximize, Direction::Minimize] {
            let mut inputs = frozen();
            inputs.task.metric_direction = direction;
            let Made { view, .. } = made(&world, &inputs).await;
            world.forget();
            let result = view.result.clone().unwrap();
            let descent = Descent::of(&view.snapshot.verdicts(), direction);
            for step in &result.lineage {
                let from: Vec<Place> =
                    descent.from(step.place.step().unwrap()).iter().map(|step| step.place()).collect();
                assert_eq!(from, step.from, "{name} {direction:?}: {}", step.place);
            }
            let last = result.lineage.iter().rev().find(|step| step.phase != "finalization").unwrap();
            assert_eq!(descent.best, last.place.step(), "{name} {direction:?}");
        }
    }
}

/// A run with the program's own settings instead of the paper's.
fn own_settings() -> Frozen {
    let mut inputs = frozen();
    inputs.config.context = mle_star_domain::config::Context::Full;
    inputs.config.leakage_check = LeakageCheck::Accepted;
    inputs
}

#[tokio::test]
async fn a_score_with_a_leak_counts_nowhere_after_the_leak_was_removed() {
    let attempt = "phase2/path-0/t0/k0";
    let world = leaking(World::new(), "phase1/merge-1/merger", &format!("{attempt}/leakage"))
        .agent(&format!("{attempt}/coder"), "```python\nleak = 1\nblock = model.fit(leak)\n```")
        .scores(&format!("{attempt}/run"), 0.99)
        .scores(&format!("{attempt}/corrected/run"), 0.6);
    let Made { view, .. } = made(&world, &own_settings()).await;
    assert_eq!(view.summary.best_score, Some(0.6));
    let row = |place: &str| view.steps.iter().find(|step| step.place == place).unwrap();
    let leaked = row("phase2/path-0/t0/k0/run");
    assert_eq!((leaked.counts, leaked.outcome.as_str()), (false, "ran with a leak"));
    assert!(row("phase2/path-0/t0/k0/corrected/run").counts);
    let node = node(&view, attempt);
    let runs = node["runs"].as_array().unwrap();
    let names: Vec<(&str, bool)> =
        runs.iter().map(|run| (run["name"].as_str().unwrap(), run["score"].is_number())).collect();
    assert_eq!(names, [("first run", false), ("without the leak", true)]);
    let rows = rows(&view);
    assert!(rows.iter().all(|row| row.score.unwrap() < 0.99), "{rows:?}");
    assert!(rows.iter().any(|row| (row.place.as_str(), row.score) == (attempt, Some(0.6))), "{rows:?}");
}

#[tokio::test]
async fn plans_blocks_and_verdicts_are_those_of_the_result() {
    let both = worlds().into_iter().map(|world| (world, frozen()));
    let both = both.chain(worlds().into_iter().map(|world| (world, own_settings())));
    for ((name, world), inputs) in both {
        let Made { view, .. } = made(&world, &inputs).await;
        let result = view.result.clone().unwrap();
        let at_work = AtWork::of(&view);
        let context = Context::of(&view, &at_work);
        let rows = rows(&view);
        assert_eq!(rows[0].score, view.summary.best_score, "{name}");
        let is_kept = |place: &Place| rows.iter().any(|row| row.place == *place && row.kept);
        for (path, refined) in result.phase2_results.iter().enumerate() {
            for step in &refined.step_history {
                let (path, outer) = (u32::try_from(path).unwrap(), step.outer_step);
                let study = Step::Outer { path, outer };
                let target = ablation::target(&context, study).unwrap();
                assert_eq!(
                    (&target.plan, &target.code_block),
                    (&step.plan, &step.code_block),
                    "{name} {study}"
                );
                for (inner, attempt) in (0..).zip(&step.inner_loop_attempts) {
                    let attempted = Step::Attempt { path, outer, inner };
                    let place = attempted.place();
                    let node = node(&view, place.as_str());
                    assert_eq!(node["status"] == "kept", attempt.was_improvement, "{name} {place}");
                    assert_eq!(node["plan"], attempt.plan.as_str(), "{name} {place}");
                    assert_eq!(
                        context
                            .steps
                            .at(attempted)
                            .unwrap()
                            .score()
                            .map(mle_star_domain::metric::Score::value),
                        attempt.score
                    );
                    assert_eq!(is_kept(&place), attempt.was_improvement, "{name} {place}");
                }
            }
        }
        let merges = result.phase1.merges.iter().filter(|merge| merge.accepted).count();
        let shown = rows.iter().filter(|row| row.place.as_str().starts_with("phase1/merge-") && row.kept);
        assert_eq!(shown.count(), merges, "{name}");
        let models = part(&view, "models");
        let shown: Vec<_> = models["models"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| model["model"]["model_name"].clone())
            .collect();
        let expected: Vec<_> =
            result.phase1.retrieved_models.iter().map(|model| model.model_name.as_str()).collect();
        assert_eq!(shown, expected, "{name}");
    }
}

#[tokio::test]
async fn the_same_run_gives_the_same_bytes() {
    for (name, world) in worlds() {
        let made = made(&world, &frozen()).await;
        let first = html::render(&made.view, Extent::Full).unwrap();
        let again = crate::run_view::read(made.folder.path()).unwrap();
        assert_eq!(first, html::render(&again, Extent::Full).unwrap(), "{name}");
    }
}

#[tokio::test]
async fn a_failed_run_shows_its_tracebacks_and_what_can_be_shown() {
    let world = ["candidate-0", "candidate-1"].iter().fold(World::new(), |world, candidate| {
        let fail = |world: World, at: &str| {
            world.script(&format!("phase1/{candidate}{at}/run"), failed("ValueError: broken beyond repair"))
        };
        ["", "/debug-1", "/debug-2", "/debug-3"].iter().fold(world, |world, at| fail(world, at))
    });
    let mut inputs = frozen();
    inputs.config.max_debug_attempts = 3;
    let made = world::begun(&world, &inputs).await;
    assert_eq!(made.view.summary.run.state, State::Unfinished);
    let notes = notes(&made.view);
    assert!(notes.iter().any(|note| note.contains("can be resumed")), "{notes:?}");
    let failures = part(&made.view, "failures");
    let scripts = failures["scripts"].as_array().unwrap();
    assert_eq!(scripts.len(), 2);
    assert!(scripts.iter().all(|failed| failed["is_repaired"] == false));
    let says = |text: &Value| text.as_str().unwrap().contains("ValueError: broken beyond repair");
    assert!(scripts[0]["runs"].as_array().unwrap().iter().all(|one| says(&one["run"]["error"])));
    assert!(says(&node(&made.view, "phase1/candidate-0")["outcome"]));
    assert!(
        part(&made.view, "picture")["drawn"].as_array().unwrap().is_empty()
            && part(&made.view, "script")["code"].is_null()
    );
    let page = html::render(&made.view, Extent::Full).unwrap();
    world::keep("failed", &page);
    markup::check(&page);
}

#[tokio::test]
async fn a_run_cut_off_in_the_middle_shows_what_there_is() {
    let world = World::new().breaks_once("phase2/path-1/t0/k1/run");
    let mut made = world::begun(&world, &frozen()).await;
    let open = "phase2/path-1/t0/k1";
    let cut_off = node(&made.view, open);
    assert_eq!((&cut_off["status"], &cut_off["outcome"]), (&"open".into(), &"cut off".into()));
    let script = part(&made.view, "script");
    assert!(script["is_final"] == false && script["code"].is_string());
    made.view.summary.run.state = State::Running;
    assert_eq!(node(&made.view, open)["outcome"], "being worked on");
    let now = part(&made.view, "now");
    let work = now["work"].as_array().unwrap();
    assert!(work.iter().any(|now| now["place"] == "path 2, step 1, attempt 2" && now["what"] == "script"));
    let page = html::render(&made.view, Extent::Full).unwrap();
    world::keep("running", &page);
    markup::check(&page);
}

#[tokio::test]
async fn failed_paths_and_what_stopped_a_run_are_named() {
    let world = World::new().panics("phase2/path-1/t0/ablation").breaks_once("phase3/r0/ens_planner");
    let Made { view, folder: _folder } = begun(&world, &frozen()).await;
    let notes = notes(&view);
    for part in
        ["It was stopped: the outside is broken.", "Path 2 failed: ", "a defect at phase2/path-1/t0/ablation"]
    {
        assert!(notes.iter().any(|note| note.contains(part)), "{part}: {notes:?}");
    }
}

//! Views of runs in a scripted world: finished, failed, running, hostile and large ones.

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

use super::*;
use crate::html;
use crate::run_view::State;
use crate::views::descent::Descent;
use world::{Made, begun, leaking, made};

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
        .agent(&format!("{attempt}/coder"), "```python\nleak = 1\n```")
        .scores(&format!("{attempt}/run"), 0.99)
        .scores(&format!("{attempt}/corrected/run"), 0.6);
    let Made { view, .. } = made(&world, &own_settings()).await;
    assert_eq!(view.summary.best_score, Some(0.6));
    let row = |place: &str| view.steps.iter().find(|step| step.place == place).unwrap();
    let leaked = row("phase2/path-0/t0/k0/run");
    assert_eq!((leaked.counts, leaked.outcome.as_str()), (false, "ran with a leak"));
    assert!(row("phase2/path-0/t0/k0/corrected/run").counts);
    let views = of_run(&view);
    let node = views.tree.node(attempt).unwrap();
    let names: Vec<(&str, bool)> =
        node.runs.iter().map(|run| (run.name.as_str(), run.score.is_some())).collect();
    assert_eq!(names, [("first run", false), ("without the leak", true)]);
    let best = views.overview.phases.iter().filter_map(|phase| phase.best.as_deref());
    assert!(best.into_iter().all(|best| !best.contains("0.99")), "{:?}", views.overview.phases);
}

#[tokio::test]
async fn plans_blocks_and_verdicts_are_those_of_the_result() {
    let both = worlds().into_iter().map(|world| (world, frozen()));
    let both = both.chain(worlds().into_iter().map(|world| (world, own_settings())));
    for ((name, world), inputs) in both {
        let Made { view, .. } = made(&world, &inputs).await;
        let result = view.result.clone().unwrap();
        let views = of_run(&view);
        let at_work = AtWork::of(&view);
        let context = Context::of(&view, &at_work);
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
                    let node = views.tree.node(place.as_str()).unwrap();
                    assert_eq!(node.status == "kept", attempt.was_improvement, "{name} {place}");
                    assert_eq!(node.plan.as_deref(), Some(attempt.plan.as_str()), "{name} {place}");
                    assert_eq!(
                        context
                            .steps
                            .at(attempted)
                            .unwrap()
                            .score()
                            .map(mle_star_domain::metric::Score::value),
                        attempt.score
                    );
                    let entry = views.ledger.entries.iter().any(|entry| entry.place == place.as_str());
                    assert_eq!(entry, attempt.was_improvement, "{name} {place}");
                }
            }
        }
        let merges = result.phase1.merges.iter().filter(|merge| merge.accepted).count();
        let shown =
            views.ledger.entries.iter().filter(|entry| entry.place.starts_with("phase1/merge-")).count();
        assert_eq!(shown, merges, "{name}");
        let names = |names: Vec<String>| names;
        let models =
            names(result.phase1.retrieved_models.iter().map(|model| model.model_name.clone()).collect());
        assert_eq!(views.models.models.iter().map(|model| model.name.clone()).collect::<Vec<_>>(), models);
    }
}

#[tokio::test]
async fn the_same_run_gives_the_same_bytes() {
    for (name, world) in worlds() {
        let made = made(&world, &frozen()).await;
        let first = html::render(&made.view).unwrap();
        let again = crate::run_view::read(made.folder.path()).unwrap();
        assert_eq!(first, html::render(&again).unwrap(), "{name}");
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
    let views = of_run(&made.view);
    assert_eq!((views.overview.state, views.overview.is_over), ("unfinished", true));
    assert!(
        views.overview.notes.iter().any(|note| note.contains("can be resumed")),
        "{:?}",
        views.overview.notes
    );
    assert_eq!(views.failures.scripts.len(), 2);
    assert!(views.failures.scripts.iter().all(|failed| !failed.repaired));
    let tries = &views.failures.scripts[0].runs;
    assert!(
        tries.iter().all(|tried| tried.error.as_ref().unwrap().contains("ValueError: broken beyond repair"))
    );
    assert!(views.tree.node("phase1/candidate-0").unwrap().outcome.contains("broken beyond repair"));
    assert!(views.scores.by_script.is_none() && views.script.code.is_none());
    let page = html::render(&made.view).unwrap();
    world::keep("failed", &page);
    markup::check(&page);
}

#[tokio::test]
async fn a_run_cut_off_in_the_middle_shows_what_there_is() {
    let world = World::new().breaks_once("phase2/path-1/t0/k1/run");
    let mut made = world::begun(&world, &frozen()).await;
    let views = of_run(&made.view);
    let cut_off = views.tree.node("phase2/path-1/t0/k1").unwrap();
    assert_eq!((cut_off.status, cut_off.outcome.as_str()), ("open", "cut off"));
    assert!(!views.script.is_final && views.script.code.is_some());
    made.view.summary.run.state = State::Running;
    let views = of_run(&made.view);
    assert_eq!(views.tree.node("phase2/path-1/t0/k1").unwrap().outcome, "being worked on");
    assert!(
        views
            .now
            .unwrap()
            .work
            .iter()
            .any(|now| now.place == "path 2, step 1, attempt 2" && now.what == "script")
    );
    let page = html::render(&made.view).unwrap();
    world::keep("running", &page);
    markup::check(&page);
}

#[tokio::test]
async fn failed_paths_and_what_stopped_a_run_are_named() {
    let world = World::new().panics("phase2/path-1/t0/ablation").breaks_once("phase3/r0/ens_planner");
    let Made { view, folder: _folder } = begun(&world, &frozen()).await;
    let notes = of_run(&view).overview.notes;
    for part in
        ["It was stopped: the outside is broken.", "Path 2 failed: ", "a defect at phase2/path-1/t0/ablation"]
    {
        assert!(notes.iter().any(|note| note.contains(part)), "{part}: {notes:?}");
    }
}

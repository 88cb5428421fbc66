//! Submission scripts that keep their model: one fit on all rows makes both.

use mle_star::journal::{Frozen, Journal};
use mle_star::pipeline::FinishedRun;
use mle_star::testing::{World, failed, submitted};
use mle_star_domain::config::{AgentsChoice, Context, LeakageCheck};
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::question::Refit;

use crate::holdout::{earlier_period, finalization, finish, held_out, with_ensemble};
use crate::selection::{predicted, two_candidates, weights};
use crate::{Folder, go_on};

/// A copy that keeps its model.
const COPY: &str = "```python\nfit()\nopen('./final/predict.py', 'w')\n```";

fn asking(mut inputs: Frozen) -> Frozen {
    let config = &mut inputs.config;
    (config.context, config.leakage_check) = (Context::Full, LeakageCheck::Accepted);
    config.agents = AgentsChoice::Claude;
    inputs
}

/// A run whose best solution writes the submission itself.
fn world() -> World {
    with_ensemble()
        .agent("finalization/with-model/test", COPY)
        .agent("finalization/model/test", COPY)
        .held_out("phase3/r0/run", &[0.86, 0.85, 0.87])
}

fn submission(finished: &FinishedRun) -> &str {
    finished.submission.as_ref().unwrap().as_str()
}

#[tokio::test]
async fn one_run_on_all_rows_gives_submission_and_model() {
    let world = world();
    let finished = finish(&world, &asking(held_out())).await;
    assert_eq!(submission(&finished), "finalization/with-model/run");
    let model = finished.model.unwrap();
    assert_eq!(
        (model.run, &model.script),
        (finished.submission.unwrap(), &finished.result.final_solution.content)
    );
    assert!(model.script.contains("predict.py"), "{}", model.script);
    let calls = ["look-choosing", "holdout/look-reporting"];
    let copy = ["with-model/test", "with-model/run", "with-model/refit"];
    let trace = finalization(&world);
    assert_eq!(trace.iter().filter(|place| place.ends_with("/run")).count(), 2, "{trace:?}");
    let expected: Vec<&str> = calls.iter().chain(&copy).chain(&["importance/run"]).copied().collect();
    let mut sorted = trace.clone();
    sorted.sort_by_key(|place| expected.iter().position(|other| other == place));
    assert_eq!(sorted, expected, "{trace:?}");
    // What predicted the rows as they are predicts the copies, too.
    let script = |place: &str| world.script_run(place).unwrap().script;
    assert_eq!(script("finalization/importance/run"), script("phase3/r0/run"));
    let trust = finished.result.trust.unwrap();
    assert_eq!(trust.holdout_score, Some(0.86));
    assert!(trust.equivalence.contains("are like those without"), "{}", trust.equivalence);
}

#[tokio::test]
async fn the_script_itself_runs_if_its_copy_does_not_predict_as_it_does() {
    let check = async |world: World, model: Result<&str, &str>| {
        let finished = finish(&world, &asking(held_out())).await;
        assert_eq!(submission(&finished), "finalization/run", "{model:?}");
        let script = |place: &str| world.script_run(place).unwrap().script;
        assert_eq!(script("finalization/run"), script("phase3/r0/run"), "{model:?}");
        match (finished.model.map(|kept| kept.run.to_string()), model) {
            (Ok(run), Ok(expected)) => assert_eq!(run, expected),
            (Err(why), Err(part)) => assert!(why.contains(part), "{part}: {why}"),
            (found, _) => panic!("{model:?}: {found:?}"),
        }
        assert!(!finalization(&world).iter().any(|place| place.starts_with("model/")), "{model:?}");
    };
    let copy = "finalization/with-model";
    let compared = |refit: Refit| world().answers(&format!("{copy}/refit"), refit);
    let jump = Refit { rows: 2, words: "correlation 0.10".to_owned(), is_jump: true, failure: String::new() };
    check(
        compared(jump),
        Err("predicts otherwise than the solution, by more than fits do (correlation 0.10)"),
    )
    .await;
    // It is checked at the end against what was submitted.
    let unknown =
        Refit { failure: "cells with several labels are not compared".to_owned(), ..Refit::default() };
    check(compared(unknown), Ok("finalization/with-model/run")).await;
    let ran = |outcome| world().script(&format!("{copy}/run"), outcome);
    check(ran(failed("KeyError: 'a'")), Err("the script that keeps its model failed: KeyError: 'a'")).await;
    check(ran(submitted(&["row 3 is empty"])), Err("row 3 is empty")).await;
    let unasked = world().agent(&format!("{copy}/test"), "```python\nfit()\n```");
    check(unasked, Err("the agent wrote no script that keeps its model")).await;
}

#[tokio::test]
async fn without_time_for_a_second_run_the_script_itself_runs() {
    let mut inputs = asking(held_out());
    inputs.config.time_limit_seconds = 100;
    let slow = ScriptOutcome { duration_seconds: 40.0, ..predicted(0.9) };
    let world = world().script("phase3/r0/run", slow);
    let finished = finish(&world, &inputs).await;
    assert_eq!(submission(&finished), "finalization/run", "{:?}", finalization(&world));
    let why = finished.model.unwrap_err();
    let words = "the script may have to run once more, and has no time for that: it would take about 80.0 s";
    assert!(why.contains(words), "{why}");
}

#[tokio::test]
async fn where_nothing_is_known_of_the_test_rows_the_model_comes_after_the_submission() {
    let finished = finish(&world(), &asking(earlier_period())).await;
    assert!(!submission(&finished).contains("model"), "{}", submission(&finished));
    assert_eq!(finished.model.unwrap().run.as_str(), "finalization/model/run");
}

#[tokio::test]
async fn the_copies_of_combined_solutions_are_combined() {
    let world = (1..=2).fold(two_candidates(), |world, member| {
        world.agent(&format!("finalization/with-model/member-{member}/test"), COPY)
    });
    let world = world.answers("phase3/selection/weights", weights(&[0.75, 0.25], 0.8));
    let finished = finish(&world, &asking(held_out())).await;
    assert_eq!(submission(&finished), "finalization/with-model/run", "{:?}", finalization(&world));
    let script = &finished.result.final_solution.content;
    assert!(script.contains("MEMBERS = [") && script.matches("predict.py', 'w'").count() == 2, "{script}");
    assert_eq!(finished.model.unwrap().run.as_str(), "finalization/with-model/run");
}

#[tokio::test]
async fn a_killed_run_makes_no_copy_twice() {
    let (folder, inputs) = (Folder::fresh(), asking(held_out()));
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let world = world().breaks_once("finalization/importance/run");
    assert!(go_on(&world, &inputs, &journal).await.is_err());
    drop(journal);
    world.forget();
    let (journal, inputs) = Journal::open(folder.path()).unwrap();
    let finished = go_on(&world, &inputs, &journal).await.unwrap();
    assert_eq!(submission(&finished), "finalization/with-model/run");
    assert_eq!(finalization(&world), ["importance/run"]);
}

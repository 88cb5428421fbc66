//! A search that predicts an earlier period: answers for the rows of the test table come from the original files alone.

use mle_star::event::Event;
use mle_star::journal::{Frozen, Journal, read};
use mle_star::stop::Stop;
use mle_star::testing::{World, measured, submitted};
use mle_star_domain::config::{Context, Switch};
use mle_star_domain::effects::{DataView, Purpose, ScriptOutcome};
use mle_star_domain::place::{Phase, Step};

use crate::holdout::{earlier_period, finish, held_out};
use crate::{Folder, go_on, run};

/// A search whose scripts all leave predictions. The attempt and the round are better than what was before.
pub fn predicting() -> World {
    let steps = ["candidate-0", "candidate-1", "merge-1"].map(|step| format!("phase1/{step}/run"));
    let world = steps.iter().fold(World::new(), |world, place| world.script(place, predicted(0.5)));
    world
        .script("phase2/path-0/t0/k0/run", predicted(0.6))
        .script("phase3/r0/run", predicted(0.7))
        .held_out("phase3/r0/run", &[0.7, 0.69, 0.71])
}

/// A script that left predictions for the held-out period.
fn predicted(score: f64) -> ScriptOutcome {
    ScriptOutcome { submission: submitted(&[]).submission, ..measured(&[score, score - 0.01, score + 0.01]) }
}

/// Agents are told that scripts predict the test table.
pub fn inputs() -> Frozen {
    let mut inputs = earlier_period();
    (inputs.config.context, inputs.config.ensemble_selection) = (Context::Full, Switch::Off);
    inputs
}

/// The scripts that ran on the original files.
fn on_original_files(world: &World) -> Vec<String> {
    let is_whole = |place: &String| world.script_run(place).is_some_and(|run| run.data == DataView::Whole);
    world.trace().into_iter().filter(is_whole).collect()
}

/// The submissions that the run would leave if it stopped, in the order in which they were announced.
fn announced(world: &World) -> Vec<Option<String>> {
    let events = world.events().into_iter().filter_map(|event| match event {
        Event::Answer { solution, submission } if solution.step != Step::Finalization => {
            Some(submission.map(|best| best.run.to_string()))
        }
        _ => None,
    });
    let mut announced: Vec<_> = events.collect();
    announced.dedup();
    announced
}

#[tokio::test]
async fn at_the_end_of_each_phase_a_better_script_answers_for_the_test_rows() {
    let check = async |world: World, inputs: Frozen, expected: &[&str], submission: &str| {
        let finished = finish(&world, &inputs).await;
        assert_eq!(on_original_files(&world), expected);
        assert_eq!(finished.submission.unwrap().to_string(), submission);
        assert!(finished.result.final_solution.is_executable && finished.result.not_run.is_none());
        assert!(finished.result.phases_completed.contains(&"finalization".to_owned()));
        let answers = expected.iter().filter(|place| place.ends_with("provisional/run"));
        let answers = answers.map(|place| Some((*place).to_owned()));
        assert_eq!(announced(&world), [None].into_iter().chain(answers).collect::<Vec<_>>());
        let script = world.script_run(submission).unwrap().script;
        assert_eq!(finished.result.final_solution.content, script);
        for place in expected {
            assert_eq!(world.script_run(place).unwrap().purpose, Purpose::Submission);
        }
    };
    let [first, second, third] =
        ["phase1", "phase2", "phase3"].map(|phase| format!("{phase}/provisional/run"));
    let all = [first.as_str(), &second, &third];
    // The last script is the same, so it does not run again.
    check(predicting(), inputs(), &all, &third).await;
    let no_better = predicting().script("phase2/path-0/t0/k0/run", predicted(0.4));
    check(no_better, inputs(), &[&first, &third], &third).await;
    let no_better = predicting().script("phase3/r0/run", predicted(0.55));
    let no_better = no_better
        .script("phase3/r1/run", predicted(0.55))
        .held_out("phase2/path-0/t0/k0/run", &[0.6, 0.59, 0.61]);
    check(no_better, inputs(), &[&first, &second], &second).await;
    // An agent writes the submission script.
    let mut papers = inputs();
    papers.config.context = Context::Paper;
    check(predicting(), papers, &[&first, &second, &third, "finalization/run"], "finalization/run").await;
}

#[tokio::test]
async fn no_script_answers_early_if_the_search_predicts_the_test_rows() {
    let inputs = Frozen { protocol: held_out().protocol, ..inputs() };
    let world = predicting();
    finish(&world, &inputs).await;
    assert_eq!(on_original_files(&world), ["finalization/run"]);
    assert!(announced(&world).contains(&Some("phase3/r0/run".to_owned())));
    // Nothing but the agents' script predicts anything.
    let world = World::new();
    let finished = finish(&world, &self::inputs()).await;
    assert_eq!(on_original_files(&world), ["finalization/run"]);
    assert_eq!(finished.submission.unwrap().to_string(), "finalization/run");
}

#[tokio::test(start_paused = true)]
async fn an_answer_takes_a_small_share_of_the_time_that_is_left() {
    let check = async |seconds: u64, expected: &[&str]| {
        let mut inputs = inputs();
        inputs.config.time_limit_seconds = 600;
        let world = predicting().takes(0, seconds);
        let finished = finish(&world, &inputs).await;
        let answers: Vec<String> =
            on_original_files(&world).into_iter().filter(|place| place.contains("provisional")).collect();
        assert_eq!(answers, expected, "{seconds} s");
        for (place, most) in answers.iter().zip([150.0, 60.0, 60.0]) {
            assert!(world.script_run(place).unwrap().timeout.as_secs_f64() <= most, "{seconds} s: {place}");
        }
        // What was left out for want of time is no cut.
        let cut = |one: &mle_star::result::Cut| one.place.as_str().ends_with("provisional");
        assert!(!finished.result.cuts.iter().any(cut), "{:?}", finished.result.cuts);
    };
    check(2, &["phase1/provisional/run", "phase2/provisional/run", "phase3/provisional/run"]).await;
    check(45, &["phase1/provisional/run"]).await;
    check(120, &[]).await;
}

#[tokio::test]
async fn a_quicker_script_answers_first_if_the_best_takes_too_long() {
    let check = async |quick: f64, expected: Option<&str>| {
        let mut inputs = inputs();
        inputs.config.time_limit_seconds = 600;
        let takes = |seconds, score| ScriptOutcome { duration_seconds: seconds, ..predicted(score) };
        let steps = ["phase1/candidate-1", "phase1/merge-1", "phase2/path-0/t0/k0", "phase3/r0"];
        let world = World::new().script("phase1/candidate-0/run", takes(quick, 0.4));
        let world = (0..).zip(steps).fold(world, |world, (step, place)| {
            world.script(&format!("{place}/run"), takes(200.0, 0.5 + f64::from(step) / 10.0))
        });
        finish(&world, &inputs).await;
        let answers = on_original_files(&world).into_iter().filter(|place| place.contains("provisional"));
        let answers: Vec<String> = answers.map(|place| world.script_run(&place).unwrap().script).collect();
        let expected = expected.map(|place| world.script_run(place).unwrap().script);
        assert_eq!(answers, Vec::from_iter(expected), "{quick} s");
    };
    check(3.0, Some("phase1/candidate-0/run")).await;
    check(180.0, None).await;
}

#[tokio::test]
async fn an_answer_that_fails_is_told_and_leaves_the_one_before() {
    let world = predicting().fails("phase2/provisional/run").fails("phase3/provisional/run");
    let (inputs, folder) = (inputs(), Folder::fresh());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    go_on(&world, &inputs, &journal).await.unwrap();
    drop(journal);
    let verdicts = read(folder.path()).unwrap().verdicts();
    let known = |phase| {
        let verdict = &verdicts[&Step::Provisional(phase)];
        (verdict.kept, verdict.note.as_str(), verdict.from.clone())
    };
    let attempt = Step::Attempt { path: 0, outer: 0, inner: 0 };
    assert!(known(Phase::Phase1).0);
    assert_eq!(known(Phase::Phase2), (false, "ValueError: broken", vec![attempt]));
    assert_eq!(announced(&world), [None, Some("phase1/provisional/run".to_owned())]);
    let debugged = |place: &String| place.starts_with("phase2/provisional/debug");
    assert!(!world.trace().iter().any(debugged), "it is not worth a repair");
}

#[tokio::test]
async fn a_run_that_stops_says_which_period_its_scripts_predict() {
    let stopped = async |world: World| {
        assert!(matches!(run(&world, &inputs()).await, Err(Stop::Outside(_))));
        let stopped = world.events().into_iter().find_map(|event| match event {
            Event::Stopped(diagnostics) => Some(diagnostics),
            _ => None,
        });
        let stopped = stopped.unwrap();
        (stopped.submission.map(|best| best.run.to_string()), stopped.predicts.unwrap().words())
    };
    let period = "2020-05-01 to 2020-05-28".to_owned();
    let early = stopped(predicting().breaks_once("phase1/provisional/run")).await;
    assert_eq!(early, (None, period.clone()));
    let late = stopped(predicting().breaks_once("phase2/path-0/t0/run")).await;
    assert_eq!(late, (Some("phase1/provisional/run".to_owned()), period));
}

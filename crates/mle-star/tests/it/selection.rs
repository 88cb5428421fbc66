//! Ensemble selection, and solutions for more models while time is left.

use std::time::Duration;

use mle_star::event::Event;
use mle_star::journal::Frozen;
use mle_star::testing::{World, frozen, measured, measurement, submitted};
use mle_star_domain::config::{AgentsChoice, Context, LeakageCheck, Probes, Switch};
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::measure::Difference;
use mle_star_domain::place::Step;
use mle_star_domain::protocol::Holdout;
use mle_star_domain::question::{Agreement, Selection};

use crate::fallback::broken;
use crate::holdout::held_out;
use crate::{run, warnings};

/// A script whose predictions and submission are kept.
pub(crate) fn predicted(score: f64) -> ScriptOutcome {
    let replicates = [score, score - 0.01, score + 0.01];
    ScriptOutcome { submission: submitted(&[]).submission, ..measured(&replicates) }
}

pub(crate) fn weights(weights: &[f64], score: f64) -> Selection {
    let measured = Some(measurement(&[score, score - 0.01, score + 0.01]));
    Selection { weights: weights.to_vec(), measured, is_better: true, ..Selection::default() }
}

/// A run with two candidates whose predictions are kept.
pub(crate) fn two_candidates() -> World {
    World::new()
        .script("phase1/candidate-0/run", predicted(0.7))
        .script("phase1/candidate-1/run", predicted(0.6))
}

fn places(world: &World, start: &str) -> Vec<String> {
    world.trace().into_iter().filter(|place| place.starts_with(start)).collect()
}

#[tokio::test]
async fn a_better_combination_is_submitted_and_holds_its_members() {
    let world = two_candidates().answers("phase3/selection/weights", weights(&[0.75, 0.25], 0.8));
    let mut inputs = held_out();
    inputs.task.roles.id = Some("id".to_owned());
    let finished = run(&world, &inputs).await.unwrap();
    assert_eq!(places(&world, "phase3/selection"), ["phase3/selection/weights", "phase3/selection/run"]);
    let script = finished.result.final_solution.content;
    assert!(
        script.contains("def member_1():\n    \"\"\"model-0, phase1/candidate-0, validation score 0.7."),
        "{script}"
    );
    assert!(script.contains("block = 'phase1/candidate-1/init'"), "{script}");
    assert!(script.contains("MEMBERS = [\n    (member_1, 0.75),\n    (member_2, 0.25),\n]\n"), "{script}");
    assert!(script.contains("ID = \"id\"\nBY = \"mean\"\n"), "{script}");
    let subsampling: Vec<String> = places(&world, "finalization/member-");
    assert_eq!(
        subsampling,
        ["finalization/member-1/subsampling_extract", "finalization/member-2/subsampling_extract"]
    );
    let phase3 = finished.result.phase3.unwrap();
    assert!((phase3.best_ensemble_score - 0.8).abs() < 1e-12);
    assert_eq!(finished.result.trust.unwrap().validation_score, Some(0.8));
}

/// What is delivered of a combination, with or without held-out rows.
#[tokio::test]
async fn the_script_of_a_combination_has_run_or_is_not_said_to_have_run() {
    let check = async |mut inputs: Frozen, fails: bool| {
        (inputs.config.context, inputs.config.max_debug_attempts) = (Context::Full, 1);
        let world = two_candidates().answers("phase3/selection/weights", weights(&[0.75, 0.25], 0.8));
        let world = if fails { broken(world, &["finalization/run"]) } else { world };
        let finished = run(&world, &inputs).await.unwrap();
        let (last, combined) =
            (finished.result.final_solution, finished.result.phase3.unwrap().best_ensemble);
        assert_eq!(world.script_run("finalization/run").unwrap().script, combined.content);
        assert_eq!((combined.is_executable, combined.created_at.as_str()), (false, ""));
        assert!(last.content.contains("MEMBERS = ["), "{}", last.content);
        assert_eq!((last.is_executable, last.created_at.is_empty()), (!fails, fails));
        let place = if fails { "phase3/selection/run" } else { "finalization/run" };
        assert_eq!(finished.submission.unwrap().as_str(), place);
        let not_run = finished.result.not_run.unwrap_or_default();
        assert_eq!(not_run.contains("what its members predicted"), fails, "{not_run}");
    };
    let mut all_rows = held_out();
    all_rows.protocol.as_mut().unwrap().holdout = Holdout::Off { why: "few rows".to_owned() };
    for fails in [false, true] {
        check(held_out(), fails).await;
        check(all_rows.clone(), fails).await;
    }
}

#[tokio::test]
async fn a_combination_that_takes_the_place_of_the_best_solution_is_told() {
    let words = "0.8 instead of 0.77 (± 0.01) on rows that chose neither";
    let check = async |lead: Option<Difference>, is_better: bool, told: usize| {
        let selection = Selection { lead, is_better, ..weights(&[0.75, 0.25], 0.8) };
        let world = two_candidates().answers("phase3/selection/weights", selection);
        let result = run(&world, &held_out()).await.unwrap().result;
        assert_eq!(result.final_solution.content.contains("MEMBERS"), is_better);
        assert_eq!(result.trust.unwrap().validation_score, Some(if is_better { 0.8 } else { 0.7 }));
        let warned = "a combination of 2 solutions replaces the best one: 0.8 instead of 0.77 (± 0.01) on rows that chose neither";
        assert_eq!(warnings(&world, "phase3/selection", warned), told);
        let ended = |event: Event| match event {
            Event::StepEnded { place: Step::Selection, verdict } => Some(verdict.note),
            _ => None,
        };
        let notes: Vec<String> = world.events().into_iter().filter_map(ended).collect();
        let remark = lead.map(|_| format!("; {words}")).unwrap_or_default();
        assert_eq!(notes, [format!("weighted combination of 2 solutions{remark}")]);
    };
    let lead = Some(Difference { by: 0.03, standard_error: 0.01 });
    check(lead, true, 1).await;
    check(lead, false, 0).await;
    check(None, true, 0).await;
}

#[tokio::test]
async fn a_combination_replaces_the_best_solution_at_a_tie() {
    let check = async |by: f64, replaces: bool| {
        let lead = Some(Difference { by, standard_error: 0.01 });
        let selection = Selection { lead, is_better: false, ..weights(&[0.75, 0.25], 0.8) };
        let world = two_candidates().answers("phase3/selection/weights", selection);
        let result = run(&world, &held_out()).await.unwrap().result;
        assert_eq!(result.final_solution.content.contains("MEMBERS"), replaces, "{by}");
    };
    check(-0.009, true).await;
    check(-0.011, false).await;
}

#[tokio::test]
async fn the_first_ensemble_plan_is_told_how_alike_errors_are() {
    let agreement = Agreement {
        rows: 800,
        best: 1,
        differences: vec![Some(Difference { by: -0.01, standard_error: 0.002 }), None],
        correlations: vec![vec![Some(1.0), Some(0.98)], vec![Some(0.98), Some(1.0)]],
        failure: String::new(),
    };
    let check = async |context: Context, known: bool, expected: bool| {
        let mut inputs = held_out();
        inputs.config.context = context;
        let world = two_candidates();
        let world = if known { world.answers("phase3/r0/agreement", agreement.clone()) } else { world };
        run(&world, &inputs).await.unwrap();
        let asked = |round: u32| world.request(&format!("phase3/r{round}/ens_planner")).unwrap();
        let table = "on the 800 validation rows that all of them predicted:\n\n\
                     | solution | difference | errors of 1 |\n| --- | --- | --- |\n\
                     | 1 | -0.01 (± 0.002) |  |\n| 2 | best | 0.98 |\n\n";
        assert_eq!(asked(0).prompt.contains(table), expected, "{}", asked(0).prompt);
        assert!(!asked(1).prompt.contains("errors of 1"), "{}", asked(1).prompt);
        assert!(asked(0).inputs.keys().all(|name| name != "agreement"));
    };
    check(Context::Full, true, true).await;
    check(Context::Full, false, false).await;
    check(Context::Paper, true, false).await;
}

#[tokio::test]
async fn a_combination_that_takes_too_long_is_probed_by_its_fastest_member() {
    let check = async |seconds: [f64; 2], expected: [&str; 3], words: &str| {
        let mut inputs = held_out();
        inputs.config.probes = Probes::Final;
        let candidate =
            |score: f64, seconds: f64| ScriptOutcome { duration_seconds: seconds, ..predicted(score) };
        let world = World::new()
            .script("phase1/candidate-0/run", candidate(0.7, seconds[0]))
            .script("phase1/candidate-1/run", candidate(0.6, seconds[1]))
            .answers("phase3/selection/weights", weights(&[0.75, 0.25], 0.8));
        let result = run(&world, &inputs).await.unwrap().result;
        let probes = result.trust.unwrap().probes;
        let kind = |name: &str| {
            // The fits are watched while the test rows are replaced.
            let name = if name == "fits" { "replaced-test-rows" } else { name };
            let script = world.script_run(&format!("finalization/probe-0/{name}/run")).map(|run| run.script);
            match script {
                None => "none",
                Some(script) if script.contains("MEMBERS = [") => "all",
                Some(script) if script.contains("phase1/candidate-0/init") => "first",
                Some(_) => "second",
            }
        };
        let names: Vec<&str> = probes.iter().map(|probe| kind(&probe.name)).collect();
        assert_eq!(names, expected, "{seconds:?}");
        assert!(probes.iter().any(|probe| probe.detail.contains(words)), "{probes:?}");
    };
    let second = "(the member of phase1/candidate-1, the fastest of the combination)";
    check([2.0, 1.0], ["all", "second", "second"], second).await;
    check([8e3, 1.0], ["second"; 3], second).await;
    check([1.0, 8e3], ["first"; 3], "the fastest of the combination").await;
    check([9e3, 8e3], ["none"; 3], "it would take about 12000.0 s").await;
}

#[tokio::test]
async fn a_solution_with_a_leak_is_in_no_combination() {
    let leak = r#"[{"leakage_status": "Yes Data Leakage", "code_block": "not in it"}]"#;
    for (place, members) in
        [("phase2/path-0/t0/k0", true), ("phase1/candidate-1", false), ("phase1/final", false)]
    {
        let world = two_candidates().agent(&format!("{place}/leakage"), leak);
        run(&world, &held_out()).await.unwrap();
        assert_eq!(!places(&world, "phase3/selection").is_empty(), members, "{place}");
    }
}

#[tokio::test]
async fn members_that_were_not_checked_are_checked_before_they_are_combined() {
    let attempts = ["phase2/path-0/t0/k0", "phase2/path-1/t0/k0"];
    let run_with = async |leaky: Option<&str>, is_better: bool| {
        let mut inputs = held_out();
        inputs.config.leakage_check = LeakageCheck::Accepted;
        let selected = Selection { is_better, ..weights(&[0.5, 0.2, 0.3, 0.0], 0.8) };
        let mut world = two_candidates().answers("phase3/selection/weights", selected);
        for attempt in attempts {
            world = world.script(&format!("{attempt}/run"), predicted(0.65));
        }
        if let Some(place) = leaky {
            let leak = r#"[{"leakage_status": "Yes Data Leakage", "code_block": "all of it"}]"#;
            world = world
                .agent(&format!("{place}/leakage"), leak)
                .answers("phase3/selection/corrected/weights", weights(&[0.6, 0.4], 0.75));
        }
        let score = run(&world, &inputs).await.unwrap().result.trust.unwrap().validation_score;
        (places(&world, "phase3/selection"), score)
    };
    let (all, score) = run_with(None, true).await;
    let checked = ["weights", "member-2/leakage", "member-3/leakage"];
    let named =
        |names: &[&str]| names.iter().map(|name| format!("phase3/selection/{name}")).collect::<Vec<_>>();
    // The member without weight is not checked.
    assert_eq!(all, named(&[&checked[..], &["run"]].concat()));
    assert_eq!(score, Some(0.8));
    let (all, score) = run_with(Some("phase3/selection/member-2"), true).await;
    assert_eq!(all, named(&[&checked[..], &["corrected/weights", "run"]].concat()));
    assert_eq!(score, Some(0.75));
    // One that is not ahead of the best solution answers nothing.
    let (all, score) = run_with(None, false).await;
    assert_eq!((all, score), (named(&["weights", "run"]), Some(0.7)));
}

#[tokio::test]
async fn a_leak_that_was_corrected_leaves_no_copy_in_a_combination() {
    let leak =
        r#"[{"leakage_status": "Yes Data Leakage", "code_block": "block = 'phase1/candidate-0/init'"}]"#;
    let world = two_candidates()
        .agent("phase1/final/leakage", leak)
        .agent("phase1/final/leakage-fix-1", "```python\nblock = 'clean'\n```")
        .script("phase1/final/run", predicted(0.65))
        .answers("phase3/selection/weights", weights(&[0.5, 0.5], 0.8));
    let script = run(&world, &held_out()).await.unwrap().result.final_solution.content;
    assert!(script.contains("block = 'clean'"), "{script}");
    assert!(!script.contains("block = 'phase1/candidate-0/init'"), "{script}");
}

#[tokio::test]
async fn it_needs_predictions_and_can_be_switched_off() {
    let check = async |world: World, inputs: &Frozen| {
        run(&world, inputs).await.unwrap();
        assert_eq!(places(&world, "phase3/selection"), Vec::<String>::new());
    };
    check(World::new(), &frozen()).await;
    let one = World::new().script("phase1/candidate-0/run", predicted(0.7));
    check(one, &held_out()).await;
    let mut off = held_out();
    off.config.ensemble_selection = Switch::Off;
    check(two_candidates(), &off).await;
}

/// Inputs for offline agents, whose retriever names five models of which two are tried at first.
fn offline() -> (World, Frozen) {
    let models: Vec<String> =
        (0..5).map(|n| format!("{{\"model_name\": \"model-{n}\", \"example_code\": \"fit()\"}}")).collect();
    let answer = format!("{{\"models\": [{}]}}", models.join(", "));
    let mut inputs = held_out();
    inputs.config.agents = AgentsChoice::Offline;
    (two_candidates().agent("phase1/retriever", &answer), inputs)
}

#[tokio::test]
async fn more_models_are_tried_while_time_is_left() {
    let (world, inputs) = offline();
    let world = world
        .script("phase3/extra-0/run", predicted(0.9))
        .answers("phase3/selection/weights", weights(&[0.5, 0.5, 0.0], 0.95));
    let finished = run(&world, &inputs).await.unwrap();
    let extras = ["phase3/extra-0/run", "phase3/extra-1/run", "phase3/extra-2/run"];
    let tried: Vec<String> =
        places(&world, "phase3/extra").into_iter().filter(|place| place.ends_with("/run")).collect();
    assert_eq!(tried, extras);
    assert_eq!(finished.result.phase1.retrieved_models.len(), 2);
    assert_eq!(warnings(&world, "phase1", "the retriever returned"), 0);
    assert_eq!(finished.result.trust.unwrap().validation_score, Some(0.95));
}

#[tokio::test]
async fn a_further_model_that_is_best_is_submitted() {
    let (world, inputs) = offline();
    let world = world.script("phase3/extra-1/run", predicted(0.9));
    let finished = run(&world, &inputs).await.unwrap();
    assert_eq!(finished.result.trust.unwrap().validation_score, Some(0.9));
    assert_eq!(finished.result.phase3.unwrap().best_ensemble.source_model.as_deref(), Some("model-3"));
}

#[tokio::test(start_paused = true)]
async fn no_model_is_tried_that_cannot_end_in_time() {
    let (world, mut inputs) = offline();
    inputs.config.time_limit_seconds = 200;
    let slow = ScriptOutcome { duration_seconds: 60.0, ..predicted(0.7) };
    let world = world.script("phase1/candidate-0/run", slow.clone()).script("phase1/candidate-1/run", slow);
    let world = world.takes(0, 60);
    let finished =
        tokio::time::timeout(Duration::from_secs(600), run(&world, &inputs)).await.unwrap().unwrap();
    assert_eq!(places(&world, "phase3/extra"), Vec::<String>::new());
    assert!(finished.submission.is_some());
}

#[tokio::test(start_paused = true)]
async fn there_is_a_record_of_every_round_whatever_became_of_them() {
    let check = async |world: World, inputs: &Frozen, began: usize| {
        let world = world.answers("phase3/selection/weights", weights(&[0.5, 0.5], 0.8));
        let phase3 = run(&world, inputs).await.unwrap().result.phase3.unwrap();
        let records = (phase3.ensemble_plans.len(), phase3.ensemble_scores.len(), phase3.attempts.len());
        assert_eq!(records, (2, 2, 2));
        assert_eq!(phase3.ensemble_plans.iter().filter(|plan| !plan.is_empty()).count(), began);
        assert_eq!(phase3.best_ensemble_score, 0.8);
    };
    check(two_candidates(), &held_out(), 2).await;
    // The phase fails in its second round, after the best solution was found.
    let (world, inputs) = offline();
    let world = world.scores("phase2/path-0/t0/k0/run", 0.75).script("phase3/extra-0/run", predicted(0.8));
    check(world.panics("phase3/r1/ens_planner"), &inputs, 1).await;
    // All paths have the same solution, which rules do not combine with itself.
    let (world, inputs) = offline();
    let worse = |world: World, path| {
        let runs = ["k0", "k1"].map(|k| format!("phase2/path-{path}/t0/{k}/run"));
        runs.iter().fold(world, |world, run| world.scores(run, 0.1))
    };
    check((0..2).fold(world, worse), &inputs, 0).await;
    // There is no time for a round, which would take as long as the best solution.
    let slow = ScriptOutcome { duration_seconds: 250.0, ..predicted(0.75) };
    let mut inputs = held_out();
    inputs.config.time_limit_seconds = 300;
    check(two_candidates().script("phase2/path-0/t0/k1/run", slow), &inputs, 0).await;
}

//! Rows that no script has seen: the final choice, the reported score, and acceptance by standard errors.

use mle_star::event::Event;
use mle_star::journal::{Entry, Frozen, Journal, Kind};
use mle_star::pipeline::FinishedRun;
use mle_star::stop::Stop;
use mle_star::testing::{World, failed, frozen, measured, protocol, ran, submitted};
use mle_star_domain::config::{Acceptance, Context, FinalChoice};
use mle_star_domain::effects::{DataView, ScriptOutcome};
use mle_star_domain::place::Place;
use mle_star_domain::protocol::{Holdout, Period, Periods, Protocol, Split, SplitKind};
use mle_star_domain::question::{Answer, ColumnImportance, HoldoutScore, Importance, ImportanceRows, Refit};

use crate::{Folder, go_on, run, warnings};

/// Inputs with 2,000 of 20,000 rows held out.
pub fn held_out() -> Frozen {
    let split = Split {
        kind: SplitKind::Time,
        column: Some("week".to_owned()),
        why: "`week` is later in test.csv".to_owned(),
        ..Split::default()
    };
    let holdout = Holdout::On { rows: 2000, of: 20_000, seed: 1, digest: "d".to_owned(), period: false };
    let comparison = "compare()".to_owned();
    let protocol = Protocol { split: Some(split), holdout, comparison, ..protocol() };
    Frozen { protocol: Some(protocol), ..frozen() }
}

/// The same inputs, but the rows are the period before that of the test table, which no script of the search sees.
pub fn earlier_period() -> Frozen {
    let mut inputs = held_out();
    let protocol = inputs.protocol.as_mut().unwrap();
    protocol.holdout = Holdout::On { rows: 2000, of: 20_000, seed: 1, digest: "d".to_owned(), period: true };
    let held_out =
        Period { from: "2020-05-01".to_owned(), to: "2020-05-28".to_owned(), rows: 100, ..Period::default() };
    protocol.periods = Some(Periods { held_out: Some(held_out), ..Periods::default() });
    inputs
}

/// A run in which the first round is best, and wrote a submission.
pub(crate) fn with_ensemble() -> World {
    let round = ScriptOutcome { submission: submitted(&[]).submission, ..measured(&[0.9, 0.89, 0.91]) };
    World::new().script("phase3/r0/run", round).scores("phase3/r1/run", 0.8)
}

pub(crate) fn finalization(world: &World) -> Vec<String> {
    let of_it = world.trace().into_iter().filter(|place| place.starts_with("finalization/"));
    of_it.map(|place| place.trim_start_matches("finalization/").to_owned()).collect()
}

pub(crate) async fn finish(world: &World, inputs: &Frozen) -> FinishedRun {
    run(world, inputs).await.unwrap()
}

#[tokio::test]
async fn the_submission_script_is_scored_before_it_sees_the_held_out_labels() {
    let world = with_ensemble()
        .held_out("finalization/holdout/run", &[0.85, 0.86, 0.84])
        .held_out("phase3/r0/run", &[0.86, 0.85, 0.87]);
    let finished = finish(&world, &held_out()).await;
    let calls = ["look-choosing", "subsampling_extract", "test", "leakage"];
    let runs = ["holdout/run", "holdout/look-choosing", "holdout/look-reporting", "run", "refit"];
    assert_eq!(finalization(&world), [&calls[..], &runs, &["importance/run"]].concat());
    let view = |place: &str| world.script_run(place).unwrap().data;
    assert_eq!(view("tables/run"), DataView::Compared);
    assert_eq!(view("phase3/r0/run"), DataView::Search);
    assert_eq!(view("finalization/holdout/run"), DataView::Search);
    assert_eq!(view("finalization/run"), DataView::Whole);
    assert_eq!(finished.submission.unwrap().to_string(), "finalization/run");
    let trust = finished.result.trust.unwrap();
    assert_eq!((trust.validation_score, trust.verified), (Some(0.9), Some(true)));
    assert_eq!((trust.holdout_score, trust.holdout_rows, trust.holdout_looks), (Some(0.85), Some(2000), 3));
    let interval = trust.holdout_interval.unwrap();
    assert!(interval[0] < 0.85 && 0.85 < interval[1]);
    assert_eq!(trust.choice.rule, "validation score");
    assert_eq!(trust.choice.candidates[0].place.to_string(), "phase3/r0/run");
    assert!(trust.equivalence.contains("within what chance in the rows explains"), "{}", trust.equivalence);
}

#[tokio::test]
async fn without_held_out_rows_nothing_is_added() {
    let mut inputs = held_out();
    let protocol = inputs.protocol.as_mut().unwrap();
    protocol.holdout = Holdout::Off { why: "few rows".to_owned() };
    inputs.config.final_choice = FinalChoice::Holdout;
    let world = with_ensemble();
    let trust = finish(&world, &inputs).await.result.trust.unwrap();
    assert_eq!(finalization(&world), ["subsampling_extract", "test", "leakage", "run"]);
    assert_eq!((trust.holdout_score, trust.holdout_rows, trust.holdout_looks), (None, None, 0));
    let paper = Frozen { protocol: None, ..inputs };
    let world = with_ensemble();
    assert_eq!(finish(&world, &paper).await.result.trust, None);
    assert!(!world.trace().iter().any(|place| place.contains("tables")));
}

#[tokio::test]
async fn test_rows_of_a_single_table_are_scored_once_and_decide_nothing() {
    let check = async |is_papers: bool, final_choice| {
        let mut inputs = held_out();
        let protocol = inputs.protocol.as_mut().unwrap();
        protocol.holdout = Holdout::Test { rows: 60, of: 300, seed: 1, digest: "d".to_owned() };
        (protocol.is_papers, protocol.verifies) = (is_papers, !is_papers);
        inputs.config.final_choice = final_choice;
        let world = with_ensemble().held_out("finalization/run", &[0.5, 0.49, 0.51]);
        let finished = finish(&world, &inputs).await;
        let importance: &[&str] = if is_papers { &[] } else { &["importance/run"] };
        let before = ["subsampling_extract", "test", "leakage", "run"];
        assert_eq!(finalization(&world), [&before, importance, &["look-whole"]].concat());
        assert_eq!(finished.submission.unwrap().to_string(), "finalization/run");
        let trust = finished.result.trust.unwrap();
        assert_eq!((trust.holdout_score, trust.holdout_rows, trust.holdout_looks), (Some(0.5), Some(60), 1));
        assert_eq!(trust.choice.rule, "validation score");
        assert!(trust.split.unwrap().why.contains("week"));
    };
    check(false, FinalChoice::Auto).await;
    check(false, FinalChoice::Holdout).await;
    check(true, FinalChoice::Auto).await;
}

#[tokio::test]
async fn the_importance_of_columns_is_told_with_its_rows_or_why_it_is_not_known() {
    let one = ColumnImportance { column: "a".to_owned(), difference: 0.1, interval: Some([0.0, 0.2]) };
    let known = Importance { rows: 60, repetitions: 5, columns: vec![one.clone()], ..Importance::default() };
    let check = async |inputs: &Frozen, copies: ScriptOutcome, found: Importance, why: Option<&str>| {
        let world = with_ensemble()
            .held_out("finalization/holdout/run", &[0.85, 0.86, 0.84])
            .held_out("phase3/r0/run", &[0.86, 0.85, 0.87])
            .script("finalization/importance/run", copies)
            .depends_on(found);
        let result = finish(&world, inputs).await.result;
        assert_eq!(result.importance_why.as_deref(), why);
        let expected = why.is_none().then(|| (vec![one.clone()], 60));
        assert_eq!(result.importance.zip(result.importance_rows), expected);
        if let Some(run) = world.script_run("finalization/importance/run") {
            assert_eq!((run.data, run.script), (DataView::PermutedColumns, result.final_solution.content));
        }
    };
    let fails = |why: &str| Importance { failure: why.to_owned(), ..Importance::default() };
    check(&held_out(), submitted(&[]), known.clone(), None).await;
    check(&held_out(), submitted(&[]), fails("it differs"), Some("it differs")).await;
    let wrong = "the final script does not predict copies of the held-out rows: 3 rows";
    check(&held_out(), submitted(&["3 rows"]), known.clone(), Some(wrong)).await;
    let broken = "not asked, since the final script fails on copies of the held-out rows: ValueError: x";
    check(&held_out(), failed("ValueError: x"), known.clone(), Some(broken)).await;
    let mut whole = held_out();
    whole.protocol.as_mut().unwrap().holdout = Holdout::Off { why: "few rows".to_owned() };
    check(&whole, submitted(&[]), known.clone(), Some("no rows are held out")).await;
    whole.protocol.as_mut().unwrap().is_papers = true;
    check(&whole, submitted(&[]), known, Some("this run does not compute it")).await;
}

#[tokio::test]
async fn without_held_out_rows_the_importance_of_columns_is_told_on_the_last_fold() {
    let known = Importance { rows: 30, repetitions: 5, ..Importance::default() };
    let mut inputs = held_out();
    let protocol = inputs.protocol.as_mut().unwrap();
    protocol.holdout = Holdout::Off { why: "few rows".to_owned() };
    protocol.has_folds_file = true;
    let runs = ["importance/unpermuted/run", "importance/run"];
    let whole = inputs.clone();
    let check = async |world: World, ran: usize, why: Option<&str>| {
        let world = world.depends_on(known.clone());
        let result = finish(&world, &whole).await.result;
        let before = ["subsampling_extract", "test", "leakage", "run"];
        let columns: &[&str] = if why.is_none() { &["importance/columns"] } else { &[] };
        assert_eq!(finalization(&world), [&before[..], &runs[..ran], columns].concat());
        assert_eq!(result.importance_why.as_deref(), why);
        let expected = why.is_none().then_some((30, ImportanceRows::LastFold));
        assert_eq!(result.importance_rows.zip(result.importance_on), expected);
        let seen = [DataView::LastFold, DataView::PermutedLastFold];
        for (place, data) in runs.iter().zip(seen).take(ran) {
            let run = world.script_run(&format!("finalization/{place}")).unwrap();
            assert_eq!((run.data, run.script.as_str()), (data, result.final_solution.content.as_str()));
        }
    };
    let predicts = || {
        let world = with_ensemble().script("finalization/importance/unpermuted/run", submitted(&[]));
        world.script("finalization/importance/run", submitted(&[]))
    };
    check(predicts(), 2, None).await;
    let alone = predicts().script("finalization/importance/unpermuted/run", failed("ValueError: x"));
    let why =
        "not asked, since the final script fails on the validation rows of the last fold: ValueError: x";
    check(alone, 1, Some(why)).await;
    let copies = predicts().script("finalization/importance/run", submitted(&["3 rows"]));
    let why = "the final script does not predict copies of the validation rows of the last fold: 3 rows";
    check(copies, 2, Some(why)).await;
    check(with_ensemble().without_copies("too many columns"), 0, Some("too many columns")).await;
    inputs.config.max_debug_attempts = 0;
    let fails = with_ensemble().fails("finalization/run");
    let result = finish(&fails, &inputs).await.result;
    assert_eq!(result.importance_why.as_deref(), Some("no rows are held out, and finalization failed"));
}

#[tokio::test]
async fn a_submission_script_worse_than_the_chosen_solution_is_not_submitted() {
    let check = async |world: World, submission: &str, runs: bool| {
        let world = world
            .held_out("finalization/holdout/run", &[0.5, 0.49, 0.51])
            .held_out("phase3/r0/run", &[0.86, 0.85, 0.87]);
        let finished = finish(&world, &held_out()).await;
        assert_eq!(finished.submission.unwrap().to_string(), submission);
        let solution = finished.result.final_solution;
        assert_eq!(solution.content, world.script_run("phase3/r0/run").unwrap().script);
        let last = world.script_run("finalization/run").unwrap();
        assert_eq!((last.script, last.data), (solution.content, DataView::Whole));
        assert!(!world.trace().iter().any(|place| place.starts_with("finalization/debug")));
        assert_eq!((solution.is_executable, finished.result.not_run.is_none()), (runs, runs));
        let trust = finished.result.trust.unwrap();
        assert_eq!(trust.holdout_score, Some(0.86));
        let words = "the chosen solution is submitted unchanged";
        assert!(trust.equivalence.contains(words), "{}", trust.equivalence);
        assert_eq!(warnings(&world, "finalization", "worse than chance in the rows explains"), 1);
    };
    check(with_ensemble(), "finalization/run", true).await;
    check(with_ensemble().fails("finalization/run"), "phase3/r0/run", false).await;
}

#[tokio::test]
async fn predictions_with_the_held_out_rows_are_compared_with_those_without() {
    let check = async |refit: Refit, words: &str| {
        let world = with_ensemble()
            .held_out("finalization/holdout/run", &[0.85, 0.86, 0.84])
            .held_out("phase3/r0/run", &[0.86, 0.85, 0.87])
            .answers("finalization/refit", refit);
        let finished = finish(&world, &held_out()).await;
        assert_eq!(finished.submission.unwrap().to_string(), "finalization/run");
        let trust = finished.result.trust.unwrap();
        assert!(trust.equivalence.contains(words), "{}", trust.equivalence);
        assert_eq!(trust.holdout_score, Some(0.85));
    };
    let alike_ones = Refit { rows: 2, words: "mean 9 instead of 8".to_owned(), ..Refit::default() };
    let alike = "its predictions for 2 test rows are like those without (mean 9 instead of 8).";
    check(alike_ones, alike).await;
    let failed = Refit { failure: "no rows".to_owned(), ..Refit::default() };
    check(failed, "within what chance in the rows explains").await;
}

#[tokio::test]
async fn a_held_out_score_far_worse_than_the_validation_score_is_a_warning() {
    let warned = async |held_out_score: [f64; 3]| {
        let world = World::new()
            .script("phase3/r0/run", measured(&[0.9, 0.89, 0.91]))
            .scores("phase3/r1/run", 0.8)
            .held_out("finalization/holdout/run", &held_out_score);
        let trust = finish(&world, &held_out()).await.result.trust.unwrap();
        assert_eq!(trust.holdout_score, Some(held_out_score[0]));
        assert!(!trust.equivalence.contains("On held-out rows"), "{}", trust.equivalence);
        warnings(&world, "finalization", "is worse than the validation score, 0.900000, by more than chance")
    };
    assert_eq!(warned([0.2, 0.19, 0.21]).await, 1);
    assert_eq!(warned([0.88, 0.87, 0.89]).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_submission_script_that_cannot_run_again_in_time_stands() {
    let check = async |seconds: u64, last: &str| {
        let mut inputs = held_out();
        inputs.config.time_limit_seconds = 100;
        inputs.protocol.as_mut().unwrap().rows = 300_000;
        let world = World::new().takes(0, seconds).held_out("finalization/holdout/run", &[0.85, 0.84, 0.86]);
        let finished = finish(&world, &inputs).await;
        assert_eq!(finished.submission.unwrap().to_string(), last, "{seconds} s");
        let is_begun = |event: &Event| matches!(event, Event::ScriptStarted { place, .. } if place.as_str() == "finalization/run");
        assert_eq!(world.events().iter().any(is_begun), last == "finalization/run", "{seconds} s");
        assert_eq!(finished.result.trust.unwrap().holdout_score, Some(0.85));
    };
    check(10, "finalization/run").await;
    check(40, "finalization/holdout/run").await;
}

#[tokio::test]
async fn the_held_out_score_chooses_beyond_one_standard_error() {
    let check = async |ensemble: &[f64], path: &[f64], chosen: &str| {
        let mut inputs = held_out();
        inputs.config.final_choice = FinalChoice::Holdout;
        let world = with_ensemble()
            .scores("phase2/path-0/t0/k0/run", 0.7)
            .held_out("phase3/r0/run", ensemble)
            .held_out("finalization/choice-1/run", path)
            .held_out("finalization/choice-2/run", &[0.1, 0.1, 0.1])
            .held_out("finalization/holdout/run", &[0.84, 0.83, 0.85]);
        let finished = finish(&world, &inputs).await;
        let trust = finished.result.trust.unwrap();
        assert_eq!(trust.choice.candidates[0].place.to_string(), chosen, "{ensemble:?} {path:?}");
        assert_eq!(trust.choice.candidates.len(), 4);
        assert!(trust.choice.rule.contains("held-out"));
        assert_eq!(trust.holdout_score, Some(0.84));
        let trace = finalization(&world);
        let places = ["choice-0/look-choosing", "choice-1/test", "choice-1/run", "choice-1/look-choosing"];
        assert!(places.iter().all(|place| trace.contains(&(*place).to_owned())), "{trace:?}");
        assert!(trace.contains(&"holdout/look-reporting".to_owned()));
        assert!(!trace.iter().any(|place| place.ends_with("look-whole")));
        let asked = trace.iter().filter(|place| place.ends_with("test"));
        assert_eq!(asked.count(), 4, "{trace:?}");
        let prompt = world.request("finalization/test").unwrap().prompt;
        assert!(!prompt.contains("0.8"), "{prompt}");
    };
    // The standard errors of the differences are 0.1 and 0.014.
    check(&[0.8, 0.75, 0.85], &[0.85, 0.87, 0.83], "phase3/r0/run").await;
    check(&[0.8, 0.79, 0.81], &[0.85, 0.85, 0.85], "phase2/path-0/t0/k0/run").await;
    check(&[0.8, 0.8, 0.8], &[0.7, 0.7, 0.7], "phase3/r0/run").await;
}

/// A run in which a solution without a submission of its own is chosen. Its submission script scores 0.85 on held-out
/// rows, and that of finalization as given.
async fn with_a_chosen_path(last: &[f64]) -> (World, FinishedRun) {
    let mut inputs = held_out();
    inputs.config.final_choice = FinalChoice::Holdout;
    let world = with_ensemble()
        .scores("phase2/path-0/t0/k0/run", 0.7)
        .held_out("phase3/r0/run", &[0.8, 0.79, 0.81])
        .held_out("finalization/choice-1/run", &[0.85, 0.86, 0.84])
        .held_out("finalization/holdout/run", last);
    let finished = finish(&world, &inputs).await;
    let trust = finished.result.trust.as_ref().unwrap();
    assert_eq!(trust.choice.candidates[0].place.to_string(), "phase2/path-0/t0/k0/run");
    (world, finished)
}

#[tokio::test]
async fn the_submission_script_of_the_choice_runs_on_all_rows_if_the_last_one_is_worse() {
    let (world, finished) = with_a_chosen_path(&[0.5, 0.52, 0.48]).await;
    assert_eq!(finished.submission.unwrap().to_string(), "finalization/run");
    let script = world.script_run("finalization/choice-1/run").unwrap().script;
    assert_eq!(world.script_run("finalization/run").unwrap().script, script);
    assert_eq!(finished.result.final_solution.content, script);
    let trust = finished.result.trust.unwrap();
    assert_eq!(trust.holdout_score, Some(0.85));
    assert!(trust.equivalence.contains("submitted unchanged"), "{}", trust.equivalence);
    assert_eq!(warnings(&world, "finalization", "worse than chance in the rows explains"), 1);
}

#[tokio::test]
async fn a_submission_script_far_better_than_the_chosen_solution_is_a_warning() {
    let (world, finished) = with_a_chosen_path(&[0.99, 0.985, 0.995]).await;
    assert_eq!(finished.submission.unwrap().to_string(), "finalization/run");
    let trust = finished.result.trust.unwrap();
    assert_eq!(trust.holdout_score, Some(0.99));
    assert!(trust.equivalence.contains("better than chance"), "{}", trust.equivalence);
    assert_eq!(warnings(&world, "finalization", "or has a leak"), 1);
    let (world, finished) = with_a_chosen_path(&[0.86, 0.84, 0.88]).await;
    let trust = finished.result.trust.unwrap();
    assert!(trust.equivalence.contains("within what chance"), "{}", trust.equivalence);
    assert_eq!(warnings(&world, "finalization", "chance"), 0);
}

#[tokio::test]
async fn no_agent_is_told_a_score_on_held_out_rows() {
    let rules = [FinalChoice::Holdout, FinalChoice::Auto];
    let settings =
        [Context::Paper, Context::Full].into_iter().flat_map(|context| rules.map(|rule| (context, rule)));
    for (context, rule) in settings {
        let mut inputs = held_out();
        (inputs.config.context, inputs.config.final_choice) = (context, rule);
        let scores = [0.123_457, 0.124_457, 0.122_457];
        let looked_at = ["phase3/r0/run", "finalization/holdout/run"].map(str::to_owned);
        let choices = (0..4).map(|n| format!("finalization/choice-{n}/run"));
        let world = looked_at
            .into_iter()
            .chain(choices)
            .fold(with_ensemble(), |world, place| world.held_out(&place, &scores));
        let world = world.scores("phase2/path-0/t0/k0/run", 0.7).fails("finalization/run");
        let finished = finish(&world, &inputs).await;
        assert_eq!(finished.result.trust.unwrap().holdout_score, Some(0.123_457));
        let trace = world.trace();
        let at = |place: &str| trace.iter().position(|known| known == place).unwrap();
        assert!(at("finalization/holdout/look-reporting") < at("finalization/debug-1/debugger"));
        let requests: Vec<_> = trace.iter().filter_map(|place| world.request(place)).collect();
        // Validation scores are told.
        assert!(requests.iter().any(|request| request.prompt.contains("0.9")));
        for request in requests {
            let inputs = serde_json::to_string(&request.inputs).unwrap();
            for text in [&request.system, &request.prompt, &inputs] {
                // The score and its replicates with three digits, also without the zero or as a percentage.
                let told = ["0.12", "12.3", "12.4", "12.2"].into_iter().find(|part| text.contains(part));
                assert_eq!(told, None, "{}: {text}", request.place);
            }
        }
    }
}

#[tokio::test]
async fn a_verdict_says_if_two_compared_scripts_have_other_validation_rows() {
    let check = async |rows: u64, digest: &str, says: bool| {
        let mut merged = measured(&[0.7, 0.69, 0.71]);
        let known = merged.measured.as_mut().unwrap();
        (known.rows, known.rows_digest) = (rows, digest.to_owned());
        let others = ["phase1/candidate-0", "phase1/candidate-1", "phase2/path-0/t0/k0", "phase3/r0"];
        let world = others.iter().fold(World::new(), |world, place| {
            world.script(&format!("{place}/run"), measured(&[0.5, 0.49, 0.51]))
        });
        let world = world.script("phase1/merge-1/run", merged);
        finish(&world, &held_out()).await;
        for place in ["phase1/merge-1", "phase2/path-0/t0/k0", "phase3/r0"] {
            let note = world.events().into_iter().find_map(|event| match event {
                Event::StepEnded { place: step, verdict } if step.place().as_str() == place => {
                    Some(verdict.note)
                }
                _ => None,
            });
            let (own, other) = if place == "phase1/merge-1" { (40, 100) } else { (100, 40) };
            let words = format!(
                "validated on other rows ({own}) than the solution that it is compared with ({other})"
            );
            assert_eq!(note.as_ref().unwrap().contains(&words), says, "{place}: {note:?}");
            // The attempt is worse than the merge.
            let is_kept = place != "phase2/path-0/t0/k0";
            let warned = warnings(&world, place, &format!("the solution is kept, but it was {words}"));
            assert_eq!(warned, usize::from(says && is_kept), "{place}");
        }
    };
    check(100, "rows", false).await;
    check(40, "fewer", true).await;
}

#[tokio::test]
async fn an_attempt_replaces_the_best_if_it_is_better_by_one_standard_error() {
    let check = async |rule: Acceptance, attempt: ScriptOutcome, kept: bool| {
        let mut inputs = held_out();
        inputs.config.acceptance = rule;
        (inputs.config.num_retrieved_models, inputs.config.num_parallel_solutions) = (1, 1);
        inputs.config.inner_loop_steps = 1;
        let world = World::new()
            .script("phase1/candidate-0/run", measured(&[0.5, 0.49, 0.51]))
            .script("phase1/data/run", measured(&[0.5, 0.49, 0.51]))
            .script("phase2/path-0/t0/k0/run", attempt);
        let result = finish(&world, &inputs).await.result;
        let attempt = &result.phase2_results[0].step_history[0].inner_loop_attempts[0];
        assert_eq!(attempt.was_improvement, kept, "{rule:?} {:?}", attempt.score);
    };
    use Acceptance::{Auto, OneSigma, Paper};
    // Standard error of the difference: 0.0283.
    let by = |gain: f64| measured(&[0.5 + gain, 0.51 + gain, 0.49 + gain]);
    check(Paper, by(0.0), true).await;
    check(Paper, by(-0.01), false).await;
    check(OneSigma, by(0.02), false).await;
    check(OneSigma, by(0.03), true).await;
    // The same predictions, better in each replicate.
    check(OneSigma, measured(&[0.501, 0.491, 0.511]), true).await;
    check(OneSigma, measured(&[0.5, 0.49, 0.51]), false).await;
    // Without known rows, the rule is the paper's.
    check(OneSigma, ran(Some(0.5)), true).await;
    // Of scripts with as many lines, the better score wins a tie.
    check(Auto, by(0.01), true).await;
    check(Auto, by(-0.01), false).await;
    check(Auto, ran(Some(0.5)), true).await;
}

#[tokio::test]
async fn a_tie_goes_to_the_script_that_averages_models_then_to_the_shorter_one() {
    let check = async |block: &str, gain: f64, kept: bool| {
        let mut inputs = held_out();
        (inputs.config.num_retrieved_models, inputs.config.num_parallel_solutions) = (1, 1);
        inputs.config.inner_loop_steps = 1;
        let attempt = measured(&[0.5 + gain, 0.51 + gain, 0.49 + gain]);
        let world = World::new()
            .script("phase1/candidate-0/run", measured(&[0.5, 0.49, 0.51]))
            .script("phase1/data/run", measured(&[0.5, 0.49, 0.51]))
            .agent("phase2/path-0/t0/k0/coder", &format!("```python\n{block}\n```"))
            .script("phase2/path-0/t0/k0/run", attempt);
        let result = finish(&world, &inputs).await.result;
        let attempt = &result.phase2_results[0].step_history[0].inner_loop_attempts[0];
        assert_eq!(attempt.was_improvement, kept, "{block} {gain}");
    };
    let (longer, mean, shorter) = ("fit()\nfit()", "fit()\nfit() # mean of 5", "# One line\n");
    // Standard error of the difference: 0.0283.
    for (gain, of_longer, of_mean, of_shorter) in [
        (0.03, true, true, true),
        (0.02, false, true, true),
        (-0.02, false, true, true),
        (-0.03, false, false, false),
    ] {
        check(longer, gain, of_longer).await;
        check(mean, gain, of_mean).await;
        check(shorter, gain, of_shorter).await;
    }
}

#[tokio::test]
async fn a_printed_score_that_its_predictions_do_not_give_goes_to_the_debugger() {
    let words = "it printed 0.9, its predictions give 0.7";
    let wrong = ScriptOutcome { mismatch: Some(words.to_owned()), ..ran(Some(0.9)) };
    let world = World::new()
        .script("phase1/candidate-0/run", wrong)
        .script("phase1/candidate-0/debug-1/run", measured(&[0.7, 0.7, 0.7]));
    let result = finish(&world, &held_out()).await.result;
    assert_eq!(result.phase1.candidate_scores[0], Some(0.7));
    let request = world.request("phase1/candidate-0/debug-1/debugger").unwrap();
    assert!(request.prompt.contains(words), "{}", request.prompt);
}

#[tokio::test]
async fn columns_that_tell_training_from_test_rows_are_told() {
    let found = "{\"auc\": 0.9, \"columns\": [], \"suspicious\": [{\"column\": \"scan\", \"why\": \"it sorts by label\"}]}";
    let compared = ScriptOutcome { stdout: mle_star_domain::effects::Captured::whole(found), ..ran(None) };
    let world = World::new().script("tables/run", compared);
    let trust = finish(&world, &held_out()).await.result.trust.unwrap();
    assert_eq!(world.trace()[0], "tables/run");
    assert_eq!(trust.shift.unwrap().suspicious[0].column, "scan");
    let request = world.request("phase1/candidate-0/init").unwrap();
    assert_eq!(request.inputs["suspicious_columns"], serde_json::json!(["scan"]));
    assert!(request.prompt.contains("`scan`"), "{}", request.prompt);
}

#[tokio::test]
async fn a_comparison_that_fails_is_a_warning() {
    let world = World::new().script("tables/run", failed("ImportError: sklearn"));
    let trust = finish(&world, &held_out()).await.result.trust.unwrap();
    assert_eq!(trust.shift, None);
    assert_eq!(warnings(&world, "tables", "were not compared: ImportError: sklearn"), 1);
}

#[tokio::test]
async fn the_planner_asks_for_the_file_while_the_score_is_unverified() {
    let check = async |protocol: Option<Protocol>, best: ScriptOutcome, asks: bool| {
        let mut inputs = Frozen { protocol, ..held_out() };
        (inputs.config.num_retrieved_models, inputs.config.num_parallel_solutions) = (1, 1);
        let world = World::new()
            .script("phase1/candidate-0/run", best.clone())
            .script("phase1/data/run", best)
            .scores("phase2/path-0/t0/k0/run", 0.1);
        finish(&world, &inputs).await;
        let prompt = world.request("phase2/path-0/t0/k1/planner").unwrap().prompt;
        assert_eq!(prompt.contains("the plan must say that it writes this file"), asks, "{prompt}");
    };
    let protocol = || held_out().protocol;
    check(protocol(), ran(Some(0.9)), true).await;
    check(protocol(), measured(&[0.9, 0.89, 0.91]), false).await;
    let unverifiable = protocol().map(|protocol| Protocol { verifies: false, ..protocol });
    check(unverifiable, ran(Some(0.9)), false).await;
    check(None, ran(Some(0.9)), false).await;
}

/// A build from before questions were recorded as such named the script beside the run.
#[tokio::test]
async fn a_run_is_not_continued_on_the_look_of_an_older_build() {
    let (folder, inputs) = (Folder::fresh(), held_out());
    let place = Place::from("finalization/holdout/look-choosing");
    let old = serde_json::json!({"run": "finalization/holdout/run", "part": "choosing"});
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let look = async { Ok::<_, Stop>(Answer::from(HoldoutScore { measured: None, failure: String::new() })) };
    journal.once(Entry::new(&place, Kind::Look, &old, &old).unwrap(), look).await.unwrap();
    drop(journal);
    let (journal, _) = Journal::open(folder.path()).unwrap();
    let Err(stop) = go_on(&with_ensemble(), &inputs, &journal).await else { panic!("it went on") };
    assert_eq!(stop.to_string(), format!("{place} was recorded with another input: the question"));
}

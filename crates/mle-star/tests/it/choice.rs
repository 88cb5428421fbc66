//! The final choice where held-out rows contradict the best validation score.

use mle_star::testing::{World, measured, submitted};
use mle_star_domain::config::{Context, FinalChoice, LeakageCheck, Probes};
use mle_star_domain::effects::ScriptOutcome;

use crate::holdout::{finalization, finish, held_out, with_ensemble};
use crate::warnings;

#[tokio::test]
async fn held_out_rows_choose_if_they_contradict_the_validation_score() {
    let check = async |rule: FinalChoice, held_out_score: &[f64], chosen: &str, chooses: bool| {
        let mut inputs = held_out();
        inputs.config.final_choice = rule;
        let world = with_ensemble()
            .scores("phase2/path-0/t0/k0/run", 0.7)
            .held_out("phase3/r0/run", held_out_score)
            .held_out("finalization/choice-1/run", &[0.86, 0.85, 0.87])
            .held_out("finalization/holdout/run", &[0.86, 0.85, 0.87]);
        let trust = finish(&world, &inputs).await.result.trust.unwrap();
        assert_eq!(trust.choice.candidates[0].place.to_string(), chosen, "{rule:?} {held_out_score:?}");
        let trace = finalization(&world);
        // What decides whether anything is chosen does not report either.
        let reports = if rule == FinalChoice::Validation { "whole" } else { "reporting" };
        let last = trace.iter().rfind(|place| place.contains("look-"));
        assert!(last.is_some_and(|place| place.ends_with(&format!("look-{reports}"))), "{trace:?}");
        let is_choice = |place: &String| place.starts_with("choice-");
        assert_eq!(trace.iter().any(is_choice), chooses, "{trace:?}");
        let warned = warnings(&world, "finalization", "so this half chooses");
        assert_eq!(warned, usize::from(chooses));
    };
    // The validation score is 0.9. The standard errors of the differences are 0.014 and 0.1.
    check(FinalChoice::Auto, &[0.8, 0.79, 0.81], "phase2/path-0/t0/k0/run", true).await;
    check(FinalChoice::Auto, &[0.8, 0.7, 0.9], "phase3/r0/run", false).await;
    check(FinalChoice::Auto, &[0.99, 0.98, 1.0], "phase3/r0/run", false).await;
    check(FinalChoice::Validation, &[0.8, 0.79, 0.81], "phase3/r0/run", false).await;
}

/// A script that left predictions for every row.
fn predicting(scores: &[f64]) -> ScriptOutcome {
    ScriptOutcome { submission: submitted(&[]).submission, ..measured(scores) }
}

/// Scores on held-out rows, better than those of all finalists.
const CERTAIN: [f64; 3] = [0.5, 0.49, 0.51];

/// A run in which all finalists have seen their validation rows, and an attempt that was not accepted has not. It has these
/// scores on held-out rows.
fn with_leaking_finalists(attempt: &[f64]) -> World {
    with_ensemble()
        .script("phase2/path-0/t0/k1/run", predicting(&[0.2, 0.19, 0.21]))
        .script("phase1/candidate-1/run", predicting(&[0.1, 0.09, 0.11]))
        .scores("phase2/path-0/t0/k0/run", 0.7)
        .held_out("phase3/r0/run", &[0.4, 0.39, 0.41])
        .held_out("finalization/choice-1/run", &[0.45, 0.44, 0.46])
        .held_out("phase1/candidate-1/run", &[0.46, 0.45, 0.47])
        .held_out("phase2/path-0/t0/k1/run", attempt)
        .held_out("finalization/holdout/run", &[0.5, 0.49, 0.51])
}

#[tokio::test]
async fn held_out_rows_that_contradict_choose_among_all_solutions() {
    let check = async |rule: FinalChoice, attempt: &[f64], chosen: &[&str], compared: usize| {
        let (mut inputs, world) = (held_out(), with_leaking_finalists(attempt));
        inputs.config.final_choice = rule;
        let trust = finish(&world, &inputs).await.result.trust.unwrap();
        let places: Vec<&str> = trust.choice.candidates.iter().map(|one| one.place.as_str()).collect();
        assert_eq!((&places[..chosen.len()], places.len()), (chosen, compared), "{rule:?}");
        let told = warnings(&world, "finalization", "this half chooses that of");
        assert_eq!(told, usize::from(rule == FinalChoice::Auto), "{rule:?}");
        // They have predicted the rows.
        let runs = ["choice-4/run", "choice-5/run"].map(str::to_owned);
        assert!(!finalization(&world).iter().any(|place| runs.contains(place)), "{rule:?}");
    };
    let [attempt, candidate, path] =
        ["phase2/path-0/t0/k1/run", "phase1/candidate-1/run", "phase2/path-0/t0/k0/run"];
    check(FinalChoice::Auto, &CERTAIN, &[attempt, candidate, path], 6).await;
    // As good, but not certainly better than what has a better validation score. The best one's is too good to be true.
    check(FinalChoice::Auto, &[0.5, 0.3, 0.7], &[path, attempt, candidate], 6).await;
    check(FinalChoice::Holdout, &CERTAIN, &[path], 4).await;
}

#[tokio::test]
async fn a_solution_chosen_by_held_out_rows_is_checked_for_leakage() {
    let (mut inputs, world) = (held_out(), with_leaking_finalists(&CERTAIN));
    inputs.config.leakage_check = LeakageCheck::Accepted;
    inputs.config.context = Context::Full;
    let trust = finish(&world, &inputs).await.result.trust.unwrap();
    assert_eq!(trust.choice.candidates[0].place.as_str(), "phase2/path-0/t0/k1/run");
    let trace = world.trace();
    assert!(!trace.contains(&"phase2/path-0/t0/k1/leakage".to_owned()), "it was not accepted");
    assert!(trace.contains(&"finalization/leakage".to_owned()), "{trace:?}");
    assert!(!trace.contains(&"finalization/test".to_owned()), "it writes a submission");
}

#[tokio::test]
async fn the_next_best_on_held_out_rows_replaces_a_suspect_solution() {
    let (mut inputs, world) = (held_out(), with_leaking_finalists(&CERTAIN));
    inputs.config.probes = Probes::Final;
    // With a permuted target, its score is what it was.
    let world = world.scores("finalization/probe-0/shuffled-target/run", 0.2);
    let trust = finish(&world, &inputs).await.result.trust.unwrap();
    assert_eq!(trust.choice.candidates[0].place.as_str(), "phase1/candidate-1/run", "{:?}", trust.choice);
}

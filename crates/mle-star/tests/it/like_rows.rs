//! Solutions that validated on other rows than the best one are compared on the rows of both.

use mle_star::event::Event;
use mle_star::journal::Journal;
use mle_star::testing::{World, measured};
use mle_star_domain::config::Acceptance;
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::measure::{Difference, Measurement};
use mle_star_domain::question::Comparison;

use crate::holdout::held_out;
use crate::{Folder, go_on};

/// What the best solution and the attempt at it validate on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rows {
    Folds,
    Others(&'static str),
}

fn validated(scores: &[f64], rows: Rows) -> ScriptOutcome {
    let outcome = measured(scores);
    let (on_folds, digest) = match rows {
        Rows::Folds => (true, "folds"),
        Rows::Others(digest) => (false, digest),
    };
    let on_rows = |known| Measurement { on_folds, rows_digest: digest.to_owned(), ..known };
    ScriptOutcome { measured: outcome.measured.clone().map(on_rows), ..outcome }
}

fn common(rows: u64, difference: Option<(f64, f64)>, failure: &str) -> Comparison {
    let difference = difference.map(|(by, standard_error)| Difference { by, standard_error });
    Comparison { rows, difference, failure: failure.to_owned() }
}

#[tokio::test]
async fn rows_of_both_decide() {
    use Acceptance::{OneSigma, Paper};
    const RUN: &str = "phase2/path-0/t0/k0";
    let check = async |has_folds: bool,
                       rule,
                       rows: [Rows; 2],
                       comparison: Option<Comparison>,
                       kept: bool,
                       words: &str| {
        let mut inputs = held_out();
        inputs.protocol.as_mut().unwrap().has_folds_file = has_folds;
        inputs.config.acceptance = rule;
        (inputs.config.num_retrieved_models, inputs.config.num_parallel_solutions) = (1, 1);
        inputs.config.inner_loop_steps = 1;
        let best = validated(&[0.5, 0.49, 0.51], rows[0]);
        let world = |comparison: Option<&Comparison>| {
            let world = World::new()
                .script("phase1/candidate-0/run", best.clone())
                .script("phase1/data/run", best.clone())
                .script(&format!("{RUN}/run"), validated(&[0.6, 0.59, 0.61], rows[1]));
            match comparison {
                Some(comparison) => world.answers(&format!("{RUN}/common"), comparison.clone()),
                None => world,
            }
        };
        // A replay decides the same, whatever the program would say now.
        let folder = Folder::fresh();
        drop(Journal::create(folder.path(), &inputs).unwrap());
        let other = common(40, Some((-9.0, 0.1)), "");
        for (world, is_first) in [(world(comparison.as_ref()), true), (world(Some(&other)), false)] {
            let (journal, inputs) = Journal::open(folder.path()).unwrap();
            let result = go_on(&world, &inputs, &journal).await.unwrap().result;
            let attempt = &result.phase2_results[0].step_history[0].inner_loop_attempts[0];
            assert_eq!(attempt.was_improvement, kept, "{rows:?} {comparison:?}");
            let note = world.events().into_iter().rev().find_map(|event| match event {
                Event::StepEnded { place, verdict } if place.place().as_str() == RUN => Some(verdict.note),
                _ => None,
            });
            assert!(note.as_ref().unwrap().contains(words), "{note:?}");
            let asked = world.trace().iter().any(|place| place.ends_with("/common"));
            assert_eq!(asked, is_first && comparison.is_some(), "{rows:?}");
        }
    };
    let (folds, some, others) = (Rows::Folds, Rows::Others("some"), Rows::Others("others"));
    let larger = "on the 40 rows of both, its score is larger by 0.010000";
    // The attempt prints a better score, on its own rows.
    check(true, Paper, [folds, folds], None, true, "").await;
    check(true, Paper, [folds, some], Some(common(40, Some((0.01, 0.02)), "")), true, larger).await;
    check(true, OneSigma, [folds, some], Some(common(40, Some((0.01, 0.02)), "")), false, larger).await;
    let smaller = "its score is smaller by 0.100000";
    check(true, Paper, [folds, some], Some(common(40, Some((-0.1, 0.02)), "")), false, smaller).await;
    // Too few rows in common: what validates on the folds stays.
    let few = "too few rows in common";
    check(true, Paper, [folds, some], Some(common(3, None, "")), false, few).await;
    check(true, Paper, [some, others], Some(common(3, None, "")), false, few).await;
    check(true, Paper, [some, folds], Some(common(3, None, "")), true, few).await;
    // Without a way to compare them, and in runs without the file of folds, scores decide as ever.
    check(true, Paper, [folds, some], Some(common(0, None, "a file computes the metric")), true, "").await;
    check(false, Paper, [folds, some], None, true, "").await;
}

#[tokio::test]
async fn paths_and_ensembles_are_chosen_among_on_like_rows() {
    const PATHS: [&str; 2] = ["phase2/path-0/t0/k0", "phase2/path-1/t0/k0"];
    const ROUND: &str = "phase3/r0";
    // The second path and the ensemble print better scores, on the rows given here.
    let check = async |rows: [Rows; 2], says: &[(&str, Comparison)], compared: &[&str], best: &str| {
        let mut inputs = held_out();
        let protocol = inputs.protocol.as_mut().unwrap();
        (protocol.has_folds_file, protocol.like_rows) = (true, true);
        (inputs.config.num_retrieved_models, inputs.config.num_parallel_solutions) = (1, 2);
        (inputs.config.inner_loop_steps, inputs.config.outer_loop_steps) = (1, 1);
        inputs.config.ensemble_rounds = 1;
        let first = validated(&[0.5, 0.49, 0.51], Rows::Folds);
        let larger = common(40, Some((0.01, 0.001)), "");
        let world = || {
            let world = World::new()
                .script("phase1/candidate-0/run", first.clone())
                .script("phase1/data/run", first.clone())
                .script(&format!("{}/run", PATHS[0]), validated(&[0.6, 0.59, 0.61], Rows::Folds))
                .script(&format!("{}/run", PATHS[1]), validated(&[0.7, 0.69, 0.71], rows[0]))
                .script(&format!("{ROUND}/run"), validated(&[0.8, 0.79, 0.81], rows[1]))
                .answers(&format!("{}/common", PATHS[1]), larger.clone());
            says.iter().fold(world, |world, (place, comparison)| world.answers(place, comparison.clone()))
        };
        // A replay compares nothing again, and decides the same.
        let folder = Folder::fresh();
        drop(Journal::create(folder.path(), &inputs).unwrap());
        for is_first in [true, false] {
            let (world, (journal, inputs)) = (world(), Journal::open(folder.path()).unwrap());
            let result = go_on(&world, &inputs, &journal).await.unwrap().result;
            let chosen = result.trust.unwrap().choice.candidates[0].place.to_string();
            assert_eq!(chosen, format!("{best}/run"), "{rows:?} {says:?}");
            let places: Vec<String> =
                world.trace().into_iter().filter(|place| place.contains("like-rows")).collect();
            assert_eq!(places, if is_first { compared } else { &[] }, "{rows:?}");
        }
    };
    let (folds, some) = (Rows::Folds, Rows::Others("some"));
    let [second, third] = [2, 3].map(|member| format!("like-rows/member-{member}/common"));
    let [of_paths, of_rounds] = ["phase2", "phase3"].map(|phase| format!("{phase}/{second}"));
    let last = format!("phase3/{third}");
    let (better, worse) = (common(40, Some((0.01, 0.02)), ""), common(40, Some((-0.01, 0.02)), ""));
    let none = common(3, None, "");
    check([folds, folds], &[], &[], ROUND).await;
    // The ensemble's rows are the folds, so its score counts against that of the first path.
    let all = [of_paths.as_str(), &of_rounds];
    check([some, folds], &[(&of_paths, worse.clone()), (&of_rounds, worse.clone())], &all, ROUND).await;
    let all = [of_paths.as_str(), &of_rounds, &last];
    let won = [(of_paths.as_str(), better.clone()), (&of_rounds, better.clone()), (&last, worse.clone())];
    check([some, folds], &won, &all, PATHS[1]).await;
    // The ensemble has other rows.
    check([folds, some], &[(&last, worse)], &[&last], PATHS[1]).await;
    check([folds, some], &[(&last, better)], &[&last], ROUND).await;
    check([folds, some], &[(&last, none)], &[&last], PATHS[1]).await;
}

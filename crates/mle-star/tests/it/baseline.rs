//! The program's own solutions before any agent is asked.

use mle_star::journal::{Frozen, Journal};
use mle_star::result::StoppedBy;
use mle_star::testing::{World, frozen, protocol, scored_with_submission};
use mle_star_domain::protocol::Protocol;

use crate::{Folder, go_on, run};

const CONSTANT: &str = "phase1/baseline-constant/run";
const LINEAR: &str = "phase1/baseline-linear/run";

fn with_baseline() -> Frozen {
    let baselines = vec!["constant()".to_owned(), "linear()".to_owned()];
    Frozen { protocol: Some(Protocol { baselines, ..protocol() }), ..frozen() }
}

/// A world in which a constant and a linear model have these scores.
fn world(constant: f64, linear: f64) -> World {
    let world = World::new().script(CONSTANT, scored_with_submission(constant));
    world.script(LINEAR, scored_with_submission(linear))
}

#[tokio::test(start_paused = true)]
async fn a_limit_before_the_first_solution_leaves_the_baseline() {
    let (world, mut inputs, folder) = (world(0.3, 0.4).takes(60, 1), with_baseline(), Folder::fresh());
    inputs.config.time_limit_seconds = 100;
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let finished = go_on(&world, &inputs, &journal).await.unwrap();
    assert_eq!(world.trace()[..3], [CONSTANT, LINEAR, "phase1/retriever"]);
    let result = &finished.result;
    let scores: Vec<_> = result.baseline.iter().map(|one| (one.name.as_str(), one.score)).collect();
    assert_eq!(scores, [("constant", 0.3), ("linear", 0.4)]);
    assert_eq!(
        (result.final_solution.content.as_str(), result.stopped_by),
        ("linear()", Some(StoppedBy::Time))
    );
    assert!(finished.submission.is_some());
    assert_eq!(result.expected.as_ref().map(|expected| expected.score), Some(0.4));

    let earlier = finished.result;
    drop(journal);
    world.forget();
    let (journal, mut frozen) = Journal::open(folder.path()).unwrap();
    frozen.config.time_limit_seconds = 10_000;
    journal.reopen_with(&frozen, Some(&earlier)).unwrap();
    let result = go_on(&world, &frozen, &journal).await.unwrap().result;
    assert!(!world.trace().contains(&LINEAR.to_owned()), "the baseline runs once");
    assert_eq!((result.validation_score(), result.answer_is_earlier), (0.5, false));
    assert_eq!(result.baseline, earlier.baseline);
}

#[tokio::test]
async fn a_baseline_that_no_solution_reaches_is_submitted() {
    let result = run(&world(0.3, 0.99), &with_baseline()).await.unwrap().result;
    assert_eq!(result.validation_score(), 0.99);
    assert!(result.lineage.iter().any(|step| step.place.as_str() == "phase1/baseline-linear"));
    let result = run(&world(0.3, 0.4), &with_baseline()).await.unwrap().result;
    assert_eq!(result.validation_score(), 0.5);
}

#[tokio::test]
async fn agents_are_told_nothing_of_the_baseline() {
    let (with, without) = (world(0.3, 0.4), World::new());
    run(&with, &with_baseline()).await.unwrap();
    run(&without, &Frozen { protocol: Some(protocol()), ..frozen() }).await.unwrap();
    for place in ["phase1/merge-1/merger", "phase2/path-0/t0/k1/planner", "phase3/r1/ens_planner"] {
        let told = [&with, &without].map(|world| world.request(place).map(|request| request.prompt));
        assert!(told[0].is_some() && told[0] == told[1], "{place}");
    }
}

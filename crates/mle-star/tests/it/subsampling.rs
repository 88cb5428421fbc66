//! Whether subsampling is looked for and removed.

use mle_star::journal::Frozen;
use mle_star::testing::{World, protocol, scored_with_submission};
use mle_star_domain::config::Context;
use mle_star_domain::protocol::Protocol;

use crate::context::told;
use crate::holdout::{finish, held_out};
use crate::run;

/// A script that draws a sample.
const SAMPLES: &str = "```python\nprint('start')\ntrain = train.sample(10)\nprint('end')\n```";

#[tokio::test]
async fn a_solution_that_wrote_the_submission_is_not_run_again() {
    let mut inputs = told();
    inputs.config.num_parallel_solutions = 2;
    // So few rows are not sampled.
    let few = Protocol { verifies: false, ..protocol() };
    let world = World::new().script("phase3/r1/run", scored_with_submission(0.8));
    let finished = run(&world, &Frozen { protocol: Some(few), ..inputs.clone() }).await.unwrap();
    assert_eq!(finished.submission.unwrap().as_str(), "phase3/r1/run");
    let last: Vec<String> =
        world.trace().into_iter().filter(|place| place.starts_with("finalization")).collect();
    // Nobody is asked for another script, but for one that keeps the model.
    assert_eq!(last, ["finalization/model/test"]);
    let result = finished.result;
    assert_eq!(result.final_solution.score, Some(0.8));
    assert_eq!(result.phases_completed.len(), 4);
    // Its subsampling is removed, so it runs on more rows.
    let world = World::new()
        .agent("phase3/r1/ensembler", SAMPLES)
        .script("phase3/r1/run", scored_with_submission(0.8))
        .agent("finalization/subsampling_extract", "```python\nprint('start')\n```");
    let finished = run(&world, &inputs).await.unwrap();
    assert_eq!(finished.submission.unwrap().as_str(), "finalization/run");
}

#[tokio::test(start_paused = true)]
async fn the_agent_that_removes_subsampling_knows_the_time() {
    let samples = "```python\nprint('start')\ntrain = train.sample(10)\nblock = 1\nprint(block)\n```";
    let writers = [
        "phase1/candidate-0/init",
        "phase1/candidate-1/init",
        "phase1/merge-1/merger",
        "phase3/r0/ensembler",
        "phase3/r1/ensembler",
    ];
    let world = writers.into_iter().fold(World::new(), |world, writer| world.agent(writer, samples));
    let world =
        world.takes(0, 10).agent("finalization/subsampling_extract", "```python\nprint('start')\n```");
    let mut inputs = held_out();
    (inputs.config.time_limit_seconds, inputs.config.context) = (200, Context::Full);
    inputs.protocol.as_mut().unwrap().rows = 300_000;
    finish(&world, &inputs).await;
    let asked = world.request("finalization/subsampling_remove").unwrap();
    let number = |name: &str| asked.inputs[name].as_f64().unwrap();
    assert!((number("seconds") - 10.0).abs() < 0.1, "{:?}", asked.inputs);
    // The reserve for a run on three times the rows is 45 s, and a last script may have begun before it.
    let allowed = number("allowed_seconds");
    assert!((45.0 / 1.3..200.0 / 1.3).contains(&allowed), "{allowed}");
    assert!(asked.prompt.contains(&format!("may take {allowed} s")), "{}", asked.prompt);
    inputs.config.context = Context::Paper;
    world.forget();
    finish(&world, &inputs).await;
    let asked = world.request("finalization/subsampling_remove").unwrap();
    assert_eq!(asked.inputs.len(), 1, "{:?}", asked.inputs);
}

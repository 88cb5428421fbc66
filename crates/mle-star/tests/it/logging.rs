//! What the program says about runs with mishaps: `logging/events.txt`, one line an event.
//!
//! `INSTA_UPDATE=always` writes the file. Then read the difference as `CONTRIBUTING.md` says.

use std::path::Path;

use mle_star::event::Event;
use mle_star::journal::Frozen;
use mle_star::testing::{World, frozen};

use crate::run;

/// A step whose script fails until it is given up.
fn failing(world: World, step: &str) -> World {
    let world = world.fails(&format!("{step}/run"));
    (1..=3).fold(world, |world, repair| world.fails(&format!("{step}/debug-{repair}/run")))
}

/// The events of a run as JSON, in the order of their text: paths go on side by side.
async fn log(world: &World, inputs: &Frozen, is_told: fn(&Event) -> bool) -> String {
    let _ = run(world, inputs).await;
    let events = world.events();
    let mut lines: Vec<String> = events
        .iter()
        .filter(|event| is_told(event))
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    lines.sort();
    // The time of day.
    regex::Regex::new(r#""created_at":"[^"]*""#).unwrap().replace_all(&lines.join("\n"), "").into_owned()
}

/// Where something is refused, repaired, corrected or left out in every phase.
fn eventful() -> (World, Frozen) {
    let leak = r#"{"answers": [{"leakage_status": "Yes Data Leakage", "code_block": "print('start')"}]}"#;
    let absent = r#"{"plans": [{"code_block": "absent block", "plan": "p"}]}"#;
    let world = failing(World::new(), "phase1/candidate-0")
        .agent("phase1/candidate-0/debug-2/debugger", "```python\nprint('without a score')\n```")
        .agent("phase1/candidate-1/leakage", leak)
        .scores("phase1/candidate-1/run", 0.7)
        .scores("phase1/candidate-2/run", 0.6)
        .scores("phase1/merge-1/run", 0.65)
        .scores("phase2/path-0/t0/k1/run", 0.8)
        .agent("phase2/path-1/t0/extractor", absent);
    let world = failing(world, "phase2/path-1/t1");
    let world = ["extractor", "extractor-2", "extractor-3"]
        .iter()
        .fold(world, |world, name| world.agent(&format!("phase2/path-1/t1/{name}"), absent));
    let world = failing(world.scores("phase3/r0/run", 0.9), "phase3/r1")
        .agent("finalization/subsampling_extract", "```python\nblock = 'phase3/r0/ensembler'\n```")
        .agent("finalization/subsampling_remove", "```python\npass\n```")
        .agent("finalization/contamination-1", r#"{"verdict": "Same"}"#);
    let mut inputs = frozen();
    (inputs.config.num_retrieved_models, inputs.config.outer_loop_steps) = (3, 2);
    inputs.task.reference_discussions = vec!["one".to_owned(), "two".to_owned()];
    (world, inputs)
}

#[tokio::test(start_paused = true)]
async fn everything_that_a_run_does_and_leaves_out_is_told() {
    let (world, inputs) = eventful();
    let mut parts = vec![log(&world, &inputs, |_| true).await];
    // Where runs end in other ways, only what is said in words.
    let in_words = |event: &Event| matches!(event, Event::Info { .. } | Event::Warning { .. });
    let without = failing(failing(World::new(), "phase1/candidate-0"), "phase1/candidate-1");
    parts.push(log(&without, &frozen(), in_words).await);
    let mut alone = frozen();
    alone.config.num_parallel_solutions = 1;
    let unanswered = World::new().agent("finalization/subsampling_extract", "no idea");
    parts.push(log(&failing(unanswered, "finalization"), &alone, in_words).await);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/logging/events.txt");
    mle_star_needs::assert_file(&file, &format!("{}\n", parts.join("\n\n")));
}

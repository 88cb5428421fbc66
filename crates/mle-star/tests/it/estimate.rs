//! Estimates match the work of runs.

use std::collections::BTreeMap;

use mle_star::estimate::{Count, estimate};
use mle_star::journal::Frozen;
use mle_star::testing::{World, frozen, protocol, scored_with_submission};
use mle_star_domain::config::{AgentsChoice, Context, LeakageCheck, Preset, Probes};
use mle_star_domain::place::{Phase, Place};
use mle_star_domain::protocol::Protocol;
use mle_star_domain::role::AgentType;

use crate::run;

type Done = BTreeMap<(Phase, Option<AgentType>), u64>;

/// The work of a run: calls by phase and role, scripts without a role.
async fn done(world: &World, inputs: &Frozen) -> Done {
    run(world, inputs).await.unwrap();
    let mut done = Done::new();
    for place in world.trace() {
        let role = world.request(&place).map(|request| request.agent);
        *done.entry((Place::from(place.as_str()).phase().unwrap(), role)).or_default() += 1;
    }
    done
}

fn estimated(inputs: &Frozen, pick: fn(&Count) -> u64) -> Done {
    let given = inputs.retrieved_models.as_ref().map(Vec::len);
    let mut all = Done::new();
    for phase in estimate(&inputs.config, &inputs.task, given) {
        all.extend(phase.calls.iter().map(|(role, count)| ((phase.phase, Some(*role)), pick(count))));
        all.insert((phase.phase, None), pick(&phase.scripts));
    }
    all.retain(|_, count| *count > 0);
    all
}

/// A run with M, T, K, L and R of these numbers.
fn sized([models, outer, inner, paths, rounds]: [u32; 5]) -> Frozen {
    let mut inputs = frozen();
    let config = &mut inputs.config;
    (config.num_retrieved_models, config.outer_loop_steps) = (models, outer);
    (config.inner_loop_steps, config.num_parallel_solutions) = (inner, paths);
    (config.ensemble_rounds, config.max_debug_attempts) = (rounds, 2);
    (config.agents, config.preset) = (AgentsChoice::Claude, Preset::Paper);
    inputs
}

const SIZES: [[u32; 5]; 5] =
    [[1, 1, 1, 1, 1], [2, 1, 2, 2, 2], [3, 2, 1, 1, 4], [1, 3, 3, 3, 1], [4, 4, 4, 2, 5]];

#[tokio::test]
async fn the_fewest_are_those_of_an_uneventful_run() {
    for size in SIZES {
        let mut inputs = sized(size);
        assert_eq!(done(&World::new(), &inputs).await, estimated(&inputs, |count| count.fewest), "{size:?}");
        inputs.task.baseline_solution = Some("block = 1\nprint(block)".to_owned());
        inputs.task.reference_discussions = vec!["one".to_owned(), " ".to_owned(), "two".to_owned()];
        assert_eq!(done(&World::new(), &inputs).await, estimated(&inputs, |count| count.fewest), "{size:?}");
    }
}

#[tokio::test]
async fn the_fewest_of_the_defaults_are_those_of_a_run_without_accepted_attempts() {
    for [models, outer, inner, paths, rounds] in SIZES {
        let mut inputs = sized([models, outer, inner, paths, rounds]);
        (inputs.config.context, inputs.config.leakage_check) = (Context::Full, LeakageCheck::Accepted);
        inputs.config.preset = Preset::Default;
        // Nobody samples so few rows.
        inputs.protocol = Some(Protocol { verifies: false, ..protocol() });
        let attempts =
            (0..paths).flat_map(|path| (0..outer).map(move |t| format!("phase2/path-{path}/t{t}")));
        let attempts = attempts.flat_map(|step| (0..inner).map(move |k| format!("{step}/k{k}/run")));
        let later = (1..rounds).map(|r| format!("phase3/r{r}/run"));
        let world = attempts.chain(later).fold(World::new(), |world, run| world.scores(&run, 0.1));
        let last = match (paths, models) {
            (1, 1) => "phase1/candidate-0/run".to_owned(),
            (1, models) => format!("phase1/merge-{}/run", models - 1),
            _ => "phase3/r0/run".to_owned(),
        };
        let world = world
            .script(&last, scored_with_submission(0.5))
            .agent("finalization/model/test", "```python\nopen('./final/predict.py', 'w')\n```");
        assert_eq!(done(&world, &inputs).await, estimated(&inputs, |count| count.fewest));
    }
}

/// A world in which everything fails as often as possible and succeeds at the last attempt.
async fn eventful(inputs: &Frozen) -> World {
    let smooth = World::new();
    run(&smooth, inputs).await.unwrap();
    let trace = smooth.trace();
    let ran = trace.iter().filter_map(|place| place.strip_suffix("/run"));
    let repairs = inputs.config.max_debug_attempts;
    // A repaired script holds both lines again, until one is corrected.
    let leak = |line: &str| {
        format!(r#"{{"answers": [{{"leakage_status": "Yes Data Leakage", "code_block": "{line}"}}]}}"#)
    };
    let (first, repaired) = (leak("print(block)"), leak("print('start')"));
    let mut world = World::new().agent_fails("phase1/retriever");
    for step in ran.chain(["phase1/data", "phase1/final"]) {
        world = world.fails(&format!("{step}/run")).agent(&format!("{step}/leakage"), &first);
        for repair in 1..=repairs {
            let debug = format!("{step}/debug-{repair}");
            world = world.agent(&format!("{debug}/leakage"), &repaired);
            world = if repair < repairs { world.fails(&format!("{debug}/run")) } else { world };
        }
    }
    for place in trace.iter().filter(|place| place.ends_with("/extractor")) {
        let nowhere = r#"{"plans": [{"code_block": "nowhere", "plan": "p"}]}"#;
        world = world.agent(place, nowhere).agent(&format!("{place}-2"), nowhere);
    }
    world
        .agent("phase1/data/data", "```python\nprint('start')\nblock = 'data'\nprint(block)\n```")
        .agent("finalization/subsampling_extract", "```python\nprint(block)\n```")
}

#[tokio::test]
async fn the_most_are_those_of_a_run_in_which_everything_goes_wrong_that_can() {
    for size in SIZES {
        let inputs = sized(size);
        let world = eventful(&inputs).await;
        assert_eq!(done(&world, &inputs).await, estimated(&inputs, |count| count.most), "{size:?}");
    }
}

#[tokio::test]
async fn the_runs_of_finalization_are_counted() {
    let mut inputs = sized([1, 1, 1, 1, 1]);
    let scripts = |inputs: &Frozen| {
        let of = estimate(&inputs.config, &inputs.task, None);
        of.into_iter().find(|of| of.phase == Phase::Finalization).unwrap().scripts
    };
    let before = scripts(&inputs);
    inputs.config.probes = Probes::Final;
    let probed = scripts(&inputs);
    assert_eq!((probed.fewest - before.fewest, probed.most - before.most), (2, 8));
    inputs.config.preset = Preset::Default;
    assert_eq!(scripts(&inputs), Count { fewest: probed.fewest, most: probed.most + 2 });
}

#[tokio::test]
async fn models_by_hand_and_rules_need_fewer_questions() {
    let mut inputs = sized([3, 1, 1, 1, 1]);
    inputs.config.agents = AgentsChoice::Offline;
    let retriever = |inputs: &Frozen| {
        estimated(inputs, |count| count.most).remove(&(Phase::Phase1, Some(AgentType::Retriever)))
    };
    assert_eq!(retriever(&inputs), Some(1));
    let model = |name: &str| serde_json::json!({"model_name": name, "example_code": "fit()"});
    inputs.retrieved_models = serde_json::from_value(serde_json::json!([model("a"), model("b")])).unwrap();
    assert_eq!(retriever(&inputs), None);
    assert_eq!(done(&World::new(), &inputs).await, estimated(&inputs, |count| count.fewest));
}

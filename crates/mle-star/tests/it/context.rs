//! What agents are told beyond the paper, and calls that are not made twice.

use mle_star::journal::{Frozen, Journal, Kind, read};
use mle_star::testing::{World, failed, frozen, measured, ran};
use mle_star_domain::config::{Context, LeakageCheck};
use mle_star_domain::effects::{ScriptOutcome, VariantScore};
use mle_star_domain::measure::Difference;

use crate::{Folder, go_on, run};

const LEAK: &str = r#"{"answers": [{"leakage_status": "Yes Data Leakage", "code_block": "print('start')"}]}"#;

/// A run with the program's own settings, on one path.
pub fn told() -> Frozen {
    let mut inputs = frozen();
    (inputs.config.context, inputs.config.leakage_check) = (Context::Full, LeakageCheck::Accepted);
    inputs.config.num_parallel_solutions = 1;
    inputs
}

fn prompt(world: &World, place: &str) -> String {
    world.request(place).unwrap().prompt
}

fn contains_all(text: &str, phrases: &[&str]) {
    for phrase in phrases {
        assert!(text.contains(phrase), "no {phrase:?} in:\n{text}");
    }
}

/// A block that can leak.
const FITS: &str = "```python\nblock = model.fit(rows)\n```";

#[tokio::test]
async fn only_attempts_that_would_be_accepted_are_checked_for_leakage() {
    let world = World::new()
        .scores("phase2/path-0/t0/k0/run", 0.4)
        .agent("phase2/path-0/t0/k1/coder", FITS)
        .scores("phase2/path-0/t0/k1/run", 0.6);
    let result = run(&world, &told()).await.unwrap().result;
    let trace = world.trace();
    assert!(!trace.contains(&"phase2/path-0/t0/k0/leakage".to_owned()), "{trace:?}");
    let at = |place: &str| trace.iter().position(|known| known == place).unwrap();
    assert!(at("phase2/path-0/t0/k1/run") < at("phase2/path-0/t0/k1/leakage"));
    assert_eq!(result.phase2_results[0].best_score, 0.6);
}

#[tokio::test]
async fn no_agent_is_asked_about_a_change_that_cannot_leak() {
    // Its block is a constant.
    let world = World::new().scores("phase2/path-0/t0/k0/run", 0.6);
    let result = run(&world, &told()).await.unwrap().result;
    assert!(world.request("phase2/path-0/t0/k0/leakage").is_none());
    assert_eq!(result.phase2_results[0].best_score, 0.6);
}

#[tokio::test]
async fn a_leak_that_is_found_after_the_run_is_corrected_and_the_script_runs_again() {
    let check = async |corrected: ScriptOutcome, best: f64| {
        let world = World::new()
            .scores("phase2/path-0/t0/k0/run", 0.9)
            .agent("phase2/path-0/t0/k0/coder", FITS)
            .agent("phase2/path-0/t0/k0/leakage", LEAK)
            .agent("phase2/path-0/t0/k0/leakage-fix-1", "```python\nprint('begin')\n```")
            .script("phase2/path-0/t0/k0/corrected/run", corrected)
            .scores("phase2/path-0/t0/k1/run", 0.4);
        let path = run(&world, &told()).await.unwrap().result.phase2_results.remove(0);
        let script = world.script_run("phase2/path-0/t0/k0/corrected/run").unwrap().script;
        assert!(script.starts_with("print('begin')"), "{script}");
        assert_eq!((path.best_score, path.best_solution.content == script), (best, best > 0.5));
    };
    check(ran(Some(0.7)), 0.7).await;
    // Without the leak, it is worse than the solution before.
    check(ran(Some(0.3)), 0.5).await;
}

#[tokio::test]
async fn a_script_is_judged_once() {
    let folder = Folder::fresh();
    let (world, inputs) = (World::new(), told());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    go_on(&world, &inputs, &journal).await.unwrap();
    assert!(!world.trace().contains(&"phase1/final/leakage".to_owned()), "s_0 was checked before");
    let effects = read(folder.path()).unwrap().effects;
    let verdict = |place: &str| effects.iter().find(|effect| effect.place.as_str() == place).unwrap().clone();
    let (first, again) = (verdict("phase1/merge-1/leakage"), verdict("phase1/final/leakage"));
    assert_eq!((again.kind, again.outcome), (Kind::Agent, first.outcome));
}

#[tokio::test]
async fn a_verdict_that_cannot_be_read_is_asked_for_again() {
    let world = World::new().agent("phase1/merge-1/leakage", "I am not sure.");
    run(&world, &told()).await.unwrap();
    assert!(world.trace().contains(&"phase1/final/leakage".to_owned()), "{:?}", world.trace());
}

#[tokio::test]
async fn coders_are_told_what_earlier_attempts_changed_and_all_paths_what_studies_found() {
    let mut inputs = told();
    (inputs.config.inner_loop_steps, inputs.config.num_parallel_solutions) = (3, 2);
    inputs.config.outer_loop_steps = 2;
    let world = World::new()
        .agent("phase2/path-1/t0/summarize", "- without geography: 0.5 (+0.0), noise")
        .scores("phase2/path-0/t0/k0/run", 0.7)
        .scores("phase2/path-0/t0/k1/run", 0.4);
    run(&world, &inputs).await.unwrap();
    let coder = |k: u32| prompt(&world, &format!("phase2/path-0/t0/k{k}/coder"));
    assert!(!coder(0).contains("Earlier attempts"), "{}", coder(0));
    let told = [
        "- Attempt 1 (score 0.7, better by 0.2, kept as the best so far",
        "- Attempt 2 (score 0.4, worse by 0.1, not kept",
        "What attempt 1 changed:\n\n```diff\n@@ -1,3 +1,3 @@",
        "What attempt 2 changed:\n\n```diff\n@@ -1,3 +1,3 @@",
        "take them from what it changed",
    ];
    contains_all(&coder(2), &told);
    let found = "- path 2 (path-1), study 1: without geography: 0.5 (+0.0), noise";
    for place in ["path-0/t1/ablation", "path-0/t1/extractor", "path-0/t1/k1/planner"] {
        contains_all(&prompt(&world, &format!("phase2/{place}")), &[found]);
    }
    assert!(!prompt(&world, "phase2/path-1/t1/ablation").contains(found));
    contains_all(&prompt(&world, "phase3/r0/ens_planner"), &[found]);
}

#[tokio::test]
async fn a_variant_of_a_study_that_is_better_is_told_with_its_code() {
    let variant = |number, score, by: f64| VariantScore {
        number,
        score,
        difference: (number > 0).then_some(Difference { by, standard_error: 0.004 }),
    };
    let variants = vec![variant(0, 0.5, 0.0), variant(1, 0.52, 0.02), variant(2, 0.4, -0.1)];
    let study =
        "```python\n# variant 1: products\nx = a * b\n# end of variant 1\n# variant 2: no b\nx = a\n```";
    let world = World::new()
        .agent("phase2/path-0/t0/ablation", study)
        .script("phase2/path-0/t0/run", ScriptOutcome { variants, ..ran(None) });
    run(&world, &told()).await.unwrap();
    let extractor = prompt(&world, "phase2/path-0/t0/extractor");
    let measured = [
        "- variant 1: 0.52, better by 0.02 (standard error 0.004)",
        "- variant 2: 0.4, worse by 0.1 (standard error 0.004)",
    ];
    contains_all(&extractor, &measured);
    for prompt in [extractor, prompt(&world, "phase2/path-0/t0/k0/coder")] {
        contains_all(&prompt, &["Variant 1:\n\n```python\n# variant 1: products\nx = a * b\n```"]);
        assert!(!prompt.contains("x = a\n"), "{prompt}");
    }
}

#[tokio::test]
async fn prompts_begin_with_what_the_one_before_them_shares() {
    let mut inputs = told();
    (inputs.config.inner_loop_steps, inputs.config.num_parallel_solutions) = (4, 2);
    inputs.config.ensemble_rounds = 3;
    let world = World::new()
        .agent("phase2/path-0/t0/k0/coder", FITS)
        .scores("phase2/path-1/t0/k1/run", 0.9)
        .script("phase3/r0/run", ran(Some(0.95)))
        .script("phase3/r1/run", ran(Some(0.1)))
        .script("phase3/r2/run", ran(Some(0.1)));
    run(&world, &inputs).await.unwrap();
    let asked = |place: &str| world.request(place).unwrap();
    let continues = |before: &str, after: &str| {
        let (before, after) = (asked(before), asked(after));
        let shared = *before.shared.last().unwrap();
        assert!(after.shared.contains(&shared), "{:?} {:?}", before.shared, after.shared);
        assert_eq!(before.prompt[..shared], after.prompt[..shared]);
        assert!(!after.prompt.contains('\u{FDD0}'));
        shared
    };
    let attempt = |k: u32, agent: &str| format!("phase2/path-0/t0/k{k}/{agent}");
    for k in 1..3 {
        continues(&attempt(k, "coder"), &attempt(k, "planner"));
        let shared = continues(&attempt(k, "planner"), &attempt(k + 1, "planner"));
        assert!(asked(&attempt(k, "planner")).prompt[..shared].contains(&format!("## Attempt {k}: ")));
    }
    let shared = continues("phase3/r1/ensembler", "phase3/r2/ensembler");
    assert!(asked("phase3/r1/ensembler").prompt[..shared].contains("The best ensemble so far"));
    continues("phase3/r1/ens_planner", "phase3/r2/ens_planner");
    continues("phase1/merge-1/leakage", "phase2/path-0/t0/k0/leakage");
}

#[tokio::test]
async fn the_debugger_of_a_study_knows_its_limit() {
    let study = "phase2/path-0/t0";
    let world = World::new().fails(&format!("{study}/run"));
    run(&world, &told()).await.unwrap();
    let asked = prompt(&world, &format!("{study}/debug-1/debugger"));
    contains_all(
        &asked,
        &["A script may run for 600 s. Then", "is an ablation study", "as soon as it is known"],
    );
    for other in ["must print its score", "keep writing it", "is a solution"] {
        assert!(!asked.contains(other), "{asked}");
    }
}

#[tokio::test]
async fn an_attempt_that_a_later_one_replaced_is_not_part_of_the_solution() {
    let mut inputs = told();
    (inputs.config.outer_loop_steps, inputs.config.inner_loop_steps) = (2, 2);
    let world = World::new().scores("phase2/path-0/t0/k0/run", 0.6).scores("phase2/path-0/t0/k1/run", 0.7);
    run(&world, &inputs).await.unwrap();
    let planner = prompt(&world, "phase2/path-0/t0/k1/planner");
    contains_all(&planner, &["better by 0.1, kept as the best so far", "only the best attempt is kept"]);
    let replaced = "better by 0.1, kept until a later attempt replaced it";
    for agent in ["ablation", "extractor"] {
        let prompt = prompt(&world, &format!("phase2/path-0/t1/{agent}"));
        contains_all(&prompt, &[replaced, "better by 0.2, kept, "]);
    }
    let lines = prompt(&world, "phase2/path-0/t1/k1/planner");
    contains_all(&lines, &["better by 0.1, kept until a later one replaced it (score 0.6)"]);
}

#[tokio::test]
async fn the_planner_of_ensembles_knows_why_a_round_failed_and_what_another_gained() {
    let mut inputs = told();
    (inputs.config.num_parallel_solutions, inputs.config.ensemble_rounds) = (2, 3);
    inputs.config.max_debug_attempts = 1;
    let output = |score: f64| measured(&[score, score * 0.98, score * 1.02]);
    let world = World::new()
        .script("phase1/merge-1/run", output(0.5))
        .script("phase3/r0/run", failed("KeyError: 'x'"))
        .script("phase3/r0/debug-1/run", failed("KeyError: 'y'"))
        .script("phase3/r1/run", failed("KeyError: 'z'"))
        .script("phase3/r1/debug-1/run", output(0.75));
    run(&world, &inputs).await.unwrap();
    let last = prompt(&world, "phase3/r2/ens_planner");
    let says = [
        "Differences are to the best of the given solutions.",
        "(failed after less than 1 s: KeyError: 'y')\n  - repaired after KeyError: 'x'\n",
        "(score 0.75, better by 0.25",
        ", less than 1 s)\n  - repaired after KeyError: 'z'\n",
    ];
    contains_all(&last, &says);
}

#[tokio::test]
async fn constant_parts_stand_in_the_system_prompt_of_those_who_need_them() {
    let mut inputs = told();
    inputs.task.description = "THE TASK".to_owned();
    inputs.data_summary = Some("THE DATA".to_owned());
    inputs.config.num_parallel_solutions = 2;
    let world = World::new();
    run(&world, &inputs).await.unwrap();
    for place in world.trace().iter().filter(|place| !place.ends_with("/run")) {
        let request = world.request(place).unwrap();
        let judges = ["leakage", "summarize", "subsampling_extract"].iter().any(|name| place.ends_with(name));
        for part in ["Kaggle grandmaster", "THE TASK", "THE DATA", "Python 3", "# Validation"] {
            let submits = part == "# Validation" && place == "finalization/test";
            let combines = part == "THE DATA" && place.starts_with("phase3/");
            let is_needed = !judges && !submits && !combines;
            assert_eq!(request.system.contains(part), is_needed, "{part} in the system prompt of {place}");
            assert!(!request.prompt.contains(part), "{part} in the prompt of {place}");
        }
        contains_all(&request.system, &["Do exactly this task"]);
    }
}

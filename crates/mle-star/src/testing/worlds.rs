//! Worlds for the tests of several crates: one in which all untrusted text is an attack, and one with more than
//! 500 scripts.

use serde_json::json;

use super::{World, failed, frozen, ran};
use crate::journal::Frozen;
use mle_star_domain::config::Config;
use mle_star_domain::effects::{AgentReply, Captured, Lookup, ScriptOutcome};

/// The parts of an attack. If one succeeds in a browser, it sets `window.attacked`.
const ATTACKS: [&str; 6] = [
    "</pre></script><script>window.attacked = 1</script>",
    "\"><img src=x onerror=\"window.attacked = 2\">",
    "' onclick='window.attacked = 3",
    "]]>--><svg onload=\"window.attacked = 4\">",
    "{{ 7*7 }}{% raw %}",
    "left \u{202e}thgir\u{2066}\u{0}\u{1b}[31m",
];

/// Text that tries to become markup, to be executed, or to hide or reverse the text around it.
pub fn attack() -> String {
    ATTACKS.join(" ")
}

/// A run in which all untrusted text is an [`attack`]. Long texts have this many characters more.
pub fn hostile(padding: usize) -> (World, Frozen) {
    let evil = attack();
    let code = format!("'''{evil}'''\nblock = 'x'\nprint(block)\n# {}\n", "x".repeat(padding));
    let models = json!({"models": [
        {
            "model_name": evil,
            "example_code": code,
            "sources": [evil, "javascript:window.attacked = 5", "https://a.org/\"><b>"],
        },
        {"model_name": "b", "example_code": "x"},
    ]});
    let lookup = Lookup { tool: evil.clone(), what: evil.clone(), failure: Some(evil.clone()) };
    let retrieved = AgentReply { lookups: vec![lookup], ..AgentReply::text(models.to_string()) };
    let plans = json!({"plans": [{"code_block": "block = 'x'", "plan": evil}]});
    let printed = format!("Baseline: 0.5\nWithout {evil}: 0.4\n{}", "y".repeat(padding));
    let study = ScriptOutcome { stdout: Captured::whole(printed), ..ran(None) };
    let broken = ScriptOutcome { traceback: Some(format!("Traceback\n{evil}")), ..failed(&evil) };
    let world = World::new()
        .reply("phase1/retriever", retrieved)
        .agent("phase1/candidate-0/init", &format!("```python\n{code}```"))
        .script("phase1/candidate-1/run", broken)
        .scores("phase1/candidate-0/run", 0.9)
        .agent("phase2/path-0/t0/extractor", &plans.to_string())
        .agent("phase2/path-0/t0/summarize", &evil)
        .agent("phase2/path-0/t0/k0/coder", &format!("```python\nblock = '''{evil}'''\n```"))
        .agent("phase2/path-0/t0/k1/planner", &evil)
        .script("phase2/path-0/t0/run", study)
        .agent("phase3/r0/ens_planner", &evil)
        .agent_fails("phase3/r1/ens_planner");
    let mut inputs = frozen();
    inputs.task.description = format!("{evil}\n{}", "z".repeat(padding));
    inputs.task.competition_id.clone_from(&evil);
    inputs.task.evaluation_metric = evil;
    (world, inputs)
}

/// A run with more than 500 scripts. The first ones have twice as many lines and edits have half as many.
pub fn large(lines: usize) -> (World, Frozen) {
    let script =
        format!("```python\n{}block = 'x'\n{}print(block)\n```", features(lines, 0), features(lines, 7));
    let (paths, outer, inner) = (4_u32, 10_u32, 12_u32);
    let first =
        World::new().agent("phase1/candidate-0/init", &script).agent("phase1/candidate-1/init", &script);
    let steps = (0..paths).flat_map(|path| (0..outer).map(move |t| (path, t)));
    let world = steps.fold(first, |world, (path, t)| {
        let step = format!("phase2/path-{path}/t{t}");
        // The next step finds its block whichever attempt of this one is kept.
        let block = if t == 0 { "block = 'x'".to_owned() } else { format!("mark_{t} = 0") };
        let plan = "A plan of some sentences. ".repeat(20);
        let plans = json!({"plans": [{"code_block": block, "plan": plan}]});
        let world = world.agent(&format!("{step}/extractor"), &plans.to_string());
        (0..inner).fold(world, |world, k| {
            let seed = 1000 * t + k;
            let code = format!("```python\n{}mark_{} = 0\n```", features(lines / 2, seed), t + 1);
            world
                .agent(&format!("{step}/k{k}/coder"), &code)
                .scores(&format!("{step}/k{k}/run"), 0.5 + 1e-4 * f64::from((seed * 37) % 1000))
                .agent(&format!("{step}/k{k}/planner"), &plan)
        })
    });
    let mut inputs = frozen();
    inputs.config = Config {
        num_parallel_solutions: paths,
        outer_loop_steps: outer,
        inner_loop_steps: inner,
        ..inputs.config
    };
    (world, inputs)
}

/// Script lines similar to those of models.
fn features(count: usize, seed: u32) -> String {
    let line = |n: usize| {
        format!("frame['feature_{n}'] = np.log1p(frame['raw_{n}'].clip(lower=0)) * {}\n", seed as usize + n)
    };
    (0..count).map(line).collect()
}

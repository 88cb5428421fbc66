//! Runs out of a scripted world: one in which everything others write is an attack, and one of 500 scripts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use mle_star::config::Config;
use mle_star::effects::{AgentReply, Lookup, ScriptOutcome};
use mle_star::journal::{Frozen, Journal};
use mle_star::slots::Slots;
use mle_star::testing::{World, failed, frozen};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::browser::chromium::Browser;
use crate::sealed::Sealed;
use crate::ui::served::Served;

const ATTACKS: [&str; 5] = [
    "</pre></script><script>window.attacked = 1</script>",
    "\"><img src=x onerror=\"window.attacked = 2\">",
    "' onclick='window.attacked = 3",
    "]]>--><svg onload=\"window.attacked = 4\">",
    "left \u{202e}thgir\u{2066}\u{0}\u{1b}[31m",
];

/// Solves a task into a run folder, as the program leaves it.
pub fn solve(folder: &Path, world: &World, frozen: &Frozen) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("task.json"), "{}").unwrap();
    let journal = Journal::create(folder, frozen).unwrap();
    let slots = Slots::new(1);
    let run = world.solve(frozen, &journal, &slots);
    let finished = Runtime::new().unwrap().block_on(run).unwrap();
    fs::write(folder.join("result.json"), serde_json::to_string(&finished.result).unwrap()).unwrap();
}

/// A run in which everything others write is an attack, and the attack.
pub fn hostile() -> (World, Frozen, String) {
    let evil = ATTACKS.join(" ");
    let code = format!("'''{evil}'''\nblock = 'x'\nprint(block)\n# {}\n", "x".repeat(100_000));
    let models = json!({"models": [
        {"model_name": evil, "example_code": code, "sources": [evil, "javascript:window.attacked = 5"]},
        {"model_name": "b", "example_code": "x"},
    ]});
    let lookup = Lookup { tool: evil.clone(), what: evil.clone(), failure: Some(evil.clone()) };
    let plans = json!({"plans": [{"code_block": "block = 'x'", "plan": evil}]});
    let broken = ScriptOutcome { traceback: Some(format!("Traceback\n{evil}")), ..failed(&evil) };
    let world = World::new()
        .reply(
            "phase1/retriever",
            AgentReply { lookups: vec![lookup], ..AgentReply::text(models.to_string()) },
        )
        .agent("phase1/candidate-0/init", &format!("```python\n{code}```"))
        .script("phase1/candidate-1/run", broken)
        .scores("phase1/candidate-0/run", 0.9)
        .agent("phase2/path-0/t0/extractor", &plans.to_string())
        .agent("phase2/path-0/t0/summarize", &evil)
        .agent("phase2/path-0/t0/k0/coder", &format!("```python\nblock = '''{evil}'''\n```"))
        .agent("phase2/path-0/t0/k1/planner", &evil);
    let mut inputs = frozen();
    inputs.task.description = format!("{evil}\n{}", "z".repeat(100_000));
    inputs.task.competition_id.clone_from(&evil);
    inputs.task.evaluation_metric.clone_from(&evil);
    (world, inputs, evil)
}

#[test]
#[ignore = "needs a browser in MLE_STAR_TEST_CHROMIUM"]
fn a_hostile_run_is_text() {
    let (world, inputs, evil) = hostile();
    let sealed = Sealed::with(&[]);
    // What a folder can be called.
    let id = "\"><img src=x onerror=window.attacked=6> ' & \u{202e}%2e";
    let other = "b\"c";
    solve(&sealed.path("runs").join(other), &World::new(), &inputs);
    solve(&sealed.path("runs").join(id), &world, &inputs);
    sealed.write(&format!("runs/{id}/logs/mle-star.log"), evil.as_bytes());

    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.at("/"));
    let unharmed = |name: &str| {
        browser.audit(name);
        assert_eq!(browser.run("return window.attacked || 0"), 0, "{name}");
        let strangers = "return document.querySelectorAll('main img, main script, main svg:not(.chart), [onclick], [style]').length";
        assert_eq!(browser.run(strangers), 0, "{name}");
    };
    unharmed("hostile-list");
    browser.click("tbody tr:first-child th a");
    browser.until("document.querySelector('#doing .state')");
    unharmed("hostile-run");
    browser.run("document.querySelectorAll('details').forEach(details => { details.open = true; })");
    for part in ["window.attacked = 1", "window.attacked = 2", "window.attacked = 5", "⟨U+202E⟩"] {
        assert!(browser.text("main").contains(part), "{part} is shown");
    }
    assert_eq!(browser.run("return window.attacked || 0"), 0);
    let ids = [id, other].map(|id| id.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>());
    browser.open(&page.at(&format!("/compare?run={}&run={}", ids[0], ids[1])));
    unharmed("hostile-compare");
    browser.open(&page.at(&format!("/start?folder={}", ids[0])));
    unharmed("hostile-start");
}

/// A run of more than 500 scripts, as long as what models write.
pub fn large() -> (World, Frozen) {
    let lines = |count: usize, seed: usize| {
        (0..count).fold(String::new(), |mut text, n| {
            writeln!(text, "frame['feature_{n}'] = np.log1p(frame['raw_{n}'].clip(lower=0)) * {}", seed + n)
                .unwrap();
            text
        })
    };
    let script = format!("```python\n{}block = 'x'\n{}print(block)\n```", lines(20, 0), lines(20, 7));
    let mut world =
        World::new().agent("phase1/candidate-0/init", &script).agent("phase1/candidate-1/init", &script);
    let (paths, outer, inner) = (4_u32, 10_u32, 12_u32);
    for (path, t) in (0..paths).flat_map(|path| (0..outer).map(move |t| (path, t))) {
        let step = format!("phase2/path-{path}/t{t}");
        let block = if t == 0 { "block = 'x'".to_owned() } else { format!("mark_{t} = 0") };
        let plan = "A plan of some sentences. ".repeat(20);
        let plans = json!({"plans": [{"code_block": block, "plan": plan}]});
        world = world.agent(&format!("{step}/extractor"), &plans.to_string());
        for k in 0..inner {
            let seed = 1000 * t + k;
            let code = format!("```python\n{}mark_{} = 0\n```", lines(8, seed as usize), t + 1);
            world = world
                .agent(&format!("{step}/k{k}/coder"), &code)
                .scores(&format!("{step}/k{k}/run"), 0.5 + 1e-4 * f64::from((seed * 37) % 1000))
                .agent(&format!("{step}/k{k}/planner"), &plan);
        }
    }
    let mut inputs = frozen();
    inputs.config = Config {
        num_parallel_solutions: paths,
        outer_loop_steps: outer,
        inner_loop_steps: inner,
        ..inputs.config
    };
    (world, inputs)
}

#[test]
#[ignore = "needs a browser in MLE_STAR_TEST_CHROMIUM"]
fn a_run_of_500_scripts_opens_quickly() {
    let sealed = Sealed::with(&[]);
    let (world, inputs) = large();
    solve(&sealed.path("runs/large"), &world, &inputs);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    let answered = Instant::now();
    let bytes = page.get("/runs/large").body.len();
    let answered = answered.elapsed();
    let opened = Instant::now();
    browser.open(&page.at("/runs/large"));
    let opened = opened.elapsed();
    let nodes =
        browser.run("return document.querySelectorAll('#tree details.node').length").as_u64().unwrap();
    println!("{nodes} solutions, {bytes} bytes: first answer {answered:?}, then opened in {opened:?}");
    assert!(nodes > 500, "{nodes}");
    // Generous: an unoptimised program on a busy machine. The benchmark tells what it takes.
    assert!(answered.as_secs() < 20 && opened.as_secs() < 20, "{answered:?}, {opened:?}");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

//! A run in which everything that others write is an attack.

use mle_star::effects::{AgentReply, Captured, Lookup, ScriptOutcome};
use mle_star::testing::{World, failed, frozen, ran};
use serde_json::json;

use super::markup;
use super::world::{Made, keep, made};
use crate::report;

const ATTACKS: [&str; 6] = [
    "</pre></script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "' onclick='alert(3)",
    "]]>--><svg onload=alert(4)>",
    "{{ 7*7 }}{% raw %}",
    "left \u{202e}thgir\u{2066}\u{0}\u{1b}[31m",
];

#[tokio::test]
async fn a_hostile_run_is_shown_as_text() {
    let evil = ATTACKS.join(" ");
    let code = format!("'''{evil}'''\nblock = 'x'\nprint(block)\n# {}\n", "x".repeat(1_000_000));
    let models = json!({"models": [
        {"model_name": evil, "example_code": code, "sources": [evil, "javascript:alert(5)", "https://a.org/\"><b>"]},
        {"model_name": "b", "example_code": "x"},
    ]});
    let lookup = Lookup { tool: evil.clone(), what: evil.clone(), failure: Some(evil.clone()) };
    let retrieved = AgentReply { lookups: vec![lookup], ..AgentReply::text(models.to_string()) };
    let plans = json!({"plans": [{"code_block": "block = 'x'", "plan": evil}]});
    let printed = format!("Baseline: 0.5\nWithout {evil}: 0.4\n{}", "y".repeat(1_000_000));
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
    inputs.task.description = format!("{evil}\n{}", "z".repeat(1_000_000));
    inputs.task.competition_id = evil.clone();
    inputs.task.evaluation_metric = evil.clone();
    let Made { mut view, .. } = made(&world, &inputs).await;
    view.summary.run_id = evil;
    let page = report::render(&view).unwrap();
    keep("hostile", &page);
    markup::check(&page);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    for text in [
        "alert(1)",
        "alert(2)",
        "alert(3)",
        "alert(4)",
        "javascript:alert(5)",
        "{{ 7*7 }}",
        "⟨U+202E⟩",
        "⟨U+0000⟩",
    ] {
        assert!(page.contains(text), "{text} is shown");
    }
    for raw in ["<script>alert", "<img", "<svg onload", "\u{202e}", "\u{0}", "\u{1b}", "49{%"] {
        assert!(!page.contains(raw), "{raw:?}");
    }
    let outward = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let outward: Vec<&str> = outward.filter(|link| !link.starts_with('#')).collect();
    assert!(outward.iter().all(|link| link.starts_with("https://a.org/")), "{outward:?}");
}

//! A run of more than 500 scripts.

use std::fmt::Write as _;
use std::time::Instant;

use mle_star::config::Config;
use mle_star::testing::{World, frozen};
use serde_json::json;

use super::markup;
use super::world::{Made, keep, made};
use crate::report;
use crate::views::of_run;

/// Lines of a script that look like what models write.
fn lines(count: usize, seed: usize) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ =
            writeln!(text, "frame['feature_{n}'] = np.log1p(frame['raw_{n}'].clip(lower=0)) * {}", seed + n);
        text
    })
}

#[tokio::test]
async fn a_run_of_500_scripts_fits_into_5_mb() {
    let script = format!("```python\n{}block = 'x'\n{}print(block)\n```", lines(60, 0), lines(60, 7));
    let mut world =
        World::new().agent("phase1/candidate-0/init", &script).agent("phase1/candidate-1/init", &script);
    let (paths, outer, inner) = (4, 10, 12);
    for (path, t) in (0..paths).flat_map(|path| (0..outer).map(move |t| (path, t))) {
        let study = format!("phase2/path-{path}/t{t}");
        let block = format!("mark_{t} = 0");
        for k in 0..inner {
            let seed = 1000 * t + k;
            // The next outer step finds its block in what any attempt of this one leaves.
            let code = format!("```python\n{}mark_{} = 0\n```", lines(25, seed), t + 1);
            world = world.agent(&format!("{study}/k{k}/coder"), &code);
            let score = 0.5 + 1e-4 * f64::from(u32::try_from((seed * 37) % 1000).unwrap());
            world = world.scores(&format!("{study}/k{k}/run"), score);
            world = world.agent(&format!("{study}/k{k}/planner"), &"A plan of some sentences. ".repeat(20));
        }
        let block = if t == 0 { "block = 'x'" } else { block.as_str() };
        let plan = "A plan of some sentences. ".repeat(20);
        world = world.agent(
            &format!("{study}/extractor"),
            &json!({"plans": [{"code_block": block, "plan": plan}]}).to_string(),
        );
    }
    let mut inputs = frozen();
    inputs.config = Config {
        num_parallel_solutions: u32::try_from(paths).unwrap(),
        outer_loop_steps: u32::try_from(outer).unwrap(),
        inner_loop_steps: u32::try_from(inner).unwrap(),
        ..inputs.config
    };
    let Made { view, .. } = made(&world, &inputs).await;
    let began = Instant::now();
    let page = report::render(&view).unwrap();
    let took = began.elapsed();
    let scripts = of_run(&view).overview.scripts;
    println!("{scripts} scripts: {} bytes in {took:?}", page.len());
    assert!(scripts > 500, "{scripts}");
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    keep("large", &page);
    markup::check(&page);
}

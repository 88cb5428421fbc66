//! All prompts of one small run, as files for readers: `docs/prompts/`.
//!
//! `INSTA_UPDATE=always` writes the files. Then read the difference as `CONTRIBUTING.md` says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mle_star::journal::Frozen;
use mle_star::lessons::EarlierRun;
use mle_star::testing::{World, frozen, measured, protocol, ran};
use mle_star_domain::config::{Config, Preset};
use mle_star_domain::effects::{Captured, ScriptOutcome};
use serde_json::json;

use crate::run;

const SCRIPT: &str = include_str!("flight-delays/lightgbm.py");
const BLOCK: &str = "params = {\"n_estimators\": 400, \"learning_rate\": 0.03, \"num_leaves\": 31, \"random_state\": 42, \"verbose\": -1}";
const LEAK: &str = "features = features.drop(columns=[\"id\", \"time_hour\"])";
const STUDY: &str =
    "print(\"baseline: 0.7215\")\nprint(\"without weather: 0.6893 (-0.0322; every fold is worse)\")\n";

fn inputs(preset: Preset) -> Frozen {
    let (earlier, metric) = (frozen(), "ROC-AUC".to_owned());
    let mut inputs = Frozen { protocol: (preset == Preset::Default).then(protocol), ..earlier };
    inputs.task.description = include_str!("../../../../examples/flight-delays/description.md").to_owned();
    inputs.task.evaluation_metric = metric.clone();
    let counts = json!({
        "num_retrieved_models": 2, "outer_loop_steps": 2, "inner_loop_steps": 2, "num_parallel_solutions": 2,
        "ensemble_rounds": 2, "preset": preset,
    });
    let keys = counts.as_object().unwrap().clone().into_iter().chain(Config::of_preset(preset));
    inputs.config = Config::from_layer(keys.collect()).unwrap();
    inputs.data_summary = Some(include_str!("flight-delays/data.md").trim_end().to_owned());
    let lines = vec!["first solution: CatBoost: score 0.7305".to_owned()];
    inputs.learned =
        vec![EarlierRun { run_id: "early".to_owned(), task: "flights-2012".to_owned(), metric, lines }];
    inputs
}

/// A script that printed the scores of its folds.
fn scored(score: f64) -> ScriptOutcome {
    let folds: String = (1..=5)
        .map(|fold| format!("Fold {fold}: {:.4}\n", score - 0.006 + 0.002 * f64::from(fold)))
        .collect();
    let stdout = Captured::whole(format!("{folds}Final Validation Performance: {score}\n"));
    // Other solutions are right on other rows.
    let tilt = (score * 1e4).round() % 7.0 * 1e-3;
    ScriptOutcome { stdout, ..measured(&[score, score - 0.004 + tilt, score + 0.003, score + 0.001 - tilt]) }
}

/// A script without the column that it names.
fn broken() -> ScriptOutcome {
    let frame = "  File \"/run/solution.py\", line 8, in <module>\n    weather = pd.read_csv(\"./input/weather.csv\")\n";
    let library = "  File \"/venv/lib/python3.11/site-packages/pandas/io/common.py\", line 882, in get_handle\n    handle = open(\n";
    let exception = "FileNotFoundError: [Errno 2] No such file or directory: './input/weather.csv'";
    ScriptOutcome {
        traceback: Some(format!("Traceback (most recent call last):\n{frame}{library}{exception}")),
        ..mle_star::testing::failed(exception)
    }
}

fn fenced(script: &str) -> String {
    format!("```python\n{script}```")
}

fn world() -> World {
    let catboost = SCRIPT.replace("lgb.LGBMClassifier", "CatBoostClassifier");
    let merged = SCRIPT.replace("# Training", "# Training: LightGBM and CatBoost, averaged");
    let models = json!({"models": [
        {"model_name": "LightGBM", "example_code": "model = lgb.LGBMClassifier()\nmodel.fit(x, y)"},
        {"model_name": "CatBoost", "example_code": "model = CatBoostClassifier(verbose=0)\nmodel.fit(x, y)"},
    ]});
    let plan = |plan: &str| {
        json!({"plans": [{"code_block": BLOCK, "plan": plan, "category": "training"}]}).to_string()
    };
    let block = |rate: &str| fenced(&format!("{}\n", BLOCK.replace("0.03", rate)));
    let leak = json!({"answers": [{"leakage_status": "Yes Data Leakage", "code_block": LEAK}]}).to_string();
    let mut world = World::new()
        .agent("phase1/retriever", &models.to_string())
        .agent("phase1/candidate-0/init", &fenced(SCRIPT))
        .agent("phase1/candidate-1/init", &fenced(&catboost))
        .script("phase1/candidate-0/run", scored(0.7215))
        .script("phase1/candidate-1/run", broken())
        .agent("phase1/candidate-1/debug-1/debugger", &fenced(&catboost.replace("weather.csv", "wether.csv")))
        .script("phase1/candidate-1/debug-1/run", broken())
        .agent("phase1/candidate-1/debug-2/debugger", &fenced(&catboost))
        .script("phase1/candidate-1/debug-2/run", scored(0.7188))
        .agent("phase1/merge-1/merger", &fenced(&merged))
        .script("phase1/merge-1/run", scored(0.7290))
        .agent("phase1/merge-1/leakage", &leak)
        .agent(
            "phase1/merge-1/leakage-fix-1",
            &fenced("features = features.drop(columns=[\"id\", \"time_hour\", \"tailnum\"])\n"),
        )
        .script("phase1/merge-1/corrected/run", scored(0.7290));
    for path in 0..2 {
        let step = format!("phase2/path-{path}/t0");
        let study = ScriptOutcome {
            stdout: Captured::whole(STUDY.replace("print(\"", "").replace("\")", "")),
            ..ran(None)
        };
        world = world
            .agent(&format!("{step}/ablation"), &fenced(STUDY))
            .script(&format!("{step}/run"), study)
            .agent(
                &format!("{step}/summarize"),
                "The weather matters most: without it, ROC-AUC falls by 0.0322.",
            )
            .agent(&format!("{step}/extractor"), &plan("Lower the learning rate to 0.01 and train longer."))
            .agent(&format!("{step}/k0/coder"), &block("0.01"))
            .agent(&format!("{step}/k1/planner"), "Raise the learning rate to 0.05 and sample columns.")
            .agent(&format!("{step}/k1/coder"), &block("0.05"))
            .script(&format!("{step}/k0/run"), scored(0.7310 + 0.001 * f64::from(path)))
            .script(&format!("{step}/k1/run"), scored(0.7260));
    }
    world
        .agent("phase3/r0/ens_planner", "Average the ranks of both solutions.")
        .agent("phase3/r0/ensembler", &fenced(&merged.replace("averaged", "ranked and averaged")))
        .script("phase3/r0/run", scored(0.7330))
        .agent("finalization/subsampling_extract", "No subsampling found.")
}

/// The prompts of one call of each kind, the last one of those that are told more with every step.
fn prompts(world: &World) -> BTreeMap<PathBuf, String> {
    const SHOWN: [&str; 18] = [
        "phase1/retriever",
        "phase1/candidate-0/init",
        "phase1/candidate-1/debug-2/debugger",
        "phase1/merge-1/merger",
        "phase1/merge-1/leakage",
        "phase1/merge-1/leakage-fix-1",
        "phase1/data/data",
        "phase2/path-0/t0/ablation",
        "phase2/path-0/t0/summarize",
        "phase2/path-0/t0/extractor",
        "phase2/path-0/t0/k0/coder",
        "phase2/path-0/t0/k1/planner",
        "phase2/path-1/t1/ablation",
        "phase2/path-1/t1/extractor",
        "phase3/r1/ens_planner",
        "phase3/r1/ensembler",
        "finalization/subsampling_extract",
        "finalization/test",
    ];
    let request = |place: &str| world.request(place).unwrap();
    let shown = SHOWN.into_iter().enumerate();
    let files = shown.map(|(number, place)| {
        (PathBuf::from(format!("{:02}-{}.md", number + 3, place.replace('/', "."))), request(place).prompt)
    });
    let system = [("01-system.md", "phase1/retriever"), ("02-system-of-judges.md", "phase1/merge-1/leakage")];
    files.chain(system.map(|(file, place)| (PathBuf::from(file), request(place).system))).collect()
}

/// Seconds that depend on the moment. What a script may take and what a phase has left are different numbers, as in a run.
fn timeless(prompt: &str) -> String {
    let seconds = [
        (r"(run for|stopped after) \d+ s", "$1 8640 s"),
        (r"together have \d+ s", "together have 28800 s"),
        (r"part of the \d+ s", "part of the 7200 s"),
    ];
    seconds.into_iter().fold(prompt.to_owned(), |prompt, (clock, fixed)| {
        regex::Regex::new(clock).unwrap().replace_all(&prompt, fixed).into_owned()
    })
}

#[tokio::test]
async fn the_prompts_are_those_in_the_documents() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prompts");
    for (preset, name) in [(Preset::Default, "default"), (Preset::Paper, "paper")] {
        let world = world();
        run(&world, &inputs(preset)).await.unwrap();
        for (file, prompt) in prompts(&world) {
            let (path, prompt) = (docs.join(name).join(file), format!("{}\n", timeless(&prompt).trim_end()));
            mle_star_needs::assert_file(&path, &prompt);
        }
    }
}

//! All prompts of three small runs, as files for readers: `docs/prompts/`.
//!
//! `INSTA_UPDATE=always` writes the files. Then read the difference as `CONTRIBUTING.md` says. Tasks, protocols and data facts of the
//! second and the third are those of real runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mle_star::journal::Frozen;
use mle_star::lessons::EarlierRun;
use mle_star::testing::{World, frozen, measured, protocol, ran};
use mle_star_domain::config::{Config, Preset};
use mle_star_domain::effects::{Captured, ScriptOutcome};
use mle_star_domain::protocol::Protocol;
use mle_star_domain::task::Task;
use serde_json::{Value, json};

use crate::run;

/// A task, and what the agents answer.
struct Case {
    task: Task,
    /// For the default preset.
    protocol: Protocol,
    data: &'static str,
    /// The task of an earlier run, and what it tried.
    earlier: (&'static str, &'static str),
    script: &'static str,
    /// The models of the first and the second candidate: name, and constructor in a script.
    models: [(&'static str, &'static str); 2],
    block: &'static str,
    /// A value in the block, and those of both attempts.
    values: [&'static str; 3],
    /// The plans of both attempts.
    plans: [&'static str; 2],
    /// A line that leaks, and what corrects it.
    leak: [&'static str; 2],
    /// A table, and how a script misspells it.
    table: [&'static str; 2],
    /// What the study prints, and its summary.
    study: [&'static str; 2],
    /// The score of the task's metric for one between 0.7 and 0.75, where more is better.
    score: fn(f64) -> f64,
}

impl Case {
    /// Classes.
    fn flights() -> Self {
        let mut task = frozen().task;
        task.description = include_str!("../../../../examples/flight-delays/description.md").to_owned();
        task.evaluation_metric = "ROC-AUC".to_owned();
        Self {
            task,
            protocol: protocol(),
            data: include_str!("flight-delays/data.md"),
            earlier: ("flights-2012", "first solution: CatBoost: score 0.7305"),
            script: include_str!("flight-delays/lightgbm.py"),
            models: [("LightGBM", "lgb.LGBMClassifier"), ("CatBoost", "CatBoostClassifier")],
            block: "params = {\"n_estimators\": 400, \"learning_rate\": 0.03, \"num_leaves\": 31, \"random_state\": 42, \"verbose\": -1}",
            values: ["0.03", "0.01", "0.05"],
            plans: [
                "Lower the learning rate to 0.01 and train longer.",
                "Raise the learning rate to 0.05 and sample columns.",
            ],
            leak: [
                "features = features.drop(columns=[\"id\", \"time_hour\"])",
                "features = features.drop(columns=[\"id\", \"time_hour\", \"tailnum\"])",
            ],
            table: ["weather.csv", "wether.csv"],
            study: [
                "baseline: 0.7215\nwithout weather: 0.6893 (-0.0322; every fold is worse)\n",
                "The weather matters most: without it, ROC-AUC falls by 0.0322.",
            ],
            score: |score| score,
        }
    }

    /// Numbers, of few rows.
    fn progression() -> Self {
        let inputs: Value = serde_json::from_str(include_str!("progression/inputs.json")).unwrap();
        Self {
            task: serde_json::from_value(inputs["task"].clone()).unwrap(),
            protocol: serde_json::from_value(inputs["protocol"].clone()).unwrap(),
            data: include_str!("progression/data.md"),
            earlier: ("progression-of-men", "first solution: support vector machine: score 56.1"),
            script: include_str!("progression/ridge.py"),
            models: [("Ridge regression", "Ridge"), ("Kernel ridge", "KernelRidge")],
            block: "params = {\"alpha\": 3.0, \"fit_intercept\": True}",
            values: ["3.0", "10.0", "1.0"],
            plans: ["Raise the penalty to 10.", "Lower the penalty to 1 and add squares of the columns."],
            leak: [
                "features = features.drop(columns=[\"id\"])",
                "features = features.drop(columns=[\"id\", \"s6\"])",
            ],
            table: ["folds.csv", "fold.csv"],
            study: [
                "baseline: 55.70\nwithout bmi_bp: 56.32 (+0.62; four of five folds are worse)\n",
                "The product of `bmi` and `bp` helps: without it, RMSE rises by 0.62.",
            ],
            score: |score| ((1.28 - score) * 1e4).round() / 100.0,
        }
    }

    /// Series of numbers, later times.
    fn drugstores() -> Self {
        let inputs: Value = serde_json::from_str(include_str!("drugstores/inputs.json")).unwrap();
        Self {
            task: serde_json::from_value(inputs["task"].clone()).unwrap(),
            protocol: serde_json::from_value(inputs["protocol"].clone()).unwrap(),
            data: include_str!("drugstores/data.md"),
            earlier: ("drugstores-2014", "first solution: weekly means of each store: score 12.4"),
            script: include_str!("drugstores/lightgbm.py"),
            models: [("LightGBM", "lgb.LGBMRegressor"), ("CatBoost", "CatBoostRegressor")],
            block: "params = {\"n_estimators\": 400, \"learning_rate\": 0.03, \"num_leaves\": 31, \"random_state\": 42, \"verbose\": -1}",
            values: ["0.03", "0.01", "0.05"],
            plans: [
                "Predict the distance from the mean of the last eight weeks of the store.",
                "Add the same weekday a year earlier.",
            ],
            leak: [
                "features = features.drop(columns=[\"row_id\"])",
                "features = features.drop(columns=[\"row_id\", \"week\"])",
            ],
            table: ["folds.csv", "fold.csv"],
            study: [
                "baseline: 11.14\nwithout promotion: 13.02 (+1.88; every period is worse)\n",
                "The promotion matters most: without it, SMAPE rises by 1.88.",
            ],
            score: |score| ((1.0 - score) * 4e3).round() / 100.0,
        }
    }

    fn inputs(&self, preset: Preset) -> Frozen {
        let counts = json!({
            "num_retrieved_models": 2, "outer_loop_steps": 2, "inner_loop_steps": 2, "num_parallel_solutions": 2,
            "ensemble_rounds": 2, "preset": preset,
        });
        let keys = counts.as_object().unwrap().clone().into_iter().chain(Config::of_preset(preset));
        let earlier = EarlierRun {
            run_id: "early".to_owned(),
            task: self.earlier.0.to_owned(),
            metric: self.task.evaluation_metric.clone(),
            lines: vec![self.earlier.1.to_owned()],
        };
        Frozen {
            task: self.task.clone(),
            protocol: (preset == Preset::Default).then(|| self.protocol.clone()),
            config: Config::from_layer(keys.collect()).unwrap(),
            data_summary: Some(self.data.trim_end().to_owned()),
            learned: vec![earlier],
            ..frozen()
        }
    }

    /// A script that printed the scores of its folds.
    fn scored(&self, score: f64) -> ScriptOutcome {
        let [score, low, high] = [score, score - 0.006, score + 0.004].map(self.score);
        let step = (high - low) / 5.0;
        let decimals = if score < 1.0 { 4 } else { 2 };
        let folds: String = (1..=5)
            .map(|fold| format!("Fold {fold}: {:.decimals$}\n", low + step * f64::from(fold)))
            .collect();
        let stdout = Captured::whole(format!("{folds}Final Validation Performance: {score}\n"));
        // Other solutions are right on other rows.
        let tilt = (score * 1e4).round() % 7.0 * step / 2.0;
        let replicates = [score, score - 2.0 * step + tilt, score + 1.5 * step, score + step / 2.0 - tilt];
        ScriptOutcome { stdout, ..measured(&replicates) }
    }
}

/// A script without the column that it names.
fn broken(table: &str) -> ScriptOutcome {
    let name = table.trim_end_matches(".csv");
    let frame = format!(
        "  File \"/run/solution.py\", line 8, in <module>\n    {name} = pd.read_csv(\"./input/{table}\")\n"
    );
    let library = "  File \"/venv/lib/python3.11/site-packages/pandas/io/common.py\", line 882, in get_handle\n    handle = open(\n";
    let exception = format!("FileNotFoundError: [Errno 2] No such file or directory: './input/{table}'");
    ScriptOutcome {
        traceback: Some(format!("Traceback (most recent call last):\n{frame}{library}{exception}")),
        ..mle_star::testing::failed(&exception)
    }
}

fn fenced(script: &str) -> String {
    format!("```python\n{script}```")
}

fn world(case: &Case) -> World {
    let [(first, model), (second, other)] = case.models;
    let [value, lower, higher] = case.values;
    let [leak, corrected] = case.leak;
    let [study, summary] = case.study;
    let script = case.script;
    let replaced = script.replace(model, other);
    let merged = script.replace("# Training", &format!("# Training: {first} and {second}, averaged"));
    let models = json!({"models": case.models.map(|(name, constructor)| json!({
        "model_name": name, "example_code": format!("model = {constructor}()\nmodel.fit(x, y)"),
    }))});
    let plan = json!({"plans": [{"code_block": case.block, "plan": case.plans[0], "category": "training"}]});
    let block = |now: &str| fenced(&format!("{}\n", case.block.replace(value, now)));
    let answer = json!({"answers": [{"leakage_status": "Yes Data Leakage", "code_block": leak}]}).to_string();
    let [table, misspelt] = case.table;
    let misspelt = replaced.replace(table, misspelt);
    let mut world = World::new()
        .agent("phase1/retriever", &models.to_string())
        .agent("phase1/candidate-0/init", &fenced(script))
        .agent("phase1/candidate-1/init", &fenced(&replaced))
        .script("phase1/candidate-0/run", case.scored(0.7215))
        .script("phase1/candidate-1/run", broken(table))
        .agent("phase1/candidate-1/debug-1/debugger", &fenced(&misspelt))
        .script("phase1/candidate-1/debug-1/run", broken(table))
        .agent("phase1/candidate-1/debug-2/debugger", &fenced(&replaced))
        .script("phase1/candidate-1/debug-2/run", case.scored(0.7188))
        .agent("phase1/merge-1/merger", &fenced(&merged))
        .script("phase1/merge-1/run", case.scored(0.7290))
        .agent("phase1/merge-1/leakage", &answer)
        .agent("phase1/merge-1/leakage-fix-1", &fenced(&format!("{corrected}\n")))
        .script("phase1/merge-1/corrected/run", case.scored(0.7290));
    for path in 0..2 {
        let step = format!("phase2/path-{path}/t0");
        let prints: String = study.lines().map(|line| format!("print(\"{line}\")\n")).collect();
        world = world
            .agent(&format!("{step}/ablation"), &fenced(&prints))
            .script(
                &format!("{step}/run"),
                ScriptOutcome { stdout: Captured::whole(study.to_owned()), ..ran(None) },
            )
            .agent(&format!("{step}/summarize"), summary)
            .agent(&format!("{step}/extractor"), &plan.to_string())
            .agent(&format!("{step}/k0/coder"), &block(lower))
            .agent(&format!("{step}/k1/planner"), case.plans[1])
            .agent(&format!("{step}/k1/coder"), &block(higher))
            .script(&format!("{step}/k0/run"), case.scored(0.7310 + 0.001 * f64::from(path)))
            .script(&format!("{step}/k1/run"), case.scored(0.7260));
    }
    world
        .agent("phase3/r0/ens_planner", "Average the ranks of both solutions.")
        .agent("phase3/r0/ensembler", &fenced(&merged.replace("averaged", "ranked and averaged")))
        .script("phase3/r0/run", case.scored(0.7330))
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
    // Not every run asks for all of them.
    let files = shown.filter_map(|(number, place)| {
        let file = format!("{:02}-{}.md", number + 3, place.replace('/', "."));
        Some((PathBuf::from(file), world.request(place)?.prompt))
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
        (r"less than [\d.]+ s for a script", "less than 240 s for a script"),
        (r"fits into its \d+ s", "fits into its 7200 s"),
    ];
    seconds.into_iter().fold(prompt.to_owned(), |prompt, (clock, fixed)| {
        regex::Regex::new(clock).unwrap().replace_all(&prompt, fixed).into_owned()
    })
}

#[tokio::test]
async fn the_prompts_are_those_in_the_documents() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prompts");
    for (name, preset, case) in [
        ("default", Preset::Default, Case::flights()),
        ("paper", Preset::Paper, Case::flights()),
        ("numbers", Preset::Default, Case::progression()),
        ("later-times", Preset::Default, Case::drugstores()),
    ] {
        let world = world(&case);
        run(&world, &case.inputs(preset)).await.unwrap();
        for (file, prompt) in prompts(&world) {
            let (path, prompt) = (docs.join(name).join(file), format!("{}\n", timeless(&prompt).trim_end()));
            mle_star_needs::assert_file(&path, &prompt);
        }
    }
}

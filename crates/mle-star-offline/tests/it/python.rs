//! Generated scripts, run by a real Python that has the libraries.
//!
//! All scripts of a test run in one process, so that the libraries are imported once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use mle_star_domain::metric::Direction::{self, Maximize, Minimize};
use mle_star_domain::role::AgentType;
use mle_star_domain::score::parse_score;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use serde_json::json;

use super::ask::{Asked, code_of, ensembles, merged, refinements, with_data};
use super::tasks::{NEW_ROWS, ROWS, Random, Shape, agents, agents_for, profile_of, shape, task, write};

pub(super) const FAMILIES: [&str; 16] = [
    "LightGBM",
    "XGBoost",
    "CatBoost",
    "Histogram gradient boosting",
    "Extra trees",
    "Random forest",
    "Linear model",
    "TF-IDF linear model",
    "TF-IDF linear model of characters",
    "Neural network",
    "LightGBM with random splits",
    "Large LightGBM",
    "Deep XGBoost",
    "Deep CatBoost",
    "Linear model of curves",
    "Linear model of indicators",
];

/// Runs `solution.py` of every folder named, as `__main__`, and prints which one fails. Scores are recomputed from
/// what scripts have written.
const RUNNER: &str = concat!(
    include_str!("recompute.py"),
    r#"
import os, runpy, sys, traceback
for folder in sys.argv[1:]:
    os.chdir(folder)
    print("@@", folder, flush=True)
    print("@@", folder, file=sys.stderr, flush=True)
    try:
        runpy.run_path("solution.py", run_name="__main__")
        if os.path.exists("check.json") and os.path.exists("final/validation_predictions.csv"):
            print("Recomputed:", float(recomputed()))
    except Exception:
        traceback.print_exc()
"#
);

/// Scripts to run side by side in one process.
pub(super) struct Batch {
    root: tempfile::TempDir,
    scripts: Vec<(PathBuf, String)>,
}

/// The outcome of one script of a batch.
pub(super) struct Done {
    pub(super) folder: PathBuf,
    pub(super) label: String,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), scripts: Vec::new() }
    }

    pub(super) fn add(&mut self, shape: &Shape, label: String, script: &str) {
        self.add_with(shape, label, &with_few_trees(script), |input| write(shape, input));
    }

    /// Adds a script; `write` fills its `input/`.
    pub(super) fn add_with(&mut self, shape: &Shape, label: String, script: &str, write: impl FnOnce(&Path)) {
        let folder = self.add_alone(label, script, write);
        recompute(shape, None, &folder);
    }

    /// Adds a script whose score has weights.
    pub(super) fn add_weighted(&mut self, shape: &Shape, label: String, script: &str, weight: Option<&str>) {
        let folder = self.add_alone(label, &with_few_trees(script), |input| write(shape, input));
        recompute(shape, weight, &folder);
    }

    /// Adds a script whose score is not recomputed.
    pub(super) fn add_alone(&mut self, label: String, script: &str, write: impl FnOnce(&Path)) -> PathBuf {
        let folder = self.root.path().join(format!("s{}", self.scripts.len()));
        std::fs::create_dir_all(folder.join("input")).unwrap();
        write(&folder.join("input"));
        std::fs::write(folder.join("solution.py"), script).unwrap();
        self.scripts.push((folder.clone(), label));
        folder
    }

    pub(super) fn len(&self) -> usize {
        self.scripts.len()
    }

    pub(super) fn run(&self, python: &Path) -> Vec<Done> {
        let mut command = Command::new(python);
        // One thread is enough for tiny tables and leaves cores to other tests.
        command.env("OMP_NUM_THREADS", "1").arg("-c").arg(RUNNER);
        let output = command.args(self.scripts.iter().map(|(folder, _)| folder)).output().unwrap();
        let parts = |stream: &[u8], folder: &Path| {
            let text = String::from_utf8_lossy(stream).into_owned();
            let start = format!("@@ {}\n", folder.display());
            let rest = text.split_once(&start).map(|(_, rest)| rest.to_owned()).unwrap_or_default();
            rest.split("@@ ").next().unwrap_or_default().to_owned()
        };
        let done = |(folder, label): &(PathBuf, String)| Done {
            folder: folder.clone(),
            label: label.clone(),
            stdout: parts(&output.stdout, folder),
            stderr: parts(&output.stderr, folder),
        };
        self.scripts.iter().map(done).collect()
    }
}

/// Says how a score is to be recomputed.
fn recompute(shape: &Shape, weight: Option<&str>, folder: &Path) {
    let check =
        json!({ "metric": shape.metric, "time": shape.time, "limit": shape.subsample, "weight": weight });
    std::fs::write(folder.join("check.json"), check.to_string()).unwrap();
}

/// The script with small forests, since the test only checks that it runs.
pub(super) fn with_few_trees(script: &str) -> String {
    let counts =
        regex::Regex::new(r#"("(?:n_estimators|iterations)": )\d+,|("max_iter": )[1-6]?\d\d,"#).unwrap();
    counts.replace_all(script, "${1}${2}10,").into_owned()
}

pub(super) fn initial(agents: &OfflineAgents, family: &str) -> String {
    let asked = Asked { agents, place: "phase1/candidate-0/init" };
    asked.code(
        AgentType::Init,
        None,
        json!({ "task_description": "", "model_name": family, "example_code": "" }),
    )
}

/// The faults of a run in a few lines; empty if there are none.
pub(super) fn faults(done: &Done) -> String {
    let submission = std::fs::read_to_string(done.folder.join("final/submission.csv")).unwrap_or_default();
    let gaps = submission.contains(",\n") || submission.contains(",,");
    let fine =
        done.stderr.is_empty() && is_recomputed(done) && submission.lines().count() == NEW_ROWS + 1 && !gaps;
    if fine { String::new() } else { fault(done) }
}

/// Whether the printed score is that of the predictions that the script has written.
pub(super) fn is_recomputed(done: &Done) -> bool {
    let again = done.stdout.lines().find_map(|line| line.strip_prefix("Recomputed: ")?.parse::<f64>().ok());
    let (Some(printed), Some(again)) = (parse_score(&done.stdout), again) else { return false };
    (printed - again).abs() <= 1e-9 * printed.abs()
}

pub(super) fn fault(done: &Done) -> String {
    let stderr: Vec<&str> = done.stderr.lines().rev().take(4).collect();
    let stderr: Vec<&str> = stderr.into_iter().rev().collect();
    format!("{}\n{}\n{}\n", done.label, done.stdout, stderr.join("\n"))
}

pub(super) fn assert_faultless(faults: impl Iterator<Item = String>) {
    let found: Vec<String> = faults.filter(|fault| !fault.is_empty()).collect();
    assert!(found.is_empty(), "{} scripts are wrong:\n{}", found.len(), found.join("\n"));
}

/// The last four are tried with classes that no training row has.
const METRICS: [(&str, Direction, usize); 31] = [
    ("accuracy", Maximize, 2),
    ("balanced accuracy", Maximize, 3),
    ("F1", Maximize, 2),
    ("macro F1", Maximize, 3),
    ("ROC-AUC", Maximize, 2),
    ("ROC-AUC", Maximize, 3),
    ("average precision", Maximize, 2),
    ("log loss", Minimize, 3),
    ("quadratic weighted kappa", Maximize, 4),
    ("RMSE", Minimize, 0),
    ("MAE", Minimize, 0),
    ("RMSLE", Minimize, 0),
    ("MAPE", Minimize, 0),
    ("R2", Maximize, 0),
    ("accuracy", Maximize, 3),
    ("log loss", Minimize, 2),
    ("micro F1", Maximize, 3),
    ("weighted F1", Maximize, 3),
    ("Brier score", Minimize, 2),
    ("Brier score", Minimize, 3),
    ("MCC", Maximize, 2),
    ("MSE", Minimize, 0),
    ("median absolute error", Minimize, 0),
    ("SMAPE", Minimize, 0),
    ("Spearman correlation", Maximize, 0),
    ("Pearson correlation", Maximize, 0),
    ("average precision", Maximize, 3),
    ("log loss", Minimize, 3),
    ("log loss", Minimize, 2),
    ("Brier score", Minimize, 2),
    ("ROC-AUC", Maximize, 3),
];

fn shapes() -> impl Iterator<Item = Shape> {
    METRICS.into_iter().enumerate().map(|(position, (metric, direction, classes))| Shape {
        per_class: position + 4 >= METRICS.len()
            || ["log loss", "Brier score", "ROC-AUC", "average precision"].contains(&metric) && classes > 2,
        absent: if position + 4 >= METRICS.len() { 2 } else { 0 },
        text_labels: position % 3 == 1,
        rich: position % 5 != 4,
        incomplete: position % 6 == 5,
        ..shape(metric, direction, classes)
    })
}

/// An interpreter with the libraries that generated scripts use.
pub(super) fn interpreter() -> PathBuf {
    mle_star_needs::python_with_libraries()
}

#[test]
fn every_family_and_every_metric_runs() {
    needs!(Libraries);
    let python = interpreter();
    let mut batch = Batch::new();
    for (position, shape) in shapes().enumerate() {
        for step in [0, 5] {
            let family = FAMILIES[(position + step) % FAMILIES.len()];
            batch.add(&shape, format!("{family} {shape:?}"), &initial(&agents(&shape), family));
        }
    }
    assert_faultless(batch.run(&python).iter().map(faults));
}

/// Rows named like files, labels and columns with blanks and marks, and a class of two rows, which folds lack.
fn write_odd(input: &Path) {
    let mut random = Random(7);
    let cells = |row: usize, random: &mut Random| {
        let colour = if row.is_multiple_of(2) { "red, dark" } else { "blue" };
        format!("\"img_{row} (1).png\",{:.3},\"{colour}\",{}", random.next(), row % 7)
    };
    let header = "id,size in cm,colour [name],rings {count}";
    let label = |row: usize| match row {
        40 | 41 => "rare: \"\"kind\"\"",
        _ if row.is_multiple_of(3) => "one or two",
        _ => "three, four",
    };
    let train: String =
        (0..ROWS).map(|row| format!("{},\"{}\"\n", cells(row, &mut random), label(row))).collect();
    let test: String = (ROWS..ROWS + NEW_ROWS).map(|row| format!("{}\n", cells(row, &mut random))).collect();
    let sample: String =
        (ROWS..ROWS + NEW_ROWS).map(|row| format!("\"img_{row} (1).png\",one or two\n")).collect();
    std::fs::write(input.join("train.csv"), format!("{header},target\n{train}")).unwrap();
    std::fs::write(input.join("test.csv"), format!("{header}\n{test}")).unwrap();
    std::fs::write(input.join("sample_submission.csv"), format!("id,target\n{sample}")).unwrap();
}

#[test]
fn odd_names_and_missing_classes_run() {
    needs!(Libraries);
    let python = interpreter();
    let mut batch = Batch::new();
    let shape = Shape { rich: false, ..shape("macro F1", Maximize, 3) };
    let data = tempfile::tempdir().unwrap();
    write_odd(data.path());
    let profile = profile_of(&task(&shape), data.path());
    let agents = agents_for(&task(&shape), &profile, 30_000, None);
    for family in FAMILIES {
        let script = with_few_trees(&initial(&agents, family));
        batch.add_with(&shape, family.to_owned(), &script, write_odd);
    }
    assert_faultless(batch.run(&python).iter().map(faults));
}

#[test]
fn every_strategy_of_every_block_runs() {
    needs!(Libraries);
    let python = interpreter();
    let mut batch = Batch::new();
    let mut seen = BTreeSet::new();
    for (position, shape) in shapes().enumerate() {
        let agents = agents(&shape);
        let asked = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let families = [FAMILIES[position % FAMILIES.len()], FAMILIES[(position + 4) % FAMILIES.len()]];
        let script = merged(&asked, families);
        for (label, changed) in refinements(&asked, &script) {
            // Each strategy runs once for classes and once for numbers.
            if seen.insert((label.clone(), shape.classes > 0)) {
                batch.add(&shape, format!("{label} {shape:?}"), &changed);
            }
        }
    }
    assert!(batch.scripts.len() >= 30, "{}", batch.scripts.len());
    assert_faultless(batch.run(&python).iter().map(faults));
}

#[test]
fn ablations_measure_and_ensembles_run() {
    needs!(Libraries);
    let python = interpreter();
    let mut batch = Batch::new();
    let (mut ablations, mut seen) = (0, BTreeSet::new());
    for (position, shape) in shapes().enumerate().filter(|(position, _)| position % 2 == 0) {
        let shape = Shape { auxiliary: shape.rich, subsample: 100, ..shape };
        let agents = agents(&shape);
        let asked = Asked { agents: &agents, place: "phase2/path-1/t0" };
        let families = [FAMILIES[position % FAMILIES.len()], FAMILIES[(position + 4) % FAMILIES.len()]];
        let script = with_data(&asked, &merged(&asked, families));
        let inputs = json!({ "solution_script": script, "previous_ablations": [] });
        // Studies in folds at random have time for a part of the rows.
        let short = !shape.grouped && shape.time.is_none();
        let told =
            if short { json!({ "current": { "seconds": 10.0 }, "study_limit": 10.0 }) } else { json!({}) };
        let ablation = code_of(&asked.ask_telling(AgentType::Ablation, None, inputs, told));
        assert_eq!(ablation.contains("# === Sample ==="), short, "{ablation}");
        batch.add(&shape, format!("ablation {position} {shape:?}"), &ablation);
        ablations += 1;
        for (label, ensemble) in ensembles(&asked, &[&script, &initial(&agents, families[0])]) {
            if seen.insert((label.clone(), shape.classes > 0)) {
                batch.add(&shape, format!("{label} {shape:?}"), &ensemble);
            }
        }
    }
    assert!(ablations > 0 && batch.scripts.len() > ablations + 4, "{}", batch.scripts.len());
    let measured = |done: &Done| {
        let fine = done.stderr.is_empty()
            && done.stdout.contains("Baseline: ")
            && done.stdout.matches("Without ").count() >= 3;
        if fine { String::new() } else { fault(done) }
    };
    let check = |done: &Done| if done.label.starts_with("ablation") { measured(done) } else { faults(done) };
    assert_faultless(batch.run(&python).iter().map(check));
}

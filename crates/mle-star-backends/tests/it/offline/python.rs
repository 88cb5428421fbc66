//! Generated scripts, run by a real Python that has the libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use mle_star::agents::AgentType;
use mle_star::metric::Direction::{self, Maximize, Minimize};
use mle_star::score::parse_score;
use mle_star_backends::agent::offline::OfflineAgents;
use serde_json::json;

use super::Asked;
use super::tasks::{Shape, profile, shape, task, write};

const FAMILIES: [&str; 9] = [
    "LightGBM",
    "XGBoost",
    "CatBoost",
    "Histogram gradient boosting",
    "Extra trees",
    "Random forest",
    "Linear model",
    "Nearest neighbours",
    "TF-IDF linear model",
];

/// The interpreter to test with; `None`: the test has nothing to do here.
pub(crate) fn interpreter() -> Option<PathBuf> {
    std::env::var_os("MLE_STAR_TEST_PYTHON").map(PathBuf::from)
}

/// Runs a script in a folder with `input/`; its standard output.
pub(crate) fn run(python: &Path, folder: &Path, script: &str) -> String {
    let file = folder.join("solution.py");
    std::fs::write(&file, script).unwrap();
    let output = Command::new(python)
        .arg("solution.py")
        .env("OMP_NUM_THREADS", "1")
        .current_dir(folder)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}\n{script}");
    assert_eq!(stderr, "", "nothing on standard error:\n{script}");
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with a task's data and agents for it.
pub(crate) fn prepared(shape: &Shape) -> (tempfile::TempDir, OfflineAgents) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("input")).unwrap();
    write(shape, &folder.path().join("input"));
    let agents = OfflineAgents::new(&task(shape), profile(shape), shape.subsample).unwrap();
    (folder, agents)
}

fn initial(agents: &OfflineAgents, family: &str) -> String {
    let asked = Asked { agents, place: "phase1/candidate-0/init" };
    asked.code(
        AgentType::Init,
        None,
        json!({ "task_description": "", "model_name": family, "example_code": "" }),
    )
}

#[test]
fn every_family_and_metric_runs() {
    let Some(python) = interpreter() else { return };
    let check = |shape: &Shape, family: &str| {
        let (folder, agents) = prepared(shape);
        let stdout = run(&python, folder.path(), &initial(&agents, family));
        assert!(parse_score(&stdout).is_some(), "{family} {shape:?}: {stdout}");
        let submission = std::fs::read_to_string(folder.path().join("final/submission.csv")).unwrap();
        assert_eq!(submission.lines().count(), super::tasks::NEW_ROWS + 1, "{family} {shape:?}");
        assert!(
            !submission.contains(",\n") && !submission.contains(",,"),
            "{family} {shape:?}: {submission}"
        );
    };
    let rows: [(&str, Direction, usize); 16] = [
        ("accuracy", Maximize, 2),
        ("Balanced accuracy", Maximize, 3),
        ("F1", Maximize, 2),
        ("F1 macro", Maximize, 3),
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
    ];
    for (position, (metric, direction, classes)) in rows.into_iter().enumerate() {
        let shape =
            Shape { per_class: metric == "log loss" && classes > 2, ..shape(metric, direction, classes) };
        check(&shape, FAMILIES[position % FAMILIES.len()]);
    }
}

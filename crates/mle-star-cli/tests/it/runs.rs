//! A whole run through the real binary with real scripts: interrupted, guarded, resumed, reported.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use mle_star_needs::needs;
use serde_json::Value;

use crate::sealed::Sealed;

/// The smallest search.
pub const SMALL: &str = "--set num_retrieved_models=1 --set outer_loop_steps=1 --set inner_loop_steps=1 \
                     --set num_parallel_solutions=1 --set ensemble_rounds=1 --time-limit 600";

/// An interpreter with the libraries that generated scripts use.
pub fn interpreter() -> PathBuf {
    mle_star_needs::python_with_libraries()
}

/// A task with 80 training rows.
pub fn task() -> Sealed {
    let sealed = Sealed::with(&[]);
    let (mut train, mut test, mut sample) =
        ("id,size,town,price\n".to_owned(), "id,size,town\n".to_owned(), "id,price\n".to_owned());
    for row in 0..100_u32 {
        let (size, town) = (row * 37 % 101, ["a", "b", "c"][row as usize % 3]);
        if row < 80 {
            writeln!(train, "{row},{size},{town},{}", f64::from(size) * 1.5 + f64::from(row % 3)).unwrap();
        } else {
            writeln!(test, "{row},{size},{town}").unwrap();
            writeln!(sample, "{row},0").unwrap();
        }
    }
    for (name, text) in [("train", train), ("test", test), ("sample_submission", sample)] {
        sealed.write(&format!("data/{name}.csv"), text.as_bytes());
    }
    sealed
}

/// A run that has just started its first script.
fn running(sealed: &Sealed, line: &str) -> Child {
    let mut child = sealed.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let started = lines.map_while(Result::ok).any(|line| line.contains("\"script_started\""));
    assert!(started, "no script was started");
    child
}

fn signalled(mut child: Child, signal: &str) -> Option<i32> {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait().unwrap().code()
}

/// Changes a file, runs `check`, and puts the file back.
fn with_change(sealed: &Sealed, name: &str, change: impl Fn(&str) -> String, check: impl Fn()) {
    let before = sealed.read(name);
    let changed = change(&before);
    assert_ne!(before, changed, "{name} was not changed");
    sealed.write(name, changed.as_bytes());
    check();
    sealed.write(name, before.as_bytes());
}

#[test]
fn a_run_is_interrupted_guarded_resumed_and_reported() {
    needs!(Libraries);
    let python = interpreter();
    let sealed = task();
    let line = format!("run data --run-id r --json --set python={} {SMALL}", python.display());
    let first = running(&sealed, &line);

    let held = sealed.run("resume r");
    assert_eq!(held.code, 1, "{held:?}");
    assert!(held.stderr.contains(&format!("process {}", first.id())), "{held:?}");
    assert!(sealed.run("list").stdout.contains("running"));
    assert_eq!(signalled(first, "-INT"), Some(130));
    assert!(sealed.run("list").stdout.contains("unfinished"));

    let refused = |part: &'static str| {
        let sealed = &sealed;
        move || {
            let said = sealed.run("resume r");
            assert_eq!(said.code, 2, "{said:?}");
            assert!(said.stderr.contains(part), "{part}: {said:?}");
        }
    };
    let edited = |text: &str| text.replace("\"model\": \"sonnet\"", "\"model\": \"opus\"");
    with_change(&sealed, "runs/r/config.json", edited, refused("model"));
    let edited = |text: &str| text.replace("RMSE", "MAE");
    with_change(&sealed, "runs/r/task.json", edited, refused("evaluation_metric"));
    with_change(&sealed, "runs/r/data.md", |text| format!("{text}!"), refused("data.md"));
    with_change(&sealed, "runs/r/prompts/coder.md", |text| format!("{text}!"), refused("coder.md"));
    with_change(&sealed, "data/train.csv", |text| format!("{text}99,1,a,1\n"), refused("data"));
    assert_eq!(sealed.run("resume r --time-limit 5").code, 2);

    let second = running(&sealed, "resume r --json");
    assert_eq!(signalled(second, "-TERM"), Some(143));
    let resumed = sealed.run("resume r");
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert!(resumed.stderr.contains("submission: "), "{resumed:?}");
    check_results(&sealed);

    let result = sealed.read("runs/r/result.json");
    assert_eq!(sealed.run("resume r").code, 0);
    assert_eq!(sealed.read("runs/r/result.json"), result);
    check_views(&sealed);
}

#[test]
fn one_test_row_is_predicted() {
    needs!(Libraries);
    let sealed = task();
    for name in ["data/test.csv", "data/sample_submission.csv"] {
        let rows: Vec<String> = sealed.read(name).lines().take(2).map(str::to_owned).collect();
        sealed.write(name, format!("{}\n", rows.join("\n")).as_bytes());
    }
    let python = interpreter();
    let said = sealed
        .run(&format!("run data --run-id r --agents offline --set python={} {SMALL}", python.display()));
    assert_eq!(said.code, 0, "{said:?}");
    let submission = sealed.read("runs/r/final/submission.csv");
    assert_eq!((submission.lines().next(), submission.lines().count()), (Some("id,price"), 2));
}

/// All files of a finished run.
fn check_results(sealed: &Sealed) {
    let names = sealed.names("runs/r");
    for name in [
        "config.json",
        "data.md",
        "final",
        "journal.db",
        "logs",
        "prompts",
        "report.html",
        "result.json",
        "solutions",
        "task.json",
    ] {
        assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
    }
    let answer = [
        "folds.csv",
        "model",
        "model.json",
        "predict.py",
        "requirements.txt",
        "solution.py",
        "submission.csv",
    ];
    assert_eq!(sealed.names("runs/r/final"), answer);
    let submission = sealed.read("runs/r/final/submission.csv");
    assert_eq!((submission.lines().next(), submission.lines().count()), (Some("id,price"), 21));
    assert!(sealed.read("runs/r/final/requirements.txt").contains("scikit-learn=="));
    assert!(
        sealed.read("runs/r/logs/mle-star.log").contains("INFO  mle_star: === Phase 1: initial solution ===")
    );
    let result: Value = serde_json::from_str(&sealed.read("runs/r/result.json")).unwrap();
    let path = fs::canonicalize(sealed.path("runs/r/final/submission.csv")).unwrap();
    assert_eq!(result["submission_path"], path.display().to_string());
    assert_eq!(result["phases_completed"].as_array().unwrap().len(), 3, "{}", result["phases_completed"]);
}

fn check_views(sealed: &Sealed) {
    let listed: Value = serde_json::from_str(&sealed.run("list --json").stdout).unwrap();
    assert_eq!((&listed[0]["run_id"], &listed[0]["state"]), (&Value::from("r"), &Value::from("finished")));
    assert!(listed[0]["best_score"].is_f64());
    let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
    let places: Vec<&str> =
        shown["steps"].as_array().unwrap().iter().map(|step| step["place"].as_str().unwrap()).collect();
    let runs = places.iter().filter(|place| **place == "phase1/candidate-0/run").count();
    assert_eq!(runs, 1, "one record counts: {places:?}");
    assert_eq!(sealed.run("report r").stdout, "runs/r/report.html\n");
    let report = sealed.read("runs/r/report.html");
    for part in [">phase1/candidate-0</code>", "final/solution.py", "config.json", "prefers-color-scheme"] {
        assert!(report.contains(part), "{part}");
    }
    for outside in ["http://", "https://", "src=", "@import"] {
        let page = report.split("<h3>Final script</h3>").next().unwrap();
        assert!(!page.contains(outside), "{outside}");
    }
}

//! Finished runs logged to MLflow.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use mle_star_needs::needs;
use serde_json::Value;

use crate::delivered::{SCRIPT, result};
use crate::held_out::task;
use crate::kept_models::{self, KEEPS};
use crate::recorded::copied;
use crate::sealed::{Said, Sealed};

/// The variable that names an interpreter with MLflow.
const PYTHON: &str = "MLE_STAR_MLFLOW_PYTHON";
const SECRET: &str = "hidden-word";

fn interpreter() -> PathBuf {
    std::env::var_os("MLE_STAR_TEST_MLFLOW").unwrap().into()
}

fn export(sealed: &Sealed, run: &str, uri: &str) -> Said {
    sealed.run_with(&format!("export {run} --mlflow {uri}"), &[(PYTHON, interpreter().to_str().unwrap())])
}

/// What MLflow itself says about the experiment of the task.
fn seen(sealed: &Sealed, uri: &str, experiment: &str, more: &[&str]) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mlflow/see.py");
    let mut python = Command::new(interpreter());
    python.arg(script).args([uri, experiment, "data/test.csv"]).args(more).current_dir(sealed.path(""));
    let done = python.env("MLFLOW_ALLOW_FILE_STORE", "true").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The name of the task.
fn experiment(sealed: &Sealed) -> String {
    result(sealed)["task"]["competition_id"].as_str().unwrap().to_owned()
}

/// Checks that a store has the run of [`kept_models`], once.
fn check_logged(sealed: &Sealed, uri: &str) {
    let found = seen(sealed, uri, &experiment(sealed), &[]);
    let (logged, result) = (|name: &str| found["metrics"][name].as_f64(), result(sealed));
    let trust = &result["trust"];
    for (name, expected) in [
        ("validation_score", &trust["validation_score"]),
        ("validation_low", &trust["validation_interval"][0]),
        ("held_out_score", &trust["holdout_score"]),
        ("held_out_high", &trust["holdout_interval"][1]),
    ] {
        assert!(expected.is_number(), "{name}: {trust}");
        assert_eq!(logged(name), expected.as_f64(), "{name}");
    }
    assert_eq!(found["status"], "FINISHED");
    assert_eq!(
        (&found["tags"]["mle_star.run"], &found["tags"]["mle_star.complete"]),
        (&"r".into(), &"true".into())
    );
    assert_eq!(
        (&found["params"]["agents"], &found["params"]["task.metric"]),
        (&"files".into(), &"RMSE".into())
    );
    let files: Vec<&str> =
        found["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    assert_eq!(files, ["model", "report.html", "requirements.txt", "solution.py", "submission.csv"]);
    let children: Vec<&str> =
        found["children"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(
        children.contains(&"phase1/candidate-0/run") && children.contains(&"phase2/path-0/t0/k0/run"),
        "{children:?}"
    );
    assert_eq!(
        (&found["of_parent"], found["runs"].as_u64()),
        (&true.into(), Some(1 + children.len() as u64))
    );
    assert!(
        found["files_of_children"].as_u64().unwrap() >= 2 && found["steps"].as_array().unwrap().len() >= 2,
        "{found}"
    );
    let submitted = sealed.read("runs/r/final/submission.csv").replace('\r', "");
    assert_eq!(found["predicted"], submitted);
}

#[test]
fn a_run_is_logged_once_with_its_scripts_and_its_model() {
    needs!(Named("MLE_STAR_TEST_MLFLOW"));
    let sealed = task();
    kept_models::run(&sealed, SCRIPT, &(SCRIPT.to_owned() + KEEPS));
    let said = export(&sealed, "r", "sqlite:///mlflow.db");
    assert!(said.code == 0 && said.stderr.starts_with("logged r in the experiment "), "{said:?}");
    check_logged(&sealed, "sqlite:///mlflow.db");
    let again = export(&sealed, "r", "sqlite:///mlflow.db");
    assert!(again.code == 0 && again.stderr.starts_with("r is already in the experiment "), "{again:?}");
    // What an earlier attempt left half done makes way.
    seen(&sealed, "sqlite:///mlflow.db", &experiment(&sealed), &["break"]);
    let said = export(&sealed, "r", "sqlite:///mlflow.db");
    assert!(said.code == 0 && said.stderr.starts_with("logged r "), "{said:?}");
    check_logged(&sealed, "sqlite:///mlflow.db");
}

#[test]
fn what_mlflow_refuses_is_said_without_the_password() {
    needs!(Named("MLE_STAR_TEST_MLFLOW"));
    let sealed = copied();
    for uri in ["http://user:PW@127.0.0.1:1/", "nonsense://user:PW@x", "sqlite:////dev/null/PW.db"] {
        let said = export(&sealed, "recorded/flight-delays", &uri.replace("PW", SECRET));
        assert!(said.code == 2 && said.stderr.starts_with("error: MLflow "), "{uri}: {said:?}");
        assert!(said.stderr.contains("\nhint: ") && !said.stderr.contains(SECRET), "{uri}: {said:?}");
    }
}

#[test]
fn an_interpreter_without_mlflow_is_an_error_that_says_what_to_install() {
    let sealed = copied();
    let check = |environment: &[(&str, &str)], words: &str| {
        let said = sealed.run_with("export recorded/flight-delays --mlflow sqlite:///x.db", environment);
        let hint = "hint: install it with `python3 -m pip install mlflow`";
        assert!(said.code == 2 && said.stderr.contains(words) && said.stderr.contains(hint), "{said:?}");
        assert!(!sealed.path("x.db").exists());
    };
    check(&[("PATH", "/nowhere")], "error: no python3 on PATH has MLflow");
    check(&[(PYTHON, "/no/such/python")], "error: /no/such/python has no MLflow");
}

#[test]
fn the_address_is_on_no_command_line() {
    let sealed = copied();
    let python = |answer: &str| {
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\ntr '\\0' ' ' < /proc/$$/cmdline > line\ncat > given.json\n{answer}\n"
        );
        sealed.write("bin/python3", text.as_bytes());
        fs::set_permissions(sealed.path("bin/python3"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", sealed.path("bin").display());
        let line = format!("export recorded/flight-delays --mlflow http://user:{SECRET}@host/");
        sealed.run_with(&line, &[("PATH", path.as_str())])
    };
    let said = python(r#"echo '{"logged": true, "experiment": "e", "run": "1"}'"#);
    let words = "logged flight-delays in the experiment e as 1: 30 scored scripts";
    assert_eq!((said.code, said.stderr.trim()), (0, words), "{said:?}");
    let given: Value = serde_json::from_str(&sealed.read("given.json")).unwrap();
    assert_eq!(given["uri"], format!("http://user:{SECRET}@host/"));
    assert!(!sealed.read("line").contains(SECRET) && sealed.read("line").contains("mlflow_export.py"));
    // A library that ends the interpreter.
    let said = python("echo 'ImportError: broken' >&2; exit 3");
    assert!(
        said.code == 2 && said.stderr.contains("error: MLflow ended without an answer: ImportError: broken"),
        "{said:?}"
    );
}

//! What lies in `final/` has run: the delivered script runs alone beside `input/`, with the interpreter of the run, and
//! writes the delivered submission, byte for byte. Where it did not run, the run says so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mle_star_needs::needs;
use serde_json::Value;

use crate::by_files::{answer_all, reply};
use crate::held_out::task;
use crate::runs;
use crate::sealed::Sealed;

/// A script that needs only the standard library. Its errors depend on the sign, so that two of them together are better.
pub const SCRIPT: &str = r#"import csv
import os

SIGN = 1.0


def read(name):
    with open(f"./input/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def write(name, rows):
    with open(f"./final/{name}.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id", "price"], *rows])


def predict(rows):
    return [(row["id"], float(row["size"]) + 3.5 + SIGN * (int(row["id"]) % 11)) for row in rows]


train, test = read("train"), read("test")
valid = train[::3]
predicted = predict(valid)
os.makedirs("./final", exist_ok=True)
write("validation_predictions", predicted)
write("submission", predict(test))
errors = [(value - float(row["price"])) ** 2 for (_, value), row in zip(predicted, valid)]
print(f"Final Validation Performance: {(sum(errors) / len(errors)) ** 0.5}")
"#;

/// The script with another sign.
pub fn script(sign: &str) -> String {
    SCRIPT.replace("SIGN = 1.0", &format!("SIGN = {sign}"))
}

/// The script that fails if it sees the held-out rows.
fn failing_on_all_rows() -> String {
    SCRIPT.replace("valid = train", "assert len(train) < 2400\nvalid = train")
}

/// The replies of agents whose two first solutions are better together than each alone, and whose changes are worse.
pub fn two_halves(call: &Path) -> String {
    let place = call.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().1;
    let code = |text: &str| format!("```python\n{text}\n```");
    match place {
        "phase1.retriever" => {
            let model = |name: &str| format!("{{\"model_name\": \"{name}\", \"example_code\": \"fit()\"}}");
            format!("{{\"models\": [{}, {}]}}", model("one"), model("two"))
        }
        "phase1.candidate-0.init" => code(SCRIPT),
        "phase1.candidate-1.init" => code(&script("-1.0")),
        _ if place.ends_with("extractor") => {
            r#"{"plans": [{"code_block": "SIGN = 1.0", "plan": "change it"}]}"#.to_owned()
        }
        _ if place.ends_with("coder") => code("SIGN = 4.0"),
        _ if place.ends_with("merger") || place.ends_with("ensembler") => code(&script("5.0")),
        _ if place.ends_with("ablation") => code("print('an effect')"),
        _ => reply(call),
    }
}

/// The replies of agents with one solution, which fails on the original files.
fn failing(call: &Path) -> String {
    let is_script = |text: &str| text.contains("import csv") || text.contains("block = 1\n");
    match two_halves(call) {
        text if is_script(&text) => format!("```python\n{}\n```", failing_on_all_rows()),
        text => text,
    }
}

/// An interpreter without any library.
pub fn bare_interpreter(sealed: &Sealed) -> PathBuf {
    let folder = sealed.path("bare");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&folder).status().unwrap();
    assert!(made.success());
    folder.join("bin/python3")
}

pub fn result(sealed: &Sealed) -> Value {
    serde_json::from_str(&sealed.read("runs/r/result.json")).unwrap()
}

/// What the delivered script writes, alone in a folder with `input/`: the data, and the folds delivered with the script.
fn written_again(sealed: &Sealed, python: &Path) -> String {
    let alone = tempfile::tempdir().unwrap();
    let input = alone.path().join("input");
    fs::create_dir(&input).unwrap();
    for entry in fs::read_dir(sealed.path("data")).unwrap() {
        let entry = entry.unwrap();
        symlink(entry.path(), input.join(entry.file_name())).unwrap();
    }
    let folds = sealed.path("runs/r/final/folds.csv");
    if folds.exists() {
        fs::copy(folds, input.join("folds.csv")).unwrap();
    }
    fs::create_dir(alone.path().join("final")).unwrap();
    fs::copy(sealed.path("runs/r/final/solution.py"), alone.path().join("final/solution.py")).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let mut command = Command::new(python);
    command.arg("final/solution.py").current_dir(&alone).env_clear().env("PATH", path);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(alone.path().join("final/submission.csv")).unwrap()
}

/// The delivered script writes the delivered submission, and the run says that it has run.
fn check_delivered(sealed: &Sealed, python: &Path) {
    let result = result(sealed);
    assert_eq!(result["final_solution"]["is_executable"], true, "{}", result["not_run"]);
    assert_eq!(result["not_run"], Value::Null);
    assert_eq!(result["final_solution"]["content"], sealed.read("runs/r/final/solution.py"));
    assert_eq!(written_again(sealed, python), sealed.read("runs/r/final/submission.csv"));
}

/// A run with agents behind files; returns what it said.
pub fn run_by_files(sealed: &Sealed, python: &Path, more: &str, reply: impl Fn(&Path) -> String) -> String {
    let sizes = "--set num_retrieved_models=2 --set outer_loop_steps=1 --set inner_loop_steps=1 \
                 --set num_parallel_solutions=2 --set ensemble_rounds=1";
    let line = format!("run data --run-id r --agents files --set python={} {sizes} {more}", python.display());
    let said = fs::File::create(sealed.path("said")).unwrap();
    let mut run = sealed.command(&line).stdout(Stdio::null()).stderr(said).spawn().unwrap();
    let ended = answer_all(&mut run, &sealed.path("runs/r/agents"), |call| Some(reply(call))).unwrap_err();
    let said = sealed.read("said");
    assert_eq!(ended.code(), Some(0), "{said}");
    said
}

#[test]
fn a_combination_runs_as_delivered_without_any_library() {
    for more in ["", "--set holdout=off"] {
        let sealed = task();
        let python = bare_interpreter(&sealed);
        let said = run_by_files(&sealed, &python, more, two_halves);
        assert!(!said.contains("note: final/solution.py"), "{said}");
        assert!(sealed.read("runs/r/final/solution.py").contains("MEMBERS = ["), "{more}: {said}");
        check_delivered(&sealed, &python);
        assert!(sealed.path("runs/r/solutions/finalization.run.py").exists());
        let probes = result(&sealed)["trust"]["probes"].clone();
        let passed = probes.as_array().unwrap().iter().filter(|probe| probe["verdict"] == "pass");
        assert_eq!(passed.count(), 2, "{probes:?}");
    }
}

#[test]
fn a_script_that_fails_on_the_original_files_is_not_said_to_have_run() {
    let sealed = task();
    let python = bare_interpreter(&sealed);
    let said = run_by_files(&sealed, &python, "--set max_debug_attempts=1", failing);
    let result = result(&sealed);
    assert_eq!(result["final_solution"]["is_executable"], false);
    let not_run = result["not_run"].as_str().unwrap();
    assert!(not_run.contains("did not run on the original files (AssertionError)"), "{not_run}");
    let last: Vec<&str> = said.lines().rev().take(4).collect();
    let note = format!("note: `final/solution.py` did not write the submission: {not_run}");
    assert!(last.contains(&note.as_str()), "{said}");
    assert_eq!(sealed.read("runs/r/final/submission.csv").lines().count(), 101);
}

#[test]
fn offline_solutions_run_as_delivered() {
    needs!(Libraries);
    let python = runs::interpreter();
    for more in ["", "--set holdout=off --set num_parallel_solutions=1"] {
        let sealed = task();
        let options = format!("--agents offline --time-limit 90 --set python={}", python.display());
        let said = sealed.run(&format!("run data --run-id r {options} {more}"));
        assert_eq!(said.code, 0, "{said:?}");
        check_delivered(&sealed, &python);
    }
}

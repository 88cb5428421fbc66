//! Settings and task files are checked before anything runs: exit 2, one sentence, a hint, and no run folder left behind.
//! Data is in `corpus.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sealed::{Said, Sealed};

/// A mistake: the files that contain it, the command line, and what is expected in the error and in the hint.
type Mistake = (&'static [(&'static str, &'static str)], &'static str, &'static str, &'static str);

const RUN: &str = "run data --agents offline";

const MISTAKES: &[Mistake] = &[
    // No such folder.
    (&[], "run nowhere", "no such folder or file: nowhere", "data folder"),
    // Metric beside a metric file.
    (
        &[("m.py", "DIRECTION = 'maximize'\n")],
        "run data --agents offline --set metric=RMSE --metric-file m.py",
        "both a metric and a metric file are given",
        "--metric-file",
    ),
    // Metric file without a direction.
    (
        &[("m.py", "def score(a, b, c): return 1.0\n")],
        "run data --agents offline --metric-file m.py",
        "m.py does not say which scores win",
        "--direction maximize or minimize",
    ),
    // Unknown task key.
    (
        &[("t.yaml", "data_dir: data\ntargets: price\n")],
        "run t.yaml",
        "t.yaml:2:1: unknown task key \"targets\"",
        "target_column",
    ),
    // Unknown config key.
    (
        &[("c.yaml", "outer_steps: 3\n")],
        "run data --config c.yaml",
        "c.yaml:1:1: unknown config key \"outer_steps\"",
        "outer_loop_steps",
    ),
    // Value out of range.
    (&[], "run data --set inner_loop_steps=0", "inner_loop_steps must be at least 1", "inner_loop_steps"),
    // Shares that do not add up.
    (
        &[("c.toml", "[phase_time_budget]\nphase1_pct = 50\n")],
        "run data --config c.toml",
        "add up to 100",
        "phase_time_budget",
    ),
    // YAML with tabs.
    (
        &[("c.yaml", "model: x\n\tsearch: off\n")],
        "run data --config c.yaml",
        "c.yaml:2:1: a tab",
        "requires spaces",
    ),
    // Wrong type in yaml.
    (
        &[("c.yaml", "model: x\nouter_loop_steps: many\n")],
        "run data --config c.yaml",
        "c.yaml:2:1: outer_loop_steps is \"many\"",
        "whole number",
    ),
    // Broken toml.
    (&[("c.toml", "model = \n")], "run data --config c.toml", "c.toml:1:", "TOML"),
    // Run id that is a path.
    (&[], "run data --run-id ../x", "invalid run ID", "letters"),
    // Runs folder that cannot be written.
    (
        &[("plain", "a file")],
        "run data --runs-dir plain/runs",
        "cannot write to the runs directory",
        "--runs-dir",
    ),
    // Missing python.
    (&[], "run data --set python=/no/such/python", "/no/such/python", "Python 3.11"),
    // Template that replaces nothing.
    (&[("p/codr.md", "x")], "run data --prompts p", "no template called codr.md", "coder.md"),
    // File of models with a bad item.
    (
        &[("m.yaml", "- {model_name: a, example_code: x}\n- {model_name: b}\n")],
        "run data --agents offline --set retrieved_models=m.yaml",
        "m.yaml: model 2: missing field `example_code`",
        "each model",
    ),
    // Holdout that is no share.
    (
        &[("c.yaml", "model: x\nholdout: on\n")],
        "run data --config c.yaml",
        "c.yaml:2:1: holdout is \"on\", but must be auto, off or a share from 0.05 to 0.4",
        "set holdout to auto, off or a share",
    ),
    // Choice by rows that are not held out.
    (
        &[("c.yaml", "holdout: off\n")],
        "run data --config c.yaml --set final_choice=holdout",
        "holdout is off (c.yaml:1:1), but final_choice is holdout (--set)",
        "set holdout to auto or a share, or final_choice to auto",
    ),
    // Folder of calls that cannot be written.
    (
        &[("plain", "a file")],
        "run data --agents files --set agents_dir=plain/calls",
        "cannot write to the agents' folder ",
        "choose another folder with agents_dir",
    ),
    // Single table with few rows.
    (
        &[],
        "run data/train.csv -t price -m RMSE --agents offline --runs-dir runs/deep",
        "only 4 rows are labelled",
        "",
    ),
    // Unknown option.
    (&[], "run data --modle x", "'--modle'", "--model"),
];

/// Exit 2, `error:` then `hint:`, one line each, and no run folder.
fn check(sealed: &Sealed, said: &Said, what: &str, error: &str, hint: &str) {
    assert_eq!(said.code, 2, "{what}: {said:?}");
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert!(lines.len() >= 2, "{what}: {said:?}");
    let (first, second) = (lines[lines.len() - 2], lines[lines.len() - 1]);
    assert!(first.starts_with("error: ") && first.contains(error), "{what}: {first} / {error}");
    assert!(second.starts_with("hint: ") && second.contains(hint), "{what}: {second} / {hint}");
    assert!(!sealed.path("runs").exists(), "{what} left {:?}", sealed.names("runs"));
}

#[test]
fn mistakes_in_the_input_are_reported_before_anything_runs() {
    for (files, line, error, hint) in MISTAKES {
        let sealed = Sealed::with(files);
        check(&sealed, &sealed.run(line), line, error, hint);
    }
}

#[test]
fn an_empty_folder_is_reported() {
    let sealed = Sealed::with(&[]);
    fs::create_dir(sealed.path("empty")).unwrap();
    check(&sealed, &sealed.run("run empty"), "empty folder", "empty is empty", "train.csv");
}

#[test]
fn an_old_python_is_reported() {
    let sealed = Sealed::with(&[(
        "python",
        "#!/bin/sh\necho '[\"/usr/bin/python3.8\", [3, 8, 10], \"linux-x86_64\"]'\n",
    )]);
    fs::set_permissions(sealed.path("python"), fs::Permissions::from_mode(0o755)).unwrap();
    check(
        &sealed,
        &sealed.run("run data --set python=./python"),
        "old python",
        "3.8.10, too old",
        "Python 3.11",
    );
}

#[test]
fn an_existing_run_id_is_reported_and_unchanged() {
    let sealed = Sealed::with(&[("runs/mine/task.json", "{}"), ("runs/mine/result.json", "{}")]);
    let said = sealed.run("run data --run-id mine");
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        said.stderr.contains("error: run mine already exists") && said.stderr.contains("hint: "),
        "{said:?}"
    );
    assert_eq!(sealed.names("runs/mine"), ["result.json", "task.json"]);
}

#[test]
fn nothing_is_written_into_the_data_folder() {
    let task = "data_dir: data\noutput_dir: data/deep/out\nevaluation_metric: RMSE\n";
    let sealed = Sealed::with(&[("task.yaml", task)]);
    check(&sealed, &sealed.run("run task.yaml"), "output", "output_dir is inside", "outside");
    check(&sealed, &sealed.run(&format!("{RUN} --set log_file=data/x.log")), "log", "log_file is", "outside");
    assert!(!sealed.path("data/deep").exists());
}

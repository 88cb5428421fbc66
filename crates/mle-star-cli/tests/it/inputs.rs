//! Settings and task files are checked before anything runs: exit 2, one sentence, a hint, and no run folder left behind.
//! Data is in `corpus.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sealed::{Said, Sealed};

/// A mistake, and the required error.
struct Mistake {
    /// A name for messages.
    what: &'static str,
    /// The files that contain it.
    files: &'static [(&'static str, &'static str)],
    /// The command line.
    line: &'static str,
    /// Expected in the error.
    error: &'static str,
    /// Expected in the hint.
    hint: &'static str,
}

const RUN: &str = "run data --agents offline";

const MISTAKES: &[Mistake] = &[
    Mistake {
        what: "no such folder",
        files: &[],
        line: "run nowhere",
        error: "no such folder or file: nowhere",
        hint: "data folder",
    },
    Mistake {
        what: "metric beside a metric file",
        files: &[("m.py", "DIRECTION = 'maximize'\n")],
        line: "run data --agents offline --set metric=RMSE --metric-file m.py",
        error: "both a metric and a metric file are given",
        hint: "--metric-file",
    },
    Mistake {
        what: "metric file without a direction",
        files: &[("m.py", "def score(a, b, c): return 1.0\n")],
        line: "run data --agents offline --metric-file m.py",
        error: "m.py does not say which scores win",
        hint: "--direction maximize or minimize",
    },
    Mistake {
        what: "unknown task key",
        files: &[("t.yaml", "data_dir: data\ntarget: price\n")],
        line: "run t.yaml",
        error: "t.yaml:2:1: unknown task key \"target\"",
        hint: "target_column",
    },
    Mistake {
        what: "unknown config key",
        files: &[("c.yaml", "outer_steps: 3\n")],
        line: "run data --config c.yaml",
        error: "c.yaml:1:1: unknown config key \"outer_steps\"",
        hint: "outer_loop_steps",
    },
    Mistake {
        what: "value out of range",
        files: &[],
        line: "run data --set inner_loop_steps=0",
        error: "inner_loop_steps must be at least 1",
        hint: "inner_loop_steps",
    },
    Mistake {
        what: "shares that do not add up",
        files: &[("c.toml", "[phase_time_budget]\nphase1_pct = 50\n")],
        line: "run data --config c.toml",
        error: "add up to 100",
        hint: "phase_time_budget",
    },
    Mistake {
        what: "YAML with tabs",
        files: &[("c.yaml", "model: x\n\tsearch: off\n")],
        line: "run data --config c.yaml",
        error: "c.yaml:2:1: a tab",
        hint: "requires spaces",
    },
    Mistake {
        what: "wrong type in YAML",
        files: &[("c.yaml", "model: x\nouter_loop_steps: many\n")],
        line: "run data --config c.yaml",
        error: "c.yaml:2:1: outer_loop_steps is \"many\"",
        hint: "whole number",
    },
    Mistake {
        what: "broken TOML",
        files: &[("c.toml", "model = \n")],
        line: "run data --config c.toml",
        error: "c.toml:1:",
        hint: "TOML",
    },
    Mistake {
        what: "run id that is a path",
        files: &[],
        line: "run data --run-id ../x",
        error: "invalid run ID",
        hint: "letters",
    },
    Mistake {
        what: "runs folder that cannot be written",
        files: &[("plain", "a file")],
        line: "run data --runs-dir plain/runs",
        error: "cannot write to the runs directory",
        hint: "--runs-dir",
    },
    Mistake {
        what: "missing python",
        files: &[],
        line: "run data --set python=/no/such/python",
        error: "/no/such/python",
        hint: "Python 3.11",
    },
    Mistake {
        what: "template that replaces nothing",
        files: &[("p/codr.md", "x")],
        line: "run data --prompts p",
        error: "no template called codr.md",
        hint: "coder.md",
    },
    Mistake {
        what: "file of models with a bad item",
        files: &[("m.yaml", "- {model_name: a, example_code: x}\n- {model_name: b}\n")],
        line: "run data --agents offline --set retrieved_models=m.yaml",
        error: "m.yaml: model 2 has no example_code",
        hint: "every model",
    },
    Mistake {
        what: "holdout that is no share",
        files: &[("c.yaml", "model: x\nholdout: on\n")],
        line: "run data --config c.yaml",
        error: "c.yaml:2:1: holdout is \"on\", but must be auto, off or a share from 0.05 to 0.4",
        hint: "set holdout to auto, off or a share",
    },
    Mistake {
        what: "choice by rows that are not held out",
        files: &[("c.yaml", "holdout: off\n")],
        line: "run data --config c.yaml --set final_choice=holdout",
        error: "holdout is off (c.yaml:1:1), but final_choice is holdout (--set)",
        hint: "set holdout to auto or a share, or final_choice to auto",
    },
    Mistake {
        what: "folder of calls that cannot be written",
        files: &[("plain", "a file")],
        line: "run data --agents files --set agents_dir=plain/calls",
        error: "cannot write to the agents' folder ",
        hint: "choose another folder with agents_dir",
    },
    Mistake {
        what: "single table with few rows",
        files: &[],
        line: "run data/train.csv -t price -m RMSE --agents offline --runs-dir runs/deep",
        error: "only 4 rows are labelled",
        hint: "",
    },
    Mistake {
        what: "unknown option",
        files: &[],
        line: "run data --modle x",
        error: "'--modle'",
        hint: "--model",
    },
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
    for Mistake { what, files, line, error, hint } in MISTAKES {
        let sealed = Sealed::with(files);
        check(&sealed, &sealed.run(line), what, error, hint);
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

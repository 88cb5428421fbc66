//! Exit codes of whole runs. The interpreter is a shell script that replaces every script, so that a run is fast
//! and ends as planned.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::sealed::{Said, Sealed};

/// The smallest search with a merge.
pub const SMALL: &str = "--set num_retrieved_models=2 --set outer_loop_steps=1 --set inner_loop_steps=1 --set max_debug_attempts=1";

/// The path of an interpreter that answers queries and runs `script` for any script.
pub fn interpreter(sealed: &Sealed, script: &str) -> String {
    let path = sealed.path("python").display().to_string();
    let answers = format!(
        "#!/bin/sh\ncase \"$*\" in\n  *importlib.metadata*) echo '[[\"numpy\", \"2.0\"], [\"pandas\", \"3.0\"], [\"scikit-learn\", \"1.0\"]]' ;;\n  \
         *sysconfig*) echo '[\"{path}\", [3, 11, 0], \"linux-x86_64\"]' ;;\n  *) {script} ;;\nesac\n",
    );
    sealed.write("python", answers.as_bytes());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Runs the task with such an interpreter.
fn run(script: &str, more: &str) -> (Sealed, Said) {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, script);
    let said = sealed.run(&format!("run data --run-id r --set python={python} {SMALL} {more}"));
    (sealed, said)
}

/// What the caller's shell tells Python reaches neither scripts nor what the program asks the interpreter.
#[test]
fn variables_for_python_do_not_reach_scripts_unless_asked_for() {
    let of_shell = [
        ("PYTHONOPTIMIZE", "2"),
        ("PYTHONHOME", "/nonexistent"),
        ("PYTHONPATH", "/nonexistent"),
        ("PYTHONSTARTUP", "/nonexistent"),
        ("PYTHONWARNINGS", "error"),
        ("PYTHONINSPECT", "1"),
        ("PYTHONUTF8", "0"),
    ];
    let code = r#"import os, own, sys
assert not sys.flags.optimize and not sys.flags.inspect and not sys.warnoptions
told = {name for name in os.environ if name.startswith("PYTHON")}
assert told == {"PYTHONHASHSEED", "PYTHONPATH", "PYTHONUNBUFFERED"}, told"#;
    let check = |more: &[(&str, &str)], code_of_exit: i32| {
        let sealed = Sealed::with(&[("modules/own.py", ""), ("script.py", code)]);
        let modules = sealed.path("modules").display().to_string();
        let script = format!("python3 -c '{code}' && {{ {SUBMIT}; {SCORE}; }}");
        let python = interpreter(&sealed, &script);
        let answers = sealed.read("python").replace("#!/bin/sh\n", "#!/bin/sh\npython3 -c '' || exit 1\n");
        sealed.write("python", answers.as_bytes());
        let mut environment = of_shell.to_vec();
        environment
            .extend(more.iter().map(|(name, value)| (*name, if *value == "M" { &*modules } else { value })));
        let said =
            sealed.run_with(&format!("run data --run-id r --set python={python} {SMALL}"), &environment);
        assert_eq!(said.code, code_of_exit, "{said:?}");
    };
    check(&[("MLE_STAR_PYTHONPATH", "M")], 0);
    // Without the module, every script fails.
    check(&[("PYTHONPATH", "M")], 1);
}

/// A script that only prints a score.
pub const SCORE: &str = "echo 'Final Validation Performance: 0.5'";
/// This environment variable makes scripts with [`WHILE_SLOW`] wait.
pub const SLOW: (&str, &str) = ("SLOW", "yes");
/// The beginning of a script that is to be interrupted.
pub const WHILE_SLOW: &str = "[ -n \"$SLOW\" ] && exec sleep 600";
/// A script that writes a submission.
pub const SUBMIT: &str = "mkdir -p final; cp input/sample_submission.csv final/submission.csv";

#[test]
fn exit_codes_say_how_a_run_ended() {
    let check = |script: &str, more: &str, code: i32, part: &str| {
        let (sealed, said) = run(script, more);
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.stderr.contains(part), "{part}: {said:?}");
        let has_result = sealed.path("runs/r/result.json").exists();
        assert_eq!(has_result, code == 0 || code == 3, "{said:?}");
        assert!(has_result || said.stderr.lines().last().unwrap().starts_with("hint: "), "{said:?}");
        // A resume ends the same way.
        assert_eq!(sealed.run("resume r").code, code);
    };
    check(&format!("{SUBMIT}; {SCORE}"), "", 0, "submission: ");
    check(SCORE, "", 3, "no valid submission");
    check(
        &format!("{SCORE}; mkdir -p final; echo id,price > final/submission.csv"),
        "",
        3,
        "no valid submission",
    );
    check("exit 1", "", 1, "error: ");
    check("exec sleep 600", "--time-limit 2", 4, "--time-limit");
}

/// If [`SLOW`] is set, the script of the first merge never ends. Every script has unique output.
fn slow_merge(sealed: &Sealed) -> String {
    let wait = format!("case $PWD in *merge-1*) {WHILE_SLOW} ;; esac");
    interpreter(sealed, &format!("cat /proc/sys/kernel/random/uuid; {wait}; {SUBMIT}; {SCORE}"))
}

/// The output of the last run of a script.
fn printed(sealed: &Sealed, place: &str) -> String {
    sealed.read(&format!("runs/r/logs/{place}.stdout"))
}

#[test]
fn a_killed_run_goes_on_without_repeating_what_was_done() {
    let sealed = Sealed::with(&[]);
    let python = slow_merge(&sealed);
    let line = format!("run data --run-id r --json --set python={python} {SMALL}");
    let mut command = sealed.command(&line);
    command.envs([SLOW]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_merge = |line: &String| line.contains("script_started") && line.contains("phase1/merge-1/run");
    assert!(lines.into_iter().any(|line| is_merge(&line)));
    child.kill().unwrap();
    child.wait().unwrap();

    let done = ["phase1.candidate-0.run", "phase1.candidate-1.run"];
    let before = done.map(|place| printed(&sealed, place));
    assert!(before.iter().all(|text| text.len() > 36), "{before:?}");
    let said = sealed.run("resume r");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(done.map(|place| printed(&sealed, place)), before);
    assert!(printed(&sealed, "phase3.r0.run").len() > 36);
}

/// A run that a limit stops in Phase 2 with a result, resumed with a larger limit and killed.
fn reopened_and_killed() -> Sealed {
    let sealed = Sealed::with(&[]);
    let late = format!("case $PWD in *phase1*) ;; *) {WHILE_SLOW}; echo in time ;; esac");
    let python = interpreter(&sealed, &format!("{late}; {SUBMIT}; {SCORE}"));
    let shares = "--set phase_time_budget.phase1_pct=70 --set phase_time_budget.phase2_pct=10 \
                  --set phase_time_budget.phase3_pct=10 --set phase_time_budget.finalization_pct=10";
    let line = format!(
        "run data --run-id r --time-limit 10 --set python={python} {SMALL} {shares} --set num_parallel_solutions=1 --set context=paper"
    );
    let said = sealed.run_with(&line, &[SLOW]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(sealed.read("runs/r/result.json").contains("\"stopped_by\": \"time\""), "{said:?}");
    let mut resumed = sealed.command("resume r --json --time-limit 600");
    let mut resumed = resumed.envs([SLOW]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(resumed.stdout.take().unwrap()).lines().map_while(Result::ok);
    let in_phase_2 = |line: &String| line.contains("script_started") && line.contains("phase2/");
    assert!(lines.into_iter().any(|line| in_phase_2(&line)), "it did not go on");
    resumed.kill().unwrap();
    resumed.wait().unwrap();
    // What the smaller limit led to stays.
    assert!(sealed.read("runs/r/result.json").contains("\"stopped_by\": \"time\""));
    assert!(sealed.path("runs/r/final/submission.csv").exists());
    let shown = sealed.run("show r");
    assert!(shown.stdout.contains("final/submission.csv"), "{shown:?}");
    sealed
}

#[test]
fn a_run_that_a_share_cut_goes_on_with_more_time() {
    let sealed = Sealed::with(&[]);
    let late = format!("case $PWD in *phase2*) {WHILE_SLOW} ;; esac");
    let python = interpreter(&sealed, &format!("{late}; {SUBMIT}; {SCORE}"));
    let shares = "--set phase_time_budget.phase1_pct=10 --set phase_time_budget.phase2_pct=10 \
                  --set phase_time_budget.phase3_pct=40 --set phase_time_budget.finalization_pct=40";
    let line = format!(
        "run data --run-id r --time-limit 30 --set python={python} {SMALL} {shares} --set context=paper"
    );
    let said = sealed.run_with(&line, &[SLOW]);
    assert_eq!(said.code, 0, "{said:?}");
    let result: serde_json::Value = serde_json::from_str(&sealed.read("runs/r/result.json")).unwrap();
    assert_eq!(result["stopped_by"], serde_json::Value::Null, "{said:?}");
    let cut = |result: &serde_json::Value| {
        result["cuts"].as_array().unwrap().iter().filter(|cut| cut["open"] == true).count()
    };
    assert!(cut(&result) > 0 && said.stderr.contains(" s of its 30 s ("), "{said:?}");
    assert!(said.stderr.contains("steps); continue with: mle-star resume r --time-limit N"), "{said:?}");
    let said = sealed.run("resume r");
    assert!(said.code == 0 && said.stderr.contains("would go on with path 1"), "{said:?}");
    for more in ["", " --time-limit 30"] {
        let said = sealed.run(&format!("resume r --detach --json{more}"));
        let told: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        assert!(said.code == 0 && told["state"] == "finished", "{said:?}");
        assert!(told["notes"][1].as_str().unwrap().contains("larger --time-limit would go on with path 1"));
    }
    let said = sealed.run("resume r --time-limit 600");
    assert!(said.code == 0 && said.stderr.contains("goes on with: path 1"), "{said:?}");
    let result: serde_json::Value = serde_json::from_str(&sealed.read("runs/r/result.json")).unwrap();
    assert_eq!(cut(&result), 0, "{}", result["cuts"]);
}

#[test]
fn a_reopened_run_that_was_killed_is_not_finished() {
    let sealed = reopened_and_killed();
    assert!(sealed.run("list").stdout.contains("unfinished"));
    // Killed a moment earlier, the run would have the old limit in the file.
    let config = sealed.read("runs/r/config.json");
    let old = config.replace("\"time_limit_seconds\": 600", "\"time_limit_seconds\": 10");
    assert_ne!(config, old);
    sealed.write("runs/r/config.json", old.as_bytes());
    let said = sealed.run("resume r");
    assert!(said.code == 2 && said.stderr.contains("time_limit_seconds"), "an edit is refused: {said:?}");
    sealed.write("runs/r/config.part", config.as_bytes());
    let said = sealed.run("resume r");
    assert_eq!(said.code, 0, "{said:?}");
    let in_time = sealed.names("runs/r/logs").into_iter().filter(|name| {
        name.starts_with("phase2.") && sealed.read(&format!("runs/r/logs/{name}")).contains("in time")
    });
    assert!(in_time.count() > 0, "{said:?}");
    assert!(sealed.read("runs/r/result.json").contains("\"stopped_by\": null"), "{said:?}");
    assert_eq!(sealed.read("runs/r/config.json"), config);
    sealed.write("runs/r/config.json", config.replace("\"sonnet\"", "\"opus\"").as_bytes());
    assert_eq!(sealed.run("resume r").code, 2);
}

#[test]
fn a_run_is_stopped_from_elsewhere() {
    let sealed = Sealed::with(&[]);
    let line = format!("run data --run-id r --json --set python={} {SMALL}", slow_merge(&sealed));
    let mut run =
        sealed.command(&line).envs([SLOW]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_merge = |line: String| line.contains("script_started") && line.contains("phase1/merge-1");
    assert!(lines.into_iter().any(is_merge), "no merge was started");
    let check = |line: &str, code: i32, words: &str| {
        let said = sealed.run(line);
        assert!(said.code == code && said.stderr.contains(words), "{line}: {said:?}");
    };
    check("stop r", 0, "run r has stopped; continue with: mle-star resume r");
    assert_eq!(run.wait().unwrap().code(), Some(130));
    check("stop r", 1, "error: no process works on this run");
    check("stop s", 2, "error: no run s");
    check("resume r", 0, "submission: ");
}

#[test]
fn a_run_goes_on_without_its_terminal() {
    let sealed = Sealed::with(&[]);
    let json = |said: &Said| serde_json::from_str::<Value>(&said.stdout).unwrap();
    let line = format!("run data --run-id r --detach --set python={} {SMALL}", slow_merge(&sealed));
    let said = sealed.run_with(&line, &[SLOW]);
    let folder = sealed.path("").canonicalize().unwrap().join("runs/r");
    assert_eq!((said.code, said.stdout.trim_end()), (0, folder.to_str().unwrap()), "{said:?}");
    assert!(said.stderr.contains("target: price") && said.stderr.contains("mle-star watch r\n"), "{said:?}");
    let said = sealed.run("stop r --json");
    assert_eq!((said.code, &json(&said)), (0, &json!({"run_id": "r", "state": "unfinished"})), "{said:?}");
    // Its process says how the data was read, as that of any run.
    let events = sealed.read("runs/r/logs/events.jsonl");
    assert!(events.contains("target: price") && !events.contains("resumed;"), "{events}");
    let said = sealed.run("resume r --detach --json");
    assert_eq!((said.code, &json(&said)["state"]), (0, &json!("running")), "{said:?}");
    assert_eq!(sealed.run("watch r").code, 0);
    let said = sealed.run("watch r --news --since 0 --json");
    assert_eq!((&json(&said)["state"], &json(&said)["exit_code"]), (&json!("finished"), &json!(0)));
    assert!(said.stderr.contains("=== Phase 1"), "{said:?}");
    let said = sealed.run("run data --run-id s --detach --set python=/no/python");
    assert!(said.code == 2 && said.stderr.contains("/no/python"), "{said:?}");
    let said = sealed.run("run data --run-id s --detach --json --metric energy");
    assert_eq!((said.code, &json(&said)["questions"][0]["option"]), (2, &json!("--direction")), "{said:?}");
    assert_eq!(sealed.names("runs"), ["r"]);
}

#[test]
fn data_that_cannot_be_printed_is_a_failure() {
    let sealed = Sealed::with(&[]);
    let code = |line: &str, stdout: &str| {
        let full = fs::OpenOptions::new().write(true).open(stdout).unwrap();
        sealed.command(line).stdout(full).stderr(Stdio::null()).status().unwrap().code()
    };
    for line in ["list --json", "completions bash", "doctor"] {
        assert_eq!((code(line, "/dev/full"), code(line, "/dev/null")), (Some(1), Some(0)), "{line}");
    }
}

/// The files after an early kill: everything except the journal, which is created atomically.
#[test]
fn a_run_killed_before_it_did_anything_is_begun_again() {
    let check = |files: &[(&str, &[u8])], begins: bool| {
        let sealed = Sealed::with(&[]);
        fs::create_dir_all(sealed.path("runs/r")).unwrap();
        files.iter().for_each(|(name, bytes)| sealed.write(&format!("runs/r/{name}"), bytes));
        let resumed = sealed.run("resume r");
        let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
        let again = sealed.run(&format!("run data --run-id r --set python={python} {SMALL}"));
        assert_eq!(again.code, if begins { 0 } else { 2 }, "{files:?}: {again:?}");
        assert_eq!(
            resumed.code == 2 && resumed.stderr.contains("--run-id r"),
            begins,
            "{files:?}: {resumed:?}"
        );
    };
    check(&[], true);
    check(&[("journal.lock", b""), ("task.json", b"{"), ("prompts/coder.part", b"")], true);
    check(&[("task.json", b"{}"), ("journal.lock", b"process 1"), ("journal.db.part", b"SQL")], true);
    check(&[("journal.lock", b""), ("journal.db", b"other text")], false);
    check(&[("task.json", b"{}"), ("result.json", b"{}"), ("journal.lock", b"")], false);
    check(&[("thesis.tex", b"")], false);
    check(&[("data/train.csv", b"id,y\n"), ("prompts/coder.md", b"")], false);
}

#[test]
fn runs_inside_the_data_folder_are_not_data() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("ls input; {SUBMIT}; {SCORE}"));
    let run = |id: &str| {
        sealed.run(&format!("run data --runs-dir data/runs --run-id {id} --set python={python} {SMALL}")).code
    };
    assert_eq!((run("r"), run("s")), (0, 0));
    let seen = sealed.read("data/runs/s/logs/phase1.candidate-0.run.stdout");
    assert!(seen.contains("train.csv") && !seen.contains("runs"), "{seen}");
    fs::remove_file(sealed.path("data/runs/r/result.json")).unwrap();
    assert_eq!(sealed.run("resume r --runs-dir data/runs").code, 0);
}

#[test]
fn doctor_solves_a_toy_task_and_leaves_only_failures() {
    let check = |script: &str, code: i32, stdout: &str| {
        let sealed = Sealed::with(&[]);
        fs::create_dir(sealed.path("tmp")).unwrap();
        let python = interpreter(&sealed, script);
        let tmp = sealed.path("tmp").display().to_string();
        let said = sealed.run_with(&format!("doctor --e2e --python {python}"), &[("TMPDIR", &tmp)]);
        assert_eq!((said.code, said.stdout.as_str()), (code, stdout), "{said:?}");
        assert_eq!(sealed.names("tmp").len(), usize::from(code != 0), "{said:?}");
    };
    check(&format!("{SUBMIT}; {SCORE}"), 0, "end to end: ok; the toy run was removed\n");
    check(SCORE, 1, "");
    check("exit 1", 1, "");
}

#[test]
fn a_submission_of_an_earlier_end_does_not_stay() {
    let (sealed, said) = run(SCORE, "");
    assert_eq!(said.code, 3, "{said:?}");
    sealed.write("runs/r/final/submission.csv", b"stale");
    sealed.write("runs/r/final/notes.txt", b"mine");
    fs::remove_file(sealed.path("runs/r/result.json")).unwrap();
    assert_eq!(sealed.run("resume r").code, 3);
    assert_eq!(sealed.names("runs/r/final"), ["folds.csv", "notes.txt", "requirements.txt", "solution.py"]);
}

#[test]
fn prompts_and_replies_are_logged_when_asked_for() {
    let (sealed, said) =
        run(&format!("{SUBMIT}; {SCORE}"), "--set log_level=debug --set log_file=second.log");
    assert_eq!(said.code, 0, "{said:?}");
    let log = sealed.read("second.log");
    assert_eq!(log, sealed.read("runs/r/logs/mle-star.log"));
    for part in
        ["DEBUG mle_star: prompt for retriever (phase1/retriever):", "reply of retriever", "=== Phase 1"]
    {
        assert!(log.contains(part), "{part}");
    }
    // The console shows the same lines; those of an info log are for people.
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" mle_star: ")).collect();
    assert!(lines.len() > 20 && lines.iter().any(|line| line.contains("Z INFO  mle_star: ")), "{log}");
    assert!(lines.iter().all(|line| said.stderr.contains(&line.replace('\t', " "))), "{}", said.stderr);
    let (_, said) = run(&format!("{SUBMIT}; {SCORE}"), "");
    assert!(!said.stderr.contains("mle_star: ") && said.stderr.contains("submission: "), "{said:?}");
}

#[test]
fn output_is_for_people_or_for_programs_or_none() {
    let script = format!("{SUBMIT}; {SCORE}");
    let (_, said) = run(&script, "--quiet");
    assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (0, "", ""));

    let (_, said) = run(&script, "--json");
    assert!(!said.stderr.contains("no effect"), "{said:?}");
    let events: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| event["event"].is_string()), "{said:?}");
    assert!(events.iter().any(|event| event["event"] == "best" && event["score"] == 0.5));
    assert!(said.stderr.contains("run: runs/r") && !said.stderr.contains("==="), "{said:?}");

    let (_, said) = run(&script, "--set warm_start=off --model opus");
    assert_eq!(said.stdout, "");
    assert!(said.stderr.contains("note: no effect with the offline agents: model\n"), "{said:?}");
    assert!(!said.stderr.contains('\u{1b}'), "no terminal, no escapes: {said:?}");
    for part in [
        "=== Phase 1: initial solution ===",
        "  LightGBM ",
        "best so far",
        "=== Finalization ===",
        "RMSE: 0.50000",
    ] {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn a_run_learns_from_an_earlier_one() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let line = |more: &str| format!("run data --set python={python} {SMALL} {more}");
    assert_eq!(sealed.run(&line("--run-id first")).code, 0);
    let said = sealed.run(&line("--run-id second --learn-from first"));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("learning from first: "), "{said:?}");
    let effects = mle_star::journal::read(&sealed.path("runs/second")).unwrap().effects;
    let study = effects.iter().find(|effect| effect.place.as_str() == "phase2/path-0/t0/ablation").unwrap();
    let prompt = study.request["prompt"].as_str().unwrap();
    assert!(prompt.contains(", metric RMSE)\n\n- first solution: "), "{prompt}");
    let said = sealed.run(&line("--run-id third --learn-from frist"));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains("no run frist") && said.stderr.contains("did you mean first?"), "{said:?}");
}

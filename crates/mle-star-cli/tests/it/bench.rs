//! Many runs and one table. The interpreter is a shell script that replaces every script.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::{Said, Sealed};

/// Two tasks in `tasks/`, and answers in `answers/`.
fn tasks() -> Sealed {
    let sealed = Sealed::with(&[]);
    for task in ["one", "two"] {
        sealed.write_task(&format!("tasks/{task}"));
    }
    // The sample submission has 0 for both rows.
    sealed.write("answers/one.csv", b"id,price\n5,3\n6,4\n");
    sealed.write("answers/two/answers.csv", b"id,price\n6,2\n5,2\n");
    sealed
}

/// Scripts that submit the sample submission.
fn submitting(sealed: &Sealed) -> String {
    interpreter(sealed, &format!("{SUBMIT}; {SCORE}"))
}

fn line(python: &str, more: &str) -> String {
    format!("bench tasks/one tasks/two --agents offline --set python={python} {SMALL} {more}")
}

fn results(sealed: &Sealed) -> Value {
    serde_json::from_str(&sealed.read("bench/results.json")).unwrap()
}

fn check_code(said: &Said, code: i32) {
    assert_eq!(said.code, code, "{}\n{}", said.stdout, said.stderr);
}

/// The text with single blanks.
fn squeezed(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn tasks_and_seeds_make_one_table() {
    let sealed = tasks();
    let python = submitting(&sealed);
    let line = line(&python, "--seeds 2 --answers answers");
    let said = sealed.run(&line);
    check_code(&said, 0);
    let table = squeezed(&said.stdout);
    for row in [
        "one 1 yes 3.53553 yes hidden RMSE",
        "two 2 yes 2.00000 yes hidden RMSE",
        "one 2/2 3.53553 3.53553 0",
    ] {
        assert!(table.lines().any(|line| line.starts_with(row)), "{row}\n{}", said.stdout);
    }
    assert!(said.stdout.contains("4 of 4 runs are valid"), "{}", said.stdout);
    assert!(said.stderr.contains("[3/4] two, seed 1\n    RMSE 2.00000 (hidden), "), "{}", said.stderr);
    assert_eq!(sealed.names("bench/runs"), ["one-seed-1", "one-seed-2", "two-seed-1", "two-seed-2"]);
    let config: Value = serde_json::from_str(&sealed.read("bench/runs/two-seed-2/config.json")).unwrap();
    assert_eq!((&config["seed"], &config["agents"]), (&Value::from(2), &Value::from("offline")));
    let listed = sealed.run("list --runs-dir bench/runs");
    assert!(listed.stdout.contains("two-seed-2"), "{listed:?}");

    let first = results(&sealed);
    assert_eq!((&first["complete"], &first["total"]["valid"]), (&Value::from(true), &Value::from(4)));
    assert_eq!(first["runs"][0]["report"]["score"]["validation_score"], 0.5);
    assert_eq!(sealed.read("bench/results.csv").lines().count(), 5);

    // The same command has nothing left to do.
    let again = sealed.run(&line);
    check_code(&again, 0);
    assert_eq!((again.stdout, &results(&sealed)), (said.stdout, &first));
    assert!(!again.stderr.contains("[1/4]"), "{}", again.stderr);
    let json = sealed.run(&format!("{line} --json --quiet"));
    assert_eq!((serde_json::from_str::<Value>(&json.stdout).unwrap(), json.stderr.as_str()), (first, ""));
}

/// A task that asks for these columns, with the sample submission as what its scripts submit.
fn task_of(sealed: &Sealed, name: &str, fields: &str, train: &str, sample: &str) {
    let at = |file: &str| format!("tasks/{name}/{file}");
    sealed.write(&at("train.csv"), train.as_bytes());
    sealed.write(&at("test.csv"), b"id,size\n5,1\n6,2\n7,3\n");
    sealed.write(&at("sample_submission.csv"), sample.as_bytes());
    sealed.write(&at("description.md"), format!("# {name}\n\nPredict.\n").as_bytes());
    sealed.write(
        &at("task.yaml"),
        format!("data_dir: .\ndescription: Predict.\nid_column: id\n{fields}").as_bytes(),
    );
}

#[test]
fn answers_may_have_a_column_for_each_class_or_target() {
    let sealed = Sealed::with(&[]);
    let python = submitting(&sealed);
    let rows = |cells: &dyn Fn(usize) -> String| (0..12).map(cells).collect::<String>();
    let kinds = format!("id,size,kind\n{}", rows(&|id| format!("1{id},{id},{}\n", ["b", "a", "c"][id % 3])));
    let scored = "evaluation_metric: log loss\ntarget_column: kind\n";
    task_of(&sealed, "kinds", scored, &kinds, "id,a,b,c\n5,.5,.25,.25\n6,.5,.25,.25\n7,.2,.2,.6\n");
    sealed.write("answers/kinds.csv", b"id,Usage,b,c,a\n7,Public,0,1,0\n5,Private,0,0,1\n6,Private,1,0,0\n");
    let pairs = format!("id,size,x,y,w\n{}", rows(&|id| format!("1{id},{id},{},{},1\n", id * 2, id * 3)));
    let scored = "evaluation_metric: MAE\ntarget_column: x\nweight_column: w\n";
    task_of(&sealed, "pairs", scored, &pairs, "id,x,y\n5,0,0\n6,0,0\n7,0,0\n");
    sealed.write("answers/pairs.csv", b"id,x,y,w\n5,1,3,1\n6,1,3,1\n7,4,6,2\n");
    let line = format!(
        "bench tasks/kinds tasks/pairs --agents offline --answers answers --set python={python} {SMALL}"
    );
    let said = sealed.run(&line);
    check_code(&said, 0);
    let rows = &results(&sealed)["runs"];
    let loss = -(0.5_f64.ln() + 0.25_f64.ln() + 0.6_f64.ln()) / 3.0;
    let score = |at: usize| rows[at]["hidden_score"].as_f64().unwrap_or_else(|| panic!("{rows}"));
    assert!((score(0) - loss).abs() < 1e-9, "{rows}");
    assert!((score(1) - 3.5).abs() < 1e-9, "{rows}");

    // Soft labels are another metric.
    sealed.write("answers/kinds.csv", b"id,a,b,c\n5,.9,.1,0\n6,0,1,0\n7,0,0,1\n");
    let said = sealed.run(&format!("{line} --out other"));
    check_code(&said, 1);
    let error = "kinds.csv cannot be used: row 1 has `.9`, where a column per class has 1 or 0\nhint: correct the file";
    assert!(said.stderr.contains(error), "{}", said.stderr);
}

#[test]
fn another_bench_in_the_same_folder_is_refused() {
    let sealed = tasks();
    let python = submitting(&sealed);
    let plain = line(&python, "--seeds 1");
    check_code(&sealed.run(&plain), 0);
    let before = results(&sealed);
    let check = |line: &str, part: &str| {
        let said = sealed.run(line);
        check_code(&said, 2);
        assert!(said.stderr.contains(part) && said.stderr.contains("hint: "), "{part}: {}", said.stderr);
    };
    check(&line(&python, "--seeds 2"), "bench holds another bench: seeds: 2, before: 1");
    check(&line(&python, "--budgets 60"), "budgets: [60], before: [null]");
    check(&line(&python, "--set holdout=off"), "tasks.one.config.holdout: \"off\", before: \"auto\"");
    check(&plain.replace(" tasks/two", ""), "tasks.two: null, before: {");
    check(&plain.replace("tasks/one", "tasks/three"), "no such folder or file");
    check(&format!("{plain} --set seed=3"), "use --seeds");
    check(
        &format!("{plain} --answers tasks/one/sample_submission.csv"),
        "are in the data folder of the task one",
    );
    check("bench", "<TASK>");
    let train = sealed.read("tasks/two/train.csv");
    sealed.write("tasks/two/train.csv", format!("{train}9,9,a,9\n").as_bytes());
    check(&plain, "tasks.two.data: ");
    sealed.write("tasks/two/train.csv", train.as_bytes());
    assert_eq!(results(&sealed), before);
    // Answers change no run.
    check_code(&sealed.run(&format!("{plain} --answers answers")), 0);
    assert_eq!(results(&sealed)["runs"][0]["score_of"], "hidden");
    check_code(&sealed.run(&plain), 0);
    assert_eq!(results(&sealed), before);
}

#[test]
fn a_task_that_fails_is_a_row_and_stops_no_other() {
    let sealed = tasks();
    sealed.write("tasks/wrong/train.csv", b"a,b\n1,2\n");
    let python = interpreter(&sealed, &format!("case $PWD in *two-seed*) exit 1 ;; esac; {SUBMIT}; {SCORE}"));
    let line = format!("bench tasks --agents offline --set python={python} {SMALL}");
    let said = sealed.run(&line);
    check_code(&said, 1);
    assert!(
        said.stderr.contains("error: wrong, seed 1: ") && said.stderr.contains("error: two, seed 1: "),
        "{said:?}"
    );
    let results = results(&sealed);
    let rows = results["runs"].as_array().unwrap();
    let of = |key: &str| rows.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("state"), ["finished", "failed", "failed"], "{results}");
    assert_eq!(of("exit"), [0, 1, 2]);
    assert_eq!(of("valid"), [true, false, false]);
    assert_eq!((&results["complete"], &results["total"]["valid"]), (&Value::from(true), &Value::from(1)));
    assert!(said.stdout.contains("1 of 3 runs are valid"), "{}", said.stdout);
    // What failed is resumed or tried again, and ends in the same way.
    let said = sealed.run(&line);
    check_code(&said, 1);
    assert!(!said.stderr.contains("[1/3]") && said.stderr.contains("[2/3]"), "{}", said.stderr);
    let again = self::results(&sealed);
    let states: Vec<&Value> = again["runs"].as_array().unwrap().iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["finished", "failed", "failed"], "{again}");
}

/// A bench that has finished its first run and is in the middle of the second.
fn in_the_second_run(sealed: &Sealed, line: &str) -> Child {
    let mut command = sealed.command(line);
    let child = command.envs([SLOW]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let events = sealed.path("bench/runs/one-seed-2/logs/events.jsonl");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !fs::read_to_string(&events).is_ok_and(|text| text.contains("script_started")) {
        assert!(Instant::now() < deadline, "the second run does not begin");
        thread::sleep(Duration::from_millis(20));
    }
    child
}

fn slow_second_run() -> (Sealed, String) {
    let sealed = tasks();
    let slow = format!("case $PWD in *seed-2*) {WHILE_SLOW} ;; esac");
    let python = interpreter(&sealed, &format!("{slow}; {SUBMIT}; {SCORE}"));
    let line = line(&python, "--seeds 2");
    (sealed, line)
}

#[test]
fn a_killed_bench_goes_on_where_it_was() {
    let (sealed, line) = slow_second_run();
    let mut child = in_the_second_run(&sealed, &line);
    let held = sealed.run(&line);
    check_code(&held, 1);
    assert!(held.stderr.contains(&format!("process {} works on the bench", child.id())), "{held:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let done = sealed.read("bench/runs/one-seed-1/result.json");
    let said = sealed.run(&line);
    check_code(&said, 0);
    assert!(said.stderr.contains("4 runs, 1 finished") && !said.stderr.contains("[1/4]"), "{}", said.stderr);
    assert_eq!(sealed.read("bench/runs/one-seed-1/result.json"), done);
    assert_eq!(results(&sealed)["total"]["valid"], 4);
}

//! Split, holdout and final choice: what settings mean, what is said, and what whole runs leave. Scripts are shell
//! scripts, as in `exits.rs`.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::delivered::result;
use crate::exits::{SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::killed::{effects, outcome};
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// The labelled rows of the task, and the 15 % of them that are held out.
const ROWS: usize = 2500;
const HELD: usize = 375;
const TEST_ROWS: usize = 100;
const HOLDOUT: &str = "holdout: 375 of 2500 labelled rows are kept from all scripts until the final choice";
const SPLIT: &str = "split: rows at random (nothing tells the rows of test.csv from those of train.csv)";
/// Predicts 0 for each row it can see the label of, and prints the RMSE of that.
pub const PREDICT: &str = r#"mkdir -p final; awk -F, 'NR == 1 { print "id,price"; next } { print $1 ",0" }' input/train.csv > final/validation_predictions.csv; awk -F, 'NR > 1 { s += $4 * $4; n++ } END { printf "Final Validation Performance: %.9f\n", sqrt(s / n) }' input/train.csv"#;

/// A regression task whose test rows are like its training rows.
pub fn task() -> Sealed {
    let (mut train, mut test, mut sample) =
        ("id,size,town,price\n".to_owned(), "id,size,town\n".to_owned(), "id,price\n".to_owned());
    for row in 0..ROWS + TEST_ROWS {
        let (size, town) = (row * 37 % 101, ["a", "b", "c"][row % 3]);
        if row % 26 == 0 {
            writeln!(test, "{row},{size},{town}").unwrap();
            writeln!(sample, "{row},0").unwrap();
        } else {
            writeln!(train, "{row},{size},{town},{}.5", size + row % 7).unwrap();
        }
    }
    let files = [("train", train), ("test", test), ("sample_submission", sample)];
    let sealed = Sealed::with(&[]);
    files.iter().for_each(|(name, text)| sealed.write(&format!("data/{name}.csv"), text.as_bytes()));
    sealed
}

/// The labels of the task.
fn prices(sealed: &Sealed) -> Vec<f64> {
    let price = |line: &str| line.rsplit(',').next().unwrap().parse().unwrap();
    sealed.read("data/train.csv").lines().skip(1).map(price).collect()
}

/// What `run` says about the evaluation before it looks for the interpreter.
fn said(sealed: &Sealed, line: &str) -> Vec<String> {
    let said = sealed.run(&format!("run data --set python=/no/such/python {line}"));
    assert!(said.code == 2 && said.stderr.contains("/no/such/python"), "{line}: {said:?}");
    let is_told = |line: &&str| ["holdout: ", "note: `"].iter().any(|part| line.starts_with(part));
    said.stderr.lines().filter(is_told).map(str::to_owned).collect()
}

#[test]
fn init_estimate_page_and_run_say_the_same_about_the_evaluation() {
    let sealed = task();
    assert_eq!(said(&sealed, ""), [HOLDOUT]);
    let estimate = sealed.run("run data --estimate").stderr;
    assert!([SPLIT, HOLDOUT].iter().all(|line| estimate.lines().any(|told| told == *line)), "{estimate}");
    let page = Served::of(&sealed, "").get("/start?folder=data").body;
    assert!([SPLIT, HOLDOUT].iter().all(|line| page.contains(&format!("<li>{line}</li>"))), "{page}");
    let asked = Served::of(&sealed, "").get("/start?folder=data&metric=energy+score").body;
    assert!(asked.contains("<input type=\"radio\" name=\"direction\" value=\"maximize\">"), "{asked}");
    let init = sealed.run("init data");
    assert_eq!(init.code, 0, "{init:?}");
    assert!(init.stderr.contains(&format!("\n{SPLIT}\n{HOLDOUT}\n")), "{init:?}");
    assert!(init.stderr.contains("columns:\n  price  target   number "), "{init:?}");
    let text = sealed.read("data/task.yaml");
    assert!(text.contains(&format!("#   {SPLIT}\n#   {HOLDOUT}\n")), "{text}");
    assert_eq!(said(&sealed, ""), [HOLDOUT], "the task file is still readable");
}

/// Where the predictions are wrong is kept, and the report shows it.
fn shows_diagnostics(sealed: &Sealed) {
    let found: Value = serde_json::from_str(&sealed.read("runs/r/holdout/diagnostics.json")).unwrap();
    assert_eq!((&found["of"], &found["rows"]), (&json!("held_out"), &json!(HELD)), "{found}");
    let worst = found["targets"][0]["worst"].as_array().unwrap();
    let largest = prices(sealed).iter().map(|price| price.abs()).fold(0.0, f64::max);
    let losses: Vec<f64> = worst.iter().map(|row| row["loss"].as_f64().unwrap()).collect();
    assert!(losses.len() == 10 && losses.is_sorted_by(|one, other| one >= other) && losses[0] <= largest);
    let report = sealed.read("runs/r/report.html");
    assert!(report.contains("<section id=\"diagnostics\"") && report.contains("Predicted against actual"));
}

#[test]
fn a_run_shows_and_keeps_how_it_was_evaluated() {
    let sealed = task();
    let python = interpreter(&sealed, &format!("{SUBMIT}; wc -l < input/train.csv; {PREDICT}"));
    let said = sealed.run(&format!("run data --run-id r --set python={python} {SMALL}"));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.lines().any(|told| told == HOLDOUT), "{said:?}");
    assert!(said.stderr.lines().take_while(|line| !line.starts_with("  ")).count() <= 6, "{said:?}");
    assert!(sealed.read("runs/r/logs/mle-star.log").contains(SPLIT));
    let trust = &result(&sealed)["trust"];
    for field in [
        "validation_score",
        "validation_interval",
        "verified",
        "holdout_score",
        "holdout_interval",
        "holdout_rows",
        "holdout_looks",
        "findings",
        "probes",
    ] {
        assert!(!trust[field].is_null(), "{field} in {trust}");
    }
    let looked = trust["holdout_looks"].as_u64() > Some(0);
    assert_eq!((&trust["verified"], &trust["holdout_rows"], looked), (&json!(true), &json!(HELD), true));
    let told = (&trust["split"]["kind"], &trust["split"]["column"], &trust["choice"]["rule"]);
    assert_eq!(told, (&json!("rows"), &Value::Null, &json!("validation score")));
    assert!(trust["split"]["why"].as_str().unwrap().contains("test.csv"), "{trust}");
    // All predictions are 0. The standard error of the root of a mean of squares, for the scored and the test rows.
    let squares: Vec<f64> = prices(&sealed).iter().map(|price| price * price).collect();
    let mean = squares.iter().sum::<f64>() / ROWS as f64;
    let variance = squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / ROWS as f64;
    // So few held-out rows are not halved for the choice.
    assert_eq!(trust["holdout_reported_rows"], Value::Null, "{trust}");
    for (kind, rows) in [("validation", ROWS - HELD), ("holdout", HELD)] {
        let score = trust[format!("{kind}_score")].as_f64().unwrap();
        let [low, high] = [0, 1].map(|end| trust[format!("{kind}_interval")][end].as_f64().unwrap());
        assert!(low < score && score < high, "{trust}");
        let error = (variance * (1.0 / rows as f64 + 1.0 / TEST_ROWS as f64)).sqrt() / 2.0 / mean.sqrt();
        let ratio = (high - low) / 2.0 / 1.96 / error;
        assert!((0.8..1.2).contains(&ratio), "{kind}: {ratio} in {trust}");
    }

    shows_diagnostics(&sealed);
    let mode = |name: &str| fs::metadata(sealed.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("runs/r/holdout/labels.csv"), 0o600);
    let labels = sealed.read("runs/r/holdout/labels.csv");
    assert_eq!(labels.lines().count(), HELD + 1);
    let ids = |text: &str| -> Vec<String> {
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    let seen = ids(&sealed.read("runs/r/holdout/input/train.csv"));
    let held = ids(&labels);
    assert!(seen.len() == ROWS - HELD && held.iter().all(|id| !seen.contains(id)), "{}", seen.len());
    assert_eq!(
        ids(&sealed.read("runs/r/final/submission.csv")),
        ids(&sealed.read("data/sample_submission.csv"))
    );
    let rows = |place: &str| {
        let printed = sealed.read(&format!("runs/r/logs/{place}.stdout"));
        printed.lines().next().unwrap().trim().parse::<usize>().unwrap() - 1
    };
    assert_eq!(rows("phase1.candidate-0.run"), ROWS - HELD);
    assert_eq!(rows("finalization.run"), ROWS);
}

/// Scripts of the search write no submission, so each solution in the final choice needs a script of its own.
fn with_choice(sealed: &Sealed) -> String {
    let wait = format!("case $PWD in *choice-1*) {WHILE_SLOW} ;; esac");
    let submit = format!("case $PWD in *finalization*) {SUBMIT} ;; esac");
    interpreter(sealed, &format!("{wait}; {submit}; {PREDICT}"))
}

#[test]
fn a_run_killed_in_its_final_choice_repeats_nothing() {
    let sealed = task();
    let python = with_choice(&sealed);
    let line = |id: &str| {
        format!("run data --run-id {id} --json --set python={python} --set final_choice=holdout {SMALL}")
    };
    let whole = sealed.run(&line("whole"));
    assert_eq!(whole.code, 0, "{whole:?}");
    let mut child = sealed.command(&line("r"));
    let mut child = child.envs([SLOW]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_there =
        |line: String| line.contains("\"script_started\"") && line.contains("\"finalization/choice-1/run\"");
    assert!(lines.into_iter().any(is_there), "the final choice was not reached");
    child.kill().unwrap();
    child.wait().unwrap();
    let started =
        |name: &str| fs::metadata(sealed.path(&format!("runs/r/{name}"))).unwrap().modified().unwrap();
    let done = ["logs/finalization.choice-0.run.stdout", "holdout/labels.csv", "holdout/input/train.csv"];
    let before = done.map(started);
    let said = sealed.run("resume r");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(done.map(started), before);
    assert_eq!(effects(&sealed, "r"), effects(&sealed, "whole"));
    let (resumed, undisturbed) = (outcome(&sealed, "r"), outcome(&sealed, "whole"));
    assert_eq!(resumed["result"]["trust"], undisturbed["result"]["trust"]);
    let trust = &resumed["result"]["trust"];
    let candidates = trust["choice"]["candidates"].as_array().unwrap();
    assert!(candidates.len() > 1 && candidates.iter().all(|one| one["holdout"].is_f64()), "{trust}");
}

/// Predicts the size, for labelled rows and for the others.
const HONEST: &str = r#"mkdir -p final; awk -F, 'NR == 1 { print "id,price"; next } { print $1 "," $2 }' input/test.csv > final/submission.csv; awk -F, 'NR == 1 { print "id,price"; next } { print $1 "," $2 }' input/train.csv > final/validation_predictions.csv; awk -F, 'NR > 1 { s += ($4 - $2) ^ 2; n++ } END { printf "Final Validation Performance: %.9f\n", sqrt(s / n) }' input/train.csv"#;
/// Knows the labels of the rows that it is validated on, and nothing about others.
const LEAKING: &str = r#"mkdir -p final; cp input/sample_submission.csv final/submission.csv; awk -F, '{ print $1 "," $4 }' input/train.csv > final/validation_predictions.csv; echo 'Final Validation Performance: 0.0'"#;

#[test]
fn a_validation_score_that_held_out_rows_contradict_is_not_expected() {
    let sealed = task();
    let honest =
        format!("case $PWD in *baseline*|*candidate*|*finalization*) {HONEST} ;; *) {LEAKING} ;; esac");
    let python = interpreter(&sealed, &honest);
    // Probes find such a script, too.
    let said = sealed.run(&format!("run data --run-id r --set python={python} {SMALL} --set probes=off"));
    assert_eq!(said.code, 0, "{said:?}");
    let result = result(&sealed);
    let score = |name: &str| result["trust"][name].as_f64().unwrap();
    // Zeros are 60 off.
    let (validated, held_out) = (score("validation_score"), score("holdout_score"));
    assert!(validated.abs() < 1e-9 && held_out > 30.0, "{validated} {held_out}");
    assert_eq!(
        (&result["expected"]["from"], &result["expected"]["score"]),
        (&json!("holdout"), &json!(held_out))
    );
}

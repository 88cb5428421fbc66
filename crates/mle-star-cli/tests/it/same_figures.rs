//! Page, report, `show`, its JSON, the Python package, the lists of runs and the last lines of a run tell the same figures.

use std::path::Path;
use std::process::{Command, Stdio};

use mle_star_needs::{needs, python_with_libraries};
use mle_star_report::figures::{duration, interval, measured, number, rounded};
use serde_json::{Value, json};

use crate::claude::{KEY, WELL, claude, run_line, say};
use crate::events::wait_for;
use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::held_out::{self, PREDICT};
use crate::recorded;
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// What the Python package says of a run.
const PYTHON: &str = "import json, sys, mle_star
run = mle_star.Run(sys.argv[1])
board = run.leaderboard()
rows = board.astype(object).where(board.notna(), None).to_dict('records')
told = [run.status, run.expected, run.score, run.interval, run.held_out, run.held_out_interval, rows]
print(json.dumps(told))";

#[test]
fn every_surface_tells_the_same_figures() {
    needs!(Libraries);
    let few = "--set num_parallel_solutions=1 --set ensemble_rounds=1 --set probes=off";
    let ends = |sealed: &Sealed, id: &str, script: &str| {
        let python = interpreter(sealed, script);
        let said = sealed.run(&format!("run data --run-id {id} --set python={python} {SMALL} {few}"));
        assert_eq!(said.code, 0, "{said:?}");
        check(sealed, id, &said.stderr);
    };
    ends(&held_out::task(), "held-out", &format!("{SUBMIT}; {PREDICT}"));
    let sealed = Sealed::with(&[]);
    ends(&sealed, "printed", &format!("{SUBMIT}; {SCORE}"));

    let slow = format!("case $PWD in *candidate-1*) {WHILE_SLOW} ;; esac");
    let python = interpreter(&sealed, &format!("{slow}; {SUBMIT}; {SCORE}"));
    let mut run = sealed.command(&format!("run data --run-id now --json --set python={python} {SMALL}"));
    let mut run = run.envs([SLOW]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&mut run, &["script_started", "candidate-1"]);
    check(&sealed, "now", "");
    run.kill().unwrap();
    run.wait().unwrap();

    let recorded = recorded::copied();
    std::fs::rename(recorded.path("recorded/flight-delays"), sealed.path("runs/flight-delays")).unwrap();
    assert_ne!(check(&sealed, "flight-delays", "")["helped"], Value::Null);

    claude(&sealed, WELL);
    let said = say(&sealed, &format!("{} {few}", run_line(&sealed)), &[KEY]);
    check(&sealed, "r", &said.stderr);
    assert!(said.stderr.contains("\ncost: $"), "{said:?}");
}

/// Compares what each of them tells of a run. One that goes on has no last lines, and its time is never the same.
fn check(sealed: &Sealed, id: &str, last_lines: &str) -> Value {
    let told: Value = serde_json::from_str(&sealed.run(&format!("show {id} --json")).stdout).unwrap();
    let (run, score) = (&told["run"], &told["score"]);
    let metric = run["metric"].as_str().unwrap();
    let text = sealed.run(&format!("show {id}")).stdout;
    let page = Served::of(sealed, "").get(&format!("/runs/{id}")).body;
    assert_eq!(sealed.run(&format!("report {id}")).code, 0);
    let report = sealed.read(&format!("runs/{id}/report.html"));
    let everywhere = |in_page: &str, in_text: &str, at_the_end: &str| {
        for (name, whole, part) in
            [("page", &page, in_page), ("report", &report, in_page), ("show", &text, in_text)]
        {
            assert!(whole.contains(part), "{id}, {name}: {part} is not in {whole}");
        }
        assert!(last_lines.is_empty() || last_lines.contains(at_the_end), "{id}: {at_the_end}: {last_lines}");
    };

    let trust = &score["trust"];
    let expected = with_bounds(&score["expected"]["score"], &score["expected"]["interval"]);
    assert_eq!(expected.is_some(), run["state"] == "finished", "{told}");
    if let Some((score, words)) = expected {
        let large = format!("<strong>{score}</strong>");
        everywhere(&large, &format!("\nexpected:   {words}"), &format!("expect {metric} {words}"));
    } else {
        let best = number(run["best_score"].as_f64().unwrap());
        everywhere(&format!("<strong>{}", &best[..5]), &format!("\nbest score: {best}"), "");
    }
    if let Some((_, words)) = with_bounds(&trust["validation_score"], &trust["validation_interval"]) {
        let at_the_end = words.replacen(' ', " validated ", 1);
        everywhere(&format!("validated {words}"), &format!("\nvalidated:  {words}"), &at_the_end);
    }
    if let Some((_, words)) = with_bounds(&trust["holdout_score"], &trust["holdout_interval"]) {
        let at_the_end = words.replacen(' ', " held out ", 1);
        everywhere(&format!("held out {words}"), &format!("\nheld out:   {words}"), &at_the_end);
    }
    if run["state"] == "finished" {
        let time = duration(run["elapsed_seconds"].as_f64().unwrap());
        everywhere(
            &format!("<span>{time}</span>"),
            &format!("\ntime:       {time}\n"),
            &format!("\ntime: {time}\n"),
        );
    }
    if let Some(cost) = text.lines().find_map(|line| line.strip_prefix("cost:       ")) {
        everywhere(&format!("<span>{cost}</span>"), cost, &format!("\ncost: {cost}\n"));
    }

    check_leaderboard(id, &told, &page, &text);
    check_helped(sealed, id, &told["helped"], &page);
    check_lists(sealed, id, &told);
    check_python(sealed, id, &told, best_of(&told));
    told
}

/// The score of the answer: the validated one, or the best so far.
fn best_of(told: &Value) -> &Value {
    let trust = &told["score"]["trust"];
    if trust.is_null() { &told["run"]["best_score"] } else { &trust["validation_score"] }
}

/// A score, and the score with its interval, as everywhere.
fn with_bounds(value: &Value, bounds: &Value) -> Option<(String, String)> {
    let bounds: Option<[f64; 2]> = serde_json::from_value(bounds.clone()).unwrap();
    let score = measured(value.as_f64()?, bounds);
    Some((score.clone(), bounds.map_or(score.clone(), |bounds| format!("{score} {}", interval(bounds)))))
}

/// Page and text have the rows of the leaderboard in its order, and one of them is the solution that they name.
fn check_leaderboard(id: &str, told: &Value, page: &str, text: &str) {
    let rows = told["leaderboard"].as_array().unwrap();
    assert!(!rows.is_empty(), "{told}");
    let (_, board) = page.split_once("<section id=\"leaderboard\"").unwrap();
    let mut at = 0;
    for row in rows {
        let cell = format!("data-value=\"{}\"", row["score"]);
        at += board[at..].find(&cell).unwrap_or_else(|| panic!("{id}: {cell} is not in its order")) + 1;
        let place = row["place"].as_str().unwrap();
        let ends = json!([row["low"], row["high"]]);
        let ends = if row["low"].is_null() { Value::Null } else { ends };
        let (score, _) = with_bounds(&row["score"], &ends).unwrap();
        let is_told =
            |line: &str| line.contains(&format!(" {place} ")) && line.contains(&format!(" {score} "));
        assert!(text.lines().any(is_told), "{id}: {place} {score}: {text}");
    }

    let solution = text.lines().find(|line| line.starts_with("solution:   ")).unwrap();
    let is_answer = |row: &&Value| solution.ends_with(&format!("({})", row["place"].as_str().unwrap()));
    let answer = rows.iter().find(is_answer).unwrap_or_else(|| panic!("{id}: {solution}"));
    assert_eq!(&answer["score"], best_of(told), "{id}: {solution}");
}

/// Page and picture have what helped.
fn check_helped(sealed: &Sealed, id: &str, helped: &Value, page: &str) {
    let shown = page.split_once("<section id=\"helped\"").unwrap().1.split_once("</section>").unwrap().0;
    assert_eq!(helped.is_null(), shown.starts_with(" hidden"), "{id}: {shown}");
    let Some(rows) = helped["rows"].as_array() else { return };
    let [from, to] = ["from", "to"].map(|end| number(helped[end].as_f64().unwrap()));
    let ends = format!("from {from} to {to}</caption>");
    let gain = |row: &Value| row["gain"].as_f64().map(|gain| format!("+{}<", rounded(gain)));
    let gains = rows.iter().filter(|row| row["gain"] != 0.0).chain(rows.iter().map(|row| &row["best"]));
    for words in gains.filter_map(gain).chain([ends]) {
        assert!(shown.contains(&words), "{id}: {words}: {shown}");
    }
    let picture = sealed.run(&format!("show {id} --svg")).stdout;
    assert!(picture.contains(&format!(" to {to}, and what each was made from")), "{id}: {to}: {picture}");
}

/// The lists of runs, in the terminal, as JSON and on the page, lead with the expected score.
fn check_lists(sealed: &Sealed, id: &str, told: &Value) {
    let listed: Vec<Value> = serde_json::from_str(&sealed.run("list --json").stdout).unwrap();
    let row = listed.iter().find(|row| row["run_id"] == id).unwrap();
    let of_trust = |name: &str| told["score"]["trust"].get(name).cloned().unwrap_or_default();
    let (expected, held_out) = (&told["score"]["expected"], of_trust("holdout_score"));
    assert_eq!((&row["expected"], &row["held_out"]), (expected, &held_out), "{id}: {row}");
    assert_eq!(row["held_out_interval"], of_trust("holdout_interval"), "{id}: {row}");

    let figures = [&expected["score"], best_of(told), &held_out];
    let figures: Vec<String> = figures.into_iter().filter_map(Value::as_f64).map(number).collect();
    let text = sealed.run("list").stdout;
    let line = text.lines().find(|line| line.starts_with(&format!("{id} "))).unwrap();
    let cells: Vec<&str> = line.split_whitespace().map(|cell| cell.trim_end_matches('*')).collect();
    assert!(cells.windows(figures.len()).any(|cells| cells == figures), "{id}: {figures:?}: {text}");

    let page = Served::of(sealed, "").get("/").body;
    let row = page.split_once(&format!("<tr id=\"run-{id}\"")).unwrap().1.split_once("</tr>").unwrap().0;
    let leads = format!("<strong>{}", figures[0]);
    let mut at = row.find(&leads).unwrap_or_else(|| panic!("{id}: {leads}: {row}"));
    for figure in &figures {
        at += row[at..].find(figure).unwrap_or_else(|| panic!("{id}: {figure}: {row}"));
    }
}

/// The Python package has the same figures.
fn check_python(sealed: &Sealed, id: &str, told: &Value, best: &Value) {
    let rows = told["leaderboard"].as_array().unwrap();
    let (run, score) = (&told["run"], &told["score"]);
    let columns = ["place", "model", "score", "low", "high", "seconds", "kept"];
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| columns.iter().map(|name| ((*name).to_owned(), row[name].clone())).collect())
        .collect();
    let of_python = by_python(sealed, id);
    let of_trust = |name: &str| score["trust"].get(name).cloned().unwrap_or_default();
    let same = [
        run["state"].clone(),
        score["expected"].clone(),
        best.clone(),
        of_trust("validation_interval"),
        of_trust("holdout_score"),
        of_trust("holdout_interval"),
    ];
    assert_eq!(of_python[..6], same, "{id}");
    assert_eq!(of_python[6], Value::Array(rows), "{id}");
}

/// What the Python package says of a run.
fn by_python(sealed: &Sealed, id: &str) -> Vec<Value> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let mut python = Command::new(python_with_libraries());
    python.args(["-c", PYTHON]).arg(sealed.path("runs").join(id));
    python.env("PYTHONPATH", package).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python.env("MLE_STAR_BIN", env!("CARGO_BIN_EXE_mle-star")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

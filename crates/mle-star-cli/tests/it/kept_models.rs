//! The models that agents behind prompts keep.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::by_files;
use crate::delivered::{SCRIPT, bare_interpreter, result, run_by_files, script, two_halves};
use crate::held_out::task;
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// What a script adds to keep its model.
pub const KEEPS: &str = r#"
os.makedirs("./final/model", exist_ok=True)
with open("./final/model/sign.txt", "w") as file:
    file.write(str(SIGN))
with open("./final/predict.py", "w") as file:
    file.write('''import csv, os, sys

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "model", "sign.txt")) as file:
    sign = float(file.read())
with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
answers = [(row["id"], float(row["size"]) + 3.5 + sign * (int(row["id"]) % 11)) for row in rows]
# ANSWERS
with open(sys.argv[2], "w", newline="") as file:
    csv.writer(file).writerows([["id", "price"], *answers])
''')
"#;

/// A run with one solution, and the reply of the agent that writes the script with the model.
pub fn run(sealed: &Sealed, solution: &str, with_model: &str) -> String {
    let code = |text: &str| format!("```python\n{text}\n```");
    let reply = |call: &Path| {
        let place = call.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().1.to_owned();
        match place.as_str() {
            "finalization.test" | "finalization.with-model.test" => {
                let prompt = fs::read_to_string(call.join("prompt.md")).unwrap();
                assert!(prompt.contains("`python predict.py NEW OUT`"), "{prompt}");
                code(with_model)
            }
            _ if place.ends_with("init") => code(solution),
            _ if place.ends_with("extractor") => {
                r#"{"plans": [{"code_block": "SIGN = 1.0", "plan": "change it"}]}"#.to_owned()
            }
            _ if place.ends_with("coder") => code("SIGN = 4.0"),
            _ if place.ends_with("ablation") => code("print('an effect')"),
            _ => by_files::reply(call),
        }
    };
    let one = "--set num_retrieved_models=1 --set num_parallel_solutions=1";
    run_by_files(sealed, &bare_interpreter(sealed), one, reply)
}

/// A solution that writes no submission.
fn without_submission() -> String {
    SCRIPT.replace("write(\"submission\", predict(test))\n", "")
}

#[test]
fn agents_behind_prompts_keep_a_model() {
    let kept = SCRIPT.to_owned() + KEEPS;
    for (solution, place) in
        [(SCRIPT.to_owned(), "finalization.with-model.run"), (without_submission(), "finalization.run")]
    {
        let sealed = task();
        let said = run(&sealed, &solution, &kept);
        let model = result(&sealed)["model"].clone();
        assert_eq!((&model["kind"], &model["rows"]), (&"fitted".into(), &90.into()), "{model} {said}");
        assert!(sealed.read(&format!("runs/r/solutions/{place}.py")).contains("predict.py"));
        let submitted = sealed.read("runs/r/final/submission.csv").replace('\r', "");
        assert_eq!(submitted.lines().count(), 101);
        let predicted = sealed.run("predict r data/test.csv");
        assert_eq!((predicted.code, &predicted.stdout), (0, &submitted), "{predicted:?}");
        // By hand, elsewhere.
        fs::create_dir(sealed.path("away")).unwrap();
        let mut copy = Command::new("cp");
        copy.arg("-r").args(["model", "model.json", "predict.py"]).arg(sealed.path("away"));
        assert!(copy.current_dir(sealed.path("runs/r/final")).status().unwrap().success());
        let mut by_hand = Command::new(sealed.path("bare/bin/python3"));
        by_hand.args(["predict.py", "../data/test.csv", "out.csv"]).current_dir(sealed.path("away"));
        let said = by_hand.output().unwrap();
        assert!(said.status.success(), "{said:?}");
        assert_eq!(sealed.read("away/out.csv"), submitted);
        // The script of the model is checked as its other files are.
        let script = sealed.read("runs/r/final/model/predict.py");
        sealed.write("runs/r/final/model/predict.py", (script + "\n").as_bytes());
        let refused = sealed.run("predict r data/test.csv");
        assert_eq!(refused.code, 2, "{refused:?}");
        let words = "the file predict.py of the fitted model has changed since it was made";
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
}

#[test]
fn a_combination_keeps_a_model_if_each_of_its_solutions_does() {
    let check = |keeps_second: bool| {
        let sealed = task();
        let reply = |call: &Path| {
            if !call.display().to_string().contains("-finalization.with-model.member-") {
                return two_halves(call);
            }
            let prompt = fs::read_to_string(call.join("prompt.md")).unwrap();
            let (solution, keeps) = match prompt.contains("SIGN = -1.0") {
                true => (script("-1.0"), keeps_second),
                false => (SCRIPT.to_owned(), true),
            };
            format!("```python\n{solution}{}\n```", if keeps { KEEPS } else { "" })
        };
        let said = run_by_files(&sealed, &bare_interpreter(&sealed), "", reply);
        let solution = sealed.read("runs/r/final/solution.py");
        let keeps = solution.contains("final/predict.py");
        assert!(solution.contains("MEMBERS = [") && keeps == keeps_second, "{said}");
        let model = result(&sealed)["model"].clone();
        if !keeps_second {
            let why = "the agent wrote no script that keeps its model (solution ";
            assert!(model["kind"] == "refit" && model["why"].as_str().unwrap().starts_with(why), "{model}");
            return;
        }
        assert_eq!(model["kind"], "fitted", "{model} {said}");
        let by_id = |text: &str| -> Vec<(String, f64)> {
            let cells = text.lines().skip(1).map(|line| line.trim().split_once(',').unwrap());
            cells.map(|(id, value)| (id.to_owned(), value.parse().unwrap())).collect()
        };
        let submitted = by_id(&sealed.read("runs/r/final/submission.csv"));
        fs::rename(sealed.path("runs/r/final/solution.py"), sealed.path("solution.py")).unwrap();
        sealed.write("runs/r/final/solution.py", b"raise RuntimeError\n");
        let predicted = sealed.run("predict r data/test.csv");
        assert_eq!(predicted.code, 0, "{predicted:?}");
        for ((id, value), (expected_id, expected)) in by_id(&predicted.stdout).iter().zip(&submitted) {
            assert!(id == expected_id && (value - expected).abs() < 1e-6, "{id}: {value} {expected}");
        }
    };
    check(true);
    check(false);
}

#[test]
fn a_model_that_is_not_kept_costs_no_submission() {
    let check = |solution: &str, with_model: &str, why: &str| {
        let sealed = task();
        let said = run(&sealed, solution, with_model);
        let result = result(&sealed);
        assert_eq!(result["model"]["kind"], "refit", "{}: {said}", result["model"]);
        let found = result["model"]["why"].as_str().unwrap();
        assert!(found.contains(why), "{found}");
        assert!(said.contains(why), "{said}");
        assert_eq!(result["not_run"], serde_json::Value::Null, "{said}");
        assert_eq!(sealed.read("runs/r/final/submission.csv").lines().count(), 101);
        assert!(
            !sealed.path("runs/r/final/predict.py").exists() && !sealed.path("runs/r/final/model").exists()
        );
        let predicted = sealed.run("predict r data/test.csv");
        assert_eq!((predicted.code, predicted.stdout.lines().count()), (0, 101), "{predicted:?}");
    };
    let keeps = |other: &str| SCRIPT.to_owned() + &KEEPS.replace("# ANSWERS", other);
    check(SCRIPT, SCRIPT, "the agent wrote no script that keeps its model");
    check(SCRIPT, &keeps("answers.pop()"), "wrote 89 rows that are not the 90 rows it was given");
    check(SCRIPT, &keeps("answers[0] = (rows[0][\"id\"], 0)"), "predicts 1 of 90 rows");
    let fails = SCRIPT.to_owned() + "\nopen(\"./nowhere/predict.py\")\n";
    check(SCRIPT, &fails, "the script that keeps its model failed: FileNotFoundError");
    // Its submission counts: it was written before.
    check(&without_submission(), &fails, "the script that keeps its model failed: FileNotFoundError");
}

/// A run with a kept model, the rows of its test table beside it.
fn kept() -> Sealed {
    let sealed = task();
    run(&sealed, SCRIPT, &(SCRIPT.to_owned() + KEEPS));
    fs::copy(sealed.path("data/test.csv"), sealed.path("new.csv")).unwrap();
    sealed
}

#[test]
fn the_page_shows_what_the_model_predicts_and_asks_it_for_a_row() {
    let sealed = kept();
    let found: Value = serde_json::from_str(&sealed.read("runs/r/holdout/dependence.json")).unwrap();
    let curve = |column: &str| {
        let curves = found["curves"].as_array().unwrap_or_else(|| panic!("{found}"));
        let curve = curves.iter().find(|curve| curve["column"] == column).unwrap();
        let means = curve["lines"][0]["means"].as_array().unwrap().iter().map(|mean| mean.as_f64().unwrap());
        (curve.clone(), means.collect::<Vec<f64>>())
    };
    // The model adds the size to 3.5 and to a number from 0 to 10 that depends on the ID alone.
    let (curve_of_size, means) = curve("size");
    let sizes = curve_of_size["at"].as_array().unwrap().iter().map(|at| at.as_f64().unwrap());
    let rest: Vec<f64> = means.iter().zip(sizes).map(|(mean, size)| mean - size).collect();
    assert_eq!(rest.len(), 20);
    assert!(rest.iter().all(|one| (one - 8.5).abs() < 0.1), "{rest:?}");
    let (towns, means) = curve("town");
    assert_eq!((&towns["values"], &towns["at"]), (&json!(["b", "a", "c"]), &Value::Null));
    assert!(means.iter().all(|mean| (mean - means[0]).abs() < 0.1), "{means:?}");

    let served = Served::of(&sealed, "");
    let page = served.get("/runs/r").body;
    for words in ["What it predicts on average", "action=\"/runs/r/try\"", "name=\"size\" value=\"50\""] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!sealed.read("runs/r/report.html").contains("<form"));
    let answer = served.post("/runs/r/try", "size=70&town=b&id=22");
    assert!(answer.status == 200 && answer.body.contains("<dd><bdi>73.5</bdi></dd>"), "{answer:?}");
    assert!(answer.body.contains("name=\"size\" value=\"70\""), "{answer:?}");
    // What is no number is said, and what is not told is typical.
    let answer = served.post("/runs/r/try", "size=large");
    assert!(answer.status == 409 && answer.body.contains("large"), "{answer:?}");
    let answer = served.post("/runs/r/try", "town=c");
    assert_eq!(answer.status, 200, "{answer:?}");
    fs::remove_file(sealed.path("runs/r/final/model.json")).unwrap();
    let answer = served.post("/runs/r/try", "size=70");
    let words = "this run kept no fitted model that could predict a row";
    assert!(answer.status == 409 && answer.body.contains(words), "{answer:?}");
}

#[test]
fn a_model_from_elsewhere_predicts_or_says_why_not() {
    let sealed = kept();
    let submitted = sealed.read("runs/r/final/submission.csv").replace('\r', "");
    let moved = |from: &str, to: &str| fs::rename(sealed.path(from), sealed.path(to)).unwrap();
    let check = |code: i32, words: &str| {
        let said = sealed.run("predict ./moved new.csv");
        assert!(said.code == code && said.stderr.contains(words), "{words}: {said:?}");
        assert!(said.stderr.lines().filter(|line| line.starts_with("error: ")).count() <= 1, "{said:?}");
        if code == 0 {
            assert_eq!(said.stdout, submitted);
        } else {
            assert!(said.stderr.contains("\nhint: ") && said.stdout.is_empty(), "{said:?}");
        }
    };
    // The folder of the run and its data are elsewhere.
    moved("runs/r", "moved");
    moved("data", "data-elsewhere");
    check(0, "");
    let record = sealed.read("moved/final/model.json");
    let replace = |text: &str| sealed.write("moved/final/model.json", text.as_bytes());
    replace(&record[..record.len() / 2]);
    check(2, "error: the file model.json of the fitted model cannot be read: ");
    // Another version of Python: the script fits again, if the data is there.
    let python =
        serde_json::from_str::<serde_json::Value>(&record).unwrap()["python"].as_str().unwrap().to_owned();
    replace(&record.replace(&format!("\"python\": \"{python}\""), "\"python\": \"3.9.1\""));
    let other = format!(
        "note: the fitted model is not used: it was made with Python 3.9.1, and this is {python}; the solution fits again"
    );
    check(1, &other);
    check(1, "error: the data of the run is no longer at ");
    moved("data-elsewhere", "data");
    check(0, &other);
    let mut by_hand = Command::new(sealed.path("bare/bin/python3"));
    let said =
        by_hand.args(["predict.py", "../../new.csv", "out.csv"]).current_dir(sealed.path("moved/final"));
    let said = said.output().unwrap();
    let words = "error: the model was made with Python 3.9, and this is ";
    assert!(
        said.status.code() == Some(2) && String::from_utf8_lossy(&said.stderr).starts_with(words),
        "{said:?}"
    );
    replace(&record);
    moved("moved/final/model", "model-elsewhere");
    check(2, "of the fitted model is missing");
    moved("model-elsewhere", "moved/final/model");
    // A machine without the interpreter of the run.
    moved("bare", "bare-elsewhere");
    check(2, "bare/bin/python3");
    moved("bare-elsewhere", "bare");
    check(0, "");
}

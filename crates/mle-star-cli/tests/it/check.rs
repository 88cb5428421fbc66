//! `check`: leaks in scripts and notebooks. `INSTA_UPDATE=always cargo test -p mle-star-cli check` accepts a change of
//! what people see.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use mle_star_leakage::Rule;
use nix::pty::{Winsize, openpty};
use serde_json::{Value, json};

use crate::sealed::{Said, Sealed};

/// A target mean and a scaler before the split.
const BEFORE: &str = r#"import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

train = pd.read_csv("input/train.csv")
train["town_price"] = train.groupby("town")["price"].transform("mean")
x, y = train[["size", "town_price"]], train["price"]
x = StandardScaler().fit_transform(x)
x_fit, x_val, y_fit, y_val = train_test_split(x, y, random_state=0)
model = RandomForestRegressor().fit(x_fit, y_fit)
score = mean_squared_error(y_val, model.predict(x_val)) ** 0.5
print(f"Final Validation Performance: {score}")
"#;

/// The same without leaks.
const AFTER: &str = r#"import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

train = pd.read_csv("input/train.csv")
fit, val = train_test_split(train, random_state=0)
model = RandomForestRegressor().fit(fit[["size"]], fit["price"])
score = mean_squared_error(val["price"], model.predict(val[["size"]])) ** 0.5
print(f"Final Validation Performance: {score}")
"#;

/// Scores training rows, in statements of several lines and in long lines.
const LONG: &str = "import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error

train = pd.read_csv('input/train.csv')
def main():
\ty = train['価格']; x = train[['広さ']]; model = RandomForestRegressor(n_estimators=200, min_samples_leaf=3, random_state=42)
\tmodel.fit(x, y)
\tfirst = mean_squared_error(
\t\ty,
\t\tmodel.predict(x),
\t)
\ttitle = 'a rather long text, so that the line does not fit\u{1b}[31m'; second = mean_squared_error(train['価格'], model.fit(x, y).predict(x)); title += ' and more'
\tprint(f'Final Validation Performance: {first + second}')
main()
";

const WARNED: &str = r#"import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

train = pd.read_csv("input/train.csv")
fit, val = train_test_split(train, random_state=0)
model = Ridge().fit(fit[["id", "size"]], fit["price"])
score = mean_squared_error(val["price"], model.predict(val[["id", "size"]])) ** 0.5
print(f"Final Validation Performance: {score}")
"#;

const CONSTANT: &str = "print('Final Validation Performance: 0.91')\n";

/// The script in cells, after a cell of text. A magic command comes first.
fn notebook(script: &str) -> String {
    let cell = |kind: &str, source: Vec<&str>| json!({"cell_type": kind, "source": source, "metadata": {}});
    let lines: Vec<&str> = script.split_inclusive('\n').collect();
    let (imports, rest) = lines.split_at(6.min(lines.len()));
    let first = [&["%matplotlib inline\n"], imports].concat();
    let cells = [cell("markdown", vec!["# Houses"]), cell("code", first), cell("code", rest.to_vec())];
    json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string()
}

/// The notebook with a last cell that was left there by mistake.
fn with_broken_cell(notebook: &str) -> String {
    let mut document: Value = serde_json::from_str(notebook).unwrap();
    let cells = document["cells"].as_array_mut().unwrap();
    cells.push(json!({"cell_type": "code", "source": "model = Ridge("}));
    document.to_string()
}

fn world() -> Sealed {
    Sealed::with(&[
        ("before.py", BEFORE),
        ("after.py", AFTER),
        ("long.py", LONG),
        ("warned.py", WARNED),
        ("broken.py", "x = (\n"),
        ("old.py", "print 'hello'\n"),
        ("notes.ipynb", "{}"),
        ("half.ipynb", &with_broken_cell(&notebook(BEFORE))),
        ("rest.ipynb", &with_broken_cell(&notebook(AFTER))),
        ("all.ipynb", &notebook("x = (\n")),
        ("empty/readme.txt", ""),
        ("project/b/houses.ipynb", &notebook(BEFORE)),
        ("project/a.py", AFTER),
        ("project/.venv/bad.py", CONSTANT),
        ("project/env/pyvenv.cfg", ""),
        ("project/env/bad.py", CONSTANT),
        ("project/__pycache__/bad.py", CONSTANT),
        ("project/node_modules/bad.py", CONSTANT),
        ("project/.git/HEAD", ""),
        ("project/.gitignore", "built/\n"),
        ("project/built/bad.py", CONSTANT),
        ("project/b/.ipynb_checkpoints/houses.ipynb", &notebook(BEFORE)),
    ])
}

#[test]
fn people_see_lines_reasons_and_what_is_right() {
    let sealed = world();
    let mut text = String::new();
    let commands = [
        "check before.py",
        "check after.py",
        "check long.py",
        "check warned.py",
        "check warned.py --id-column id --target price",
        "check project before.py project/a.py",
        "check before.py --data data",
        "check after.py no-such.py broken.py old.py notes.ipynb empty",
        "check broken.py",
        "check half.ipynb rest.ipynb all.ipynb",
    ];
    for command in commands {
        let said = sealed.run(command);
        assert!(!said.stdout.contains('\u{1b}'), "{said:?}");
        let Said { code, stdout, stderr } = said;
        writeln!(text, "$ mle-star {command}\n{stderr}{stdout}[exit code {code}]\n").unwrap();
    }
    insta::assert_snapshot!("check", text);
    assert_eq!(sealed.run("check warned.py --id-column id --target price --strict").code, 1);
}

#[test]
fn exit_codes_tell_leaks_from_files_that_cannot_be_checked() {
    let sealed = world();
    let check = |names: &str, expected: i32| {
        for format in ["", "--json", "--sarif"] {
            let said = sealed.run(&format!("check {names} {format}"));
            assert_eq!(said.code, expected, "{names} {format}: {said:?}");
        }
    };
    check("after.py", 0);
    check("warned.py --id-column id", 0);
    check("before.py", 1);
    check("before.py broken.py", 1);
    check("half.ipynb", 1);
    check("rest.ipynb", 0);
    check("all.ipynb", 2);
    check("after.py broken.py", 2);
    check("after.py no-such.py", 2);
    check("empty", 2);
    check("after.py --data no-such", 2);
    check("after.py --data data --target no-such", 2);
    check("", 2);
    assert_eq!(sealed.run("check after.py --json --sarif").code, 2);
}

#[test]
fn json_has_all_files_in_order() {
    let sealed = world();
    let said = sealed.run("check project broken.py before.py warned.py rest.ipynb --json --id-column id");
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&found["version"], &found["blocked"], &found["warnings"]), (&json!(1), &json!(2), &json!(3)));
    let files = found["files"].as_array().unwrap();
    let paths: Vec<&str> = files.iter().filter_map(|file| file["path"].as_str()).collect();
    let expected =
        ["project/a.py", "project/b/houses.ipynb", "broken.py", "before.py", "warned.py", "rest.ipynb"];
    assert_eq!(paths, expected);
    assert_eq!(files[0], json!({"path": "project/a.py", "findings": []}));
    let in_cell = &files[1]["findings"][0];
    assert!(in_cell["text"].as_str().unwrap().contains("line 2 of cell 3"), "{in_cell}");
    assert_eq!((&in_cell["cell"], &in_cell["line"], &in_cell["end_line"]), (&json!(3), &json!(2), &json!(2)));
    assert!(files[2]["error"].as_str().unwrap().contains("syntax error in line 2"), "{}", files[2]);
    let first = &files[3]["findings"][0];
    let expected = json!({
        "rule": "target-statistics", "severity": "block", "line": 8, "column": 23, "end_line": 8, "end_column": 71,
        "text": first["text"], "instead": first["instead"],
    });
    assert_eq!(first, &expected);
    assert_eq!(files[4]["findings"][0]["rule"], "id-as-feature");
    let left_out =
        json!([{"cell": 4, "error": "syntax error in line 1, column 15: unexpected EOF while parsing"}]);
    assert_eq!(files[5], json!({"path": "rest.ipynb", "findings": [], "left_out": left_out}));
    assert_eq!(said.stderr, "");
}

#[test]
fn the_data_gives_facts() {
    let later = |first: usize, last: usize, head: &str, label: fn(usize) -> String| {
        (first..last).fold(format!("{head}\n"), |text, row| {
            format!("{text}{row},{},{}{}\n", row * 7 % 13, 1990 + row / 10, label(row))
        })
    };
    let twice: fn(usize) -> String = |row| format!(",{},{}", row * 31 % 97, 2 * (row * 31 % 97));
    let script = AFTER.replace("[[\"size\"]]", "[[\"id\", \"size\"]]");
    let sealed = Sealed::with(&[
        ("times/train.csv", &later(0, 200, "id,size,year,price,tax", twice)),
        ("times/test.csv", &later(200, 260, "id,size,year", |_| String::new())),
        ("script.py", &script),
    ]);
    let said = sealed.run("check script.py --data times --json --target price");
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    let data = &found["data"];
    assert_eq!((&data["targets"], &data["id"]), (&json!(["price"]), &json!("id")), "{said:?}");
    assert_eq!(
        (&data["split"]["kind"], &data["split"]["column"]),
        (&json!("time"), &json!("year")),
        "{data}"
    );
    assert_eq!((&data["only_in_training"], &data["knows_target"]), (&json!(["tax"]), &json!(["tax"])));
    let rules: Vec<&Value> =
        found["files"][0]["findings"].as_array().unwrap().iter().map(|found| &found["rule"]).collect();
    assert_eq!(rules, ["rows-in-folds-of-groups", "id-as-feature"], "{said:?}");
    let said = sealed.run("check script.py --data times --target price");
    for line in
        ["target: `price` (as given)", "ID: `id`", "split: later rows by `year`", "know the target: `tax`"]
    {
        assert!(said.stderr.contains(line), "{line}: {said:?}");
    }
}

#[test]
fn standard_input_is_a_script_or_a_notebook() {
    let sealed = world();
    let check = |text: &[u8], expected: &str, code: i32| {
        let mut command = sealed.command("check -");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains(expected) && output.status.code() == Some(code), "{expected}: {said}");
    };
    check(AFTER.as_bytes(), "no leaks in 1 file\n", 0);
    check(BEFORE.as_bytes(), "--> <stdin>:8:23\n", 1);
    check(BEFORE.replace('\n', "\r\n").as_bytes(), "--> <stdin>:8:23\n", 1);
    check(notebook(BEFORE).as_bytes(), "--> <stdin>, cell 3, line 2\n", 1);
    check(b"{1: 'not a notebook'}\n", "no score found in <stdin>: nothing to check there\n", 0);
    check(b"", "no score found in <stdin>: nothing to check there\n", 0);
    check(b"gr\xf6\xdfe = '\xff'", "no score found in <stdin>: nothing to check there\n", 0);
    check(b"# coding: latin-1\nx = '\xff'", "no score found in <stdin>: nothing to check there\n", 0);
    check(format!("\u{feff}{BEFORE}").as_bytes(), "--> <stdin>:8:23\n", 1);
}

/// What the schema of SARIF 2.1.0 and code scanning require of the parts that are used.
#[test]
fn sarif_is_complete() {
    let sealed = world();
    sealed.write("a folder/100% é.py", BEFORE.as_bytes());
    let mut command = sealed.command("check project broken.py before.py --sarif");
    let output =
        command.args(["a folder", sealed.path("warned.py").to_str().unwrap(), "--id-column", "id"]).output();
    let log: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let [run] = log["runs"].as_array().unwrap().as_slice() else { panic!("{log}") };
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let root = run["originalUriBaseIds"]["SRCROOT"]["uri"].as_str().unwrap();
    assert!(root.starts_with("file:///") && root.ends_with('/'), "{root}");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["help"]["text"].is_string()), "{log}");
    let results = run["results"].as_array().unwrap();
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(is_level(&result["level"]) && result["message"]["text"].is_string(), "{result}");
        is_location(&result["locations"][0]);
    }
    let uris: Vec<&str> = results
        .iter()
        .filter_map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str())
        .collect();
    let expected = ["project/b/houses.ipynb", "before.py", "a%20folder/100%25%20%C3%A9.py", "warned.py"];
    assert!(expected.iter().all(|uri| uris.contains(uri)), "{uris:?}");
    let [invocation] = run["invocations"].as_array().unwrap().as_slice() else { panic!("{run}") };
    assert_eq!(invocation["executionSuccessful"], false);
    let [note] = invocation["toolExecutionNotifications"].as_array().unwrap().as_slice() else {
        panic!("{run}")
    };
    assert!(
        note["message"]["text"].as_str().unwrap().starts_with("Cannot check broken.py: syntax error"),
        "{note}"
    );
    let log: Value = serde_json::from_str(&sealed.run("check rest.ipynb --sarif").stdout).unwrap();
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], true);
    let note = &invocation["toolExecutionNotifications"][0];
    assert_eq!(note["level"], "warning");
    assert!(note["message"]["text"].as_str().unwrap().starts_with("Cell 4 is left out: syntax"), "{note}");
}

fn is_level(level: &Value) -> bool {
    level == "error" || level == "warning"
}

fn is_location(location: &Value) {
    let place = &location["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    assert_eq!(place["artifactLocation"]["uriBaseId"], "SRCROOT", "{location}");
    assert!(uri.is_ascii() && !uri.contains([' ', ':']) && !uri.starts_with('/'), "{uri}");
    if uri.ends_with(".ipynb") {
        assert_eq!(location["logicalLocations"][0]["name"], "cell 3", "{location}");
        return;
    }
    let number = |name: &str| place["region"][name].as_u64().unwrap();
    let (start, end) = (number("startLine"), number("endLine"));
    assert!(start >= 1 && end >= start && number("startColumn") >= 1, "{location}");
    assert!(end > start || number("endColumn") > number("startColumn"), "{location}");
}

#[test]
fn the_document_lists_all_rules() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check.md");
    let text = std::fs::read_to_string(path).unwrap();
    let severity = |rule: Rule| if rule.blocks() { "leak" } else { "warning" };
    let row = |rule: Rule| format!("| `{rule}` | {} | {} |", severity(rule), rule.description());
    let rows: Vec<&str> =
        text.lines().filter(|line| line.starts_with("| `") && line.ends_with(". |")).collect();
    assert_eq!(rows, Rule::ALL.map(row));
}

/// The page of the rules is what `--explain` prints.
#[test]
fn every_rule_is_explained() {
    let sealed = Sealed::with(&[]);
    let mut page = "# Rules of `check`\n\nWhat [`mle-star check`](check.md) finds, and what is right instead. `mle-star check --explain RULE` prints\nthe same.\n".to_owned();
    for rule in Rule::ALL {
        let said = sealed.run(&format!("check --explain {rule}"));
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{rule}");
        assert!(said.stdout.starts_with(&format!("# {rule} (")), "{}", said.stdout);
        let inner = said.stdout.replace("\n## ", "\n### ");
        write!(page, "\n#{inner}").unwrap();
    }
    mle_star_needs::assert_file(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md").as_ref(), &page);
    let unknown = sealed.run("check --explain leak");
    assert!(
        unknown.code == 2 && unknown.stderr.contains("possible values: target-statistics"),
        "{unknown:?}"
    );
    assert_eq!(sealed.run("check --explain same-rows before.py").code, 2);
}

#[test]
fn comments_and_baselines_hide_findings() {
    let allowed = CONSTANT.replace("\n", "  # mle-star: allow constant-score: a placeholder\n");
    let sealed =
        Sealed::with(&[("a/before.py", BEFORE), ("a/allowed.py", &allowed), ("a/known.py", CONSTANT)]);
    let check = |line: &str, code: i32, words: &[&str]| {
        let said = sealed.run(line);
        assert_eq!(said.code, code, "{line}: {said:?}");
        let all = format!("{}{}", said.stdout, said.stderr);
        words.iter().for_each(|word| assert!(all.contains(word), "{line}: {word}: {all}"));
    };
    check("check a/allowed.py", 0, &["no leaks in 1 file (1 allowed)"]);
    check("check a/allowed.py --json", 0, &["\"reason\": \"a placeholder\"", "\"blocked\": 0"]);
    check("check a --baseline b.json", 2, &["b.json is no baseline: ", "make it with --write-baseline"]);
    check("check a --write-baseline b.json", 0, &["3 findings written to b.json"]);
    check("check a --baseline b.json", 0, &["no leaks in 3 files (3 known, 1 allowed)"]);
    check("check a --baseline b.json --json", 0, &["\"known\": 3"]);
    // Lines may move; what is there twice is new.
    let moved = |name: &str, script: &str| std::fs::write(sealed.path(name), script).unwrap();
    moved("a/before.py", &format!("# A comment.\n\n{BEFORE}"));
    check("check a --baseline b.json", 0, &["3 known"]);
    moved("a/known.py", &format!("{CONSTANT}{CONSTANT}"));
    check("check a --baseline b.json", 1, &["1 leak in 3 files (3 known, 1 allowed)", "known.py:2:1"]);
    moved("a/known.py", "");
    check("check a --baseline b.json", 0, &["2 known", "1 finding of the baseline no longer found"]);
    // It holds from any folder, with paths of any form.
    let folder = sealed.path("a").display().to_string();
    check(&format!("check {folder} --baseline ./b.json"), 0, &["2 known"]);
    check(&format!("check {folder}/../a --baseline a/../b.json"), 0, &["2 known"]);
    moved("b.json", "{}");
    check("check a --baseline b.json", 2, &["b.json is no baseline", "make it with"]);
    check("check a --baseline b.json --write-baseline b.json", 2, &["cannot be used with"]);
}

/// Fits all rows, and predicts.
const WITHOUT_SCORE: &str = "import pandas as pd
from sklearn.linear_model import Ridge

train, test = pd.read_csv('input/train.csv'), pd.read_csv('input/test.csv')
test['price'] = Ridge().fit(train[['size']], train['price']).predict(test[['size']])
test[['id', 'price']].to_csv('submission.csv', index=False)
";

#[test]
fn a_script_without_a_score_is_said_to_have_none() {
    let sealed = Sealed::with(&[
        ("before.py", BEFORE),
        ("after.py", AFTER),
        ("a.py", WITHOUT_SCORE),
        ("more/b.ipynb", &notebook(WITHOUT_SCORE)),
        ("more/c.py", WITHOUT_SCORE),
        ("more/d.py", WITHOUT_SCORE),
        // The checker does not follow this score, but there is one.
        ("unfollowed.py", "from library import rate\nprint('Accuracy:', rate())\n"),
        ("allowed.py", "# mle-star: allow\nx = 1\n"),
    ]);
    let check = |names: &str, expected: &str, code: i32| {
        let said = sealed.run(&format!("check {names}"));
        assert!(said.stdout.ends_with(expected) && said.code == code, "{names}: {said:?}");
    };
    check("a.py", "no score found in a.py: nothing to check there\n", 0);
    check("a.py --strict", "no score found in a.py: nothing to check there\n", 0);
    check("a.py after.py", "no leaks in 2 files\nno score found in a.py: nothing to check there\n", 0);
    check("a.py before.py", " in 2 files\nno score found in a.py: nothing to check there\n", 1);
    check("a.py more", "found in a.py, more/b.ipynb, more/c.py and 1 more: nothing to check there\n", 0);
    check("unfollowed.py", "no leaks in 1 file\n", 0);
    check("allowed.py", "1 warning in 1 file\n", 0);
    let found: Value = serde_json::from_str(&sealed.run("check a.py after.py --json").stdout).unwrap();
    let without: Vec<&Value> =
        found["files"].as_array().unwrap().iter().map(|file| &file["without_score"]).collect();
    assert_eq!(without, [&json!(true), &Value::Null]);
    let log: Value = serde_json::from_str(&sealed.run("check a.py after.py --sarif").stdout).unwrap();
    let notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!((notes.len(), &notes[0]["level"]), (1, &json!("note")), "{log}");
}

/// Scales by hand, and fits and stops by rows that are scored.
const TWICE: &str = r#"import pandas as pd
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from xgboost import XGBRegressor

train = pd.read_csv("input/train.csv")
train["size"] = (train["size"] - train["size"].mean()) / train["size"].std()
fit, val = train_test_split(train, random_state=0)
model = XGBRegressor(early_stopping_rounds=9)
model.fit(train[["size"]], train["price"], eval_set=[(val[["size"]], val["price"])])
score = mean_squared_error(val["price"], model.predict(val[["size"]])) ** 0.5
print(f"Final Validation Performance: {score}")
"#;

/// Prints several scores of the rows of a fit.
const SEVERAL: &str = "import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score

train = pd.read_csv('input/train.csv')
model = LogisticRegression().fit(train[['size']], train['sold'])
sold = model.predict(train[['size']])
print('validation accuracy', accuracy_score(train['sold'], sold))
print('validation F1', f1_score(train['sold'], sold))
";

#[test]
fn one_cause_is_one_report() {
    let sealed = Sealed::with(&[("twice.py", TWICE), ("several.py", SEVERAL)]);
    let check = |arguments: &str, expected: &[&str]| {
        let said = sealed.run(&format!("check {arguments} --json"));
        let found: Value = serde_json::from_str(&said.stdout).unwrap();
        let findings = found["files"][0]["findings"].as_array().unwrap();
        let told = |one: &Value| format!("{} {}", one["line"], one["rule"].as_str().unwrap());
        assert_eq!(findings.iter().map(told).collect::<Vec<_>>(), expected, "{arguments}");
    };
    check("several.py", &["8 scored-on-training-rows"]);
    check("twice.py", &["7 unsupervised-before-split", "10 scored-on-training-rows"]);
    // What the strongest one hides is told without it.
    let expected = ["7 unsupervised-before-split", "10 stopped-on-scored-rows"];
    check("twice.py --ignore scored-on-training-rows", &expected);
}

#[test]
fn a_project_sets_what_is_looked_for() {
    let sealed = Sealed::with(&[
        ("before.py", BEFORE),
        ("part/before.py", BEFORE),
        ("part/deep/before.py", BEFORE),
        ("both/train.csv", "id,size,town,price,cost\n1,10,a,1.5,3\n2,20,b,2.5,4\n3,30,a,3.5,6\n"),
        ("both/test.csv", "id,size,town\n4,15,a\n"),
        ("part/deep/pyproject.toml", "[project]\nname = 'deep'\n"),
    ]);
    let check = |table: &str, line: &str, code: i32, words: &[&str]| {
        sealed.write("pyproject.toml", format!("[tool.mle-star]\n{table}\n").as_bytes());
        let said = sealed.run(&format!("check {line}"));
        let all = format!("{}{}", said.stderr, said.stdout);
        assert_eq!(said.code, code, "{table}: {line}: {all}");
        words.iter().for_each(|word| assert!(all.contains(word), "{table}: {line}: {word}: {all}"));
    };
    check("", "before.py", 1, &["1 leak, 1 warning in 1 file"]);
    let ignore = "ignore = ['target-statistics', 'same-rows']";
    check(ignore, "before.py", 0, &["\n1 warning in 1 file"]);
    check(ignore, "before.py --strict", 1, &["\n1 warning in 1 file"]);
    check(&format!("{ignore}\nstrict = true"), "before.py", 1, &["\n1 warning in 1 file"]);
    check(ignore, "before.py --ignore unsupervised-before-split,same-rows", 1, &["\n1 leak in 1 file"]);
    let select = "select = 'unsupervised-before-split'";
    check(select, "before.py", 0, &["\n1 warning in 1 file"]);
    check(select, "before.py --select same-rows,constant-score", 0, &["no leaks in 1 file"]);
    check(select, "- --explain same-rows", 2, &["cannot be used with"]);
    check("target = 'size'", "before.py --data data", 0, &["target: `size` (as given)"]);
    let both = "target = ['price', 'cost']";
    check(both, "before.py --data both", 1, &["target: `price`, `cost` (as given)"]);
    check("target = 'size'", "before.py --data data -t price", 1, &["target: `price` (as given)"]);
    // The nearest table counts, wherever the command is run.
    sealed.write("part/pyproject.toml", b"tool.mle-star.select = ['same-rows']\n");
    check(ignore, "part/before.py", 0, &["no leaks in 1 file"]);
    check(ignore, "part/deep", 0, &["no leaks in 1 file"]);
    check(ignore, "part before.py", 0, &["\n3 warnings in 3 files"]);
    let mistakes = [
        ("taget = 'x'", "pyproject.toml:2:1: [tool.mle-star] has no key `taget`", "did you mean target?"),
        (
            "ignore = ['same-row']",
            "pyproject.toml:2:1: there is no rule `same-row`",
            "did you mean same-rows?",
        ),
        ("strict = 'yes'", "pyproject.toml:2:1: strict must be true or false", "change the value"),
        ("target = [1]", "pyproject.toml:2:1: target must be a text or a list of texts", "change the value"),
        ("target = ", "pyproject.toml:2:10: ", "it must be TOML"),
    ];
    for (table, message, hint) in mistakes {
        check(table, "before.py", 2, &[message, hint]);
    }
}

/// The hooks of pre-commit start the program with arguments that it knows.
#[test]
fn hooks_run_check() {
    let sealed = world();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.pre-commit-hooks.yaml");
    let hooks: Value = serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let codes = hooks.as_array().unwrap().iter().map(|hook| {
        let entry = hook["entry"].as_str().unwrap().strip_prefix("mle-star ").unwrap();
        let args = hook["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let args = args.collect::<Vec<_>>().join(" ");
        let code = sealed.run(&format!("{entry} {args} warned.py after.py --id-column id")).code;
        (hook["id"].as_str().unwrap().to_owned(), code)
    });
    let expected = [("mle-star-check", 0), ("mle-star-check-strict", 1)];
    assert_eq!(codes.collect::<Vec<_>>(), expected.map(|(id, code)| (id.to_owned(), code)));
}

#[test]
fn the_pages_show_a_picture_of_what_check_prints() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let printed = on_terminal(&Sealed::with(&[("train.py", BEFORE)]), "check train.py");
    assert!(printed.contains("\u{1b}[") && printed.contains("1 leak"), "{printed}");
    let text = format!("$ mle-star check train.py\n{printed}");
    let picture = anstyle_svg::Term::new().palette(anstyle_svg::WIN10_CONSOLE).render_svg(text.trim_end());
    mle_star_needs::assert_file(format!("{docs}/check.svg").as_ref(), &picture);
    for (page, link) in [("check.md", "](check.svg)"), ("../README.md", "](docs/check.svg)")] {
        assert!(std::fs::read_to_string(format!("{docs}/{page}")).unwrap().contains(link), "{page}");
    }
}

/// What a command prints on a terminal of 100 columns with colours.
pub fn on_terminal(sealed: &Sealed, line: &str) -> String {
    let size = Winsize { ws_row: 50, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    let mut command = sealed.command(line);
    command.env("TERM", "xterm").stdout(pty.slave);
    let mut child = command.spawn().unwrap();
    // The command holds the terminal open too.
    drop(command);
    let mut bytes = Vec::new();
    // A closed terminal gives a read error.
    let _ = File::from(pty.master).read_to_end(&mut bytes);
    child.wait().unwrap();
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}

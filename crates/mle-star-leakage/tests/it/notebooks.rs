//! Notebooks, as people keep them.

use mle_star_leakage::notebook::{Notebook, Position, read};
use mle_star_leakage::{Facts, Finding, Rule, Unreadable, check};
use serde_json::{Value, json};

const LOAD: &str = "import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
rents = pd.read_csv(\"rents.csv\")";
const LEAK: &str = r#"rents["usual"] = rents.groupby("street")["rent"].transform("mean")"#;
const REST: &str = r#"fit, valid = train_test_split(rents, random_state=4)
model = Ridge().fit(fit[["rooms", "usual"]], fit["rent"])"#;
const SCORE: &str = r#"print(mean_absolute_error(valid["rent"], model.predict(valid[["rooms", "usual"]])))"#;

/// Cells that change nothing for the others.
const OTHER: [&str; 32] = [
    "%%writefile tools.py\ndef half(x):\n    return x / 2",
    "%%html\n<style>\n  td { text-align: left }\n</style>",
    "%%sql\nselect street, rent\n  from rents\n where rooms > 2",
    "%%bash\nfor year in 2021 2022; do\n  head -n 2 rents-$year.csv\ndone",
    "\n%%capture\n%%sh\necho \"",
    "%md\n# Rents of flats\nin three towns",
    "!pip install -q \\\n    lightgbm \\\n    catboost",
    "!echo \"(",
    "files = !ls \\",
    "odd = [\n    flat\n    % 2\n    for flat in range(9)\n]\ntext = \"\"\"\n!important\n%time is money\n\"\"\"",
    "pip install -q lightgbm",
    "cd ../data",
    "ls -la",
    "pwd",
    "# what is there\nls *.csv",
    "if True:\n    !cat 'rents.csv'\n    %cd data",
    "rows = %sql select * from rents\nlines = !wc -l rents.csv | sort -n",
    "%matplotlib inline\n%load_ext autoreload\n%autoreload 2",
    "rents?",
    "?rents",
    "rents.groupby??",
    "*.read*?",
    "is it this?",
    "%timeit?",
    "%time",
    "%time !ls (",
    "%timeit -n 3 - (",
    "%time x = = 3",
    "\u{feff}%cd",
    "raise SystemExit('the rest is run by hand')",
    "ls = [1, 2]\ncd = 3\ncd - 1\npip = cd",
    "",
];

fn notebook(cells: &[&str]) -> Notebook {
    let cell = |source: &&str| json!({"cell_type": "code", "source": source});
    read(&json!({"cells": cells.iter().map(cell).collect::<Vec<Value>>()}).to_string()).unwrap()
}

fn found(notebook: &Notebook) -> Vec<Finding> {
    check(&notebook.source, &Facts::default()).unwrap()
}

/// The leak is found in its cell and line, and is not there once its cell is dropped.
fn leaks(cells: &[&str], cell: u32, line: u32) {
    let read = notebook(cells);
    let findings = found(&read);
    assert_eq!(findings.len(), 1, "{cells:?}: {findings:?}");
    assert_eq!(findings[0].rule, Rule::TargetStatistics, "{cells:?}");
    assert_eq!(read.position(findings[0].line), Some(Position { cell, line }), "{cells:?}");
    assert_eq!(read.left_out, [], "{cells:?}");
    let clean: Vec<String> =
        cells.iter().map(|cell| cell.replace("\"rooms\", \"usual\"", "\"rooms\"")).collect();
    let clean: Vec<&str> = clean.iter().map(String::as_str).collect();
    assert_eq!(found(&notebook(&clean)), [], "{cells:?}");
}

#[test]
fn cells_that_are_no_statements_change_nothing_for_the_others() {
    for other in OTHER {
        leaks(&[other, LOAD, LEAK, REST, SCORE], 3, 1);
        leaks(&[LOAD, other, LEAK, REST, SCORE], 3, 1);
    }
}

#[test]
fn comments_and_operators_are_no_magic() {
    let asked = format!("{LEAK}   # may we use the rent here?");
    leaks(&[LOAD, &asked, REST, SCORE], 2, 1);
    let repeated = r#"for seed in (1, 2):  # more of them?
    fit, valid = train_test_split(rents, random_state=seed)
model = Ridge().fit(fit[["rooms", "usual"]], fit["rent"])"#;
    leaks(&[LOAD, LEAK, repeated, SCORE], 2, 1);
    let printed = r#"print("off by %.1f in %d flats"
      % (mean_absolute_error(valid["rent"], model.predict(valid[["rooms", "usual"]])), len(valid)))"#;
    leaks(&[LOAD, LEAK, REST, printed], 2, 1);
}

#[test]
fn statements_that_are_timed_or_watched_are_checked() {
    for before in [
        "%time ",
        "%%time\n",
        "%%memit\n",
        "%%timeit -n1 -r1\n",
        "%%capture out\n",
        "\n%%capture\n%%time\n",
        "%%prun -l 5\n",
        "%%debug\n",
        "%%unheard\n",
        "%%unheard of\n%time ",
        "%prun -s cumulative ",
        "%memit -r 1 ",
        "%timeit -n1 -r1 -o ",
        "%lprun -f pd.read_csv -f Ridge.fit ",
        "%time \\\n",
        "time ",
        "%time seen = ",
        "seen = ",
        ">>> ",
        "# next\n>>> if True:\n...     pass\n...\n>>> ",
        "  ",
        "%debug ",
    ] {
        let line = u32::try_from(before.matches('\n').count()).unwrap() + 1;
        leaks(&[LOAD, &format!("{before}{LEAK}"), REST, SCORE], 2, line);
    }
    let [split, fit] = REST.lines().collect::<Vec<_>>()[..] else { panic!() };
    for rest in [
        format!("{split}\n%time {fit}"),
        format!("{split}\nif True:\n\t%time {fit}\nelse:\n\tpass"),
        format!("{split}\n%time for _ in range(3): {fit}"),
        format!("{split}\nmodel = %time {}", fit.trim_start_matches("model = ")),
        format!("%%debug\n{REST}"),
        format!("  {split}\n  {fit}"),
    ] {
        leaks(&[LOAD, LEAK, &rest, SCORE], 2, 1);
    }
    leaks(&[LOAD, LEAK, REST, &format!("%timeit -n1 -r1 {SCORE}")], 2, 1);
}

#[test]
fn watched_statements_keep_their_place() {
    let cell = format!("if True:\n    %time {LEAK}  # may we?");
    let findings = found(&notebook(&[LOAD, &cell, REST, SCORE]));
    let place = |finding: &Finding| (finding.line, finding.column, finding.end_line, finding.end_column);
    assert_eq!(place(&findings[0]), (7, 28, 7, 77));
}

#[test]
fn only_cells_that_cannot_be_parsed_are_left_out() {
    let broken = "model = Ridge(";
    assert_eq!(
        notebook(&[LOAD, "print(\"is it this?", "%%time\nx = 'why?", "history = fit("]).left_out.len(),
        3
    );
    let read = notebook(&[LOAD, LEAK, "%%time\nprint 'fit'", REST, SCORE, broken]);
    let cells: Vec<u32> = read.left_out.iter().map(|(cell, _)| *cell).collect();
    assert_eq!(cells, [3, 6]);
    assert_eq!(read.left_out[0].1, Unreadable::Python2 { line: 2, column: 7 });
    let findings = found(&read);
    assert_eq!(read.position(findings[0].line), Some(Position { cell: 2, line: 1 }));
    assert_eq!(found(&notebook(&[LOAD, REST, SCORE, broken])), []);
}

#[test]
fn positions_count_all_cells() {
    let notebook = json!({"cells": [
        {"cell_type": "markdown", "source": ["# Title\n"]},
        {"cell_type": "code", "source": ["%matplotlib inline\r\n", "import pandas as pd\n", "!pip install x"]},
        {"cell_type": "code", "source": "%%bash\necho \"\n"},
        {"cell_type": "code", "source": "a = 1;", "metadata": {"vscode": {"languageId": "javascript"}}},
        {"cell_type": "code", "source": "print(\"Final Validation Performance: 0.9\")"},
    ]});
    let notebook = read(&notebook.to_string()).unwrap();
    let findings = found(&notebook);
    assert_eq!(findings[0].rule, Rule::ConstantScore);
    assert_eq!(notebook.position(findings[0].line), Some(Position { cell: 5, line: 1 }));
    assert_eq!(notebook.position(0), None);
    assert_eq!(notebook.position(5), None);
    let worksheet = json!({"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n"]}]}]});
    assert_eq!(read(&worksheet.to_string()).unwrap().source, "x = 1\n");
}

#[test]
fn what_has_no_cell_of_python_is_refused() {
    let refused = |text: &str, why: &str| {
        let error = read(text).unwrap_err();
        assert!(matches!(error, Unreadable::Notebook { .. }), "{text}");
        assert!(error.to_string().contains(why), "{error}");
    };
    refused("", "EOF");
    refused("{", "EOF");
    refused("[]", "no list of cells");
    refused("{\"cells\": 1}", "no list of cells");
    let code = |source: &str, language: &str| {
        let cells = json!([{"cell_type": "code", "source": source}, {"cell_type": "code", "source": ""}]);
        json!({"cells": cells, "metadata": {"language_info": {"name": language}}}).to_string()
    };
    refused(&code("x = (", "python"), "in cell 1, syntax error");
    refused(&code("%%bash\nls", "ipython"), "no cell is in Python");
    refused(&code("x = 1", "R"), "its language is R");
    assert_eq!(read(&code("", "python")).unwrap(), Notebook::default());
}

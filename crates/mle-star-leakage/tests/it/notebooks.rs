//! Notebooks.

use mle_star_leakage::notebook::{Position, read};
use mle_star_leakage::{Facts, Rule, Unreadable, check};
use serde_json::json;

#[test]
fn cells_are_joined() {
    let notebook = json!({"cells": [
        {"cell_type": "markdown", "source": ["# Title\n"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import pandas as pd\n", "!pip install x"]},
        {"cell_type": "code", "source": "files = !ls\nif True:\n    %time x = 1\n"},
        {"cell_type": "code", "source": "%%bash\necho \"\n"},
        {"cell_type": "code", "source": "print(\"Final Validation Performance: 0.9\")"},
    ]});
    let notebook = read(&notebook.to_string()).unwrap();
    assert_eq!(notebook.source.lines().count(), 9);
    let findings = check(&notebook.source, &Facts::default()).unwrap();
    assert_eq!(findings[0].rule, Rule::ConstantScore);
    assert_eq!(notebook.position(findings[0].line), Some(Position { cell: 5, line: 1 }));
    assert_eq!(notebook.position(0), None);
    assert_eq!(notebook.position(10), None);
}

#[test]
fn other_files_are_refused() {
    for text in ["", "{", "[]", "{\"cells\": 1}"] {
        assert!(matches!(read(text), Err(Unreadable::Notebook { .. })), "{text}");
    }
}

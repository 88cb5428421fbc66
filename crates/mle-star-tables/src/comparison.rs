//! The program's own script that compares the training with the test table.
//!
//! [`script`] writes it for the tables of a profile. It runs like a generated script, with the data in `input`, and
//! its last line of output is a [`Shift`](mle_star_domain::protocol::Shift), which
//! [`Shift::parse`](mle_star_domain::protocol::Shift::parse) finds.

use mle_star_domain::protocol::Split;
use serde::Serialize;

use crate::profile::{Column, ColumnKind, Profile, Table};

/// The part that is the same for all tables; it reads the constant `FACTS`.
const PROGRAM: &str = include_str!("../python/comparison.py");

/// What the script knows about the tables.
#[derive(Serialize)]
struct Facts<'a> {
    train: File,
    test: File,
    columns: Vec<Compared<'a>>,
    target: &'a str,
    id: Option<&'a str>,
    split: &'a Split,
    classification: bool,
}

/// A table.
#[derive(Serialize)]
struct File {
    file: String,
    rows: usize,
}

/// A column of the training table and its positions in both tables.
#[derive(Serialize)]
struct Compared<'a> {
    name: &'a str,
    kind: String,
    train: usize,
    test: Option<usize>,
}

/// The script for these tables. `None` without a test table, without the target, or if the tables have no column in
/// common besides the target and the ID. `left_out` are columns that no model may use, as the other targets are.
pub fn script(
    profile: &Profile,
    target: &str,
    id: Option<&str>,
    split: &Split,
    (classification, left_out): (bool, &[&str]),
) -> Option<String> {
    let test = profile.test.as_ref()?;
    profile.train.column(target)?;
    let mut columns = compared(&profile.train, test, target);
    let targets = profile.targets(target, id);
    columns.retain(|column| {
        column.name == target || !(left_out.contains(&column.name) || targets.contains(&column.name))
    });
    let is_feature = |column: &Compared<'_>| column.test.is_some() && Some(column.name) != id;
    if !columns.iter().any(is_feature) {
        return None;
    }
    let facts = Facts {
        train: File::of(&profile.train),
        test: File::of(test),
        columns,
        target,
        id,
        split,
        classification,
    };
    // A JSON text without control characters is a Python text, too.
    let facts = serde_json::to_string(&facts).and_then(|facts| serde_json::to_string(&facts)).ok()?;
    Some(format!("FACTS = {facts}\n{PROGRAM}"))
}

impl File {
    fn of(table: &Table) -> Self {
        Self { file: table.file.to_string_lossy().into_owned(), rows: table.rows }
    }
}

/// The columns of the training table. The test table's target, if there is one, is not compared.
fn compared<'a>(train: &'a Table, test: &Table, target: &str) -> Vec<Compared<'a>> {
    let compared = |(position, column): (usize, &'a Column)| {
        let twin = test.columns.iter().position(|twin| twin.name == column.name && column.name != target);
        let kind = match twin {
            Some(twin) if column.kind == ColumnKind::Empty => test.columns[twin].kind,
            _ => column.kind,
        };
        Compared { name: &column.name, kind: format!("{kind:?}"), train: position, test: twin }
    };
    train.columns.iter().enumerate().map(compared).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use mle_star_domain::protocol::SplitKind;
    use serde_json::{Value, json};

    use super::*;
    use crate::profile;
    use crate::testing::folder;

    fn script_of(train: &str, test: Option<&str>, target: &str) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("train.csv"), train).unwrap();
        if let Some(test) = test {
            fs::write(dir.path().join("test.csv"), test).unwrap();
        }
        let profile = profile::read(dir.path()).unwrap();
        let split = Split {
            kind: SplitKind::Time,
            column: Some("day".to_owned()),
            why: "Later.".to_owned(),
            ..Split::default()
        };
        script(&profile, target, Some("id"), &split, (true, &[]))
    }

    #[test]
    fn facts_come_before_the_program() {
        let train = "id,day,\"a \"\"b\"\"\\\",none,y\n1,2024-01-01,0.5,,1\n2,2024-01-02,1.5,,0\n";
        let test = "y,none,\"a \"\"b\"\"\\\",id,day\n,x y,3,2.5,2024-01-03\n";
        let script = script_of(train, Some(test), "y").unwrap();
        let (first, rest) = script.split_once('\n').unwrap();
        assert_eq!(rest, PROGRAM);
        let text: String = serde_json::from_str(first.strip_prefix("FACTS = ").unwrap()).unwrap();
        let column = |name: &str, kind: &str, train: u32, test: Option<u32>| json!({ "name": name, "kind": kind, "train": train, "test": test });
        let expected = json!({
            "train": { "file": "train.csv", "rows": 2 },
            "test": { "file": "test.csv", "rows": 1 },
            "columns": [
                column("id", "Integer", 0, Some(3)),
                column("day", "Date", 1, Some(4)),
                column("a \"b\"\\", "Float", 2, Some(2)),
                column("none", "Category", 3, Some(1)),
                column("y", "Integer", 4, None),
            ],
            "target": "y",
            "id": "id",
            "split": { "kind": "time", "column": "day", "why": "Later." },
            "classification": true,
        });
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }

    #[test]
    fn other_targets_are_not_compared() {
        let dir = folder(&[
            ("train.csv", "id,x,y,z\n1,2,3,4\n"),
            ("test.csv", "id,x\n2,3\n"),
            ("sample_submission.csv", "id,y,z\n2,0,0\n"),
        ]);
        let profile = profile::read(dir.path()).unwrap();
        let script = script(&profile, "y", Some("id"), &Split::default(), (false, &[])).unwrap();
        let facts = script.split_once('\n').unwrap().0;
        assert!(facts.contains("\\\"x\\\"") && !facts.contains("\\\"z\\\""), "{facts}");
    }

    #[test]
    fn tables_without_common_columns_are_not_compared() {
        let check = |train: &str, test: Option<&str>, target: &str, expected: bool| {
            assert_eq!(script_of(train, test, target).is_some(), expected, "{train:?} {test:?} {target}");
        };
        check("id,x,y\n1,2,3\n", Some("id,x\n1,2\n"), "y", true);
        check("id,x,y\n1,2,3\n", None, "y", false);
        check("id,x,y\n1,2,3\n", Some("id,x\n1,2\n"), "z", false);
        check("id,x,y\n1,2,3\n", Some("id,z,y\n1,2,3\n"), "y", false);
    }
}

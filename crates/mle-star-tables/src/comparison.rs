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
    columns: Vec<ComparedColumn<'a>>,
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
struct ComparedColumn<'a> {
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
    let mut columns = compared_columns(&profile.train, test, target);
    let targets = profile.targets(target, id);
    columns.retain(|column| {
        column.name == target || !(left_out.contains(&column.name) || targets.contains(&column.name))
    });
    let is_feature = |column: &ComparedColumn<'_>| column.test.is_some() && Some(column.name) != id;
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
fn compared_columns<'a>(train: &'a Table, test: &Table, target: &str) -> Vec<ComparedColumn<'a>> {
    let compared = |(position, column): (usize, &'a Column)| {
        let twin = test.columns.iter().position(|twin| twin.name == column.name && column.name != target);
        let kind = match twin {
            Some(twin) if column.kind == ColumnKind::Empty => test.columns[twin].kind,
            _ => column.kind,
        };
        ComparedColumn { name: &column.name, kind: format!("{kind:?}"), train: position, test: twin }
    };
    train.columns.iter().enumerate().map(compared).collect()
}

//! The comparison of training and test table, run on synthetic tables.
//!
//! All scripts run in
//! one process, so that the libraries are imported once.

use std::path::{Path, PathBuf};
use std::process::Command;

use mle_star_domain::protocol::{Shift, Split, SplitKind};
use mle_star_needs::needs;
use mle_star_tables::comparison;
use mle_star_tables::profile::Profile;
use serde_json::json;

/// Runs every script named in its folder; the output of each follows a line of its own.
const RUNNER: &str = r#"
import os, runpy, sys, traceback
for script in sys.argv[1:]:
    os.chdir(os.path.dirname(script))
    print("@@", flush=True)
    try:
        runpy.run_path(script, run_name="__main__")
    except Exception:
        print(traceback.format_exc(), flush=True)
"#;

/// The tables, the kind and column of the split, whether a classifier can tell them apart, the columns by which it can,
/// and the columns that are suspicious.
type Row = (&'static str, SplitKind, &'static str, bool, &'static [&'static str], &'static [&'static str]);

const ROWS: SplitKind = SplitKind::Rows;
const GROUPS: SplitKind = SplitKind::Groups;
const TIME: SplitKind = SplitKind::Time;

/// What is found whether the target is a class or a number.
const ALWAYS: [Row; 24] = [
    ("clean", ROWS, "", false, &[], &[]),
    ("strong", ROWS, "", false, &[], &[]),
    ("strong-little-drift", ROWS, "", true, &["strong"], &[]),
    ("strong-much-drift", ROWS, "", true, &["strong"], &[]),
    ("everything-drifts", ROWS, "", true, &["strong", "x0", "x1", "x2", "x3"], &[]),
    ("hundred-rows", ROWS, "", false, &[], &[]),
    ("leak-noise", ROWS, "", true, &["scan_no"], &["scan_no"]),
    ("leak-shuffled", ROWS, "", false, &[], &["scan_no"]),
    ("leak-missing", ROWS, "", true, &["scan_no"], &["scan_no"]),
    ("leak-constant", ROWS, "", true, &["scan_no"], &["scan_no"]),
    ("leak-elsewhere", ROWS, "", true, &["scan_no"], &["scan_no"]),
    ("train-only", ROWS, "", false, &[], &["scan_no"]),
    ("train-only-weak", ROWS, "", false, &[], &[]),
    ("sorted-ids", ROWS, "", false, &[], &["id"]),
    ("sorted-rows", ROWS, "", false, &[], &["row number"]),
    ("both-sorted", ROWS, "", false, &[], &[]),
    ("later", TIME, "date", true, &["day", "price", "year"], &[]),
    ("later-leak", TIME, "date", true, &["day", "price", "scan_no", "year"], &["scan_no"]),
    ("other-patients", GROUPS, "patient", false, &[], &[]),
    ("other-patients-leak", GROUPS, "patient", true, &["scan_no"], &["scan_no"]),
    ("mixed", ROWS, "", true, &["Unnamed: 0"], &[]),
    ("one-value", ROWS, "", false, &[], &[]),
    ("gaps-in-target", ROWS, "", false, &[], &[]),
    ("clean", TIME, "id", false, &[], &[]),
];

const CLASSES: [Row; 5] = [
    ("rare", ROWS, "", false, &[], &[]),
    ("rare-leak", ROWS, "", true, &["scan_no"], &["scan_no"]),
    ("five", ROWS, "", false, &[], &[]),
    ("five-sorted", ROWS, "", false, &[], &["row number"]),
    ("five-leak", ROWS, "", true, &[], &["scan_no"]),
];

/// The output of a program that says nothing else.
fn run(python: &Path, program: &str, dir: &Path, args: &[PathBuf]) -> String {
    let mut command = Command::new(python);
    let output = command.args(["-c", program]).args(args).current_dir(dir).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Writes a script beside the folder `input` with these tables.
fn write(folder: &Path, row: &Row, classification: bool) -> PathBuf {
    let tables = Profile::of(&mle_star_needs::inspect(&folder.join("input"), &json!({}))).unwrap().unwrap();
    let column = (!row.2.is_empty()).then(|| row.2.to_owned());
    let split = Split { kind: row.1, column, ..Split::default() };
    let script = comparison::script(&tables, "y", Some("id"), &split, (classification, &[])).unwrap();
    let path = folder.join(format!("{}.py", row.1.name()));
    std::fs::write(&path, script).unwrap();
    path
}

/// The difference between an answer and the expected one; empty if there is none.
fn fault(row: &Row, name: &str, stdout: &str) -> String {
    let (_, _, _, apart, told, suspicious) = *row;
    let Some(shift) = Shift::parse(stdout) else { return format!("{name}: {stdout}\n") };
    let mut telling: Vec<&str> = shift.columns.iter().map(|telling| telling.column.as_str()).collect();
    telling.sort_unstable();
    let reported: Vec<&str> = shift.suspicious.iter().map(|found| found.column.as_str()).collect();
    let fine = (shift.auc >= 0.6) == apart && telling == told && reported == suspicious;
    if fine { String::new() } else { format!("{name}, expected {row:?}: {shift:#?}\n") }
}

#[test]
fn leaks_are_found_and_honest_columns_are_not() {
    needs!(Libraries);
    let python = mle_star_needs::python_with_libraries();
    let dir = tempfile::tempdir().unwrap();
    run(&python, include_str!("tables.py"), dir.path(), &[]);
    let of_numbers = ALWAYS.iter().map(|row| (format!("numbers-{}", row.0), row, false));
    let of_classes = ALWAYS.iter().chain(&CLASSES).map(|row| (row.0.to_owned(), row, true));
    let all: Vec<_> = of_classes.chain(of_numbers).collect();
    let scripts: Vec<PathBuf> =
        all.iter().map(|(name, row, is_class)| write(&dir.path().join(name), row, *is_class)).collect();
    let stdout = run(&python, RUNNER, dir.path(), &scripts);
    let answers: Vec<&str> = stdout.split("@@\n").skip(1).collect();
    assert_eq!(answers.len(), all.len());
    let faults: String =
        all.iter().zip(answers).map(|((name, row, _), answer)| fault(row, name, answer)).collect();
    assert!(faults.is_empty(), "{faults}");
}

//! Folds that the user gives, as a column or as a file.

use std::fs;

use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_tables::folds::{self, FoldBasis};
use mle_star_tables::own_folds::OwnFolds;
use mle_star_tables::profile;

const TRAIN: &str = "id,x,mine,half,y\n10,1,b,1,2.5\n11,2,a,,3.5\n12,3,b,1,\n13,4,10,1,4.5\n14,5,9,1,5.5\n";
const TEST: &str = "id,x\n20,1\n21,2\n";

/// `folds.csv` for folds from `from`, which may be this file, or why there are none.
fn written(from: &str, file: &str) -> Result<String, String> {
    let dir = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let files = [("train.csv", TRAIN), ("test.csv", TEST), ("folds.csv", file)];
    for (name, text) in files.into_iter().filter(|(_, text)| !text.is_empty()) {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let profile = profile::read(dir.path()).unwrap();
    let path = dir.path().join(from);
    let from = if from.ends_with(".csv") { path.to_str().unwrap() } else { from };
    let own = OwnFolds::read(&profile, "y", Some("id"), from).map_err(|trouble| trouble.message)?;
    let split = Split { kind: SplitKind::Rows, ..Split::default() };
    let by =
        FoldBasis { target: "y", id: Some("id"), split: &split, timeline: None, own: Some(&own), seed: 1 };
    let into = out.path().join("all");
    folds::link_all_rows(&profile, &by, &into).unwrap();
    let still = fs::read_to_string(dir.path().join("folds.csv")).unwrap_or_default();
    assert_eq!(still, file, "the data stays as it is");
    Ok(fs::read_to_string(into.join("folds.csv")).unwrap().replace('\n', " ").trim().to_owned())
}

#[test]
fn each_labelled_row_has_the_fold_that_was_given() {
    let check = |from: &str, file: &str, expected: &str| assert_eq!(written(from, file).unwrap(), expected);
    check("mine", "", "id,fold 10,3 11,2 13,0 14,1");
    let file = "\u{feff}fold,ID\nlate,10\nearly,11\nlate,13\nlate,14\n";
    check("folds.csv", file, "id,fold 10,1 11,0 13,1 14,1");
    // Numbers are in their order. Unlabelled rows and those of the test table may have a fold.
    let file = "id,fold\n10,9\n11,10\n12,9\n13,9\n14,10\n21,9\n";
    check("folds.csv", file, "id,fold 10,0 11,1 13,0 14,1");
}

#[test]
fn folds_that_do_not_fit_are_refused_in_a_sentence() {
    let check =
        |from: &str, file: &str, expected: &str| assert_eq!(written(from, file).unwrap_err(), expected);
    check("half", "", "row `11` of train.csv has no fold in `half`");
    check("folds.csv", "id,fold\n10,1\n11,2\n10,1\n", "folds.csv has the row `10` twice");
    let unknown = "id,fold\n10,1\n11,2\n13,1\n14,2\n99,1\n";
    check("folds.csv", unknown, "folds.csv has a fold for the row `99`, which train.csv does not have");
    let one = "id,fold\n10,1\n11,1\n13,1\n14,1\n";
    check("folds.csv", one, "folds: `folds.csv` has one fold for all labelled rows; at least two are needed");
    check("nowhere", "", "folds: `nowhere` is neither a column of train.csv nor a file");
}

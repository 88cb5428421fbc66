//! The script that combines predictions, run by a real Python with pandas.

use std::path::Path;
use std::process::Command;

use mle_star::effects::CombinedBy;
use mle_star::testing::composition;

use super::python::interpreter;

/// A script that writes these predictions for test and validation rows.
fn member(test: &str, validation: &str, more: &str) -> String {
    format!(
        r#"
"""A member."""
import os
assert os.path.exists("input/train.csv") and __name__ == "__main__"
open("final/submission.csv", "w").write({test:?})
open("final/validation_predictions.csv", "w").write({validation:?})
print("Final Validation Performance: 0.5")
{more}
"#
    )
}

/// Runs a combination beside `input/`; returns its output and its two files.
fn run(members: &[(String, f64)], by: CombinedBy, id_column: Option<&str>) -> [String; 3] {
    let folder = tempfile::tempdir().unwrap();
    let members: Vec<(&str, f64)> = members.iter().map(|(text, weight)| (text.as_str(), *weight)).collect();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write("input/train.csv", "id,y\n");
    write("solution.py", &composition(&members, by, id_column));
    let output = Command::new(interpreter()).arg("solution.py").current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 3, "the folders of members remain");
    let read = |name: &str| std::fs::read_to_string(Path::new(folder.path()).join(name)).unwrap();
    [
        String::from_utf8(output.stdout).unwrap(),
        read("final/submission.csv"),
        read("final/validation_predictions.csv"),
    ]
}

#[test]
#[ignore = "needs an interpreter with the libraries in MLE_STAR_TEST_PYTHON"]
fn numbers_have_a_mean_in_the_rows_of_the_first_member() {
    let ends = "value = 1\nraise SystemExit(0)\n";
    // Processes look a function up in the main module.
    let parallel = r#"
import multiprocessing
def value(x):
    return x + 1
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.map(value, [1]) == [2]
"#;
    let members = [
        (member("id,y,z\n007,1.0,4.0\n8,2.0,8.0\n", "id,y,z\n1,0.5,0.1\n2,1.0,1.0\n", ends), 0.75),
        (member("id,z,y\n8,0.0,4.0\n007,0.0,5.0\n", "id,y,z\n1,0.5,0.1\n2,3.0,1.0\n", parallel), 0.25),
    ];
    let [printed, test, validation] = run(&members, CombinedBy::Mean, Some("id"));
    assert_eq!(printed, "Combined the predictions of 2 solutions.\n");
    assert_eq!(test, "id,y,z\n007,2.0,3.0\n8,2.5,6.0\n");
    assert_eq!(validation, "id,y,z\n1,0.5,0.1\n2,1.5,1.0\n");
}

#[test]
#[ignore = "needs an interpreter with the libraries in MLE_STAR_TEST_PYTHON"]
fn the_class_with_the_largest_mean_score_wins() {
    let scores = |test: &str| {
        format!(
            "open('final/submission_class_scores.csv', 'w').write({test:?})\n\
             open('final/validation_class_scores.csv', 'w').write('id,01,b b\\n3,0.2,0.8\\n')\n"
        )
    };
    let submission = "y,id\n01,1\n01,2\n";
    let members = [
        (member(submission, "id,y\n3,01\n", &scores("id,01,b b\n1,0.6,0.4\n2,0.9,0.1\n")), 0.5),
        (member("y,id\nb b,2\nb b,1\n", "id,y\n3,01\n", &scores("id,b b,01\n2,0.7,0.3\n1,0.8,0.2\n")), 0.5),
    ];
    let [_, test, validation] = run(&members, CombinedBy::ClassScores, Some("id"));
    assert_eq!([test.as_str(), validation.as_str()], ["y,id\nb b,1\n01,2\n", "id,y\n3,b b\n"]);
}

#[test]
#[ignore = "needs an interpreter with the libraries in MLE_STAR_TEST_PYTHON"]
fn labels_are_voted_on_and_rows_may_have_no_name() {
    let members = [
        (member("id,y\n1,01\n2,b b\n", "id,y\n3,01\n", ""), 0.4),
        (member("id,y\n1,b b\n2,b b\n", "id,y\n3,b b\n", ""), 0.35),
        (member("id,y\n1,b b\n2,01\n", "id,y\n3,b b\n", ""), 0.25),
    ];
    let [_, test, validation] = run(&members, CombinedBy::Votes, Some("id"));
    assert_eq!([test.as_str(), validation.as_str()], ["id,y\n1,b b\n2,b b\n", "id,y\n3,b b\n"]);
    let unnamed = [
        (member("row,y\na,1\nb,2\n", "row,y\na,1\n", ""), 0.5),
        (member("row,y\na,3\nb,4\n", "row,y\na,1\n", ""), 0.5),
    ];
    let [_, test, validation] = run(&unnamed, CombinedBy::Mean, None);
    assert_eq!([test.as_str(), validation.as_str()], ["row,y\na,2.0\nb,3.0\n", "row,y\na,1\n"]);
}

//! The script that combines predictions, run by a real Python without any library.

use std::path::Path;
use std::process::Command;

use mle_star::testing::composition;
use mle_star_domain::question::CombinedBy;

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
    let (printed, [test, validation]) = attempt(members, by, id_column).unwrap();
    [printed, test.unwrap(), validation.unwrap()]
}

/// The same as far as the files are there, or what the script says when it fails.
fn attempt(
    members: &[(String, f64)],
    by: CombinedBy,
    id_column: Option<&str>,
) -> Result<(String, [Option<String>; 2]), String> {
    let folder = tempfile::tempdir().unwrap();
    let members: Vec<(&str, f64)> = members.iter().map(|(text, weight)| (text.as_str(), *weight)).collect();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write("input/train.csv", "id,y\n");
    write("solution.py", &composition(&members, by, id_column));
    // Without the folder of installed libraries.
    let python = ["-I", "-S", "solution.py"];
    let output = Command::new("python3").args(python).current_dir(&folder).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 3, "the folders of members remain");
    let read = |name: &str| std::fs::read_to_string(Path::new(folder.path()).join(name)).ok();
    let files = ["final/submission.csv", "final/validation_predictions.csv"].map(read);
    Ok((String::from_utf8(output.stdout).unwrap(), files))
}

#[test]
fn numbers_have_a_mean_in_the_rows_of_the_first_member() {
    let ends = "value = 1\nraise SystemExit(0)\n";
    let members = [
        (member("id,y,z\n007,1.0,4.0\n8,2.0,8.0\n", "id,y,z\n1,0.5,0.1\n2,1.0,1.0\n", ends), 0.75),
        (member("id,z,y\n8,0.0,4.0\n007,0.0,5.0\n", "id,y,z\n1,0.5,0.1\n2,3.0,1.0\n", ""), 0.25),
    ];
    let [printed, test, validation] = run(&members, CombinedBy::Mean, Some("id"));
    assert_eq!(printed, "Combined the predictions of 2 solutions.\n");
    assert_eq!(test, "id,y,z\n007,2.0,3.0\n8,2.5,6.0\n");
    assert_eq!(validation, "id,y,z\n1,0.5,0.1\n2,1.5,1.0\n");
}

#[test]
fn members_run_as_by_hand() {
    let rows = "id,y\n1,1\n";
    // It reads a file beside itself, and stores an object of a class of its own.
    let by_hand = r#"
import __main__, pickle, sys
from dataclasses import dataclass
from pathlib import Path
assert (Path(__file__).resolve().parent / "input" / "train.csv").read_text() == "id,y\n"
assert Path(__file__).parent == Path.cwd() and sys.argv == [__file__]
@dataclass
class Model:
    weight: float
Path("model.pkl").write_bytes(pickle.dumps(Model(0.5)))
assert pickle.loads(Path("model.pkl").read_bytes()) == Model(0.5) and __main__.Model is Model
"#;
    // Whatever starts a process imports the script by its path, or finds it imported.
    let starts_processes = format!(
        r#"
import multiprocessing
def value(x):
    return x + 1
if __name__ == "__main__":
    for how in ["fork", "spawn", "forkserver"]:
        with multiprocessing.get_context(how).Pool(1) as pool:
            assert pool.map(value, [1]) == [2], how
    open("final/submission.csv", "w").write({rows:?})
    open("final/validation_predictions.csv", "w").write({rows:?})
"#
    );
    let members = [
        (member(rows, rows, by_hand), 0.4),
        (starts_processes.clone(), 0.3),
        (starts_processes.replace("x + 1", "x * 2"), 0.3),
    ];
    let [_, test, _] = run(&members, CombinedBy::Mean, Some("id"));
    assert_eq!(test, rows);
    // The lines of a member are those of the combination.
    let failing = [(member(rows, rows, "raise ValueError(\"in a member\")"), 1.0)];
    let failed = attempt(&failing, CombinedBy::Mean, Some("id")).unwrap_err();
    let text = composition(&[(failing[0].0.as_str(), 1.0)], CombinedBy::Mean, Some("id"));
    let at = text.lines().position(|line| line.starts_with("raise ValueError")).unwrap() + 1;
    assert!(failed.contains(&format!("member_1.py\", line {at}, in <module>")), "{failed}");
}

#[test]
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
    // No table but the sample has names of rows.
    let unnamed = |label: &str, scores_of: &str| {
        (member(&format!("row,y\n1,{label}\n"), "row,y\n3,01\n", &scores(scores_of)), 0.5)
    };
    let members = [unnamed("01", "row,01,b b\n1,0.6,0.4\n"), unnamed("b b", "row,01,b b\n1,0.1,0.9\n")];
    let [_, test, _] = run(&members, CombinedBy::ClassScores, None);
    assert_eq!(test, "row,y\n1,b b\n");
}

#[test]
fn rows_and_labels_may_be_written_in_several_ways() {
    let members = [
        (member("id, y\n007,True\n\n8,True\n9,a\n", "id,y\n3,1\n", ""), 0.4),
        (member("id,y\n9,b\n8.0,false\n 7,false\n", "id,y\n3.0,2.0\n", ""), 0.3),
        (member("id,y\n+8,FALSE\n7,true\n9,b\n", "id,y\n3,2\n", ""), 0.3),
    ];
    let [_, test, validation] = run(&members, CombinedBy::Votes, Some("id"));
    assert_eq!([test.as_str(), validation.as_str()], ["id,y\n007,True\n8,false\n9,b\n", "id,y\n3,2.0\n"]);
    let tied =
        [(member("id,y\n1,b\n", "id,y\n3,b\n", ""), 0.5), (member("id,y\n1,a\n", "id,y\n3,b\n", ""), 0.5)];
    let [_, test, _] = run(&tied, CombinedBy::Votes, Some("id"));
    assert_eq!(test, "id,y\n1,b\n");
    let split = ["x", "x", "y"].map(|label| member(&format!("id,y\n1,{label}\n"), "id,y\n3,b\n", ""));
    let split: Vec<_> = split.into_iter().zip([0.25, 0.25, 0.5]).collect();
    let [_, test, _] = run(&split, CombinedBy::Votes, Some("id"));
    assert_eq!(test, "id,y\n1,x\n", "the label of the earliest of equals");
}

#[test]
fn only_the_submission_is_needed_and_its_rows_must_agree() {
    let without = "import os\nos.remove('final/validation_predictions.csv')\n";
    let members = |rows: &str| {
        let first = member("id,y\n1,1\n2,2\n", "id,y\n3,1\n", "");
        [(first, 0.5), (member(rows, "id,y\n3,1\n", without), 0.5)]
    };
    let made = attempt(&members("id,y\n2,4\n1,1\n"), CombinedBy::Mean, Some("id")).unwrap().1;
    assert_eq!(made, [Some("id,y\n1,1.0\n2,3.0\n".to_owned()), None]);
    for (rows, expected) in [
        ("id,y\n1,1\n", "a member has 1 rows with 1 names, the first one 2"),
        ("id,y\n1,1\n1,2\n", "a member has 2 rows with 1 names, the first one 2"),
        ("id,y\n1,1\n3,2\n", "KeyError: '2'"),
    ] {
        let failed = attempt(&members(rows), CombinedBy::Mean, Some("id")).unwrap_err();
        assert!(failed.contains(expected), "{failed}");
    }
}

/// The data plane combines in the same way.
#[test]
fn guesses_and_sets_are_elected() {
    let check = |by, cells: [&str; 3], expected: &str| {
        let file = |cell: &str| member(&format!("id,y\n1,{cell}\n"), "id,y\n3,b\n", "");
        let members: Vec<(String, f64)> =
            cells.iter().zip([0.4, 0.3, 0.3]).map(|(cell, weight)| (file(cell), weight)).collect();
        let [_, test, _] = run(&members, by, Some("id"));
        assert_eq!(test, format!("id,y\n1,{expected}\n"), "{cells:?}");
    };
    check(CombinedBy::Guesses(3), ["a b-1 c", "b-1 a d", "b-1 e"], "b-1 a e");
    check(CombinedBy::Guesses(1), ["a", "b b", "b"], "b");
    check(CombinedBy::Guesses(2), ["red oak|ash", "ash|red oak", "elm"], "red oak|ash");
    check(CombinedBy::Sets, ["x z", "y", "z x"], "x z");
    check(CombinedBy::Sets, ["x z", "y x", "x y"], "y x");
    check(CombinedBy::Sets, ["3", "1 2", "2.0 1.0"], "1 2");
}

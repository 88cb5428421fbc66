//! Comparison of runs.

use std::fs;

use super::served::Served;
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;

#[test]
fn runs_are_compared() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let program = fs::read_to_string(&python).unwrap();
    let two = "--set num_parallel_solutions=1 --metric MAE";
    for (id, more, version) in [("one", "", "11"), ("two", two, "12"), ("three", "", "11")] {
        sealed.write("python", program.replace("[3, 11,", &format!("[3, {version},")).as_bytes());
        assert_eq!(
            sealed.run(&format!("run data --run-id {id} --set python={python} {SMALL} {more}")).code,
            0
        );
    }
    let page = Served::of(&sealed, "");
    let compared = page.get("/compare?run=one&run=two").body;
    for part in [
        "different metrics, so their scores cannot be compared",
        "config.num_parallel_solutions",
        "MAE",
        "Python 3.12.0",
        "<ins data-n",
    ] {
        assert!(compared.contains(part), "{part}: {compared}");
    }
    let figures = |body: &str| body.matches("<figure").count();
    assert_eq!(figures(&compared), 4, "two axes, two charts each");
    let same = page.get("/compare?run=one&run=three").body;
    assert_eq!(figures(&same), 2, "one axis");
    assert!(same.contains("All values are the same."), "{same}");
    for wrong in ["", "?run=one", "?run=one&run=one"] {
        assert_eq!(page.get(&format!("/compare{wrong}")).status, 409, "{wrong}");
    }
    assert_eq!(page.get("/compare?run=one&run=../one").status, 404);
}

//! A finished run to look at, `examples/recorded/flight-delays`, and pictures of its page. A test opens the run.

use std::fs;

use crate::command::{cargo, root, say, script, succeeds, target};
use crate::tools;

/// The pictures in `docs/`.
const PICTURES: [&str; 3] = ["page", "page-code", "page-data"];

/// Runs the example and replaces recording and pictures; `true` if all went well.
pub fn record() -> bool {
    let mut run = script("examples/recorded/record.sh");
    run.arg(target().join("debug/mle-star"));
    succeeds(cargo("build --package mle-star-cli")) && succeeds(run) && pictures()
}

/// Takes the pictures of the page of the recorded run; `true` if all were taken.
pub fn pictures() -> bool {
    let mut test = cargo("test --package mle-star-cli --test it pictures_are_taken");
    test.env("MLE_STAR_TEST_PICTURED_RUNS", root().join("examples/recorded"));
    for (name, file) in tools::browser() {
        match file {
            Ok(file) => drop(test.env(name, file)),
            Err(missing) => {
                say(&missing);
                return false;
            }
        }
    }
    let is_taken = |name: &str| {
        let taken = target().join(format!("screenshots/{name}.png"));
        fs::copy(taken, root().join(format!("docs/{name}.png"))).is_ok()
    };
    succeeds(test) && PICTURES.into_iter().all(is_taken)
}

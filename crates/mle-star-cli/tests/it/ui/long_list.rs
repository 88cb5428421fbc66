//! A list of more runs than a page has.

use std::fs;

use mle_star::journal::{Journal, hold};
use mle_star::testing::frozen;

use super::served::Served;
use crate::sealed::Sealed;

const RUNS: usize = 120;

#[test]
fn a_long_list_has_pages() {
    let sealed = Sealed::with(&[]);
    for n in 0..RUNS {
        let folder = sealed.path("runs").join(format!("r-{n:03}"));
        fs::create_dir_all(&folder).unwrap();
        drop(Journal::create_in(hold(&folder).unwrap(), &frozen()).unwrap());
    }
    let page = Served::of(&sealed, "");
    let rows = |body: &str| body.matches("<tr id=\"run-").count();
    let first = page.get("/").body;
    assert_eq!((rows(&first), rows(&page.get("/?page=2").body)), (100, RUNS - 100));
    assert!(first.contains("&amp;page=2\"") && first.contains(&format!("{RUNS} of {RUNS} runs")));
    assert_eq!(rows(&page.get("/?text=r-01").body), 10);
}

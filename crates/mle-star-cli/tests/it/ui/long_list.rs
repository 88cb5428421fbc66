//! A list of more runs than a page has.

use std::fs;

use mle_star::journal::{Journal, hold};
use mle_star::testing::frozen;

use super::served::Served;
use crate::sealed::Sealed;

const RUNS: usize = 120;
/// Fewer runs than these are not worth a write.
const UNKEPT: usize = 16;
/// The task's name in what is kept, which no run has.
const KEPT: &str = "kept";

/// The list, once every run is read.
fn whole(page: &Served, path: &str) -> String {
    std::iter::repeat_with(|| page.get(path).body).find(|body| !body.contains("still being read")).unwrap()
}

#[test]
fn a_long_list_has_pages_and_is_kept_for_the_next_process() {
    let sealed = Sealed::with(&[]);
    for n in 0..RUNS {
        let folder = sealed.path("runs").join(format!("r-{n:03}"));
        fs::create_dir_all(&folder).unwrap();
        drop(Journal::create_in(hold(&folder).unwrap(), &frozen()).unwrap());
    }
    let page = Served::of(&sealed, "");
    let rows = |body: &str| body.matches("<tr id=\"run-").count();
    let first = whole(&page, "/");
    assert_eq!((rows(&first), rows(&whole(&page, "/?page=2"))), (100, RUNS - 100));
    assert!(first.contains("href=\"/?page=2\"") && first.contains(&format!("{RUNS} of {RUNS} runs")));
    assert_eq!(rows(&whole(&page, "/?text=r-01&group=none")), 10);

    // What was read is outside the runs directory. The rest of it may be written a moment later.
    let lists = ".cache/mle-star/lists";
    let task = format!("\"task\":\"{}\"", frozen().task.competition_id);
    let kept = || {
        let file = sealed.names(lists).into_iter().find(|name| name.ends_with(".json"))?;
        let name = format!("{lists}/{file}");
        let text = sealed.read(&name);
        (text.matches(&task).count() > RUNS - UNKEPT).then_some((name, text))
    };
    let (name, text) = std::iter::repeat_with(kept).find_map(|kept| kept).unwrap();
    drop(page);
    sealed.write(&name, text.replace(&task, &format!("\"task\":\"{KEPT}\"")).as_bytes());
    let next = Served::of(&sealed, "");
    assert_eq!(rows(&whole(&next, &format!("/?text={KEPT}"))), 100, "runs are not read again");
    drop(next);
    // Without it, they are.
    sealed.write(&name, b"{");
    let next = Served::of(&sealed, "");
    assert_eq!(rows(&whole(&next, &format!("/?text={KEPT}"))), 0);
    assert_eq!(rows(&whole(&next, "/")), 100);
}

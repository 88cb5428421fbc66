//! Comparison of runs.

use std::fs;

use crate::browser::chromium::{Browser, DESK, PHONE};
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;
use crate::ui::served::Served;
use mle_star_needs::needs;

#[test]
fn runs_are_compared() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
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
    let browser = Browser::start();
    browser.open(&page.url);
    browser.click("input[value=one]");
    browser.click("input[value=two]");
    browser.click("#compare button");
    browser.until("location.pathname === '/compare'");
    for (selector, part) in [
        ("main .note", "different metrics, so their scores cannot be compared"),
        (".differences", "config.num_parallel_solutions"),
        (".differences", "MAE"),
        (".differences", "Python 3.12.0"),
        ("svg.chart", "A"),
    ] {
        browser.until(&format!("document.querySelector('{selector}').textContent.includes('{part}')"));
    }
    // The second run of the list is first in the address.
    assert!(
        browser
            .run("return document.querySelectorAll('pre.diff ins, pre.diff del').length")
            .as_u64()
            .unwrap()
            > 0
    );
    assert_eq!(
        browser.run("return document.querySelectorAll('main figure').length"),
        4,
        "two axes, two charts each"
    );
    let keys =
        "return [...document.querySelectorAll('.differences tbody th')].map(key => key.innerText).join()";
    let keys = browser.run(keys).as_str().unwrap().to_owned();
    assert!(keys.starts_with("config."), "settings first: {keys}");
    browser.audit("compare");
    // Side by side where there is room, else one below the other.
    let beside = "const [del, ins] = ['del', 'ins'].map(tag => document.querySelector(`pre.diff .change:has(ins):has(del) ${tag}`)\
                  .getBoundingClientRect()); return del.right <= ins.left && Math.abs(del.top - ins.top) < 2";
    for (width, expected) in [(DESK, true), (PHONE, false)] {
        browser.resize(width, 900);
        assert_eq!(browser.run(beside), expected, "{width}");
    }
    browser.resize(DESK, 900);
    browser.open(&page.at("/compare?run=one&run=three"));
    assert_eq!(browser.run("return document.querySelectorAll('main figure').length"), 2, "one axis");
    assert!(browser.text("main").contains("All values are the same."));
    for wrong in ["", "?run=one", "?run=one&run=one"] {
        assert_eq!(page.get(&format!("/compare{wrong}")).status, 409, "{wrong}");
    }
    assert_eq!(page.get("/compare?run=one&run=../one").status, 404);
}

//! `report.html`, opened as a file.

use fantoccini::key::Key;
use mle_star_needs::needs;

use crate::browser::chromium::Browser;
use crate::claude::{KEY, WELL, claude, run_line, say};
use crate::sealed::Sealed;

/// Opens everything that can be opened.
pub const OPEN_ALL: &str =
    "document.querySelectorAll('details').forEach(details => { details.open = true; })";

pub fn open_report(browser: &Browser, sealed: &Sealed, run: &str) {
    browser.open(&format!("file://{}", sealed.path(&format!("runs/{run}/report.html")).display()));
}

#[test]
fn the_report_of_a_finished_run_is_read() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    claude(&sealed, WELL);
    assert_eq!(say(&sealed, &run_line(&sealed), &[KEY]).code, 0);
    let browser = Browser::start();
    open_report(&browser, &sealed, "r");
    // The notebook is in the report itself.
    let saved = |name: &str| {
        let link = format!("document.querySelector('a[download=\"{name}\"]').href.split(',')[1]");
        browser.run(&format!("return atob({link})")).as_str().unwrap().to_owned()
    };
    let notebook: serde_json::Value = serde_json::from_str(&saved("solution.ipynb")).unwrap();
    assert!(notebook["cells"].as_array().unwrap().len() > 2, "{notebook}");
    // The link of a change opens its solution with the diff, in a part that is closed.
    assert_eq!(browser.run("return document.querySelectorAll('details[open]').length"), 0);
    browser.click("#leaderboard a[href='#at-phase2_path-0_t0_k0']");
    browser.until("document.querySelector(location.hash).open");
    browser.until("document.querySelector(location.hash + ' pre.diff').innerText.includes('+ block = 2')");
    browser.click("#tree details.node[open] a[href^='#at-phase1']");
    browser.until("location.hash.startsWith('#at-phase1') && document.querySelector(location.hash).open");
    browser.click("#script > details > summary");
    browser.click(".block:has(#final-script) button[data-copy]");
    browser.until("document.querySelector('.block:has(#final-script) [role=status]').innerText !== ''");
    // Numbers of lines are no part of the text.
    let shown = browser.run("return document.getElementById('final-script').textContent");
    assert_eq!(shown.as_str().unwrap().trim_end(), sealed.read("runs/r/final/solution.py").trim_end());
    // A click on the head of a column sorts the leaderboard, by keyboard as well.
    let seconds = "[...document.querySelectorAll('#leaderboard td:nth-of-type(5)')].map(cell => cell.dataset.value).filter(Boolean).map(Number)";
    browser.click("#leaderboard th:nth-of-type(5) button");
    browser.until(&format!("{seconds}.every((one, at, all) => !at || one <= all[at - 1])"));
    browser.press(Key::Enter);
    browser.until(&format!("{seconds}.every((one, at, all) => !at || one >= all[at - 1])"));
    browser.until("document.querySelector('#leaderboard [aria-sort]').innerText === 'time'");
    browser.run(OPEN_ALL);
    browser.audit("report-finished-open");
    let charts = browser.run("return document.querySelectorAll('svg.chart').length").as_u64().unwrap();
    assert!(charts > 6, "{charts} charts");
}

//! Pages in a real browser: content, clicks, and an accessibility audit in light and dark, wide and narrow.
//! Screenshots are saved in `target/screenshots`.

mod chromium;
mod list;
mod pictures;
mod report;
mod runs;
mod start;
mod worlds;

use mle_star_needs::needs;

use crate::exits::{SMALL, SUBMIT, interpreter};
use crate::held_out::{self, PREDICT};
use crate::ui::served::Served;
use chromium::{Browser, DESK, PHONE, WIDE};
use report::{OPEN_ALL, open_report};

#[test]
fn every_page_is_accessible() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let browser = Browser::start();
    // The audit finds known errors, so its other results are meaningful.
    browser.open("data:text/html,<p style='color:%23ccc'>pale</p><img src='data:,'>");
    browser.bring_audit();
    let wrong = browser.violations().join("\n");
    assert!(wrong.contains("color-contrast") && wrong.contains("image-alt"), "{wrong}");

    let sealed = held_out::task();
    let page = Served::of(&sealed, "");
    browser.open(&page.url);
    browser.audit("list-empty");
    let predicts = format!("{SUBMIT}; {PREDICT}");
    for (id, script, more) in [
        ("good", predicts.as_str(), ""),
        ("other", &predicts, "--set num_parallel_solutions=1"),
        ("bad", "echo 'ValueError: broken' >&2; exit 1", ""),
    ] {
        let python = interpreter(&sealed, script);
        let said = sealed.run(&format!("run data --run-id {id} --set python={python} {SMALL} {more}"));
        assert_eq!(said.code, i32::from(id == "bad"), "{said:?}");
    }
    for (name, path) in [
        ("list", "/"),
        ("start", "/start?folder=data"),
        ("start-wrong", "/start?folder=data&metric=nonsense&direction=maximize&agents=offline"),
        ("compare", "/compare?run=good&run=other&run=bad"),
        ("delete", "/delete?run=bad"),
        ("note", "/runs/bad/note"),
        ("resume", "/runs/bad/resume"),
        ("fork", "/runs/good/fork?at=phase1/merge-1"),
        ("run-failed", "/runs/bad"),
        ("run", "/runs/good"),
    ] {
        browser.open(&page.at(path));
        browser.audit_as(name, &[("light", DESK), ("dark", PHONE)]);
    }
    browser.resize(WIDE, 900);
    browser.click("#tree > details > summary");
    browser.click("#tree details.node:not([open]) > summary");
    browser.until("document.querySelector('#tree details.node[open] .inside')");
    browser.audit_as("run-code", &[("dark", PHONE)]);
    for (run, part) in [("good", "The worst rows"), ("bad", "can be resumed")] {
        open_report(&browser, &sealed, run);
        browser.run(OPEN_ALL);
        browser.until_shown("main", part);
        // An audit takes long, because each point of the pictures is looked at.
        browser.audit_as(&format!("report-{run}"), &[("dark", PHONE)]);
    }
}

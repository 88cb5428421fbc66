//! The part about runners: of a run that had two, one of which says an attack.

use mle_star_needs::needs;
use std::fs::OpenOptions;
use std::io::Write;

use mle_star::testing::worlds::attack;
use serde_json::json;

use crate::browser::chromium::Browser;
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;
use crate::ui::served::Served;

#[test]
fn the_runners_of_a_run_are_read() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let binary = env!("CARGO_BIN_EXE_mle-star");
    let config = format!("runners:\n- name: near\n  command: [{binary}, runner]\n  count: 2\n");
    let sealed = Sealed::with(&[("c.yaml", &config)]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let options = format!("--config c.yaml --set python={python} --set max_concurrent_scripts=0 {SMALL}");
    assert_eq!(sealed.run(&format!("run data --run-id r {options}")).code, 0);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.at("/runs/r"));
    browser.until_shown("#runners", "near-1");
    browser.until("document.querySelector('nav a[href=\"#runners\"]')");

    // Nothing but the events changes.
    let evil = json!({"time": "2026-01-02T03:04:05Z", "run_id": "r", "event": "runner", "runner": attack(),
        "state": "failed", "host": attack(), "slots": 1, "waited": null, "detail": attack()});
    let events = sealed.path("runs/r/logs/events.jsonl");
    let mut events = OpenOptions::new().append(true).open(events).unwrap();
    writeln!(events, "{evil}").unwrap();
    browser.until_shown("#runners", "window.attacked = 1");
    browser.audit("runners");
    assert_eq!(browser.run("return window.attacked || 0"), 0);
    let strangers =
        "return document.querySelectorAll('#runners img, #runners script, #runners [onclick]').length";
    assert_eq!(browser.run(strangers), 0);
}

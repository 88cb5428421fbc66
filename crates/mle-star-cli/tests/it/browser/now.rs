//! What runs now, on the page of a running run.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Stdio;

use mle_star_needs::needs;
use serde_json::json;

use crate::browser::chromium::Browser;
use crate::events::wait_for;
use crate::exits::{SMALL, interpreter};
use crate::sealed::Sealed;
use crate::ui::served::Served;

#[test]
fn agents_limits_and_waiting_are_shown() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, "exit 1");
    let options =
        format!("--agents files --time-limit 3600 --max-budget-usd 5 --set python={python} {SMALL}");
    let mut run = sealed.command(&format!("run data --run-id r --json {options}"));
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&mut run, &["agent_started", "retriever"]);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.at("/runs/r"));
    browser.until_shown("#now li", "initial solution: retriever, since ");
    browser.until_shown("#now dl", "of 1h used, 59m ");
    browser.until_shown("#now dl", "$0 of $5.00 spent");
    // The bar moves without news from the run.
    let used = "document.querySelector('#now progress').value";
    let before = browser.run(&format!("return {used}")).as_f64().unwrap();
    browser.until(&format!("{used} >= {before} + 2"));
    browser.until_shown("#now li", "s by now");

    // Nothing but the events changes.
    let waits = json!({"time": jiff::Timestamp::now(), "run_id": "r", "event": "agent_waits",
        "place": "phase1/retriever", "agent": "retriever", "seconds": 90.0, "reason": "<b>overloaded</b>"});
    let events = OpenOptions::new().append(true).open(sealed.path("runs/r/logs/events.jsonl"));
    writeln!(events.unwrap(), "{waits}").unwrap();
    browser.until_shown("#now li.waits", "waits for the service, asks again after 1m 30s: <b>overloaded</b>");
    assert_eq!(browser.run("return document.querySelectorAll('.trouble').length"), 0);
    browser.audit("run-waiting");

    run.kill().unwrap();
    run.wait().unwrap();
    browser.until("document.querySelector('#now').hidden");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

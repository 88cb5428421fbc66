//! `report.html`, opened as a file.

use std::time::Instant;

use mle_star::testing::worlds::{hostile, large};
use mle_star_needs::needs;

use crate::browser::chromium::{Browser, DESK, PHONE};
use crate::browser::worlds::{LINES, OPEN_SOME, PADDING, solve};
use crate::claude::{KEY, WELL, claude, run_line, say};
use crate::exits::{SMALL, SUBMIT, interpreter};
use crate::held_out::{self, PREDICT};
use crate::sealed::Sealed;
use crate::views::{hanging, report_with};

const OPEN_ALL: &str = "document.querySelectorAll('details').forEach(details => { details.open = true; })";

fn open(browser: &Browser, sealed: &Sealed, run: &str) {
    browser.open(&format!("file://{}", sealed.path(&format!("runs/{run}/report.html")).display()));
}

#[test]
fn the_report_of_a_finished_run_is_read() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    claude(&sealed, WELL);
    assert_eq!(say(&sealed, &run_line(&sealed), &[KEY]).code, 0);
    let browser = Browser::start();
    open(&browser, &sealed, "r");
    browser.audit("report-finished");
    // Notebook and model card are in the report itself.
    let saved = |name: &str| {
        let link = format!("document.querySelector('a[download=\"{name}\"]').href.split(',')[1]");
        browser.run(&format!("return atob({link})")).as_str().unwrap().to_owned()
    };
    let notebook: serde_json::Value = serde_json::from_str(&saved("solution.ipynb")).unwrap();
    assert!(notebook["cells"].as_array().unwrap().len() > 2, "{notebook}");
    assert!(saved("model-card.md").contains("## Limits"));
    // The link of a change opens its solution with the diff.
    browser.click("#ledger article:nth-of-type(2) h3 a");
    browser.until("document.querySelector(location.hash).open");
    browser.until("document.querySelector(location.hash + ' pre.diff').innerText.includes('+ block = 2')");
    browser.click("#tree details[open] a[href^='#at-phase1']");
    browser.until("location.hash.startsWith('#at-phase1') && document.querySelector(location.hash).open");
    browser.click(".block:has(#final-script) button[data-copy]");
    browser.until("document.querySelector('.block:has(#final-script) [role=status]').innerText !== ''");
    // Numbers and colours are no part of the text.
    let shown = browser.run("return document.getElementById('final-script').textContent");
    assert_eq!(shown.as_str().unwrap().trim_end(), sealed.read("runs/r/final/solution.py").trim_end());
    assert!(
        browser.run("return document.querySelectorAll('#final-script :is(b, u, var, i)').length").as_u64()
            > Some(0)
    );
    browser.run(OPEN_ALL);
    browser.audit("report-finished-open");
    let charts = browser.run("return document.querySelectorAll('svg.chart').length").as_u64().unwrap();
    assert!(charts > 6, "{charts} charts");
}

#[test]
fn the_diagnostics_of_a_finished_run_are_read() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = held_out::task();
    let python = interpreter(&sealed, &format!("{SUBMIT}; {PREDICT}"));
    assert_eq!(sealed.run(&format!("run data --run-id r --set python={python} {SMALL}")).code, 0);
    let browser = Browser::start();
    open(&browser, &sealed, "r");
    browser.until_shown("#diagnostics", "The worst rows");
    browser.run(OPEN_ALL);
    // An audit takes long, because each point of the pictures is looked at.
    browser.audit_as("report-diagnostics-open", &[("light", DESK), ("dark", PHONE)]);
}

#[test]
fn reports_of_failed_and_running_runs_are_read() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, "echo 'ValueError: broken' >&2; exit 1");
    assert_eq!(sealed.run(&format!("run data --run-id bad --set python={python} {SMALL}")).code, 1);
    let browser = Browser::start();
    open(&browser, &sealed, "bad");
    browser.until_shown("#overview", "can be resumed");
    browser.until("document.querySelector('#failures').textContent.includes('ValueError: broken')");
    browser.run(OPEN_ALL);
    browser.audit("report-failed");

    let mut run = hanging(&sealed, "phase2/path-0/t0/ablation");
    report_with(&sealed, &["<dd>running</dd>", "ablation, since "]);
    open(&browser, &sealed, "r");
    browser.until_shown("#overview", "running");
    browser.run(OPEN_ALL);
    browser.audit("report-running");
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn the_report_of_a_hostile_run_is_text() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let (world, inputs) = hostile(PADDING);
    let sealed = Sealed::with(&[]);
    solve(&sealed.path("runs/evil"), &world, &inputs);
    assert_eq!(sealed.run("report evil").code, 0);
    let browser = Browser::start();
    open(&browser, &sealed, "evil");
    browser.run(OPEN_ALL);
    browser.audit("report-hostile");
    assert_eq!(browser.run("return window.attacked || 0"), 0);
    let strangers = "return document.querySelectorAll('img, body script ~ script, svg:not(.chart), [onclick], [style]').length";
    assert_eq!(browser.run(strangers), 0);
    assert!(browser.text("main").contains("window.attacked = 4"));
    // The report's content policy blocks what escaping might miss.
    browser.run("const evil = document.createElement('div'); evil.innerHTML = '<img src=x onerror=\"window.attacked = 7\">'; document.body.append(evil)");
    browser.run("const evil = document.createElement('script'); evil.textContent = 'window.attacked = 8'; document.body.append(evil)");
    assert_eq!(browser.run("return window.attacked || 0"), 0);
    assert!(browser.errors().iter().all(|line| line.contains("Content Security Policy")));
}

#[test]
fn the_report_of_500_scripts_opens() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let (world, inputs) = large(LINES);
    solve(&sealed.path("runs/large"), &world, &inputs);
    let made = Instant::now();
    assert_eq!(sealed.run("report large").code, 0);
    let made = made.elapsed();
    let bytes = std::fs::metadata(sealed.path("runs/large/report.html")).unwrap().len();
    let browser = Browser::start();
    let opened = Instant::now();
    open(&browser, &sealed, "large");
    let opened = opened.elapsed();
    let nodes =
        browser.run("return document.querySelectorAll('#tree details.node').length").as_u64().unwrap();
    println!("{nodes} solutions, {bytes} bytes: made in {made:?}, opened in {opened:?}");
    assert!(nodes > 500 && bytes < 5_000_000, "{nodes} solutions, {bytes} bytes");
    assert_eq!(browser.errors(), Vec::<String>::new());
    browser.run(OPEN_SOME);
    browser.audit_as("report-large", &[("dark", PHONE)]);
}

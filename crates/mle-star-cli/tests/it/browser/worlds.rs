//! Runs of a scripted world: one in which all untrusted text is an attack, and one with 500 scripts.

use std::fs;
use std::path::Path;
use std::time::Instant;

use mle_star::journal::{Frozen, Journal};
use mle_star::slots::Slots;
use mle_star::testing::World;
use mle_star::testing::worlds::{attack, hostile, large};
use mle_star_needs::needs;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::browser::chromium::{Browser, DESK, PHONE};
use crate::browser::report::OPEN_ALL;
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// Solves a task into a complete run folder.
fn solve(folder: &Path, world: &World, frozen: &Frozen) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("task.json"), "{}").unwrap();
    let journal = Journal::create(folder, frozen).unwrap();
    let slots = Slots::new(1);
    let run = world.solve(frozen, &journal, &slots);
    let finished = Runtime::new().unwrap().block_on(run).unwrap();
    fs::write(folder.join("result.json"), serde_json::to_string(&finished.result).unwrap()).unwrap();
}

/// The length of the long texts of a hostile run.
const PADDING: usize = 100_000;
/// Opens every tenth solution. The audit of all of them takes a minute.
const OPEN_SOME: &str = "document.querySelector('#tree > details').open = true; [...document.querySelectorAll('#tree details.node')].filter((_, n) => n % 10 === 0)\
    .forEach(node => [node, ...node.querySelectorAll('details')].forEach(inside => { inside.open = true; }))";
/// Lines of half a script in a large one.
const LINES: usize = 20;

#[test]
fn a_hostile_run_is_text() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let (world, inputs) = hostile(PADDING);
    let sealed = Sealed::with(&[]);
    // A valid folder name.
    let id = "\"><img src=x onerror=window.attacked=6> ' & \u{202e}%2e";
    solve(&sealed.path("runs").join(id), &world, &inputs);
    sealed.write(&format!("runs/{id}/logs/mle-star.log"), attack().as_bytes());
    sealed.write(&format!("runs/{id}/runners.json"), b"[]");
    let runner = json!({"time": "2026-01-02T03:04:05Z", "run_id": "r", "event": "runner", "runner": attack(),
        "state": "failed", "host": attack(), "slots": 1, "waited": null, "detail": attack()});
    sealed.write(&format!("runs/{id}/logs/events.jsonl"), format!("{runner}\n").as_bytes());

    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.at("/"));
    let unharmed = |name: &str| {
        browser.audit(name);
        assert_eq!(browser.run("return window.attacked || 0"), 0, "{name}");
        let strangers = "return document.querySelectorAll('main img, main script, main svg:not(.chart), [onclick], [style]').length";
        assert_eq!(browser.run(strangers), 0, "{name}");
    };
    unharmed("hostile-list");
    browser.click("tbody tr[id] th a");
    browser.until("document.querySelector('#doing .state')");
    unharmed("hostile-run");
    browser.run(OPEN_ALL);
    browser.until_shown("#runners", "window.attacked = 1");
    for part in ["window.attacked = 1", "window.attacked = 2", "window.attacked = 5", "⟨U+202E⟩"] {
        assert!(browser.text("main").contains(part), "{part} is shown");
    }
    assert_eq!(browser.run("return window.attacked || 0"), 0);
    let id_in_address: String = id.bytes().map(|byte| format!("%{byte:02x}")).collect();
    browser.open(&page.at(&format!("/start?folder={id_in_address}")));
    unharmed("hostile-start");

    let mut report = sealed.command("report");
    assert!(report.arg(id).status().unwrap().success());
    let file = sealed.path("report.html");
    fs::copy(sealed.path("runs").join(id).join("report.html"), &file).unwrap();
    browser.open(&format!("file://{}", file.display()));
    browser.run(OPEN_ALL);
    unharmed("hostile-report");
    assert!(browser.text("main").contains("window.attacked = 4"));
    // The report's content policy blocks what escaping might miss.
    browser.run("const evil = document.createElement('div'); evil.innerHTML = '<img src=x onerror=\"window.attacked = 7\">'; document.body.append(evil)");
    browser.run("const evil = document.createElement('script'); evil.textContent = 'window.attacked = 8'; document.body.append(evil)");
    assert_eq!(browser.run("return window.attacked || 0"), 0);
    assert!(browser.errors().iter().all(|line| line.contains("Content Security Policy")));
}

#[test]
fn a_run_of_500_scripts_opens() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let (world, inputs) = large(LINES);
    solve(&sealed.path("runs/large"), &world, &inputs);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    let answered = Instant::now();
    let bytes = page.get("/runs/large").body.len();
    let answered = answered.elapsed();
    let opened = Instant::now();
    browser.open(&page.at("/runs/large"));
    // The driver may be back before the browser has begun to read.
    browser.until("document.querySelectorAll('#tree details.node').length > 500");
    let opened = opened.elapsed();
    let nodes =
        browser.run("return document.querySelectorAll('#tree details.node').length").as_u64().unwrap();
    println!("{nodes} solutions, {bytes} bytes: first answer {answered:?}, then opened in {opened:?}");
    assert!(nodes > 500, "{nodes}");
    assert_eq!(browser.errors(), Vec::<String>::new());
    browser.run(OPEN_SOME);
    browser.until("document.querySelectorAll('#tree details.node[open] .inside').length > 50");
    browser.audit_as("run-large", &[("light", DESK), ("dark", PHONE)]);
}

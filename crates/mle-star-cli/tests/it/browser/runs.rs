//! Pages of runs, and their actions.

use std::process::Stdio;

use fantoccini::key::Key;
use mle_star_needs::needs;

use crate::browser::chromium::{Browser, DESK, PHONE, WIDE};
use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, interpreter};
use crate::recorded;
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// The text of a run's state.
const STATE: &str = "document.querySelector('#doing .state').innerText";
/// A script that prints until it is ended, while scripts are slow.
const STEPS: &str =
    "step=0; while [ -n \"$SLOW\" ]; do step=$((step+1)); echo \"<b>step $step</b>\"; sleep 0.2; done";
/// Whether the link to what runs now can be seen.
const LINKS_NOW: &str = "document.querySelector('nav a[href=\"#now\"]').checkVisibility()";
/// Whether the end of the first output is in sight.
const LAST_LINE_IS_SHOWN: &str = "const box = document.querySelector('#now pre'); \
    return box.firstElementChild.getBoundingClientRect().bottom <= box.getBoundingClientRect().bottom";

#[test]
fn a_point_tells_its_solution_and_opens_it() {
    const OPENED: &str = "document.querySelector('details.beside[open]')";
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = recorded::copied();
    let page = Served::of(&sealed, "--runs-dir recorded");
    let browser = Browser::start();
    browser.open(&page.at("/runs/flight-delays"));
    let score = recorded::score_of(&sealed, "phase1/candidate-0/run");
    // The first two points are baselines.
    let point =
        |width: u32, number: u32| format!("#picture svg:nth-of-type({width}) a.spot:nth-of-type({number})");
    let opened = |name: &str| format!("{OPENED}?.id === 'at-phase1_{name}'");
    let left = format!("{OPENED}?.querySelector('.inside').getBoundingClientRect().left");

    // Beside the page if there is room, by mouse and by keyboard.
    browser.resize(WIDE, 900);
    browser.click(&format!("{} .mark", point(1, 3)));
    browser.until(&opened("candidate-0"));
    browser.until(&format!("{left} >= innerWidth / 2 && {OPENED}.innerText.includes('import')"));
    browser.audit_as("run-beside", &[("light", WIDE), ("dark", WIDE)]);
    browser.resize(WIDE, 900);
    browser.press(Key::Escape);
    browser.until("!document.querySelector('details.beside') && document.activeElement.matches('.spot')");
    browser.until_shown("#picture .card", &format!("score\n{score} ["));
    browser.press(Key::Right);
    browser.until_shown("#picture .card", "CatBoost");
    browser.press(Key::Enter);
    browser.until(&opened("candidate-1"));
    browser.click("details.beside [data-close]");
    browser.until("!document.querySelector('details.node[open]')");
    // In its row if there is none.
    browser.resize(PHONE, 900);
    browser.click(&format!("{} .mark", point(3, 5)));
    browser.until(&format!("{left} < 100"));
    browser.resize(DESK, 900);

    // The list shows what is asked for.
    let shown = "return Array.from(document.querySelectorAll('#tree details.node')).filter(one => one.checkVisibility()).length";
    let all = browser.run(shown).as_u64().unwrap();
    browser.choose("#tree select[name=status]", "dropped");
    let dropped = browser.run(shown).as_u64().unwrap();
    browser.choose("#tree select[name=group]", "Phase 2: refinement, path 2");
    let of_path = browser.run(shown).as_u64().unwrap();
    assert!(0 < of_path && of_path < dropped && dropped < all, "{of_path} {dropped} {all}");
    assert_eq!(browser.text("#tree [role=status]"), format!("{of_path} of {all} steps"));
}

#[test]
fn a_run_is_watched_stopped_and_resumed() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let wait = format!("case $PWD in *merge-1*) {STEPS} ;; esac");
    let python = interpreter(&sealed, &format!("{wait}; {SUBMIT}; {SCORE}"));
    let line = format!("run data --run-id r --set python={python} {SMALL}");
    let mut slow = sealed.command("ui --json --port 0");
    slow.envs([SLOW]);
    let mut page = Served::started(slow);
    let browser = Browser::start();
    browser.open(&page.at("/"));
    let mut run = sealed.command(&line);
    let mut run = run.envs([SLOW]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    browser.until("document.querySelector('#news a')");
    browser.click("#news a");
    browser.until("document.querySelector('#run-r .state.running')");
    browser.click("a[href='/runs/r']");
    // This is lost if the page is loaded again.
    browser.run("window.same = true");
    browser.until_shown("#now", "<b>step 2</b>");
    browser.until_shown("#now", "merge 1: script, since ");
    browser.until(LINKS_NOW);
    browser.click("#tree > details > summary");
    browser.click("#tree details.node > summary");
    let step =
        browser.run("return document.querySelectorAll('#now pre')[0].textContent.match(/step/g).length");
    browser.until_shown("#now", &format!("<b>step {}</b>", step.as_u64().unwrap() + 10));
    assert_eq!(
        browser.run("return document.querySelectorAll('#tree details[open]').length > 0 && window.same"),
        true
    );
    assert_eq!(browser.run(LAST_LINE_IS_SHOWN), true);
    browser.audit("run-running");
    browser.click("#doing a[href$=stop]");
    browser.audit("stop");
    browser.click("button.danger");
    browser.until("location.pathname === '/runs/r'");
    browser.run("window.same = true");
    browser.until(&format!("{STATE} === 'unfinished' && !{LINKS_NOW}"));
    assert_eq!(browser.run("return window.same"), true);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(page.get("/runs/r/stop").status, 409);

    browser.click("#doing a[href$=resume]");
    browser.fill("input[name=time_limit]", "1");
    browser.click("main button");
    browser.until_shown(".trouble", "can only be raised");
    browser.open(&page.at("/runs/r/resume"));
    browser.click("main button");
    browser.until(&format!("document.querySelector('#doing') && {STATE} === 'running'"));
    // The page may be closed; the run continues.
    page.kill();
    let page = Served::of(&sealed, "");
    browser.open(&page.at("/runs/r/stop"));
    browser.click("button.danger");
    browser.until(&format!("document.querySelector('#doing') && {STATE} === 'unfinished'"));
    browser.click("#doing a[href$=resume]");
    browser.until("location.pathname === '/runs/r/resume'");
    browser.click("main button");
    browser.until("location.pathname === '/runs/r'");
    // The refused request and the ended server are on the console, as expected.
    browser.errors();
    browser.until(&format!("{STATE} === 'finished'"));
    assert!(sealed.path("runs/r/final/submission.csv").is_file());
    assert_eq!(browser.errors(), Vec::<String>::new());
}

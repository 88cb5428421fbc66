//! The list of runs.

use std::process::{Child, Command, Stdio};

use fantoccini::key::Key;
use mle_star_needs::needs;

use crate::browser::chromium::{Browser, DESK};
use crate::events::wait_for;
use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::Sealed;
use crate::ui::served::Served;

#[test]
fn new_runs_are_announced_once_each_and_known_ones_never() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{WHILE_SLOW}; {SUBMIT}; {SCORE}"));
    let line = |id: &str| format!("run data --run-id {id} --json --set python={python} {SMALL}");
    let begun = |id: &str| {
        let mut command = sealed.command(&line(id));
        let mut run = command.envs([SLOW]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_for(&mut run, &["script_started"]);
        run
    };
    let stopped = |mut run: Child| {
        assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
        run.wait().unwrap();
    };
    let known = begun("known");
    assert_eq!(sealed.run(&line("shown")).code, 0);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    // The filter hides a running run.
    browser.open(&page.at("/?text=shown"));
    assert_eq!(browser.run("return document.querySelectorAll('tbody tr[id]').length"), 1, "one row");
    browser.run("window.messages = 0; const events = new EventSource('/events?since=0');
        events.onmessage = event => { window.messages += JSON.parse(event.data).filter(s => s.id === 'run-known').length; };");
    browser.until("window.messages >= 1");
    stopped(known);
    // Its row was sent again, to this page too.
    browser.until("window.messages >= 2");
    assert_eq!(browser.text("#news"), "");
    let new = begun("new");
    browser.until_shown("#news", "A new run has begun");
    stopped(new);
    browser.run("window.ended = false; const more = new EventSource('/events?since=0');
        more.onmessage = event => { window.ended ||= JSON.parse(event.data).some(s => s.id === 'run-new' && s.html.includes('unfinished')); };");
    browser.until("window.ended");
    assert_eq!(browser.text("#news"), "A new run has begun: show it");
    browser.click("#news a");
    browser.until("location.search === '' && document.querySelectorAll('tbody tr[id]').length === 3");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// A phone of usual size, in pixels.
const PHONE: (u32, u32) = (390, 844);

/// Finished runs of two tasks.
fn four_runs() -> Sealed {
    let sealed = Sealed::with(&[]);
    for task in ["mine", "other"] {
        sealed.write_task(task);
    }
    for (id, task, score) in
        [("one", "mine", 3), ("two", "mine", 1), ("three", "mine", 2), ("four", "other", 5)]
    {
        let printed = SCORE.replace("0.5", &format!("{score}.5"));
        let python = interpreter(&sealed, &format!("{SUBMIT}; {printed}"));
        let line = format!("run {task} --run-id {id} --set seed={score} --set python={python} {SMALL}");
        assert_eq!(sealed.run(&line).code, 0);
    }
    sealed
}

#[test]
fn runs_are_grouped_marked_remarked_on_and_deleted() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = four_runs();
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.url);
    let rows = |of: &str| {
        browser.run(&format!("return [...document.querySelectorAll({of:?})].map(e => e.innerText).join()"))
    };
    assert_eq!(rows("tr.group a"), "other,mine", "the task of the newest run first");
    assert_eq!(rows("tbody tr[id] th a"), "four,three,two,one");
    assert_eq!(rows("tbody tr:has(.best) th a"), "two", "only where there are several");
    browser.audit("list-grouped");

    // On a phone, scores are visible without scrolling.
    browser.resize(PHONE.0, PHONE.1);
    let seen = "const box = document.querySelector('#run-four .score strong').getBoundingClientRect(); \
                return box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight && \
                document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(browser.run(seen), true);
    browser.resize(DESK, 900);

    browser.click("input[value=one]");
    browser.click("input[value=four]");
    browser.click("#chosen button[formaction]");
    browser.until("location.pathname === '/delete'");
    assert_eq!(sealed.names("runs").len(), 4, "asking deletes nothing");
    browser.click("button.danger");
    browser.until("location.pathname === '/'");
    assert_eq!(sealed.names("runs"), ["three", "two"]);
    assert_eq!(rows("tbody tr[id] th a"), "three,two");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn scores_of_chosen_runs_lie_over_each_other() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = four_runs();
    let other = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let said = sealed.run(&format!("run mine --run-id five --metric MAE --set python={other} {SMALL}"));
    assert_eq!(said.code, 0, "{said:?}");
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.url);
    let lines = |count: usize| {
        browser.until(&format!("document.querySelectorAll('#curves .course svg path').length === {count}"));
    };
    browser.click("input[value=one]");
    lines(1);
    browser.run("document.querySelector('input[value=two]').focus()");
    browser.press(Key::Space);
    lines(2);
    browser.click("input[value=five]");
    browser.until_shown("#overlay", "five is measured by MAE, not by RMSE: it is left out");
    lines(2);
    browser.click("#chosen button:not([formaction])");
    browser.until("location.pathname === '/compare'");
    lines(2);
    assert_eq!(browser.text("h2"), "Scores");
    browser.click("#show-1");
    let shown =
        "return [...document.querySelectorAll('.course')].map(e => getComputedStyle(e).display).join()";
    assert_eq!(browser.run(shown), "none,inline");
    assert_eq!(browser.text("#settings-heading ~ .wide tbody"), "seed\t1\t3");
    browser.click(".legend a[href='/runs/two']");
    browser.until("location.pathname === '/runs/two'");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

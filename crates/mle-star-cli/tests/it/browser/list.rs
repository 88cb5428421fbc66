//! The list of runs.

use mle_star_needs::needs;
use std::process::{Child, Command, Stdio};

use crate::browser::chromium::Browser;
use crate::events::wait_for;
use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::Sealed;
use crate::ui::served::Served;

#[test]
fn the_list_is_filtered_and_sorted() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    // The audit finds known errors, so its other results are meaningful.
    browser.open("data:text/html,<p style='color:%23ccc'>pale</p><img src='data:,'>");
    browser.bring_audit();
    let wrong = browser.violations().join("\n");
    assert!(wrong.contains("color-contrast") && wrong.contains("image-alt"), "{wrong}");
    browser.open(&page.url);
    assert!(browser.text("main").contains("There are no runs yet"));
    browser.audit("list-empty");
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    for id in ["first", "second"] {
        assert_eq!(sealed.run(&format!("run data --run-id {id} --set python={python} {SMALL}")).code, 0);
    }
    browser.open(&page.url);
    let order = "return [...document.querySelectorAll('tbody th')].map(cell => cell.innerText).join()";
    assert_eq!(browser.run(order), "second,first");
    browser.click("thead th:nth-child(2) a");
    browser.until("document.querySelector('th[aria-sort=ascending]')");
    assert_eq!(browser.run(order), "first,second");
    browser.click("thead th:nth-child(2) a");
    browser.until("document.querySelector('th[aria-sort=descending] a[href*=\"sort=run\"]')");
    assert_eq!(browser.run(order), "second,first");
    browser.audit("list");
    // The filter looks at tasks too, and this task has the random name of its folder: few letters may be in it.
    browser.fill("input[name=text]", "first");
    browser.click("form.filter button");
    browser.until("location.search === '?text=first&state=&sort=run&order=down'");
    assert_eq!(browser.run(order), "first");
}

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
    assert_eq!(browser.text("tbody"), browser.text("tbody tr"), "one row");
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
    browser.until("location.search === '' && document.querySelectorAll('tbody tr').length === 3");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

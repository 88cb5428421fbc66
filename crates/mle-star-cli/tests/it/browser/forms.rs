//! Forms on a run's page by keyboard: a note to the agents, a new run from a place, a remark, and the question before a run
//! is deleted.

use mle_star_needs::needs;

use crate::browser::chromium::Browser;
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// The Enter key of the WebDriver protocol.
const ENTER: char = '\u{e007}';

#[test]
fn notes_forks_remarks_and_deletion_work_by_keyboard() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, "exit 1");
    assert_eq!(sealed.run(&format!("run data --run-id bad --set python={python} {SMALL}")).code, 1);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    assert_eq!(sealed.run(&format!("run data --run-id good --set python={python} {SMALL}")).code, 0);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    let enter = |selector: &str| {
        browser.until(&format!("document.querySelector(\"{selector}\")"));
        browser.run(&format!("document.querySelector(\"{selector}\").focus()"));
        browser.press(ENTER);
    };

    browser.open(&page.at("/runs/bad"));
    enter("#doing a[href$='/note']");
    browser.until("location.pathname === '/runs/bad/note'");
    browser.audit("note");
    browser.fill("textarea[name=text]", "no <b>neural</b> nets");
    enter("main form button");
    browser.until("location.pathname === '/runs/bad'");
    browser.until_shown("#overview", "no <b>neural</b> nets");

    enter("#marks summary");
    browser.fill("#marks textarea", "too small");
    enter("#marks form[action$=remark] button");
    browser.until_shown("#marks", "too small");
    browser.audit("run-with-note");

    enter("#doing a[href^='/delete']");
    browser.until("location.pathname === '/delete'");
    enter("button.danger");
    browser.until("location.pathname === '/'");
    assert_eq!(sealed.names("runs"), ["good"]);

    browser.open(&page.at("/runs/good"));
    enter("#tree details.node:has(a[href*='/fork?']) > summary");
    enter("#tree details.node[open] a[href*='/fork?']");
    browser.until("location.pathname === '/runs/good/fork'");
    browser.audit("fork");
    enter("main form button");
    browser.until("location.pathname.startsWith('/runs/') && location.pathname !== '/runs/good/fork'");
    browser.until_shown("#overview", "Forked from good at ");
    browser.until_shown("#doing .state", "finished");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

//! The list of runs.

use crate::browser::chromium::Browser;
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;
use crate::ui::served::Served;

#[test]
#[ignore = "needs a browser in MLE_STAR_TEST_CHROMIUM"]
fn the_list_is_filtered_and_sorted() {
    let sealed = Sealed::with(&[]);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    // What the audit says of other pages means something.
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
    browser.fill("input[name=text]", "fir");
    browser.click("form.filter button");
    browser.until("location.search === '?text=fir&state=&sort=run&order=down'");
    assert_eq!(browser.run(order), "first");
}

//! A run is started from the page.

use fantoccini::key::Key;
use mle_star_needs::needs;

use crate::browser::chromium::Browser;
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// The role and the kind of the column with this name, below its name.
fn taken_for(browser: &Browser, column: &str) -> String {
    let head = format!("document.querySelector('.preview button[value={column}]').closest('th')");
    let text = browser.run(&format!("return {head}.querySelector('.kind').innerText"));
    text.as_str().unwrap().to_owned()
}

/// Whether the column with this name is the one to predict.
fn until_predicted(browser: &Browser, column: &str) {
    browser.until(&format!(
        "(document.querySelector('.preview button[aria-pressed=true]') || {{}}).value === '{column}'"
    ));
}

#[test]
fn a_run_is_started_from_a_chosen_folder_with_a_clicked_target() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.at("/start"));
    browser.audit("start-choose");
    browser.click(".entries a[href='/start?within=data']");
    browser.until("location.search === '?within=data'");
    assert_eq!(browser.text(".entries").lines().next(), Some("↑ up"));
    browser.click("a.button[href='/start?folder=data']");
    until_predicted(&browser, "price");
    assert_eq!(taken_for(&browser, "price"), "target, numbers");
    assert_eq!(taken_for(&browser, "id"), "id, whole numbers");
    assert_eq!(taken_for(&browser, "size"), "whole numbers");
    assert_eq!(browser.run("return document.querySelector('[name=metric]').placeholder"), "RMSE");
    assert_eq!(browser.run("return document.querySelector('main').innerText.includes('--')"), false);

    // What is wrong stands in the form, beside what was entered.
    browser.fill("input[name=target]", "nothing");
    browser.press(Key::Enter);
    browser.until_shown(".trouble", "Give one of its columns with target");
    assert_eq!(browser.run("return document.querySelector('input[name=target]').value"), "nothing");
    assert!(!browser.text(".trouble").contains("--"), "{}", browser.text(".trouble"));
    browser.fill("input[name=target]", "price");
    browser.fill("input[name=metric]", "MAE");
    browser.click(".buttons button[name=look]");
    browser.until("location.search.includes('metric=MAE') && document.querySelector('button[name=start]')");

    // By keyboard: a name in the head of the table is a button.
    browser.run("document.querySelector('.preview button[value=size]').focus()");
    browser.press(Key::Enter);
    until_predicted(&browser, "size");
    browser.click(".preview button[value=price]");
    until_predicted(&browser, "price");
    browser.click("details:has(textarea) > summary");
    let settings = format!("python={python}\n{}", SMALL.replace("--set ", "").replace(' ', "\n"));
    browser.fill("textarea[name=settings]", &settings);
    browser.choose("select[name=time_limit]", "1h");
    browser.choose("select[name=agents]", "offline");
    browser.click("button[name=start]");
    let finished = "(document.querySelector('#doing .state') || {}).textContent === 'finished'";
    // On a busy machine, a run takes longer than anything else on a page.
    browser.until(&format!("location.pathname !== '/start' && performance.now() > 25000 || {finished}"));
    browser.until(finished);
    let runs = sealed.names("runs");
    assert_eq!(runs.len(), 1, "{runs:?}");
    let read = |name: &str| sealed.read(&format!("runs/{}/{name}", runs[0]));
    assert!(read("task.json").contains("\"evaluation_metric\": \"MAE\""), "{}", read("task.json"));
    assert!(read("config.json").contains("\"time_limit_seconds\": 3600"), "{}", read("config.json"));
}

#[test]
fn open_questions_are_a_form() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let rows: String =
        (0..120).map(|row| format!("{},{},{},{}\n", row % 37, row % 5, row * 3, row % 11)).collect();
    let sealed = Sealed::with(&[
        ("data/description.md", "Predict the price.\n\n# Evaluation\n\nScores are RMSE or MAE.\n"),
        ("one/houses.csv", &format!("size,town,worth,age\n{rows}")),
    ]);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.at("/start?folder=data"));
    browser.until_shown(".question legend", "RMSE");
    browser.audit("start-question");
    assert_eq!(browser.run("return document.querySelector('button[name=start]')"), serde_json::Value::Null);
    browser.click(".question input[value=MAE]");
    browser.click(".buttons button[name=look]");
    browser.until("document.querySelector('button[name=start]')");
    assert_eq!(browser.run("return document.querySelector('input[name=metric]').value"), "MAE");

    // Which column to predict is a question that a click on its head answers.
    browser.open(&page.at("/start?folder=one/houses.csv"));
    browser.until_shown("main", "Which column shall be predicted?");
    browser.click(".preview button[value=worth]");
    until_predicted(&browser, "worth");
    assert_eq!(browser.run("return document.querySelector('[name=metric]').placeholder"), "RMSE");
}

#[test]
fn files_are_sent_and_an_example_is_made() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named("MLE_STAR_TEST_AXE"));
    let sealed = Sealed::with(&[]);
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.at("/start"));
    let rows = "Array.from({length: 120}, (_, row) => `\\n${row % 7},${row % 5}`).join('')";
    let file = format!("new File(['a,target' + {rows}], '../my rows.csv')");
    browser.run(&format!(
        "const all = new DataTransfer(); all.items.add({file}); \
         document.querySelector('h1').dispatchEvent(new DragEvent('drop', {{dataTransfer: all, bubbles: true}}))"
    ));
    until_predicted(&browser, "target");
    assert_eq!(sealed.names("uploads"), ["my rows"]);
    assert_eq!(sealed.names("uploads/my rows"), ["my rows.csv"]);
    browser.open(&page.at("/start"));
    browser.click("form[action='/start/example'] button");
    until_predicted(&browser, "delayed");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

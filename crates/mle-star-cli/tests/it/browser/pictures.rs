//! The pictures of the page in the documentation. `cargo xtask pictures` makes them.

use mle_star_needs::needs;

use crate::browser::chromium::Browser;
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// The runs directory with the recorded run.
const RUNS: &str = "MLE_STAR_TEST_PICTURED_RUNS";

#[test]
fn pictures_are_taken_of_the_recorded_run() {
    needs!(Named("MLE_STAR_TEST_CHROMIUM"), Named(RUNS));
    let sealed = Sealed::empty();
    std::os::unix::fs::symlink(std::env::var(RUNS).unwrap(), sealed.path("runs")).unwrap();
    let page = Served::of(&sealed, "");
    let browser = Browser::start();
    browser.open(&page.at("/runs/flight-delays"));
    browser.resize(1100, 620);
    // A path that a reader would have.
    let (here, home) = (sealed.path("").display().to_string(), "/home/me/");
    browser.run(&format!(
        "document.querySelectorAll('.path').forEach(path => path.textContent = path.textContent.replace('{here}', '{home}'))"
    ));
    browser.run("document.querySelector('#overview').scrollIntoView()");
    browser.capture("page");

    // The last refinement that was kept, if there is one on the way to the best solution: its plan and its change.
    browser.resize(1440, 600);
    let kept = |nodes: &str| {
        format!(
            "[...document.querySelectorAll('{nodes}')].filter(node => /\\/k\\d/.test(node.innerText)).at(-1)"
        )
    };
    let node = format!("({} ?? {})", kept("#tree details.kept:has(.way)"), kept("#tree details.kept"));
    browser.run(&format!("location.hash = {node}.id"));
    browser.until("document.querySelector('details.beside[open] .inside')");
    browser.run("document.querySelector('details.beside').scrollIntoView({block: 'center'})");
    browser.capture("page-code");
}

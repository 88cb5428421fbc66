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
    browser.resize(1400, 900);
    browser.capture("page");

    browser.run("document.querySelector('#data').scrollIntoView()");
    browser.capture("page-data");

    // The last refinement that was kept: its plan and its change, beside the picture.
    let kept = "[...document.querySelectorAll('#tree details.kept')].filter(node => /\\/k\\d/.test(node.textContent)).at(-1)";
    browser.run(&format!("location.hash = ({kept}).id"));
    browser.until("document.querySelector('details.beside[open] .inside')");
    browser.run("document.querySelector('#picture').scrollIntoView()");
    browser.capture("page-code");
}

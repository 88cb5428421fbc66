//! Pages in a real browser: content, clicks, and an accessibility audit in light and dark, wide and narrow.
//! Screenshots are saved in `target/screenshots`.

mod chromium;
mod compare;
mod forms;
mod list;
mod now;
mod pictures;
mod report;
mod runners;
mod runs;
mod worlds;

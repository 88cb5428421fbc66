//! Pages in a real browser: content, clicks, and an accessibility audit in light and dark, wide and narrow.
//! Screenshots are saved in `target/screenshots`.

mod chromium;
mod compare;
mod list;
mod report;
mod runners;
mod runs;
mod worlds;

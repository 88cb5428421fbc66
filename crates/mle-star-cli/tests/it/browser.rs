//! Pages in a real browser: what is shown, what a click does, and an audit of accessibility in light and dark, wide
//! and narrow. Pictures of all of it are left in `target/screenshots`.

mod chromium;
mod compare;
mod list;
mod report;
mod runs;
mod worlds;

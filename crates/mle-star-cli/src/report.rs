//! Writes `report.html` into a run folder; [`updates`] rewrites it while the run goes on.

pub mod updates;

use std::path::PathBuf;

use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::html::{self, Extent};
use mle_star_report::run_view::RunView;

use mle_star_run::runs::inputs::{unwritable, write_atomically};

/// Writes the report of a run; returns its path.
///
/// # Errors
/// The folder cannot be written.
pub fn write(view: &RunView, extent: Extent) -> Result<PathBuf, Trouble> {
    let html = html::render(view, extent).map_err(|error| {
        Trouble::new(
            format!("cannot make the report: {error:#}"),
            "this is a bug in mle-star, please report it",
        )
    })?;
    keep(view, &html)
}

/// Writes a rendered report; returns its path.
///
/// # Errors
/// The folder cannot be written.
pub fn keep(view: &RunView, html: &str) -> Result<PathBuf, Trouble> {
    let path = view.folder.join(layout::REPORT);
    write_atomically(&path, html.as_bytes()).map_err(|error| unwritable(&view.folder, &error))?;
    Ok(path)
}

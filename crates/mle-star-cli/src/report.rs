//! The report: one HTML file that opens without a network.
//!
//! It is a frame around the parts of [`views`], with style and script inlined; its content security policy allows nothing
//! else. [`updates`] rewrites it while the run goes on.

pub mod updates;

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::context;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use sha2::{Digest as _, Sha256};

use crate::runs::inputs::{unwritable, write_whole};
use crate::runs::run_view::RunView;
use crate::views;

const FRAME: &str = include_str!("../templates/report.html");

/// Writes `report.html` into the run folder; returns its path.
///
/// # Errors
/// The folder cannot be written.
pub fn write(view: &RunView) -> Result<PathBuf, Trouble> {
    let html = render(view).map_err(|error| {
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
    write_whole(&path, html.as_bytes()).map_err(|error| unwritable(&view.folder, &error))?;
    Ok(path)
}

/// Renders the report.
///
/// # Errors
/// A template is broken.
pub fn render(view: &RunView) -> Result<String, minijinja::Error> {
    let mut environment = views::environment()?;
    environment.add_template("report", FRAME)?;
    let views = views::of_run(view);
    let (mut parts, mut sections) = (Vec::new(), Vec::new());
    for (name, title) in views::PARTS {
        let section = views::part(&environment, name, &views)?;
        if !section.is_empty() {
            parts.push([name, title]);
            sections.push(section);
        }
    }
    environment.get_template("report")?.render(context! {
        task => views.overview.task,
        run_id => views.overview.run_id,
        style => views::STYLE,
        style_hash => hash(views::STYLE),
        script => views::SCRIPT,
        script_hash => hash(views::SCRIPT),
        parts => parts,
        sections => sections,
    })
}

/// The hash of a text for the content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

//! The report: one HTML file that opens without a network.
//!
//! The report is a frame around the [`PARTS`], with style and script inlined; its content security policy allows nothing else.
//! The web page has the same parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::Serde;
use minijinja::{Environment, Error, context};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::at_work::AtWork;
use crate::export::{NOTEBOOK, notebook};
use crate::page;
use crate::run_report::RunReport;
use crate::run_view::{RunView, State};
use crate::views::{Context, PARTS, Part};

pub use crate::page::{SCRIPT, STYLE, environment};

const FRAME: &str = include_str!("../templates/report.html");
/// The largest file that a report holds for saving, in bytes.
const MAX_DOWNLOAD_BYTES: usize = 1 << 20;

/// Renders the report.
///
/// # Errors
/// A template is broken.
pub fn render(view: &RunView) -> Result<String, Error> {
    let mut environment = environment()?;
    environment.add_template("report", FRAME)?;
    let at_work = AtWork::of(view);
    let run = Context::of(view, &at_work);
    let (mut parts, mut sections) = (Vec::new(), Vec::new());
    for one in PARTS {
        let section = part(&environment, one, &run)?;
        if !section.is_empty() {
            parts.extend(one.link());
            sections.push(section);
        }
    }
    environment.get_template("report")?.render(context! {
        task => &view.summary.task,
        run_id => &view.summary.run.run_id,
        style => STYLE,
        style_hash => hash(STYLE),
        script => SCRIPT,
        script_hash => hash(SCRIPT),
        parts => Serde(parts),
        sections => Serde(sections),
        downloads => Serde(downloads(view, &run.report)),
    })
}

/// The notebook of a finished run, as a name and an address that holds the file itself. One that is too large is left out.
fn downloads(view: &RunView, report: &RunReport) -> Vec<[String; 2]> {
    let Some(result) = &view.result else { return Vec::new() };
    let notebook = notebook(report, &result.task.competition_id, &result.final_solution.content);
    let text = serde_json::to_string_pretty(&notebook).unwrap_or_default();
    let small = Some(text).filter(|text| text.len() <= MAX_DOWNLOAD_BYTES);
    let address = |text| format!("data:application/x-ipynb+json;base64,{}", STANDARD.encode(text));
    small.map(|text| [NOTEBOOK.to_owned(), address(text)]).into_iter().collect()
}

/// One part as HTML, empty if the run has no such part.
///
/// # Errors
/// The template is broken.
pub fn part(environment: &Environment<'_>, part: &Part, run: &Context<'_>) -> Result<String, Error> {
    let Some(values) = (part.values)(run) else { return Ok(String::new()) };
    let is_over = run.report.summary.run.state != State::Running;
    let more = context! { report => Serde(&run.report), is_over, logs => () };
    page::section(environment, part, &values, more)
}

/// What runs now as HTML. Output of scripts links to files below the address `logs`, if they are served.
///
/// # Errors
/// The template is broken.
pub fn now(environment: &Environment<'_>, values: &Value, logs: Option<&str>) -> Result<String, Error> {
    page::section(environment, &PARTS[1], values, context! { is_over => false, logs })
}

/// The hash of a text for the content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

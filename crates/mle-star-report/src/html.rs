//! The report: one HTML file that opens without a network.
//!
//! The report is a frame around the [`PARTS`], with style and script inlined; its content security policy allows nothing else.
//! The web page has the same parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::Serde;
use minijinja::{Environment, Error, context};
use mle_star_domain::layout;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::at_work::AtWork;
use crate::export::{NOTEBOOK, notebook};
use crate::run_report::RunReport;
use crate::run_view::{RunView, State};
use crate::views::{Context, PARTS, Part};
use crate::{files, page};

pub use crate::page::{SCRIPT, STYLE, environment};

const FRAME: &str = include_str!("../templates/report.html");
/// The largest file that a report holds for saving, in bytes.
const MAX_DOWNLOAD_BYTES: usize = 150_000;

/// How much of the solutions a report has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The plans of all, and the changes of those that were kept.
    Brief,
    /// Every script and every change, also in print.
    Full,
}

/// Renders the report.
///
/// # Errors
/// A template is broken.
pub fn render(view: &RunView, extent: Extent) -> Result<String, Error> {
    let mut environment = environment()?;
    environment.add_template("report", FRAME)?;
    environment.add_global("is_full", extent == Extent::Full);
    let at_work = AtWork::of(view);
    let run = Context::of(view, &at_work);
    let report = RunReport::with(&run);
    let (mut parts, mut sections) = (Vec::new(), Vec::new());
    for one in PARTS {
        let section = part(&environment, one, &run, &report)?;
        if !section.is_empty() {
            parts.extend(one.link());
            sections.push(section);
        }
    }
    environment.get_template("report")?.render(context! {
        task => &view.summary.task,
        run_id => &view.summary.run.run_id,
        state => view.summary.run.state.name(),
        style => STYLE,
        style_hash => hash(STYLE),
        script => SCRIPT,
        script_hash => hash(SCRIPT),
        parts => Serde(parts),
        sections => Serde(sections),
        downloads => Serde(downloads(view, &report)),
    })
}

/// Submission, script and notebook of a finished run, each as a label, a name and an address that holds the file itself. Those that
/// are too large are left out.
fn downloads(view: &RunView, report: &RunReport) -> Vec<[String; 3]> {
    let Some(result) = &view.result else { return Vec::new() };
    let script = &result.final_solution.content;
    let notebook = notebook(report, &result.task.competition_id, script);
    let submission = format!("{}/{}", layout::FINAL, layout::SUBMISSION);
    let submission = files::read(&view.folder, &submission, MAX_DOWNLOAD_BYTES as u64).ok();
    let files = [
        ("Submission", layout::SUBMISSION, "text/csv", submission),
        ("Script", layout::SOLUTION, "text/x-python", Some(script.clone())),
        ("Notebook", NOTEBOOK, "application/x-ipynb+json", serde_json::to_string_pretty(&notebook).ok()),
    ];
    let address = |(label, name, kind, text): (&str, &str, &str, Option<String>)| {
        let text = text.filter(|text| text.len() <= MAX_DOWNLOAD_BYTES)?;
        Some([label.to_owned(), name.to_owned(), format!("data:{kind};base64,{}", STANDARD.encode(text))])
    };
    files.into_iter().filter_map(address).collect()
}

/// One part as HTML, empty if the run has no such part.
///
/// # Errors
/// The template is broken.
pub fn part(
    environment: &Environment<'_>,
    part: &Part,
    run: &Context<'_>,
    report: &RunReport,
) -> Result<String, Error> {
    let Some(values) = (part.values)(run, report) else { return Ok(String::new()) };
    let is_over = report.summary.run.state != State::Running;
    let more = context! { report => Serde(report), is_over, logs => () };
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

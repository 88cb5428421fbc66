//! The report: one HTML file that opens without a network.
//!
//! It is a frame around the [`PARTS`], with style and script inlined; its content security policy allows nothing else.
//! The web page has the same parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, context};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::at_work::AtWork;
use crate::export::{NOTEBOOK, notebook};
use crate::page::{self, Part};
use crate::run_report::RunReport;
use crate::run_view::{RunView, State};
use crate::views::{self, Context};

pub use crate::page::{SCRIPT, STYLE, environment};

const FRAME: &str = include_str!("../templates/report.html");
/// The largest file that a report holds for saving, in bytes.
const LARGEST_DOWNLOAD: usize = 1 << 20;

/// The parts in order: name and title.
pub const PARTS: [(&str, &str); 15] = [
    ("overview", "Overview"),
    ("now", "Now"),
    ("trust", "How far to trust this score"),
    ("importance", "What matters"),
    ("diagnostics", "Diagnostics"),
    ("scores", "Scores"),
    ("tree", "Solutions"),
    ("ledger", "Accepted changes"),
    ("ablation", "Ablation studies"),
    ("leakage", "Leakage"),
    ("models", "Models"),
    ("failures", "Failures"),
    ("runners", "Runners"),
    ("costs", "Cost and time"),
    ("script", "Script and inputs"),
];

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
    for (name, title) in PARTS {
        let section = part(&environment, name, &run)?;
        if !section.is_empty() {
            parts.push([name, title]);
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
    let small = Some(text).filter(|text| text.len() <= LARGEST_DOWNLOAD);
    let address = |text| format!("data:application/x-ipynb+json;base64,{}", STANDARD.encode(text));
    small.map(|text| [NOTEBOOK.to_owned(), address(text)]).into_iter().collect()
}

/// One part as HTML: a `<section>` whose id is the part's name. Empty if the run has no such part.
///
/// # Errors
/// There is no such part, or its template is broken.
pub fn part(environment: &Environment<'_>, name: &str, run: &Context<'_>) -> Result<String, Error> {
    let known = PARTS.iter().find(|(part, _)| *part == name);
    let Some((name, title)) = known else {
        return Err(Error::new(ErrorKind::TemplateNotFound, format!("there is no part {name}")));
    };
    let Some(values) = views::part(run, name) else { return Ok(String::new()) };
    let is_over = run.report.summary.run.state != State::Running;
    page::section(environment, &Part { name, title, is_over, logs: None, report: Some(&run.report) }, &values)
}

/// What runs now as HTML. Output of scripts links to files below the address `logs`, if they are served.
///
/// # Errors
/// The template is broken.
pub fn now(environment: &Environment<'_>, values: &Value, logs: Option<&str>) -> Result<String, Error> {
    let (name, title) = PARTS[1];
    page::section(environment, &Part { name, title, is_over: false, logs, report: None }, values)
}

/// The hash of a text for the content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

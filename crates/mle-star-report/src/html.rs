//! The report: one HTML file that opens without a network.
//!
//! It is a frame around the [`PARTS`], with style and script inlined; its content security policy allows nothing else.
//! The web page has the same parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::{Environment, Error, ErrorKind, context};
use sha2::{Digest as _, Sha256};

use crate::page::{self, Part};
use crate::run_view::RunView;
use crate::views::{self, Views};

pub use crate::page::{SCRIPT, STYLE, environment};

const FRAME: &str = include_str!("../templates/report.html");

/// The parts in order: name and title.
pub const PARTS: [(&str, &str); 12] = [
    ("overview", "Overview"),
    ("trust", "How far to trust this score"),
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
    let views = views::of_run(view);
    let (mut parts, mut sections) = (Vec::new(), Vec::new());
    for (name, title) in PARTS {
        let section = part(&environment, name, &views)?;
        if !section.is_empty() {
            parts.push([name, title]);
            sections.push(section);
        }
    }
    environment.get_template("report")?.render(context! {
        task => views.overview.task,
        run_id => views.overview.run_id,
        style => STYLE,
        style_hash => hash(STYLE),
        script => SCRIPT,
        script_hash => hash(SCRIPT),
        parts => parts,
        sections => sections,
    })
}

/// One part as HTML: a `<section>` whose id is the part's name. Empty if the run has no such part.
///
/// # Errors
/// There is no such part, or its template is broken.
pub fn part(environment: &Environment<'_>, name: &str, views: &Views) -> Result<String, Error> {
    let known = PARTS.iter().find(|(part, _)| *part == name);
    let Some((name, title)) = known else {
        return Err(Error::new(ErrorKind::TemplateNotFound, format!("there is no part {name}")));
    };
    let part = Part { name, title, is_over: views.overview.is_over };
    match *name {
        "overview" => page::section(environment, &part, &views.overview),
        "trust" => match &views.trust {
            Some(trust) => page::section(environment, &part, trust),
            None => Ok(String::new()),
        },
        "scores" => page::section(environment, &part, &views.scores),
        "tree" => page::section(environment, &part, &views.tree),
        "ledger" => page::section(environment, &part, &views.ledger),
        "ablation" => page::section(environment, &part, &views.ablation),
        "leakage" => page::section(environment, &part, &views.leakage),
        "models" => page::section(environment, &part, &views.models),
        "failures" => page::section(environment, &part, &views.failures),
        "runners" => match &views.runners {
            Some(runners) => page::section(environment, &part, runners),
            None => Ok(String::new()),
        },
        "costs" => page::section(environment, &part, &views.costs),
        _ => page::section(environment, &part, &views.script),
    }
}

/// The hash of a text for the content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

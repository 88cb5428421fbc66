//! Renders templates as HTML.
//!
//! Text from models, scripts and users is untrusted. The formatter of the [`environment`] escapes whatever a
//! template prints, and makes characters visible that would hide or reorder text. Only charts, which this program
//! draws, are markup. Parts use no inline styles or handlers, so a page can forbid them.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior};
use serde::Serialize;

use crate::filters;
use crate::markup::escaped;
use crate::run_report::RunReport;

/// The style sheet of the parts and of the report.
pub const STYLE: &str = include_str!("../templates/style.css");
/// The script of the parts. The parts are readable without it.
pub const SCRIPT: &str = include_str!("../templates/page.js");

/// The templates of these files.
macro_rules! templates {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("../templates/", $name)))),*] };
}

const TEMPLATES: [(&str, &str); 17] = templates!(
    "parts/pieces.html" "parts/overview.html" "parts/now.html" "parts/trust.html" "parts/importance.html"
    "parts/diagnostics.html" "parts/scores.html" "parts/tree.html" "parts/ledger.html" "parts/ablation.html"
    "parts/leakage.html" "parts/models.html" "parts/failures.html" "parts/runners.html" "parts/costs.html"
    "parts/script.html" "show.txt"
);

/// A part of a page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Part<'a> {
    /// Its name, which is that of its template.
    pub name: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Whether the run has ended, so that nothing changes any more.
    pub is_over: bool,
    /// The address below which files of `logs/` are served, if they are.
    pub logs: Option<&'a str>,
    /// The report of the run.
    pub report: Option<&'a RunReport>,
}

/// What a template reads.
#[derive(Serialize)]
struct Context<'a> {
    #[serde(flatten)]
    part: &'a Part<'a>,
    v: &'a serde_json::Value,
}

/// The compiled templates of the parts. Templates of the surrounding page can be added.
///
/// # Errors
/// A built-in template is broken.
pub fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|name| {
        if name.ends_with(".txt") { AutoEscape::None } else { AutoEscape::Html }
    });
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_formatter(print);
    filters::add(&mut environment);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// Renders a part of a page: a `<section>` whose id is the part's name.
///
/// # Errors
/// There is no such part, or its template is broken.
pub fn section(
    environment: &Environment<'_>,
    part: &Part<'_>,
    values: &serde_json::Value,
) -> Result<String, Error> {
    let template = environment.get_template(&format!("parts/{}.html", part.name))?;
    template.render(Serde(&Context { part, v: values }))
}

/// Prints a value: markup unchanged, nothing for `None`, and text escaped, unless the template is one of plain text.
fn print(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    let is_markup = matches!(state.auto_escape(), AutoEscape::Html);
    let written = match value.as_str() {
        Some(text) if !is_markup => out.write_str(text),
        Some(text) if value.is_safe() => out.write_str(text),
        Some(text) => out.write_str(&escaped(text)),
        None if value.is_undefined() => return Err(Error::from(ErrorKind::UndefinedError)),
        None if value.is_none() => Ok(()),
        None => out.write_str(&escaped(&value.to_string())),
    };
    written.map_err(|_| Error::new(ErrorKind::WriteFailure, "the page cannot be written"))
}

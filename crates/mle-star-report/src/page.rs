//! Renders templates as HTML.
//!
//! Text from models, scripts and users is untrusted. The formatter of the [`environment`] escapes whatever a
//! template prints, and makes characters visible that would hide or reorder text. Only charts, which this program
//! draws, are markup. Parts use no inline styles or handlers, so a page can forbid them.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, context};

use crate::filters;
use crate::markup::escaped;
use crate::views::{PARTS, Part, Shape};

/// The style sheet of the parts and of the report.
pub const STYLE: &str =
    concat!(include_str!("../templates/style.css"), include_str!("../templates/picture.css"));
/// The script of the parts. The parts are readable without it.
pub const SCRIPT: &str = include_str!("../templates/page.js");

/// The template of what stands around a part.
const PART: &str = "parts/part.html";
/// Templates beside those of the parts.
const OTHERS: [(&str, &str); 4] = [
    (PART, include_str!("../templates/parts/part.html")),
    ("parts/pieces.html", include_str!("../templates/parts/pieces.html")),
    ("parts/plots.html", include_str!("../templates/parts/plots.html")),
    ("show.txt", include_str!("../templates/show.txt")),
];

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
    environment.add_global("is_full", true);
    let parts = PARTS.iter().map(|part| (part.path, part.template));
    parts.chain(OTHERS).try_for_each(|(name, text)| environment.add_template(name, text))?;
    Ok(environment)
}

/// Renders a part of a page, a `<section>` whose ID is the part's name, from its values and those that `more` has.
///
/// # Errors
/// The template is broken.
pub fn section(
    environment: &Environment<'_>,
    part: &Part,
    values: &serde_json::Value,
    more: Value,
) -> Result<String, Error> {
    let Part { name, title, path, shape, .. } = *part;
    let body =
        environment.get_template(path)?.render(context! { name, title, v => Serde(values), ..more })?;
    environment.get_template(PART)?.render(context! { name, title, body, is_fold => shape == Shape::Fold })
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

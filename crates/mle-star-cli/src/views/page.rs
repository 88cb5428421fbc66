//! Renders views as HTML. Only this module turns text into markup.
//!
//! Text from models, scripts and users is untrusted. The formatter of the [`environment`] escapes whatever a
//! template prints, and makes characters visible that would hide or reorder text. Only charts, which this program
//! draws, are markup. Parts use no inline styles or handlers, so a page can forbid them.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior};
use serde::Serialize;

use super::Views;
use crate::output::sanitize::is_invisible;

/// The style sheet of the parts and of the report.
pub const STYLE: &str = include_str!("../../templates/style.css");
/// The script of the parts. The parts are readable without it.
pub const SCRIPT: &str = include_str!("../../templates/page.js");

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

const TEMPLATES: [(&str, &str); 13] = [
    ("parts/pieces.html", include_str!("../../templates/parts/pieces.html")),
    ("parts/overview.html", include_str!("../../templates/parts/overview.html")),
    ("parts/trust.html", include_str!("../../templates/parts/trust.html")),
    ("parts/scores.html", include_str!("../../templates/parts/scores.html")),
    ("parts/tree.html", include_str!("../../templates/parts/tree.html")),
    ("parts/ledger.html", include_str!("../../templates/parts/ledger.html")),
    ("parts/ablation.html", include_str!("../../templates/parts/ablation.html")),
    ("parts/leakage.html", include_str!("../../templates/parts/leakage.html")),
    ("parts/models.html", include_str!("../../templates/parts/models.html")),
    ("parts/failures.html", include_str!("../../templates/parts/failures.html")),
    ("parts/runners.html", include_str!("../../templates/parts/runners.html")),
    ("parts/costs.html", include_str!("../../templates/parts/costs.html")),
    ("parts/script.html", include_str!("../../templates/parts/script.html")),
];

/// The compiled templates of the parts. Templates of the surrounding page can be added.
///
/// # Errors
/// A built-in template is broken.
pub fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_formatter(print);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
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
    let head = Head { run: &views.overview, title };
    match *name {
        "overview" => head.render(environment, name, &views.overview),
        "trust" => match &views.trust {
            Some(trust) => head.render(environment, name, trust),
            None => Ok(String::new()),
        },
        "scores" => head.render(environment, name, &views.scores),
        "tree" => head.render(environment, name, &views.tree),
        "ledger" => head.render(environment, name, &views.ledger),
        "ablation" => head.render(environment, name, &views.ablation),
        "leakage" => head.render(environment, name, &views.leakage),
        "models" => head.render(environment, name, &views.models),
        "failures" => head.render(environment, name, &views.failures),
        "runners" => match &views.runners {
            Some(runners) => head.render(environment, name, runners),
            None => Ok(String::new()),
        },
        "costs" => head.render(environment, name, &views.costs),
        _ => head.render(environment, name, &views.script),
    }
}

/// The context of every part.
struct Head<'a> {
    run: &'a super::overview::Overview,
    title: &'static str,
}

#[derive(Serialize)]
struct Context<'a, T> {
    name: &'a str,
    title: &'a str,
    is_over: bool,
    v: &'a T,
}

impl Head<'_> {
    fn render(
        &self,
        environment: &Environment<'_>,
        name: &str,
        view: &impl Serialize,
    ) -> Result<String, Error> {
        let context = Context { name, title: self.title, is_over: self.run.is_over, v: view };
        environment.get_template(&format!("parts/{name}.html"))?.render(Serde(&context))
    }
}

/// Prints a value: markup unchanged, nothing for `None`, and text escaped.
fn print(out: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    let written = match value.as_str() {
        Some(text) if value.is_safe() => out.write_str(text),
        Some(text) => write_escaped(text, |part| out.write_str(part)),
        None if value.is_undefined() => return Err(Error::from(ErrorKind::UndefinedError)),
        None if value.is_none() => Ok(()),
        None => write_escaped(&value.to_string(), |part| out.write_str(part)),
    };
    written.map_err(|_| Error::new(ErrorKind::WriteFailure, "the page cannot be written"))
}

/// Escapes a text for markup and for quoted attributes.
pub fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let done = write_escaped(text, |part| {
        written.push_str(part);
        Ok(())
    });
    done.map_or_else(|_| String::new(), |()| written)
}

fn write_escaped(text: &str, mut write: impl FnMut(&str) -> std::fmt::Result) -> std::fmt::Result {
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        let entity = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            '\n' | '\t' => continue,
            c if is_invisible(c) => "",
            _ => continue,
        };
        write(&text[plain..at])?;
        match entity {
            "" => write(&format!("⟨U+{:04X}⟩", u32::from(c)))?,
            entity => write(entity)?,
        }
        plain = at + c.len_utf8();
    }
    write(&text[plain..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_text_is_escaped_and_nothing_hides() {
        let check = |text: &str, expected: &str| {
            let environment = environment().unwrap();
            let template = environment.template_from_named_str("x.html", "{{ text }}").unwrap();
            assert_eq!(template.render(Serde(&json!({"text": text}))).unwrap(), expected);
        };
        check("a\tb\n", "a\tb\n");
        check("<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
        check("\"><img src=x onerror=alert(1)>", "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;");
        check("]]>&amp;", "]]&gt;&amp;amp;");
        check("a\u{202e}b\u{2066}\0\u{1b}[0m\r", "a⟨U+202E⟩b⟨U+2066⟩⟨U+0000⟩⟨U+001B⟩[0m⟨U+000D⟩");
    }
}

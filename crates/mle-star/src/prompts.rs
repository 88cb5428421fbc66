//! The agents' templates: a set for each [`Context`]. A user's file replaces the built-in template of the same name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use crate::lessons::rounded;
use mle_star_domain::config::Context;

macro_rules! templates {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$((concat!($name, ".md"), include_str!(concat!("../prompts/", $folder, "/", $name, ".md")))),*]
    };
}

/// What a template writes where a part ends that other calls share; never part of a prompt. Unicode has no such
/// characters.
pub(crate) const CUT: &str = "\u{FDD0}cut\u{FDD1}";

/// The paper's prompts, by file name.
#[rustfmt::skip]
const PAPER: &[(&str, &str)] = templates!["paper":
    "ablation", "coder", "data", "debugger", "ens_planner", "ensembler", "extractor", "init",
    "leakage_correction", "leakage_detection", "merger", "planner", "retriever", "solutions", "summarize",
    "system", "test", "test_contamination", "test_subsampling_extract", "test_subsampling_remove",
    "validation",
];
/// What the agents are told instead, and the parts that several of these templates include.
#[rustfmt::skip]
const FULL: &[(&str, &str)] = templates!["full":
    "ablation", "attention", "attempts", "best_ensemble", "block", "coder", "data", "debugger", "ens_planner", "ensembler",
    "extractor", "init", "leakage_correction", "leakage_detection", "learned", "lessons", "merger", "noise", "planner",
    "retriever", "solution", "solutions", "summarize", "system", "test", "test_subsampling_extract",
    "test_subsampling_remove", "tie", "time", "validation",
];

/// The built-in templates of a set by file name. The full one has its own in place of most of the paper's.
pub fn built_in(context: Context) -> BTreeMap<&'static str, &'static str> {
    let over = if context == Context::Full { FULL } else { &[] };
    PAPER.iter().chain(over).copied().collect()
}

/// Whether this is the unchanged text of a template of any set.
pub fn is_built_in(name: &str, text: &str) -> bool {
    PAPER.iter().chain(FULL).any(|known| *known == (name, text))
}

/// The file names of the templates of all sets.
pub fn names() -> BTreeSet<&'static str> {
    PAPER.iter().chain(FULL).map(|(name, _)| *name).collect()
}

/// A run's templates, ready to render.
#[derive(Debug)]
pub struct Prompts {
    environment: Environment<'static>,
    texts: BTreeMap<String, String>,
}

/// An error of a template.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// There is no built-in template with the file's name.
    #[error("there is no template called {0}")]
    Unknown(String),
    /// The template does not compile, or it uses an unknown value.
    #[error("template {name}: {source}")]
    Template {
        /// The file's name.
        name: String,
        /// The template engine's message.
        source: minijinja::Error,
    },
}

impl Prompts {
    /// The templates of a set with some replaced, by file name.
    ///
    /// # Errors
    /// A name that no set has, or a text that does not compile.
    pub fn new(context: Context, replacements: BTreeMap<String, String>) -> Result<Self, PromptError> {
        let built_in = built_in(context);
        let mut texts: BTreeMap<String, String> =
            built_in.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let (mut environment, names) = (compiled(context, &built_in)?, names());
        for (name, text) in replacements {
            if !names.contains(name.as_str()) {
                return Err(PromptError::Unknown(name));
            }
            if texts.insert(name.clone(), text.clone()).as_ref() != Some(&text) {
                let added = environment.add_template_owned(name.clone(), text);
                added.map_err(|source| PromptError::Template { name, source })?;
            }
        }
        Ok(Self { environment, texts })
    }

    /// The text of every template by its file name.
    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// A template's text; empty for a name that is not built in.
    pub fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// Renders a template in one pass: inserted values are never interpreted.
    ///
    /// # Errors
    /// `values` lacks a value that the template uses.
    pub fn render(&self, name: &str, values: &impl Serialize) -> Result<String, PromptError> {
        let render = || self.environment.get_template(name)?.render(Serde(values));
        render().map_err(|source| PromptError::Template { name: name.to_owned(), source })
    }
}

/// The templates of a set, compiled once per process, because compiling them for each of many runs takes long.
fn compiled(
    context: Context,
    templates: &BTreeMap<&'static str, &'static str>,
) -> Result<Environment<'static>, PromptError> {
    static PAPER: OnceLock<Environment<'static>> = OnceLock::new();
    static FULL: OnceLock<Environment<'static>> = OnceLock::new();
    let compiled = if context == Context::Full { &FULL } else { &PAPER };
    if let Some(environment) = compiled.get() {
        return Ok(environment.clone());
    }
    let mut environment = Environment::new();
    // A template may ask whether there is a value, but it cannot print one that is missing.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|source| PromptError::Template { name: String::new(), source })?);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_filter("ordinal", ordinal);
    environment.add_filter("rounded", rounded);
    environment.add_filter("fixed", |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
    });
    for (&name, &text) in templates {
        let added = environment.add_template(name, text);
        added.map_err(|source| PromptError::Template { name: name.to_owned(), source })?;
    }
    Ok(compiled.get_or_init(|| environment).clone())
}

/// 1 becomes `1st`, 2 `2nd`, 11 `11th`.
pub fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// The text without its cuts, and where they were, in bytes.
pub(crate) fn parts(text: &str) -> (String, Vec<usize>) {
    let (mut prompt, mut ends) = (String::new(), Vec::new());
    for piece in text.split(CUT) {
        prompt.push_str(piece);
        ends.push(prompt.len());
    }
    ends.pop();
    (prompt, ends)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn render(template: &str, values: &Value) -> Result<String, PromptError> {
        let replaced = BTreeMap::from([("coder.md".to_owned(), template.to_owned())]);
        let prompts = Prompts::new(Context::Paper, replaced).unwrap();
        prompts.render("coder.md", values)
    }

    #[test]
    fn inserted_text_is_never_interpreted() {
        let check = |template: &str, values: Value, expected: &str| {
            assert_eq!(render(template, &values).unwrap(), expected);
        };
        check("{{ a }} {x}", json!({"a": "{{ b }} {b} {% if %}"}), "{{ b }} {b} {% if %} {x}");
        check("{{ a }}", json!({"a": "<b>&\"'"}), "<b>&\"'");
        check(
            "{% for s in l %}{{ loop.index | ordinal }} {{ s }};{% endfor %}",
            json!({"l": ["a", "b"]}),
            "1st a;2nd b;",
        );
    }

    #[test]
    fn searches_look_at_different_things() {
        let prompts = Prompts::new(Context::Full, BTreeMap::new()).unwrap();
        for bits in 0..8 {
            let [later, linked, by_order] = [1, 2, 4].map(|bit| bits & bit != 0);
            let count = if linked { 9 } else { 8 };
            let look = |number: u32| {
                let values = json!({
                    "search_number": number, "later": later, "linked_tables": linked, "by_order": by_order,
                });
                prompts.render("attention.md", &values).unwrap()
            };
            let all: BTreeSet<String> = (0..count * count).map(look).collect();
            assert_eq!(all.len() as u32, count * count);
            assert_eq!(all.iter().any(|one| one.contains("in ranks or in probabilities")), by_order);
            assert_eq!(look(count + 1), format!("{}; then {}", look(1), look(2)));
            assert_eq!(look(count * count), look(0));
        }
    }

    /// `docs/prompts` does not show these.
    #[test]
    fn the_prompts_that_follow_a_finding_carry_their_instructions() {
        let check = |name: &str, values: Value, says: &[&str]| {
            let prompts = Prompts::new(Context::Full, BTreeMap::new()).unwrap();
            let prompt = prompts.render(name, &values).unwrap();
            for phrase in says {
                assert!(prompt.contains(phrase), "{name} does not contain {phrase:?}:\n{prompt}");
            }
        };
        let block = json!({"code_block_with_subsampling": "x = x[:9]"});
        let says = ["x = x[:9]", "all training samples are used", "do not introduce dummy variables"];
        check("test_subsampling_remove.md", block, &says);
        let compared = json!({"reference_discussion": "REFERENCE", "final_solution": "x = 1"});
        let says = ["REFERENCE", "x = 1", "`Novel`", "`Same`", "too similar", "{\"verdict\": \"Novel\"}"];
        check("test_contamination.md", compared, &says);
    }

    #[test]
    fn a_missing_value_names_the_template() {
        let error = render("{{ nothing }}", &json!({})).unwrap_err().to_string();
        assert!(error.contains("coder.md"), "{error}");
    }

    #[test]
    fn only_built_in_names_can_be_replaced() {
        let replaced = |name: &str| {
            Prompts::new(Context::Paper, BTreeMap::from([(name.to_owned(), "Mine.".to_owned())]))
        };
        assert!(matches!(replaced("codr.md").unwrap_err(), PromptError::Unknown(name) if name == "codr.md"));
        // The paper's set has no such template, which a folder for the full one may hold.
        assert_eq!(replaced("lessons.md").unwrap().text("lessons.md"), "Mine.");
        assert!(is_built_in("coder.md", built_in(Context::Full)["coder.md"]));
        assert!(!is_built_in("coder.md", "Mine."));
    }
}

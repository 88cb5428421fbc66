//! The agents' templates. A user's file replaces the built-in template of the same name.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../prompts/", $name)))),*]
    };
}

/// What a template writes where a part ends that other calls share; never part of a prompt. Unicode has no such
/// characters.
pub(crate) const CUT: &str = "\u{FDD0}cut\u{FDD1}";

/// Every built-in template by its file name.
pub const BUILT_IN: &[(&str, &str)] = templates![
    "ablation.md",
    "attempts.md",
    "best_ensemble.md",
    "block.md",
    "coder.md",
    "data.md",
    "debugger.md",
    "ens_planner.md",
    "ensembler.md",
    "extractor.md",
    "init.md",
    "leakage_correction.md",
    "leakage_detection.md",
    "learned.md",
    "lessons.md",
    "merger.md",
    "planner.md",
    "retriever.md",
    "solution.md",
    "solutions.md",
    "summarize.md",
    "system.md",
    "test.md",
    "test_contamination.md",
    "test_subsampling_extract.md",
    "test_subsampling_remove.md",
    "time.md",
    "validation.md",
];

/// A run's templates, ready to render.
#[derive(Debug)]
pub struct Prompts {
    environment: Environment<'static>,
    texts: BTreeMap<String, String>,
}

/// The values of templates by their names.
#[derive(Debug)]
pub struct Values(minijinja::Value);

/// An error of a template.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// There is no built-in template with the file's name.
    #[error("there is no template called {0}")]
    Unknown(String),
    /// It does not compile, or it uses an unknown value.
    #[error("template {name}: {source}")]
    Template {
        /// The file's name.
        name: String,
        /// The template engine's message.
        source: minijinja::Error,
    },
}

impl Values {
    /// Compiles templates from a map.
    pub fn new(values: &impl Serialize) -> Self {
        Self(minijinja::Value::from(Serde(values)))
    }
}

impl Prompts {
    /// The built-in templates with some replaced, by file name.
    ///
    /// # Errors
    /// A name that is not built in, or a text that does not compile.
    pub fn new(replacements: BTreeMap<String, String>) -> Result<Self, PromptError> {
        let mut texts: BTreeMap<String, String> =
            BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let mut environment = built_in()?;
        for (name, text) in replacements {
            let slot = texts.get_mut(&name).ok_or_else(|| PromptError::Unknown(name.clone()))?;
            if *slot != text {
                slot.clone_from(&text);
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
    pub fn render(&self, name: &str, values: &Values) -> Result<String, PromptError> {
        let render = || self.environment.get_template(name)?.render(values.0.clone());
        render().map_err(|source| PromptError::Template { name: name.to_owned(), source })
    }
}

/// The built-in templates, compiled once per process, because compiling them for each of many runs takes long.
fn built_in() -> Result<Environment<'static>, PromptError> {
    static COMPILED: OnceLock<Environment<'static>> = OnceLock::new();
    if let Some(environment) = COMPILED.get() {
        return Ok(environment.clone());
    }
    let mut environment = Environment::new();
    // A template may ask whether there is a value, but it cannot print one that is missing.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|source| PromptError::Template { name: String::new(), source })?);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_filter("ordinal", ordinal);
    for &(name, text) in BUILT_IN {
        let added = environment.add_template(name, text);
        added.map_err(|source| PromptError::Template { name: name.to_owned(), source })?;
    }
    Ok(COMPILED.get_or_init(|| environment).clone())
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
        let prompts = Prompts::new(BTreeMap::from([("coder.md".to_owned(), template.to_owned())])).unwrap();
        prompts.render("coder.md", &Values::new(values))
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

    /// `docs/prompts` does not show these.
    #[test]
    fn the_prompts_that_follow_a_finding_carry_their_instructions() {
        let check = |name: &str, values: Value, says: &[&str]| {
            let prompt = Prompts::new(BTreeMap::new()).unwrap().render(name, &Values::new(&values)).unwrap();
            for phrase in says {
                assert!(prompt.contains(phrase), "{name} does not contain {phrase:?}:\n{prompt}");
            }
        };
        let block = json!({"code_block_with_subsampling": "x = x[:9]", "environment": "Python 3.11"});
        let says =
            ["x = x[:9]", "Python 3.11", "all training samples are used", "do not introduce dummy variables"];
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
        let error = Prompts::new(BTreeMap::from([("codr.md".to_owned(), String::new())])).unwrap_err();
        assert!(matches!(error, PromptError::Unknown(name) if name == "codr.md"));
    }
}

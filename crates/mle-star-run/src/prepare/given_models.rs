//! Models given by hand: reads the file that `retrieved_models` names.

use std::path::Path;

use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::config::{AgentsChoice, Config, Switch};
use mle_star_domain::trouble::Trouble;
use serde::Deserialize;
use serde_json::Value;

use crate::settings::document;

/// The models of the file that `retrieved_models` names; `None` without one.
///
/// # Errors
/// As [`read`].
pub fn given_models(config: &Config) -> Result<Option<Vec<RetrievedModel>>, Trouble> {
    config.retrieved_models.as_deref().map(read).transpose()
}

/// A line that says where the models come from, unless the retriever searches for them or rules choose them.
pub fn opening(config: &Config, models: Option<&[RetrievedModel]>) -> Option<String> {
    if let Some(models) = models {
        let file = config.retrieved_models.as_deref().unwrap_or(Path::new(""));
        return Some(format!(
            "models: {} given in {}; the retriever is not used",
            models.len(),
            file.display()
        ));
    }
    let why = match config.agents {
        _ if config.search == Switch::On => return None,
        AgentsChoice::Offline => return None,
        AgentsChoice::OpenAi if config.search_command.is_empty() => "there is no search_command",
        _ => "search is off",
    };
    Some(format!("note: {why}: the language model names models from memory"))
}

/// Reads a YAML, JSON or TOML file with a list of models, at the top level or under `models`. A model has
/// `model_name`, `example_code` and, optionally, `sources`, a list of URLs.
///
/// # Errors
/// The file cannot be read or is not a list of models; the message names file and item.
fn read(path: &Path) -> Result<Vec<RetrievedModel>, Trouble> {
    let trouble = |what: String, hint: String| Trouble::new(format!("{}: {what}", path.display()), hint);
    let items = match document::read_value(path)? {
        Value::Array(items) => items,
        Value::Object(mut keys) if keys.len() == 1 => match keys.remove("models") {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    if items.is_empty() {
        let hint = "write a list of models, at the top level or under `models`, each with model_name and example_code";
        return Err(trouble("not a list of models".to_owned(), hint.to_owned()));
    }
    let give_both =
        "give each model the texts model_name and example_code, and, if it has some, the list sources";
    let models = items.into_iter().zip(1..).map(|(item, number)| {
        let model: GivenModel = serde_json::from_value(item)
            .map_err(|error| trouble(format!("model {number}: {error}"), give_both.to_owned()))?;
        let GivenModel { model_name, example_code, sources } = model;
        Ok(RetrievedModel { model_name, example_code, sources })
    });
    models.collect()
}

/// A model as the user writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenModel {
    model_name: String,
    example_code: String,
    #[serde(default)]
    sources: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(name: &str, text: &str) -> Result<Vec<RetrievedModel>, Trouble> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn lists_of_models_are_read_in_three_formats() {
        let check = |name: &str, text: &str| {
            let model = |name: &str, code: &str, sources: &[&str]| RetrievedModel {
                model_name: name.to_owned(),
                example_code: code.to_owned(),
                sources: sources.iter().map(|source| (*source).to_owned()).collect(),
            };
            let expected = [model("a", "x = 1\nif x:\n\ty()\n", &["https://a.org"]), model("b", "z()", &[])];
            assert_eq!(read_text(name, text).unwrap(), expected, "{name}");
        };
        let yaml = "- model_name: a\n  sources: ['https://a.org']\n  example_code: |\n    x = 1\n    if x:\n    \ty()\n\
                    - model_name: b\n  example_code: z()\n";
        check("m.yaml", yaml);
        let indented: String = yaml.lines().map(|line| format!("  {line}\n")).collect();
        check("m.yml", &format!("models:\n{indented}"));
        let json = r#"[{"model_name": "a", "example_code": "x = 1\nif x:\n\ty()\n", "sources": ["https://a.org"]},
                       {"model_name": "b", "example_code": "z()"}]"#;
        check("m.json", json);
        check("m.json", &format!("{{\n\t\"models\": {json}}}"));
        let toml = "[[models]]\nmodel_name = 'a'\nsources = ['https://a.org']\nexample_code = \"\"\"\nx = 1\nif x:\n\ty()\n\"\"\"\n\
                    [[models]]\nmodel_name = 'b'\nexample_code = 'z()'\n";
        check("m.toml", toml);
    }

    #[test]
    fn mistakes_name_the_file_and_the_item() {
        let check = |name: &str, text: &str, part: &str, hint: &str| {
            let trouble = read_text(name, text).unwrap_err();
            assert!(trouble.message.contains(name) && trouble.message.contains(part), "{trouble} / {part}");
            assert!(trouble.hint.contains(hint), "{} / {hint}", trouble.hint);
        };
        let good = r#"{"model_name": "a", "example_code": "x"}"#;
        check(
            "m.json",
            &format!(r#"[{good}, {{"model_name": "b"}}]"#),
            "model 2: missing field `example_code`",
            "each model",
        );
        check("m.yaml", "- {model_name: [4], example_code: x}\n", "expected a string", "texts");
        check("m.yaml", "- {model_name: a, example: x}\n", "unknown field `example`", "example_code");
        for (name, text) in [("m.yaml", "[]"), ("m.json", good), ("m.toml", "model = 3\n")] {
            check(name, text, "not a list of models", "under `models`");
        }
        check("m.json", "[{]", ":1:3", "JSON");
        check("m.toml", "[[models]\n", ":1:", "TOML");
        check("m.yaml", "- [\n", "m.yaml:", "YAML");
    }
}

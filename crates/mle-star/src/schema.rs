//! JSON schemas for services that guarantee the form of an answer (structured outputs).

use serde_json::{Map, Value, json};

/// Keywords that such services refuse, and answers do not need.
const DROPPED: [&str; 4] = ["$schema", "default", "format", "title"];

/// The schema with every property required and no other allowed, as OpenAI's `strict: true` demands. What an answer
/// may leave out, its type has to allow as null or empty.
pub fn strict(schema: &Value) -> Value {
    match schema {
        // Nothing may stand beside `$ref`.
        Value::Object(keys) if keys.contains_key("$ref") => json!({"$ref": keys["$ref"]}),
        Value::Object(keys) => Value::Object(object(keys)),
        Value::Array(items) => items.iter().map(strict).collect(),
        other => other.clone(),
    }
}

/// A prompt that asks for an answer by this schema, for services that do not take one.
pub fn in_prompt(prompt: &str, schema: &Value) -> String {
    format!(
        "{}\n\nThe reply is one JSON object and no other text. It matches this JSON schema:\n\n{}\n",
        prompt.trim_end(),
        strict(schema)
    )
}

/// Whether an error says that a service does not take a schema.
pub fn is_refused(error: &str) -> bool {
    // llama.cpp makes a grammar of the schema.
    const WORDS: [&str; 6] =
        ["response_format", "json_schema", "text.format", "json schema", "structured output", "grammar"];
    let lower = error.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

fn object(keys: &Map<String, Value>) -> Map<String, Value> {
    let mut strict_keys = Map::new();
    for (key, value) in keys.iter().filter(|(key, _)| !DROPPED.contains(&key.as_str())) {
        let (key, value) = match (key.as_str(), value) {
            ("oneOf", _) => ("anyOf", strict(value)),
            // The keys of these are names, not keywords.
            ("properties" | "$defs", Value::Object(named)) => {
                (key.as_str(), named.iter().map(|(name, schema)| (name.clone(), strict(schema))).collect())
            }
            (key, _) => (key, strict(value)),
        };
        strict_keys.insert(key.to_owned(), value);
    }
    if let Some(Value::Object(properties)) = keys.get("properties") {
        strict_keys.insert("required".to_owned(), properties.keys().cloned().collect());
        strict_keys.insert("additionalProperties".to_owned(), json!(false));
    }
    strict_keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_is_required_and_no_other_allowed() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Answer", "type": "object",
            "properties": {
                "title": {"type": "string", "format": "uri", "default": ""},
                "kind": {"description": "its kind", "$ref": "#/$defs/Kind"},
                "items": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}},
            },
            "required": ["title"],
            "$defs": {"Kind": {"oneOf": [{"const": "x", "type": "string"}]}},
        });
        let inner = json!({
            "type": "object", "properties": {"a": {"type": "integer"}},
            "required": ["a"], "additionalProperties": false,
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "kind": {"$ref": "#/$defs/Kind"},
                "items": {"type": "array", "items": inner},
            },
            "required": ["items", "kind", "title"], "additionalProperties": false,
            "$defs": {"Kind": {"anyOf": [{"const": "x", "type": "string"}]}},
        });
        assert_eq!(strict(&schema), expected);
    }
}

//! Generates the tables of fields in the reference documentation from a JSON schema.

use std::collections::BTreeMap;

use serde_json::Value;

/// A field, with the path of its name from the root.
struct Row {
    path: String,
    kind: String,
    about: String,
}

impl Row {
    /// The kind of a key's value, unless default and meaning tell it.
    fn kind_suffix(&self) -> String {
        let kind = self.kind.trim_end_matches(" or null");
        let is_told =
            ["text", "number", "whole number", "fields"].contains(&kind) || self.about.contains("<br>");
        if is_told { String::new() } else { format!(" ({kind})") }
    }
}

/// Walks through a schema.
struct Walk<'a> {
    types: &'a Value,
    /// Fields whose own fields are not shown.
    left_out: &'a [&'a str],
    /// Where a type with fields was first written out; `None` to write it out each time.
    first: Option<BTreeMap<String, String>>,
    rows: Vec<Row>,
}

/// What the value of a field is.
#[derive(Default)]
struct Shape<'a> {
    kind: String,
    /// Names of values with what they mean.
    values: String,
    /// Added to the path of the fields below.
    suffix: &'static str,
    /// The type with these fields.
    below: Option<(String, Vec<(&'a str, &'a Value)>)>,
}

/// All fields. Those in `left_out` are shown without their own fields.
pub fn table(schema: &Value, left_out: &[&str]) -> String {
    let mut walk = Walk { types: &schema["$defs"], left_out, first: Some(BTreeMap::new()), rows: Vec::new() };
    walk.object("", schema);
    markdown("field", &walk.rows)
}

/// The keys of a configuration, with their defaults.
pub fn with_defaults(schema: &Value, defaults: &Value) -> String {
    let mut walk = Walk { types: &schema["$defs"], left_out: &[], first: None, rows: Vec::new() };
    walk.object("", schema);
    let row = |row: &Row| {
        let (default, about) = (default(defaults, &row.path), format!("{}{}", row.about, row.kind_suffix()));
        format!("| `{}` | {default} | {about} |\n", row.path)
    };
    let rows: String = walk.rows.iter().map(row).collect();
    format!("| key | default | meaning |\n|---|---|---|\n{rows}")
}

/// A section for each event.
pub fn event_sections(schema: &Value) -> String {
    let mut text = String::new();
    for event in schema["oneOf"].as_array().into_iter().flatten() {
        let name = event["properties"]["event"]["const"].as_str().unwrap_or_default();
        let mut walk = Walk { types: &schema["$defs"], left_out: &[], first: None, rows: Vec::new() };
        walk.object("", event);
        let about = words(event["description"].as_str().unwrap_or_default());
        text.push_str(&format!("### `{name}`\n\n{about}\n\n{}\n", markdown("field", &walk.rows)));
    }
    text
}

fn markdown(name: &str, rows: &[Row]) -> String {
    let rows: String =
        rows.iter().map(|row| format!("| `{}` | {} | {} |\n", row.path, row.kind, row.about)).collect();
    format!("| {name} | value | meaning |\n|---|---|---|\n{rows}")
}

impl<'a> Walk<'a> {
    fn object(&mut self, prefix: &str, schema: &'a Value) {
        let referred = schema["$ref"].as_str().map(|name| &self.types[type_name(name)]["properties"]);
        for (name, field) in fields(&schema["properties"]).chain(referred.into_iter().flat_map(fields)) {
            if name != "event" {
                self.field(&format!("{prefix}{name}"), field);
            }
        }
    }

    fn field(&mut self, path: &str, field: &'a Value) {
        let Shape { kind, values, suffix, below } = self.shape(field);
        let about = [field["description"].as_str().unwrap_or_default(), &values].map(words).join(" ");
        let about = about.trim().to_owned();
        let seen = below.as_ref().and_then(|(name, _)| self.first.as_ref()?.get(name).cloned());
        let about = seen
            .as_ref()
            .map_or_else(|| about.clone(), |first| format!("{about} Its fields are those of `{first}`."));
        self.rows.push(Row { path: path.to_owned(), kind, about });
        let Some((name, fields)) = below.filter(|_| seen.is_none() && !self.left_out.contains(&path)) else {
            return;
        };
        if let Some(first) = &mut self.first {
            first.insert(name, format!("{path}{suffix}"));
        }
        for (name, field) in fields {
            self.field(&format!("{path}{suffix}.{name}"), field);
        }
    }

    fn shape(&self, field: &'a Value) -> Shape<'a> {
        if let Some(name) = field["$ref"].as_str() {
            let name = type_name(name);
            let shape = self.shape(&self.types[name]);
            let below = shape.below.map(|(_, fields)| (name.to_owned(), fields));
            return Shape { below, ..shape };
        }
        if let Some(choices) = field["anyOf"].as_array() {
            let (null, others): (Vec<_>, Vec<_>) =
                choices.iter().partition(|choice| choice["type"] == "null");
            let shapes: Vec<Shape<'a>> = others.into_iter().map(|choice| self.shape(choice)).collect();
            let kinds =
                shapes.iter().map(|shape| shape.kind.clone()).chain(null.iter().map(|_| "null".to_owned()));
            let kind = kinds.collect::<Vec<_>>().join(" or ");
            return Shape { kind, ..shapes.into_iter().next().unwrap_or_default() };
        }
        if let Some(choices) = field["oneOf"].as_array() {
            return alternatives(field, choices).unwrap_or_else(|| values(choices));
        }
        if let Some(names) = field["enum"].as_array() {
            return Shape { kind: names.iter().map(code).collect::<Vec<_>>().join(", "), ..Shape::default() };
        }
        self.plain(field)
    }

    fn plain(&self, field: &'a Value) -> Shape<'a> {
        let kinds: Vec<&str> = match &field["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        let (items, entries) = (&field["items"], &field["additionalProperties"]);
        let mut shape = Shape::default();
        if items.is_object() {
            shape = Shape { suffix: "[]", ..self.shape(items) };
            let is_one = !shape.kind.contains([' ', ',']);
            shape.kind =
                if is_one { format!("list of {}", shape.kind) } else { format!("list of ({})", shape.kind) };
        } else if entries.is_object() {
            shape = Shape { suffix: ".NAME", ..self.shape(entries) };
            shape.kind = format!("by name: {}", shape.kind);
        } else if field["properties"].is_object() {
            shape.below = Some((field.to_string(), fields(&field["properties"]).collect()));
        } else if !field["const"].is_null() {
            return Shape { kind: code(&field["const"]), ..shape };
        }
        let name = |kind: &&str| match *kind {
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            "boolean" => "`true`, `false`".to_owned(),
            "array" | "object" if !shape.kind.is_empty() => shape.kind.clone(),
            "object" => "fields".to_owned(),
            other => other.to_owned(),
        };
        let kind = kinds.iter().map(name).collect::<Vec<_>>().join(" or ");
        Shape { kind, ..shape }
    }
}

/// Objects with different fields: those of one after those of another. `None` if the choices are no objects.
fn alternatives<'a>(field: &Value, choices: &'a [Value]) -> Option<Shape<'a>> {
    let fields: Vec<_> = choices.iter().flat_map(|choice| fields(&choice["properties"])).collect();
    let below = Some((field.to_string(), fields)).filter(|(_, fields)| !fields.is_empty())?;
    Some(Shape { kind: "fields".to_owned(), below: Some(below), ..Shape::default() })
}

fn fields(properties: &Value) -> impl Iterator<Item = (&str, &Value)> {
    properties.as_object().into_iter().flatten().map(|(name, field)| (name.as_str(), field))
}

/// Values with names. What they mean is shown unless it is a single word.
fn values<'a>(choices: &[Value]) -> Shape<'a> {
    let names: Vec<&Value> = choices
        .iter()
        .flat_map(|choice| match &choice["enum"] {
            Value::Array(names) => names.iter().collect(),
            _ => vec![&choice["const"]],
        })
        .collect();
    let about = |choice: &Value| {
        let text = choice["description"].as_str().filter(|text| text.contains(' '))?;
        Some(format!("<br>{}: {text}", code(&choice["const"])))
    };
    let kind = names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
    Shape { kind, values: choices.iter().filter_map(about).collect(), ..Shape::default() }
}

fn default(defaults: &Value, path: &str) -> String {
    match path.split('.').try_fold(defaults, |value, key| value.get(key)) {
        None | Some(Value::Null | Value::Object(_)) => String::new(),
        Some(Value::Array(items)) => items.iter().map(code).collect::<Vec<_>>().join(", "),
        Some(value) => code(value),
    }
}

fn type_name(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

/// A value as code in a table.
fn code(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("`{}`", text.replace('|', "\\|"))
}

/// A text in a table, with the word of JSON for what Rust calls `None`.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace("`None`", "`null`")
}

//! Tables as JSON: a list of objects, one for each row.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// The largest file that is read as a table, in bytes: it is converted in memory.
const LARGEST: u64 = 256 << 20;

/// The fields of an object in their order.
struct Fields(Vec<(String, Value)>);

/// Whether this file begins like a list of objects.
pub(super) fn is_table(path: &Path) -> bool {
    let begins = || -> io::Result<bool> {
        let file = File::open(path)?;
        let small = file.metadata()?.len() <= LARGEST;
        let mut begin = String::new();
        BufReader::new(file).take(4_096).read_to_string(&mut begin).ok();
        let mut letters = begin.chars().filter(|letter| !letter.is_whitespace());
        Ok(small && letters.next() == Some('[') && letters.next() == Some('{'))
    };
    begins().unwrap_or(false)
}

/// The table as CSV text. Its columns are the fields of all objects, in the order of their first occurrence. `null` and
/// absent fields are empty cells; lists and objects are JSON text.
///
/// # Errors
/// The file cannot be read or is not a list of objects.
pub(super) fn as_csv(file: File) -> io::Result<Vec<u8>> {
    let mut text = String::new();
    BufReader::new(file).take(LARGEST + 1).read_to_string(&mut text)?;
    let rows: Vec<Fields> = serde_json::from_str(&text)?;
    let mut names: Vec<&str> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (name, _) in rows.iter().flat_map(|row| &row.0) {
        places.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        });
    }
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(&names)?;
    for row in &rows {
        let mut cells = vec![String::new(); names.len()];
        row.0.iter().for_each(|(name, value)| cells[places[name.as_str()]] = cell(value));
        csv.write_record(&cells)?;
    }
    csv.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
                text.write_str("an object for each row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lists_of_objects_are_tables() {
        let check = |text: &str, expected: Option<&str>| {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), text).unwrap();
            assert_eq!(is_table(file.path()), expected.is_some(), "{text}");
            let Some(expected) = expected else { return };
            let csv = as_csv(File::open(file.path()).unwrap()).unwrap();
            assert_eq!(String::from_utf8(csv).unwrap(), expected, "{text}");
        };
        check(
            r#" [{"id": "a", "y": true, "n": 1.50, "tags": ["x", "y"]}, {"z": "two, words", "id": null}]"#,
            Some("id,y,n,tags,z\na,True,1.5,\"[\"\"x\"\",\"\"y\"\"]\",\n,,,,\"two, words\"\n"),
        );
        check("[1, 2]", None);
        check("{\"a\": [1]}", None);
        check("", None);
    }

    #[test]
    fn text_that_is_no_json_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "[{\"a\": 1}, {").unwrap();
        assert!(as_csv(File::open(file.path()).unwrap()).is_err());
    }
}

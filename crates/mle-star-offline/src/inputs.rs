//! The typed values of a request, any of which may be missing.

use serde_json::{Map, Value};

/// The values that a prompt was rendered from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Inputs<'a> {
    /// A text; empty if missing.
    pub(crate) fn text(self, name: &str) -> &'a str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A list of texts; empty if missing.
    pub(crate) fn texts(self, name: &str) -> Vec<&'a str> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.map(|items| items.iter().map(|item| item.as_str().unwrap_or_default()).collect())
            .unwrap_or_default()
    }

    /// A list of scores, `None` for failures; empty if missing.
    pub(crate) fn scores(self, name: &str) -> Vec<Option<f64>> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.map(|items| items.iter().map(Value::as_f64).collect()).unwrap_or_default()
    }

    /// A number; `None` if missing.
    pub(crate) fn number(self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    /// A number of an object; `None` if one of them is missing.
    pub(crate) fn number_of(self, object: &str, name: &str) -> Option<f64> {
        self.0.get(object)?.get(name).and_then(Value::as_f64)
    }

    /// Whether a switch is on.
    pub(crate) fn is_set(self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// A count; `None` if missing.
    pub(crate) fn count(self, name: &str) -> Option<usize> {
        self.0.get(name).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok())
    }
}

/// Code as a model sends it, in one fenced block.
pub(crate) fn fenced(code: &str) -> String {
    format!("```python\n{}\n```\n", code.trim_end())
}

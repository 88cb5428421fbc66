//! The typed values an agent was given, read without trusting their presence.

use serde_json::{Map, Value};

/// The values a prompt was rendered from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Inputs<'a> {
    /// A text; empty when absent.
    pub(crate) fn text(self, name: &str) -> &'a str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A list of texts; empty when absent.
    pub(crate) fn texts(self, name: &str) -> Vec<&'a str> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.map(|items| items.iter().map(|item| item.as_str().unwrap_or_default()).collect())
            .unwrap_or_default()
    }

    /// A list of scores, `None` for what failed; empty when absent.
    pub(crate) fn scores(self, name: &str) -> Vec<Option<f64>> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.map(|items| items.iter().map(Value::as_f64).collect()).unwrap_or_default()
    }

    /// A count; `None` when absent.
    pub(crate) fn count(self, name: &str) -> Option<usize> {
        self.0.get(name).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok())
    }
}

/// Code as a model would send it: one fenced block.
pub(crate) fn fenced(code: &str) -> String {
    format!("```python\n{}\n```\n", code.trim_end())
}

//! Types of columns: whether a column that holds a target certainly has numbers.

use ruff_python_ast::CmpOp;

use crate::machine::Machine;
use crate::value::{Bound, Value};

impl Machine<'_> {
    /// Whether the values whose type this is, or these values, certainly are numbers.
    fn holds_numbers(&self, value: &Value) -> bool {
        let table = match value.bound() {
            Some((of, Bound::Type)) => self.table_of(of),
            _ => self.table_of(value),
        };
        let label = table.and_then(|table| table.label.as_deref());
        label.is_some_and(|label| self.targets.contains(label) && self.is_numeric(label))
    }

    /// `column.dtype != object` and the like.
    pub(crate) fn compare_types(&self, operation: CmpOp, left: &Value, right: &Value) -> Option<bool> {
        if !matches!(left.bound(), Some((_, Bound::Type))) || !self.holds_numbers(left) {
            return None;
        }
        let among = match (name_of_type(right), self.contents(right)) {
            (Some(name), _) => is_of_numbers(&[name])?,
            (None, Some(items)) => {
                let names: Option<Vec<&str>> = items.iter().map(name_of_type).collect();
                is_of_numbers(&names?)?
            }
            (None, None) => return None,
        };
        match operation {
            CmpOp::Eq | CmpOp::Is | CmpOp::In => Some(among),
            CmpOp::NotEq | CmpOp::IsNot | CmpOp::NotIn => Some(!among),
            _ => None,
        }
    }

    /// Whether values certainly are numbers or certainly are none: `is_numeric_dtype(column)` and the like.
    pub(crate) fn are_of_type(&self, numbers: bool, value: &Value) -> Value {
        if self.holds_numbers(value) { Value::Bool(numbers) } else { Value::Unknown }
    }
}

fn name_of_type(value: &Value) -> Option<&str> {
    match value {
        Value::Symbol(name) => name.rsplit('.').next(),
        value => value.as_str(),
    }
}

/// Whether numbers of any kind have one of these types. `None`: it is not known.
fn is_of_numbers(names: &[&str]) -> Option<bool> {
    let has = |part: &str| names.iter().any(|name| name.contains(part));
    if has("number") || (has("int") && has("float")) {
        return Some(true);
    }
    let of_texts = |name: &&str| matches!(*name, "object" | "object_" | "O" | "str" | "string" | "category");
    names.iter().all(of_texts).then_some(false)
}

//! Comparisons: conditions on rows, with a key that tells equal conditions, and comparisons of constants.

use std::rc::Rc;

use ruff_python_ast::{CmpOp, Operator};
use ruff_text_size::TextRange;

use crate::info::{How, Kind};
use crate::machine::Machine;
use crate::rows::DRAWN;
use crate::table::Table;
use crate::value::{Names, Number, Value};

impl Machine<'_> {
    /// The value of a comparison.
    pub(crate) fn compare_values(
        &mut self,
        operation: CmpOp,
        left: &Value,
        right: &Value,
        ranges: (TextRange, TextRange),
    ) -> Value {
        if let Some(value) = self.compare_known(operation, left, right) {
            return value;
        }
        let (one, other) = (self.table_of(left).cloned(), self.table_of(right).cloned());
        let mut made = match (&one, &other) {
            (Some(one), Some(other)) => self.combine(Operator::Sub, one, other),
            (Some(table), None) => self.compared_with(table, right, ranges),
            (None, Some(table)) => self.compared_with(table, left, ranges),
            _ => return self.compare_numbers(left, right),
        };
        let is_target = |table: &Option<Table>| table.as_ref().is_some_and(Table::is_target);
        made.by_target = is_target(&one) || is_target(&other);
        made.rest.target = false;
        let constant = if other.is_none() { right.constant() } else { None };
        let (key, negated) = self.condition_key(operation, ranges, constant.as_deref());
        let drawn = one.as_ref().or(other.as_ref()).and_then(|table| table.drawn);
        made.mask.random = drawn.is_some();
        // Whether an error is small: the mean is a score.
        let error = one.as_ref().filter(|_| other.is_none()).and_then(|table| table.mask.compared);
        made.mask.compared = made.mask.compared.or(error);
        let category = |value: &Value| match value {
            Value::Number(number) => {
                number.category
                    || self.counts(number)
                    || number.row.as_ref().is_some_and(|row| !row.index && !row.target)
            }
            _ => false,
        };
        made.mask.value = operation == CmpOp::Eq && (category(left) || category(right));
        made.mask.condition =
            Some(drawn.map_or((key.clone(), negated), |drawn| drawn_key(drawn, &key, negated)));
        self.table(made)
    }

    /// The values of a table, compared with something else.
    fn compared_with(&mut self, table: &Table, other: &Value, ranges: (TextRange, TextRange)) -> Table {
        let deps = self.deps_of(other);
        let deps = self.applied(&deps, table.rows);
        let values = table.values();
        let answer = self.as_answer(table, ranges.0.cover(ranges.1));
        let deps = values.rest.deps.and(&deps).and(&answer);
        Table { source: values.source, ..Table::array(values.rows, deps) }
    }

    /// Whether a number counts the steps of a loop.
    fn counts(&self, number: &Number) -> bool {
        self.infos.any(&number.deps, |dep| dep.kind == Kind::Candidate(How::Open))
    }

    /// A comparison of constants, or of names of columns.
    fn compare_known(&self, operation: CmpOp, left: &Value, right: &Value) -> Option<Value> {
        if let (Some(one), Some(other)) = (left.constant(), right.constant()) {
            let contained = left.as_str().zip(right.as_str()).map(|(one, other)| other.contains(one));
            return Some(match (operation, contained) {
                (CmpOp::In, Some(contained)) => Value::Bool(contained),
                (CmpOp::NotIn, Some(contained)) => Value::Bool(!contained),
                (CmpOp::Eq | CmpOp::Is, _) => Value::Bool(one == other),
                (CmpOp::NotEq | CmpOp::IsNot, _) => Value::Bool(one != other),
                _ => Value::Unknown,
            });
        }
        if let (Some(one), CmpOp::In | CmpOp::NotIn, Some(all)) =
            (left.as_str(), operation, self.texts(right))
        {
            let among = all.iter().any(|text| &**text == one);
            return Some(Value::Bool(among == (operation == CmpOp::In)));
        }
        if matches!(operation, CmpOp::Is | CmpOp::IsNot) && matches!(right, Value::None) {
            let known = !matches!(left, Value::Unknown | Value::Number(_));
            return Some(if known { Value::Bool(operation == CmpOp::IsNot) } else { Value::Unknown });
        }
        if let (Value::Names(names), Some(name)) = (left, right.constant()) {
            return Some(match operation {
                CmpOp::NotEq => {
                    let except = [names.except.as_slice(), &[name]].concat();
                    Value::Names(Rc::new(Names { except, ..(**names).clone() }))
                }
                CmpOp::Eq => {
                    Value::Names(Rc::new(Names { only: vec![name], sure: true, ..(**names).clone() }))
                }
                _ => Value::Unknown,
            });
        }
        None
    }

    /// A comparison of numbers depends on what is known of features, as the numbers do.
    fn compare_numbers(&mut self, left: &Value, right: &Value) -> Value {
        let deps = self.about_features(left).and(&self.about_features(right));
        let range = self.statement;
        let answers = self.answer_of_row(left, range).and(&self.answer_of_row(right, range));
        let deps = deps.and(&answers);
        if deps.is_empty() { Value::Unknown } else { Value::learnt(deps) }
    }

    /// A key for a condition, and whether it is the negation of the condition with that key.
    fn condition_key(
        &self,
        operation: CmpOp,
        (left, right): (TextRange, TextRange),
        constant: Option<&str>,
    ) -> (Rc<str>, bool) {
        let (sign, negated) = match operation {
            CmpOp::Eq => ("==", false),
            CmpOp::NotEq => ("==", true),
            CmpOp::Lt => ("<", false),
            CmpOp::GtE => ("<", true),
            CmpOp::Gt => (">", false),
            CmpOp::LtE => (">", true),
            _ => ("in", matches!(operation, CmpOp::NotIn)),
        };
        let left = self.compact(left);
        // The name of the table does not matter, only its rows do.
        let column = left.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
        let column = if column.is_empty() { &left } else { column };
        let right = constant.map_or_else(|| self.compact(right), str::to_owned);
        (format!("{column}{sign}{right}").into(), negated)
    }
}

/// The key of a condition on values that were drawn at random: the sign and what follows it.
fn drawn_key(drawn: usize, key: &str, negated: bool) -> (Rc<str>, bool) {
    let rest = key.find(['<', '>', '=']).and_then(|at| key.get(at..)).unwrap_or_default();
    // No value equals a bound.
    match rest.strip_prefix('>') {
        Some(bound) => (format!("{DRAWN}{drawn} <{bound}").into(), !negated),
        None => (format!("{DRAWN}{drawn} {rest}").into(), negated),
    }
}

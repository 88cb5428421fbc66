//! Comparisons: conditions on rows, with a key that tells equal conditions, and comparisons of constants.

use std::rc::Rc;

use ruff_python_ast::{CmpOp, Expr, Operator};
use ruff_text_size::{Ranged, TextRange};

use crate::conditions::UNKNOWN;
use crate::info::{How, Kind};
use crate::machine::Machine;
use crate::rows::DRAWN;
use crate::syntax::{key, without_table};
use crate::table::{Mask, Table};
use crate::value::{Names, Number, Value};

impl<'a> Machine<'a> {
    /// The value of a comparison.
    pub(crate) fn compare_values(
        &mut self,
        operation: CmpOp,
        left: &Value,
        right: &Value,
        sides: Sides<'_>,
    ) -> Value {
        if let Some(value) = self.compare_known(operation, left, right) {
            return value;
        }
        let (one, other) = (self.table_of(left).cloned(), self.table_of(right).cloned());
        let mut made = match (&one, &other) {
            (Some(one), Some(other)) => self.combine(Operator::Sub, one, other),
            (Some(table), None) => self.compared_with(table, right, sides.range),
            (None, Some(table)) => self.compared_with(table, left, sides.range),
            _ => return self.compare_numbers(left, right),
        };
        let is_target = |table: &Option<Table>| table.as_ref().is_some_and(Table::is_target);
        made.by_target = is_target(&one) || is_target(&other);
        made.rest.target = false;
        let constant = if other.is_none() { right.constant() } else { None };
        let (key, negated) = sides.condition(operation, constant.as_deref());
        let drawn = one.as_ref().or(other.as_ref()).and_then(|table| table.drawn);
        made.mask.random = drawn.is_some();
        // Whether an error is small: the mean is a score.
        let error = one.as_ref().filter(|_| other.is_none()).and_then(|table| table.mask.compared);
        made.mask.compared = made.mask.compared.or(error);
        made.mask.value = operation == CmpOp::Eq && (self.is_category(left) || self.is_category(right));
        made.mask.condition =
            Some(drawn.map_or((key.clone(), negated), |drawn| drawn_key(drawn, &key, negated)));
        self.table(made)
    }

    /// A comparison with something of which nothing is known, which may be an array. The variable that it is taken from
    /// tells it.
    pub(crate) fn compare_unknown(
        &mut self,
        operation: CmpOp,
        left: (&'a Expr, &Value),
        right: (&'a Expr, &Value),
    ) -> Value {
        let ((unknown, _), (other, value)) = match (left.1, right.1) {
            (Value::Unknown, _) => (left, right),
            (_, Value::Unknown) if matches!(operation, CmpOp::Eq | CmpOp::NotEq) => (right, left),
            _ => return Value::Unknown,
        };
        if matches!(operation, CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn) {
            return Value::Unknown;
        }
        let number = self.state.number_of(self.scope, variable_of(unknown));
        let sides = Sides { left: Some(unknown), right: Some(other), range: unknown.range() };
        let (key, negated) = sides.condition(operation, value.constant().as_deref());
        let condition = Some((format!("{UNKNOWN}{number} {key}").into(), negated));
        let value = operation == CmpOp::Eq && self.is_category(value);
        Value::Condition(Rc::new(Mask { condition, value, ..Mask::default() }))
    }

    /// Whether a value is one of several of a column, or counts the steps of a loop.
    fn is_category(&self, value: &Value) -> bool {
        let Value::Number(number) = value else { return false };
        let is_of_row = number.row.as_ref().is_some_and(|row| !row.index && !row.target);
        number.category || self.counts(number) || is_of_row
    }

    /// The values of a table, compared with something else.
    fn compared_with(&mut self, table: &Table, other: &Value, range: TextRange) -> Table {
        let deps = self.deps_of(other);
        let deps = self.applied(&deps, table.rows);
        let values = table.values();
        let answer = self.as_answer(table, range);
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
}

/// What is compared, and where.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) left: Option<&'a Expr>,
    pub(crate) right: Option<&'a Expr>,
    pub(crate) range: TextRange,
}

impl Sides<'_> {
    /// A key for a condition, and whether it is the negation of the condition with that key.
    fn condition(self, operation: CmpOp, constant: Option<&str>) -> (Rc<str>, bool) {
        let (sign, negated) = match operation {
            CmpOp::Eq => ("==", false),
            CmpOp::NotEq => ("==", true),
            CmpOp::Lt => ("<", false),
            CmpOp::GtE => ("<", true),
            CmpOp::Gt => (">", false),
            CmpOp::LtE => (">", true),
            _ => ("in", matches!(operation, CmpOp::NotIn)),
        };
        let key = |side: Option<&Expr>| side.map_or_else(|| format!("{:?}", self.range), key);
        let left = key(self.left);
        let column = without_table(&left);
        let column = if column.is_empty() { &left } else { column };
        let right = constant.map_or_else(|| key(self.right), str::to_owned);
        (format!("{column}{sign}{right}").into(), negated)
    }
}

/// The variable that a value is taken from by its attributes, items and methods without arguments.
fn variable_of(value: &Expr) -> Option<&str> {
    match value {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(of) => variable_of(&of.value),
        Expr::Subscript(of) => variable_of(&of.value),
        Expr::Call(call) if call.arguments.is_empty() => variable_of(&call.func.as_attribute_expr()?.value),
        _ => None,
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

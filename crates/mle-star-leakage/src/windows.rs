//! Windows of consecutive rows: `values[start : start + size]` for every start.

use ruff_python_ast::{Expr, ExprSlice, Number, Operator};
use ruff_text_size::{Ranged, TextRange};

use crate::copies::made_from_row;
use crate::effects::{self, Effect, Make, Receiver};
use crate::machine::Machine;
use crate::site::Site;
use crate::syntax::{are_alike, named};
use crate::table::Table;
use crate::value::Value;

/// What is added to a position, or taken from it, one after the other.
type Distance<'a> = Vec<(Operator, &'a Expr)>;

impl<'a> Machine<'a> {
    /// One of the windows that a slice takes in a loop, if they overlap.
    pub(crate) fn overlapping_window(&mut self, table: &Table, slice: &'a ExprSlice) -> Option<Value> {
        if !table.rows.is_known() || slice.step.is_some() {
            return None;
        }
        let (around, range) = self.loop_of_windows(slice.lower.as_deref()?, slice.upper.as_deref()?)?;
        // Windows that a loop does not collect may be parts that are looked at one after the other.
        if range.contains_range(self.statement) && !self.syntax.additions.are_in(self.statement) {
            return None;
        }
        let known = self.nesting.around[around].rows.filter(|rows| self.rows.windows_of(*rows).is_some());
        let rows = known.unwrap_or_else(|| {
            let site = Site { expression: slice.range(), statement: range };
            self.rows.windows(table.rows, site)
        });
        self.nesting.around[around].rows = Some(rows);
        Some(made_from_row(rows, table.deps()))
    }

    /// The loop over windows from `low` to `high`, if they overlap.
    fn loop_of_windows(&self, low: &'a Expr, high: &'a Expr) -> Option<(usize, TextRange)> {
        let ((name, before), (end, after)) = (from_position(low)?, from_position(high)?);
        if name != end {
            return None;
        }
        let mut loops = self.nesting.around.iter().enumerate().rev();
        let (at, range, arguments) = loops.find_map(|(at, around)| {
            let (target, over) = self.syntax.for_loop(around.range)?;
            let call = over.as_call_expr().filter(|call| is_range(&call.func))?;
            (named(target) == Some(name)).then_some((at, around.range, &*call.arguments.args))
        })?;
        let several = !are_same(&before, &after) && !is_one_row(&before, &after);
        // A function may take windows of the same rows from different starts on.
        let overlap = match arguments {
            [_] => several,
            [start, _] => self.is_constant(start) && several,
            [start, _, step] if self.is_constant(start) => match after.get(before.len()..) {
                Some([(Operator::Add, size), rest @ ..]) if are_same(&before, &after[..before.len()]) => {
                    self.is_shorter(step, Some(*size).filter(|_| rest.is_empty()))
                }
                _ => false,
            },
            _ => false,
        };
        overlap.then_some((at, range))
    }

    fn is_shorter(&self, step: &Expr, size: Option<&Expr>) -> bool {
        let one = |of: &Expr| of.as_number_literal_expr().is_some_and(|_| whole_number(of) == Some(1));
        let Some(size) = size else { return one(step) };
        let part = step.as_bin_op_expr().is_some_and(|of| {
            matches!(of.op, Operator::Div | Operator::FloorDiv) && are_alike(&of.left, size)
        });
        let numbers = self.number(step).zip(self.number(size));
        part || one(step) && !one(size) || numbers.is_some_and(|(step, size)| step < size)
    }

    /// Whether a start is a sum of whole numbers that are known.
    fn is_constant(&self, start: &Expr) -> bool {
        match start {
            Expr::BinOp(of) if matches!(of.op, Operator::Add | Operator::Sub) => {
                self.is_constant(&of.left) && self.is_constant(&of.right)
            }
            start => self.number(start).is_some(),
        }
    }

    fn number(&self, expression: &Expr) -> Option<i64> {
        let name = expression.as_name_expr().map(|name| name.id.as_str());
        match name.and_then(|name| self.state.variable(self.scope, name)) {
            Some(Value::Int(number)) => Some(*number),
            _ => whole_number(expression),
        }
    }
}

/// A variable, and what is added to it or taken from it.
fn from_position(bound: &Expr) -> Option<(&str, Distance<'_>)> {
    match bound {
        Expr::Name(name) => Some((name.id.as_str(), Vec::new())),
        Expr::BinOp(of) if matches!(of.op, Operator::Add | Operator::Sub) && !of.right.is_bin_op_expr() => {
            let (name, mut distance) = from_position(&of.left)?;
            distance.push((of.op, &of.right));
            Some((name, distance))
        }
        _ => None,
    }
}

fn are_same(one: &[(Operator, &Expr)], other: &[(Operator, &Expr)]) -> bool {
    let alike = |(one, other): (&(Operator, &Expr), &(Operator, &Expr))| {
        one.0 == other.0 && are_alike(one.1, other.1)
    };
    one.len() == other.len() && one.iter().zip(other).all(alike)
}

/// Whether one row lies between two distances from a position: `[i : i + 1]`, `[i - 1 : i]`.
fn is_one_row(before: &[(Operator, &Expr)], after: &[(Operator, &Expr)]) -> bool {
    let number = |distance: &[(Operator, &Expr)]| match distance {
        [] => Some(0),
        [(Operator::Sub, size)] => whole_number(size).map(|size| -size),
        [(_, size)] => whole_number(size),
        _ => None,
    };
    number(before).zip(number(after)).is_some_and(|(before, after)| after - before == 1)
}

fn whole_number(expression: &Expr) -> Option<i64> {
    match &expression.as_number_literal_expr()?.value {
        Number::Int(number) => number.as_i64(),
        _ => None,
    }
}

fn is_range(function: &Expr) -> bool {
    let name = function.as_name_expr().map_or("", |name| name.id.as_str());
    effects::of(&[Receiver::Builtin], name) == Some(Effect::Make(Make::Range))
}

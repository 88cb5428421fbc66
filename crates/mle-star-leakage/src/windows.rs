//! Windows of consecutive rows: `values[start : start + size]` for every start.

use ruff_python_ast::ExprSlice;
use ruff_text_size::{Ranged, TextRange};

use crate::copies::made_from_row;
use crate::machine::Machine;
use crate::site::Site;
use crate::table::Table;
use crate::value::Value;

/// How much of a loop is read to find its `range(...)`.
const HEAD: usize = 160;

impl<'a> Machine<'a> {
    /// One of the windows that a slice takes in a loop, if they overlap.
    pub(crate) fn overlapping_window(&mut self, table: &Table, slice: &'a ExprSlice) -> Option<Value> {
        if !table.rows.is_known() || slice.step.is_some() {
            return None;
        }
        let bound = |bound: Option<TextRange>| bound.map(|range| self.compact(range));
        let low = bound(slice.lower.as_ref().map(|bound| bound.range()))?;
        let high = bound(slice.upper.as_ref().map(|bound| bound.range()))?;
        let (around, range) = self.loop_of_windows(&low, &high)?;
        // Windows that a loop does not collect may be parts that are looked at one after the other.
        if range.contains_range(self.statement) && !self.text(self.statement).contains(".append(") {
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
    fn loop_of_windows(&self, low: &str, high: &str) -> Option<(usize, TextRange)> {
        let name = low.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
        let (before, after) = (low.strip_prefix(name)?, high.strip_prefix(name)?);
        let is_distance =
            |text: &str| (text.is_empty() || text.starts_with(['+', '-'])) && !text.contains(['*', '/', '%']);
        if !is_distance(before) || !is_distance(after) {
            return None;
        }
        let begin = format!("for{name}inrange(");
        let mut loops = self.nesting.around.iter().enumerate().rev();
        let (at, range, head) = loops.find_map(|(at, around)| {
            let text = self.text(around.range);
            let head: String = text.chars().take(HEAD).filter(|letter| !letter.is_whitespace()).collect();
            Some((at, around.range, head.strip_prefix(&begin)?.to_owned()))
        })?;
        // A function may take windows of the same rows from different starts on.
        let is_constant = |start: &str| start.split(['+', '-']).all(|part| self.whole_number(part).is_some());
        let overlap = match arguments(&head).as_slice() {
            [_] => before != after && !is_one_row(before, after),
            [start, _] => is_constant(start) && before != after && !is_one_row(before, after),
            [start, _, step] if is_constant(start) => high
                .strip_prefix(low)
                .and_then(|size| size.strip_prefix('+'))
                .is_some_and(|size| self.is_shorter(step, size)),
            _ => false,
        };
        overlap.then_some((at, range))
    }

    fn is_shorter(&self, step: &str, size: &str) -> bool {
        let part = step.strip_prefix(size).is_some_and(|rest| rest.starts_with('/'));
        let numbers = self.whole_number(step).zip(self.whole_number(size));
        part || step == "1" && size != "1" || numbers.is_some_and(|(step, size)| step < size)
    }

    fn whole_number(&self, text: &str) -> Option<i64> {
        match self.state.variable(self.scope, text) {
            Some(Value::Int(number)) => Some(*number),
            _ => text.parse().ok(),
        }
    }
}

/// Whether one row lies between two distances from a position: `[i : i + 1]`, `[i - 1 : i]`.
fn is_one_row(before: &str, after: &str) -> bool {
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i64>().ok() };
    number(before).zip(number(after)).is_some_and(|(before, after)| after - before == 1)
}

/// The arguments of a call, from after its opening bracket on.
fn arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut found) = (0_usize, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => {
                found.push(&text[begin..at]);
                return found;
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    Vec::new()
}

//! Columns by their positions: `values[:, 1:]`, `values[:, -1]`.

use ruff_python_ast::{Expr, ExprSlice};

use crate::info::{Kind, Lessons, TargetId};
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::site::Site;
use crate::table::{Part, Table};
use crate::value::Value;

/// Stands for a target that has no name.
const NAMELESS: TargetId = TargetId(u16::MAX);

impl<'a> Machine<'a> {
    /// All columns of a new array with these rows.
    pub(crate) fn all_columns(&self, of: RowsId) -> Option<Part> {
        of.is_known().then(|| Part { base: self.state.count(), of, low: 0, high: None })
    }

    /// The columns that a slice takes.
    pub(crate) fn sliced_columns(&mut self, part: Option<Part>, slice: &'a ExprSlice) -> Option<Part> {
        let part = part.filter(|part| part.low == 0 && part.high.is_none())?;
        if slice.step.is_some() {
            return None;
        }
        let low = self.bound(slice.lower.as_deref())?.unwrap_or(0);
        Some(Part { low, high: self.bound(slice.upper.as_deref())?, ..part })
    }

    /// The single column at a position.
    pub(crate) fn column_at(part: Option<Part>, index: &Value) -> Option<Part> {
        let part = part.filter(|part| part.low == 0 && part.high.is_none())?;
        match index {
            Value::Int(-1) => Some(Part { low: -1, high: None, ..part }),
            Value::Int(at) => Some(Part { low: *at, high: Some(at + 1), ..part }),
            _ => None,
        }
    }

    /// The end of a slice, if it is known; `Some(None)`: there is none.
    #[expect(clippy::option_option, reason = "a bound that is not given is known")]
    fn bound(&mut self, bound: Option<&'a Expr>) -> Option<Option<i64>> {
        match bound.map(|bound| self.eval(bound)) {
            None | Some(Value::None) => Some(None),
            Some(Value::Int(at)) => Some(Some(at)),
            Some(_) => None,
        }
    }

    /// What a model depends on if its target is certainly among the columns of its features, by their positions.
    pub(crate) fn answer_by_position(&mut self, table: &Table, truth: Option<&Table>, site: Site) -> Lessons {
        let target = truth.and_then(|truth| truth.part);
        match (table.part, target) {
            (Some(part), Some(target)) if part.has(&target) && table.columns.is_empty() => {
                self.infos.learn(Kind::Answer(NAMELESS), site, part.of)
            }
            _ => Lessons::default(),
        }
    }

    /// What features depend on in which such a target is, if the model learnt from it.
    pub(crate) fn position_in(&mut self, table: &Table, fitted: &Lessons) -> Lessons {
        let learnt = self.infos.of_kind(fitted, Kind::Answer(NAMELESS));
        if table.part.is_some() { learnt } else { Lessons::default() }
    }
}

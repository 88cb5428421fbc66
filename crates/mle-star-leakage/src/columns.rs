//! Columns by their positions: `table.iloc[:, 1:]`, `values[:, -1]`.
//!
//! A target that a script takes by its position has no name. It is among the features if theirs certainly contain its position.

use ruff_python_ast::{Expr, ExprSlice};

use crate::info::{Dependencies, Kind, TargetId};
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::site::Site;
use crate::table::{ColumnRange, Table};
use crate::value::Value;

/// Stands for a target that has no name.
const NAMELESS: TargetId = TargetId(u16::MAX);

impl<'a> Machine<'a> {
    /// All columns of a new table with these rows.
    pub(crate) fn all_columns(&self, of: RowsId) -> Option<ColumnRange> {
        of.is_known().then(|| ColumnRange { base: self.state.count(), of, low: 0, high: None })
    }

    /// The columns of a table that a slice takes.
    pub(crate) fn sliced_columns(&mut self, table: &Table, slice: &'a ExprSlice) -> Option<ColumnRange> {
        let all = table.range.filter(|range| range.is_all() && slice.step.is_none())?;
        let low = self.column_bound(slice.lower.as_deref())?.unwrap_or(0);
        Some(ColumnRange { low, high: self.column_bound(slice.upper.as_deref())?, ..all })
    }

    /// The single column of a table at a position.
    pub(crate) fn column_at(table: &Table, index: &Value) -> Option<ColumnRange> {
        let all = table.range.filter(|range| range.is_all())?;
        match index {
            Value::Int(-1) => Some(ColumnRange { low: -1, ..all }),
            Value::Int(at) => Some(ColumnRange { low: *at, high: Some(at + 1), ..all }),
            _ => None,
        }
    }

    /// The end of a slice, if it is known; `Some(None)`: there is none.
    #[expect(clippy::option_option, reason = "a bound that is not given is known")]
    fn column_bound(&mut self, bound: Option<&'a Expr>) -> Option<Option<i64>> {
        match bound.map(|bound| self.eval(bound)) {
            None | Some(Value::None) => Some(None),
            Some(Value::Int(at)) => Some(Some(at)),
            Some(_) => None,
        }
    }

    /// What a model depends on if its target is certainly among the columns of its features, by their positions.
    pub(crate) fn answer_by_position(
        &mut self,
        table: &Table,
        truth: Option<&Table>,
        site: Site,
    ) -> Dependencies {
        match (table.range, truth.and_then(|truth| truth.range)) {
            (Some(range), Some(target)) if range.has(target) && table.columns.is_empty() => {
                self.infos.learn(Kind::Answer(NAMELESS), site, range.of)
            }
            _ => Dependencies::default(),
        }
    }

    /// What features depend on in which such a target is, if the model learnt from it.
    pub(crate) fn target_by_position(&mut self, table: &Table, fitted: &Dependencies) -> Dependencies {
        let learnt = self.infos.of_kind(fitted, Kind::Answer(NAMELESS));
        if table.range.is_some() { learnt } else { Dependencies::default() }
    }
}

//! Columns by their positions, such as `values[:, 1:]`, and by names that are known in part.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprSlice};

use crate::info::{Dependencies, Kind, TargetId};
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::site::Site;
use crate::table::{Column, Part, Table};
use crate::value::{Names, Value};

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
    pub(crate) fn answer_by_position(
        &mut self,
        table: &Table,
        truth: Option<&Table>,
        site: Site,
    ) -> Dependencies {
        let target = truth.and_then(|truth| truth.part);
        match (table.part, target) {
            (Some(part), Some(target)) if part.has(&target) && table.columns.is_empty() => {
                self.infos.learn(Kind::Answer(NAMELESS), site, part.of)
            }
            _ => Dependencies::default(),
        }
    }

    /// What features depend on in which such a target is, if the model learnt from it.
    pub(crate) fn position_in(&mut self, table: &Table, fitted: &Dependencies) -> Dependencies {
        let learnt = self.infos.of_kind(fitted, Kind::Answer(NAMELESS));
        if table.part.is_some() { learnt } else { Dependencies::default() }
    }

    /// A column that stands for each of several, one after the other: the target may be one of them.
    pub(crate) fn each_column(&mut self, table: &Table, names: &Names) -> Value {
        let known: Vec<Rc<str>> =
            self.columns_among(table, names).into_iter().map(|(name, _)| name).collect();
        let (rest, by_target) = (table.rest.clone(), table.by_target);
        let mut column = Table { rest, by_target, ..Table::of(table.rows) };
        for name in known {
            let own = table.select(&name);
            column.rest.deps.add(&self.as_answer(&own, self.statement));
        }
        self.table(column)
    }

    /// The columns of a table that certainly are among some names.
    pub(crate) fn columns_among(&self, table: &Table, names: &Names) -> Vec<(Rc<str>, Column)> {
        let root = |rows| self.rows.ancestors(rows).last();
        let same = root(names.of).is_some_and(|of| root(table.rows) == Some(of));
        let certain = names.certain();
        let known = table.columns.iter().filter(|(name, _)| same && certain.contains(name));
        known.cloned().collect()
    }

    /// The columns of a table with the names of all columns of this or another table, but some.
    pub(crate) fn columns_named(&mut self, table: &Table, names: &Names) -> Table {
        let root = |machine: &Self, rows| machine.rows.ancestors(rows).last();
        let same = root(self, names.of).is_some_and(|of| root(self, table.rows) == Some(of));
        let mut selected = if same { table.clone() } else { self.unsure(table) };
        selected.columns.retain(|(name, column)| names.known.contains(name) || !column.target);
        let later = selected.columns.iter().filter(|(name, _)| !names.known.contains(name));
        let later: Vec<Rc<str>> = later.map(|(name, _)| Rc::clone(name)).collect();
        for name in later {
            let deps = selected.column(&name).deps;
            let deps = self.without_answers(&deps);
            selected.set(name, Column::learnt(deps));
        }
        names.except.iter().for_each(|name| selected.remove(name));
        selected
    }
}

//! Columns by their positions, such as `values[:, 1:]`, and by names that are known in part.

use std::rc::Rc;

use crate::machine::Machine;
use crate::table::{Column, Table};
use crate::value::{Names, Value};

impl<'a> Machine<'a> {
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

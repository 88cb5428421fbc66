//! Columns by their positions, such as `values[:, 1:]`, and by names that are known in part.

use std::rc::Rc;

use crate::machine::Machine;
use crate::table::{Column, Table};
use crate::value::Names;

impl<'a> Machine<'a> {
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

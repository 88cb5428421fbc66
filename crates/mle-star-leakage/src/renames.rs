//! Renamed columns.

use crate::calls::Arguments;
use crate::machine::Machine;
use crate::table::{Column, Table};
use crate::value::{Object, Value};

impl Machine<'_> {
    /// `table.rename(...)`.
    pub(crate) fn renamed(&mut self, table: &Table, arguments: &Arguments) -> Table {
        let names = arguments.named("columns").or_else(|| arguments.positional.first());
        let mut renamed = table.clone();
        if matches!(names, Some(Value::Function(..) | Value::Symbol(_))) {
            return self.unsure(table);
        }
        match names.map(|names| (names.constant(), self.state.get(names))) {
            Some((Some(name), _)) => renamed = renamed.relabelled(name),
            Some((None, Some(Object::Dict(dict)))) => {
                for (from, to) in &dict.items {
                    let Some(to) = to.constant() else { continue };
                    if let Some(column) = renamed.named(from).cloned() {
                        renamed.remove(from);
                        renamed.set(to, column);
                    }
                }
            }
            _ => {}
        }
        renamed
    }

    /// Columns whose names begin or end with something more: it is not known which they are.
    pub(crate) fn with_affix(&mut self, table: &Table) -> Table {
        let renamed = self.unsure(table);
        // Values of a model may be those of one that reconstructs its features.
        match self.infos.has_model(&table.deps()) {
            true => Table { columns: Vec::new(), rest: Column::default(), ..renamed },
            false => renamed,
        }
    }
}

//! Columns under other names.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::machine::Machine;
use crate::table::{Column, Table};
use crate::value::{Object, Value};

impl Machine<'_> {
    /// `table.rename(...)`.
    pub(crate) fn renamed(&mut self, table: &Table, arguments: &Arguments) -> Table {
        let names = arguments.named("columns").or_else(|| arguments.positional.first());
        let mut renamed = table.clone();
        if let Some(function @ (Value::Function(..) | Value::Symbol(_))) = names {
            return self.renamed_by(table, &function.clone(), arguments);
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

    /// Columns whose names begin or end with something more.
    pub(crate) fn with_affix(&mut self, table: &Table, before: bool, arguments: &Arguments) -> Table {
        let mut renamed = self.unsure(table);
        // Values of a model may be those of one that reconstructs its features.
        if self.infos.has_model(&table.deps()) {
            return Table { columns: Vec::new(), rest: Column::default(), ..renamed };
        }
        let Some(affix) = arguments.first().and_then(Value::constant) else { return renamed };
        let named = |own: &str| if before { format!("{affix}{own}") } else { format!("{own}{affix}") };
        let columns = table.columns.iter().map(|(own, column)| (named(own).into(), column.clone()));
        (renamed.columns, renamed.rest) = (columns.collect(), table.rest.clone());
        renamed
    }

    /// Columns whose names are changed by a function.
    fn renamed_by(&mut self, table: &Table, function: &Value, arguments: &Arguments) -> Table {
        let mut renamed = self.unsure(table);
        let mut columns = Vec::new();
        for (name, column) in &table.columns {
            let to = self.call_with(function, &[Value::Str(Rc::clone(name))], arguments.range);
            let Some(to) = to.constant() else { return renamed };
            columns.push((to, column.clone()));
        }
        (renamed.columns, renamed.whole) = (columns, table.whole);
        renamed
    }
}

//! Which rows a script reads once it learns: held-out rows that it never reads again are not those of its score.

use std::collections::BTreeSet;

use crate::info::Dependency;
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::value::{Object, Value};

/// What is read from the statement on in which a model learns first.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Whether a model learnt.
    begun: bool,
    /// What the current statement, and those around it, read before.
    pending: Vec<Value>,
    /// The rows that were read since.
    rows: BTreeSet<RowsId>,
}

impl Machine<'_> {
    /// Remembers that a value is read.
    pub(crate) fn note_use(&mut self, value: &Value) {
        if !matches!(value, Value::Object(_) | Value::Tuple(_) | Value::Bound(_)) {
            return;
        }
        if self.uses.begun {
            self.add_rows_of(value, 4);
        } else {
            self.uses.pending.push(value.clone());
        }
    }

    /// How much was read before a statement.
    pub(crate) fn uses_before(&self) -> usize {
        self.uses.pending.len()
    }

    /// Forgets what statements read that are over.
    pub(crate) fn forget_uses(&mut self, before: usize) {
        self.uses.pending.truncate(before);
    }

    /// A model learns.
    pub(crate) fn begin_uses(&mut self) {
        self.uses.begun = true;
        for value in std::mem::take(&mut self.uses.pending) {
            self.add_rows_of(&value, 4);
        }
    }

    fn add_rows_of(&mut self, value: &Value, depth: usize) {
        match (value, self.state.handle(value).as_deref()) {
            _ if depth == 0 => {}
            (Value::Bound(bound), _) => self.add_rows_of(&bound.0, depth - 1),
            (_, Some(Object::Table(table))) => {
                self.uses.rows.insert(table.rows);
            }
            (_, Some(Object::Group(group))) => {
                self.uses.rows.insert(group.table.rows);
            }
            (_, Some(Object::Instance(instance))) => {
                instance.attributes.iter().for_each(|(_, value)| self.add_rows_of(value, depth - 1));
            }
            _ => {
                let items = self.contents(value).unwrap_or_default();
                items.iter().take(16).for_each(|item| self.add_rows_of(item, depth - 1));
            }
        }
    }

    /// Whether rows were held out from those of a fit, and nothing read them from then on.
    pub(crate) fn leaves_unread(&self, fit: Dependency) -> bool {
        let Some(held) = self.rows.held_out(fit.from) else { return false };
        let related = |rows: RowsId| self.rows.contains(held, rows) || self.rows.contains(rows, held);
        let within = |value: &Value| self.table_of(value).is_some_and(|table| related(table.rows));
        // Something of a library may call a function that reads them.
        let uncalled = self.uncalled_names();
        let mut names = self.state.variables().filter(|(_, value)| within(value));
        !self.uses.rows.iter().any(|rows| related(*rows)) && !names.any(|(name, _)| uncalled.contains(name))
    }
}

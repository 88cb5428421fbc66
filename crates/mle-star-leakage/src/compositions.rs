//! Pipelines and other compositions: whether all columns of a table reach the model.

use crate::calls::Arguments;
use crate::effects::Made;
use crate::info::Dependencies;
use crate::machine::Machine;
use crate::table::Table;
use crate::value::{Estimator, Object, Value};

impl Machine<'_> {
    /// What the settings depend on of models that another one is made of.
    pub(crate) fn settings_within(&self, value: &Value, depth: usize) -> Dependencies {
        if let Some(Object::Estimator(estimator)) = self.state.get(value) {
            return estimator.deps.clone();
        }
        let items = self.items_in(value).filter(|_| depth > 0);
        items.map(|item| self.settings_within(item, depth - 1)).collect()
    }

    /// The columns that an estimator takes from a table.
    pub(crate) fn taken(&mut self, estimator: &Estimator, table: &Table) -> Table {
        if estimator.selects { self.unsure(table) } else { table.clone() }
    }

    /// Whether an estimator takes some columns only, and it is not known which: a part of a composition may choose them.
    pub(crate) fn selects(&self, known: Option<Made>, arguments: &Arguments) -> bool {
        // A text is made of a row, perhaps of some of its values.
        let reads = matches!(arguments.named("preprocessor"), Some(value) if !matches!(value, Value::None));
        if reads || arguments.named("ignored_features").is_some() {
            return true;
        }
        match known {
            Some(Made::Choosing) => true,
            Some(Made::ByColumns) => {
                arguments.named("remainder").is_none_or(|rest| rest.as_str() == Some("drop"))
            }
            Some(Made::Composed) => arguments.all().any(|value| self.selects_within(value, 5)),
            _ => false,
        }
    }

    fn selects_within(&self, value: &Value, depth: usize) -> bool {
        match (value, self.state.get(value)) {
            (_, Some(Object::Estimator(estimator))) => estimator.selects,
            (Value::Function(..), _) | (_, Some(Object::Instance(_))) => true,
            _ => depth > 0 && self.items_in(value).any(|item| self.selects_within(item, depth - 1)),
        }
    }
}

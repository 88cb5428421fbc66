//! Pipelines and other compositions: which columns they take from a table.

use crate::calls::Arguments;
use crate::info::Dependencies;
use crate::machine::Machine;
use crate::names;
use crate::table::Table;
use crate::value::{Estimator, Object, Takes, Value};

impl Machine<'_> {
    /// What the settings depend on of models that another one is made of.
    pub(crate) fn settings_within(&self, value: &Value, depth: usize) -> Dependencies {
        if let Some(Object::Estimator(estimator)) = self.state.get(value) {
            return estimator.deps.clone();
        }
        let items = if depth > 0 { self.contents(value) } else { None };
        items.into_iter().flatten().map(|item| self.settings_within(&item, depth - 1)).collect()
    }

    /// The columns that a composition takes from a table.
    pub(crate) fn taken(&mut self, estimator: &Estimator, table: &Table) -> Table {
        match &estimator.takes {
            Takes::All => table.clone(),
            Takes::Some(names) => self.select_all(table, names),
            Takes::Unknown => self.unsure(table),
        }
    }

    /// Which columns something takes from a table: a composition may have parts that choose columns.
    pub(crate) fn takes(&self, name: &str, arguments: &Arguments) -> Takes {
        // A text is made of a row, perhaps of some of its values.
        let reads = matches!(arguments.named("preprocessor"), Some(value) if !matches!(value, Value::None));
        if reads || arguments.named("ignored_features").is_some() || names::chooses_columns(name) {
            return Takes::Unknown;
        }
        if !names::is_composition(name) {
            return Takes::All;
        }
        if name.ends_with("ColumnTransformer") || name == "make_column_transformer" {
            return self.takes_by_name(arguments);
        }
        arguments.all().fold(Takes::All, |takes, value| takes.then(self.takes_within(value, 5)))
    }

    fn takes_by_name(&self, arguments: &Arguments) -> Takes {
        let given = match arguments.named("transformers") {
            Some(parts) => vec![parts.clone()],
            None => arguments.positional.clone(),
        };
        let mut parts = Vec::new();
        for value in given {
            match &value {
                Value::Tuple(_) => parts.push(value),
                _ => parts.extend(self.contents(&value).unwrap_or_default()),
            }
        }
        let (mut names, mut unknown) = (Vec::new(), false);
        for part in &parts {
            let Value::Tuple(items) = part else { return Takes::Unknown };
            if items.iter().any(|item| item.as_str() == Some("drop")) {
                return Takes::Unknown;
            }
            let Some(last) = items.last() else { return Takes::Unknown };
            match self.texts(last) {
                Some(more) => names.extend(more),
                None => unknown = true,
            }
        }
        match arguments.named("remainder") {
            None | Some(Value::Str(_))
                if arguments.named("remainder").is_none_or(|rest| rest.as_str() == Some("drop")) =>
            {
                if unknown { Takes::Unknown } else { Takes::Some(names.into()) }
            }
            _ => Takes::All,
        }
    }

    fn takes_within(&self, value: &Value, depth: usize) -> Takes {
        match self.state.get(value) {
            Some(Object::Estimator(estimator)) => return estimator.takes.clone(),
            Some(Object::Instance(_)) => return Takes::Unknown,
            _ => {}
        }
        if matches!(value, Value::Function(..)) {
            return Takes::Unknown;
        }
        let items = if depth > 0 { self.contents(value) } else { None };
        let items = items.unwrap_or_default();
        items.iter().fold(Takes::All, |takes, item| takes.then(self.takes_within(item, depth - 1)))
    }
}

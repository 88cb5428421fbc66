//! Pipelines and other compositions: which columns they take from a table.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::info::Dependencies;
use crate::machine::Machine;
use crate::names;
use crate::table::Table;
use crate::value::{Estimator, Names, Object, Takes, Value};

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
            Takes::Chosen(choices) => self.in_choices(table, choices),
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
        let (mut names, mut choices, mut unknown) = (Vec::new(), Vec::new(), false);
        for part in &parts {
            let Value::Tuple(items) = part else { return Takes::Unknown };
            if items.iter().any(|item| item.as_str() == Some("drop")) {
                return Takes::Unknown;
            }
            let Some(last) = items.last() else { return Takes::Unknown };
            match (self.texts(last), last) {
                (Some(more), _) => names.extend(more),
                (None, Value::Names(chosen)) => choices.push(Rc::clone(chosen)),
                (None, _) => unknown = true,
            }
        }
        match arguments.named("remainder") {
            None | Some(Value::Str(_))
                if arguments.named("remainder").is_none_or(|rest| rest.as_str() == Some("drop")) =>
            {
                match (unknown, choices.is_empty()) {
                    (true, _) => Takes::Unknown,
                    (false, true) => Takes::Some(names.into()),
                    (false, false) => Takes::Chosen(choices.into()),
                }
            }
            _ => Takes::All,
        }
    }

    /// The columns of a table that some choices leave: all that were known when names were chosen, and that no choice leaves
    /// out by name, except for the target itself.
    fn in_choices(&mut self, table: &Table, choices: &[Rc<Names>]) -> Table {
        let mut chosen = self.unsure(table);
        for (name, column) in &table.columns {
            // Lists often leave out the target of a whole table.
            let is_own = column.target && self.targets.contains(name) && table.dropped.is_empty();
            let is_left = |names: &Rc<Names>| names.known.contains(name) && !names.except.contains(name);
            if !is_own && choices.iter().all(is_left) {
                chosen.set(Rc::clone(name), column.clone());
            }
        }
        chosen
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

    /// The instances of classes of the script that a composition is made of.
    pub(crate) fn steps(&self, name: &str, arguments: &Arguments) -> Rc<[Value]> {
        if !names::is_composition(name) {
            return Rc::default();
        }
        let mut steps = Vec::new();
        arguments.all().for_each(|value| self.instances_in(value, 4, &mut steps));
        steps.into()
    }

    fn instances_in(&self, value: &Value, depth: usize, found: &mut Vec<Value>) {
        match self.state.get(value) {
            Some(Object::Instance(_)) => found.push(value.clone()),
            Some(Object::Estimator(estimator)) => found.extend(estimator.steps.iter().cloned()),
            _ if depth > 0 => {
                let items = self.contents(value).unwrap_or_default();
                items.iter().for_each(|item| self.instances_in(item, depth - 1, found));
            }
            _ => {}
        }
    }

    /// A table after the transformations of the script that a composition is made of. With a target, they are fitted.
    pub(crate) fn through_steps(
        &mut self,
        estimator: &Estimator,
        table: Table,
        fit: Option<Option<&Value>>,
    ) -> Table {
        let mut table = table;
        for step in estimator.steps.iter() {
            let Some(Object::Instance(instance)) = self.state.get(step) else { continue };
            let class = instance.class;
            let given = self.table(table.clone());
            if let (Some(target), Some(method)) = (fit, self.class_attribute(class, "fit")) {
                let mut positional = vec![given.clone()];
                positional.extend(target.cloned());
                let range = self.statement;
                let arguments = Arguments { positional, range, called: range, ..Arguments::default() };
                self.call_bound(&method, step, &arguments);
            }
            let Some(method) = self.class_attribute(class, "transform") else { continue };
            let range = self.statement;
            let arguments = Arguments {
                positional: vec![given],
                range,
                called: range,
                bound: true,
                ..Arguments::default()
            };
            let made = self.call_bound(&method, step, &arguments);
            table = match self.table_of(&made) {
                Some(made) if made.rows == table.rows => made.clone(),
                _ => self.unsure(&table),
            };
        }
        table
    }
}

//! Polars: expressions are evaluated for the table whose method they are given to.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::effects::{self, Columns, Effect, Expression, Receiver};
use crate::info::{Dependencies, Kind};
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::table::{Column, Group, Table};
use crate::value::{Bound, Number, Object, Value};

impl Machine<'_> {
    /// The table that expressions among the arguments of a method are about.
    pub(crate) fn context_of(&self, function: &Value) -> Option<Rc<Table>> {
        let Some((base, Bound::Method(name))) = function.bound() else { return None };
        match self.state.get(base) {
            Some(Object::Table(table)) if table.polars || extends(name) => Some(Rc::new(table.clone())),
            Some(Object::Group(group)) if group.table.polars => Some(Rc::new(group.table.clone())),
            _ => None,
        }
    }

    /// `pl.col("name")` and the like, in the arguments of a method of a table.
    pub(crate) fn express(&mut self, expression: Expression, arguments: &Arguments) -> Value {
        let Some(context) = self.context.clone() else { return Value::Unknown };
        let texts = self.given_texts(arguments);
        match (expression, texts.as_slice()) {
            (Expression::Value, _) => arguments.first_value(),
            (Expression::Count, _) => Value::some_number(),
            (Expression::Named, [only]) if &**only != "*" => {
                let column = self.select(&context, only);
                self.table(Table { polars: true, ..column })
            }
            (Expression::Named, [_, _, ..]) => {
                let columns = self.select_all(&context, &texts);
                self.table(columns)
            }
            (Expression::Named | Expression::All, _) => {
                let mut names = crate::access::names_of(&context);
                names.except.extend(texts.into_iter().filter(|name| &**name != "*"));
                Value::Names(Rc::new(names))
            }
        }
    }

    fn given_texts(&self, arguments: &Arguments) -> Vec<Rc<str>> {
        let given = arguments.positional.iter();
        let text = |value: &Value| match value {
            Value::Names(_) => Vec::new(),
            _ => value.constant().map_or_else(|| self.texts(value).unwrap_or_default(), |name| vec![name]),
        };
        given.flat_map(text).collect()
    }

    /// The columns that expressions make, with their names.
    pub(crate) fn columns_made(&mut self, arguments: &Arguments) -> Vec<(Rc<str>, Column)> {
        let mut values: Vec<Value> = Vec::new();
        for value in &arguments.positional {
            let several = self.table_of(value).filter(|table| table.label.is_none()).cloned();
            match (several, self.contents(value)) {
                // `pl.col("one", "other")`
                (Some(table), _) => {
                    values.extend(table.columns.iter().map(|(name, _)| self.table(table.select(name))));
                }
                (None, Some(items)) => values.extend(items),
                _ => values.push(value.clone()),
            }
        }
        let named = |machine: &Self, value: &Value| match value {
            Value::Number(number) => number.text.clone(),
            value => machine.table_of(value).and_then(|table| table.label.clone()),
        };
        let mut all: Vec<(Rc<str>, Value)> =
            values.into_iter().filter_map(|value| Some((named(self, &value)?, value))).collect();
        all.extend(arguments.named.iter().cloned());
        let mut columns = Vec::new();
        for (name, value) in all {
            let column = self.column_made(&name, &value, arguments);
            columns.push((name, column));
        }
        columns
    }

    pub(crate) fn selected(&mut self, table: &Table, arguments: &Arguments) -> Value {
        if let [only @ Value::Names(_)] = arguments.positional.as_slice() {
            return self.table_item_by(table, only);
        }
        let names = self.given_texts(arguments);
        let mut made = self.select_all(table, &names);
        for (name, column) in self.columns_made(arguments) {
            made.set(name, column);
        }
        made.polars = true;
        self.table(made)
    }

    /// `group_by(...).agg(...)`: one row for each group.
    pub(crate) fn aggregated_by(&mut self, group: &Group, arguments: &Arguments) -> Value {
        let mut made = Table { polars: true, ..Table::of(RowsId::UNKNOWN) };
        let positional = arguments.positional.clone();
        let mut values: Vec<(Option<Rc<str>>, Value)> = Vec::new();
        for value in positional {
            match self.contents(&value) {
                Some(items) => values.extend(items.into_iter().map(|item| (None, item))),
                None => values.push((None, value)),
            }
        }
        values.extend(arguments.named.iter().map(|(name, value)| (Some(Rc::clone(name)), value.clone())));
        for (name, value) in values {
            let Value::Number(number) = &value else { continue };
            let label = number.reduced.as_ref().and_then(|table| table.label.clone());
            let Some(name) = name.or_else(|| number.text.clone()).or(label) else { continue };
            let deps = self.statistic_of(number, group.table.rows, arguments);
            made.set(name, Column::learnt(deps));
        }
        self.table(made)
    }

    /// What a number depends on that is computed for each group: the target may be in it.
    fn statistic_of(&mut self, number: &Number, rows: RowsId, arguments: &Arguments) -> Dependencies {
        let of_target =
            number.reduced.as_ref().is_some_and(|table| table.is_target() || self.has_answer(&table.deps()));
        if of_target {
            number.deps.and(&self.learn(Kind::Target, arguments.range, rows))
        } else {
            number.deps.clone()
        }
    }

    /// `column.mean().over("group")`: the statistic of a group for each of its rows.
    pub(crate) fn over(&mut self, number: &Number, table: &Table, arguments: &Arguments) -> Value {
        let deps = self.statistic_of(number, table.rows, arguments);
        let label = number.text.clone().or_else(|| table.label.clone());
        let made = Table::array(table.rows, deps);
        self.table(Table { label, polars: true, ..made })
    }
}

/// Whether a method makes columns from expressions, of tables of other libraries as well.
fn extends(name: &str) -> bool {
    effects::of(&[Receiver::Table], name) == Some(Effect::Columns(Columns::Extended))
}

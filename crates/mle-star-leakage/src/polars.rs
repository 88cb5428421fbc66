//! Polars: expressions are evaluated for the table whose method they are given to.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::info::{Dependencies, Kind};
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::table::{Column, Group, Table};
use crate::value::{Names, Number, Object, Value};

impl<'a> Machine<'a> {
    /// The table that expressions among the arguments of a method are about.
    pub(crate) fn context_of(&self, function: &Value) -> Option<Rc<Table>> {
        let Value::Method(method) = function else { return None };
        match self.state.get(&method.0) {
            Some(Object::Table(table)) if table.polars || &*method.1 == "with_columns" => {
                Some(Rc::new(table.clone()))
            }
            Some(Object::Group(group)) if group.table.polars => Some(Rc::new(group.table.clone())),
            _ => None,
        }
    }

    /// `pl.col("name")` and the like, in the arguments of a method of a table.
    pub(crate) fn call_expression(
        &mut self,
        symbol: &str,
        name: &str,
        arguments: &Arguments,
    ) -> Option<Value> {
        let context = self.context.clone()?;
        let texts = self.given_texts(arguments);
        if symbol.contains("selectors") {
            return Some(self.selector(&context, name, texts));
        }
        Some(match (name, texts.as_slice()) {
            ("col", [only]) if &**only == "*" => Value::Names(Rc::new(crate::access::names_of(&context))),
            ("col", [only]) => {
                let column = self.select(&context, only);
                self.table(Table { polars: true, ..column })
            }
            ("col", [_, _, ..]) => {
                let columns = self.select_all(&context, &texts);
                self.table(columns)
            }
            ("all" | "exclude", _) => {
                let mut names = crate::access::names_of(&context);
                names.except.extend(texts);
                Value::Names(Rc::new(names))
            }
            ("when", _) => arguments.first_value(),
            ("lit", _) => arguments.first_value(),
            ("len" | "count", []) => Value::some_number(),
            _ => return None,
        })
    }

    /// Columns that are chosen by their type or name.
    fn selector(&mut self, context: &Table, name: &str, texts: Vec<Rc<str>>) -> Value {
        let all = crate::access::names_of(context);
        let made = match name {
            "all" => all,
            "by_name" => Names { only: texts.clone(), known: texts, except: Vec::new(), ..all },
            "exclude" => Names { except: texts, ..all },
            _ => Names { sure: false, ..all },
        };
        Value::Names(Rc::new(made))
    }

    fn given_texts(&self, arguments: &Arguments) -> Vec<Rc<str>> {
        let given = arguments.positional.iter();
        let text = |value: &Value| match value {
            Value::Names(_) => Vec::new(),
            _ => value.constant().map_or_else(|| self.texts(value).unwrap_or_default(), |name| vec![name]),
        };
        given.flat_map(text).collect()
    }

    /// Methods of tables and columns of polars.
    pub(crate) fn call_polars(
        &mut self,
        base: &Value,
        table: &Table,
        name: &str,
        arguments: &Arguments,
    ) -> Option<Value> {
        Some(match name {
            "with_columns" => {
                let mut made = table.clone();
                for (name, column) in self.columns_made(arguments) {
                    made.set(name, column);
                }
                self.table(made)
            }
            _ if !table.polars => return None,
            "select" => self.selected(table, arguments),
            "filter" => {
                let mut left = base.clone();
                for condition in &arguments.positional {
                    let Some(table) = self.table_of(&left).cloned() else { return Some(Value::Unknown) };
                    left = match condition {
                        Value::Unknown => self.table(table.with_rows(RowsId::UNKNOWN)),
                        known => self.table_item_by(&table, known),
                    };
                }
                left
            }
            "drop" => {
                let names = self.given_texts(arguments);
                let mut left = if names.is_empty() { self.unsure(table) } else { table.clone() };
                names.iter().for_each(|name| left.remove(name));
                self.table(left)
            }
            "alias" => {
                let label = arguments.first_value().constant();
                self.table(Table { label, ..table.clone() })
            }
            "over" | "to_dummies" | "shrink_to_fit" | "rechunk" => base.clone(),
            "get_column" => {
                let name = arguments.first_value().constant()?;
                let column = self.select(table, &name);
                self.table(column)
            }
            "then" | "otherwise" | "replace_strict" => {
                let mut given = vec![base.clone()];
                given.extend(arguments.positional.iter().cloned());
                self.elementwise(&Arguments { positional: given, ..arguments.clone() })
            }
            "cum_sum" | "cum_max" | "cum_min" | "cum_prod" => self.window(table, arguments),
            _ if name.starts_with("rolling_") || name.starts_with("ewm_") => self.window(table, arguments),
            _ => return None,
        })
    }

    /// Statistics of rows before each row, and of the row itself.
    fn window(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let group =
            Group { table: table.values(), chosen: true, ordered: true, window: true, ..Group::default() };
        let made = self.windowed(&group, table.rows, arguments);
        match (self.table_of(&made).cloned(), &table.label) {
            (Some(made), label) => self.table(Table { label: label.clone(), polars: true, ..made }),
            _ => made,
        }
    }

    /// The columns that expressions make, with their names.
    fn columns_made(&mut self, arguments: &Arguments) -> Vec<(Rc<str>, Column)> {
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
            let column = self.column_of(&value);
            self.note_source(&name, &value);
            columns.push((Rc::clone(&name), self.answering(&name, &value, column, arguments.range)));
        }
        columns
    }

    fn selected(&mut self, table: &Table, arguments: &Arguments) -> Value {
        if let [only @ Value::Names(_)] = arguments.positional.as_slice() {
            return self.table_item_by(table, only);
        }
        let mut names = Vec::new();
        for value in &arguments.positional {
            match (value.as_str(), self.texts(value)) {
                (Some(name), _) => names.push(Rc::from(name)),
                (None, Some(more)) => names.extend(more),
                _ => {}
            }
        }
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

    /// Methods of a number that a column was reduced to: `.over("group")`, `.alias("name")`.
    pub(crate) fn call_reduced(
        &mut self,
        number: &Rc<Number>,
        name: &str,
        arguments: &Arguments,
    ) -> Option<Value> {
        let table = number.reduced.clone()?;
        Some(match name {
            "over" => {
                let deps = self.statistic_of(number, table.rows, arguments);
                let label = number.text.clone().or_else(|| table.label.clone());
                let made = Table::array(table.rows, deps);
                self.table(Table { label, polars: true, ..made })
            }
            "alias" => {
                let text = arguments.first_value().constant();
                Value::Number(Rc::new(Number { text, ..(**number).clone() }))
            }
            _ => return None,
        })
    }
}

//! Assignments to attributes and items: what a table, list or dictionary holds afterwards.

use crate::effects::{self, Attribute, Receiver};
use crate::info::{Dependencies, Dependency, Kind};
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::site::Site;
use crate::table::{Column, Table};
use crate::value::{Object, Value};
use ruff_python_ast::{Expr, ExprSubscript};
use std::rc::Rc;

impl<'a> Machine<'a> {
    /// Sets an attribute.
    pub(crate) fn set_attribute(&mut self, base: &Value, name: &str, value: Value) {
        let Value::Object(number) = base else { return };
        let deps = self.deps_of(&value);
        let names = self.texts(&value);
        let column = self.column_of(&value);
        let column = self.put(Some(name), &value, column, None).0;
        let named_deps = self.table_of(base).map(Table::deps).unwrap_or_default();
        let named_deps = self.without_answers(&named_deps);
        let known = effects::attribute(Receiver::Table, name);
        match self.state.change(*number) {
            Some(Object::Instance(instance)) => {
                match instance.attributes.iter_mut().find(|(known, _)| &**known == name) {
                    Some((_, known)) => *known = value,
                    None => instance.attributes.push((name.into(), value)),
                }
            }
            Some(Object::Table(table)) if known == Some(Attribute::Names) => {
                let all = named_deps;
                // The names change; what is in the columns does not.
                let names = names.unwrap_or_default();
                *table = Table { rows: table.rows, ..Table::default() };
                let column = Column::learnt(all.clone());
                names.into_iter().for_each(|name| table.set(name, column.clone()));
                table.rest.deps = all;
            }
            Some(Object::Table(table)) if known != Some(Attribute::Index) => table.set(name.into(), column),
            Some(Object::Estimator(estimator)) => estimator.deps.add(&deps),
            _ => {}
        }
    }

    /// `base[index] = value`.
    pub(crate) fn set_item(&mut self, subscript: &'a ExprSubscript, value: Value) {
        let base = self.eval(&subscript.value);
        let (base, located) = match &base {
            Value::Bound(bound) => (bound.0.clone(), true),
            _ => (base.clone(), false),
        };
        let Value::Object(number) = base else { return };
        match self.state.object(number) {
            Some(Object::Table(_)) => self.set_in_table(number, &subscript.slice, located, &value),
            Some(Object::Dict(_)) => {
                let key = self.eval(&subscript.slice);
                // `counts[label][word] += 1`
                let outer = match &*subscript.value {
                    Expr::Subscript(outer) => self.eval(&outer.slice),
                    _ => Value::None,
                };
                let value = self.gathered(&Value::Tuple([key.clone(), outer].into()), value);
                let Some(Object::Dict(dict)) = self.state.change(number) else { return };
                dict.put(key.constant(), value);
            }
            Some(Object::List(_)) => {
                let position = self.eval(&subscript.slice);
                let Some(Object::List(list)) = self.state.change(number) else { return };
                match position {
                    Value::Int(position) if !list.open => {
                        if let Some(item) =
                            usize::try_from(position).ok().and_then(|at| list.items.get_mut(at))
                        {
                            *item = value;
                        }
                    }
                    _ => {
                        list.open = true;
                        list.items.push(value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether an index chooses rows, and which columns it names.
    fn place(&mut self, index: &'a Expr, located: bool) -> (bool, Value) {
        match index {
            Expr::Tuple(tuple) => match tuple.elts.as_slice() {
                [rows, column] => {
                    (!whole(rows), if column.is_slice_expr() { Value::None } else { self.eval(column) })
                }
                _ => (true, Value::None),
            },
            Expr::Slice(_) => (true, Value::None),
            _ if located => (true, Value::None),
            _ => (false, self.eval(index)),
        }
    }

    fn set_in_table(&mut self, number: usize, index: &'a Expr, located: bool, value: &Value) {
        let listed = self.row_list(value).map(|table| self.table(table));
        let value = listed.as_ref().unwrap_or(value);
        let column = self.column_of(value);
        let rows_of_value = self.table_of(value).map(|value| value.rows).unwrap_or_default();
        let is_time = self.table_of(value).is_some_and(|table| !table.order.times.is_empty());
        let (partly, name) = self.place(index, located);
        let mut column = column;
        let among = self.table_of(&name).filter(|table| table.index).map(|table| table.rows);
        self.depend_on_place((&mut column, value), number, &name);
        if partly {
            self.leave_out_apart(&mut column, number, index);
        }
        let by_rows = partly || self.chooses_rows(&name);
        let names = self.texts(&name);
        let by_target = if partly || by_rows { self.rows_by_target(index) } else { None };
        let whole_name = name.name();
        let several = names.as_ref().and_then(|names| names.first()).filter(|_| column.target);
        let whole_name = whole_name.or_else(|| several.cloned());
        let given = names.as_ref().and_then(|names| self.with_columns(value, names)).cloned();
        let (column, answer) = self.put(whole_name.as_deref(), value, column, by_target);
        let Some(Object::Table(table)) = self.state.change(number) else { return };
        if !table.rows.is_known() && table.columns.is_empty() && !partly && !table.blank {
            // The first column of an empty table.
            table.rows = rows_of_value;
        }
        let names = match (name.name(), names) {
            _ if matches!(name, Value::None) => Vec::new(),
            (Some(name), _) => vec![name],
            (None, Some(names)) => names,
            _ if by_rows => Vec::new(),
            _ if table.columns.is_empty() && !table.whole => Vec::new(),
            _ => return table.unnamed.add(&column.deps),
        };
        if let (true, Value::Bool(value), Some(among)) = (names.is_empty() && table.blank, value, among) {
            table.mask.among = Some(among);
            table.mask.condition = Some((format!("among {among:?}").into(), !value));
        }
        if names.is_empty() {
            table.put_values(&column, &answer);
        }
        for name in names {
            let column = given.as_ref().map_or_else(|| column.clone(), |given| given.column(&name));
            let before = by_rows.then(|| table.named(&name)).flatten();
            let after = before.map_or_else(|| column.clone(), |before| before.join(&column));
            if is_time {
                table.order.times.push(Rc::clone(&name));
            }
            table.set(name, after);
        }
    }

    /// The value, if it is a table that has all these columns: `table[names] = table[names].fillna(0)`.
    fn with_columns(&self, value: &Value, names: &[Rc<str>]) -> Option<&Table> {
        let has_all = |given: &&Table| names.iter().all(|name| given.named(name).is_some());
        self.table_of(value).filter(|given| names.len() > 1 && given.label.is_none()).filter(has_all)
    }

    /// What a column depends on by the place that its values are put into.
    fn depend_on_place(&mut self, (column, value): (&mut Column, &Value), number: usize, name: &Value) {
        // Places that were chosen by scores.
        let places = self.deps_of(name);
        let chosen = self.infos.map(&places, |dep| matches!(dep.kind, Kind::Choice(_)).then_some(dep));
        column.deps.add(&chosen);
        let anywhere =
            matches!(self.state.object(number), Some(Object::Table(table)) if !table.rows.is_known());
        column.deps.add(&self.learnt_in_loop(value, anywhere));
        match name {
            // Each column is changed in its place.
            Value::Names(names) if names.each => {
                column.deps = self.without_answers(&column.deps);
            }
            // The target among the columns goes into its own place. It has a site where it came in by an operation.
            Value::Names(_) => {
                let is_own =
                    |dep: &Dependency| matches!(dep.kind, Kind::Answer(_)) && dep.site == Site::default();
                column.deps = self.infos.map(&column.deps, |dep| (!is_own(&dep)).then_some(dep));
            }
            _ => {}
        }
    }

    /// Statistics of other rows than those that they are put into are left out.
    fn leave_out_apart(&mut self, column: &mut Column, number: usize, index: &'a Expr) {
        let place = self.rows_of_place(number, index);
        let apart = |dep: &Dependency| dep.kind == Kind::Target && self.rows.apart(dep.from, place);
        if self.infos.any(&column.deps, apart) {
            let own: Vec<_> = self.infos.deps(&column.deps).filter(|dep| !apart(dep)).collect();
            column.deps = own.into_iter().map(|dep| self.infos.dep(dep)).collect();
        }
    }

    /// The rows that values are put into: `table.loc[rows, name] = values`.
    fn rows_of_place(&mut self, number: usize, index: &'a Expr) -> RowsId {
        let rows = match index {
            Expr::Tuple(tuple) => tuple.elts.first(),
            index => Some(index),
        };
        let Some(rows) = rows.filter(|rows| !rows.is_slice_expr()) else { return RowsId::UNKNOWN };
        let table = match self.state.object(number) {
            Some(Object::Table(table)) => table.clone(),
            _ => return RowsId::UNKNOWN,
        };
        let rows = self.eval(rows);
        self.chosen_rows(&table, &rows).unwrap_or_default()
    }

    /// A value that becomes a column, and what other columns depend on if it is put among them: the target itself may be
    /// in it, or its rows may be chosen by the target.
    fn put(
        &mut self,
        name: Option<&str>,
        value: &Value,
        column: Column,
        by_target: Option<Table>,
    ) -> (Column, Dependencies) {
        let range = self.statement;
        let mut column = match name {
            Some(name) => {
                self.note_source(name, value);
                self.answering(name, value, column, range)
            }
            None => column,
        };
        column.set = range.start().to_u32();
        let mut answer = Dependencies::default();
        if let Some(condition) = by_target
            && !column.target
            && let Some(number) = self.number_of_condition(&condition)
        {
            answer = self.learn(Kind::Answer(number), range, condition.rows);
            column.deps.add(&answer);
        }
        (column, answer)
    }

    /// The condition that chooses rows, if it is about the target: `table.loc[table["y"] == 1, "x"]`.
    fn rows_by_target(&mut self, index: &'a Expr) -> Option<Table> {
        let rows = match index {
            Expr::Tuple(tuple) => tuple.elts.first()?,
            index => index,
        };
        if rows.is_slice_expr() {
            return None;
        }
        let rows = self.eval(rows);
        self.table_of(&rows).filter(|table| table.by_target && table.mask.condition.is_some()).cloned()
    }

    fn chooses_rows(&self, index: &Value) -> bool {
        self.table_of(index).is_some_and(|table| table.mask.condition.is_some() || table.index)
    }

    /// `del base[index]`.
    pub(crate) fn delete(&mut self, target: &'a Expr) {
        let Expr::Subscript(subscript) = target else { return };
        let base = self.eval(&subscript.value);
        let name = self.eval(&subscript.slice).constant();
        let Some(mut table) = self.table_of(&base).cloned() else { return };
        match name {
            Some(name) => table.remove(&name),
            None => table = self.unsure(&table),
        }
        self.replace(&base, table);
    }
}

impl Table {
    /// Puts values into an array.
    fn put_values(&mut self, column: &Column, answer: &Dependencies) {
        let first = self.blank && !self.filled && self.rest.deps.is_empty();
        self.rest.deps.add(&column.deps);
        self.rest.deps.add(answer);
        self.rest.target = column.target && (first || self.rest.target);
        self.filled = true;
    }
}

/// Whether `:` stands for all rows.
fn whole(rows: &Expr) -> bool {
    rows.as_slice_expr().is_some_and(|slice| slice.lower.is_none() && slice.upper.is_none())
}

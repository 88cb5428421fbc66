//! What is assigned to attributes and items.

use crate::machine::Machine;
use crate::table::{Column, Table};
use crate::value::{Object, Value};
use ruff_python_ast::{Expr, ExprSubscript};
use std::rc::Rc;

impl<'a> Machine<'a> {
    /// Sets an attribute.
    pub(crate) fn set_attribute(&mut self, base: &Value, name: &str, value: Value) {
        let Value::Object(number) = base else { return };
        let lessons = self.lessons_of(&value);
        let names = self.texts(&value);
        let column = self.column_of(&value);
        match self.state.change(*number) {
            Some(Object::Instance(instance)) => {
                match instance.attributes.iter_mut().find(|(known, _)| &**known == name) {
                    Some((_, known)) => *known = value,
                    None => instance.attributes.push((name.into(), value)),
                }
            }
            Some(Object::Table(table)) if name == "columns" => {
                // The names change; what is in the columns does not.
                let all = table.lessons();
                let names = names.unwrap_or_default();
                *table = Table { rows: table.rows, ..Table::default() };
                let column = Column { lessons: all.clone(), target: false };
                names.into_iter().for_each(|name| table.set(name, column.clone()));
                table.rest.lessons = all;
            }
            Some(Object::Table(table)) if name != "index" => table.set(name.into(), column),
            Some(Object::Estimator(estimator)) => estimator.lessons.add(&lessons),
            _ => {}
        }
    }

    /// `base[index] = value`.
    pub(crate) fn set_item(&mut self, subscript: &'a ExprSubscript, value: Value) {
        let base = self.eval(&subscript.value);
        let (base, located) = match &base {
            Value::Method(method) => (method.0.clone(), true),
            _ => (base.clone(), false),
        };
        let Value::Object(number) = base else { return };
        match self.state.object(number) {
            Some(Object::Table(_)) => self.set_in_table(number, &subscript.slice, located, &value),
            Some(Object::Dict(_)) => {
                let key = self.eval(&subscript.slice).constant();
                let Some(Object::Dict(dict)) = self.state.change(number) else { return };
                dict.put(key, value);
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

    fn set_in_table(&mut self, number: usize, index: &'a Expr, located: bool, value: &Value) {
        let column = self.column_of(value);
        let rows_of_value = self.table_of(value).map(|value| value.rows).unwrap_or_default();
        let is_time = self.table_of(value).is_some_and(|table| !table.order.times.is_empty());
        let (partly, name) = match index {
            Expr::Tuple(tuple) => match tuple.elts.as_slice() {
                [rows, column] => {
                    (!whole(rows), if column.is_slice_expr() { Value::None } else { self.eval(column) })
                }
                _ => (true, Value::None),
            },
            Expr::Slice(_) => (true, Value::None),
            _ if located => (true, Value::None),
            _ => (false, self.eval(index)),
        };
        let by_rows = partly || self.chooses_rows(&name);
        let names = self.texts(&name);
        let Some(Object::Table(table)) = self.state.change(number) else { return };
        if !table.rows.is_known() && table.columns.is_empty() && !partly && !table.filling.blank {
            // The first column of an empty table.
            table.rows = rows_of_value;
        }
        let names = match (name.constant().filter(|_| !name.is_constant_number()), names) {
            _ if matches!(name, Value::None) => Vec::new(),
            (Some(name), _) => vec![name],
            (None, Some(names)) => names,
            _ if by_rows => Vec::new(),
            _ if table.columns.is_empty() && !table.whole => Vec::new(),
            _ => {
                table.unnamed.add(&column.lessons);
                return;
            }
        };
        if names.is_empty() {
            let first = table.filling.blank && !table.filling.filled && table.rest.lessons.is_empty();
            let predicted = !table.rest.lessons.is_empty() && !table.rest.target;
            table.filling.mixed |= partly && predicted && column.target && table.columns.is_empty();
            table.rest.lessons.add(&column.lessons);
            table.rest.target = column.target && (first || table.rest.target);
            table.filling.filled = true;
        }
        for name in names {
            let before = by_rows.then(|| table.named(&name)).flatten();
            let after = before.map_or_else(|| column.clone(), |before| before.join(&column));
            if is_time {
                table.order.times.push(Rc::clone(&name));
            }
            table.set(name, after);
        }
    }

    fn chooses_rows(&self, index: &Value) -> bool {
        matches!(index, Value::Positions { .. })
            || self.table_of(index).is_some_and(|table| table.mask.condition.is_some() || table.index)
    }

    /// `del base[index]`.
    pub(crate) fn delete(&mut self, target: &'a Expr) {
        let Expr::Subscript(subscript) = target else { return };
        let base = self.eval(&subscript.value);
        let name = self.eval(&subscript.slice).constant();
        if let Some(table) = self.state.table_mut(&base) {
            match name {
                Some(name) => table.remove(&name),
                None => table.kept.clear(),
            }
        }
    }
}

/// Whether `:` stands for all rows.
fn whole(rows: &Expr) -> bool {
    rows.as_slice_expr().is_some_and(|slice| slice.lower.is_none() && slice.upper.is_none())
}

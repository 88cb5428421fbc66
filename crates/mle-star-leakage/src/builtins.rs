//! Functions of Python's own: of numbers, lists, dictionaries and functions.

use crate::calls::Arguments;
use crate::effects::{self, Effect, Python};
use crate::machine::{Items, Machine};
use crate::value::{Bound, Dict, Object, Value};
use std::rc::Rc;

impl Machine<'_> {
    /// Functions of Python's own, and of its standard library.
    pub(crate) fn call_python(&mut self, python: Python, first: &Value, arguments: &Arguments) -> Value {
        match python {
            Python::Length => self.length_of(first),
            Python::Number => match first {
                Value::Number(_) | Value::Int(_) | Value::Float(_) | Value::Object(_) => first.clone(),
                Value::Str(text) => text.parse().map_or(Value::Unknown, Value::Float),
                Value::Length(_) => Value::some_number(),
                _ => Value::Unknown,
            },
            Python::Next => match self.items(first, arguments.range) {
                Items::Any(item) => item,
                Items::Each(items) => items.first().cloned().unwrap_or_default(),
            },
            Python::Attribute => match arguments.positional.get(1).and_then(Value::constant) {
                Some(attribute) => self.attribute(first, &attribute),
                None => Value::Unknown,
            },
            Python::List => match first {
                Value::Names(_) | Value::Number(_) => first.clone(),
                Value::Unknown if arguments.positional.is_empty() => self.list(Vec::new()),
                _ if self.table_of(first).is_some() => first.clone(),
                _ => self.as_list(first, arguments),
            },
            Python::Dict => self.dict_of(arguments),
            Python::DefaultDict => self.default_dict(first),
            Python::Zip => self.zip(arguments),
            Python::Enumerated => self.enumerated(first, arguments),
            Python::Mapped => self.mapped_items(first, arguments),
            Python::Partial => partial(first, arguments),
            Python::Field => match arguments.named("default_factory").cloned() {
                Some(make) => self.call_with(&make, &[], arguments.range),
                None => arguments.value(0, "default"),
            },
            Python::Product => self.product(&arguments.positional, arguments),
            Python::Combinations => self.product(&[first.clone(), first.clone()], arguments),
            Python::Copied | Python::Cloned => self.copied(python, first),
        }
    }

    /// `deepcopy(model)`, `clone(model)`.
    fn copied(&mut self, python: Python, value: &Value) -> Value {
        match self.state.get(value) {
            Some(Object::Estimator(estimator)) => {
                let mut copied = estimator.clone();
                if python == Python::Cloned {
                    copied.fitted = None;
                }
                self.state.add(Object::Estimator(copied))
            }
            _ => value.clone(),
        }
    }

    /// The number of items or rows: `len(...)`.
    fn length_of(&mut self, first: &Value) -> Value {
        if let Some(rows) = self.rows_of_set(first) {
            return Value::Length(rows);
        }
        match self.table_of(first) {
            // What is made for a fold by the number of its rows may be filled in any order.
            Some(table) if table.positions.is_some() => Value::some_number(),
            Some(table) => Value::Length(table.rows),
            None => match self.state.get(first) {
                Some(Object::List(list)) if !list.open => {
                    Value::Int(i64::try_from(list.items.len()).unwrap_or(0))
                }
                Some(Object::Dict(dict)) if dict.others.is_empty() => {
                    Value::Int(i64::try_from(dict.items.len()).unwrap_or(0))
                }
                Some(Object::List(_)) => match self.row_list(first) {
                    Some(table) if table.rows.is_known() => Value::Length(table.rows),
                    _ => Value::some_number(),
                },
                Some(Object::Instance(instance)) => match self.class_attribute(instance.class, "__len__") {
                    Some(method) => self.call_bound(&method, first, &Arguments::default()),
                    None => Value::some_number(),
                },
                _ => Value::some_number(),
            },
        }
    }

    /// `range(...)`: positions of rows, if it ends with their number.
    pub(crate) fn range_of(&mut self, arguments: &Arguments) -> Value {
        match arguments.positional.as_slice() {
            [Value::Length(rows)] => self.positions(*rows),
            [end @ Value::Number(number)] if number.share.is_some() => self.first_positions(end),
            [start, Value::Length(rows)] if matches!(start, Value::Number(_) | Value::Int(1..)) => {
                let call = self.syntax.call(arguments.range);
                let last = self.tail(*rows, start, call.and_then(|call| call.arguments.args.first()));
                self.positions(last)
            }
            _ => Value::some_number(),
        }
    }

    /// Whether a list has texts only, or names of columns.
    pub(crate) fn of_texts(&self, value: &Value) -> bool {
        match (value, self.state.get(value)) {
            (Value::Names(_), _) => true,
            (_, Some(Object::List(list))) => {
                let text = |item: &Value| matches!(item, Value::Str(_) | Value::Text(_));
                !list.items.is_empty() && list.items.iter().all(text)
            }
            _ => false,
        }
    }

    /// A dictionary of pairs: `dict(zip(keys, values))`.
    fn dict_of_pairs(&mut self, pairs: &Value) -> Dict {
        let mut dict = Dict::default();
        let items = match pairs.bound() {
            Some((item, Bound::Items)) => vec![item.clone()],
            _ => self.contents(pairs).unwrap_or_default(),
        };
        for item in items {
            let Value::Tuple(pair) = item else { continue };
            let [key, value] = &*pair else { continue };
            dict.put(key.constant(), value.clone());
        }
        dict
    }

    /// `dict(...)`, `Counter(...)`, `SimpleNamespace(...)`.
    fn dict_of(&mut self, arguments: &Arguments) -> Value {
        let first = arguments.positional.first().unwrap_or(&Value::Unknown);
        let mut dict = match self.state.get(first) {
            Some(Object::Dict(dict)) => dict.clone(),
            Some(Object::List(_)) | None => self.dict_of_pairs(first),
            Some(_) => return first.clone(),
        };
        arguments.named.iter().for_each(|(name, value)| dict.set(Rc::clone(name), value.clone()));
        self.state.add(Object::Dict(dict))
    }

    /// `defaultdict(list)` and the like.
    fn default_dict(&mut self, first: &Value) -> Value {
        let default = match first {
            Value::Symbol(symbol) => match effects::of_function(symbol) {
                Some(Effect::Python(Python::List)) => self.open_list(Vec::new()),
                Some(Effect::Python(Python::Dict)) => self.state.add(Object::Dict(Dict::default())),
                _ => Value::Unknown,
            },
            Value::Function(..) => self.call_with(first, &[], self.statement),
            _ => Value::Unknown,
        };
        self.keep_under_key(&default);
        let others = if self.state.get(&default).is_some() { vec![default] } else { Vec::new() };
        self.state.add(Object::Dict(Dict { others, ..Dict::default() }))
    }

    /// `enumerate(items)`.
    fn enumerated(&mut self, first: &Value, arguments: &Arguments) -> Value {
        match self.items(first, arguments.range) {
            Items::Each(items) => {
                let number = |position: usize| Value::Int(i64::try_from(position).unwrap_or_default());
                let items = items.into_iter().enumerate();
                let items = items.map(|(at, item)| Value::Tuple([number(at), item].into())).collect();
                self.list(items)
            }
            Items::Any(item) => Value::each(Value::Tuple([Value::Unknown, item].into())),
        }
    }

    /// `map(function, items)`.
    fn mapped_items(&mut self, function: &Value, arguments: &Arguments) -> Value {
        let items = arguments.value(1, "iterable");
        match self.items(&items, arguments.range) {
            Items::Each(items) => {
                let made = items
                    .iter()
                    .map(|item| self.call_with(function, std::slice::from_ref(item), arguments.range));
                let made = made.collect();
                self.list(made)
            }
            Items::Any(item) => {
                let value = self.call_with(function, &[item], arguments.range);
                self.open_list(vec![value])
            }
        }
    }

    /// All combinations of the items of several values.
    fn product(&mut self, values: &[Value], arguments: &Arguments) -> Value {
        let mut items = Vec::new();
        for value in values {
            items.push(match self.items(value, arguments.range) {
                Items::Each(items) => self.join_all(&items),
                Items::Any(item) => item,
            });
        }
        Value::each(Value::Tuple(items.into()))
    }

    fn as_list(&mut self, value: &Value, arguments: &Arguments) -> Value {
        match self.items(value, arguments.range) {
            Items::Each(_) => {
                let items = match self.state.get(value) {
                    Some(Object::Dict(dict)) => {
                        dict.items.iter().map(|(key, _)| Value::Str(Rc::clone(key))).collect()
                    }
                    _ => self.contents(value).unwrap_or_default(),
                };
                self.list(items)
            }
            Items::Any(Value::Unknown) => Value::Unknown,
            Items::Any(item) => {
                let of_rows = crate::copies::has_row(&item);
                let list = self.open_list(vec![item]);
                let site = self.site(arguments.range);
                if let Some(list) = self.state.list_mut(&list).filter(|_| of_rows) {
                    list.added.push((site, false));
                }
                list
            }
        }
    }

    fn zip(&mut self, arguments: &Arguments) -> Value {
        let mut each: Vec<Vec<Value>> = Vec::new();
        let mut any = Vec::new();
        for value in &arguments.positional {
            match self.items(value, arguments.range) {
                Items::Each(items) => {
                    any.push(self.join_all(&items));
                    each.push(items);
                }
                Items::Any(item) => any.push(item),
            }
        }
        if each.len() < arguments.positional.len() {
            return Value::each(Value::Tuple(any.into()));
        }
        let length = each.iter().map(Vec::len).min().unwrap_or_default();
        let rows = (0..length).map(|at| each.iter().map(|items| items[at].clone()).collect::<Vec<_>>());
        let rows = rows.map(|row| Value::Tuple(row.into())).collect();
        self.list(rows)
    }
}

/// `partial(function, ...)`.
fn partial(function: &Value, arguments: &Arguments) -> Value {
    let bound: Vec<Value> = arguments.positional.iter().skip(1).cloned().collect();
    let named =
        |(name, value): &(Rc<str>, Value)| Value::Tuple([Value::Str(Rc::clone(name)), value.clone()].into());
    let named: Vec<Value> = arguments.named.iter().map(named).collect();
    if bound.is_empty() && named.is_empty() {
        return function.clone();
    }
    let parts = [function.clone(), Value::Tuple(bound.into()), Value::Tuple(named.into())];
    Value::of(Value::Tuple(parts.into()), Bound::Partial)
}

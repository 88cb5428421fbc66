//! Functions that are built in.

use crate::calls::Arguments;
use crate::machine::{Items, Machine};
use crate::value::{Dict, Object, Text, Value};
use std::rc::Rc;

impl Machine<'_> {
    pub(crate) fn call_builtin(&mut self, name: &str, arguments: &Arguments) -> Value {
        let first = arguments.first_value();
        match name {
            "print" => {
                self.print(arguments);
                Value::None
            }
            "open" => {
                self.open(&first, arguments.get(1, "mode"), arguments);
                if first.constant().is_some() { Value::method(first, "file of") } else { Value::Unknown }
            }
            "len" => self.length_of(&first),
            "range" => self.range_of(arguments),
            "str" => self.as_text(&first),
            "float" | "int" | "abs" | "round" => match first {
                Value::Number(_) | Value::Int(_) | Value::Float(_) | Value::Object(_) => first,
                Value::Str(text) => text.parse().map_or(Value::Unknown, Value::Float),
                Value::Length(_) => Value::some_number(),
                _ => Value::Unknown,
            },
            "sorted" if self.of_texts(&first) => first,
            "max" | "min" | "sorted" => self.best(arguments),
            "sum" => self.mean_of(&first, arguments),
            "next" | "iter" => match self.items(&first, arguments.range) {
                Items::Any(item) if name == "next" => item,
                Items::Each(items) if name == "next" => items.first().cloned().unwrap_or_default(),
                _ => first,
            },
            "isinstance" | "hasattr" | "any" | "all" | "callable" => Value::Unknown,
            "getattr" => match arguments.positional.get(1).and_then(Value::constant) {
                Some(attribute) => self.attribute(&first, &attribute),
                None => Value::Unknown,
            },
            _ => self.call_collection(name, &first, arguments),
        }
    }

    /// The number of items or rows: `len(...)`.
    fn length_of(&mut self, first: &Value) -> Value {
        if let Some(rows) = self.rows_of_set(first) {
            return Value::Length(rows);
        }
        match self.table_of(first) {
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
                let range = arguments.range;
                let last = self.tail(*rows, start, Some(range));
                self.positions(last)
            }
            _ => Value::some_number(),
        }
    }

    /// Whether a list has texts only, or names of columns.
    fn of_texts(&self, value: &Value) -> bool {
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
        let items = match pairs {
            Value::Method(method) if &*method.1 == "items of" => vec![method.0.clone()],
            _ => self.contents(pairs).unwrap_or_default(),
        };
        for item in items {
            let Value::Tuple(pair) = item else { continue };
            let [key, value] = &*pair else { continue };
            dict.put(key.constant(), value.clone());
        }
        dict
    }

    fn call_collection(&mut self, name: &str, first: &Value, arguments: &Arguments) -> Value {
        match name {
            "list" | "tuple" | "set" | "reversed" | "frozenset" => match first {
                Value::Names(_) | Value::Number(_) => first.clone(),
                Value::Unknown if arguments.positional.is_empty() => self.list(Vec::new()),
                _ if self.table_of(first).is_some() => first.clone(),
                _ => self.as_list(first, arguments),
            },
            "dict" => {
                let first = arguments.positional.first().unwrap_or(&Value::Unknown);
                let mut dict = match self.state.get(first) {
                    Some(Object::Dict(dict)) => dict.clone(),
                    Some(Object::List(_)) | None => self.dict_of_pairs(first),
                    Some(_) => return first.clone(),
                };
                arguments.named.iter().for_each(|(name, value)| dict.set(Rc::clone(name), value.clone()));
                self.state.add(Object::Dict(dict))
            }
            "zip" => self.zip(arguments),
            "enumerate" => {
                let numbered = |item: Value| Value::Tuple([Value::Unknown, item].into());
                match self.items(first, arguments.range) {
                    Items::Each(items) => {
                        let number =
                            |position: usize| Value::Int(i64::try_from(position).unwrap_or_default());
                        let items = items.into_iter().enumerate();
                        let items = items.map(|(at, item)| Value::Tuple([number(at), item].into())).collect();
                        self.list(items)
                    }
                    Items::Any(item) => Value::each(numbered(item)),
                }
            }
            "map" => {
                let items = arguments.positional.get(1).cloned().unwrap_or_default();
                match self.items(&items, arguments.range) {
                    Items::Each(items) => {
                        let values = items
                            .iter()
                            .map(|item| self.call_with(first, std::slice::from_ref(item), arguments.range));
                        let values = values.collect();
                        self.list(values)
                    }
                    Items::Any(item) => {
                        let value = self.call_with(first, &[item], arguments.range);
                        self.open_list(vec![value])
                    }
                }
            }
            _ => Value::Unknown,
        }
    }

    fn as_list(&mut self, value: &Value, arguments: &Arguments) -> Value {
        match self.items(value, arguments.range) {
            Items::Each(_) => match (value, self.state.get(value)) {
                (Value::Tuple(items), _) => self.list(items.to_vec()),
                (_, Some(Object::List(list))) => {
                    let items = list.items.clone();
                    self.list(items)
                }
                (_, Some(Object::Dict(dict))) => {
                    let keys = dict.items.iter().map(|(key, _)| Value::Str(Rc::clone(key))).collect();
                    self.list(keys)
                }
                _ => Value::Unknown,
            },
            Items::Any(Value::Unknown) => Value::Unknown,
            Items::Any(item) => {
                let of_rows = crate::copies::has_row(&item);
                let list = self.open_list(vec![item]);
                let site = self.site(arguments.range);
                if let (Value::Object(number), true) = (&list, of_rows)
                    && let Some(Object::List(list)) = self.state.change(*number)
                {
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

    pub(crate) fn as_text(&mut self, value: &Value) -> Value {
        let mut text = Text::default();
        text.add(value.clone());
        match value {
            Value::Str(_) | Value::Text(_) | Value::Number(_) | Value::Int(_) | Value::Float(_) => {
                text.value()
            }
            _ => Value::Unknown,
        }
    }
}

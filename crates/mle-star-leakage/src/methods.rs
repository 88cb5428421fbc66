//! Methods of lists, dictionaries, texts and names of columns.

use crate::calls::Arguments;
use crate::info::Lessons;
use crate::machine::Machine;
use crate::value::{List, Names, Number, Object, Text, Value};
use ruff_text_size::TextRange;
use std::rc::Rc;

impl Machine<'_> {
    /// Methods of values that are no tables, models or instances.
    pub(crate) fn call_known_method(&mut self, base: &Value, name: &str, arguments: &Arguments) -> Value {
        match (base, self.state.handle(base).as_deref()) {
            (_, Some(Object::Table(table))) => self.call_table(base, table, name, arguments),
            (_, Some(Object::Group(group))) => self.call_group(group, name, arguments),
            (_, Some(Object::Estimator(estimator))) => {
                let arguments = &self.with_row_lists(arguments);
                self.call_estimator(base, estimator, name, arguments)
            }
            (_, Some(Object::Splitter(splitter))) => {
                let arguments = &self.with_row_lists(arguments);
                self.split(splitter, name, arguments)
            }
            (Value::Object(number), Some(Object::List(_))) => self.call_list(*number, name, arguments),
            (Value::Object(number), Some(Object::Dict(_))) => self.call_dict(*number, name, arguments),
            (Value::Object(number), Some(Object::Study(_))) => self.study(*number, name, arguments),
            (Value::Str(_) | Value::Text(_), _) => self.call_text(base, name, arguments),
            (Value::Number(_), _) => self.call_number(base, name, arguments),
            (Value::Names(names), _) => self.call_names(names, name, arguments),
            (Value::Method(method), _) => self.call_accessor(&method.0, &method.1, name, arguments),
            _ => {
                if matches!(name, "info" | "write" | "echo") {
                    self.print(arguments);
                }
                if matches!(name, "glob" | "rglob" | "iterdir") {
                    return self.file_names(name, None, arguments).unwrap_or_default();
                }
                Value::Unknown
            }
        }
    }

    fn call_names(&mut self, names: &Names, name: &str, arguments: &Arguments) -> Value {
        let mut names = names.clone();
        match name {
            "drop" | "difference" | "remove" => {
                let given = arguments.first_value();
                match (given.constant(), self.texts(&given)) {
                    (Some(name), _) => names.except.push(name),
                    (None, Some(given)) => names.except.extend(given),
                    _ => names.sure = false,
                }
            }
            "tolist" | "to_list" | "copy" | "sort_values" | "unique" | "append" | "insert" | "extend" => {}
            _ => names.sure = false,
        }
        Value::Names(Rc::new(names))
    }

    fn call_text(&mut self, base: &Value, name: &str, arguments: &Arguments) -> Value {
        match name {
            "format" => {
                let mut text = Text::default();
                text.add(base.clone());
                arguments.all().for_each(|value| text.values.push(value.clone()));
                text.value()
            }
            "read_text" | "read_bytes" | "open" => {
                self.open(base, arguments.get(0, "mode"), arguments);
                Value::Unknown
            }
            "write_text" | "write_bytes" => {
                self.write(base);
                Value::Unknown
            }
            "lower" | "upper" | "strip" | "resolve" | "absolute" | "expanduser" | "as_posix" => base.clone(),
            "glob" | "rglob" | "iterdir" => self.file_names(name, Some(base), arguments).unwrap_or_default(),
            "joinpath" => {
                let mut text = Text::default();
                text.add(base.clone());
                for part in &arguments.positional {
                    text.add(Value::text("/"));
                    text.add(part.clone());
                }
                text.value()
            }
            _ => Value::Unknown,
        }
    }

    /// Adds the items of a value to a list.
    pub(crate) fn extend(&mut self, number: usize, value: &Value, site: TextRange) {
        let (items, sure) = match (value, self.state.get(value)) {
            (Value::Tuple(items), _) => (items.to_vec(), true),
            (_, Some(Object::List(list))) => (list.items.clone(), !list.open),
            (_, Some(Object::Table(_))) => (vec![value.clone()], false),
            _ => (Vec::new(), false),
        };
        let items = items.iter().map(|item| self.of_current_row(item)).collect();
        self.add_to_list(number, items, sure, site);
    }

    fn add_to_list(&mut self, number: usize, items: Vec<Value>, sure: bool, site: TextRange) {
        let (loops, clause, within) = (self.nesting.loops, self.nesting.clause, self.nesting.search);
        let site = self.site(site);
        let Some(Object::List(list)) = self.state.change(number) else { return };
        if loops > list.loops {
            if list.added.is_empty() && !list.open {
                list.fixed = list.items.len();
            }
            let added = (crate::site::Site { statement: clause, ..site }, clause != list.clause);
            if list.added.len() < 64 && !list.added.contains(&added) {
                list.added.push(added);
            }
            list.within = within;
        }
        list.open |= !sure || loops > list.loops;
        list.items.extend(items);
        list.items.truncate(256);
    }

    fn call_list(&mut self, number: usize, name: &str, arguments: &Arguments) -> Value {
        let first = arguments.first_value();
        match name {
            "append" | "add" | "insert" => {
                let value = arguments.positional.last().cloned().unwrap_or_default();
                let choices = self.choices.clone();
                let value = self.of_current_row(&value);
                let value = self.with_condition(&value, &choices);
                self.add_to_list(number, vec![value], true, arguments.range);
                Value::None
            }
            "extend" | "update" => {
                self.extend(number, &first, arguments.range);
                Value::None
            }
            "remove" => {
                let text = first.constant();
                if let Some(Object::List(list)) = self.state.change(number) {
                    match text {
                        Some(text) => list.items.retain(|item| item.constant().as_ref() != Some(&text)),
                        None => list.open = true,
                    }
                }
                Value::None
            }
            "copy" => self.state.copy(number),
            "index" | "count" => Value::some_number(),
            "sort" => Value::None,
            "mean" | "sum" => self.mean_of(&Value::Object(number), arguments),
            "max" | "min" | "argmax" | "argmin" => {
                let list = Value::Object(number);
                self.best(&Arguments { positional: vec![list], ..arguments.clone() })
            }
            _ => Value::Unknown,
        }
    }

    fn call_dict(&mut self, number: usize, name: &str, arguments: &Arguments) -> Value {
        let object = self.state.handle(&Value::Object(number));
        let Some(Object::Dict(dict)) = object.as_deref() else { return Value::Unknown };
        let open = !dict.others.is_empty();
        let list = |machine: &mut Self, items| machine.new_list(items, open);
        match name {
            "get" | "pop" | "setdefault" => {
                let key = arguments.first().and_then(Value::constant);
                let known = key.and_then(|key| dict.get(&key).cloned());
                known.or_else(|| arguments.get(1, "default").cloned()).unwrap_or_default()
            }
            "values" => list(self, dict.values()),
            "items" => {
                let pair = |key: Value, value: &Value| Value::Tuple([key, value.clone()].into());
                let known = dict.items.iter().map(|(key, value)| pair(Value::Str(Rc::clone(key)), value));
                let others = dict.others.iter().map(|value| pair(Value::Unknown, value));
                list(self, known.chain(others).collect())
            }
            "keys" => list(self, dict.items.iter().map(|(key, _)| Value::Str(Rc::clone(key))).collect()),
            "copy" => self.state.copy(number),
            "update" => {
                let other = arguments.first().and_then(|value| self.state.handle(value));
                if let Some(Object::Dict(other)) = other.as_deref()
                    && let Some(Object::Dict(dict)) = self.state.change(number)
                {
                    dict.merge(other);
                }
                Value::None
            }
            _ => Value::Unknown,
        }
    }

    /// A value that is used under a condition which depends on these.
    pub(crate) fn with_condition(&mut self, value: &Value, lessons: &Lessons) -> Value {
        if lessons.is_empty() {
            return value.clone();
        }
        match value {
            Value::Str(text) => {
                let number =
                    Number { lessons: lessons.clone(), text: Some(Rc::clone(text)), ..Number::default() };
                Value::Number(Rc::new(number))
            }
            Value::Unknown => Value::learnt(lessons.clone()),
            _ => self.with_lessons(value, lessons),
        }
    }

    /// The items of a list or tuple, whether their number is known or not.
    pub(crate) fn contents(&self, value: &Value) -> Option<Vec<Value>> {
        match (value, self.state.get(value)) {
            (Value::Tuple(items), _) => Some(items.to_vec()),
            (_, Some(Object::List(List { items, .. }))) => Some(items.clone()),
            (_, Some(Object::Dict(dict))) => Some(dict.values()),
            _ => None,
        }
    }
}

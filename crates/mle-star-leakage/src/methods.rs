//! Methods of lists, dictionaries, texts and names of columns.

use crate::calls::Arguments;
use crate::info::Dependencies;
use crate::machine::Machine;
use crate::value::{Dict, List, Names, Number, Object, Text, Value};
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
                    return self.file_names(name, None, arguments);
                }
                Value::Unknown
            }
        }
    }

    fn call_names(&mut self, names: &Names, name: &str, arguments: &Arguments) -> Value {
        let mut names = names.clone();
        match name {
            "drop" | "difference" | "remove" | "exclude" => {
                let given = arguments.first_value();
                match (given.constant(), self.texts(&given)) {
                    (Some(name), _) => names.except.push(name),
                    (None, Some(given)) => names.except.extend(given),
                    _ => {
                        names.sure = false;
                        names.deps.add(&self.about_features(&given));
                    }
                }
            }
            "isin" => match self.texts(&arguments.first_value()) {
                Some(only) => (names.only, names.sure) = (only, true),
                None => names.sure = false,
            },
            "append" | "insert" | "extend" => {
                let given = arguments.positional.last().cloned().unwrap_or_default();
                let added = given.constant().map(|name| vec![name]).or_else(|| self.texts(&given));
                let added = added.unwrap_or_default();
                names.except.retain(|name| !added.contains(name));
                names.known.extend(added.iter().cloned());
            }
            "tolist" | "to_list" | "copy" | "sort_values" | "unique" => {}
            _ => {
                names.sure = false;
            }
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
            "startswith" | "endswith" | "replace" | "lower" | "upper" | "strip"
                if base.as_str().is_some() =>
            {
                constant_text(base.as_str().unwrap_or_default(), name, arguments)
            }
            // A text that is joined from values depends on them.
            "join" => {
                let deps = self.deps_of(&arguments.first_value());
                if deps.is_empty() { Value::Unknown } else { Value::learnt(deps) }
            }
            "lower" | "upper" | "strip" | "resolve" | "absolute" | "expanduser" | "as_posix" => base.clone(),
            "glob" | "rglob" | "iterdir" => self.file_names(name, Some(base), arguments),
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
                let value = self.gathered_in(number, value);
                self.add_to_list(number, vec![value], true, arguments.range);
                Value::None
            }
            "extend" | "update" => {
                self.extend(number, &first, arguments.range);
                Value::None
            }
            "remove" => {
                let text = first.constant();
                let chosen = self.about_features(&first);
                let items = self.contents(&Value::Object(number)).unwrap_or_default();
                let items: Vec<Value> = items.iter().map(|item| self.with_condition(item, &chosen)).collect();
                if let Some(Object::List(list)) = self.state.change(number) {
                    match text {
                        Some(text) => list.items.retain(|item| item.constant().as_ref() != Some(&text)),
                        None => (list.open, list.items) = (true, items),
                    }
                }
                Value::None
            }
            "copy" => self.state.copy(number),
            "index" | "count" => Value::some_number(),
            "sort" => {
                self.sort_by_scores(number, arguments);
                Value::None
            }
            "mean" | "sum" => self.mean_of(&Value::Object(number), arguments),
            "max" | "min" | "argmax" | "argmin" => {
                let list = Value::Object(number);
                self.best(&Arguments { positional: vec![list], ..arguments.clone() })
            }
            _ => Value::Unknown,
        }
    }

    /// Sorts a list of scores, or of tuples with scores: what is first then depends on them.
    fn sort_by_scores(&mut self, number: usize, arguments: &Arguments) {
        let items = self.contents(&Value::Object(number)).unwrap_or_default();
        let choice = self.choice_of_list(&Value::Object(number), &items, arguments.range);
        if choice.is_empty() {
            return;
        }
        let items: Vec<Value> = items.iter().map(|item| self.with_choice(item, &choice)).collect();
        if let Some(Object::List(list)) = self.state.change(number) {
            list.items = items;
        }
    }

    fn call_dict(&mut self, number: usize, name: &str, arguments: &Arguments) -> Value {
        let object = self.state.handle(&Value::Object(number));
        let Some(Object::Dict(dict)) = object.as_deref() else { return Value::Unknown };
        let open = !dict.others.is_empty();
        let list = |machine: &mut Self, items| machine.new_list(items, open);
        match name {
            "setdefault" if dict.items.is_empty() => {
                let default = arguments.value(1, "default");
                if let Value::Object(list) = &default
                    && let Some(Object::List(list)) = self.state.change(*list)
                {
                    (list.keyed, list.open) = (true, true);
                }
                if !dict.others.is_empty() {
                    return self.join_all(&dict.others);
                }
                if let Some(Object::Dict(dict)) = self.state.change(number) {
                    dict.others.push(default.clone());
                }
                default
            }
            "get" | "pop" | "setdefault" => {
                let key = arguments.first().and_then(Value::constant);
                let known = key.and_then(|key| dict.get(&key).cloned());
                let default = arguments.get(1, "default").cloned().unwrap_or_default();
                match known {
                    Some(known) => known,
                    None if dict.others.is_empty() => default,
                    None => {
                        let others = self.join_all(&dict.others);
                        let others = self.so_far(others);
                        let deps = self.deps_of(&others);
                        match default {
                            Value::Unknown | Value::None => others,
                            default if deps.is_empty() => default,
                            default => self.with_condition(&default, &deps),
                        }
                    }
                }
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
            _ => self.change_dict(number, dict, name, arguments),
        }
    }

    /// Methods that change a dictionary or make another one; counts in their order.
    fn change_dict(&mut self, number: usize, dict: &Dict, name: &str, arguments: &Arguments) -> Value {
        match name {
            "most_common" => {
                let counts = self.join_all(&dict.values());
                let deps = self.deps_of(&counts);
                let key = if deps.is_empty() { Value::Unknown } else { Value::learnt(deps) };
                self.open_list(vec![Value::Tuple([key, counts].into())])
            }
            "_replace" => {
                let copied = self.state.copy(number);
                if let Value::Object(copied) = copied
                    && let Some(Object::Dict(dict)) = self.state.change(copied)
                {
                    arguments.named.iter().for_each(|(name, value)| dict.set(Rc::clone(name), value.clone()));
                }
                copied
            }
            "update" => {
                let other = arguments.positional.first().and_then(|value| self.state.handle(value));
                let choices = arguments.named.iter().map(|(name, value)| (Rc::clone(name), value.clone()));
                let named: Vec<(Rc<str>, Value)> = choices.collect();
                let named: Vec<_> =
                    named.into_iter().map(|(name, value)| (name, self.chosen(value))).collect();
                if let Some(Object::Dict(dict)) = self.state.change(number) {
                    if let Some(Object::Dict(other)) = other.as_deref() {
                        dict.merge(other);
                    }
                    named.into_iter().for_each(|(name, value)| dict.set(name, value));
                }
                Value::None
            }
            _ => Value::Unknown,
        }
    }

    /// A value that is used under a condition which depends on these.
    pub(crate) fn with_condition(&mut self, value: &Value, deps: &Dependencies) -> Value {
        if deps.is_empty() {
            return value.clone();
        }
        match value {
            Value::Str(text) => {
                let number = Number { deps: deps.clone(), text: Some(Rc::clone(text)), ..Number::default() };
                Value::Number(Rc::new(number))
            }
            Value::Unknown => Value::learnt(deps.clone()),
            _ => self.with_deps(value, deps),
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

/// A method of a constant text.
fn constant_text(text: &str, name: &str, arguments: &Arguments) -> Value {
    let given: Vec<&str> = arguments.positional.iter().filter_map(Value::as_str).collect();
    if given.len() != arguments.all().count() {
        return Value::Unknown;
    }
    match (name, given.as_slice()) {
        ("startswith", [start]) => Value::Bool(text.starts_with(start)),
        ("endswith", [end]) => Value::Bool(text.ends_with(end)),
        ("replace", [from, to]) if !from.is_empty() => Value::text(&text.replace(from, to)),
        ("lower", []) => Value::text(&text.to_lowercase()),
        ("upper", []) => Value::text(&text.to_uppercase()),
        ("strip", []) => Value::text(text.trim()),
        _ => Value::Unknown,
    }
}

//! Methods of lists, dictionaries, texts and names of columns.

use crate::calls::Arguments;
use crate::effects::{self, Effect, File, Items, Receiver, Statistic, Test, Text as Made, Values};
use crate::info::Dependencies;
use crate::machine::Machine;
use crate::value::{List, Names, Number, Object, Text, Value};
use ruff_text_size::TextRange;
use std::rc::Rc;

impl Machine<'_> {
    /// Methods of values that are no instances of classes of the script.
    pub(crate) fn call_known_method(&mut self, base: &Value, name: &str, arguments: &Arguments) -> Value {
        match (base, self.state.handle(base).as_deref()) {
            (_, Some(Object::Table(table))) => self.call_table(base, table, name, arguments),
            (_, Some(Object::Group(group))) => self.call_group(group, name, arguments),
            (_, Some(Object::Estimator(estimator))) => {
                let arguments = &self.with_row_lists(arguments);
                self.call_estimator(base, estimator, name, arguments)
            }
            (_, Some(Object::Splitter(splitter))) => match effects::of(&[Receiver::Splitter], name) {
                Some(_) => {
                    let arguments = &self.with_row_lists(arguments);
                    self.split(splitter, arguments)
                }
                None => Value::some_number(),
            },
            (Value::Object(number), Some(Object::List(_))) => self.call_list(*number, name, arguments),
            (Value::Object(number), Some(Object::Dict(_))) => self.call_dict(*number, name, arguments),
            (Value::Number(_), _) => self.call_number(base, name, arguments),
            (Value::Names(names), _) => self.call_names(names, name, arguments),
            (Value::Condition(_), _) => match effects::of(&[Receiver::Table], name) {
                Some(Effect::Same | Effect::Values(Values::Array)) => base.clone(),
                Some(effect @ Effect::Make(_)) => self.apply(effect, base, arguments),
                _ => Value::Unknown,
            },
            (Value::Bound(bound), _) => self.call_bound_value(&bound.0, &bound.1, name, arguments),
            (Value::Str(_) | Value::Text(_), _) => self.apply_of(Receiver::Text, base, name, arguments),
            (_, Some(Object::Study(_))) => self.apply_of(Receiver::Study, base, name, arguments),
            _ => match effects::of(&[Receiver::Any], name) {
                Some(effect @ Effect::File(File::Printed | File::Matching | File::InFolder)) => {
                    self.apply(effect, &Value::Unknown, arguments)
                }
                _ => Value::Unknown,
            },
        }
    }

    fn call_names(&mut self, names: &Names, name: &str, arguments: &Arguments) -> Value {
        let mut names = names.clone();
        match effects::of(&[Receiver::Names], name) {
            Some(Effect::Items(Items::Removed)) => {
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
            Some(Effect::Test(Test::Among)) => match self.texts(&arguments.first_value()) {
                Some(only) => (names.only, names.sure) = (only, true),
                None => names.sure = false,
            },
            Some(Effect::Items(Items::Added)) => {
                let given = arguments.positional.last().cloned().unwrap_or_default();
                let added = given.constant().map(|name| vec![name]).or_else(|| self.texts(&given));
                let added = added.unwrap_or_default();
                names.except.retain(|name| !added.contains(name));
                names.known.extend(added.iter().cloned());
            }
            Some(Effect::Same) => {}
            _ => names.sure = false,
        }
        Value::Names(Rc::new(names))
    }

    /// Makes a text of a text, a path, or another value.
    pub(crate) fn make_text(&mut self, made: Made, on: &Value, arguments: &Arguments) -> Value {
        let mut text = Text::default();
        match (made, on.as_str()) {
            (Made::Formatted, _) => {
                text.add(on.clone());
                arguments.all().for_each(|value| text.values.push(value.clone()));
                text.value()
            }
            (Made::Path, _) => {
                text.add(on.clone());
                for part in &arguments.positional {
                    text.add(Value::text("/"));
                    text.add(part.clone());
                }
                text.value()
            }
            // A text that is joined from values depends on them.
            (Made::Joined, _) => {
                let deps = self.deps_of(&arguments.first_value());
                if deps.is_empty() { Value::Unknown } else { Value::learnt(deps) }
            }
            (Made::Folder, _) => self.some_text(""),
            (Made::Written, _) => match on {
                Value::Str(_) | Value::Text(_) | Value::Number(_) | Value::Int(_) | Value::Float(_) => {
                    text.add(on.clone());
                    text.value()
                }
                _ => Value::Unknown,
            },
            (_, Some(known)) => changed_text(made, known, arguments),
            (Made::Lower | Made::Upper | Made::Stripped, None) => on.clone(),
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
        let (list, first) = (Value::Object(number), arguments.first_value());
        match effects::of(&[Receiver::List], name) {
            Some(Effect::Items(Items::Added)) => {
                let value = arguments.positional.last().cloned().unwrap_or_default();
                let choices = self.choices.clone();
                let value = self.of_current_row(&value);
                let value = self.with_condition(&value, &choices);
                let value = self.gathered_in(number, value);
                self.add_to_list(number, vec![value], true, arguments.range);
                Value::None
            }
            Some(Effect::Items(Items::Extended)) => {
                self.extend(number, &first, arguments.range);
                Value::None
            }
            Some(Effect::Items(Items::Removed)) => {
                self.remove_from_list(number, &first);
                Value::None
            }
            Some(Effect::Items(Items::Sorted)) => {
                self.sort_by_scores(number, arguments);
                Value::None
            }
            Some(Effect::Same) => self.state.copy(number),
            Some(Effect::Number) => Value::some_number(),
            Some(Effect::Statistic(Statistic::MeanOf)) => self.mean_of(&list, arguments),
            Some(Effect::Statistic(Statistic::Best(best))) => {
                self.best(best, &Arguments { positional: vec![list], ..arguments.clone() })
            }
            _ => Value::Unknown,
        }
    }

    /// Removes a value from a list; if it is not known which, each of the others depends on what it depends on.
    fn remove_from_list(&mut self, number: usize, value: &Value) {
        let text = value.constant();
        let chosen = self.about_features(value);
        let items = self.contents(&Value::Object(number)).unwrap_or_default();
        let items: Vec<Value> = items.iter().map(|item| self.with_condition(item, &chosen)).collect();
        if let Some(Object::List(list)) = self.state.change(number) {
            match text {
                Some(text) => list.items.retain(|item| item.constant().as_ref() != Some(&text)),
                None => (list.open, list.items) = (true, items),
            }
        }
    }

    /// A list is kept under a key of a dictionary, if it is one.
    pub(crate) fn keep_under_key(&mut self, value: &Value) {
        if let Some(list) = self.state.list_mut(value) {
            (list.keyed, list.open) = (true, true);
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
        match effects::of(&[Receiver::Dict], name) {
            Some(Effect::Items(Items::Default)) if dict.items.is_empty() => {
                let default = arguments.value(1, "default");
                self.keep_under_key(&default);
                if !dict.others.is_empty() {
                    return self.join_all(&dict.others);
                }
                if let Some(Object::Dict(dict)) = self.state.change(number) {
                    dict.others.push(default.clone());
                }
                default
            }
            Some(Effect::Items(Items::Got | Items::Default)) => {
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
            Some(Effect::Items(Items::Values)) => list(self, dict.values()),
            Some(Effect::Items(Items::Pairs)) => {
                let pair = |key: Value, value: &Value| Value::Tuple([key, value.clone()].into());
                let known = dict.items.iter().map(|(key, value)| pair(Value::Str(Rc::clone(key)), value));
                let others = dict.others.iter().map(|value| pair(Value::Unknown, value));
                list(self, known.chain(others).collect())
            }
            Some(Effect::Items(Items::Keys)) => {
                list(self, dict.items.iter().map(|(key, _)| Value::Str(Rc::clone(key))).collect())
            }
            Some(Effect::Same) => self.state.copy(number),
            Some(Effect::Items(Items::Extended)) => {
                self.update_dict(number, arguments);
                Value::None
            }
            _ => Value::Unknown,
        }
    }

    /// Takes the items of another dictionary over, and the named arguments.
    fn update_dict(&mut self, number: usize, arguments: &Arguments) {
        let other = arguments.positional.first().and_then(|value| self.state.handle(value));
        let named = arguments.named.iter();
        let named: Vec<_> =
            named.map(|(name, value)| (Rc::clone(name), self.chosen(value.clone()))).collect();
        if let Some(Object::Dict(dict)) = self.state.change(number) {
            if let Some(Object::Dict(other)) = other.as_deref() {
                dict.merge(other);
            }
            named.into_iter().for_each(|(name, value)| dict.set(name, value));
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

/// What a method makes of a constant text.
fn changed_text(made: Made, text: &str, arguments: &Arguments) -> Value {
    let given: Vec<&str> = arguments.positional.iter().filter_map(Value::as_str).collect();
    if given.len() != arguments.all().count() {
        return Value::Unknown;
    }
    match (made, given.as_slice()) {
        (Made::Starts, [start]) => Value::Bool(text.starts_with(start)),
        (Made::Ends, [end]) => Value::Bool(text.ends_with(end)),
        (Made::Replaced, [from, to]) if !from.is_empty() => Value::text(&text.replace(from, to)),
        (Made::Lower, []) => Value::text(&text.to_lowercase()),
        (Made::Upper, []) => Value::text(&text.to_uppercase()),
        (Made::Stripped, []) => Value::text(text.trim()),
        _ => Value::Unknown,
    }
}

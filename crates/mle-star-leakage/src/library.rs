//! Functions of libraries: which of them is called.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::info::{How, Kind, Lesson, Lessons, Scores};
use crate::machine::{Final, Items, Machine};
use crate::names;
use crate::rows::RowsId;
use crate::value::{Dict, List, Names, Number, Object, Text, Value};

/// What the line with the score begins with.
const FINAL: &str = "Final Validation Performance";

impl Machine<'_> {
    /// Calls a function of a library.
    pub(crate) fn call_library(&mut self, symbol: &str, arguments: &Arguments) -> Value {
        let name = symbol.rsplit('.').next().unwrap_or(symbol);
        if !symbol.contains('.') {
            return self.call_builtin(name, arguments);
        }
        if let Some(splitter) = self.splitter(name, arguments) {
            return splitter;
        }
        if let Some(value) = self.call_learning(symbol, name, arguments) {
            return value;
        }
        if names::is_metric(symbol) {
            return self.metric(arguments);
        }
        if let Some(value) = self.call_pandas(symbol, name, arguments) {
            return value;
        }
        if let Some(value) = self.call_standard(symbol, name, arguments) {
            return value;
        }
        if let Some(value) = self.call_numpy(symbol, name, arguments) {
            return value;
        }
        if name.starts_with(char::is_uppercase) || names::is_composition(name) {
            return self.estimator(name, arguments);
        }
        self.call_unknown(arguments)
    }

    /// A function of which nothing is known but its arguments.
    fn call_unknown(&mut self, arguments: &Arguments) -> Value {
        let truth = arguments.positional.first().and_then(|value| self.table_of(value));
        let predicted = arguments.positional.get(1).and_then(|value| self.table_of(value));
        let (Some(truth), Some(predicted)) = (truth, predicted) else { return Value::Unknown };
        let is_prediction = self.infos.any(&predicted.lessons(), |lesson| lesson.kind == Kind::Model);
        if truth.is_target() && is_prediction && arguments.positional.len() == 2 {
            return self.metric(arguments);
        }
        Value::Unknown
    }

    fn call_builtin(&mut self, name: &str, arguments: &Arguments) -> Value {
        let first = arguments.first().cloned().unwrap_or_default();
        match name {
            "print" => {
                self.print(arguments);
                Value::None
            }
            "open" => {
                let mode = arguments.get(1, "mode").and_then(Value::as_str).unwrap_or("r").to_owned();
                if mode.contains(['w', 'a', 'x']) { self.write(&first) } else { self.read(&first, arguments) }
                Value::Unknown
            }
            "len" => match self.table_of(&first) {
                Some(table) => Value::Length(table.rows),
                None => match self.state.get(&first) {
                    Some(Object::List(list)) if !list.open => Value::Int(i64::try_from(list.items.len()).unwrap_or(0)),
                    _ => Value::some_number(),
                },
            },
            "range" => match arguments.positional.as_slice() {
                [Value::Length(rows)] => self.positions(*rows),
                _ => Value::some_number(),
            },
            "str" => self.as_text(&first),
            "float" | "int" | "abs" | "round" => match first {
                Value::Number(_) | Value::Int(_) | Value::Float(_) | Value::Object(_) => first,
                Value::Str(text) => text.parse().map_or(Value::Unknown, Value::Float),
                Value::Length(_) => Value::some_number(),
                _ => Value::Unknown,
            },
            "max" | "min" | "sorted" => self.best(arguments),
            "sum" => self.mean_of(&first, arguments),
            "next" | "iter" => match self.items(&first, arguments.range) {
                Items::Any(item) if name == "next" => item,
                _ => first,
            },
            "isinstance" | "hasattr" | "any" | "all" | "callable" => Value::Unknown,
            "getattr" => match arguments.positional.get(1).and_then(Value::constant) {
                Some(attribute) => self.attribute(&first, &attribute),
                None => Value::Unknown,
            },
            "super" => self.state.variable(self.scope, "self").cloned().unwrap_or_default(),
            _ => self.call_collection(name, &first, arguments),
        }
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
                let mut dict = match self.state.get(first) {
                    Some(Object::Dict(dict)) => dict.clone(),
                    Some(_) => return first.clone(),
                    None => Dict::default(),
                };
                arguments.named.iter().for_each(|(name, value)| dict.set(Rc::clone(name), value.clone()));
                self.state.add(Object::Dict(dict))
            }
            "zip" => self.zip(arguments),
            "enumerate" => {
                let numbered = |item: Value| Value::Tuple([Value::Unknown, item].into());
                match self.items(first, arguments.range) {
                    Items::Each(items) => {
                        let number = |position: usize| Value::Int(i64::try_from(position).unwrap_or_default());
                        let items = items.into_iter().enumerate();
                        let items = items.map(|(at, item)| Value::Tuple([number(at), item].into())).collect();
                        self.list(items)
                    }
                    Items::Any(item) => Value::Method(Rc::new((numbered(item), "items of".into()))),
                }
            }
            "map" => {
                let items = arguments.positional.get(1).cloned().unwrap_or_default();
                match self.items(&items, arguments.range) {
                    Items::Each(items) => {
                        let values = items.iter().map(|item| self.call_with(first, std::slice::from_ref(item), arguments.range));
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
            Items::Any(item) => self.open_list(vec![item]),
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
            return Value::Method(Rc::new((Value::Tuple(any.into()), "items of".into())));
        }
        let length = each.iter().map(Vec::len).min().unwrap_or_default();
        let rows = (0..length).map(|at| each.iter().map(|items| items[at].clone()).collect::<Vec<_>>());
        let rows = rows.map(|row| Value::Tuple(row.into())).collect();
        self.list(rows)
    }

    fn as_text(&mut self, value: &Value) -> Value {
        let mut text = Text::default();
        text.add(value.clone());
        match value {
            Value::Str(_) | Value::Text(_) | Value::Number(_) | Value::Int(_) | Value::Float(_) => text.value(),
            _ => Value::Unknown,
        }
    }

    /// Functions of the standard library.
    fn call_standard(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Value1 {
        let first = arguments.first().cloned().unwrap_or_default();
        Some(match (symbol, name) {
            ("os.path.join", _) => {
                let mut text = Text::default();
                for (position, part) in arguments.positional.iter().enumerate() {
                    if position > 0 {
                        text.add(Value::text("/"));
                    }
                    text.add(part.clone());
                }
                text.value()
            }
            (_, "Path" | "PurePath" | "deepcopy" | "copy" | "tqdm" | "trange" | "partial" | "expanduser" | "abspath") => first,
            (_, "defaultdict" | "OrderedDict") => self.state.add(Object::Dict(Dict::default())),
            (_, "product") if symbol.starts_with("itertools") => {
                let mut items = Vec::new();
                for value in &arguments.positional {
                    items.push(match self.items(value, arguments.range) {
                        Items::Each(items) => self.join_all(&items),
                        Items::Any(item) => item,
                    });
                }
                Value::Method(Rc::new((Value::Tuple(items.into()), "items of".into())))
            }
            (_, "clone") => match self.state.get(&first) {
                Some(Object::Estimator(estimator)) => {
                    let estimator = crate::value::Estimator { fitted: None, ..estimator.clone() };
                    self.state.add(Object::Estimator(estimator))
                }
                _ => first,
            },
            (_, "mean" | "fmean" | "median") if symbol.starts_with("statistics") => self.mean_of(&first, arguments),
            ("json.load" | "pickle.load" | "joblib.load", _) | (_, "loadtxt" | "genfromtxt") => {
                self.read(&first, arguments);
                Value::Unknown
            }
            (_, "sqrt" | "log" | "log1p" | "exp") if symbol.starts_with("math") => first,
            (_, "random" | "uniform" | "randint" | "choice" | "gauss" | "normalvariate") if symbol.starts_with("random.") => {
                self.random()
            }
            (_, "info" | "write" | "echo" | "success") => {
                self.print(arguments);
                Value::None
            }
            (_, "minimize" | "minimize_scalar" | "differential_evolution" | "fmin" | "basinhopping" | "dual_annealing" | "brute" | "shgo") => {
                self.optimise(&first, arguments)
            }
            (_, "create_study") => self.state.add(Object::Study(Number::default())),
            (_, suggested) if suggested.starts_with("suggest_") => {
                let lesson = Lesson::new(Kind::Candidate(How::Open), self.site(arguments.range), RowsId::UNKNOWN);
                Value::number(self.infos.lesson(lesson), Scores::default())
            }
            _ => return None,
        })
    }

    /// A number drawn at random. In a loop it may be a candidate of a search.
    pub(crate) fn random(&mut self) -> Value {
        let mut lessons = Lessons::default();
        if let Some(search) = self.search {
            let lesson = Lesson::new(Kind::Candidate(How::Open), self.site(search), RowsId::UNKNOWN);
            lessons = self.infos.lesson(lesson);
        }
        Value::Number(Rc::new(Number { lessons, random: true, ..Number::default() }))
    }

    /// What is printed, if it is the line with the score.
    pub(crate) fn print(&mut self, arguments: &Arguments) {
        let mut text = Text::default();
        arguments.positional.iter().for_each(|value| text.add(value.clone()));
        let Some((_, after)) = text.fixed.split_once(FINAL) else {
            let room = 256 - self.found.printed.len().min(256);
            return self.found.printed.extend(text.values.into_iter().take(room));
        };
        let literal = after.contains(|letter: char| letter.is_ascii_digit()) && text.values.is_empty();
        let site = self.site(arguments.range);
        self.found.finals.push(Final { site, values: text.values, literal });
    }

    /// Remembers that a file is read.
    pub(crate) fn read(&mut self, path: &Value, arguments: &Arguments) {
        let Some(path) = path.constant() else { return };
        let site = self.site(arguments.range);
        if !self.found.reads.iter().any(|(known, _)| *known == site) {
            self.found.reads.push((site, path));
        }
    }

    /// Remembers that a file is written.
    pub(crate) fn write(&mut self, path: &Value) {
        if let Some(path) = path.constant() {
            self.found.writes.push(path);
        }
    }

    /// Methods of values that are no tables, models or instances.
    pub(crate) fn call_known_method(&mut self, base: &Value, name: &str, arguments: &Arguments) -> Value {
        match (base, self.state.get(base)) {
            (_, Some(Object::Table(table))) => {
                let table = table.clone();
                self.call_table(base, &table, name, arguments)
            }
            (_, Some(Object::Group(group))) => {
                let group = group.clone();
                self.call_group(&group, name, arguments)
            }
            (_, Some(Object::Estimator(estimator))) => {
                let estimator = estimator.clone();
                self.call_estimator(base, &estimator, name, arguments)
            }
            (_, Some(Object::Splitter(splitter))) => {
                let splitter = splitter.clone();
                self.split(&splitter, name, arguments)
            }
            (Value::Object(number), Some(Object::List(_))) => self.call_list(*number, name, arguments),
            (Value::Object(number), Some(Object::Dict(_))) => self.call_dict(*number, name, arguments),
            (Value::Object(number), Some(Object::Study(_))) => self.study(*number, name, arguments),
            (Value::Str(_) | Value::Text(_), _) => self.call_text(base, name, arguments),
            (Value::Number(_), _) => self.call_number(base, name, arguments),
            (Value::Names(names), _) => self.call_names(names, name, arguments),
            (Value::Method(method), _) => {
                let (table, accessor) = (method.0.clone(), Rc::clone(&method.1));
                self.call_accessor(&table, &accessor, name, arguments)
            }
            _ => {
                if matches!(name, "info" | "write" | "echo") {
                    self.print(arguments);
                }
                Value::Unknown
            }
        }
    }

    fn call_names(&mut self, names: &Names, name: &str, arguments: &Arguments) -> Value {
        let mut names = names.clone();
        match name {
            "drop" | "difference" | "remove" => {
                let given = arguments.first().cloned().unwrap_or_default();
                match (given.constant(), self.texts(&given)) {
                    (Some(name), _) => names.except.push(name),
                    (None, Some(given)) => names.except.extend(given),
                    _ => names.sure = false,
                }
            }
            "tolist" | "to_list" | "copy" | "sort_values" | "unique" => {}
            "append" | "insert" | "extend" => {}
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
                let mode = arguments.get(0, "mode").and_then(Value::as_str).unwrap_or("r").to_owned();
                if mode.contains(['w', 'a', 'x']) { self.write(base) } else { self.read(base, arguments) }
                Value::Unknown
            }
            "write_text" | "write_bytes" => {
                self.write(base);
                Value::Unknown
            }
            "lower" | "upper" | "strip" | "resolve" | "absolute" | "expanduser" => base.clone(),
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
    pub(crate) fn extend(&mut self, number: usize, value: &Value) {
        let (items, sure) = match (value, self.state.get(value)) {
            (Value::Tuple(items), _) => (items.to_vec(), true),
            (_, Some(Object::List(list))) => (list.items.clone(), !list.open),
            _ => (Vec::new(), false),
        };
        let loops = self.loops;
        let Some(Object::List(list)) = self.state.change(number) else { return };
        list.open |= !sure || loops > list.loops;
        list.items.extend(items);
        list.items.truncate(256);
    }

    fn call_list(&mut self, number: usize, name: &str, arguments: &Arguments) -> Value {
        let loops = self.loops;
        let first = arguments.first().cloned().unwrap_or_default();
        match name {
            "append" | "add" | "insert" => {
                let value = arguments.positional.last().cloned().unwrap_or_default();
                let choices = self.choices.clone();
                let value = self.with_condition(&value, &choices);
                if let Some(Object::List(list)) = self.state.change(number) {
                    list.open |= loops > list.loops;
                    if list.items.len() < 256 {
                        list.items.push(value);
                    }
                }
                Value::None
            }
            "extend" | "update" => {
                self.extend(number, &first);
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
            "copy" => match self.state.object(number) {
                Some(Object::List(list)) => {
                    let list = list.clone();
                    self.state.add(Object::List(list))
                }
                _ => Value::Unknown,
            },
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
        let Some(Object::Dict(dict)) = self.state.object(number) else { return Value::Unknown };
        let dict = dict.clone();
        let open = !dict.others.is_empty();
        match name {
            "get" | "pop" | "setdefault" => {
                let key = arguments.first().and_then(Value::constant);
                let known = key.and_then(|key| dict.get(&key).cloned());
                known.or_else(|| arguments.get(1, "default").cloned()).unwrap_or_default()
            }
            "values" => {
                let values = dict.values();
                if open { self.open_list(values) } else { self.list(values) }
            }
            "items" => {
                let pair = |key: Value, value: &Value| Value::Tuple([key, value.clone()].into());
                let known = dict.items.iter().map(|(key, value)| pair(Value::Str(Rc::clone(key)), value));
                let pairs = known.chain(dict.others.iter().map(|value| pair(Value::Unknown, value))).collect();
                if open { self.open_list(pairs) } else { self.list(pairs) }
            }
            "keys" => {
                let keys: Vec<_> = dict.items.iter().map(|(key, _)| Value::Str(Rc::clone(key))).collect();
                if open { self.open_list(keys) } else { self.list(keys) }
            }
            "copy" => self.state.add(Object::Dict(dict)),
            "update" => {
                let other = arguments.first().and_then(|value| match self.state.get(value) {
                    Some(Object::Dict(other)) => Some(other.clone()),
                    _ => None,
                });
                if let (Some(other), Some(Object::Dict(dict))) = (other, self.state.change(number)) {
                    dict.merge(&other);
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
                let number = Number { lessons: lessons.clone(), text: Some(Rc::clone(text)), ..Number::default() };
                Value::Number(Rc::new(number))
            }
            Value::Unknown => Value::number(lessons.clone(), Scores::default()),
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

/// `None`: it is another function.
pub(crate) type Value1 = Option<Value>;

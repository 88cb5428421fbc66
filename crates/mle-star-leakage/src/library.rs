//! Functions of libraries: which of them is called.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::info::{Dependencies, How, Kind};
use crate::machine::{Final, Items, Machine, row_of};
use crate::names;
use crate::rows::RowsId;
use crate::table::UNKNOWN_PART;
use crate::training::is_loss;
use crate::value::{Dict, Number, Object, Text, Value};

/// What the line with the score begins with.
const FINAL: &str = "Final Validation Performance";
/// Functions that search for the arguments with the best value of a function.
const OPTIMISERS: &str = "
    minimize minimize_scalar differential_evolution fmin basinhopping dual_annealing brute shgo";

/// Functions that begin the random numbers of the whole script anew.
const SEEDERS: &str = "
    seed manual_seed manual_seed_all set_seed set_random_seed seed_everything";

impl Machine<'_> {
    /// Calls a function of a library.
    pub(crate) fn call_library(&mut self, symbol: &str, arguments: &Arguments) -> Value {
        let name = symbol.rsplit('.').next().unwrap_or(symbol);
        if !symbol.contains('.') {
            return self.call_builtin(name, arguments);
        }
        let collates = symbol.starts_with("torch") && name == "DataLoader";
        let arguments = &if collates { arguments.clone() } else { self.with_row_lists(arguments) };
        if let Some(splitter) = self.splitter(name, arguments) {
            return splitter;
        }
        if names::is_one(SEEDERS, name) {
            return Value::None;
        }
        if let Some(value) = self.call_learning(symbol, name, arguments) {
            return value;
        }
        if names::is_metric(symbol) {
            let truth = arguments.get(0, "y_true").and_then(|truth| self.table_of(truth)).cloned();
            if let Some(truth) = truth.filter(|_| names::is_of_numbers(name)) {
                self.note_numeric(&truth);
            }
            return self.metric(arguments);
        }
        if is_loss(symbol) {
            return self.loss(arguments);
        }
        if let Some(value) = self.call_pandas(symbol, name, arguments) {
            return value;
        }
        if let Some(value) = self.call_standard(symbol, name, arguments) {
            return value;
        }
        if name.ends_with("KDTree") {
            return self.estimator(name, arguments);
        }
        if let Some(value) = self.call_numpy(symbol, name, arguments) {
            return value;
        }
        if name.starts_with(char::is_uppercase) || names::is_composition(name) {
            return self.estimator(name, arguments);
        }
        self.call_unknown(arguments)
    }

    /// Whether the script has a line with the final score.
    pub(crate) fn reports_a_score(&self) -> bool {
        self.source.contains(FINAL)
    }

    /// A function of which nothing is known but its arguments.
    fn call_unknown(&mut self, arguments: &Arguments) -> Value {
        let truth = arguments.positional.first().and_then(|value| self.table_of(value));
        let predicted = arguments.positional.get(1).and_then(|value| self.table_of(value));
        let (Some(truth), Some(predicted)) = (truth, predicted) else { return Value::Unknown };
        let is_prediction = self.infos.has_model(&predicted.deps());
        if truth.is_target() && is_prediction && arguments.positional.len() == 2 {
            return self.metric(arguments);
        }
        Value::Unknown
    }

    /// Functions of the standard library.
    pub(crate) fn call_standard(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
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
            (_, "Path" | "PurePath" | "deepcopy" | "copy" | "tqdm" | "trange" | "expanduser" | "abspath") => {
                match self.state.get(&first) {
                    Some(Object::Estimator(estimator)) if name == "deepcopy" => {
                        let copied = estimator.clone();
                        self.state.add(Object::Estimator(copied))
                    }
                    _ => first,
                }
            }
            ("dataclasses.field", _) => match arguments.named("default_factory").cloned() {
                Some(make) => self.call_with(&make, &[], arguments.range),
                None => arguments.value(0, "default"),
            },
            (_, "partial") => partial(&first, arguments),
            (_, "delayed") if symbol.starts_with("joblib") => first,
            (_, "product") if symbol.starts_with("itertools") => self.product(arguments),
            (_, "clone") => match self.state.get(&first) {
                Some(Object::Estimator(estimator)) => {
                    let estimator = crate::value::Estimator { fitted: None, ..estimator.clone() };
                    self.state.add(Object::Estimator(estimator))
                }
                _ => first,
            },
            (_, "mean" | "fmean" | "median") if symbol.starts_with("statistics") => {
                self.mean_of(&first, arguments)
            }
            (_, "info" | "write" | "echo" | "success") => {
                self.print(arguments);
                Value::None
            }
            _ => {
                let value = self.call_stored(symbol, name, arguments);
                let value = value.or_else(|| self.call_collections(name, &first));
                let value = value.or_else(|| self.call_files(symbol, name, arguments));
                return value.or_else(|| self.call_search(symbol, name, arguments));
            }
        })
    }

    /// Functions that read and write what is stored; combinations, reductions and tuples with names.
    fn call_stored(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
        Some(match (symbol, name) {
            (_, "reduce") if symbol.starts_with("functools") => self.reduced(arguments),
            (_, "SimpleNamespace") => {
                let items = arguments.named.clone();
                self.state.add(Object::Dict(Dict { items, ..Dict::default() }))
            }
            (_, "namedtuple") => Value::method(arguments.value(1, "field_names"), "tuple with names"),
            (_, "combinations" | "permutations" | "combinations_with_replacement") => {
                let of = Arguments { positional: vec![first.clone(), first], ..arguments.clone() };
                self.product(&of)
            }
            ("csv.DictReader" | "csv.reader", _) => match &first {
                Value::Method(method) if &*method.1 == "file of" => {
                    let path = method.0.clone();
                    let table = self.read_table(&path, arguments);
                    let row = self.table_of(&table).cloned().map(|table| row_of(&table, false));
                    row.map_or(Value::Unknown, Value::each)
                }
                _ => Value::Unknown,
            },
            ("json.loads", _) => {
                let parsed = first.as_str().and_then(|text| serde_json::from_str(text).ok());
                parsed.map_or(Value::Unknown, |parsed| self.json(&parsed, 8))
            }
            ("json.load" | "pickle.load" | "joblib.load", _) | (_, "loadtxt" | "genfromtxt") => {
                self.read(&first, arguments);
                let path = path_of(&first).unwrap_or_default();
                let saved = self.registered.iter().rev().find(|(known, _)| *known == path);
                saved.map(|(_, value)| value.clone()).unwrap_or_default()
            }
            (_, "save" | "savez" | "savetxt" | "dump") => {
                if let (Some(path), "dump") = (arguments.positional.get(1).and_then(path_of), name) {
                    self.registered.push((path, first));
                }
                arguments.all().filter_map(Value::constant).for_each(|path| self.seen.writes.push(path));
                Value::None
            }
            _ => return None,
        })
    }

    /// Dictionaries of the standard library.
    fn call_collections(&mut self, name: &str, first: &Value) -> Option<Value> {
        Some(match name {
            "OrderedDict" => self.state.add(Object::Dict(Dict::default())),
            "Counter" if matches!(first, Value::Unknown) => self.state.add(Object::Dict(Dict::default())),
            "Counter" => {
                let deps = self.deps_of(first);
                let others = if deps.is_empty() { Vec::new() } else { vec![Value::learnt(deps)] };
                self.state.add(Object::Dict(Dict { others, ..Dict::default() }))
            }
            "defaultdict" => {
                let default = match first {
                    Value::Symbol(symbol) if &**symbol == "list" => {
                        let list = self.open_list(Vec::new());
                        if let Value::Object(number) = &list
                            && let Some(Object::List(list)) = self.state.change(*number)
                        {
                            list.keyed = true;
                        }
                        vec![list]
                    }
                    // Dictionaries of dictionaries.
                    Value::Symbol(symbol) if symbol.ends_with("Counter") || &**symbol == "dict" => {
                        vec![self.state.add(Object::Dict(Dict::default()))]
                    }
                    Value::Function(..) => {
                        let made = self.call_with(first, &[], self.statement);
                        let dict = matches!(self.state.get(&made), Some(Object::Dict(_)));
                        if dict { vec![made] } else { Vec::new() }
                    }
                    _ => Vec::new(),
                };
                self.state.add(Object::Dict(Dict { others: default, ..Dict::default() }))
            }
            _ => return None,
        })
    }

    /// A constant of JSON.
    fn json(&mut self, value: &serde_json::Value, depth: usize) -> Value {
        match value {
            _ if depth == 0 => Value::Unknown,
            serde_json::Value::Null => Value::None,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(number) => Value::Int(number),
                None => number.as_f64().map_or(Value::Unknown, Value::Float),
            },
            serde_json::Value::String(text) => Value::text(text),
            serde_json::Value::Array(items) => {
                let items = items.iter().map(|item| self.json(item, depth - 1)).collect();
                self.list(items)
            }
            serde_json::Value::Object(items) => {
                let items =
                    items.iter().map(|(name, item)| (Rc::from(name.as_str()), self.json(item, depth - 1)));
                let items = items.collect();
                self.state.add(Object::Dict(Dict { items, ..Dict::default() }))
            }
        }
    }

    /// Functions that list, open or read files.
    fn call_files(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
        Some(match (symbol, name) {
            (_, "dirname") => self.some_text(""),
            (_, "basename") => first,
            (
                _,
                "ZipFile" | "TarFile" | "unpack_archive" | "extractall" | "load" | "load_file" | "loadmat"
                | "read_pickle",
            ) => {
                self.open(&first, arguments.get(1, "mode"), arguments);
                return None;
            }
            (_, "open") if !symbol.starts_with("PIL") && !symbol.contains("Image") => {
                self.open(&first, arguments.get(1, "mode"), arguments);
                Value::Unknown
            }
            (_, "glob" | "iglob" | "rglob" | "listdir" | "iterdir" | "scandir") => {
                self.file_names(name, None, arguments)
            }
            _ => return None,
        })
    }

    /// Functions that draw numbers or search for the best ones.
    fn call_search(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
        Some(match name {
            "sqrt" | "log" | "log1p" | "exp" if symbol.starts_with("math") => first,
            "sample" if symbol.starts_with("random.") => {
                let given = Arguments {
                    named: vec![("replace".into(), Value::Bool(false))],
                    positional: vec![first.clone(), Value::Unknown],
                    ..arguments.clone()
                };
                self.drawn_rows(&first, &given)
            }
            "random" | "uniform" | "randint" | "choice" | "gauss" | "normalvariate"
                if symbol.starts_with("random.") =>
            {
                self.random()
            }
            "create_study" => self.state.add(Object::Study(Number::default())),
            _ if names::is_one(OPTIMISERS, name) => self.optimise(&first, arguments),
            _ if name.starts_with("suggest_") => Value::learnt(self.infos.learn(
                Kind::Candidate(How::Few),
                self.site(arguments.range),
                RowsId::UNKNOWN,
            )),
            _ => return None,
        })
    }

    /// All combinations of the items of several values.
    fn product(&mut self, arguments: &Arguments) -> Value {
        let mut items = Vec::new();
        for value in &arguments.positional {
            items.push(match self.items(value, arguments.range) {
                Items::Each(items) => self.join_all(&items),
                Items::Any(item) => item,
            });
        }
        Value::each(Value::Tuple(items.into()))
    }

    /// `reduce(function, items, first)`.
    fn reduced(&mut self, arguments: &Arguments) -> Value {
        let function = arguments.first_value();
        let items = match self.items(&arguments.value(1, "iterable"), arguments.range) {
            Items::Each(items) => items,
            Items::Any(item) => vec![item.clone(), item],
        };
        let mut items = items.into_iter();
        let mut all = match arguments.positional.get(2) {
            Some(first) => first.clone(),
            None => items.next().unwrap_or_default(),
        };
        for item in items {
            all = self.call_with(&function, &[all, item], arguments.range);
        }
        all
    }

    /// A tuple with names for its items.
    pub(crate) fn tuple_with_names(&mut self, names: &Value, arguments: &Arguments) -> Value {
        let names: Vec<Rc<str>> = match names.as_str() {
            Some(text) => text.split([' ', ',']).filter(|name| !name.is_empty()).map(Rc::from).collect(),
            None => self.texts(names).unwrap_or_default(),
        };
        let mut items: Vec<(Rc<str>, Value)> =
            names.into_iter().zip(arguments.positional.iter().cloned()).collect();
        items.extend(arguments.named.iter().cloned());
        self.state.add(Object::Dict(Dict { items, ..Dict::default() }))
    }

    /// A number drawn at random. In a loop it may be a candidate of a search.
    pub(crate) fn random(&mut self) -> Value {
        let mut deps = Dependencies::default();
        if let Some(search) = self.nesting.search {
            deps = self.candidate_at(How::Few, search);
        }
        Value::Number(Rc::new(Number { deps, random: true, ..Number::default() }))
    }

    /// What is printed, if it is the line with the score.
    pub(crate) fn print(&mut self, arguments: &Arguments) {
        let mut text = Text::default();
        arguments.positional.iter().for_each(|value| text.add(value.clone()));
        let Some((before, after)) = text.fixed.split_once(FINAL) else {
            let room = 256 - (self.seen.printed.len() + self.seen.printed_in_loops.len()).min(256);
            let before: Vec<&str> = match text.values.len() {
                1 => vec![&text.fixed],
                _ => text.fixed.split(UNKNOWN_PART).collect(),
            };
            let claimed = text.values.iter().zip(before).filter(|(_, before)| is_about_held_out_rows(before));
            // Differences and ratios of scores of different rows are no scores.
            let claimed = claimed.filter(|(value, _)| self.is_of_one_prediction(value));
            let claimed: Vec<Value> = claimed.map(|(value, _)| value.clone()).take(room).collect();
            self.seen.claimed.extend(claimed);
            let seen = &mut self.seen;
            let printed = match self.nesting.around.is_empty() {
                true => &mut seen.printed,
                false => &mut seen.printed_in_loops,
            };
            return printed.extend(text.values.into_iter().take(room));
        };
        let literal = after.contains(|letter: char| letter.is_ascii_digit()) && text.values.is_empty();
        let site = self.site(arguments.range);
        let before = before.matches(UNKNOWN_PART).count().min(text.values.len());
        let values = text.values.split_off(before);
        self.seen.finals.push(Final { site, values, literal });
    }

    /// Whether a value is computed from scores of the same predictions alone.
    fn is_of_one_prediction(&self, value: &Value) -> bool {
        let scores = self.scores_of(value, 3);
        let mut parts = self.infos.scores(&scores).map(|score| (score.rows, &score.deps));
        parts.next().is_some_and(|first| parts.all(|other| other == first))
    }

    /// Remembers that a file is opened.
    pub(crate) fn open(&mut self, path: &Value, mode: Option<&Value>, arguments: &Arguments) {
        if mode.and_then(Value::as_str).unwrap_or("r").contains(['w', 'a', 'x']) {
            self.write(path);
        } else {
            self.read(path, arguments);
        }
    }

    /// Remembers that a file is read.
    pub(crate) fn read(&mut self, path: &Value, arguments: &Arguments) {
        let path: Rc<str> = match (path.constant(), path) {
            (Some(path), _) => path,
            // What is not known of the path is a part of it.
            (None, Value::Text(text)) => text.fixed.replace(UNKNOWN_PART, "*").into(),
            _ => return,
        };
        let read = (self.site(arguments.range), path);
        if self.seen.reads.len() < 256 && !self.seen.reads.contains(&read) {
            self.seen.reads.push(read);
        }
    }

    /// Remembers that a file is written.
    pub(crate) fn write(&mut self, path: &Value) {
        if let Some(path) = path.constant() {
            self.seen.writes.push(path);
        }
    }
}

/// The path of a file, or of one that was opened.
fn path_of(value: &Value) -> Option<Rc<str>> {
    match value {
        Value::Method(method) if &*method.1 == "file of" => method.0.constant(),
        value => value.constant(),
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
    Value::method(Value::Tuple(parts.into()), "partial of")
}
/// Words for rows that a model has not seen, and for scores of such.
const HELD_OUT: &str = "
    val valid validation validated test holdout held unseen oof cv";
/// Words for rows that a model has seen, and for what is no score.
const NOT_HELD_OUT: &str = "
    fit refit refitted gap ratio overfit overfitting insample sample fold not";

/// Whether a text says that a number is about rows that a model has not seen.
fn is_about_held_out_rows(text: &str) -> bool {
    let text = text.to_lowercase();
    let words = || text.split(|letter: char| !letter.is_alphanumeric());
    words().any(|word| names::is_one(HELD_OUT, word))
        && !words().any(|word| names::is_one(NOT_HELD_OUT, word))
        && !text.contains("train")
}

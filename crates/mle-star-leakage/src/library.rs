//! Functions of libraries: which of them is called.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::info::{How, Kind, Lessons};
use crate::machine::{Final, Items, Machine};
use crate::names;
use crate::rows::RowsId;
use crate::training::is_loss;
use crate::value::{Dict, Number, Object, Text, Value};

/// What the line with the score begins with.
const FINAL: &str = "Final Validation Performance";
/// Functions that search for the arguments with the best value of a function.
const OPTIMISERS: &str = "
    minimize minimize_scalar differential_evolution fmin basinhopping dual_annealing brute shgo";

impl Machine<'_> {
    /// Calls a function of a library.
    pub(crate) fn call_library(&mut self, symbol: &str, arguments: &Arguments) -> Value {
        let name = symbol.rsplit('.').next().unwrap_or(symbol);
        if !symbol.contains('.') {
            return self.call_builtin(name, arguments);
        }
        let arguments = &self.with_row_lists(arguments);
        if let Some(splitter) = self.splitter(name, arguments) {
            return splitter;
        }
        if let Some(value) = self.call_learning(symbol, name, arguments) {
            return value;
        }
        if names::is_metric(symbol) {
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
        let is_prediction = self.infos.has_model(&predicted.lessons());
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
            (_, "partial") => partial(&first, arguments),
            (_, "defaultdict" | "OrderedDict") => self.state.add(Object::Dict(Dict::default())),
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
            ("json.load" | "pickle.load" | "joblib.load", _) | (_, "loadtxt" | "genfromtxt") => {
                self.read(&first, arguments);
                Value::Unknown
            }
            (_, "save" | "savez" | "savetxt" | "dump") => {
                arguments.all().filter_map(Value::constant).for_each(|path| self.seen.writes.push(path));
                Value::None
            }
            (_, "info" | "write" | "echo" | "success") => {
                self.print(arguments);
                Value::None
            }
            _ => {
                let value = self.call_files(symbol, name, arguments);
                return value.or_else(|| self.call_search(symbol, name, arguments));
            }
        })
    }

    /// Functions that list, open or read files.
    fn call_files(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
        Some(match (symbol, name) {
            (_, "dirname") => self.some_text(&[]),
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
            (_, "glob" | "iglob" | "rglob" | "listdir" | "iterdir" | "scandir" | "walk") => {
                return self.file_names(name, None, arguments);
            }
            _ => return None,
        })
    }

    /// Functions that draw numbers or search for the best ones.
    fn call_search(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
        Some(match name {
            "sqrt" | "log" | "log1p" | "exp" if symbol.starts_with("math") => first,
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

    /// A number drawn at random. In a loop it may be a candidate of a search.
    pub(crate) fn random(&mut self) -> Value {
        let mut lessons = Lessons::default();
        if let Some(search) = self.nesting.search {
            lessons = self.candidate_at(How::Few, search);
        }
        Value::Number(Rc::new(Number { lessons, random: true, ..Number::default() }))
    }

    /// What is printed, if it is the line with the score.
    pub(crate) fn print(&mut self, arguments: &Arguments) {
        let mut text = Text::default();
        arguments.positional.iter().for_each(|value| text.add(value.clone()));
        let Some((before, after)) = text.fixed.split_once(FINAL) else {
            let room = 256 - self.seen.printed.len().min(256);
            return self.seen.printed.extend(text.values.into_iter().take(room));
        };
        let literal = after.contains(|letter: char| letter.is_ascii_digit()) && text.values.is_empty();
        let site = self.site(arguments.range);
        let before = before.matches('\u{fffc}').count().min(text.values.len());
        let values = text.values.split_off(before);
        self.seen.finals.push(Final { site, values, literal });
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
            (None, Value::Text(text)) => text.fixed.replace('\u{fffc}', "*").into(),
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

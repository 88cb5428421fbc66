//! Calls of functions of libraries: their effects, what functions without a row do, files and what is printed.

use std::borrow::Cow;
use std::rc::Rc;

use crate::calls::Arguments;
use crate::effects::{self, Effect, File, New, Receiver};
use crate::info::{Dependencies, How};
use crate::machine::{Final, Machine};
use crate::score_words::FINAL;
use crate::table::UNKNOWN_PART;
use crate::value::{Bound, Number, Text, Value};

impl Machine<'_> {
    /// Calls a function of a library, or one that is built in.
    pub(crate) fn call_library(&mut self, symbol: &str, arguments: &Arguments) -> Value {
        let Some((_, name)) = symbol.rsplit_once('.') else {
            let effect = effects::of(&[Receiver::Builtin], symbol).unwrap_or(Effect::Unknown);
            return self.apply_function(effect, arguments);
        };
        let effect = effects::of(effects::libraries(symbol), name);
        let collates = effect == Some(Effect::New(New::Loader));
        let given = if collates { Cow::Borrowed(arguments) } else { self.with_row_lists(arguments) };
        let arguments = &*given;
        if effect == Some(Effect::New(New::Statistical)) {
            if let Some(model) = self.statistical_model(name, arguments) {
                return model;
            }
        } else if let Some(effect) = effect.filter(|effect| !matches!(effect, Effect::Role(_))) {
            let value = self.apply_function(effect, arguments);
            if let Some(table) = self.state.table_mut(&value).filter(|_| symbol.starts_with("polars")) {
                table.polars = true;
            }
            return value;
        }
        let is_class = name.starts_with(char::is_uppercase) || matches!(effect, Some(Effect::Role(_)));
        if !is_class && effects::libraries(symbol).contains(&Receiver::Library("numpy")) {
            return self.elementwise(arguments);
        }
        if is_class || effects::of(&[Receiver::Maker], name).is_some() {
            return self.estimator(name, arguments);
        }
        self.call_unknown(arguments)
    }

    /// Whether the script has a line with the final score.
    pub(crate) fn reports_a_score(&self) -> bool {
        self.syntax.reports
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

    /// Reads, writes or lists files, or prints.
    pub(crate) fn use_file(&mut self, file: File, on: &Value, arguments: &Arguments) -> Value {
        match file {
            File::Printed => self.print(arguments),
            File::Table | File::Array => return self.read_table(on, file == File::Table, arguments),
            File::Opened => {
                self.open(on, arguments.get(0, "mode"), arguments);
                return if on.constant().is_some() {
                    Value::of(on.clone(), Bound::File)
                } else {
                    Value::Unknown
                };
            }
            File::Written => {
                if let Some(path) = arguments.positional.first().and_then(path_of) {
                    self.registered.push((path, on.clone()));
                }
                let paths = std::iter::once(on).chain(arguments.all());
                let paths: Vec<Rc<str>> = paths.filter_map(Value::constant).collect();
                self.seen.writes.extend(paths);
            }
            File::Loaded => {
                self.read(on, arguments);
                let path = path_of(on).unwrap_or_default();
                let saved = self.registered.iter().rev().find(|(known, _)| *known == path);
                return saved.map(|(_, value)| value.clone()).unwrap_or_default();
            }
            File::Matching | File::InFolder => return self.file_names(file, on, arguments),
        }
        Value::None
    }

    /// A text of which nothing is known but this part of it, if any.
    pub(crate) fn some_text(&self, known: &str) -> Value {
        let mut text = Text::default();
        text.add(Value::Unknown);
        if !known.is_empty() {
            text.add(Value::text(known));
            text.add(Value::Unknown);
        }
        text.value()
    }

    /// The names of files: `os.listdir(folder)`, `glob.glob(pattern)`, `folder.rglob(pattern)` and the like.
    pub(crate) fn file_names(&mut self, files: File, folder: &Value, arguments: &Arguments) -> Value {
        let mut known = Text::default();
        if files == File::Matching {
            for part in std::iter::once(folder).chain(arguments.positional.first()) {
                known.add(part.clone());
                known.add(Value::text("/"));
            }
        }
        let one = self.some_text(known.fixed.trim_end_matches('/'));
        self.open_list(vec![one])
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
    fn write(&mut self, path: &Value) {
        if let Some(path) = path.constant() {
            self.seen.writes.push(path);
        }
    }
}

/// The path of a file, or of one that was opened.
fn path_of(value: &Value) -> Option<Rc<str>> {
    match value.bound() {
        Some((path, Bound::File)) => path.constant(),
        _ => value.constant(),
    }
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
    let is_one = |all: &str| words().any(|word| all.split_whitespace().any(|known| known == word));
    is_one(HELD_OUT) && !is_one(NOT_HELD_OUT) && !text.contains("train")
}

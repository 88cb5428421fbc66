//! What statements do with data: for changed scripts, in which a leak can start only where data is worked on.

use rustc_hash::{FxHashMap, FxHashSet};

use ruff_python_ast::Expr;
use ruff_text_size::TextRange;

use crate::calls::Arguments;
use crate::effects::{self, Columns, Effect, File, New, Python, Receiver, Statistic};
use crate::info::Kind;
use crate::machine::Machine;
use crate::value::{Bound, Number, Object, Role, Text, Value};

/// How much something has to do with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    /// Nothing: it has constants only.
    #[default]
    None,
    /// It makes a model that learnt nothing yet.
    Model,
    /// It reads data.
    Reads,
    /// It may change data, or compute something that is used.
    Works,
}

/// What was done in the statements that were followed.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// In the current statement so far.
    now: Work,
    /// In each statement, with those in it, and in what loops go over.
    pub(crate) by_range: FxHashMap<TextRange, Work>,
    /// Calls that print something else than a score, or do nothing with what they are given, and others.
    pub(crate) idle: FxHashMap<TextRange, bool>,
    /// Whether a model goes on learning with a further fit.
    pub(crate) goes_on: bool,
    /// Calls that make models of their arguments, or train one by the settings in the first argument.
    pub(crate) settings: FxHashSet<TextRange>,
}

impl Machine<'_> {
    /// Begins a statement. Gives what was done before.
    pub(crate) fn begin_work(&mut self) -> Work {
        std::mem::take(&mut self.done.now)
    }

    /// Ends a statement.
    pub(crate) fn end_work(&mut self, range: TextRange, before: Work) {
        self.note_work(range);
        let inside = if self.done.now >= Work::Reads { Work::Works } else { Work::None };
        self.done.now = before.max(inside);
    }

    /// Remembers what was done so far.
    pub(crate) fn note_work(&mut self, range: TextRange) {
        let known = self.done.by_range.entry(range).or_default();
        *known = self.done.now.max(*known);
    }

    /// An expression has a value.
    pub(crate) fn note_value(&mut self, expression: &Expr, value: &Value) {
        if self.done.now < Work::Works {
            let work = match (self.work_with(value, 4), expression) {
                // A model under a name may have learnt elsewhere.
                (Work::Model, Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_)) => Work::Reads,
                // What a table says of itself is no result.
                (Work::Works, Expr::Attribute(of)) if is_of_table(&of.attr) => Work::Reads,
                // Their parts were seen before.
                (Work::Works, Expr::FString(_) | Expr::Tuple(_) | Expr::List(_)) => Work::Reads,
                (work, _) => work,
            };
            self.done.now = self.done.now.max(work);
        }
    }

    /// What is done where a value is used.
    fn work_with(&self, value: &Value, depth: usize) -> Work {
        let all = |items: &[Value]| {
            let works = items.iter().map(|item| self.work_with(item, depth - 1));
            let work = works.max().unwrap_or_default();
            let is_model =
                |item: &Value| item.as_str().is_some() || self.work_with(item, depth - 1) == Work::Model;
            if work == Work::Model && !items.iter().all(is_model) { Work::Reads } else { work }
        };
        match (value, self.state.get(value)) {
            (Value::Unknown, _) => Work::Works,
            _ if depth == 0 => Work::Reads,
            (Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_), _)
            | (Value::Symbol(_) | Value::Function(..) | Value::Class(_), _) => Work::None,
            (Value::Text(text), _) => all(&text.values),
            (Value::Number(number), _) if self.is_setting(number) => Work::None,
            (Value::Tuple(items), _) => all(items),
            (_, Some(Object::List(list))) => all(&list.items),
            (_, Some(Object::Dict(dict))) => all(&dict.values()),
            (_, Some(Object::Estimator(estimator))) if estimator.fitted.is_none() => Work::Model,
            _ => Work::Reads,
        }
    }

    /// Whether a number is a constant, or one of several that are tried.
    fn is_setting(&self, number: &Number) -> bool {
        let plain = Number { deps: number.deps.clone(), text: number.text.clone(), ..Number::default() };
        *number == plain && !self.infos.any(&number.deps, |dep| !matches!(dep.kind, Kind::Candidate(_)))
    }

    /// Something was called. Gives the value of the call.
    pub(crate) fn note_call(&mut self, function: &Value, arguments: &Arguments, value: Value) -> Value {
        let (effect, name) = match function {
            // What functions of the script do was seen in their statements.
            Value::Function(..) => return value,
            Value::Symbol(symbol) if effects::of(&[Receiver::Plot], symbol).is_some() => {
                (effects::of(&[Receiver::Plot], symbol), "")
            }
            Value::Symbol(symbol) => match symbol.rsplit_once('.') {
                Some((_, name)) => (effects::of(effects::libraries(symbol), name), name),
                None => (effects::of(&[Receiver::Builtin], symbol), ""),
            },
            Value::Bound(bound) => (self.effect_of_method(&bound.0, &bound.1), ""),
            _ => (None, ""),
        };
        let may_be_idle = match effect {
            Some(Effect::Nothing) => Some(true),
            Some(Effect::File(File::Printed)) => Some(self.is_quiet(arguments)),
            _ => None,
        };
        let makes_model = self.is_model(name, arguments, &value);
        if makes_model || effect == Some(Effect::New(New::Trained)) {
            self.done.settings.insert(arguments.range);
        }
        let in_place = arguments.named.iter().any(|(name, _)| matches!(&**name, "inplace" | "out" | "**"));
        if let Some(is_idle) = may_be_idle {
            let is_idle = is_idle && self.done.now < Work::Works;
            *self.done.idle.entry(arguments.range).or_insert(true) &= is_idle;
            self.done.now = if is_idle { Work::None } else { Work::Works };
            return if matches!(value, Value::Unknown) { Value::None } else { value };
        }
        if !makes_model && (in_place || !effect.is_some_and(is_pure)) {
            self.done.now = Work::Works;
        }
        value
    }

    /// What a method does, if it is one of a table, a text or a plot.
    fn effect_of_method(&self, base: &Value, bound: &Bound) -> Option<Effect> {
        let Bound::Method(name) = bound else { return None };
        let receivers: &[Receiver] = match base {
            Value::None => &[Receiver::Plot],
            Value::Str(_) | Value::Text(_) => &[Receiver::Text],
            _ if self.table_of(base).is_some() => &[Receiver::Polars, Receiver::Table],
            _ => &[],
        };
        effects::of(receivers, name)
    }

    /// Whether a print shows neither a score nor a prediction.
    fn is_quiet(&self, arguments: &Arguments) -> bool {
        let mut text = Text::default();
        arguments.positional.iter().for_each(|value| text.add(value.clone()));
        !text.fixed.contains(crate::library::FINAL)
            && text.values.iter().all(|value| {
                self.scores_of(value, 3).is_empty() && !self.infos.has_model(&self.deps_of(value))
            })
    }

    /// Whether a call makes a model of a library, with nothing but settings that do not stop its training.
    fn is_model(&self, name: &str, arguments: &Arguments, value: &Value) -> bool {
        let is_model = effects::of(&[Receiver::Class], name) == Some(Effect::Role(Role::Model));
        let Some(Object::Estimator(made)) = self.state.get(value) else { return false };
        let divides =
            arguments.named("cv").is_some_and(|value| !matches!(value, Value::Int(_) | Value::None));
        let names = arguments.all().any(|value| self.of_texts(value));
        is_model && made.known.is_none() && !made.stops && !made.warm && !divides && !names
    }
}

fn is_of_table(attribute: &str) -> bool {
    effects::attribute(Receiver::Table, attribute).is_some()
}

/// Whether a call with this effect changes nothing, and computes nothing but what it is given makes.
fn is_pure(effect: Effect) -> bool {
    match effect {
        Effect::Columns(columns) => !matches!(columns, Columns::Taken | Columns::Inserted),
        Effect::Statistic(statistic) => statistic != Statistic::AddedAt,
        Effect::Python(python) => !matches!(python, Python::Next | Python::Mapped),
        Effect::File(file) => file == File::Printed,
        Effect::Same | Effect::Itself | Effect::Number => true,
        Effect::Rows(_) | Effect::Values(_) | Effect::Test(_) | Effect::Order(_) | Effect::Stack(_) => true,
        Effect::Make(_) | Effect::Text(_) => true,
        _ => false,
    }
}

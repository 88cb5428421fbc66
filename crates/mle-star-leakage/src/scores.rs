//! Scores: metrics, the best of several, and searches.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::effects::{self, Best, Columns, Effect, Receiver, Score, Statistic};
use crate::info::{Dependencies, Dependency, How, Kind, Scores};
use crate::machine::{Items, Machine};
use crate::numpy::is_of_truth;
use crate::rows::RowsId;
use crate::table::Table;
use crate::value::{Bound, Estimator, Fitted, Number, Object, Value};
use ruff_text_size::TextRange;

impl Machine<'_> {
    /// Computes scores, or searches for the best.
    pub(crate) fn score_by(&mut self, score: Score, on: &Value, arguments: &Arguments) -> Value {
        match score {
            Score::Curve => self.curve(arguments),
            Score::Association | Score::Correlation => self.association(score, arguments),
            Score::Samples => self.compared_samples(arguments),
            Score::Permutation => self.permuted(arguments),
            Score::Optimised => self.optimise(on, arguments),
            Score::Trials => self.study(on, arguments),
            Score::Metric { numbers } => {
                let truth = arguments.get(0, "y_true").and_then(|truth| self.table_of(truth)).cloned();
                if let Some(truth) = truth.filter(|_| numbers) {
                    self.note_numeric(&truth);
                }
                self.metric(arguments)
            }
            Score::Loss => self.loss(arguments),
        }
    }

    /// `metric(truth, predicted)`.
    pub(crate) fn metric(&mut self, arguments: &Arguments) -> Value {
        let truth = arguments.value(0, "y_true");
        let predicted = arguments.positional.get(1).or_else(|| {
            ["y_pred", "y_score", "y_prob", "y_proba"].iter().find_map(|name| arguments.named(name))
        });
        let predicted = predicted.cloned().unwrap_or_default();
        // `auc(fpr, tpr)` and the like.
        if let Value::Number(number) = &truth {
            return Value::Number(Rc::clone(number));
        }
        let one = self.table_of(&truth).cloned();
        let other = self.table_of(&predicted).cloned();
        self.note_target(&truth);
        let deps = self.deps_of(&predicted);
        let itself = self.with_itself(&truth, &predicted);
        if (deps.is_empty() || other.is_none() && self.contents(&predicted).is_none()) && !itself {
            return Value::some_number();
        }
        let of_truth = self.deps_of(&truth);
        let of_truth = self.infos.without(&of_truth, Kind::Window);
        // The true values may be means themselves.
        let (deps, of_truth) = match (self.infos.has_model(&deps), self.infos.has_model(&of_truth)) {
            (true, false) if other.is_some() => (deps, self.infos.without(&of_truth, Kind::Target)),
            (false, true) if one.is_some() => (self.infos.without(&deps, Kind::Target), of_truth),
            _ => (deps, of_truth),
        };
        let deps = deps.and(&of_truth);
        let rows = match (&one, &other) {
            (Some(one), Some(other)) if other.is_target() && !one.is_target() => other.rows,
            (Some(one), _) if one.rows.is_known() => one.rows,
            (_, Some(other)) => other.rows,
            _ => RowsId::UNKNOWN,
        };
        let rows = if rows.is_known() { rows } else { self.rows_predicted(&deps) };
        let score = self.score(arguments.range, rows, &deps, itself);
        Value::score(score)
    }

    /// The rows that models predicted for, if they are the same for all.
    fn rows_predicted(&self, deps: &Dependencies) -> RowsId {
        let models = self.infos.deps(deps).filter(|dep| dep.kind == Kind::Model);
        let mut rows = models.map(|dep| dep.on);
        match rows.next() {
            Some(first) if rows.all(|other| other == first) => first,
            _ => RowsId::UNKNOWN,
        }
    }

    /// Whether true values are compared with themselves.
    fn with_itself(&self, truth: &Value, predicted: &Value) -> bool {
        let (Some(one), Some(other)) = (self.table_of(truth), self.table_of(predicted)) else { return false };
        let label = one.label == other.label || one.label.is_none() || other.label.is_none();
        let same = one.rows.is_known() && one.rows == other.rows && label;
        one.is_target() && other.is_target() && same && other.deps().is_empty() && one.deps().is_empty()
    }

    /// `model.score(x, y)`.
    pub(crate) fn own_score(
        &mut self,
        estimator: &Estimator,
        fitted: &Fitted,
        arguments: &Arguments,
    ) -> Value {
        let predicted = self.predicted(estimator, fitted, arguments);
        let rows = self.given_table(arguments).map_or(RowsId::UNKNOWN, |table| table.rows);
        let deps = self.deps_of(&predicted);
        let score = self.score(arguments.range, rows, &deps, false);
        Value::score(score)
    }

    /// `cross_validate(...)`: the scores of training rows and of validation rows.
    pub(crate) fn cross_validate(&mut self, arguments: &Arguments) -> Value {
        let Some((rows, deps)) = self.cross_predictions(arguments) else { return Value::Unknown };
        let score = self.score(arguments.range, rows, &deps, false);
        let on_fit = self.infos.map(&deps, |dep| match dep.kind {
            Kind::Model => Some(Dependency { on: dep.from, ..dep }),
            _ => Some(dep),
        });
        let training = self.score(arguments.range, rows, &on_fit, false);
        let [training, score] = [training, score].map(Value::score);
        Value::of(Value::Tuple([training, score].into()), Bound::CrossScores)
    }

    /// Curves over thresholds, such as `roc_curve`.
    pub(crate) fn curve(&mut self, arguments: &Arguments) -> Value {
        let value = self.metric(arguments);
        let Value::Number(number) = &value else { return Value::Unknown };
        let scores: Vec<_> = self.infos.scores(&number.scores).cloned().collect();
        let candidate = self.candidate_at(How::Number, arguments.range);
        let mut made = Scores::default();
        for mut score in scores {
            score.deps.add(&candidate);
            made = made.and(&self.infos.score(score));
        }
        let value = Value::score(made);
        // A threshold is no score.
        let thresholds = Value::learnt(candidate);
        Value::Tuple([value.clone(), value, thresholds].into())
    }

    /// `max(scores)`, `np.argmax(scores)`, `max(candidates, key=score)` and the like.
    pub(crate) fn best(&mut self, best: Best, arguments: &Arguments) -> Value {
        let given = match arguments.positional.as_slice() {
            [only] => match self.contents(only) {
                Some(items) => items,
                None => vec![only.clone()],
            },
            several => several.to_vec(),
        };
        if let Some(key) = arguments.named("key").cloned() {
            return self.best_by(best, &given, arguments, &key);
        }
        if let [only] = given.as_slice()
            && let Some(table) = self.table_of(only).cloned()
        {
            return self.reduce(&table, true, arguments.range);
        }
        let only = match arguments.positional.as_slice() {
            [only] => only.clone(),
            _ => Value::Unknown,
        };
        let choice = self.choice_of_list(&only, &given, arguments.range);
        let numbers: Vec<Value> =
            given.iter().filter(|value| matches!(value, Value::Number(_))).cloned().collect();
        if numbers.is_empty() {
            // Pairs of scores and names, sorted.
            let joined = self.join_all(&given);
            return if choice.is_empty() { Value::Unknown } else { self.with_choice(&joined, &choice) };
        }
        let joined = self.join_all(&numbers);
        self.best_or_its_place(best, &joined, &choice)
    }

    /// The best of some numbers, or its place, which is no score itself.
    fn best_or_its_place(&mut self, best: Best, numbers: &Value, choice: &Dependencies) -> Value {
        if best == Best::Place {
            return Value::learnt(self.deps_of(numbers).and(choice));
        }
        match numbers {
            // The largest gap of a curve is a score of its own, as that of Kolmogorov and Smirnov.
            Value::Number(number) if number.gap => numbers.clone(),
            _ => self.with_deps(numbers, choice),
        }
    }

    /// The choice among the items of a list by their scores.
    pub(crate) fn choice_of_list(&mut self, list: &Value, items: &[Value], range: TextRange) -> Dependencies {
        self.nesting.listed = self.loop_of_list(list);
        let choice = self.choice(items, range);
        self.nesting.listed = None;
        choice
    }

    /// Every number in a pair or dictionary depends on the choice.
    pub(crate) fn with_choice(&mut self, value: &Value, choice: &Dependencies) -> Value {
        if let Some(Object::Dict(dict)) = self.state.get(value) {
            let mut dict = dict.clone();
            for (_, item) in &mut dict.items {
                if matches!(item, Value::Number(_)) {
                    *item = self.with_deps(item, choice);
                }
            }
            return self.state.add(Object::Dict(dict));
        }
        match value {
            Value::Tuple(items) => {
                Value::Tuple(items.iter().map(|item| self.with_condition(item, choice)).collect())
            }
            _ => self.with_condition(value, choice),
        }
    }

    /// The loop that added the items of a list.
    fn loop_of_list(&self, value: &Value) -> Option<TextRange> {
        match self.state.get(value) {
            Some(Object::List(list)) => list.within,
            _ => None,
        }
    }

    fn best_by(&mut self, best: Best, given: &[Value], arguments: &Arguments, key: &Value) -> Value {
        let candidates = match arguments.positional.first() {
            Some(only) if arguments.positional.len() == 1 => match self.items(only, arguments.range) {
                Items::Each(items) => items,
                Items::Any(item) => vec![item],
            },
            _ => given.to_vec(),
        };
        let candidates: Vec<Value> =
            candidates.iter().map(|candidate| self.candidates_in(candidate, arguments.range)).collect();
        let values: Vec<_> = candidates
            .iter()
            .map(|candidate| self.call_with(key, std::slice::from_ref(candidate), arguments.range))
            .collect();
        let choice = self.choice(&values, arguments.range);
        if choice.is_empty() {
            // The most frequent one, and the like.
            let among = candidates.iter().chain(&values);
            let deps: Dependencies = among.map(|value| self.deps_of(value)).collect();
            // What is chosen is not applied to rows yet.
            let deps = self.infos.map(&deps, |dep| match dep.kind {
                Kind::Target => Some(Dependency { on: RowsId::UNKNOWN, ..dep }),
                // Features in the order of their importance.
                Kind::Selection => Some(dep),
                _ => None,
            });
            return if deps.is_empty() { Value::Unknown } else { Value::learnt(deps) };
        }
        let joined = self.join_all(&candidates);
        match joined {
            Value::Number(_) | Value::Int(_) | Value::Float(_) => self.with_deps(&joined, &choice),
            Value::Object(_) | Value::Tuple(_) => {
                let chosen = self.with_choice(&joined, &choice);
                if best == Best::Sorted { self.open_list(vec![chosen]) } else { chosen }
            }
            _ => Value::learnt(choice),
        }
    }

    /// The numbers of a tuple as candidates of a search.
    fn candidates_in(&mut self, value: &Value, site: TextRange) -> Value {
        let Value::Tuple(items) = value else { return value.clone() };
        let items = items.iter().map(|item| match item {
            Value::Int(_) | Value::Float(_) => self.candidate_of(item, site, How::Few),
            _ => item.clone(),
        });
        Value::Tuple(items.collect())
    }

    /// The mean or sum of the items of a list, or of several lists position by position.
    pub(crate) fn mean_of(&mut self, value: &Value, arguments: &Arguments) -> Value {
        if let Some(table) = self.table_of(value).cloned() {
            return match arguments.named("axis").or_else(|| arguments.positional.get(1)) {
                Some(Value::Int(axis)) if *axis != 0 => self.table(table.values()),
                _ => self.reduce(&table, true, arguments.range),
            };
        }
        let Some(items) = self.contents(value) else {
            return value.if_number();
        };
        let tables: Vec<Table> = items.iter().filter_map(|item| self.table_of(item)).cloned().collect();
        if let Some((first, rest)) = tables.split_first() {
            let joined = rest.iter().fold(first.values(), |all, table| {
                let mut joined = all.join(&table.values());
                joined.rows = all.rows;
                joined
            });
            return self.table(joined);
        }
        let scores = self.scores_of(value, 3);
        let known = self.so_far(Value::learnt(self.deps_of(value)));
        let deps = self.deps_of(&known);
        let deps = self.over_folds(&deps);
        if items.iter().any(|item| matches!(item, Value::Unknown)) && scores.is_empty() {
            return Value::Unknown;
        }
        let truth = scores.is_empty() && !items.is_empty() && items.iter().all(is_of_truth);
        Value::Number(Rc::new(Number { deps, scores, truth, ..Number::default() }))
    }

    /// Scores in a list, or in lists of such, as numbers that are computed with one by one. Unknown: there are none.
    pub(crate) fn as_scores(&self, value: &Value) -> Value {
        let scores = self.scores_of(value, 3);
        if scores.is_empty() { Value::Unknown } else { Value::number(self.deps_of(value), scores) }
    }

    /// Methods of numbers and small arrays.
    pub(crate) fn call_number(&mut self, base: &Value, name: &str, arguments: &Arguments) -> Value {
        let reduced = match base {
            Value::Number(number) => number.reduced.clone().map(|table| (Rc::clone(number), table)),
            _ => None,
        };
        match (effects::of(&[Receiver::Number], name), reduced) {
            (Some(Effect::Statistic(Statistic::Over)), Some((number, table))) => {
                self.over(&number, &table, arguments)
            }
            (Some(Effect::Columns(Columns::Label)), Some((number, _))) => {
                let text = arguments.first_value().constant();
                Value::Number(Rc::new(Number { text, ..(*number).clone() }))
            }
            (Some(Effect::Statistic(Statistic::Best(best))), _) => {
                let choice = self.choice(std::slice::from_ref(base), arguments.range);
                self.best_or_its_place(best, base, &choice)
            }
            _ => base.clone(),
        }
    }

    /// `minimize(loss, start)` and the like.
    pub(crate) fn optimise(&mut self, function: &Value, arguments: &Arguments) -> Value {
        let candidate = Value::learnt(self.infos.learn(
            Kind::Candidate(How::Open),
            self.site(arguments.range),
            RowsId::UNKNOWN,
        ));
        let mut given = vec![candidate];
        let more = arguments.named("args").cloned().unwrap_or_default();
        given.extend(self.contents(&more).unwrap_or_default());
        let outer = self.nesting.search.replace(arguments.range);
        let value = self.call_with(function, &given, arguments.range);
        self.nesting.search = outer;
        let choice = self.choice(std::slice::from_ref(&value), arguments.range);
        let scores = self.scores_of(&value, 2);
        Value::number(choice, scores)
    }

    /// `study.optimize(function, ...)`.
    fn study(&mut self, study: &Value, arguments: &Arguments) -> Value {
        let Value::Object(number) = *study else { return Value::Unknown };
        let function = arguments.value(0, "func");
        let outer = self.nesting.search.replace(arguments.range);
        let value = self.call_with(&function, &[Value::text("trial").symbol()], arguments.range);
        self.nesting.search = outer;
        let deps = self.choice(std::slice::from_ref(&value), arguments.range);
        let scores = self.scores_of(&value, 2);
        // Dozens of trials, as the number is not known to be smaller.
        let few = matches!(arguments.get(1, "n_trials"), Some(Value::Int(trials)) if *trials < 20);
        let deps = self.infos.map_kinds(&deps, |kind| match kind {
            Kind::Choice(How::Setting) if !few => Some(Kind::Choice(How::Trials)),
            _ => Some(kind),
        });
        if let Some(Object::Study(study)) = self.state.change(number) {
            *study = Number { deps, scores, ..Number::default() };
        }
        Value::None
    }
}

impl Value {
    /// Something of a library with this name.
    fn symbol(&self) -> Self {
        Self::Symbol(self.as_str().unwrap_or_default().into())
    }
}

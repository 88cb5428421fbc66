//! Models that are trained in steps: networks, loops over epochs, what is known of the rows that they saw.

use std::rc::Rc;

use ruff_text_size::TextRange;

use crate::calls::Arguments;
use crate::effects::{self, Effect, New, Receiver, Step};
use crate::info::{Dependencies, Dependency, How, Kind, Score, Scores};
use crate::machine::Machine;
use crate::rows::{DivisionKind, RowsId};
use crate::table::Table;
use crate::value::{Bound, Dict, Estimator, Fitted, Object, Role, Value};

/// Stands for the position of every row.
const EVERY: &str = "every row";
impl Machine<'_> {
    /// The rows that a model saw once it is fitted on these: all rows of a cross-validation, if it is trained further
    /// in each fold.
    pub(crate) fn seen_in_folds(
        &mut self,
        model: usize,
        rows: RowsId,
        before: bool,
        site: TextRange,
    ) -> RowsId {
        let Some((whole, fold)) = self.fold_of(rows) else { return rows };
        let made_before = self.nesting.around.iter().any(|around| {
            around.folds == Some(whole) && model < if before { around.started } else { around.entered }
        });
        if !made_before {
            return rows;
        }
        let site = self.site(site);
        self.rows.joined(&[fold, whole], site)
    }

    /// The rows that folds are made of, and the training rows of a fold, if rows are those.
    pub(crate) fn fold_of(&self, rows: RowsId) -> Option<(RowsId, RowsId)> {
        self.rows.ancestors(rows).find_map(|above| {
            let (of, division, side) = self.rows.part_of(above)?;
            let kind = self.rows.division_of(division).0.kind;
            let folds = kind.is_random() || matches!(kind, DivisionKind::Folds | DivisionKind::Groups);
            (side == 0 && folds).then_some((of, above))
        })
    }

    /// Whether a loop over folds of these rows is being followed.
    pub(crate) fn is_in_folds(&self, whole: RowsId) -> bool {
        self.nesting.around.iter().any(|around| around.folds == Some(whole))
    }

    /// What a model depends on that is trained further by the steps of a loop: the number of steps.
    pub(crate) fn steps_of(&mut self, model: usize) -> Dependencies {
        let Some(outer) = self.nesting.around.iter().find(|around| model < around.entered) else {
            return Dependencies::default();
        };
        let site = crate::site::Site { expression: outer.range, statement: outer.range };
        self.infos.learn(Kind::Candidate(How::Epoch), site, RowsId::UNKNOWN)
    }

    /// `network(x)`: an instance of a class of the script, or of one of a library.
    pub(crate) fn forward(&mut self, network: &Value, arguments: &Arguments) -> Option<Value> {
        let Value::Object(number) = network else { return None };
        let fitted = match self.state.object(*number) {
            Some(Object::Instance(_)) => self.networks.fitted.get(number).cloned(),
            Some(Object::Estimator(estimator)) if estimator.role == Role::Model => estimator.fitted.clone(),
            _ => return None,
        };
        let table = arguments.all().find_map(|value| self.table_of(value)).cloned()?;
        if !self.networks.frozen && self.networks.forwards.len() < 32 {
            let site = self.site(arguments.range);
            self.networks.forwards.push((*number, table.clone(), site));
        }
        let fitted = fitted?;
        let estimator = Estimator { made: fitted.site, ..Estimator::default() };
        let deps = self.predictions(&estimator, &fitted, &table);
        Some(self.array(table.rows, deps))
    }

    /// `loss.backward()`: the networks that were called since the last step learn.
    fn backward(&mut self, range: TextRange) {
        self.begin_uses();
        let forwards = std::mem::take(&mut self.networks.forwards);
        let mut learnt = Vec::new();
        for (number, table, site) in forwards {
            // The first call is that of the whole network; others are of its parts.
            if learnt.contains(&number) {
                continue;
            }
            learnt.push(number);
            let fresh = !self.syntax.resets;
            let rows = if fresh { self.seen_in_folds(number, table.rows, false, range) } else { table.rows };
            let truth = self.networks.truth.clone();
            let target = truth.as_ref().filter(|truth| truth.rows == table.rows);
            let target = target.and_then(|truth| self.target_number(truth));
            let deps = self.answers_for(&table.deps(), target, site);
            let deps = deps.and(&self.answer_by_position(&table, truth.as_ref(), site));
            let deps = deps.and(&self.steps_of(number));
            let fitted = Fitted::with_target(site, rows, deps);
            match self.state.change(number) {
                Some(Object::Estimator(estimator)) => estimator.fitted = Some(fitted),
                _ => {
                    self.networks.fitted.insert(number, fitted);
                }
            }
        }
    }

    /// A method of a network, an optimiser or a loss.
    pub(crate) fn train_step(&mut self, step: Step, range: TextRange) {
        if step == Step::Learnt && !self.networks.forwards.is_empty() {
            self.backward(range);
        }
        self.networks.forwards.clear();
        match step {
            Step::Frozen => self.networks.frozen = true,
            Step::Open => self.networks.frozen = false,
            Step::Learnt | Step::Begun => {}
        }
    }

    /// Methods of networks of the script that its classes do not have.
    pub(crate) fn call_network(&mut self, network: &Value, name: &str, arguments: &Arguments) -> Value {
        match effects::of(&[Receiver::Network], name) {
            Some(Effect::Itself) => network.clone(),
            Some(Effect::Number) => Value::some_number(),
            Some(_) => self.restored(network, arguments),
            None => Value::Unknown,
        }
    }

    /// `network.load_state_dict(kept)`: what it learnt is that which was kept.
    pub(crate) fn restored(&mut self, network: &Value, arguments: &Arguments) -> Value {
        let kept = self.deps_of(&arguments.first_value());
        let Value::Object(number) = network else { return Value::Unknown };
        match self.state.change(*number) {
            Some(Object::Estimator(Estimator { fitted: Some(fitted), .. })) => fitted.deps.add(&kept),
            _ => {
                if let Some(fitted) = self.networks.fitted.get_mut(number) {
                    fitted.deps.add(&kept);
                }
            }
        }
        Value::Unknown
    }

    /// `loss_function(predicted, truth)`.
    pub(crate) fn loss(&mut self, arguments: &Arguments) -> Value {
        let [predicted, truth, ..] = arguments.positional.as_slice() else { return Value::some_number() };
        let deps = self.deps_of(predicted);
        self.note_target(truth);
        self.networks.truth = self.table_of(truth).cloned();
        let rows = self.table_of(truth).map_or(RowsId::UNKNOWN, |truth| truth.rows);
        if !self.infos.has_model(&deps) {
            return Value::some_number();
        }
        let score = self.score(arguments.range, rows, &deps, false);
        Value::score(score)
    }

    /// Data sets and loaders of torch.
    pub(crate) fn data_set(&mut self, new: New, first: &Value, arguments: &Arguments) -> Value {
        match new {
            New::Tensors => {
                let mut tables: Vec<Value> = arguments.positional.clone();
                let several = tables.len() > 1;
                if let (true, Some(last)) = (several, tables.last_mut())
                    && let Some(table) = self.table_of(last).cloned()
                {
                    *last = self.truth(&table);
                }
                Value::Tuple(tables.into())
            }
            // A sampler takes some of the rows.
            New::Loader
                if ["sampler", "batch_sampler"].iter().any(|name| arguments.named(name).is_some()) =>
            {
                Value::Unknown
            }
            New::Loader => Value::each(self.batch(first)),
            New::Parts => self.random_split(first, arguments),
            _ => Value::Unknown,
        }
    }

    /// The parts of a data set. The first one is divided from all others, and so on.
    fn random_split(&mut self, set: &Value, arguments: &Arguments) -> Value {
        let whole = self.batch(set);
        let mut left = self.contents(&whole).unwrap_or_default();
        let sizes = arguments.get(1, "lengths").and_then(|sizes| self.contents(sizes)).unwrap_or_default();
        let mut parts = Vec::new();
        for _ in sizes.iter().skip(1).take(8) {
            let given = Arguments { positional: left, named: Vec::new(), ..arguments.clone() };
            let Value::Tuple(divided) = self.train_test_split(&given) else { return Value::Unknown };
            let side = |side: usize| divided.iter().skip(side).step_by(2).cloned().collect::<Vec<_>>();
            parts.push(Value::Tuple(side(0).into()));
            left = side(1);
        }
        if parts.is_empty() {
            return Value::Unknown;
        }
        parts.push(Value::Tuple(left.into()));
        Value::Tuple(parts.into())
    }

    /// The rows of a data set of features and true values.
    pub(crate) fn rows_of_set(&self, set: &Value) -> Option<RowsId> {
        let Value::Tuple(parts) = set else { return None };
        let [features, truth] = &**parts else { return None };
        let (features, truth) = (self.table_of(features)?, self.table_of(truth)?);
        (features.rows.is_known() && features.rows == truth.rows && truth.is_target())
            .then_some(features.rows)
    }

    /// A data set of a library: the same files are the same rows, however they are transformed.
    pub(crate) fn library_set(&mut self, arguments: &Arguments) -> Value {
        let mut key = self.syntax.called_name(arguments.range).to_owned();
        let named = arguments.named.iter().filter(|(name, _)| !name.contains("transform"));
        for value in arguments.positional.iter().chain(named.map(|(_, value)| value)) {
            key = value.constant().map_or(key.clone(), |text| format!("{key} {text}"));
        }
        if arguments.get(0, "root").and_then(Value::constant).is_none() {
            key = format!("{key} {:?} {}", arguments.range, self.state.count());
        }
        let set = Table::of(self.rows.table(&key));
        let truth = self.truth(&set);
        let features = self.table(set);
        Value::Tuple([features, truth].into())
    }

    fn truth(&mut self, table: &Table) -> Value {
        let mut table = table.values();
        table.rest.target = true;
        self.table(table)
    }

    /// What a loader gives: the tensors of a data set.
    fn batch(&mut self, set: &Value) -> Value {
        let Some(Object::Instance(instance)) = self.state.get(set) else { return set.clone() };
        let Some(method) = self.class_attribute(instance.class, "__getitem__") else { return Value::Unknown };
        let index = Arguments { positional: vec![Value::Symbol(EVERY.into())], ..Arguments::default() };
        let item = self.call_bound(&method, set, &index);
        match &item {
            Value::Tuple(parts) if parts.len() == 2 => {
                let truth = self.table_of(&parts[1]).cloned();
                match truth {
                    Some(truth) => {
                        let truth = self.truth(&truth);
                        Value::Tuple([parts[0].clone(), truth].into())
                    }
                    None => item.clone(),
                }
            }
            _ => item,
        }
    }

    /// The scores of all watched rows, by their names: what `evals_result_` holds.
    pub(crate) fn results(&mut self, fitted: &Fitted) -> Value {
        let mut dict = Dict::default();
        for (name, scores) in &fitted.named {
            let curve = self.over_rounds(scores, fitted);
            dict.set(Rc::clone(name), curve);
        }
        self.state.add(Object::Dict(dict))
    }

    /// The scores after each round.
    fn over_rounds(&mut self, scores: &Scores, fitted: &Fitted) -> Value {
        let dep = Dependency::new(Kind::Candidate(How::Rounds), fitted.site, RowsId::UNKNOWN);
        let round = self.infos.dep(dep);
        let scores: Vec<_> = self.infos.scores(scores).cloned().collect();
        let with_round = scores.into_iter().map(|score| Score { deps: score.deps.and(&round), ..score });
        let scores = with_round.map(|score| self.infos.score(score)).collect();
        Value::score(scores)
    }

    /// Names of watched rows: `eval_names=[...]`, `evals=[(data, "name"), ...]`, or those that libraries give.
    pub(crate) fn name_watched(
        &mut self,
        estimator: &Estimator,
        fitted: &mut Fitted,
        sets: &Value,
        arguments: &Arguments,
    ) {
        let names = ["eval_names", "valid_names"].iter().find_map(|name| arguments.named(name)).cloned();
        let names = names.map(|names| self.contents(&names).unwrap_or_default()).unwrap_or_default();
        let single = self.table_of(sets).is_some() || matches!(sets, Value::Tuple(_));
        let items = if single { vec![sets.clone()] } else { self.contents(sets).unwrap_or_default() };
        let mut named: Vec<(Rc<str>, Scores)> = Vec::new();
        for (at, item) in items.iter().enumerate().take(8) {
            let Some(table) = self.last_table(item, 1) else { continue };
            let deps = self.predictions(estimator, fitted, &table);
            let scores = self.score(arguments.range, table.rows, &deps, false);
            let own = match item {
                Value::Tuple(parts) => parts.get(1).and_then(Value::constant),
                _ => None,
            };
            let given = names.get(at).and_then(Value::constant).or(own);
            let defaults = [format!("validation_{at}"), format!("valid_{at}")];
            let defaults = defaults.iter().map(|name| Rc::from(name.as_str()));
            let training = table.rows == fitted.rows;
            let training = training.then(|| ["training", "train"].map(Rc::from)).into_iter().flatten();
            let found: Vec<Rc<str>> =
                given.map_or_else(|| defaults.chain(training).collect(), |name| vec![name]);
            named.extend(found.into_iter().map(|name| (name, scores.clone())));
        }
        fitted.named = named;
    }

    /// The score of the rows that something was fitted on.
    pub(crate) fn training_score(
        &mut self,
        estimator: &Estimator,
        fitted: &Fitted,
        site: TextRange,
    ) -> Scores {
        let table = Table::array(fitted.rows, fitted.deps.clone());
        let deps = self.predictions(estimator, fitted, &table);
        self.score(site, fitted.rows, &deps, false)
    }

    /// An item of what training left: `history["val_loss"]`, `cross_validate(...)["train_score"]`.
    pub(crate) fn item_of_results(
        &mut self,
        results: &Value,
        bound: &Bound,
        key: &Value,
        site: TextRange,
    ) -> Value {
        let Some(key) = key.as_str().map(str::to_owned) else { return self.validation_of(results) };
        match bound {
            Bound::History if key.starts_with("val") => self.validation_of(results),
            Bound::History if matches!(&*key, "lr" | "learning_rate" | "epoch" | "time") => {
                Value::some_number()
            }
            Bound::History => match self.state.handle(results).as_deref() {
                Some(Object::Estimator(estimator)) => {
                    let Some(fitted) = &estimator.fitted else { return Value::Unknown };
                    Value::score(self.training_score(estimator, fitted, site))
                }
                _ => Value::Unknown,
            },
            _ => match results {
                Value::Tuple(pair) if key.starts_with("train") => pair.first().cloned().unwrap_or_default(),
                Value::Tuple(pair) if key.starts_with("test") => pair.last().cloned().unwrap_or_default(),
                _ => Value::some_number(),
            },
        }
    }

    fn validation_of(&mut self, results: &Value) -> Value {
        match (results, self.state.handle(results).as_deref()) {
            (Value::Tuple(pair), _) => pair.last().cloned().unwrap_or_default(),
            (_, Some(Object::Estimator(Estimator { fitted: Some(fitted), .. }))) => {
                self.over_rounds(&fitted.watched, fitted)
            }
            _ => Value::Unknown,
        }
    }
}

/// Whether a value stands for the position of every row.
pub(crate) fn is_every_row(value: &Value) -> bool {
    matches!(value, Value::Symbol(symbol) if &**symbol == EVERY)
}

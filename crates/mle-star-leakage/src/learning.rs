//! Models, transformers and samplers: what they learn, and from which rows.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::effects::{self, Effect, Learn, Made, New, Receiver, Score};
use crate::info::{Dependencies, Dependency, How, Kind};
use crate::machine::Machine;
use crate::table::Table;
use crate::value::{Estimator, Fitted, Number, Object, Role, Value};

impl Machine<'_> {
    /// Makes something that learns, or that is learnt with.
    pub(crate) fn make_new(&mut self, new: New, first: &Value, arguments: &Arguments) -> Value {
        match new {
            New::Splitter(kind) => self.splitter(kind, arguments),
            New::DataSet => {
                let Some(mut table) = self.table_of(first).cloned() else { return Value::Unknown };
                if let Some(label) = arguments.get(1, "label") {
                    self.note_targets(label, Some(&table));
                    table.truth = self.table_of(label).cloned().map(Rc::new);
                }
                self.table(table)
            }
            New::Trained => self.train(arguments),
            // Keras watches training rows if the name of what it monitors does not begin like this.
            New::Stopping if self.watches_training(arguments) => Value::Unknown,
            New::Stopping => {
                let made = self.site(arguments.range);
                self.state.add(Object::Estimator(Estimator { stops: true, made, ..Estimator::default() }))
            }
            New::Study => self.state.add(Object::Study(Number::default())),
            _ => self.data_set(new, first, arguments),
        }
    }

    /// `scale(table)`: a transformation by the statistics of the same rows.
    pub(crate) fn scaled(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let fitted = self.fit_rows(table, None, arguments);
        self.transformed(table, Role::Transformer, &fitted)
    }

    /// `OLS(truth, features)`, `ols("truth ~ feature", data=table)`: fitted by a method without arguments.
    pub(crate) fn statistical_model(&mut self, name: &str, arguments: &Arguments) -> Option<Value> {
        let (truth, features) = match arguments.first()?.constant() {
            Some(formula) => {
                let data = arguments.get(1, "data").and_then(|data| self.table_of(data)).cloned()?;
                let (target, terms) = formula.split_once('~')?;
                let words = |text: &str| -> Vec<Rc<str>> {
                    let letters = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                    letters.filter(|word| !word.is_empty() && *word != "C").map(Rc::from).collect()
                };
                let truth = self.select(&data, words(target).last()?);
                let features = self.select_all(&data, &words(terms));
                (self.table(truth), self.table(features))
            }
            None => (arguments.first_value(), arguments.get(1, "exog")?.clone()),
        };
        self.table_of(&features)?;
        let made = self.estimator(name, &Arguments { range: arguments.range, ..Arguments::default() });
        let Some(Object::Estimator(estimator)) = self.state.get(&made).cloned() else { return None };
        let given = Arguments { positional: vec![features, truth], named: Vec::new(), ..arguments.clone() };
        self.fit(&made, &estimator, &given);
        Some(made)
    }

    fn watches_training(&self, arguments: &Arguments) -> bool {
        let monitored = arguments.get(0, "monitor").and_then(Value::as_str);
        monitored
            .is_some_and(|name| !["val", "test", "valid", "dev"].iter().any(|start| name.starts_with(start)))
    }

    /// Makes something that is fitted.
    pub(crate) fn estimator(&mut self, name: &str, arguments: &Arguments) -> Value {
        let known = match effects::of(&[Receiver::Maker], name) {
            Some(Effect::Made(made)) => Some(made),
            _ => None,
        };
        let role = match (known, effects::of(&[Receiver::Class], name)) {
            (Some(Made::Composed | Made::ByColumns), _) => {
                arguments.all().map(|value| self.role_within(value, 5)).max().unwrap_or(Role::Nothing)
            }
            (_, Some(Effect::Role(role))) => role,
            _ => Role::Model,
        };
        let mut deps = Dependencies::default();
        let settings = arguments.positional.iter().map(|value| ("", value));
        let settings = settings.chain(arguments.named.iter().map(|(name, value)| (&**name, value)));
        for (name, value) in settings.filter(|(_, value)| self.table_of(value).is_none()).collect::<Vec<_>>()
        {
            let of_value = self.deps_of(value).and(&self.settings_within(value, 4));
            let set = self.infos.map_kinds(&of_value, |kind| match kind {
                Kind::Candidate(open) if open.is_open() => Some(Kind::Candidate(setting(name, open))),
                Kind::Candidate(_) => Some(kind),
                Kind::Choice(How::Open) => {
                    let how = setting(name, How::Few);
                    Some(Kind::Choice(how))
                }
                Kind::Choice(_) => Some(kind),
                _ => None,
            });
            deps.add(&set);
        }
        let stops = arguments.named.iter().any(|(name, value)| is_stopping(name, value));
        let made = self.site(arguments.range);
        let warm = arguments.is_true("warm_start");
        let fitted = self.explained(role, known, arguments);
        let selects = self.selects(known, arguments);
        let estimator = Estimator { role, known, made, deps, stops, warm, selects, fitted };
        self.state.add(Object::Estimator(estimator))
    }

    /// `shap.TreeExplainer(model)`, `SelectFromModel(model, prefit=True)`: something that knows the importances of the
    /// model.
    fn explained(&self, role: Role, known: Option<Made>, arguments: &Arguments) -> Option<Fitted> {
        let prefit = role == Role::Selector && arguments.is_true("prefit");
        if known != Some(Made::Explaining) && !prefit {
            return None;
        }
        match arguments.first().and_then(|value| self.state.get(value)) {
            Some(Object::Estimator(Estimator { fitted, .. })) => fitted.clone(),
            _ => None,
        }
    }

    /// What the things learn that a composition is made of.
    fn role_within(&self, value: &Value, depth: usize) -> Role {
        if let Some(Object::Estimator(estimator)) = self.state.get(value) {
            return estimator.role;
        }
        let items = self.items_in(value).filter(|_| depth > 0);
        items.map(|item| self.role_within(item, depth - 1)).max().unwrap_or(Role::Nothing)
    }

    /// What the settings depend on of models that another one is made of.
    fn settings_within(&self, value: &Value, depth: usize) -> Dependencies {
        if let Some(Object::Estimator(estimator)) = self.state.get(value) {
            return estimator.deps.clone();
        }
        let items = self.items_in(value).filter(|_| depth > 0);
        items.map(|item| self.settings_within(item, depth - 1)).collect()
    }

    /// The columns that an estimator takes from a table.
    pub(crate) fn taken(&mut self, estimator: &Estimator, table: &Table) -> Table {
        if estimator.selects { self.unsure(table) } else { table.clone() }
    }

    /// Whether an estimator takes some columns only, and it is not known which: a part of a composition may choose them.
    fn selects(&self, known: Option<Made>, arguments: &Arguments) -> bool {
        // A text is made of a row, perhaps of some of its values.
        let reads = matches!(arguments.named("preprocessor"), Some(value) if !matches!(value, Value::None));
        if reads || arguments.named("ignored_features").is_some() {
            return true;
        }
        match known {
            Some(Made::Choosing) => true,
            Some(Made::ByColumns) => {
                arguments.named("remainder").is_none_or(|rest| rest.as_str() == Some("drop"))
            }
            Some(Made::Composed) => arguments.all().any(|value| self.selects_within(value, 5)),
            _ => false,
        }
    }

    fn selects_within(&self, value: &Value, depth: usize) -> bool {
        match (value, self.state.get(value)) {
            (_, Some(Object::Estimator(estimator))) => estimator.selects,
            (Value::Function(..), _) | (_, Some(Object::Instance(_))) => true,
            _ => depth > 0 && self.items_in(value).any(|item| self.selects_within(item, depth - 1)),
        }
    }

    /// Methods of estimators.
    pub(crate) fn call_estimator(
        &mut self,
        base: &Value,
        estimator: &Estimator,
        name: &str,
        arguments: &Arguments,
    ) -> Value {
        let learn = match effects::of(&[Receiver::Estimator, Receiver::Network], name) {
            Some(Effect::Learn(learn)) => learn,
            Some(Effect::Itself) => return base.clone(),
            Some(Effect::Number) => return Value::some_number(),
            _ => return Value::Unknown,
        };
        match (learn, &estimator.fitted) {
            (Learn::Fit { .. }, Some(_)) if arguments.positional.is_empty() => base.clone(),
            (Learn::Fit { further }, _) => {
                self.fit(base, estimator, arguments);
                self.trained_further(base, estimator, further, arguments);
                base.clone()
            }
            (Learn::FitTransform, _) => {
                let fitted = self.fit(base, estimator, arguments);
                let Some(table) = self.given_table(arguments) else { return Value::Unknown };
                let made = self.transformed_by(estimator, &table, &fitted, arguments);
                // Scores of the rows, and of the target.
                let pair = estimator.known == Some(Made::ProjectingBoth);
                if pair { Value::Tuple([made, Value::Unknown].into()) } else { made }
            }
            (Learn::FitPredict, _) => {
                let fitted = self.fit(base, estimator, arguments);
                if estimator.role != Role::Transformer {
                    return self.predicted(estimator, &fitted, arguments);
                }
                let table = self.given_table(arguments).unwrap_or_default();
                self.transformed(&table, estimator.role, &fitted)
            }
            (Learn::Transform, fitted) => match (self.given_table(arguments), fitted) {
                (Some(table), Some(fitted)) => self.transformed_by(estimator, &table, fitted, arguments),
                (Some(table), None) => self.table(table.values()),
                _ => Value::Unknown,
            },
            (Learn::Predict, Some(fitted)) if estimator.role >= Role::Model => {
                self.predicted(estimator, fitted, arguments)
            }
            (Learn::Score, Some(fitted)) => self.own_score(estimator, fitted, arguments),
            (Learn::Back, _) => arguments.first_value(),
            (Learn::Resample, _) => self.resampled(estimator, arguments),
            (Learn::Nearest, _) => self.nearest(arguments),
            (Learn::Told(attribute), _) => self.estimator_attribute(base, estimator, attribute),
            (Learn::Restored, _) => self.restored(base, arguments),
            _ => Value::Unknown,
        }
    }

    /// The nearest rows: their distances and positions.
    fn nearest(&mut self, arguments: &Arguments) -> Value {
        let Some(table) = self.given_table(arguments) else { return Value::Unknown };
        let found = self.table(Table::array(table.rows, table.values().rest.deps));
        Value::Tuple([found.clone(), found].into())
    }

    /// Fits on rows.
    fn fit(&mut self, base: &Value, estimator: &Estimator, arguments: &Arguments) -> Fitted {
        let table = self.given_table(arguments);
        let target = arguments.get(1, "y").filter(|value| !matches!(value, Value::None)).cloned();
        let fitted = match &table {
            Some(table) => {
                let taken = self.taken(estimator, table);
                if estimator.role >= Role::Model {
                    self.begin_uses();
                    self.note_ids(&taken, arguments);
                }
                let mut fitted = self.fit_rows(&taken, target.as_ref(), arguments);
                if estimator.role >= Role::Model {
                    let number = self.target_of(table, target.as_ref());
                    fitted.deps = self.answers_for(&fitted.deps, number, fitted.site);
                    let truth = target.as_ref().and_then(|target| self.table_of(target)).cloned();
                    let truth = truth.or_else(|| table.truth.as_deref().cloned());
                    let by_position = self.answer_by_position(&taken, truth.as_ref(), fitted.site);
                    let taught = self.taught_by(truth.as_ref());
                    fitted.deps.add(&taught.and(&by_position));
                }
                self.watch(estimator, &mut fitted, arguments);
                fitted
            }
            None => self.fit_rows(&Table::default(), target.as_ref(), arguments),
        };
        if let Some(estimator) = self.state.estimator_mut(base) {
            estimator.fitted = Some(fitted.clone());
        }
        fitted
    }

    /// The table that a method is called with.
    pub(crate) fn given_table(&self, arguments: &Arguments) -> Option<Table> {
        self.table_of(arguments.first()?).cloned()
    }

    /// What is learnt from a table.
    fn fit_rows(&mut self, table: &Table, target: Option<&Value>, arguments: &Arguments) -> Fitted {
        if let Some(target) = target {
            self.note_targets(target, Some(table));
        }
        Fitted {
            with_target: target.is_some(),
            of_target: table.is_target(),
            ..Fitted::with_target(self.site(arguments.range), table.rows, table.deps())
        }
    }

    /// A column of true values is a target.
    pub(crate) fn note_target(&mut self, truth: &Value) {
        let label = self.table_of(truth).and_then(|truth| truth.label.clone());
        self.seen.targets.names.extend(label.map(|label| label.to_string()));
    }

    /// What is given as the target is the target. Several columns are, unless they are features as well, as for a model
    /// that reconstructs them.
    pub(crate) fn note_targets(&mut self, truth: &Value, features: Option<&Table>) {
        let Some(truth) = self.table_of(truth) else { return };
        let several = truth.labels.iter().filter(|name| !features.is_some_and(|features| features.has(name)));
        let own = truth.label.as_ref().or(truth.source.as_ref());
        let names: Vec<String> = own.into_iter().chain(several).map(ToString::to_string).collect();
        self.seen.targets.names.extend(names);
    }

    /// What a model learnt that went on from what it, or another one, learnt before.
    fn trained_further(&mut self, base: &Value, estimator: &Estimator, further: bool, arguments: &Arguments) {
        let Value::Object(number) = base else { return };
        let network = estimator.known == Some(Made::Training) && !self.syntax.resets;
        let previous = ["init_model", "xgb_model"].iter().find_map(|name| arguments.named(name));
        let previous = previous.and_then(|value| match (value, self.state.get(value)) {
            (Value::Object(number), Some(Object::Estimator(Estimator { fitted: Some(_), .. }))) => {
                Some(*number)
            }
            _ => None,
        });
        let further = network || further || estimator.warm;
        let Some(Object::Estimator(Estimator { fitted: Some(fitted), .. })) = self.state.object(*number)
        else {
            return;
        };
        let mut fitted = fitted.clone();
        if further {
            fitted.rows = self.seen_in_folds(*number, fitted.rows, false, arguments.range);
            fitted.deps.add(&self.steps_of(*number));
        } else if let Some(previous) = previous {
            fitted.rows = self.seen_in_folds(previous, fitted.rows, true, arguments.range);
        } else {
            return;
        }
        if let Some(estimator) = self.state.estimator_mut(base) {
            estimator.fitted = Some(fitted);
        }
    }

    pub(crate) fn note_ids(&mut self, table: &Table, arguments: &Arguments) {
        let site = self.site(arguments.range);
        for id in &self.facts.ids {
            if table.has(id) && !self.seen.ids.iter().any(|(_, known)| **known == **id) {
                self.seen.ids.push((site, id.as_str().into()));
            }
        }
    }

    /// Rows that are watched during the fit, and whether they stop it.
    fn watch(&mut self, estimator: &Estimator, fitted: &mut Fitted, arguments: &Arguments) {
        let sets = ["eval_set", "validation_data", "valid_sets", "evals", "eval_sets"];
        let Some(watched) = sets.iter().find_map(|name| arguments.named(name)).cloned() else { return };
        let Some(table) = self.last_table(&watched, 3) else { return };
        let stops = estimator.stops || arguments.named.iter().any(|(name, value)| self.stops(name, value));
        if stops && table.rows != fitted.rows {
            fitted.deps.add(&self.infos.learn(Kind::Stopping, fitted.site, table.rows));
        }
        let deps = self.predictions(estimator, fitted, &table);
        fitted.watched = self.score(arguments.range, table.rows, &deps, false);
        self.name_watched(estimator, fitted, &watched, arguments);
    }

    /// The features of the last watched rows: `[(x, y), (x_valid, y_valid)]`.
    pub(crate) fn last_table(&self, value: &Value, depth: usize) -> Option<Table> {
        if let Some(table) = self.table_of(value) {
            return Some(table.clone());
        }
        let items = if depth > 0 { self.contents(value)? } else { return None };
        let pair = matches!(value, Value::Tuple(_)) && items.iter().any(|item| self.table_of(item).is_some());
        if pair { self.last_table(items.first()?, 0) } else { self.last_table(items.last()?, depth - 1) }
    }

    fn stops(&self, name: &str, value: &Value) -> bool {
        let items = self.contents(value).unwrap_or_default();
        is_stopping(name, value) || (name == "callbacks" && items.iter().any(|item| self.is_stopping(item)))
    }

    /// Whether a value stops the training of a model.
    fn is_stopping(&self, value: &Value) -> bool {
        matches!(self.state.get(value), Some(Object::Estimator(Estimator { stops: true, .. })))
    }

    /// A table after a transformation that was fitted, which may be one by the target.
    fn transformed_by(
        &mut self,
        estimator: &Estimator,
        table: &Table,
        fitted: &Fitted,
        arguments: &Arguments,
    ) -> Value {
        let role = match estimator.known {
            Some(Made::Predicting) => return self.predicted(estimator, fitted, arguments),
            Some(Made::Projecting | Made::ProjectingBoth) if fitted.with_target => Role::TargetEncoder,
            _ => estimator.role,
        };
        let table = &self.taken(estimator, table);
        self.transformed(table, role, fitted)
    }

    /// A table after a transformation that was fitted.
    fn transformed(&mut self, table: &Table, role: Role, fitted: &Fitted) -> Value {
        let kind = match role {
            Role::Transformer => Some(Kind::Unsupervised),
            Role::Selector if fitted.with_target => Some(Kind::Selection),
            Role::TargetEncoder if fitted.with_target => Some(Kind::Target),
            _ => None,
        };
        let mut values = table.values();
        if let Some(kind) = kind.filter(|_| !table.is_target() && !fitted.of_target) {
            values.rest.deps.add(&self.infos.learn(kind, fitted.site, fitted.rows));
        }
        self.table(values)
    }

    /// Predictions for the rows of the first argument.
    pub(crate) fn predicted(
        &mut self,
        estimator: &Estimator,
        fitted: &Fitted,
        arguments: &Arguments,
    ) -> Value {
        let Some(table) = self.given_table(arguments) else { return Value::Unknown };
        let deps = self.predictions(estimator, fitted, &table);
        self.array(table.rows, deps)
    }

    /// What predictions for the rows of a table depend on.
    pub(crate) fn predictions(
        &mut self,
        estimator: &Estimator,
        fitted: &Fitted,
        table: &Table,
    ) -> Dependencies {
        let table = self.taken(estimator, table);
        let own = table.deps().and(&self.target_by_position(&table, &fitted.deps));
        let features = self.features_of(&own, &fitted.deps);
        let on = table.rows;
        let features = self.infos.map(&features, |dep| {
            // Predictions as features are statistics of the target.
            let kind = if dep.kind == Kind::Model { Kind::Target } else { dep.kind };
            Some(Dependency { kind, on, ..dep })
        });
        let model =
            Dependency { on, made: estimator.made, ..Dependency::new(Kind::Model, fitted.site, fitted.rows) };
        features.and(&estimator.deps).and(&self.infos.dep(model))
    }

    /// `lightgbm.train(params, data, valid_sets=...)` and the like.
    fn train(&mut self, arguments: &Arguments) -> Value {
        let mut deps = Dependencies::default();
        if let Some(Object::Dict(dict)) = arguments.get(0, "params").and_then(|value| self.state.get(value)) {
            let mut settings = dict.items.clone();
            let rounds = arguments.named.iter().filter(|(name, _)| setting(name, How::Open) == How::Rounds);
            settings.extend(rounds.cloned());
            let settings = Arguments { named: settings, range: arguments.range, ..Arguments::default() };
            let made = self.estimator("Booster", &settings);
            if let Some(Object::Estimator(estimator)) = self.state.get(&made) {
                deps = estimator.deps.clone();
            }
        }
        let made = self.site(arguments.range);
        let estimator = Estimator { deps, made, ..Estimator::default() };
        let base = self.state.add(Object::Estimator(estimator.clone()));
        let data =
            arguments.get(1, "train_set").or_else(|| arguments.named("dtrain")).cloned().unwrap_or_default();
        let given = Arguments { positional: vec![data, Value::Unknown], ..arguments.clone() };
        self.fit(&base, &estimator, &given);
        self.trained_further(&base, &estimator, false, &given);
        self.record_results(&base, arguments);
        base
    }

    /// `evals_result=results`, `callbacks=[record_evaluation(results)]`: the scores are put into the dictionary.
    fn record_results(&mut self, base: &Value, arguments: &Arguments) {
        let callbacks =
            arguments.named("callbacks").and_then(|value| self.contents(value)).unwrap_or_default();
        let places: Vec<usize> = arguments
            .named("evals_result")
            .into_iter()
            .chain(&callbacks)
            .filter_map(|value| match (value, self.state.get(value)) {
                (Value::Object(number), Some(Object::Dict(_))) => Some(*number),
                _ => None,
            })
            .collect();
        let Some(Object::Estimator(Estimator { fitted: Some(fitted), .. })) =
            self.state.handle(base).as_deref().cloned()
        else {
            return;
        };
        let results = self.results(&fitted);
        let Some(Object::Dict(results)) = self.state.get(&results).cloned() else { return };
        for place in places {
            if let Some(Object::Dict(dict)) = self.state.change(place) {
                dict.merge(&results);
            }
        }
    }

    /// How features are associated with the target.
    pub(crate) fn association(&mut self, score: Score, arguments: &Arguments) -> Value {
        let tables: Vec<Table> =
            arguments.all().take(2).filter_map(|value| self.table_of(value)).cloned().collect();
        let [one, other] = tables.as_slice() else { return Value::some_number() };
        if let Some(label) = &other.label {
            let names = match score {
                Score::Correlation => &mut self.seen.targets.associated,
                _ => &mut self.seen.targets.names,
            };
            names.insert(label.to_string());
        }
        if !one.is_target() && !other.is_target() {
            return Value::some_number();
        }
        let predicted = |table: &Table| self.infos.has_model(&table.deps());
        if predicted(one) || predicted(other) {
            return self.metric(arguments);
        }
        let rows = if one.rows.is_known() { one.rows } else { other.rows };
        let dep = Dependency::new(Kind::Selection, self.site(arguments.range), rows);
        let deps = self.infos.dep(dep);
        Value::learnt(deps)
    }
}

fn is_stopping(name: &str, value: &Value) -> bool {
    let named = matches!(name, "early_stopping_rounds" | "early_stopping" | "od_wait" | "od_type");
    named && !matches!(value, Value::None | Value::Bool(false))
}

/// How candidates differ that set this parameter of a model. A few numbers of rounds are as good as other settings.
fn setting(name: &str, open: How) -> How {
    match effects::of(&[Receiver::Setting], name.rsplit("__").next().unwrap_or(name)) {
        Some(Effect::Setting(how)) if how != How::Rounds || open == How::Open => how,
        _ => How::Setting,
    }
}

//! Divisions into training and validation rows, and rows that are drawn again: samplers and bootstrap samples.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::effects::{Made, Split};
use crate::info::{Dependencies, Dependency, How, Kind, Scores};
use crate::machine::Machine;
use crate::rows::{DivisionKind, RowsId};
use crate::table::Table;
use crate::value::{Estimator, Fitted, Object, Role, Splitter, Value};

impl Machine<'_> {
    /// Divides rows, or does so for cross-validation.
    pub(crate) fn divide(&mut self, split: Split, arguments: &Arguments) -> Value {
        match split {
            Split::Two => self.train_test_split(arguments),
            Split::Scores => self.cross_val_score(arguments),
            Split::AllScores => self.cross_validate(arguments),
            Split::Predictions => self.cross_val_predict(arguments),
            Split::OfDataSet => {
                let data = arguments.get(1, "train_set").or_else(|| arguments.named("dtrain"));
                let positional = vec![Value::Unknown, data.cloned().unwrap_or_default()];
                self.cross_val_score(&Arguments { positional, ..arguments.clone() })
            }
            Split::Shuffled => match arguments.positional.as_slice() {
                [only] => only.clone(),
                several => Value::Tuple(several.into()),
            },
            Split::Drawn => self.resample(arguments),
            Split::Folds => Value::Unknown,
        }
    }

    /// Something that makes folds.
    pub(crate) fn splitter(&mut self, kind: DivisionKind, arguments: &Arguments) -> Value {
        let name = self.syntax.called_name(arguments.range);
        let shuffled = matches!(arguments.get(1, "shuffle"), Some(Value::Bool(true)));
        let kind = if shuffled && kind == DivisionKind::Folds { DivisionKind::ShuffledFolds } else { kind };
        let key = self.key(name, arguments, kind.is_random());
        let deps = self.seeds(arguments);
        self.state.add(Object::Splitter(Splitter { kind, key, deps }))
    }

    /// Divisions with the same key divide the same rows in the same way.
    fn key(&self, name: &str, arguments: &Arguments, random: bool) -> Rc<str> {
        let mut words = vec![name.to_owned()];
        let positional = arguments.positional.iter().filter(|value| self.table_of(value).is_none());
        words.extend(positional.filter_map(Value::constant).map(|text| text.to_string()));
        let named = arguments.named.iter().map(|(name, value)| (name, value.constant()));
        let mut named: Vec<_> = named.filter_map(|(name, text)| Some(format!("{name}={}", text?))).collect();
        named.sort();
        let seeded = named.iter().any(|text| text.starts_with("random_state=") && !text.ends_with("=None"));
        words.extend(named);
        if random && !seeded {
            words.push(format!("{:?}", arguments.range));
        }
        words.join(" ").into()
    }

    /// `splitter.split(...)`: the positions of training and validation rows of each fold.
    pub(crate) fn split(&mut self, splitter: &Splitter, arguments: &Arguments) -> Value {
        let tables: Vec<Table> = arguments.all().filter_map(|value| self.table_of(value)).cloned().collect();
        let length = arguments.all().find_map(Value::length);
        let rows =
            tables.iter().map(|table| table.rows).find(|rows| rows.is_known()).or(length).unwrap_or_default();
        let grouped = arguments.get(2, "groups").is_some_and(|groups| !matches!(groups, Value::None));
        let ignores =
            matches!(splitter.kind, DivisionKind::Folds | DivisionKind::ShuffledFolds | DivisionKind::Draws);
        let kind = if grouped && !ignores { DivisionKind::Groups } else { splitter.kind };
        if let Some(table) = tables.first() {
            self.note_shuffle(table, kind, arguments);
        }
        if let Some(truth) = arguments.get(1, "y").cloned() {
            self.note_divided_truth(&truth);
        }
        let (fit, scored) = self.sides(rows, kind, &splitter.key, arguments);
        let positions = |part| Table { positions: Some(rows), ..Table::positions(part) };
        let pair = [fit, scored].map(|part| self.table(positions(part)));
        Value::each(Value::Tuple(pair.into()))
    }

    fn sides(
        &mut self,
        rows: RowsId,
        kind: DivisionKind,
        key: &str,
        arguments: &Arguments,
    ) -> (RowsId, RowsId) {
        if !rows.is_known() {
            return (rows, rows);
        }
        let division = self.rows.division(rows, kind, key, self.site(arguments.range));
        (self.rows.part(rows, division, 0), self.rows.part(rows, division, 1))
    }

    /// The candidates that the seed of a division is one of.
    fn seeds(&mut self, arguments: &Arguments) -> Dependencies {
        let seeds = arguments.named("random_state").map(|seed| self.deps_of(seed)).unwrap_or_default();
        self.infos.map_kinds(&seeds, |kind| match kind {
            Kind::Candidate(how) if how.is_open() => Some(Kind::Candidate(How::Seed)),
            _ => None,
        })
    }

    /// `train_test_split(...)`.
    pub(crate) fn train_test_split(&mut self, arguments: &Arguments) -> Value {
        let unshuffled = matches!(arguments.named("shuffle"), Some(Value::Bool(false)));
        let kind = if unshuffled { DivisionKind::Position } else { DivisionKind::Random };
        let key = self.key("train_test_split", arguments, !unshuffled);
        let seeds = self.seeds(arguments);
        if let [_, truth] = &*arguments.positional {
            self.note_divided_truth(truth);
        }
        let mut parts = Vec::new();
        let tables = arguments.positional.iter().filter_map(|value| self.table_of(value));
        let windows = tables.map(|table| table.rows).find(|rows| self.rows.windows_of(*rows).is_some());
        for value in &arguments.positional {
            let given = self.table_of(value).cloned();
            // What is divided with windows has one row for each.
            let Some(table) =
                given.map(|table| windows.map_or_else(|| table.clone(), |rows| table.with_rows(rows)))
            else {
                parts.extend([Value::Unknown, Value::Unknown]);
                continue;
            };
            self.note_shuffle(&table, kind, arguments);
            let (fit, scored) = self.sides(table.rows, kind, &key, arguments);
            for rows in [fit, scored] {
                let mut part = table.with_rows(rows);
                part.learn(&seeds);
                parts.push(self.table(part));
            }
        }
        Value::Tuple(parts.into())
    }

    /// Remembers the column that is divided with the features, or by whose values rows are divided.
    fn note_divided_truth(&mut self, truth: &Value) {
        let label =
            self.table_of(truth).and_then(|table| table.label.clone().or_else(|| table.source.clone()));
        self.seen.targets.associated.extend(label.map(|label| label.to_string()));
    }

    /// The rows of the two sides of cross-validation by `cv=`.
    pub(crate) fn cross_validation(&mut self, rows: RowsId, arguments: &Arguments) -> (RowsId, RowsId) {
        let cv = arguments.named("cv").cloned().unwrap_or_default();
        let (kind, key) = match self.state.get(&cv) {
            Some(Object::Splitter(splitter)) => (splitter.kind, splitter.key.to_string()),
            _ if matches!(cv, Value::Unknown | Value::Int(_)) && arguments.named("groups").is_none() => {
                (DivisionKind::Folds, format!("cv {:?}", arguments.range))
            }
            _ => (DivisionKind::Groups, format!("cv {:?}", arguments.range)),
        };
        self.sides(rows, kind, &key, arguments)
    }

    fn cross_val_score(&mut self, arguments: &Arguments) -> Value {
        let Some((rows, deps)) = self.cross_predictions(arguments) else { return Value::Unknown };
        let score = self.score(arguments.range, rows, &deps, false);
        Value::score(score)
    }

    fn cross_val_predict(&mut self, arguments: &Arguments) -> Value {
        match self.cross_predictions(arguments) {
            Some((rows, deps)) => self.array(rows, deps),
            None => Value::Unknown,
        }
    }

    /// The rows of cross-validation, and what the predictions for them depend on.
    pub(crate) fn cross_predictions(&mut self, arguments: &Arguments) -> Option<(RowsId, Dependencies)> {
        let table = self.table_of(arguments.get(1, "X")?)?.clone();
        if let Some(target) = arguments.get(2, "y") {
            self.note_targets(target, Some(&table));
        }
        let estimator = match arguments.get(0, "estimator").and_then(|value| self.state.get(value)) {
            Some(Object::Estimator(estimator)) => estimator.clone(),
            _ => Estimator { made: self.site(arguments.called), ..Estimator::default() },
        };
        let features = self.taken(&estimator, &table);
        self.note_ids(&features, arguments);
        let (fit, scored) = self.cross_validation(table.rows, arguments);
        let number = self.target_of(&table, arguments.get(2, "y"));
        let taken = features.with_rows(fit);
        let site = self.site(arguments.range);
        let truth = arguments.get(2, "y").and_then(|target| self.table_of(target)).cloned();
        let learnt = self.answers_for(&taken.deps(), number, site);
        let learnt = learnt.and(&self.answer_by_position(&taken, truth.as_ref(), site));
        let fitted = Fitted::with_target(site, fit, learnt);
        let deps = self.predictions(&estimator, &fitted, &table.with_rows(scored));
        let splitter = match arguments.named("cv").and_then(|cv| self.state.get(cv)) {
            Some(Object::Splitter(splitter)) => splitter.clone(),
            _ => return Some((table.rows, deps)),
        };
        self.note_shuffle(&table, splitter.kind, arguments);
        Some((table.rows, deps.and(&splitter.deps)))
    }

    /// The best score of a search over settings.
    pub(crate) fn search_score(&mut self, estimator: &Estimator, fitted: &Fitted) -> Scores {
        let division = self.rows.division(fitted.rows, DivisionKind::Folds, "search", fitted.site);
        let (fit, scored) =
            (self.rows.part(fitted.rows, division, 0), self.rows.part(fitted.rows, division, 1));
        let inner = Fitted { rows: fit, ..fitted.clone() };
        let table = Table::array(scored, fitted.deps.clone());
        let deps = self.predictions(estimator, &inner, &table);
        let choice = Dependency::new(Kind::Choice(How::Setting), fitted.site, fitted.rows);
        let deps = deps.and(&self.infos.dep(choice));
        self.score(fitted.site.expression, fitted.rows, &deps, false)
    }

    /// Remembers that rows sorted by time are shuffled.
    pub(crate) fn note_shuffle(&mut self, table: &Table, kind: DivisionKind, arguments: &Arguments) {
        if let (true, Some(column)) = (kind.is_random(), &table.order.sorted) {
            let site = self.site(arguments.range);
            let column = Rc::clone(column);
            if !self.seen.shuffled.iter().any(|(known, _)| *known == site) {
                self.seen.shuffled.push((site, column));
            }
        }
    }

    /// The other side of a division that rows are one side of.
    pub(crate) fn other_side(&mut self, whole: RowsId, part: RowsId) -> Option<RowsId> {
        let (_, division, side) = self.rows.part_of(part).filter(|(of, ..)| *of == whole)?;
        Some(self.rows.part(whole, division, 1 - side))
    }

    /// Some of the rows, drawn at random: `table.sample(...)`.
    pub(crate) fn sample(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let site = self.site(arguments.range);
        if arguments.is_true("replace") {
            let rows = self.rows.repeated(table.rows, site);
            return self.table(table.with_rows(rows));
        }
        let fraction = arguments.get(1, "frac");
        if matches!(fraction, Some(Value::Int(1)))
            || matches!(fraction, Some(Value::Float(share)) if *share >= 1.0)
        {
            return self.table(table.clone().with_order_lost());
        }
        if !table.rows.is_known() {
            return self.table(table.clone());
        }
        let key = self.key("sample", arguments, true);
        let division = self.rows.division(table.rows, DivisionKind::Sample, &key, site);
        let rows = self.rows.part(table.rows, division, 0);
        self.table(table.with_rows(rows))
    }

    /// `sampler.fit_resample(x, y)`.
    pub(crate) fn resampled(&mut self, estimator: &Estimator, arguments: &Arguments) -> Value {
        let given: Vec<Value> = arguments.all().take(2).cloned().collect();
        let repeats = match estimator.role {
            Role::Sampler => Some(true),
            _ => (estimator.known == Some(Made::Undersampling)).then_some(false),
        };
        Value::Tuple(self.drawn_again(&given, repeats, arguments).into())
    }

    /// `sklearn.utils.resample(...)`.
    pub(crate) fn resample(&mut self, arguments: &Arguments) -> Value {
        let repeats = !matches!(arguments.named("replace"), Some(Value::Bool(false)));
        match &*self.drawn_again(&arguments.positional, Some(repeats), arguments) {
            [only] => only.clone(),
            parts => Value::Tuple(parts.into()),
        }
    }

    /// Tables with rows that were drawn from them, if it is known how.
    fn drawn_again(&mut self, given: &[Value], repeats: Option<bool>, arguments: &Arguments) -> Vec<Value> {
        let drawn = given.iter().map(|value| {
            let Some(table) = self.table_of(value).cloned() else { return Value::Unknown };
            let site = self.site(arguments.range);
            let rows = match repeats {
                Some(true) => self.rows.repeated(table.rows, site),
                Some(false) => self.rows.some(table.rows, site),
                None => RowsId::UNKNOWN,
            };
            self.table(table.with_rows(rows))
        });
        drawn.collect()
    }
}

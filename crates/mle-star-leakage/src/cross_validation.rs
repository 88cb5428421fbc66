//! Cross-validation: which rows its predictions are for, and what they depend on.

use crate::calls::Arguments;
use crate::info::{Dependencies, Dependency, How, Kind, Scores};
use crate::machine::Machine;
use crate::rows::{DivisionKind, RowsId};
use crate::table::Table;
use crate::value::{Estimator, Fitted, Object, Value};

impl Machine<'_> {
    pub(crate) fn cross_val_score(&mut self, arguments: &Arguments) -> Value {
        let Some((rows, deps)) = self.cross_predictions(arguments) else { return Value::Unknown };
        let score = self.score(arguments.range, rows, &deps, false);
        Value::score(score)
    }

    pub(crate) fn cross_val_predict(&mut self, arguments: &Arguments) -> Value {
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
}

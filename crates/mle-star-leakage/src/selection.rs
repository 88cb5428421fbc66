//! Which columns are chosen by the target.

use crate::calls::Arguments;
use crate::info::{Dependencies, Dependency, How, Kind};
use crate::machine::Machine;
use crate::rows::{Origin, RowsId};
use crate::table::Table;
use ruff_text_size::TextRange;

use crate::value::{Fitted, Value};

impl Machine<'_> {
    /// What the choice of columns depends on.
    pub(crate) fn selecting(&mut self, index: &Value) -> Dependencies {
        let deps = self.deps_of(index);
        self.infos.map(&deps, |dep| match dep.kind {
            Kind::Selection | Kind::Choice(_) => Some(dep),
            Kind::Candidate(how) if how.is_open() => {
                Some(Dependency { kind: Kind::Candidate(How::Features), ..dep })
            }
            Kind::Target | Kind::Model => {
                Some(Dependency { kind: Kind::Selection, on: RowsId::UNKNOWN, ..dep })
            }
            _ => None,
        })
    }

    /// Tests that compare samples of a column: `ttest_ind(column[y == 0], column[y == 1])`, `f_oneway(*samples)`.
    pub(crate) fn compared_samples(&mut self, arguments: &Arguments) -> Value {
        let tables: Vec<Table> = arguments.all().filter_map(|value| self.table_of(value)).cloned().collect();
        let divided = tables.iter().find_map(|table| self.divided_by_target(table));
        let value = match divided {
            Some(rows) => Value::learnt(self.learn(Kind::Selection, arguments.range, rows)),
            None => Value::some_number(),
        };
        Value::Tuple([value.clone(), value].into())
    }

    /// The rows that a part was taken from by a condition on the target.
    fn divided_by_target(&mut self, table: &Table) -> Option<RowsId> {
        if !table.by_target {
            return None;
        }
        match *self.rows.origin(table.rows) {
            Origin::Part { of, .. } | Origin::Some { of, .. } => Some(self.rows.around(of, table.rows)),
            _ => None,
        }
    }

    /// Remembers rows that are left by how well they are predicted.
    pub(crate) fn note_chosen_by_errors(&mut self, rows: RowsId) {
        let site = self.site(self.statement);
        let others = self.rows.part_of(rows).and_then(|(of, ..)| self.other_side(of, rows));
        self.seen
            .chosen_by_errors
            .extend([Some(rows), others].into_iter().flatten().map(|rows| (rows, site)));
    }

    /// What counts of rows depend on that were chosen by the target.
    pub(crate) fn counted_by_target(&mut self, table: &Table, range: TextRange) -> Dependencies {
        match self.divided_by_target(table) {
            Some(rows) => self.learn(Kind::Target, range, rows),
            None => Dependencies::default(),
        }
    }

    /// `permutation_importance(model, x, y)`.
    pub(crate) fn permuted(&mut self, arguments: &Arguments) -> Value {
        let rows = arguments.get(1, "X").and_then(|value| self.table_of(value)).map(|table| table.rows);
        let Some(rows) = rows else { return Value::Unknown };
        Value::learnt(self.learn(Kind::Selection, arguments.range, rows))
    }

    /// What a fitted thing says about the importance of features.
    pub(crate) fn importances(&mut self, fitted: &Fitted) -> Value {
        let kind = if fitted.with_target { Kind::Selection } else { Kind::Unsupervised };
        Value::learnt(self.infos.learn(kind, fitted.site, fitted.rows))
    }

    /// What was learnt about features in each fold is learnt from all rows, once it is put together.
    pub(crate) fn over_folds(&mut self, deps: &Dependencies) -> Dependencies {
        if !self.infos.any(deps, |dep| dep.kind == Kind::Selection) {
            return deps.clone();
        }
        let learnt: Vec<Dependency> = self.infos.deps(deps).collect();
        let mut all = Dependencies::default();
        for dep in learnt {
            let whole = match self.fold_of(dep.from) {
                Some((whole, _)) if dep.kind == Kind::Selection && !self.is_in_folds(whole) => whole,
                _ => dep.from,
            };
            all = all.and(&self.infos.dep(Dependency { from: whole, ..dep }));
        }
        all
    }

    /// What a choice or an order of names depends on: the dependencies about features.
    pub(crate) fn about_features(&mut self, value: &Value) -> Dependencies {
        let deps = self.deps_of(value);
        self.infos.of_kind(&deps, Kind::Selection)
    }

    /// Statistics of features in an order, or those that fulfil a condition: all that is left depends on it.
    pub(crate) fn ordered_by(&mut self, table: &Table, deps: &Dependencies) -> Table {
        let mut ordered = table.clone();
        if !table.rows.is_known() {
            ordered.learn(deps);
        }
        ordered
    }

    /// What the column or condition depends on that statistics of features are sorted or chosen by.
    pub(crate) fn order_of(&mut self, table: &Table) -> Dependencies {
        if table.rows.is_known() {
            return Dependencies::default();
        }
        let whole = self.table(table.clone());
        self.about_features(&whole)
    }
}

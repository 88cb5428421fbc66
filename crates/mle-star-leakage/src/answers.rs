//! The target among the features: which values were computed from the target of their own row.
//!
//! A value that is the target knows what features would depend on that it is one of (`Column::answer`). Values that are
//! computed from it, but are not the target any more, depend on it ([`Kind::Answer`]). A model that is fitted with such
//! features for this target, and predicts with such features, knows the answers.

use std::rc::Rc;

use ruff_python_ast::{Expr, UnaryOp};
use ruff_text_size::TextRange;

use crate::calls::Arguments;
use crate::info::{Dependencies, Dependency, Kind, TargetId};
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::site::Site;
use crate::table::{Column, Table};
use crate::value::Value;

impl Machine<'_> {
    /// Remembers which file the rows of a table come from; the targets that are certainly in it.
    pub(crate) fn targets_of_file(&mut self, rows: RowsId, file: &str) -> Vec<(Rc<str>, Column)> {
        self.seen.targets.files.insert(rows, file.into());
        let known = self.targets.in_files.iter().filter(|(known, _)| &**known == file);
        let names: Vec<String> = known.map(|(_, name)| name.clone()).collect();
        names
            .iter()
            .filter_map(|name| Some((name.as_str().into(), self.target_column(name, rows)?)))
            .collect()
    }

    /// A column of a file that holds a target.
    fn target_column(&mut self, name: &str, rows: RowsId) -> Option<Column> {
        let number = self.targets.number(name)?;
        let answer = self.infos.learn(Kind::Answer(number), Site::default(), rows);
        Some(Column { target: true, answer, ..Column::default() })
    }

    /// Remembers that a column is taken from a table, which has it from its file.
    pub(crate) fn note_column(&mut self, table: &Table, name: &str) {
        if table.named(name).is_some() || !(table.whole || name.starts_with('[')) {
            return;
        }
        let root = self.rows.ancestors(table.rows).last().unwrap_or_default();
        if let Some(file) = self.seen.targets.files.get(&root) {
            self.seen.targets.columns.insert((Rc::clone(file), name.to_owned()));
        }
    }

    /// Remembers that a column is made from a value: `table["label"] = table["rating"] > 3`.
    pub(crate) fn note_source(&mut self, name: &str, value: &Value) {
        let lead = self.table_of(value).and_then(|table| table.lead.clone());
        if let Some(lead) = lead {
            self.seen.targets.leads.insert(name.to_owned(), lead.to_string());
        }
        let source = self.table_of(value).and_then(|table| table.source.clone());
        if let Some(source) = source.filter(|source| &**source != name) {
            self.seen.targets.made_from.insert(name.to_owned(), source.to_string());
        }
    }

    /// Remembers that values are numbers.
    pub(crate) fn note_numeric(&mut self, table: &Table) {
        if let Some(source) = &table.source {
            self.seen.targets.numeric.insert(source.to_string());
        }
    }

    /// Whether a column that holds a target, or was made from one, certainly holds numbers.
    pub(crate) fn is_numeric(&self, name: &str) -> bool {
        let source = self.targets.made_from.get(name);
        let numeric = |name: &str| self.targets.numeric.contains(name);
        numeric(name) || source.is_some_and(|source| numeric(source)) || !self.targets.contains(name)
    }

    /// Which target the values of a table are, if they are one.
    pub(crate) fn target_number(&self, table: &Table) -> Option<TargetId> {
        let columns = table.columns.iter().map(|(_, column)| column);
        let answers = std::iter::once(&table.rest).chain(columns).filter(|column| column.target);
        let mut answered = answers.filter_map(|column| self.infos.answer(&column.answer));
        let names = [&table.label, &table.source];
        answered.next().or_else(|| names.into_iter().flatten().find_map(|name| self.targets.number(name)))
    }

    /// Which target a condition is about.
    pub(crate) fn number_of_condition(&self, condition: &Table) -> Option<TargetId> {
        let own = self.infos.answer(&condition.rest.deps);
        own.or_else(|| self.targets.number(condition.source.as_deref()?))
    }

    /// What values depend on that are computed from the values of a table, if those are the target.
    pub(crate) fn as_answer(&mut self, table: &Table, range: TextRange) -> Dependencies {
        if !table.values().is_target() {
            return Dependencies::default();
        }
        match self.target_number(table) {
            Some(number) => self.learn(Kind::Answer(number), range, table.rows),
            None => Dependencies::default(),
        }
    }

    /// What a value depends on that is computed from the target of a row.
    pub(crate) fn answer_of_row(&mut self, value: &Value, range: TextRange) -> Dependencies {
        let Value::Number(number) = value else { return Dependencies::default() };
        let row = number.row.as_ref().filter(|row| row.target);
        match row.and_then(|row| Some((row.rows, self.targets.number(row.label.as_deref()?)?))) {
            Some((rows, number)) => self.learn(Kind::Answer(number), range, rows),
            None => Dependencies::default(),
        }
    }

    /// Notes for a column that is put into a table what features depend on that it is one of.
    pub(crate) fn answering(
        &mut self,
        name: &str,
        value: &Value,
        mut column: Column,
        range: TextRange,
    ) -> Column {
        let own = self.targets.number(name).map(Kind::Answer);
        let is_own = own.is_some_and(|own| self.infos.any(&column.deps, |dep| dep.kind == own));
        if is_own && !column.target {
            // The target that models are given is computed here.
            column.target = true;
            column.deps = self.without_answers(&column.deps);
        }
        // The target is made from it.
        column.target |= self.targets.is_source(name);
        if !column.target {
            return column;
        }
        let Some(table) = self.table_of(value).cloned() else { return column };
        let number =
            if self.targets.contains(name) { self.targets.number(name) } else { self.target_number(&table) };
        column.answer = match number {
            // A target under its own name is told where the model is fitted.
            Some(number) if self.targets.contains(name) => {
                self.infos.learn(Kind::Answer(number), Site::default(), table.rows)
            }
            Some(number) => self.learn(Kind::Answer(number), range, table.rows),
            None => Dependencies::default(),
        };
        column
    }

    /// Whether features depend on the target of their own rows.
    pub(crate) fn has_answer(&self, deps: &Dependencies) -> bool {
        self.infos.any(deps, is_answer)
    }

    /// The dependencies without answers.
    pub(crate) fn without_answers(&mut self, deps: &Dependencies) -> Dependencies {
        if !self.has_answer(deps) {
            return deps.clone();
        }
        self.infos.map(deps, |dep| (!is_answer(&dep)).then_some(dep))
    }

    /// The dependencies of features with the answers for one target only.
    pub(crate) fn answers_for(
        &mut self,
        deps: &Dependencies,
        target: Option<TargetId>,
        site: Site,
    ) -> Dependencies {
        if !self.has_answer(deps) {
            return deps.clone();
        }
        self.infos.map(deps, |dep| match dep.kind {
            Kind::Answer(number) if Some(number) == target => {
                let site = if dep.site == Site::default() { site } else { dep.site };
                Some(Dependency { site, ..dep })
            }
            Kind::Answer(_) => None,
            _ => Some(dep),
        })
    }

    /// What predictions depend on by their features, if the model learnt from features with other dependencies: it uses answers
    /// only if both have them.
    pub(crate) fn features_of(&mut self, own: &Dependencies, fitted: &Dependencies) -> Dependencies {
        if !self.has_answer(own) && !self.has_answer(fitted) {
            return own.and(fitted);
        }
        let (rest, learnt) = (self.without_answers(own), self.without_answers(fitted));
        let own: Vec<Dependency> = self.infos.deps(own).filter(is_answer).collect();
        let fitted: Vec<Dependency> = self.infos.deps(fitted).filter(is_answer).collect();
        let mut all = rest.and(&learnt);
        for dep in fitted {
            for known in own.iter().filter(|known| known.kind == dep.kind) {
                all.add(&self.infos.dep(Dependency { from: known.from, ..dep }));
            }
        }
        all
    }

    /// Which target a model learns, if the features are of the same rows.
    pub(crate) fn target_of(&self, table: &Table, truth: Option<&Value>) -> Option<TargetId> {
        let truth = truth.and_then(|truth| self.table_of(truth)).or(table.truth.as_deref())?;
        if table.rows.is_known() && truth.rows == table.rows { self.target_number(truth) } else { None }
    }

    /// Values that are computed from those of neighbouring rows, or from the number of the row: if rows are sorted by the
    /// target, they tell it.
    pub(crate) fn of_neighbours(&mut self, table: &Table, range: TextRange) -> Table {
        let mut made = table.clone();
        if let Some(number) = table.order.by_target.filter(|_| !table.is_target()) {
            made.learn(&self.learn(Kind::Answer(number), range, table.rows));
        }
        made
    }

    /// Values of other rows. Later ones tell the target, if it is made from later values of the same column.
    pub(crate) fn of_other_rows(
        &mut self,
        table: &Table,
        column: Option<Rc<str>>,
        arguments: &Arguments,
    ) -> Table {
        let mut made = table.clone();
        let call = self.syntax.call(arguments.range);
        let given = call.and_then(|call| call.arguments.find_argument_value("periods", 0));
        let is_negative = |given: &Expr| given.as_unary_op_expr().is_some_and(|of| of.op == UnaryOp::USub);
        let periods = arguments.value(0, "periods").constant();
        let is_later = periods.is_some_and(|periods| periods.starts_with('-'))
            || given.is_some_and(is_negative)
            || arguments.is_true("center");
        let (Some(column), true) = (column, is_later) else { return made };
        if self.targets.contains(&column) {
            made.rest.deps.add(&self.learn(Kind::Target, arguments.range, table.rows));
        }
        if let Some(number) = self.targets.ahead_of(&column) {
            made.rest.deps.add(&self.learn(Kind::Answer(number), arguments.range, table.rows));
        }
        made.lead = Some(column);
        made
    }

    /// A table of which some columns were taken, and it is not known which.
    pub(crate) fn unsure(&mut self, table: &Table) -> Table {
        let framed = table.whole || table.framed;
        let mut unsure = Table { whole: false, framed, source: None, ..table.clone() };
        let doubtful = |machine: &Self, column: &Column| column.target || machine.has_answer(&column.deps);
        unsure.columns.retain(|(_, column)| !doubtful(self, column));
        if !table.is_target() {
            unsure.rest.deps = self.without_answers(&table.rest.deps);
        }
        unsure.unnamed = self.without_answers(&table.unnamed);
        unsure
    }

    /// What a model depends on whose target was predicted for rows without a label: what the model learnt that predicted it.
    pub(crate) fn taught_by(&mut self, truth: Option<&Table>) -> Dependencies {
        let Some(truth) = truth else { return Dependencies::default() };
        let deps = truth.values().rest.deps;
        let rows = &self.rows;
        self.infos.map(&deps, |dep| {
            let elsewhere =
                dep.on.is_known() && rows.ancestors(dep.on).last() != rows.ancestors(dep.from).last();
            (dep.kind == Kind::Model && elsewhere).then_some(Dependency { on: RowsId::UNKNOWN, ..dep })
        })
    }

    /// Tables side by side: a target among them is a feature of the result.
    pub(crate) fn side_by_side(&mut self, tables: &[Table], range: TextRange) -> Table {
        let is_target = |table: &Table| table.values().is_target();
        if tables.iter().all(is_target) {
            return crate::numpy::beside(tables);
        }
        let mut parts = tables.to_vec();
        for part in &mut parts {
            if !part.is_target() {
                continue;
            }
            let answer = self.as_answer(part, range);
            let column = Column { target: true, answer, ..part.rest.clone() };
            let rows = part.rows;
            *part = match &part.label {
                Some(label) if self.targets.contains(label) => {
                    let columns = vec![(Rc::clone(label), column)];
                    Table { columns, ..Table::of(rows) }
                }
                _ => Table::array(rows, column.deps.and(&column.answer)),
            };
        }
        crate::numpy::beside(&parts)
    }
}

/// Whether something is computed from the target of its own row, and no prediction.
fn is_answer(dep: &Dependency) -> bool {
    matches!(dep.kind, Kind::Answer(_)) && !dep.on.is_known()
}

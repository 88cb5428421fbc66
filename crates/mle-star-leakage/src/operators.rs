//! Operators: arithmetic on tables and numbers, and the dependencies of the result.

use std::rc::Rc;

use ruff_python_ast::Operator;
use ruff_text_size::TextRange;

use crate::conditions::UNKNOWN;
use crate::info::{Dependencies, Dependency, How, Kind, Score, Scores};
use crate::machine::Machine;
use crate::rows::{Origin, RowsId};
use crate::table::{Mask, Table};
use crate::value::{Names, Number, Object, Text, Value};

impl Machine<'_> {
    /// The value of `left operation right`.
    pub(crate) fn operate(&mut self, operation: Operator, left: &Value, right: &Value) -> Value {
        if operation == Operator::MatMult {
            return self.product_of(left, right, self.statement);
        }
        if let Some(value) = constants(operation, left, right).or_else(|| shares(operation, left, right)) {
            return value;
        }
        if let Some(value) = self.operate_words(operation, left, right) {
            return value;
        }
        if matches!(operation, Operator::BitAnd | Operator::BitOr)
            && [left, right].iter().any(|side| matches!(side, Value::Condition(_)))
        {
            return self.both_conditions(operation, left, right);
        }
        match (self.state.handle(left).as_deref(), self.state.handle(right).as_deref()) {
            (Some(Object::List(one)), Some(Object::List(other))) if operation == Operator::Add => {
                let open = one.open || other.open;
                let items = one.items.iter().chain(&other.items).cloned().collect();
                self.new_list(items, open)
            }
            (Some(Object::List(list)), _) if operation == Operator::Mult => {
                let items = list.items.iter().chain(&list.items).take(24).cloned().collect();
                self.list(items)
            }
            (Some(Object::Table(one)), Some(Object::Table(other))) => {
                let combined = self.combine(operation, one, other);
                self.table(combined)
            }
            (Some(Object::Table(table)), _) => self.scale(table, right),
            (_, Some(Object::Table(table))) => self.scale(table, left),
            (Some(Object::List(_)), _) => numbers(&self.as_scores(left), right),
            (_, Some(Object::List(_))) => numbers(left, &self.as_scores(right)),
            _ if operation == Operator::Sub => difference(left, right),
            _ => numbers(left, right),
        }
    }

    /// Conditions that hold together, or of which one holds.
    fn both_conditions(&mut self, operation: Operator, left: &Value, right: &Value) -> Value {
        let condition = |value: &Value| match value {
            Value::Condition(mask) => mask.condition.clone(),
            value => self.table_of(value)?.mask.condition.clone(),
        };
        let key = match (condition(left), condition(right)) {
            (Some(one), Some(other)) if operation == Operator::BitAnd => self.conjunction(&one, &other),
            (Some(one), Some(other)) => Self::disjunction(&one, &other),
            _ => format!("{UNKNOWN}{}", self.state.number_of(self.scope, None)).into(),
        };
        Value::Condition(Rc::new(Mask { condition: Some((key, false)), ..Mask::default() }))
    }

    /// An operation on texts, names of columns, or transposed tables.
    fn operate_words(&mut self, operation: Operator, left: &Value, right: &Value) -> Option<Value> {
        Some(match (left, right) {
            (Value::Str(_) | Value::Text(_), _) => self.operate_text(operation, left, right),
            (Value::Names(names), Value::Str(_) | Value::Text(_)) if names.each => {
                self.operate_text(operation, left, right)
            }
            (Value::Names(names), Value::Object(_) | Value::Names(_)) if operation == Operator::Sub => {
                let mut left = (**names).clone();
                match self.texts(right) {
                    Some(texts) => left.except.extend(texts),
                    None => left.sure = false,
                }
                Value::Names(Rc::new(left))
            }
            (Value::Names(names), _) if operation == Operator::Add => {
                let deps = names.deps.and(&self.deps_of(right));
                Value::Names(Rc::new(Names { deps, ..(**names).clone() }))
            }
            (Value::Unknown, Value::Unknown) => Value::Unknown,
            // Only a path is divided by a text, and only a text is added to one.
            (Value::Unknown | Value::Symbol(_), Value::Str(_) | Value::Text(_))
                if matches!(operation, Operator::Div | Operator::Add) =>
            {
                let left = self.some_text("");
                self.operate_text(operation, &left, right)
            }
            _ => return None,
        })
    }

    fn operate_text(&mut self, operation: Operator, left: &Value, right: &Value) -> Value {
        let mut text = Text::default();
        match (operation, left) {
            // A path.
            (Operator::Div, _) => {
                text.add(left.clone());
                text.add(Value::text("/"));
                text.add(right.clone());
            }
            (Operator::Add, _) => {
                text.add(left.clone());
                text.add(right.clone());
            }
            (Operator::Mod, Value::Str(format)) => {
                text.fixed.push_str(format);
                match right {
                    Value::Tuple(items) => text.values.extend(items.iter().cloned()),
                    value => text.values.push(value.clone()),
                }
            }
            _ => return Value::Unknown,
        }
        text.value()
    }

    /// Two tables, value by value.
    pub(crate) fn combine(&mut self, operation: Operator, one: &Table, other: &Table) -> Table {
        let (left, right) = (one.values(), other.values());
        for table in [&left, &right] {
            if table.is_target() {
                self.networks.truth = Some(table.clone());
            }
        }
        let rows = self.rows_of_both(left.rows, right.rows);
        let condition = match (operation, &left.mask.condition, &right.mask.condition) {
            (Operator::BitAnd, Some(left), Some(right)) => Some(self.conjunction(left, right)),
            (Operator::BitOr, Some(left), Some(right)) => Some(Self::disjunction(left, right)),
            _ => None,
        };
        let condition = condition.map(|key| (key, false));
        let answer = self.answers_of(&left, &right);
        let lead = left.lead.clone().or_else(|| right.lead.clone());
        let mut left = left;
        if operation == Operator::Sub && right.is_target() {
            // Statistics of the rows so far without the row itself.
            let window = |dep: &Dependency| dep.kind == Kind::Window && !dep.on.is_known();
            left.rest.deps = self.infos.map(&left.rest.deps, |dep| (!window(&dep)).then_some(dep));
        }
        let left = left;
        let mut combined = Table {
            mask: Mask { condition, compared: self.compared(&left, &right), ..Mask::default() },
            by_target: left.by_target || right.by_target,
            polars: left.polars || right.polars,
            lead,
            ..Table::array(rows, self.applied(&left.rest.deps.and(&right.rest.deps), rows).and(&answer))
        };
        combined.rest.target = left.is_target()
            && right.is_target()
            && (left.label == right.label || left.label.is_none() || right.label.is_none())
            && left.rows == right.rows
            && combined.rest.deps.is_empty();
        combined
    }

    /// The rows of values that are computed from two tables. Rows that are drawn to be mixed with others are among them.
    fn rows_of_both(&mut self, left: RowsId, right: RowsId) -> RowsId {
        if !left.is_known() || !right.is_known() {
            return if left.is_known() { left } else { right };
        }
        let drawn = |rows| matches!(self.rows.origin(rows), Origin::Repeated { .. });
        if left != right && drawn(left) != drawn(right) {
            let site = self.site(self.statement);
            return self.rows.joined(&[left, right], site);
        }
        left
    }

    /// What the result of two tables depends on, if one of them is the target and the other is not.
    fn answers_of(&mut self, left: &Table, right: &Table) -> Dependencies {
        let range = self.statement;
        let mut answers = Dependencies::default();
        for (one, other) in [(left, right), (right, left)] {
            let predicted = self
                .infos
                .any(&other.rest.deps, |dep| matches!(dep.kind, Kind::Model | Kind::Window | Kind::Target));
            if one.is_target() && !(other.is_target() && one.rows == other.rows) && !predicted {
                answers.add(&self.as_answer(one, range));
            }
        }
        answers
    }

    /// The rows of the true values, if one side has true values and the other one predictions.
    fn compared(&self, left: &Table, right: &Table) -> Option<RowsId> {
        // Statistics of the target are predictions if the difference is what the script reports, or of rows that were held
        // back. Those of these rows alone are what predictions are measured by, as the variance in R².
        let means = |dep: &Dependency, rows: RowsId| {
            let held_back = matches!(self.rows.origin(rows), Origin::Part { .. }) && dep.from != rows;
            dep.kind == Kind::Target && (held_back || self.reports_a_score())
        };
        let predicted = |table: &Table, rows: RowsId| {
            self.infos.any(&table.rest.deps, |dep| dep.kind == Kind::Model || means(dep, rows))
        };
        // What is computed from true values alone stands for them, as `truth > 0.5`.
        let is_truth = |table: &Table| {
            table.is_target() || (self.has_answer(&table.rest.deps) && !predicted(table, table.rows))
        };
        if is_truth(left) && predicted(right, left.rows) {
            Some(left.rows)
        } else if is_truth(right) && predicted(left, right.rows) {
            Some(right.rows)
        } else {
            left.mask.compared.or(right.mask.compared)
        }
    }

    /// A table and a number, value by value.
    fn scale(&mut self, table: &Table, number: &Value) -> Value {
        if table.values().is_target() {
            self.networks.truth = Some(table.clone());
        }
        let deps = self.deps_of(number).and(&self.weighing(number, table));
        let deps = self.but_of_columns(&deps, table);
        let deps = self.applied(&deps, table.rows);
        let mut scaled = table.clone();
        // The difference to something unknown, such as predictions that were not followed, is no target.
        scaled.rest.target &= !matches!(number, Value::Unknown | Value::Condition(_));
        scaled.mask.condition = None;
        scaled.learn(&deps);
        self.table(scaled)
    }

    /// What predictions depend on that are weighed by a number which is computed from scores: the choice of the weight.
    pub(crate) fn weighing(&mut self, weight: &Value, table: &Table) -> Dependencies {
        // Predictions are moved by the true values of their own rows.
        if let Value::Number(number) = weight
            && let Some(rows) = number.of_truth.filter(|rows| rows.is_known() && *rows == table.rows)
            && self.infos.has_model(&table.deps())
        {
            return self.learn(Kind::Choice(How::Number), self.statement, rows);
        }
        let scores = self.scores_of(weight, 3);
        let chosen = self.infos.any(&self.deps_of(weight), |dep| matches!(dep.kind, Kind::Choice(_)));
        if scores.is_empty() || chosen || !self.infos.has_model(&table.deps()) {
            return Dependencies::default();
        }
        let rows: Vec<RowsId> = self.infos.scores(&scores).map(|score| score.rows).collect();
        let range = self.statement;
        rows.into_iter().map(|rows| self.learn(Kind::Choice(How::Number), range, rows)).collect()
    }

    /// What values of these rows depend on that were changed by numbers which depend on these dependencies.
    pub(crate) fn applied(&mut self, deps: &Dependencies, rows: RowsId) -> Dependencies {
        self.infos.map(deps, |dep| match dep.kind {
            Kind::Candidate(how) if how.is_open() => {
                Some(Dependency { kind: Kind::Candidate(How::Number), ..dep })
            }
            Kind::Model if !dep.on.is_known() => Some(Dependency { on: rows, ..dep }),
            // What was chosen is applied to these rows, even if they are put together with others later.
            Kind::Choice(_) if !dep.on.is_known() => Some(Dependency { on: rows, ..dep }),
            _ => Some(dep),
        })
    }

    /// The scores in a value.
    pub(crate) fn scores_of(&self, value: &Value, depth: usize) -> Scores {
        match (value, self.state.get(value)) {
            _ if depth == 0 => Scores::default(),
            (Value::Number(number), _) => number.scores.clone(),
            (_, Some(Object::Study(number))) => number.scores.clone(),
            _ => self.items_in(value).map(|item| self.scores_of(item, depth - 1)).collect(),
        }
    }

    /// One number for a table: a mean and the like.
    pub(crate) fn reduce(&mut self, table: &Table, unsupervised: bool, site: TextRange) -> Value {
        let values = table.values();
        if let Some(rows) = values.mask.compared {
            return Value::score(self.score(site, rows, &values.rest.deps, false));
        }
        let predicted = self.infos.has_model(&values.rest.deps);
        let known = self.without_answers(&values.rest.deps);
        // The mean of predictions is no prediction.
        let mut deps = self.infos.without(&known, Kind::Model);
        let learnt = values.rows.is_known() && unsupervised && !values.is_target() && !values.blank;
        if let Some(whole) = self.whole_of_value(values.rows).filter(|_| self.is_of_target(table)) {
            deps.add(&self.learn(Kind::Target, site, whole));
        }
        if table.by_target && values.mask.condition.is_none() && !self.is_of_target(table) {
            deps.add(&self.counted_by_target(table, site));
        }
        if learnt && !predicted && values.mask.condition.is_none() {
            deps.add(&self.learn(Kind::Unsupervised, site, values.rows));
        }
        let truth = values.is_target() && deps.is_empty() && !values.blank;
        let reduced = self.context.is_some().then(|| Rc::new(table.values()));
        let of_truth = values.is_target().then_some(values.rows);
        Number { deps, truth, reduced, of_truth, ..Number::default() }.value()
    }

    /// A score of predictions that depend on these dependencies.
    pub(crate) fn score(
        &mut self,
        site: TextRange,
        rows: RowsId,
        deps: &Dependencies,
        with_itself: bool,
    ) -> Scores {
        let deps = self.infos.map(deps, |dep| {
            // True values are no features.
            if matches!(dep.kind, Kind::Answer(_)) && !dep.on.is_known() {
                return None;
            }
            let on = if dep.on.is_known() { dep.on } else { rows };
            Some(Dependency { on, ..dep })
        });
        let site = self.site(site);
        self.infos.score(Score { site, rows, deps, with_itself })
    }

    /// A column of values that depend on these.
    pub(crate) fn array(&mut self, rows: RowsId, deps: Dependencies) -> Value {
        self.table(Table::array(rows, deps))
    }
}

/// The value of an operation on constants.
fn constants(operation: Operator, left: &Value, right: &Value) -> Option<Value> {
    if let (Value::Int(left), Value::Int(right)) = (left, right) {
        let exact = match operation {
            Operator::Add => left.checked_add(*right),
            Operator::Sub => left.checked_sub(*right),
            Operator::Mult => left.checked_mul(*right),
            Operator::FloorDiv => left.checked_div_euclid(*right),
            Operator::Div => None,
            _ => return None,
        };
        if let Some(exact) = exact {
            return Some(Value::Int(exact));
        }
    }
    let (left, right) = (left.as_number()?, right.as_number()?);
    let value = match operation {
        Operator::Add => left + right,
        Operator::Sub => left - right,
        Operator::Mult => left * right,
        Operator::Div => left / right,
        _ => return None,
    };
    Some(Value::Float(value))
}

/// A share of the number of rows: `int(0.8 * len(table))`, `n * 3 // 4`, `n - n // 5`.
fn shares(operation: Operator, left: &Value, right: &Value) -> Option<Value> {
    let (rows, share) = match (operation, left.share(), right.share()) {
        (Operator::Mult, Some((rows, share)), None) => (rows, share * right.as_number()?),
        (Operator::Mult, None, Some((rows, share))) => (rows, share * left.as_number()?),
        (Operator::Div | Operator::FloorDiv, Some((rows, share)), None) => (rows, share / right.as_number()?),
        (Operator::Sub, Some((rows, one)), Some((other, less))) if rows == other => (rows, one - less),
        (Operator::Add, Some((rows, one)), Some((other, more))) if rows == other => (rows, one + more),
        _ => return None,
    };
    let share = (share.is_finite() && share.abs() <= 1.0).then_some((rows, share));
    Some(Number { share, ..Number::default() }.value())
}

/// The difference of two numbers that depend on data.
fn difference(left: &Value, right: &Value) -> Value {
    let made = numbers(left, right);
    match (left, right, &made) {
        (Value::Number(one), Value::Number(other), Value::Number(made)) => {
            let gap = one.scores == other.scores && !one.scores.is_empty();
            Number { gap, ..(**made).clone() }.value()
        }
        _ => made,
    }
}

/// The value of an operation on numbers that depend on data.
fn numbers(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Number(one), Value::Number(other)) => Number {
            deps: one.deps.and(&other.deps),
            scores: one.scores.and(&other.scores),
            random: one.random && other.random,
            truth: one.truth && other.truth,
            row: match (&one.row, &other.row) {
                (Some(row), Some(target)) if target.target && !row.target => Some(Rc::clone(target)),
                (row, other) => row.clone().or_else(|| other.clone()),
            },
            of_truth: one.of_truth.or(other.of_truth),
            reduced: one.reduced.clone().or_else(|| other.reduced.clone()),
            ..Number::default()
        }
        .value(),
        (Value::Number(number), other) | (other, Value::Number(number)) => {
            let random = number.random && other.is_constant_number();
            let truth = number.truth && other.is_constant_number();
            let number = Number { text: None, share: None, gap: false, random, truth, ..(**number).clone() };
            number.value()
        }
        (Value::Length(_), _) | (_, Value::Length(_)) => Value::some_number(),
        _ => Value::Unknown,
    }
}

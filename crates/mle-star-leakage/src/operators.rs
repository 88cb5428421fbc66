//! Operators, comparisons, and choices by scores.

use std::rc::Rc;

use ruff_python_ast::{CmpOp, Operator};
use ruff_text_size::TextRange;

use crate::info::{How, Kind, Lesson, Lessons, Score, Scores};
use crate::machine::Machine;
use crate::numpy::is_of_truth;
use crate::rows::RowsId;
use crate::site::Site;
use crate::table::{Column, Mask, Table};
use crate::value::{Names, Number, Object, Text, Value};

impl Machine<'_> {
    /// The value of `left operation right`.
    pub(crate) fn operate(&mut self, operation: Operator, left: &Value, right: &Value) -> Value {
        if let Some(value) = constants(operation, left, right) {
            return value;
        }
        match (left, right) {
            (Value::Str(_) | Value::Text(_), _) => return self.operate_text(operation, left, right),
            (Value::Names(names), _) if operation == Operator::Add => {
                let lessons = names.lessons.and(&self.lessons_of(right));
                return Value::Names(Rc::new(Names { lessons, ..(**names).clone() }));
            }
            (Value::Unknown, Value::Unknown) => return Value::Unknown,
            // Only a path is divided by a text, and only a text is added to one.
            (Value::Unknown | Value::Symbol(_), Value::Str(_) | Value::Text(_))
                if matches!(operation, Operator::Div | Operator::Add) =>
            {
                let left = self.some_text(&[]);
                return self.operate_text(operation, &left, right);
            }
            _ => {}
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
            (Some(Object::Table(table)), _) => self.scale(operation, table, right),
            (_, Some(Object::Table(table))) => self.scale(operation, table, left),
            _ => numbers(left, right),
        }
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
    fn combine(&mut self, operation: Operator, one: &Table, other: &Table) -> Table {
        let (left, right) = (one.values(), other.values());
        match operation {
            Operator::Add | Operator::Sub if right.filling.zero => return left,
            Operator::Add if left.filling.zero => return right,
            Operator::Mult if left.filling.zero => return left,
            Operator::Mult if right.filling.zero => return right,
            _ => {}
        }
        let rows = if left.rows.is_known() { left.rows } else { right.rows };
        let condition = match (operation, &left.mask.condition, &right.mask.condition) {
            (Operator::BitAnd, Some(_), Some(_)) => self.conjunction(&left, &right),
            (Operator::BitOr, Some(left), Some(right)) => {
                Some((format!("{left:?} or {right:?}").into(), false))
            }
            _ => None,
        };
        let mut combined = Table {
            mask: Mask { condition, among: None, compared: self.compared(&left, &right) },
            by_target: left.by_target || right.by_target,
            ..Table::array(rows, self.applied(&left.rest.lessons.and(&right.rest.lessons), rows))
        };
        // True values and the same true values.
        combined.filling.doubtful = left.filling.doubtful || right.filling.doubtful;
        combined.rest.target = left.is_target()
            && right.is_target()
            && (left.label == right.label || left.label.is_none() || right.label.is_none())
            && left.rows == right.rows
            && combined.rest.lessons.is_empty();
        combined
    }

    /// The rows of the true values, if one side has true values and the other one predictions.
    fn compared(&self, left: &Table, right: &Table) -> Option<RowsId> {
        let predicted = |table: &Table| self.infos.has_model(&table.rest.lessons);
        if left.is_target() && predicted(right) {
            Some(left.rows)
        } else if right.is_target() && predicted(left) {
            Some(right.rows)
        } else {
            left.mask.compared.or(right.mask.compared)
        }
    }

    /// A table and a number, value by value.
    fn scale(&mut self, operation: Operator, table: &Table, number: &Value) -> Value {
        let is_zero = matches!(number, Value::Int(0)) || matches!(number, Value::Float(zero) if *zero == 0.0);
        if operation == Operator::Mult && is_zero {
            let zero = Table::zeros(table.rows);
            return self.table(zero);
        }
        let lessons = self.lessons_of(number);
        let lessons = self.applied(&lessons, table.rows);
        let mut scaled = table.clone();
        scaled.mask.condition = None;
        scaled.learn(&lessons);
        scaled.filling.doubtful |= !is_of_truth(number);
        self.table(scaled)
    }

    /// What values of these rows depend on that were changed by numbers which depend on these lessons.
    pub(crate) fn applied(&mut self, lessons: &Lessons, rows: RowsId) -> Lessons {
        self.infos.map(lessons, |lesson| match lesson.kind {
            Kind::Candidate(how) if how.is_open() => {
                Some(Lesson { kind: Kind::Candidate(How::Number), ..lesson })
            }
            // What was chosen is applied to these rows, even if they are put together with others later.
            Kind::Choice(_) if !lesson.on.is_known() => Some(Lesson { on: rows, ..lesson }),
            _ => Some(lesson),
        })
    }

    /// The value of a comparison.
    pub(crate) fn compare_values(
        &mut self,
        operation: CmpOp,
        left: &Value,
        right: &Value,
        ranges: (TextRange, TextRange),
    ) -> Value {
        if let (Some(one), Some(other)) = (left.constant(), right.constant()) {
            return match operation {
                CmpOp::Eq | CmpOp::Is => Value::Bool(one == other),
                CmpOp::NotEq | CmpOp::IsNot => Value::Bool(one != other),
                _ => Value::Unknown,
            };
        }
        if matches!(operation, CmpOp::Is | CmpOp::IsNot) && matches!(right, Value::None) {
            let known = !matches!(left, Value::Unknown | Value::Number(_));
            return if known { Value::Bool(operation == CmpOp::IsNot) } else { Value::Unknown };
        }
        let (one, other) = (self.table_of(left).cloned(), self.table_of(right).cloned());
        let mut made = match (&one, &other) {
            (Some(one), Some(other)) => self.combine(Operator::Sub, one, other),
            (Some(table), None) => {
                let lessons = self.lessons_of(right);
                let lessons = self.applied(&lessons, table.rows);
                let values = table.values();
                Table::array(values.rows, values.rest.lessons.and(&lessons))
            }
            (None, Some(table)) => {
                let lessons = self.lessons_of(left);
                let lessons = self.applied(&lessons, table.rows);
                let values = table.values();
                Table::array(values.rows, values.rest.lessons.and(&lessons))
            }
            _ => return self.compare_numbers(left, right),
        };
        let is_target = |table: &Option<Table>| table.as_ref().is_some_and(Table::is_target);
        made.by_target = is_target(&one) || is_target(&other);
        made.rest.target = false;
        let constant = if other.is_none() { right.constant() } else { None };
        made.mask.condition = Some(self.condition_key(operation, ranges, constant.as_deref()));
        self.table(made)
    }

    /// A comparison of numbers depends on what is known of features, as the numbers do.
    fn compare_numbers(&mut self, left: &Value, right: &Value) -> Value {
        let lessons = self.about_features(left).and(&self.about_features(right));
        if lessons.is_empty() { Value::Unknown } else { Value::learnt(lessons) }
    }

    /// A key for a condition, and whether it is the negation of the condition with that key.
    fn condition_key(
        &self,
        operation: CmpOp,
        (left, right): (TextRange, TextRange),
        constant: Option<&str>,
    ) -> (Rc<str>, bool) {
        let (sign, negated) = match operation {
            CmpOp::Eq => ("==", false),
            CmpOp::NotEq => ("==", true),
            CmpOp::Lt => ("<", false),
            CmpOp::GtE => ("<", true),
            CmpOp::Gt => (">", false),
            CmpOp::LtE => (">", true),
            _ => ("in", matches!(operation, CmpOp::NotIn)),
        };
        let left = self.compact(left);
        // The name of the table does not matter, only its rows do.
        let column = left.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
        let column = if column.is_empty() { &left } else { column };
        let right = constant.map_or_else(|| self.compact(right), str::to_owned);
        (format!("{column}{sign}{right}").into(), negated)
    }

    /// The choice that is made by comparing these values, if they are scores of candidates.
    pub(crate) fn choice(&mut self, values: &[Value], site: TextRange) -> Lessons {
        let scores: Scores = values.iter().map(|value| self.scores_of(value, 3)).collect();
        if scores.is_empty() {
            return Lessons::default();
        }
        let scores: Vec<Score> = self.infos.scores(&scores).cloned().collect();
        let place = Site { expression: site, statement: self.nesting.search.unwrap_or(self.statement) };
        let kind = match self.how(&scores) {
            Some(How::Model) | None if self.chosen_again(&scores, place) => Kind::Choice(How::Number),
            Some(how) => Kind::Choice(how),
            None => match self.trained_on(&scores) {
                Some(kind) => kind,
                None => return Lessons::default(),
            },
        };
        let mut choices = Lessons::default();
        for score in scores {
            choices = choices.and(&self.infos.learn(kind, place, score.rows));
        }
        choices
    }

    /// Whether candidates have what was chosen here before, so that this is a search step by step.
    fn chosen_again(&self, scores: &[Score], place: Site) -> bool {
        let again = |lesson: &Lesson| {
            matches!(lesson.kind, Kind::Choice(How::Model | How::Number)) && lesson.site == place
        };
        scores.iter().any(|score| self.infos.any(&score.lessons, again))
    }

    /// The choice among the states of one model that a loop trains further, if the scores are those.
    fn trained_on(&self, scores: &[Score]) -> Option<Kind> {
        let loops = |score: &Score| {
            let lessons = self.infos.lessons(&score.lessons);
            lessons
                .filter(|lesson| lesson.kind == Kind::Candidate(How::Epoch))
                .map(|lesson| lesson.site.expression)
                .collect::<Vec<_>>()
        };
        let first = loops(scores.first()?);
        let here = |range: &TextRange| {
            self.nesting.listed == Some(*range)
                || self.nesting.around.iter().any(|around| around.range == *range)
        };
        let common = first.into_iter().filter(here);
        let mut common = common.filter(|range| scores.iter().all(|score| loops(score).contains(range)));
        let range = common.next()?;
        // A loop that ends early stops by the score, which is common practice.
        let stops =
            self.text(range).split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "break");
        Some(if stops { Kind::Stopping } else { Kind::Choice(How::Rounds) })
    }

    /// How the candidates differ that have these scores.
    fn how(&self, scores: &[Score]) -> Option<How> {
        let models: Vec<Vec<Site>> = scores.iter().map(|score| self.models(score)).collect();
        let first = models.first()?;
        let differ = models.iter().skip(1).any(|other| other != first && !other.is_empty());
        let candidates: Vec<Vec<(How, Site)>> = scores.iter().map(|score| self.candidates(score)).collect();
        let shared = |one: &(How, Site)| candidates.iter().all(|others| others.contains(one));
        // A first score may be that of no candidate. Finished models of different kinds are no candidates of one search.
        let counts = |one: &&(How, Site)| !differ || shared(one);
        let all: Vec<How> = candidates.iter().flatten().filter(counts).map(|(how, _)| *how).collect();
        let Some(how) = all.iter().max() else { return differ.then_some(How::Model) };
        // Rounds are one of several settings.
        let several = *how == How::Rounds && all.iter().any(|how| *how < How::Rounds);
        Some(if several { How::Setting } else { *how })
    }

    /// Where the models were made that predicted for a score.
    fn models(&self, score: &Score) -> Vec<Site> {
        let lessons = self.infos.lessons(&score.lessons);
        let models = lessons.filter(|lesson| lesson.kind == Kind::Model).map(|lesson| lesson.made);
        let mut models: Vec<Site> = models.collect();
        models.sort();
        models.dedup();
        models
    }

    fn candidates(&self, score: &Score) -> Vec<(How, Site)> {
        let lessons = self.infos.lessons(&score.lessons);
        let candidates = lessons.filter_map(|lesson| match lesson.kind {
            Kind::Candidate(how) if !how.is_open() && how != How::Epoch => Some((how, lesson.site)),
            _ => None,
        });
        candidates.collect()
    }

    /// The scores in a value.
    pub(crate) fn scores_of(&self, value: &Value, depth: usize) -> Scores {
        if depth == 0 {
            return Scores::default();
        }
        let all =
            |items: &[Value]| items.iter().take(64).map(|item| self.scores_of(item, depth - 1)).collect();
        match (value, self.state.get(value)) {
            (Value::Number(number), _) => number.scores.clone(),
            (Value::Tuple(items), _) => all(items),
            (Value::Text(text), _) => all(&text.values),
            (_, Some(Object::List(list))) => all(&list.items),
            (_, Some(Object::Dict(dict))) => all(&dict.values()),
            (_, Some(Object::Study(number))) => number.scores.clone(),
            _ => Scores::default(),
        }
    }

    /// One number for a table: a mean and the like.
    pub(crate) fn reduce(&mut self, table: &Table, unsupervised: bool, site: TextRange) -> Value {
        let values = table.values();
        if let Some(rows) = values.mask.compared {
            let score = self.score(site, rows, &values.rest.lessons, false);
            return Value::score(score);
        }
        let predicted = self.infos.has_model(&values.rest.lessons);
        // The mean of predictions is no prediction.
        let mut lessons = self.infos.without(&values.rest.lessons, Kind::Model);
        let learnt = values.rows.is_known() && unsupervised && !values.is_target() && !values.filling.blank;
        if learnt && !predicted && values.mask.condition.is_none() {
            lessons.add(&self.learn(Kind::Unsupervised, site, values.rows));
        }
        let truth =
            values.is_target() && lessons.is_empty() && !values.filling.blank && !values.filling.doubtful;
        Value::Number(Rc::new(Number { lessons, truth, ..Number::default() }))
    }

    /// A score of predictions that depend on these lessons.
    pub(crate) fn score(
        &mut self,
        site: TextRange,
        rows: RowsId,
        lessons: &Lessons,
        with_itself: bool,
    ) -> Scores {
        let lessons = self.infos.map(lessons, |lesson| {
            let on = if lesson.on.is_known() { lesson.on } else { rows };
            Some(Lesson { on, ..lesson })
        });
        let site = self.site(site);
        self.infos.score(Score { site, rows, lessons, with_itself })
    }

    /// A column of values that depend on these.
    pub(crate) fn array(&mut self, rows: RowsId, lessons: Lessons) -> Value {
        let column = Column { lessons, target: false };
        self.table(Table { rest: column, ..Table::of(rows) })
    }
}

/// The value of an operation on constants.
fn constants(operation: Operator, left: &Value, right: &Value) -> Option<Value> {
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    };
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
    let (left, right) = (number(left)?, number(right)?);
    let value = match operation {
        Operator::Add => left + right,
        Operator::Sub => left - right,
        Operator::Mult => left * right,
        Operator::Div => left / right,
        _ => return None,
    };
    Some(Value::Float(value))
}

/// The value of an operation on numbers that depend on data.
fn numbers(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Number(one), Value::Number(other)) => Value::Number(Rc::new(Number {
            lessons: one.lessons.and(&other.lessons),
            scores: one.scores.and(&other.scores),
            random: one.random && other.random,
            truth: one.truth && other.truth,
            row: one.row.clone().or_else(|| other.row.clone()),
            text: None,
        })),
        (Value::Number(number), other) | (other, Value::Number(number)) => {
            let random = number.random && other.is_constant_number();
            let truth = number.truth && other.is_constant_number();
            Value::Number(Rc::new(Number { text: None, random, truth, ..(**number).clone() }))
        }
        (Value::Length(_), _) | (_, Value::Length(_)) => Value::some_number(),
        _ => Value::Unknown,
    }
}

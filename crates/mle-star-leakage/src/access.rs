//! Attributes, items, and what is assigned to them.

use std::rc::Rc;

use ruff_python_ast::{CmpOp, Comprehension, Expr, ExprSlice, ExprSubscript};
use ruff_text_size::{Ranged, TextRange};

use crate::calls::Arguments;
use crate::info::{Kind, Lesson, Lessons, Scores};
use crate::machine::Machine;
use crate::rows::{DivisionKind, RowsId};
use crate::table::{Column, Group, Table};
use crate::value::{Dict, Estimator, List, Names, Object, Role, Value};

impl<'a> Machine<'a> {
    /// A new table as a value.
    pub(crate) fn table(&mut self, table: Table) -> Value {
        self.state.add(Object::Table(table))
    }

    /// The table of a value.
    pub(crate) fn table_of(&self, value: &Value) -> Option<&Table> {
        match self.state.get(value) {
            Some(Object::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// An attribute of a value.
    pub(crate) fn attribute(&mut self, base: &Value, name: &str) -> Value {
        match base {
            Value::Symbol(symbol) if matches!(&**symbol, "numpy" | "math") && matches!(name, "inf" | "nan" | "pi" | "e") => {
                return Value::Float(f64::INFINITY);
            }
            Value::Symbol(symbol) => return Value::Symbol(format!("{symbol}.{name}").into()),
            Value::Number(_) if !matches!(name, "shape" | "size" | "columns") => return base.clone(),
            Value::Names(_) => return base.clone(),
            Value::Class(class) => return self.class_attribute(*class, name).unwrap_or_default(),
            _ => {}
        }
        match self.state.get(base) {
            Some(Object::Table(table)) => {
                let table = table.clone();
                self.table_attribute(base, &table, name)
            }
            Some(Object::Estimator(estimator)) => {
                let estimator = estimator.clone();
                self.estimator_attribute(base, &estimator, name)
            }
            Some(Object::Instance(instance)) => {
                if let Some((_, value)) = instance.attributes.iter().find(|(known, _)| &**known == name) {
                    return value.clone();
                }
                match self.class_attribute(instance.class, name) {
                    Some(Value::Function(..)) => Value::Method(Rc::new((base.clone(), name.into()))),
                    Some(value) => value,
                    None => Value::Unknown,
                }
            }
            Some(Object::Study(number)) => match name {
                "best_value" => Value::Number(Rc::new(number.clone())),
                "best_params" => Value::number(number.lessons.clone(), Scores::default()),
                _ => base.clone(),
            },
            _ => Value::Unknown,
        }
    }

    /// An attribute of a class of the script or of those that it inherits from.
    pub(crate) fn class_attribute(&self, class: usize, name: &str) -> Option<Value> {
        let mut classes = vec![class];
        let mut seen = 0;
        while let Some(class) = classes.pop() {
            let class = self.classes.get(class)?;
            if let Some(value) = self.state.variable_here(class.scope, name) {
                return Some(value.clone());
            }
            classes.extend(&class.bases);
            seen += 1;
            if seen > 20 {
                break;
            }
        }
        None
    }

    fn table_attribute(&mut self, base: &Value, table: &Table, name: &str) -> Value {
        match name {
            "values" | "array" | "real" => self.table(table.values()),
            "shape" => Value::Tuple([Value::Length(table.rows), Value::Unknown].into()),
            "size" => Value::Length(table.rows),
            "T" => Value::Unknown,
            "columns" => Value::Names(Rc::new(Names {
                except: table.dropped.clone(),
                sure: table.whole,
                lessons: Lessons::default(),
            })),
            "index" => self.table(Table { index: true, ..Table::of(table.rows) }),
            "iloc" | "loc" | "at" | "iat" | "str" | "dt" | "cat" => {
                Value::Method(Rc::new((base.clone(), name.into())))
            }
            _ => {
                let column = self.select(table, &name.into());
                self.table(column)
            }
        }
    }

    fn estimator_attribute(&mut self, base: &Value, estimator: &Estimator, name: &str) -> Value {
        let Some(fitted) = &estimator.fitted else { return Value::Unknown };
        match name {
            "best_estimator_" | "booster_" | "model" => base.clone(),
            "best_score_" if estimator.role == Role::Search => {
                let score = self.search_score(estimator, fitted);
                Value::number(estimator.lessons.clone(), score)
            }
            "best_score" | "best_score_" | "history" if !fitted.watched.is_empty() => {
                Value::number(Lessons::default(), fitted.watched.clone())
            }
            "feature_importances_" | "coef_" | "ranking_" | "scores_" | "pvalues_" | "support_" => {
                let kind = if fitted.with_target { Kind::Selection } else { Kind::Unsupervised };
                let lesson = Lesson::new(kind, fitted.site, fitted.rows);
                let lessons = self.infos.lesson(lesson);
                Value::number(lessons, Scores::default())
            }
            _ => Value::Unknown,
        }
    }

    /// A column of a table.
    pub(crate) fn select(&self, table: &Table, name: &Rc<str>) -> Table {
        let mut column = table.select(name);
        column.rest.target |= self.targets.contains(&**name);
        column
    }

    /// Some columns of a table.
    pub(crate) fn select_all(&self, table: &Table, names: &[Rc<str>]) -> Table {
        let mut selected = table.select_all(names);
        for (name, column) in &mut selected.columns {
            column.target |= self.targets.contains(&**name);
        }
        selected
    }

    /// An item of a value: `base[index]`.
    pub(crate) fn item(&mut self, base: &Value, index: &'a Expr, site: TextRange) -> Value {
        if let Value::Method(method) = base {
            let (table, accessor) = (method.0.clone(), Rc::clone(&method.1));
            return match self.table_of(&table).cloned() {
                Some(table) if matches!(&*accessor, "iloc" | "loc" | "at" | "iat") => self.located(&table, index),
                Some(_) => table,
                None => Value::Unknown,
            };
        }
        if let Value::Symbol(symbol) = base {
            let name = symbol.rsplit('.').next().unwrap_or_default().to_owned();
            let items = self.eval(index);
            let arguments = Arguments { positional: vec![items], range: site, called: site, ..Arguments::default() };
            return if matches!(&*name, "c_" | "r_") { self.stacked(&name, &arguments) } else { Value::Unknown };
        }
        if let Expr::Slice(slice) = index {
            return self.slice(base, slice);
        }
        if let Some(table) = self.table_of(base).cloned() {
            return self.table_item(&table, index);
        }
        let index = self.eval(index);
        self.value_item(base, &index, site)
    }

    fn value_item(&mut self, base: &Value, index: &Value, _site: TextRange) -> Value {
        let index_lessons = self.lessons_of(index);
        match (base, self.state.get(base)) {
            (Value::Tuple(items), _) => match index {
                Value::Int(position) => at(items, *position),
                _ => self.join_all(&items.to_vec()),
            },
            (Value::Number(number), _) if index.as_str().is_some_and(|name| self.targets.contains(name)) => {
                // Correlations with the target, of all correlations.
                let lessons = self.infos.map(&number.lessons, |lesson| match lesson.kind {
                    Kind::Unsupervised => Some(Lesson { kind: Kind::Selection, ..lesson }),
                    _ => Some(lesson),
                });
                Value::number(lessons, number.scores.clone())
            }
            (Value::Number(_), _) => self.with_lessons(base, &index_lessons),
            (Value::Names(_), _) => base.clone(),
            (_, Some(Object::List(list))) => match index {
                Value::Int(position) if !list.open => at(&list.items, *position),
                _ => {
                    let items = list.items.clone();
                    let joined = self.join_all(&items);
                    self.with_lessons(&joined, &index_lessons)
                }
            },
            (_, Some(Object::Dict(dict))) => match index.constant() {
                Some(key) => dict.get(&key).cloned().unwrap_or_else(|| self.join_all(&dict.others)),
                None => {
                    let values: Vec<_> = dict.items.iter().map(|(_, value)| value).chain(&dict.others).cloned().collect();
                    self.join_all(&values)
                }
            },
            (_, Some(Object::Group(group))) => {
                let group = group.clone();
                self.choose_columns(&group, index)
            }
            (_, Some(Object::Instance(_))) => Value::Unknown,
            _ => Value::Unknown,
        }
    }

    fn choose_columns(&mut self, group: &Group, index: &Value) -> Value {
        let table = match (index.constant(), self.texts(index)) {
            (Some(name), _) => self.select(&group.table, &name),
            (None, Some(names)) => self.select_all(&group.table, &names),
            _ => Table::of(group.table.rows),
        };
        self.state.add(Object::Group(Group { table, chosen: true, ordered: group.ordered }))
    }

    fn table_item(&mut self, table: &Table, index: &'a Expr) -> Value {
        if let Expr::Tuple(tuple) = index {
            return self.array_item(table, &tuple.elts);
        }
        let index = self.eval(index);
        self.table_item_by(table, &index)
    }

    /// `table[index]`.
    pub(crate) fn table_item_by(&mut self, table: &Table, index: &Value) -> Value {
        if let Some(name) = index.constant().filter(|_| !index.is_constant_number()) {
            let column = self.select(table, &name);
            return self.table(column);
        }
        if let Some(rows) = self.chosen_rows(table, index) {
            let chosen = table.with_rows(rows);
            return self.table(chosen);
        }
        if let Some(names) = self.texts(index) {
            let selected = self.select_all(table, &names);
            return self.table(selected);
        }
        let lessons = self.selecting(index);
        let mut selected = match index {
            Value::Names(names) if names.sure => {
                let mut selected = table.clone();
                names.except.iter().for_each(|name| selected.remove(name));
                selected
            }
            Value::Int(_) | Value::Number(_) if table.columns.is_empty() && !table.whole => {
                return Value::number(table.rest.lessons.clone(), Scores::default());
            }
            // Of an array it may be any rows.
            _ if table.columns.is_empty() && !table.whole => {
                Table { rest: table.rest.clone(), label: table.label.clone(), ..Table::default() }
            }
            _ => Table { rest: table.rest.clone(), sorted: table.sorted.clone(), ..Table::of(table.rows) },
        };
        if table.whole || !table.columns.is_empty() {
            selected.label = None;
        }
        selected.learn(&lessons);
        self.table(selected)
    }

    /// What the choice of columns depends on.
    fn selecting(&mut self, index: &Value) -> Lessons {
        let lessons = self.lessons_of(index);
        self.infos.map(&lessons, |lesson| match lesson.kind {
            Kind::Selection => Some(lesson),
            Kind::Target | Kind::Model => Some(Lesson { kind: Kind::Selection, on: RowsId::UNKNOWN, ..lesson }),
            _ => None,
        })
    }

    /// `array[rows, columns]`.
    fn array_item(&mut self, table: &Table, index: &'a [Expr]) -> Value {
        let Some((first, rest)) = index.split_first() else { return Value::Unknown };
        let mut chosen = match first {
            Expr::Slice(slice) => self.sliced(table, slice),
            Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) => table.clone(),
            _ => {
                let rows = self.eval(first);
                match self.chosen_rows(table, &rows) {
                    Some(rows) => table.with_rows(rows),
                    None => Table { rest: table.rest.clone(), ..Table::default() },
                }
            }
        };
        if let [column] = rest
            && !column.is_slice_expr()
        {
            let column = self.eval(column);
            let lessons = self.selecting(&column);
            chosen = match (column.constant().filter(|_| !column.is_constant_number()), self.texts(&column)) {
                (Some(name), _) => self.select(&chosen, &name),
                (None, Some(names)) => self.select_all(&chosen, &names),
                _ => chosen,
            };
            chosen.learn(&lessons);
        }
        self.table(chosen)
    }

    /// `table.loc[rows, columns]` and the like.
    fn located(&mut self, table: &Table, index: &'a Expr) -> Value {
        match index {
            Expr::Tuple(tuple) => self.array_item(table, &tuple.elts),
            Expr::Slice(slice) => {
                let sliced = self.sliced(table, slice);
                self.table(sliced)
            }
            _ => {
                let rows = self.eval(index);
                let chosen = match self.chosen_rows(table, &rows) {
                    Some(rows) => table.with_rows(rows),
                    None => Table { rows: RowsId::UNKNOWN, ..table.clone() },
                };
                self.table(chosen)
            }
        }
    }

    /// The rows that positions, a condition or an index choose. `None`: the index does not choose rows.
    pub(crate) fn chosen_rows(&mut self, table: &Table, index: &Value) -> Option<RowsId> {
        if let Value::Positions { of, part } = index {
            // Positions of other rows say nothing here.
            return Some(if *of == table.rows { *part } else { RowsId::UNKNOWN });
        }
        let index = self.table_of(index)?;
        if let (Some(among), Some((_, negated))) = (index.among, &index.condition) {
            let negated = *negated;
            return Some(if negated { self.other_side(table.rows, among).unwrap_or_default() } else { among });
        }
        if let Some((key, negated)) = index.condition.clone() {
            return Some(self.divided(table.rows, &key, negated, DivisionKind::Condition));
        }
        if index.index {
            return Some(index.rows);
        }
        None
    }

    /// One side of a division by a condition or position.
    pub(crate) fn divided(&mut self, of: RowsId, key: &str, negated: bool, kind: DivisionKind) -> RowsId {
        if !of.is_known() {
            return of;
        }
        let site = self.site(self.statement);
        let division = self.rows.division(of, kind, key, site);
        self.rows.part(of, division, u8::from(negated))
    }

    /// The items of a slice.
    fn slice(&mut self, base: &Value, slice: &'a ExprSlice) -> Value {
        if let Some(table) = self.table_of(base).cloned() {
            let sliced = self.sliced(&table, slice);
            return self.table(sliced);
        }
        let bounds = [&slice.lower, &slice.upper].map(|bound| bound.as_deref().map(|bound| self.eval(bound)));
        match (base, self.state.get(base)) {
            (Value::Number(_) | Value::Names(_), _) => base.clone(),
            (Value::Str(_), _) => Value::Unknown,
            (Value::Tuple(items), _) => part_of(items, &bounds).map_or(Value::Unknown, |items| Value::Tuple(items.into())),
            (_, Some(Object::List(list))) => {
                let list = list.clone();
                match part_of(&list.items, &bounds).filter(|_| !list.open) {
                    Some(items) => self.list(items),
                    None => self.open_list(list.items),
                }
            }
            _ => Value::Unknown,
        }
    }

    /// The rows of a slice.
    fn sliced(&mut self, table: &Table, slice: &'a ExprSlice) -> Table {
        let values = [&slice.lower, &slice.upper].map(|bound| bound.as_deref().map(|bound| self.eval(bound)));
        let range = |bound: &Option<Box<Expr>>| bound.as_deref().map(Ranged::range);
        let rows = match (&values[0], &values[1]) {
            (None, None) => table.rows,
            (None, Some(end)) => self.head(table.rows, end, range(&slice.upper)),
            (Some(start), None) => self.tail(table.rows, start, range(&slice.lower)),
            _ => {
                let site = self.site(slice.range());
                self.rows.some(table.rows, site)
            }
        };
        table.with_rows(rows)
    }

    /// The first rows.
    fn head(&mut self, of: RowsId, end: &Value, range: Option<TextRange>) -> RowsId {
        if let (Value::Length(length), Some(parts)) = (end, self.parts(of)) {
            return if parts.first() == Some(length) { *length } else { RowsId::UNKNOWN };
        }
        let key = self.position_key(end, range);
        self.divided(of, &key, false, DivisionKind::Position)
    }

    /// The last rows.
    fn tail(&mut self, of: RowsId, start: &Value, range: Option<TextRange>) -> RowsId {
        if let (Value::Length(length), Some(parts)) = (start, self.parts(of)) {
            return match &*parts {
                [first, second] if first == length => *second,
                _ => RowsId::UNKNOWN,
            };
        }
        let key = self.position_key(start, range);
        self.divided(of, &key, true, DivisionKind::Position)
    }

    fn parts(&self, rows: RowsId) -> Option<Rc<[RowsId]>> {
        match self.rows.origin(rows) {
            crate::rows::Origin::Joined { parts, .. } => Some(Rc::clone(parts)),
            _ => None,
        }
    }

    fn position_key(&self, bound: &Value, range: Option<TextRange>) -> String {
        match bound {
            Value::Int(position) => format!("at {position}"),
            _ => format!("at {}", range.map_or_else(String::new, |range| self.compact(range))),
        }
    }

    /// `[column for column in table.columns if column not in others]`.
    pub(crate) fn names_of_comprehension(&mut self, element: &'a Expr, generators: &'a [Comprehension]) -> Option<Value> {
        let [generator] = generators else { return None };
        let (Expr::Name(element), Expr::Name(target)) = (element, &generator.target) else { return None };
        if element.id != target.id {
            return None;
        }
        let iterable = self.eval(&generator.iter);
        let names = match &iterable {
            Value::Names(names) => (**names).clone(),
            // A table is iterated by its columns.
            _ => {
                let table = self.table_of(&iterable).filter(|table| table.whole)?;
                Names { except: table.dropped.clone(), sure: true, lessons: Lessons::default() }
            }
        };
        let mut left = names;
        for test in &generator.ifs {
            match self.excepted(test, target.id.as_str()) {
                Some(names) => left.except.extend(names),
                None => left.sure = false,
            }
        }
        Some(Value::Names(Rc::new(left)))
    }

    /// The names that a condition of a comprehension leaves out.
    fn excepted(&mut self, test: &'a Expr, name: &str) -> Option<Vec<Rc<str>>> {
        match test {
            Expr::BoolOp(operation) if operation.op == ruff_python_ast::BoolOp::And => {
                let parts: Option<Vec<_>> = operation.values.iter().map(|value| self.excepted(value, name)).collect();
                Some(parts?.concat())
            }
            Expr::Compare(compare) if compare.ops.len() == 1 => {
                let is_name = compare.left.as_name_expr().is_some_and(|left| left.id.as_str() == name);
                let right = self.eval(&compare.comparators[0]);
                match compare.ops[0] {
                    CmpOp::NotEq if is_name => Some(vec![right.constant()?]),
                    CmpOp::NotIn if is_name => self.texts(&right),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Texts of a list or tuple of constants.
    pub(crate) fn texts(&self, value: &Value) -> Option<Vec<Rc<str>>> {
        let items = match (value, self.state.get(value)) {
            (Value::Tuple(items), _) => &**items,
            (_, Some(Object::List(List { items, open: false, .. }))) => items,
            _ => return None,
        };
        items.iter().map(Value::constant).collect()
    }

    /// What a value depends on.
    pub(crate) fn lessons_of(&self, value: &Value) -> Lessons {
        self.lessons_within(value, 4)
    }

    fn lessons_within(&self, value: &Value, depth: usize) -> Lessons {
        if depth == 0 {
            return Lessons::default();
        }
        let all = |items: &mut dyn Iterator<Item = &Value>| {
            items.take(64).fold(Lessons::default(), |all, item| all.and(&self.lessons_within(item, depth - 1)))
        };
        match (value, self.state.get(value)) {
            (Value::Number(number), _) => number.lessons.clone(),
            (Value::Names(names), _) => names.lessons.clone(),
            (Value::Tuple(items), _) => all(&mut items.iter()),
            (Value::Text(text), _) => all(&mut text.values.iter()),
            (_, Some(Object::Table(table))) => table.lessons(),
            (_, Some(Object::List(list))) => all(&mut list.items.iter()),
            (_, Some(Object::Dict(dict))) => {
                all(&mut dict.items.iter().map(|(_, value)| value).chain(&dict.others))
            }
            _ => Lessons::default(),
        }
    }

    /// Sets an attribute.
    pub(crate) fn set_attribute(&mut self, base: &Value, name: &str, value: Value) {
        let Value::Object(number) = base else { return };
        let lessons = self.lessons_of(&value);
        let names = self.texts(&value);
        let column = self.column_of(&value);
        match self.state.change(*number) {
            Some(Object::Instance(instance)) => {
                match instance.attributes.iter_mut().find(|(known, _)| &**known == name) {
                    Some((_, known)) => *known = value,
                    None => instance.attributes.push((name.into(), value)),
                }
            }
            Some(Object::Table(table)) if name == "columns" => {
                // The names change; what is in the columns does not.
                let all = table.lessons();
                let names = names.unwrap_or_default();
                *table = Table { rows: table.rows, ..Table::default() };
                let column = Column { lessons: all.clone(), target: false };
                names.into_iter().for_each(|name| table.set(name, column.clone()));
                table.rest.lessons = all;
            }
            Some(Object::Table(table)) if name != "index" => table.set(name.into(), column),
            Some(Object::Estimator(estimator)) => estimator.lessons = estimator.lessons.and(&lessons),
            _ => {}
        }
    }

    /// The column that a value makes when it is put into a table.
    pub(crate) fn column_of(&self, value: &Value) -> Column {
        let target = self.table_of(value).is_some_and(Table::is_target);
        Column { lessons: self.lessons_of(value), target }
    }

    /// `base[index] = value`.
    pub(crate) fn set_item(&mut self, subscript: &'a ExprSubscript, value: Value) {
        let base = self.eval(&subscript.value);
        let (base, located) = match &base {
            Value::Method(method) => (method.0.clone(), true),
            _ => (base.clone(), false),
        };
        let Value::Object(number) = base else { return };
        match self.state.object(number) {
            Some(Object::Table(_)) => self.set_in_table(number, &subscript.slice, located, &value),
            Some(Object::Dict(_)) => {
                let key = self.eval(&subscript.slice).constant();
                let Some(Object::Dict(dict)) = self.state.change(number) else { return };
                match key {
                    Some(key) => dict.set(key, value),
                    None => dict.others.push(value),
                }
            }
            Some(Object::List(_)) => {
                let position = self.eval(&subscript.slice);
                let Some(Object::List(list)) = self.state.change(number) else { return };
                match position {
                    Value::Int(position) if !list.open => {
                        if let Some(item) = usize::try_from(position).ok().and_then(|at| list.items.get_mut(at)) {
                            *item = value;
                        }
                    }
                    _ => {
                        list.open = true;
                        list.items.push(value);
                    }
                }
            }
            _ => {}
        }
    }

    fn set_in_table(&mut self, number: usize, index: &'a Expr, located: bool, value: &Value) {
        let column = self.column_of(value);
        let is_time = self.table_of(value).is_some_and(|table| !table.times.is_empty());
        let (partly, name) = match index {
            Expr::Tuple(tuple) => match tuple.elts.as_slice() {
                [rows, column] => (!whole(rows), if column.is_slice_expr() { Value::None } else { self.eval(column) }),
                _ => (true, Value::None),
            },
            Expr::Slice(_) => (true, Value::None),
            _ if located => (true, Value::None),
            _ => (false, self.eval(index)),
        };
        let by_rows = partly || self.chooses_rows(&name);
        let names = self.texts(&name);
        let Some(Object::Table(table)) = self.state.change(number) else { return };
        let names = match (name.constant().filter(|_| !name.is_constant_number()), names) {
            _ if matches!(name, Value::None) => Vec::new(),
            (Some(name), _) => vec![name],
            (None, Some(names)) => names,
            _ if by_rows => Vec::new(),
            _ if table.columns.is_empty() && !table.whole => Vec::new(),
            _ => {
                table.unnamed = table.unnamed.and(&column.lessons);
                return;
            }
        };
        if names.is_empty() {
            table.rest.lessons = table.rest.lessons.and(&column.lessons);
            table.rest.target &= column.target;
        }
        for name in names {
            let before = by_rows.then(|| table.named(&name)).flatten();
            let after = before.map_or_else(|| column.clone(), |before| before.join(&column));
            if is_time {
                table.times.push(Rc::clone(&name));
            }
            table.set(name, after);
        }
    }

    fn chooses_rows(&self, index: &Value) -> bool {
        matches!(index, Value::Positions { .. })
            || self.table_of(index).is_some_and(|table| table.condition.is_some() || table.index)
    }

    /// `del base[index]`.
    pub(crate) fn delete(&mut self, target: &'a Expr) {
        let Expr::Subscript(subscript) = target else { return };
        let base = self.eval(&subscript.value);
        let name = self.eval(&subscript.slice).constant();
        if let (Value::Object(number), Some(name)) = (base, name)
            && let Some(Object::Table(table)) = self.state.change(number)
        {
            table.remove(&name);
        }
    }
}

fn at(items: &[Value], position: i64) -> Value {
    let position = if position < 0 { position + i64::try_from(items.len()).unwrap_or_default() } else { position };
    usize::try_from(position).ok().and_then(|position| items.get(position)).cloned().unwrap_or_default()
}

fn part_of(items: &[Value], bounds: &[Option<Value>; 2]) -> Option<Vec<Value>> {
    let length = i64::try_from(items.len()).ok()?;
    let bound = |value: &Option<Value>, default: i64| match value {
        None => Some(default),
        Some(Value::Int(at)) => Some(if *at < 0 { at + length } else { *at }.clamp(0, length)),
        Some(_) => None,
    };
    let (start, end) = (bound(&bounds[0], 0)?, bound(&bounds[1], length)?);
    items.get(usize::try_from(start).ok()?..usize::try_from(end.max(start)).ok()?).map(<[Value]>::to_vec)
}

/// Whether `:` stands for all rows.
fn whole(rows: &Expr) -> bool {
    rows.as_slice_expr().is_some_and(|slice| slice.lower.is_none() && slice.upper.is_none())
}

impl Dict {
    /// All values.
    pub(crate) fn values(&self) -> Vec<Value> {
        self.items.iter().map(|(_, value)| value).chain(&self.others).cloned().collect()
    }
}

//! Attributes of values, columns of tables, and names of columns that a comprehension chooses.

use std::rc::Rc;

use ruff_python_ast::{BoolOp, CmpOp, Comprehension, Expr};

use crate::calls::Arguments;
use crate::effects::{self, Attribute, Effect, Receiver};
use crate::info::{Dependencies, How, Kind};
use crate::machine::Machine;
use crate::table::{Column, Table};
use crate::value::{Bound, Dict, Estimator, Fitted, List, Names, Number, Object, Role, Value};

impl<'a> Machine<'a> {
    /// A new table as a value.
    pub(crate) fn table(&mut self, table: Table) -> Value {
        // Large tables take more than a step.
        self.limits.steps =
            self.limits.steps.saturating_sub((table.columns.len() + table.rest.deps.len()) / 4);
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
            Value::Symbol(symbol) => {
                let constant = Some(Effect::Attribute(Attribute::Constant));
                return if !symbol.contains('.') && effects::of(effects::libraries(symbol), name) == constant {
                    Value::Float(f64::INFINITY)
                } else {
                    Value::Symbol(format!("{symbol}.{name}").into())
                };
            }
            Value::Number(number) => {
                return match effects::attribute(Receiver::Number, name) {
                    Some(Attribute::Itself) => base.clone(),
                    Some(Attribute::Unknown) => Value::Unknown,
                    Some(Attribute::Found) if number.row.is_none() => Value::learnt(number.deps.clone()),
                    _ => self.value_of_row(number, name),
                };
            }
            Value::Str(_) | Value::Text(_) => {
                return match effects::attribute(Receiver::Text, name) {
                    Some(Attribute::Folder) => self.some_text(""),
                    Some(Attribute::Itself) => base.clone(),
                    _ => Value::Unknown,
                };
            }
            Value::Names(_) => return base.clone(),
            // The codes of categories.
            Value::Bound(bound) if bound.1 == Bound::Categories => {
                let values = self.table_of(&bound.0).map(Table::values);
                return values.map_or(Value::Unknown, |values| self.table(values));
            }
            Value::Class(class) => return self.class_attribute(*class, name).unwrap_or_default(),
            _ => {}
        }
        match self.state.handle(base).as_deref() {
            Some(Object::Table(table)) => self.table_attribute(base, table, name),
            Some(Object::Estimator(estimator)) => match effects::attribute(Receiver::Estimator, name) {
                Some(attribute) => self.estimator_attribute(base, estimator, attribute),
                None => Value::Unknown,
            },
            Some(Object::Instance(instance)) => {
                if let Some((_, value)) = instance.attributes.iter().find(|(known, _)| &**known == name) {
                    return value.clone();
                }
                match self.class_attribute(instance.class, name) {
                    Some(Value::Function(number, scope)) if self.functions[number].property => {
                        self.call_bound(&Value::Function(number, scope), base, &Arguments::default())
                    }
                    Some(Value::Function(..)) => Value::method(base.clone(), name),
                    Some(value) => value,
                    None => Value::Unknown,
                }
            }
            Some(Object::Group(group)) => self.choose_columns(group, &Value::text(name)),
            // Tuples with names.
            Some(Object::Dict(dict)) if dict.get(name).is_some() => {
                dict.get(name).cloned().unwrap_or_default()
            }
            Some(Object::Dict(_) | Object::List(_)) => Value::method(base.clone(), name),
            Some(Object::Study(number)) => self.study_attribute(base, number, name),
            _ => Value::Unknown,
        }
    }

    /// An attribute of a study of a library of searches.
    fn study_attribute(&mut self, base: &Value, number: &Number, name: &str) -> Value {
        match effects::attribute(Receiver::Study, name) {
            Some(Attribute::BestScore) => Value::Number(Rc::new(number.clone())),
            Some(Attribute::BestSettings) => {
                // A model with these settings, scored again, is one of several models.
                let deps = number.deps.clone();
                let deps = self.infos.map_kinds(&deps, |kind| match kind {
                    Kind::Choice(How::Trials) => Some(Kind::Choice(How::Setting)),
                    _ => Some(kind),
                });
                Value::learnt(deps)
            }
            _ => base.clone(),
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
        let Some(attribute) = effects::attribute(Receiver::Table, name) else {
            let column = self.select(table, &name.into());
            return self.table(column);
        };
        let bound = |bound| Value::of(base.clone(), bound);
        match attribute {
            Attribute::Values => self.table(table.values()),
            Attribute::Shape => Value::Tuple([Value::Length(table.rows), Value::Unknown].into()),
            Attribute::Length => Value::Length(table.rows),
            Attribute::Transposed if table.columns.is_empty() && !table.whole => bound(Bound::Transposed),
            Attribute::Names => Value::Names(Rc::new(names_of(table))),
            Attribute::Index => {
                let mut index = Table::positions(table.rows);
                if !table.rows.is_known() {
                    // Names of features, perhaps in the order of their importance.
                    index.rest.deps = self.order_of(table);
                }
                self.table(index)
            }
            Attribute::Places => bound(Bound::Places),
            Attribute::Texts => bound(Bound::Texts),
            Attribute::Times => bound(Bound::Times),
            Attribute::Categories => bound(Bound::Categories),
            _ => Value::Unknown,
        }
    }

    /// What something that is fitted tells.
    pub(crate) fn estimator_attribute(
        &mut self,
        base: &Value,
        estimator: &Estimator,
        attribute: Attribute,
    ) -> Value {
        let Some(fitted) = &estimator.fitted else { return Value::Unknown };
        match attribute {
            Attribute::Itself => base.clone(),
            Attribute::BestScore if estimator.role == Role::Search => {
                let score = self.search_score(estimator, fitted);
                Value::number(estimator.deps.clone(), score)
            }
            Attribute::BestScore if !fitted.watched.is_empty() => Value::score(fitted.watched.clone()),
            Attribute::History => Value::of(base.clone(), Bound::History),
            Attribute::Results => self.results(fitted),
            Attribute::Importances => {
                // A transformer ignores the target.
                let with_target = fitted.with_target && estimator.role != Role::Transformer;
                self.importances(&Fitted { with_target, ..fitted.clone() })
            }
            _ => Value::Unknown,
        }
    }

    /// A column of a table.
    pub(crate) fn select(&mut self, table: &Table, name: &Rc<str>) -> Table {
        self.note_column(table, name);
        let mut column = table.select(name);
        column.rest.target |= self.targets.contains(name);
        if column.rest.target {
            column.rest.deps = self.without_answers(&column.rest.deps);
        }
        column
    }

    /// Some columns of a table.
    pub(crate) fn select_all(&mut self, table: &Table, names: &[Rc<str>]) -> Table {
        names.iter().for_each(|name| self.note_column(table, name));
        let mut selected = table.select_all(names);
        for (name, column) in &mut selected.columns {
            column.target |= self.targets.contains(name);
        }
        selected
    }

    /// The columns of a table with the names of all columns of this or another table, but some.
    pub(crate) fn columns_named(&mut self, table: &Table, names: &Names) -> Table {
        let root = |machine: &Self, rows| machine.rows.ancestors(rows).last();
        let same = root(self, names.of).is_some_and(|of| root(self, table.rows) == Some(of));
        let mut selected = if same { table.clone() } else { self.unsure(table) };
        selected.columns.retain(|(name, column)| names.known.contains(name) || !column.target);
        let later = selected.columns.iter().filter(|(name, _)| !names.known.contains(name));
        let later: Vec<Rc<str>> = later.map(|(name, _)| Rc::clone(name)).collect();
        for name in later {
            let deps = selected.column(&name).deps;
            let deps = self.without_answers(&deps);
            selected.set(name, Column::learnt(deps));
        }
        names.except.iter().for_each(|name| selected.remove(name));
        selected
    }

    /// `[column for column in table.columns if column not in others]`.
    pub(crate) fn names_of_comprehension(
        &mut self,
        element: &'a Expr,
        generators: &'a [Comprehension],
    ) -> Option<Value> {
        let [generator] = generators else { return None };
        let (Expr::Name(element), Expr::Name(target)) = (element, &generator.target) else { return None };
        if element.id != target.id {
            return None;
        }
        let iterable = self.eval(&generator.iter);
        let names = match &iterable {
            Value::Names(names) => (**names).clone(),
            // A table is iterated by its columns.
            _ => names_of(self.table_of(&iterable).filter(|table| !table.is_nameless())?),
        };
        let mut left = names;
        for test in generator.ifs.iter().flat_map(all_of) {
            match self.excepted(test, target.id.as_str()) {
                Some(names) => left.except.extend(names),
                None => {
                    let choice = self.chosen_among(&left, &generator.target, test);
                    left.deps.add(&choice);
                    left.sure = false;
                }
            }
        }
        Some(Value::Names(Rc::new(left)))
    }

    /// What a condition of a comprehension depends on that chooses among all of these names.
    fn chosen_among(&mut self, names: &Names, target: &'a Expr, test: &'a Expr) -> Dependencies {
        self.in_scope(|machine| {
            machine.assign(target, Value::Names(Rc::new(Names { each: true, ..names.clone() })));
            let value = machine.eval(test);
            machine.about_features(&value)
        })
    }

    /// The names that a condition of a comprehension leaves out.
    fn excepted(&mut self, test: &'a Expr, name: &str) -> Option<Vec<Rc<str>>> {
        match test {
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
            (Value::Names(names), _) if names.sure && !names.only.is_empty() => {
                return Some(
                    names.only.iter().filter(|name| !names.except.contains(name)).cloned().collect(),
                );
            }
            (_, Some(Object::List(List { items, open: false, .. }))) => items,
            _ => return None,
        };
        items.iter().map(Value::constant).collect()
    }

    /// What a value depends on.
    pub(crate) fn deps_of(&self, value: &Value) -> Dependencies {
        self.deps_within(value, 4)
    }

    fn deps_within(&self, value: &Value, depth: usize) -> Dependencies {
        match (value, self.state.get(value)) {
            _ if depth == 0 => Dependencies::default(),
            (Value::Number(number), _) => number.deps.clone(),
            (Value::Names(names), _) => names.deps.clone(),
            (_, Some(Object::Table(table))) => table.deps(),
            _ => self.items_in(value).map(|item| self.deps_within(item, depth - 1)).collect(),
        }
    }

    /// The items of a list, tuple or dictionary, or the values in a text.
    pub(crate) fn items_in<'v>(&'v self, value: &'v Value) -> impl Iterator<Item = &'v Value> {
        let (items, pairs): (&[Value], &[_]) = match (value, self.state.get(value)) {
            (Value::Tuple(items), _) => (items, &[]),
            (Value::Text(text), _) => (&text.values, &[]),
            (_, Some(Object::List(list))) => (&list.items, &[]),
            (_, Some(Object::Dict(dict))) => (&dict.others, &dict.items),
            _ => (&[], &[]),
        };
        pairs.iter().map(|(_, value)| value).chain(items).take(64)
    }

    /// The column that a value makes when it is put into a table.
    pub(crate) fn column_of(&self, value: &Value) -> Column {
        let target = match value {
            Value::Number(number) => number.row.as_ref().is_some_and(|row| row.target),
            _ => self.table_of(value).is_some_and(Table::is_target),
        };
        let table = self.table_of(value);
        let answer = table.filter(|_| target).map(|table| table.rest.answer.clone()).unwrap_or_default();
        let compared = table.and_then(|table| table.mask.compared);
        Column { deps: self.deps_of(value), target, answer, compared, ..Column::default() }
    }
}

/// The conditions that a condition joins by `and`.
fn all_of(test: &Expr) -> Vec<&Expr> {
    match test {
        Expr::BoolOp(operation) if operation.op == BoolOp::And => {
            operation.values.iter().flat_map(all_of).collect()
        }
        _ => vec![test],
    }
}

/// The names of the columns of a table.
pub(crate) fn names_of(table: &Table) -> Names {
    let open = table.whole || table.framed;
    let only =
        if open { Vec::new() } else { table.columns.iter().map(|(name, _)| Rc::clone(name)).collect() };
    let sure = open || !only.is_empty();
    let known = table.columns.iter().map(|(name, _)| Rc::clone(name)).collect();
    Names { except: table.dropped.clone(), only, sure, of: table.rows, known, ..Names::default() }
}

impl Names {
    /// The columns of which something particular is known that certainly are among the names.
    pub(crate) fn certain(&self) -> Vec<Rc<str>> {
        let known = self.known.iter().filter(|_| self.sure);
        known.filter(|name| !self.except.contains(name)).cloned().collect()
    }
}

impl Dict {
    /// All values.
    pub(crate) fn values(&self) -> Vec<Value> {
        self.items.iter().map(|(_, value)| value).chain(&self.others).cloned().collect()
    }
}

//! Effects of order: rows that are sorted, shifted, in windows or in groups; methods of groups.

use std::rc::Rc;

use ruff_python_ast::helpers::{any_over_body, any_over_expr};
use ruff_python_ast::{Expr, ExprCall};

use crate::calls::Arguments;
use crate::effects::{self, Effect, Order, Receiver, Rows, Split, Statistic, Values};
use crate::facts;
use crate::info::{Dependencies, Kind};
use crate::machine::{Body, Machine};
use crate::rows::RowsId;
use crate::table::{Column, Group, Table};
use crate::value::{Object, Value};

impl Machine<'_> {
    /// Methods of groups.
    pub(crate) fn call_group(&mut self, group: &Group, name: &str, arguments: &Arguments) -> Value {
        let effect = effects::of(&[Receiver::Group], name);
        match effect {
            Some(Effect::Same) => return self.state.add(Object::Group(group.clone())),
            Some(Effect::Unknown) => return Value::Unknown,
            Some(Effect::Order(order)) => return self.put_groups_in_order(order, group, arguments),
            None if group.table.polars => return self.aggregated_by(group, arguments),
            _ => {}
        }
        let named = arguments.first().and_then(Value::as_str);
        let named = named.and_then(|name| effects::of(&[Receiver::Group], name));
        let counts = effect == Some(Effect::Statistic(Statistic::Counts))
            || matches!(named, Some(Effect::Statistic(_) | Effect::Order(_)));
        let mapped = effect == Some(Effect::Values(Values::Mapped));
        let rows = if group.ordered || mapped { group.table.rows } else { RowsId::UNKNOWN };
        let calls = |is: fn(Effect, &ExprCall) -> bool| self.calls_within(arguments.first(), is);
        let lags = calls(|effect, call| {
            effect == Effect::Order(Order::Lagged) || call.arguments.find_keyword("closed").is_some()
        });
        let rolls = calls(|effect, _| effect == Effect::Order(Order::Window { itself: true }));
        if group.window && !counts || rolls && !lags && !counts {
            return self.windowed(&group.table, rows, arguments);
        }
        if group.ordered || counts || rolls || lags {
            let deps = self.counted_by_target(&group.table, arguments.range);
            return self.array(rows, deps);
        }
        let draws = |effect, _: &ExprCall| {
            let of_time = Effect::Order(Order::Window { itself: false });
            matches!(effect, Effect::Rows(Rows::Sampled) | Effect::Split(Split::Drawn)) || effect == of_time
        };
        if mapped && calls(draws) {
            return Value::Unknown;
        }
        self.aggregated(group, rows, arguments)
    }

    /// Takes the rows of each group in order.
    fn put_groups_in_order(&mut self, order: Order, group: &Group, arguments: &Arguments) -> Value {
        let values = group.table.values();
        let deps = match order {
            Order::Window { .. } => {
                let window = !excludes_itself(arguments);
                return self.state.add(Object::Group(Group { ordered: true, window, ..group.clone() }));
            }
            Order::Cumulated => return self.windowed(&group.table, group.table.rows, arguments),
            // The rank of a row tells its own value.
            Order::Ranked => values.rest.deps.and(&self.as_answer(&values, arguments.range)),
            Order::Differences => self.differences(&values, arguments),
            Order::Lagged | Order::Sorted | Order::Grouped => self.lagged(&values.rest.deps),
        };
        let made = Table::array(group.table.rows, deps);
        let made = self.of_other_rows(&made, group.table.label.clone(), arguments);
        self.table(made)
    }

    /// Puts the rows of a table in order, or takes them in their order or in groups.
    pub(crate) fn put_in_order(&mut self, order: Order, table: &Table, arguments: &Arguments) -> Value {
        match order {
            Order::Sorted => self.sorted(table, arguments),
            Order::Grouped => self.grouped(table, arguments),
            Order::Cumulated if table.columns.is_empty() => {
                let made = self.windowed(table, table.rows, arguments);
                match (self.table_of(&made).cloned(), table.polars) {
                    (Some(made), true) => {
                        self.table(Table { label: table.label.clone(), polars: true, ..made })
                    }
                    _ => made,
                }
            }
            Order::Window { itself } => {
                let window = itself && !excludes_itself(arguments);
                let mut table = self.of_neighbours(table, arguments.range);
                if arguments.is_true("center") && !table.is_target() {
                    table = self.of_other_rows(&table, table.label.clone(), arguments);
                }
                let group = Group { table, chosen: true, ordered: true, window, ..Group::default() };
                self.state.add(Object::Group(group))
            }
            Order::Lagged | Order::Differences | Order::Cumulated | Order::Ranked => {
                self.of_rows_before(order, table, arguments)
            }
        }
    }

    /// Values that are those of other rows, or differences to them.
    fn of_rows_before(&mut self, order: Order, table: &Table, arguments: &Arguments) -> Value {
        let mut lagged = table.values();
        (lagged.rest.target, lagged.rest.answer) = (false, Dependencies::default());
        lagged.rest.deps = match order {
            Order::Differences if table.columns.is_empty() => self.differences(table, arguments),
            _ => self.lagged(&lagged.rest.deps),
        };
        if order == Order::Lagged && !table.rows.is_known() {
            // Statistics of groups are those of the group before.
            lagged.rest.deps = self.infos.without(&lagged.rest.deps, Kind::Target);
        }
        // Later values of a column are no values of the column.
        (lagged.label, lagged.source) = (None, None);
        lagged = self.of_other_rows(&lagged, table.label.clone(), arguments);
        lagged = self.of_neighbours(&lagged, arguments.range);
        lagged.mask.compared = None;
        self.table(lagged)
    }

    fn sorted(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let by = arguments.value(0, "by");
        let by = by.constant().or_else(|| self.texts(&by)?.first().cloned());
        let by_target = by.as_ref().and_then(|name| self.targets.number(name));
        let is_time = |name: &Rc<str>| table.order.times.contains(name) || self.is_time(name);
        let sorted = by.filter(is_time);
        let deps = self.order_of(table);
        let mut same = self.ordered_by(table, &deps);
        (same.order.sorted, same.order.by_target) = (sorted, by_target);
        self.table(same)
    }

    /// Whether the facts say that a column is the time.
    fn is_time(&self, name: &str) -> bool {
        matches!(&self.facts.split, Some(facts::Split::Time(Some(column))) if column == name)
    }

    /// `table.groupby(...)`.
    fn grouped(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let by = arguments.value(0, "by");
        let by_target = by.constant().is_some_and(|name| self.targets.contains(&name))
            || self.table_of(&by).is_some_and(Table::is_target);
        let chosen = table.columns.is_empty() && (table.label.is_some() || !table.whole);
        self.state.add(Object::Group(Group { table: table.clone(), chosen, by_target, ..Group::default() }))
    }

    /// Whether a function of the script calls a method or function with such an effect.
    fn calls_within(&self, function: Option<&Value>, is: fn(Effect, &ExprCall) -> bool) -> bool {
        let Some(Value::Function(function, _)) = function else { return false };
        let within = |expression: &Expr| {
            let Expr::Call(call) = expression else { return false };
            let name = match &*call.func {
                Expr::Attribute(method) => &method.attr.id,
                Expr::Name(function) => &function.id,
                _ => return false,
            };
            let effect = effects::of(&[Receiver::Table, Receiver::Library("sklearn")], name);
            effect.is_some_and(|effect| is(effect, call))
        };
        match self.functions[*function].body {
            Body::Statements(body) => any_over_body(body, within),
            Body::Expression(body) => any_over_expr(body, within),
        }
    }

    /// Statistics of the target of rows before each row, and of the row itself.
    fn windowed(&mut self, table: &Table, rows: RowsId, arguments: &Arguments) -> Value {
        let values = table.values().rest.deps;
        let mut deps = self.without_answers(&values);
        if table.is_target() || self.has_answer(&values) {
            deps = deps.and(&self.learn(Kind::Window, arguments.range, table.rows));
        }
        self.array(rows, deps)
    }

    /// What the differences of values to those of other rows depend on, which tell the value of their own row.
    fn differences(&mut self, values: &Table, arguments: &Arguments) -> Dependencies {
        let answer = self.as_answer(values, arguments.range);
        self.infos.without(&values.rest.deps, Kind::Window).and(&answer)
    }

    /// What values of rows before depend on.
    pub(crate) fn lagged(&mut self, deps: &Dependencies) -> Dependencies {
        let deps = self.infos.without(deps, Kind::Window);
        self.without_answers(&deps)
    }

    fn aggregated(&mut self, group: &Group, rows: RowsId, arguments: &Arguments) -> Value {
        let deps = self.learn(Kind::Target, arguments.range, group.table.rows);
        let table = &group.table;
        if group.chosen {
            let of_target = table.is_target()
                || table.columns.iter().any(|(_, column)| column.target)
                || self.has_answer(&table.deps());
            let deps = if of_target { deps } else { Dependencies::default() };
            let own = self.without_answers(&table.deps());
            let mut made = Table::array(rows, own.and(&deps));
            if let Some(label) = &table.label {
                made.set(Rc::clone(label), Column::learnt(deps));
            }
            return self.table(made);
        }
        // All columns, or those that the arguments name: `agg({"price": "mean"})`, `agg(level=("price", "mean"))`.
        let mut made = Table::of(rows);
        let target = |machine: &Self, name: &str| machine.targets.contains(name);
        for (name, value) in &arguments.named {
            let of = self.contents(value).and_then(|items| items.first()?.constant());
            if of.is_some_and(|of| target(self, &of)) {
                made.set(Rc::clone(name), Column::learnt(deps.clone()));
            }
        }
        let named = match arguments.first().and_then(|value| self.state.get(value)) {
            Some(Object::Dict(dict)) => dict.items.iter().map(|(name, _)| Rc::clone(name)).collect(),
            _ if arguments.named.is_empty() => self.targets.iter().map(|name| name.as_str().into()).collect(),
            _ => Vec::new(),
        };
        for name in named.into_iter().filter(|name| target(self, name)) {
            if table.has(&name) {
                made.set(name, Column::learnt(deps.clone()));
            }
        }
        self.table(made)
    }
}

/// Whether the statistics of a row leave out the row itself: `rolling(7, closed="left")`.
fn excludes_itself(arguments: &Arguments) -> bool {
    matches!(arguments.named("closed"), Some(Value::Str(closed)) if matches!(&**closed, "left" | "neither"))
}

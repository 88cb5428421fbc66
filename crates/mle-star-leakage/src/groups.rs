//! Methods of groups of rows, and of windows over rows in order.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::info::{Dependencies, Kind};
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::table::{Column, Group, Table};
use crate::value::{Object, Value};

impl Machine<'_> {
    /// Methods of groups.
    pub(crate) fn call_group(&mut self, group: &Group, name: &str, arguments: &Arguments) -> Value {
        match name {
            "agg" if group.table.polars => return self.aggregated_by(group, arguments),
            "rolling" | "expanding" | "ewm" | "shift" | "cumsum" | "cumcount" | "diff" | "pct_change"
            | "ffill" | "bfill" | "rank" | "cummax" | "cummin" | "ngroup" => {
                if matches!(name, "cumsum" | "cummax" | "cummin") {
                    return self.windowed(group, group.table.rows, arguments);
                }
                return if matches!(name, "rolling" | "expanding" | "ewm") {
                    let window = !excludes_itself(arguments);
                    self.state.add(Object::Group(Group { ordered: true, window, ..group.clone() }))
                } else {
                    let values = group.table.values();
                    let deps = match name {
                        // The rank of a row tells its own value.
                        "rank" => values.rest.deps.and(&self.as_answer(&values, arguments.range)),
                        "diff" | "pct_change" => self.differences(&values, arguments),
                        _ => self.lagged(&values.rest.deps),
                    };
                    let made = Table::array(group.table.rows, deps);
                    let made = self.of_other_rows(&made, group.table.label.clone(), arguments);
                    self.table(made)
                };
            }
            "groups" | "indices" | "get_group" | "__iter__" | "head" | "tail" | "sample" => {
                return Value::Unknown;
            }
            "reset_index" => return self.state.add(Object::Group(group.clone())),
            _ => {}
        }
        if let Some(score) = self.scored_by_group(group, name, arguments) {
            return score;
        }
        let counts = matches!(name, "size" | "count" | "nunique" | "len")
            || matches!(arguments.first(), Some(Value::Str(name)) if matches!(&**name, "count" | "size" | "nunique" | "cumcount" | "shift" | "cumsum"));
        let keeps_rows = group.ordered || matches!(name, "transform" | "apply");
        let rows = if keeps_rows { group.table.rows } else { RowsId::UNKNOWN };
        let windowed = self.words_of_function(arguments);
        let lags = ["shift(", "closed"].iter().any(|word| windowed.contains(word));
        let rolls = ["expanding(", "rolling(", "ewm("].iter().any(|word| windowed.contains(word));
        if group.window && !counts || rolls && !lags && !counts {
            return self.windowed(group, rows, arguments);
        }
        if group.ordered || counts || rolls || lags {
            let deps = self.counted_by_target(&group.table, arguments.range);
            return self.array(rows, deps);
        }
        if name == "apply" && ["sample(", "resample("].iter().any(|word| windowed.contains(word)) {
            return self.sampled_groups(group, arguments);
        }
        self.aggregated(group, rows, arguments)
    }

    /// The score of the rows of each group, if a function computes one.
    fn scored_by_group(&mut self, group: &Group, name: &str, arguments: &Arguments) -> Option<Value> {
        let function = arguments.first().filter(|function| matches!(function, Value::Function(..)))?.clone();
        if name != "apply" || !self.infos.has_model(&group.table.deps()) {
            return None;
        }
        let part = self.table(group.table.clone());
        let value = self.call_with(&function, &[part], arguments.range);
        (!self.scores_of(&value, 2).is_empty()).then_some(value)
    }

    /// The source of a function that is applied to groups.
    fn words_of_function(&self, arguments: &Arguments) -> String {
        let Some(Value::Function(function, _)) = arguments.first() else { return String::new() };
        format!("{} {}", self.text(arguments.range), self.body_text(*function).unwrap_or_default())
    }

    /// Statistics of the target of rows before each row, and of the row itself.
    pub(crate) fn windowed(&mut self, group: &Group, rows: RowsId, arguments: &Arguments) -> Value {
        let values = group.table.values().rest.deps;
        let mut deps = self.without_answers(&values);
        if group.table.is_target() || self.has_answer(&values) {
            deps = deps.and(&self.learn(Kind::Window, arguments.range, group.table.rows));
        }
        self.array(rows, deps)
    }

    /// What the differences of values to those of other rows depend on, which tell the value of their own row.
    pub(crate) fn differences(&mut self, values: &Table, arguments: &Arguments) -> Dependencies {
        let answer = self.as_answer(values, arguments.range);
        self.infos.without(&values.rest.deps, Kind::Window).and(&answer)
    }

    /// What values of rows before depend on.
    pub(crate) fn lagged(&mut self, deps: &Dependencies) -> Dependencies {
        let deps = self.infos.without(deps, Kind::Window);
        self.without_answers(&deps)
    }

    /// Rows that are drawn from each group.
    fn sampled_groups(&mut self, group: &Group, arguments: &Arguments) -> Value {
        let function = arguments.first_value();
        let part = self.rows.some(group.table.rows, self.site(arguments.range));
        let part = self.table(group.table.with_rows(part));
        let drawn = self.call_with(&function, &[part], arguments.range);
        let Some(drawn) = self.table_of(&drawn).map(|table| table.rows) else { return Value::Unknown };
        let site = self.site(arguments.range);
        let rows = match self.rows.repetition(drawn) {
            Some(_) => self.rows.repeated(group.table.rows, site),
            None => self.rows.some(group.table.rows, site),
        };
        let drawn = group.table.with_rows(rows);
        self.table(drawn)
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
            let mut deps = deps;
            if let Some(number) = group.target.filter(|_| rows.is_known()) {
                deps.add(&self.learn(Kind::Answer(number), arguments.range, rows));
            }
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
            let present = table.has(&name);
            if present {
                made.set(name, Column::learnt(deps.clone()));
            }
        }
        self.table(made)
    }
}

/// Whether the statistics of a row leave out the row itself: `rolling(7, closed="left")`.
pub(crate) fn excludes_itself(arguments: &Arguments) -> bool {
    matches!(arguments.named("closed"), Some(Value::Str(closed)) if matches!(&**closed, "left" | "neither"))
}

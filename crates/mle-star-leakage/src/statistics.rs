//! Statistics: what is computed from the values of many rows.

use std::rc::Rc;

use ruff_text_size::TextRange;

use crate::calls::Arguments;
use crate::effects::Statistic;
use crate::info::{Dependencies, Dependency, Kind};
use crate::machine::Machine;
use crate::rows::{DivisionKind, Origin, RowsId};
use crate::site::Site;
use crate::table::Table;
use crate::value::{Bound, Number, Object, Value};

impl Machine<'_> {
    /// What a value depends on that is computed from all rows of these tables: the target may be in them.
    pub(crate) fn statistic(&mut self, tables: &[Table], kind: Kind, range: TextRange) -> Dependencies {
        let of_target = tables.iter().find(|table| self.is_of_target(table)).map(|table| table.rows);
        let known: Dependencies = tables.iter().map(|table| table.values().rest.deps).collect();
        let known = self.without_answers(&known);
        // What models predicted is summed up: it is no prediction any more.
        let known = self.infos.without(&known, Kind::Model);
        match of_target {
            Some(rows) if rows.is_known() => known.and(&self.learn(kind, range, rows)),
            _ => known,
        }
    }

    /// Whether values are the target, or were computed from the target of their rows.
    pub(crate) fn is_of_target(&self, table: &Table) -> bool {
        let values = table.values();
        values.is_target() || self.has_answer(&values.rest.deps)
    }

    /// The tables among the arguments.
    fn tables_in(&self, arguments: &Arguments) -> Vec<Table> {
        arguments.all().filter_map(|value| self.table_of(value)).cloned().collect()
    }

    /// Computes something from many rows that are given to a function.
    pub(crate) fn statistic_of_values(
        &mut self,
        statistic: Statistic,
        on: &Value,
        arguments: &Arguments,
    ) -> Value {
        match statistic {
            Statistic::MeanOf => self.averaged(on, arguments),
            Statistic::Spread => self.spread(on, arguments),
            Statistic::Best(best) => self.extreme(best, on, arguments),
            Statistic::LeastSquares => {
                let tables = self.tables_in(arguments);
                Value::learnt(self.statistic(&tables, Kind::Model, arguments.range))
            }
            Statistic::Bins | Statistic::AddedAt => {
                let tables = self.tables_in(arguments);
                let of_values = tables.get(1..).unwrap_or_default();
                let deps = self.statistic(of_values, Kind::Target, arguments.range);
                if let (Statistic::AddedAt, Some(table)) = (statistic, self.state.table_mut(on)) {
                    table.learn(&deps);
                    return Value::None;
                }
                let of_codes = match self.table_of(on).cloned() {
                    Some(codes) => self.counted_by_target(&codes, arguments.range),
                    None => self.deps_of(on),
                };
                Value::learnt(deps.and(&of_codes))
            }
            Statistic::Crosstab => {
                let about = |table: &Table| table.by_target || self.is_of_target(table);
                let by_target = self.tables_in(arguments).iter().any(about);
                let rows = self.table_of(on).map_or(RowsId::UNKNOWN, |table| table.rows);
                self.statistics(rows, by_target, arguments)
            }
            _ => Value::Unknown,
        }
    }

    /// `left @ right`. Rows are summed up if the left side is transposed.
    pub(crate) fn product_of(&mut self, left: &Value, right: &Value, range: TextRange) -> Value {
        if let Some((of, Bound::Transposed)) = left.bound() {
            let mut parts: Vec<Table> = self.table_of(of).into_iter().cloned().collect();
            parts.extend(self.table_of(right).cloned());
            let deps = self.statistic(&parts, Kind::Model, range);
            let deps = match self.table_of(right) {
                Some(_) => deps,
                None => deps.and(&self.deps_of(right)),
            };
            return self.array(RowsId::UNKNOWN, deps);
        }
        let Some(table) = self.table_of(left).cloned() else {
            let deps = self.deps_of(left).and(&self.deps_of(right));
            return if deps.is_empty() { Value::Unknown } else { Value::learnt(deps) };
        };
        let own = table.values().rest.deps;
        let other = self.deps_of(right);
        let other = self.applied(&other, table.rows);
        self.array(table.rows, own.and(&other))
    }

    /// The value of a statistic for each row, by a code of the row: `means[codes]`.
    pub(crate) fn looked_up_by(&mut self, base: &Value, index: &Table, range: TextRange) -> Option<Value> {
        let chooses = index.index || index.mask.condition.is_some() || index.mask.among.is_some();
        if chooses || !index.rows.is_known() {
            return None;
        }
        let deps = match (base, self.table_of(base).cloned()) {
            (Value::Number(number), _) if number.row.is_none() => number.deps.clone(),
            (_, Some(table)) if !table.rows.is_known() && table.columns.len() <= 1 => table.deps(),
            // Values of the target of other rows, as of the nearest ones.
            (_, Some(table)) if self.is_of_target(&table) => self.statistic(&[table], Kind::Target, range),
            _ => return None,
        };
        let deps = deps.and(&index.values().rest.deps);
        let deps = self.applied(&deps, index.rows);
        Some(self.array(index.rows, deps))
    }

    /// The statistics of groups for each row of other values, by the names of the groups: `rates.reindex(table["town"])`.
    pub(crate) fn statistics_for(&mut self, table: &Table, names: &Value, range: TextRange) -> Option<Value> {
        let names = self.table_of(names).filter(|_| !table.rows.is_known()).cloned()?;
        let base = self.table(table.clone());
        self.looked_up_by(&base, &names, range)
    }

    /// The rows that a part was taken from by one value of a column, as in a loop over all values.
    pub(crate) fn whole_of_value(&self, rows: RowsId) -> Option<RowsId> {
        let (of, division, side) = self.rows.part_of(rows)?;
        (side == 0 && self.rows.division_of(division).0.kind == DivisionKind::Value).then_some(of)
    }

    /// The rows whose target is in a value of one row.
    pub(crate) fn target_row(&self, value: &Value) -> Option<RowsId> {
        match value {
            Value::Number(number) => number.row.as_ref().filter(|row| row.target).map(|row| row.rows),
            Value::Tuple(items) => items.iter().find_map(|item| self.target_row(item)),
            _ => None,
        }
    }

    /// A value that a loop over rows puts under a key: once the loop is over, it is a statistic of all rows.
    pub(crate) fn gathered(&mut self, key: &Value, value: Value) -> Value {
        let around =
            self.nesting.around.iter().find(|around| around.rows.is_some()).map(|around| around.range);
        let rows = self.target_row(&value).or_else(|| self.target_row(key)).or(self.nesting.by_target);
        let (Some(around), Some(rows)) = (around, rows) else { return value };
        let made = Site { expression: around, statement: around };
        let deps = self.learn(Kind::Target, self.statement, rows);
        let deps = self.infos.map(&deps, |dep| Some(Dependency { made, ..dep }));
        match value {
            Value::Number(number) => {
                let deps = number.deps.and(&deps);
                Value::Number(Rc::new(Number { deps, row: None, ..(*number).clone() }))
            }
            Value::Int(_) | Value::Float(_) | Value::Unknown => Value::learnt(deps),
            value => value,
        }
    }

    /// What a value that a loop puts into a list or array depends on: a statistic of true values, or the true value of one
    /// row among those of all rows.
    pub(crate) fn learnt_in_loop(&mut self, value: &Value, anywhere: bool) -> Dependencies {
        let Value::Number(number) = value else { return Dependencies::default() };
        let of_row = number.row.as_ref().filter(|row| row.target && anywhere).map(|row| row.rows);
        let in_rows = self.nesting.around.iter().any(|around| around.rows.is_some());
        let rows = number.of_truth.map(|rows| self.not_varying(rows)).or(of_row);
        match rows.filter(|rows| in_rows && rows.is_known()) {
            Some(rows) => self.learn(Kind::Target, self.statement, rows),
            None => Dependencies::default(),
        }
    }

    /// The rows that others are chosen from anew in each step of a loop, as the nearest ones to each row. Those of a fold
    /// stay what they are.
    fn not_varying(&self, rows: RowsId) -> RowsId {
        let near = |rows: RowsId| match self.rows.origin(rows) {
            Origin::Part { division, .. } => {
                self.rows.division_of(*division).0.kind == DivisionKind::Position
            }
            Origin::Some { .. } => true,
            _ => false,
        };
        let mut above = self.rows.ancestors(rows);
        above.find(|rows| !near(*rows) || !self.varies(*rows)).unwrap_or(rows)
    }

    /// A value that is read from a collection: within the loop that fills it, it knows the rows before only.
    pub(crate) fn so_far(&mut self, value: Value) -> Value {
        let Value::Number(number) = &value else { return value };
        let around: Vec<TextRange> = self.nesting.around.iter().map(|around| around.range).collect();
        let within = |dep: &Dependency| dep.kind == Kind::Target && around.contains(&dep.made.expression);
        if !self.infos.any(&number.deps, within) {
            return value;
        }
        let deps = self.infos.map(&number.deps, |dep| (!within(&dep)).then_some(dep));
        Value::Number(Rc::new(Number { deps, ..(**number).clone() }))
    }

    /// Adds a statistic of the rows so far to the items of a list that is kept under a key.
    pub(crate) fn gathered_in(&mut self, list: usize, value: Value) -> Value {
        match self.state.object(list) {
            Some(Object::List(list)) if list.keyed => self.gathered(&Value::None, value),
            _ => value,
        }
    }
}

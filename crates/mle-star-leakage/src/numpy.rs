//! Arrays: how functions make them, put them together and draw them.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::effects::{Best, Draw, Make, Stack};
use crate::info::{Dependencies, How, Kind};
use crate::machine::Machine;
use crate::rows::{DivisionKind, RowsId};
use crate::table::{Mask, Table};
use crate::value::{Number, Object, Value};

impl Machine<'_> {
    /// Makes a table, an array, or positions of rows.
    pub(crate) fn make(&mut self, make: Make, first: &Value, arguments: &Arguments) -> Value {
        let table = self.table_of(first);
        match make {
            Make::Table | Make::Series => self.made_table(make, first, arguments),
            // Equal weights of a few models.
            Make::Constant if matches!(first, Value::Int(_)) => Value::some_number(),
            Make::Blank | Make::Constant => self.blank(first),
            Make::BlankLike => match table.map(|table| table.rows) {
                Some(rows) => self.table(Table::blank(rows)),
                None => Value::some_number(),
            },
            Make::Range => self.range_of(arguments),
            Make::Candidates => Value::learnt(self.candidate_at(How::Open, arguments.range)),
            Make::Array => self.as_array(first),
            Make::Positions => self.positions_of(first),
            Make::Where if arguments.positional.len() <= 1 => {
                let positions = self.positions_of(first);
                Value::Tuple([positions].into())
            }
            Make::Where => self.chosen_values(arguments),
            Make::Sorted => match table.map(|table| table.rows) {
                Some(rows) if rows.is_known() => self.positions(rows),
                // Statistics in their order.
                Some(_) => Value::learnt(self.deps_of(first)),
                None => self.order_of_scores(first, arguments),
            },
            Make::Without => {
                let index = arguments.value(1, "obj");
                let (Some(table), Some(part)) = (table.cloned(), self.chosen_by(first, &index)) else {
                    return Value::Unknown;
                };
                let rows = self.other_side(table.rows, part);
                rows.map_or(Value::Unknown, |rows| self.table(table.with_rows(rows)))
            }
            Make::Others => self.other_positions(first, &arguments.value(1, "ar2")),
            Make::Example { parts } => self.example_data(parts, arguments),
            Make::Known => self.library_set(arguments),
            Make::Unique => {
                let category = Value::Number(Rc::new(Number { category: true, ..Number::default() }));
                let codes =
                    self.elementwise(&Arguments { positional: vec![first.clone()], ..Arguments::default() });
                match arguments.is_true("return_inverse") {
                    true => Value::Tuple([category, codes].into()),
                    false if arguments.named.is_empty() => category,
                    false => Value::Unknown,
                }
            }
        }
    }

    /// The order of candidates by their scores.
    fn order_of_scores(&mut self, first: &Value, arguments: &Arguments) -> Value {
        let items = self.contents(first).unwrap_or_else(|| vec![first.clone()]);
        let choice = self.choice_of_list(first, &items, arguments.range);
        if choice.is_empty() { first.if_number() } else { Value::learnt(choice) }
    }

    /// The positions of rows.
    pub(crate) fn positions(&mut self, rows: RowsId) -> Value {
        self.table(Table::positions(rows))
    }

    /// The positions of rows without those of others.
    pub(crate) fn other_positions(&mut self, all: &Value, others: &Value) -> Value {
        let (Some(whole), Some(part)) = (self.chosen_by(all, all), self.chosen_by(all, others)) else {
            return Value::Unknown;
        };
        match self.other_side(whole, part) {
            Some(rows) => self.positions(rows),
            None => Value::Unknown,
        }
    }

    /// The rows of a table that an index chooses.
    fn chosen_by(&mut self, table: &Value, index: &Value) -> Option<RowsId> {
        let table = self.table_of(table)?.clone();
        match self.table_of(index) {
            Some(index) if index.positions.is_some() => Some(index.rows),
            _ => self.chosen_rows(&table, index),
        }
    }

    /// The positions of the rows that a condition holds for.
    fn positions_of(&mut self, condition: &Value) -> Value {
        if matches!(condition, Value::Condition(_)) {
            return condition.clone();
        }
        let Some(rows) = self.table_of(condition).map(|table| table.rows) else {
            return condition.if_number();
        };
        match self.chosen_rows(&Table::of(rows), condition) {
            Some(rows) => self.positions(rows),
            None => Value::Unknown,
        }
    }

    /// An array that is filled later: `zeros(len(table))`.
    fn blank(&mut self, shape: &Value) -> Value {
        let items = self.contents(shape);
        let first = items.as_ref().map_or(Some(shape), |items| items.first());
        self.table(Table::blank(first.and_then(Value::length).unwrap_or_default()))
    }

    /// Draws something at random.
    pub(crate) fn draw(&mut self, draw: Draw, first: &Value, arguments: &Arguments) -> Value {
        let positions = match draw {
            Draw::Generator => return Value::Symbol("numpy.random".into()),
            Draw::Number => return self.random(),
            Draw::Rows => {
                let again = !matches!(arguments.get(2, "replace"), Some(Value::Bool(false)));
                return self.drawn_rows(first, again, arguments);
            }
            Draw::Few => return self.drawn_rows(first, false, arguments),
            Draw::Trial => return Value::learnt(self.candidate_at(How::Few, arguments.range)),
            Draw::Permutation => self.permuted_positions(first),
            Draw::Numbers => None,
        };
        positions.unwrap_or_else(|| self.drawn(arguments))
    }

    /// Numbers drawn at random, perhaps one for each row.
    fn drawn(&mut self, arguments: &Arguments) -> Value {
        let length = arguments.all().find_map(|value| match value {
            Value::Tuple(items) => items.iter().find_map(Value::length),
            _ => value.length(),
        });
        let table = arguments.first().and_then(|value| self.table_of(value)).cloned();
        let shape = arguments.all().any(|value| matches!(value, Value::Tuple(_)));
        match (length, table) {
            (None, None) if shape && self.nesting.search.is_none() => {
                self.table(Table::blank(RowsId::UNKNOWN))
            }
            (Some(rows), _) => {
                let drawn = Some(self.state.count());
                self.table(Table { drawn, ..Table::blank(rows) })
            }
            (None, Some(_)) => Value::Unknown,
            _ => self.random(),
        }
    }

    /// All rows or positions in another order.
    fn permuted_positions(&mut self, first: &Value) -> Option<Value> {
        match (first, self.table_of(first).cloned()) {
            (Value::Length(rows), _) => Some(self.positions(*rows)),
            (_, Some(table)) => Some(self.table(table.with_order_lost())),
            _ => None,
        }
    }

    fn as_array(&mut self, value: &Value) -> Value {
        match self.table_of(value).cloned() {
            Some(table) => self.table(table.values()),
            None => self.as_numbers(value).unwrap_or_else(|| value.clone()),
        }
    }

    /// A list of numbers that depend on something as one value, such as weights.
    fn as_numbers(&self, value: &Value) -> Option<Value> {
        let Some(Object::List(list)) = self.state.get(value) else { return None };
        let is_number = |item: &Value| {
            matches!(item, Value::Int(_) | Value::Float(_))
                || matches!(item, Value::Number(number) if number.row.is_none())
        };
        let deps = self.deps_of(value);
        let plain = !list.open && list.items.iter().all(is_number) && self.scores_of(value, 3).is_empty();
        (plain && !deps.is_empty()).then(|| Value::learnt(deps))
    }

    /// The items of a list, if they are arrays of the same rows.
    fn tables_of(&self, list: &Value) -> Option<Vec<Value>> {
        let items = self.contents(list)?;
        let rows: Vec<RowsId> =
            items.iter().map(|item| Some(self.table_of(item)?.rows)).collect::<Option<_>>()?;
        rows.windows(2).all(|pair| pair[0] == pair[1]).then_some(items)
    }

    /// Several arrays one after the other, or side by side.
    pub(crate) fn stacked(&mut self, stack: Stack, arguments: &Arguments) -> Value {
        let first = arguments.first_value();
        let (items, open) = if stack == Stack::Two {
            (arguments.positional.clone(), false)
        } else {
            let open = matches!(self.state.get(&first), Some(Object::List(list)) if list.open);
            (self.contents(&first).unwrap_or_default(), open)
        };
        let axis = arguments.named("axis").or_else(|| arguments.named("dim"));
        let axis = axis.or_else(|| arguments.positional.get(1));
        let across = match axis {
            _ if matches!(stack, Stack::Row | Stack::Beside) => true,
            Some(Value::Int(axis)) => *axis != 0,
            Some(Value::Str(axis)) => &**axis == "columns",
            _ => stack == Stack::New || arguments.named("how").and_then(Value::as_str) == Some("horizontal"),
        };
        let tables: Vec<Table> = items.iter().filter_map(|item| self.table_of(item)).cloned().collect();
        let is_first = matches!(axis, None | Some(Value::Int(0)));
        if tables.is_empty()
            && (stack == Stack::Rows || stack == Stack::New && is_first)
            && let Some(table) = self.table_of(&first).cloned().or_else(|| self.row_list(&first))
        {
            return self.table(table);
        }
        if tables.is_empty() {
            return if self.scores_of(&first, 2).is_empty() { Value::Unknown } else { first };
        }
        // Like `np.array([...])`: the first axis is that of the items.
        let alike = tables.iter().all(|table| table.rows == tables[0].rows && table.columns.is_empty());
        if stack == Stack::New && is_first && alike && tables.len() == items.len() {
            return self.as_array(&first);
        }
        // Predictions of the folds in a row: `np.hstack([fold, ...])`. Positions are no columns either.
        let in_a_row = open || tables.iter().all(|table| table.index);
        let across = across && !(in_a_row && stack == Stack::Row);
        if across {
            let made = self.side_by_side(&tables, arguments.range);
            return self.table(made);
        }
        let fixed = self.fixed_tables(&first);
        let padded = !open && tables.len() < items.len();
        let moved = padded && stack != Stack::Tables;
        let tables = if moved { tables.iter().map(|table| self.moved(table)).collect() } else { tables };
        self.below(&tables, open || padded, fixed, arguments)
    }

    /// Values that something comes before or after, so they are moved against their rows.
    pub(crate) fn moved(&mut self, table: &Table) -> Table {
        let mut moved = table.clone();
        (moved.rest.target, moved.rest.answer) = (false, Dependencies::default());
        moved.rest.deps = self.lagged(&table.rest.deps);
        moved
    }

    /// The mean of an array, or of what is in a list, which the argument `weights` may weigh.
    pub(crate) fn averaged(&mut self, first: &Value, arguments: &Arguments) -> Value {
        let mean = self.mean_of(first, arguments);
        let (None, Some(given)) = (self.table_of(first), arguments.named("weights").cloned()) else {
            return mean;
        };
        let table = self.table_of(&mean).cloned().unwrap_or_default();
        let rows = table.rows;
        let weights = self.deps_of(&given).and(&self.weighing(&given, &table));
        // Models are not chosen, but weighed by their order.
        let weights = self.infos.map_kinds(&weights, |kind| match kind {
            Kind::Choice(How::Model) => Some(Kind::Choice(How::Number)),
            _ => Some(kind),
        });
        let weights = self.applied(&weights, rows);
        self.with_deps(&mean, &weights)
    }

    /// A quantile, a deviation and the like of an array, or of each of its columns.
    pub(crate) fn spread(&mut self, first: &Value, arguments: &Arguments) -> Value {
        let Some(table) = self.table_of(first).cloned() else { return self.mean_of(first, arguments) };
        if arguments.named("axis").is_some_and(|axis| !matches!(axis, Value::Int(0))) {
            return self.table(table.values());
        }
        let reduced = self.reduce(&table, true, arguments.range);
        // A place among predictions by the true values of their rows.
        let share = arguments.get(1, "q").cloned().unwrap_or_default();
        let choice = self.weighing(&share, &table);
        self.with_deps(&reduced, &choice)
    }

    /// The best value of an array or of several values, or where it is.
    pub(crate) fn extreme(&mut self, best: Best, first: &Value, arguments: &Arguments) -> Value {
        let across =
            arguments.get(1, "axis").is_some_and(|axis| !matches!(axis, Value::Int(0) | Value::None));
        match self.table_of(first).cloned() {
            _ if best == Best::Sorted && self.of_texts(first) => first.clone(),
            Some(table) if across => self.table(table.values()),
            Some(table) if arguments.positional.len() < 2 => self.reduce(&table, false, arguments.range),
            _ => self.best(best, arguments),
        }
    }

    /// `where(condition, one, other)`.
    fn chosen_values(&mut self, arguments: &Arguments) -> Value {
        // `select([condition, ...], [value, ...])`
        let listed = |value: &Value| match self.state.get(value) {
            Some(Object::List(list)) if list.items.iter().any(|item| self.table_of(item).is_some()) => {
                list.items.clone()
            }
            _ => vec![value.clone()],
        };
        let positional = arguments.positional.iter().flat_map(listed).collect();
        let arguments = &Arguments { positional, ..arguments.clone() };
        self.elementwise(arguments)
    }

    /// Rows drawn at random by their positions: `choice(index, size)`.
    fn drawn_rows(&mut self, first: &Value, again: bool, arguments: &Arguments) -> Value {
        let rows = match (first, self.table_of(first)) {
            (_, Some(table)) if table.index => table.rows,
            (Value::Length(rows), _) => *rows,
            _ => return self.drawn(arguments),
        };
        let site = self.site(arguments.range);
        let rows = if again {
            self.rows.repeated(rows, site)
        } else {
            let key = format!("choice {:?}", arguments.range);
            let division = self.rows.division(rows, DivisionKind::Random, &key, site);
            self.rows.part(rows, division, 1)
        };
        self.positions(rows)
    }

    /// Functions of each value by itself.
    pub(crate) fn elementwise(&mut self, arguments: &Arguments) -> Value {
        let is_list = |value: &Value| matches!(self.state.get(value), Some(Object::List(_)));
        let of_value = |value: &Value| match is_list(value) {
            // Several predictions, which are put together.
            true => self.tables_of(value).unwrap_or_else(|| vec![self.as_scores(value)]),
            false => vec![value.clone()],
        };
        let values: Vec<Value> = arguments.all().flat_map(of_value).collect();
        let tables: Vec<Table> =
            values.iter().filter_map(|value| self.table_of(value)).map(Table::values).collect();
        let others = values.iter().filter(|value| self.table_of(value).is_none());
        let deps = others.map(|value| self.deps_of(value)).collect();
        let rows = tables.iter().map(|table| table.rows).find(|rows| rows.is_known()).unwrap_or_default();
        let deps = self.applied(&deps, rows);
        let Some((first, rest)) = tables.split_first() else {
            let scores = values.iter().map(|value| self.scores_of(value, 2)).collect();
            let known = values.iter().any(|value| matches!(value, Value::Number(_)));
            let truth = known && values.iter().all(is_of_truth);
            let mut rows = values.iter().filter_map(|value| match value {
                Value::Number(number) => number.row.clone(),
                _ => None,
            });
            let row = rows.next().filter(|_| rows.next().is_none());
            let number = Number { deps, scores, truth, row, ..Number::default() };
            return if known { Value::Number(Rc::new(number)) } else { Value::Unknown };
        };
        let mut answers = Dependencies::default();
        if tables.len() > 1 && !tables.iter().all(Table::is_target) {
            for table in &tables {
                answers.add(&self.as_answer(table, arguments.range));
            }
        }
        let mut made = first.clone();
        // A function of a table is a table.
        made.framed = values.len() == 1
            && self.table_of(&values[0]).is_some_and(|table| table.label.is_none() && !table.is_nameless());
        made.mask.condition = made.mask.condition.filter(|_| values.len() == 1);
        for table in rest {
            let rows = if made.rows.is_known() { made.rows } else { table.rows };
            let compared = made.mask.compared.or(table.mask.compared);
            let mask = Mask { compared, ..Mask::default() };
            let lead = made.lead.clone().or_else(|| table.lead.clone());
            made = Table { mask, lead, ..Table::array(rows, made.rest.deps.and(&table.rest.deps)) };
        }
        made.learn(&deps.and(&answers));
        self.table(made)
    }
}

/// Tables side by side.
pub(crate) fn beside(tables: &[Table]) -> Table {
    let mut joined = tables.first().cloned().unwrap_or_default();
    for table in tables.iter().skip(1) {
        if !joined.rows.is_known() {
            joined.rows = table.rows;
        }
        for (name, column) in &table.columns {
            joined.set(Rc::clone(name), column.clone());
        }
        joined.rest.deps.add(&table.rest.deps);
        joined.rest.target = false;
        joined.unnamed.add(&table.unnamed);
    }
    joined.label = None;
    joined.mask.condition = None;
    (joined.whole, joined.framed) = (false, tables.iter().any(|table| table.whole || table.framed));
    joined
}

/// Whether a number is computed from true values alone, or is a constant.
pub(crate) fn is_of_truth(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.truth,
        value => value.is_constant_number(),
    }
}

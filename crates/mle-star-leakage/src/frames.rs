//! Effects on tables: which rows and columns they leave, what they compute from each value or from all.

use std::rc::Rc;

use ruff_python_ast::CmpOp;

use crate::calls::Arguments;
use crate::comparisons::Sides;
use crate::effects::{self, Best, Columns, Effect, Receiver, Rows, Statistic, Test, Values};
use crate::info::{Dependencies, Dependency, Kind};
use crate::machine::{Machine, row_of};
use crate::rows::RowsId;
use crate::syntax::{key_of_call, without_table};
use crate::table::{Column, Table};
use crate::value::{Number, Object, Value};

/// A value, and the table that it is.
type Of<'a> = (&'a Value, &'a Table);

impl Machine<'_> {
    /// Methods of tables, series and arrays.
    pub(crate) fn call_table(
        &mut self,
        base: &Value,
        table: &Table,
        name: &str,
        arguments: &Arguments,
    ) -> Value {
        let receivers: &[Receiver] =
            if table.polars { &[Receiver::Polars, Receiver::Table] } else { &[Receiver::Table] };
        let effect = effects::of(receivers, name).unwrap_or(Effect::Unknown);
        let value = self.apply(effect, base, arguments);
        if !arguments.is_true("inplace") {
            return value;
        }
        if let Some(after) = self.table_of(&value).cloned() {
            self.replace(base, after);
        }
        Value::None
    }

    /// A table becomes another one.
    pub(crate) fn replace(&mut self, on: &Value, after: Table) {
        if let Some(table) = self.state.table_mut(on) {
            *table = after;
        }
    }

    /// Chooses, repeats or counts rows.
    pub(crate) fn change_rows(&mut self, rows: Rows, (on, table): Of<'_>, arguments: &Arguments) -> Value {
        let site = self.site(arguments.range);
        match rows {
            Rows::Some => {
                // The same call on the same rows leaves the same rows.
                let some = self.rows.some(table.rows, site);
                self.table(table.with_rows(some))
            }
            Rows::Sampled => self.sample(table, arguments),
            Rows::Queried => {
                let rows = self.queried_rows(table.rows, arguments);
                self.table(table.with_rows(rows))
            }
            Rows::Filtered => {
                let mut left = on.clone();
                for condition in &arguments.positional {
                    let Some(table) = self.table_of(&left).cloned() else { return Value::Unknown };
                    left = match condition {
                        Value::Unknown => self.table(table.with_rows(RowsId::UNKNOWN)),
                        known => self.table_item_by(&table, known),
                    };
                }
                left
            }
            Rows::At => {
                if let Some(found) = self.statistics_for(table, &arguments.first_value(), arguments.range) {
                    return found;
                }
                let rows = self.chosen_rows(table, &arguments.first_value());
                rows.map_or(Value::Unknown, |rows| self.table(table.with_rows(rows)))
            }
            Rows::Others if table.index => self.other_positions(on, &arguments.first_value()),
            Rows::Below => match arguments.first().and_then(|value| self.table_of(value)).cloned() {
                Some(other) => self.below(&[table.clone(), other], false, 0, arguments),
                None => Value::Unknown,
            },
            Rows::Repeated => {
                let rows = self.rows.repeated(table.rows, site);
                self.table(table.with_rows(rows))
            }
            Rows::Each { numbered } if table.rows.is_known() => {
                let row = row_of(table, false);
                Value::each(if numbered { Value::Tuple([Value::Unknown, row].into()) } else { row })
            }
            Rows::Renumbered => self.counted_anew(table, arguments),
            Rows::Batches if !table.whole && table.columns.is_empty() => {
                let batch = self.table(table.clone());
                Value::each(batch)
            }
            Rows::Others | Rows::Each { .. } | Rows::Batches => Value::Unknown,
        }
    }

    /// A table whose rows are counted anew. Without `drop`, their numbers become a column.
    fn counted_anew(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let mut same = match arguments.named("name").and_then(Value::constant) {
            Some(name) => table.clone().relabelled(name),
            None => table.clone(),
        };
        same.index = false;
        if !arguments.is_true("drop") {
            let numbers = Table { order: same.order.clone(), ..Table::of(same.rows) };
            let numbers = self.of_neighbours(&numbers, arguments.range);
            if self.has_answer(&numbers.rest.deps) {
                same.set("index".into(), numbers.rest);
            }
        }
        self.table(same)
    }

    /// Computes a value from each value.
    pub(crate) fn compute_values(
        &mut self,
        values: Values,
        on: &Value,
        table: Option<&Table>,
        arguments: &Arguments,
    ) -> Value {
        let first = arguments.first_value();
        match (values, table) {
            (Values::Product, _) => self.product_of(on, &first, arguments.range),
            (Values::Best, _) => {
                let values = Arguments { positional: vec![on.clone()], ..Arguments::default() };
                match arguments.get(1, "dim") {
                    // The values, and where they are.
                    Some(_) => {
                        let made = self.elementwise(&values);
                        Value::Tuple([made.clone(), made].into())
                    }
                    None => self.extreme(Best::Value, on, arguments),
                }
            }
            (Values::Times, None) if on.as_str().is_some() => on.clone(),
            (_, None) => Value::Unknown,
            (Values::Array | Values::Cells | Values::Filled, Some(table)) => {
                self.valuewise(table, values, arguments)
            }
            (Values::Operator(operator), Some(_)) => self.operate(operator, on, &first),
            (Values::Mapped, Some(table)) => self.mapped(table, arguments),
            (Values::Elementwise, Some(_)) => {
                let given = std::iter::once(on).chain(&arguments.positional).cloned().collect();
                self.elementwise(&Arguments { positional: given, ..arguments.clone() })
            }
            (Values::Times, Some(table)) => self.table(table.values().with_times(vec!["time".into()])),
            (Values::Cut, Some(table)) => {
                let bins = arguments.get(0, "bins").map(|bins| self.deps_of(bins)).unwrap_or_default();
                let bins = self.applied(&bins, table.rows);
                let mut cut = table.clone();
                cut.learn(&bins);
                self.table(cut)
            }
            (Values::Codes, Some(table)) => {
                let codes = self.table(table.values());
                Value::Tuple([codes, Value::Unknown].into())
            }
        }
    }

    /// Values of a table, each with what the other arguments say of its row; as cells of the same columns, or alone.
    fn valuewise(&mut self, table: &Table, values: Values, arguments: &Arguments) -> Value {
        let (as_cells, filled) = (values != Values::Array, values == Values::Filled);
        // Values of a table are taken by the names of the columns.
        let named = |machine: &Self, value: &Value| match (machine.table_of(value), &table.label) {
            (Some(given), Some(label)) if as_cells && given.label.is_none() && !table.columns.is_empty() => {
                given.column(label).deps
            }
            _ => machine.deps_of(value),
        };
        let others: Dependencies = arguments.all().map(|value| named(self, value)).collect();
        let others = if filled { self.but_of_columns(&others, table) } else { others };
        let others = self.applied(&others, table.rows);
        let mut made = if as_cells { table.clone() } else { table.values() };
        made.learn(&others);
        if !table.values().is_target() {
            let given: Vec<Table> =
                arguments.all().filter_map(|value| self.table_of(value)).cloned().collect();
            let answers: Dependencies =
                given.iter().map(|given| self.as_answer(given, arguments.range)).collect();
            made.learn(&answers);
        }
        self.table(made)
    }

    /// Tests each value, as by `column.isin(...)`.
    pub(crate) fn test_values(&mut self, test: Test, (on, table): Of<'_>, arguments: &Arguments) -> Value {
        let other = arguments.first().filter(|other| self.table_of(other).is_some());
        match (test, other) {
            (Test::Compare(operator), Some(other)) => {
                let call = self.syntax.call(arguments.range);
                let left = call.and_then(|call| call.func.as_attribute_expr()).map(|method| &*method.value);
                let right = call.and_then(|call| call.arguments.args.first());
                let sides = Sides { left, right, range: arguments.range };
                self.compare_values(operator, on, &other.clone(), sides)
            }
            _ => {
                let condition = self.condition_of(test, table, arguments);
                self.table(condition)
            }
        }
    }

    /// The dependencies that other columns may get: `table.fillna(table.mean())` puts the mean of a column into this column.
    pub(crate) fn but_of_columns(&mut self, deps: &Dependencies, table: &Table) -> Dependencies {
        let named = table.columns.iter().map(|(_, column)| &column.deps);
        let named: Dependencies = named.filter(|_| table.label.is_none()).cloned().collect();
        let own: Vec<Dependency> = self.infos.deps(&named).collect();
        let any: Vec<Dependency> = self.infos.deps(&table.rest.deps).collect();
        self.infos.map(deps, |dep| (any.contains(&dep) || !own.contains(&dep)).then_some(dep))
    }

    /// What is known of a test of each value.
    fn condition_of(&mut self, test: Test, table: &Table, arguments: &Arguments) -> Table {
        let mut made = Table::of(table.rows);
        let others = arguments.first().and_then(|value| self.table_of(value));
        if let (true, Some(other)) = (table.index && test == Test::Among, others.filter(|other| other.index))
        {
            made.mask.among = Some(other.rows);
        }
        let call = self.syntax.call(arguments.range);
        let key = |name: &str| match call {
            Some(call) => without_table(&key_of_call(call, name)).to_owned(),
            None => format!("{name} {:?}", arguments.range),
        };
        let (key, negated) = match test {
            Test::Missing => (key("isna"), false),
            Test::Present => (key("isna"), true),
            _ => {
                let known = self.required_values(call, test, table, arguments);
                let negated = matches!(test, Test::Compare(CmpOp::NotEq | CmpOp::GtE | CmpOp::LtE));
                (known.unwrap_or_else(|| key(self.syntax.called_name(arguments.range))), negated)
            }
        };
        made.mask.condition = Some((key.into(), negated));
        made.by_target = table.is_target();
        made.source.clone_from(&table.source);
        made.rest.deps = self.as_answer(table, arguments.range).and(&table.values().rest.deps);
        made
    }

    /// Computes something from many rows.
    pub(crate) fn compute_statistic(
        &mut self,
        statistic: Statistic,
        on: &Value,
        table: Option<&Table>,
        arguments: &Arguments,
    ) -> Value {
        let Some(table) = table else { return self.statistic_of_values(statistic, on, arguments) };
        let axis = arguments.named("axis").or_else(|| arguments.positional.last());
        let across = matches!(axis, Some(Value::Int(1)));
        match statistic {
            Statistic::Mean | Statistic::Sum | Statistic::Counts if across => self.table(table.values()),
            Statistic::Mean | Statistic::Sum => {
                self.reduce(table, statistic == Statistic::Mean, arguments.range)
            }
            Statistic::Counts | Statistic::Categories => {
                let mut deps = self.without_answers(&table.values().rest.deps);
                let category = statistic == Statistic::Categories;
                if !category {
                    deps.add(&self.counted_by_target(table, arguments.range));
                }
                Value::Number(Rc::new(Number { deps, category, ..Number::default() }))
            }
            Statistic::Correlations => self.correlations(table, arguments),
            Statistic::Pivot => {
                let values = arguments.get(0, "values").and_then(Value::constant);
                let by_target = values.is_some_and(|name| self.targets.contains(&name));
                self.statistics(table.rows, by_target, arguments)
            }
            _ => self.statistic_of_values(statistic, on, arguments),
        }
    }

    fn correlations(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let other = arguments.first().and_then(|value| self.table_of(value)).cloned();
        let other = other.as_ref();
        if let Some(truth) = other.filter(|other| other.is_target())
            && self.infos.has_model(&table.deps())
        {
            let deps = table.values().rest.deps;
            return Value::score(self.score(arguments.range, truth.rows, &deps, false));
        }
        let is_of_target = |one: &Table| one.columns.is_empty() && self.is_of_target(one);
        let with_target = is_of_target(table) || other.is_some_and(is_of_target);
        let kind = if with_target { Kind::Selection } else { Kind::Unsupervised };
        let deps = self.learn(kind, arguments.range, table.rows);
        Value::learnt(deps)
    }

    /// A table of statistics: one row per group.
    pub(crate) fn statistics(&mut self, rows: RowsId, of_target: bool, arguments: &Arguments) -> Value {
        let deps =
            if of_target { self.learn(Kind::Target, arguments.range, rows) } else { Dependencies::default() };
        self.array(RowsId::UNKNOWN, deps)
    }

    /// `column.map(...)`.
    fn mapped(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let function = arguments.first_value();
        let mut by_row = false;
        let deps = match &function {
            Value::Function(..) => {
                let across = matches!(arguments.get(1, "axis"), Some(Value::Int(1)));
                let item = match across {
                    true => row_of(table, false),
                    // One of the values of a column.
                    false => Value::Number(Rc::new(Number {
                        deps: table.values().rest.deps,
                        category: !table.is_target(),
                        ..Number::default()
                    })),
                };
                let value = self.call_with(&function, &[item], arguments.range);
                by_row = across;
                self.deps_of(&value).and(&self.answer_of_row(&value, arguments.range))
            }
            Value::Bound(bound) => self.deps_of(&bound.0),
            _ => self.deps_of(&function),
        };
        let mut own = table.values();
        if by_row {
            own.rest.deps = self.without_answers(&own.rest.deps);
        }
        let target = own.rest.target && deps.is_empty();
        let answer = if target { Dependencies::default() } else { self.as_answer(table, arguments.range) };
        let mut made = Table::array(table.rows, own.rest.deps.and(&deps).and(&answer));
        (made.rest.target, made.rest.answer) = (target, own.rest.answer);
        (made.label, made.source) = (own.label, own.source);
        self.table(made)
    }

    /// Chooses, makes or names columns.
    pub(crate) fn change_columns(
        &mut self,
        columns: Columns,
        (on, table): Of<'_>,
        arguments: &Arguments,
    ) -> Value {
        let first = arguments.first_value();
        let made = match columns {
            Columns::Index => match arguments.value(0, "keys").constant() {
                Some(name) => {
                    let mut rest = Table { index: false, ..table.clone() };
                    rest.remove(&name);
                    rest
                }
                None => self.unsure(table),
            },
            Columns::Label => match arguments.value(0, "name").constant() {
                Some(name) => Table { index: false, ..table.clone().relabelled(name) },
                None => Table { index: false, ..table.clone() },
            },
            Columns::Renamed => self.renamed(table, arguments),
            Columns::Affixed => self.with_affix(table),
            Columns::OfPandas => Table { polars: false, ..table.clone() },
            Columns::Reshaped => self.unsure(table),
            Columns::Dropped => return self.dropped(table, arguments),
            Columns::Taken => return self.taken_out((on, table), &first),
            Columns::Selected => match self.texts(arguments.get(0, "items").unwrap_or(&first)) {
                Some(names) => self.select_all(table, &names),
                // Some of the columns, by their names.
                None if ["regex", "like"].iter().any(|by| arguments.named(by).is_some()) => {
                    Table { framed: true, ..self.unsure(table) }
                }
                None => return Value::Unknown,
            },
            Columns::Typed => return self.select_types(table, arguments),
            Columns::Assigned => return self.assigned(table, arguments),
            Columns::Inserted => {
                let value = arguments.value(2, "value");
                if let Some(name) = arguments.get(1, "column").and_then(Value::constant) {
                    let column = self.column_made(&name, &value, arguments);
                    if let Some(table) = self.state.table_mut(on) {
                        table.set(name, column);
                    }
                }
                return Value::None;
            }
            Columns::Merged => return self.merged(table, &first, arguments),
            Columns::Got => match first.name().filter(|_| table.whole) {
                Some(name) => self.select(table, &name),
                None => return Value::learnt(table.values().rest.deps),
            },
            Columns::Extended => {
                let mut made = table.clone();
                for (name, column) in self.columns_made(arguments) {
                    made.set(name, column);
                }
                made
            }
            Columns::Expressed => return self.selected(table, arguments),
        };
        self.table(made)
    }

    /// `table.rename(...)`.
    fn renamed(&mut self, table: &Table, arguments: &Arguments) -> Table {
        let names = arguments.named("columns").or_else(|| arguments.positional.first());
        let mut renamed = table.clone();
        if matches!(names, Some(Value::Function(..) | Value::Symbol(_))) {
            return self.unsure(table);
        }
        match names.map(|names| (names.constant(), self.state.get(names))) {
            Some((Some(name), _)) => renamed = renamed.relabelled(name),
            Some((None, Some(Object::Dict(dict)))) => {
                for (from, to) in &dict.items {
                    let Some(to) = to.constant() else { continue };
                    if let Some(column) = renamed.named(from).cloned() {
                        renamed.remove(from);
                        renamed.set(to, column);
                    }
                }
            }
            _ => {}
        }
        renamed
    }

    /// Columns whose names begin or end with something more: it is not known which they are.
    fn with_affix(&mut self, table: &Table) -> Table {
        let renamed = self.unsure(table);
        // Values of a model may be those of one that reconstructs its features.
        match self.infos.has_model(&table.deps()) {
            true => Table { columns: Vec::new(), rest: Column::default(), ..renamed },
            false => renamed,
        }
    }

    /// `table.pop(name)`.
    fn taken_out(&mut self, (on, table): Of<'_>, name: &Value) -> Value {
        let Some(name) = name.constant() else {
            let unsure = self.unsure(table);
            self.replace(on, unsure);
            return Value::Unknown;
        };
        let column = self.select(table, &name);
        if let Some(table) = self.state.table_mut(on) {
            table.remove(&name);
        }
        self.table(column)
    }

    /// The column with this name that a method makes of a value.
    pub(crate) fn column_made(&mut self, name: &Rc<str>, value: &Value, arguments: &Arguments) -> Column {
        let column = self.column_of(value);
        self.note_source(name, value);
        self.answering(name, value, column, arguments.range)
    }

    /// `table.assign(name=value)`.
    fn assigned(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let mut made = table.clone();
        for (name, value) in &arguments.named {
            let value = match value {
                Value::Function(..) => {
                    let whole = self.table(made.clone());
                    self.call_with(value, &[whole], arguments.range)
                }
                value => value.clone(),
            };
            let column = self.column_made(name, &value, arguments);
            made.set(Rc::clone(name), column);
        }
        self.table(made)
    }

    /// `table.drop(...)`.
    fn dropped(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let of_columns = arguments.named("columns").cloned();
        let by_axis = matches!(arguments.get(1, "axis"), Some(Value::Int(1)))
            || matches!(arguments.get(1, "axis"), Some(Value::Str(axis)) if &**axis == "columns");
        let first = arguments.first_value();
        let names = match (of_columns, &*arguments.positional) {
            (Some(names), _) => names,
            (None, [_, ..]) if by_axis => first,
            (None, [_]) if table.polars => first,
            (None, several) if table.polars => Value::Tuple(several.into()),
            (None, _) => {
                let index = arguments.named("index").cloned().unwrap_or(first);
                return self.without_rows(table, &index, arguments);
            }
        };
        let mut left = table.clone();
        match (names.constant(), self.texts(&names)) {
            (Some(name), _) => left.remove(&name),
            (None, Some(names)) => names.iter().for_each(|name| left.remove(name)),
            _ if matches!(names, Value::Names(_)) => {}
            _ => left = self.unsure(table),
        }
        if let Value::Names(given) = &names {
            left = self.unsure(&left);
            if given.sure {
                left.columns.retain(|(name, _)| given.except.contains(name));
            }
        }
        let deps = self.deps_of(&names);
        let deps = self.infos.of_kind(&deps, Kind::Selection);
        left.learn(&deps);
        left.range = self.all_columns(left.rows);
        self.table(left)
    }

    fn without_rows(&mut self, table: &Table, index: &Value, arguments: &Arguments) -> Value {
        let part = self.table_of(index).map(|index| index.rows);
        let rows = match part.and_then(|part| self.other_side(table.rows, part)) {
            Some(rows) => rows,
            None => self.rows.some(table.rows, self.site(arguments.range)),
        };
        self.table(table.with_rows(rows))
    }
}

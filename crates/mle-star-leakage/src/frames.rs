//! Methods of tables and groups.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::comparisons::comparison;
use crate::facts::Split;
use crate::groups::excludes_itself;
use crate::info::{Dependencies, Dependency, Kind};
use crate::machine::{Machine, row_of};
use crate::names::is_one;
use crate::rows::RowsId;
use crate::table::{Group, Table};
use crate::value::{Number, Object, Value};

/// A value, and the table that it is.
type Of<'a> = (&'a Value, &'a Table);

/// Methods whose values are true or false.
const COMPARISONS: &str = "
    isin between is_in is_between isna isnull notna notnull eq ne gt lt ge le";

/// Methods that may compute one value for each row.
const ACROSS: &str = "
    mean sum max min std median count any all idxmax argmax var agg aggregate";

impl Machine<'_> {
    /// Methods of tables, series and arrays.
    pub(crate) fn call_table(
        &mut self,
        base: &Value,
        table: &Table,
        name: &str,
        arguments: &Arguments,
    ) -> Value {
        let inplace = arguments.is_true("inplace");
        if let Some(value) = self.accumulated(base, table, name, arguments) {
            return value;
        }
        let value = self
            .call_polars(base, table, name, arguments)
            .or_else(|| self.call_other((base, table), name, arguments))
            .or_else(|| self.call_whole((base, table), name, arguments))
            .or_else(|| self.call_in_order(table, name, arguments))
            .or_else(|| self.call_rows(table, name, arguments))
            .or_else(|| self.call_statistic(table, name, arguments))
            .or_else(|| self.call_columns((base, table), name, arguments))
            .unwrap_or_default();
        if !inplace {
            return value;
        }
        if let (Some(after), Some(table)) = (self.table_of(&value).cloned(), self.state.table_mut(base)) {
            *table = after;
        }
        Value::None
    }

    /// Methods of data sets of libraries and of databases; functions that are applied to the whole table.
    fn call_other(&mut self, (base, table): Of<'_>, name: &str, arguments: &Arguments) -> Option<Value> {
        Some(match name {
            "pipe" if matches!(arguments.first(), Some(Value::Function(..) | Value::Method(_))) => {
                let mut given = arguments.clone();
                given.positional[0] = base.clone();
                self.call_value(&arguments.first_value(), &given)
            }
            "slice" if table.truth.is_some() => {
                let given = arguments.first_value();
                let rows = self.chosen_rows(table, &given).unwrap_or_default();
                let truth = table.truth.as_ref().map(|truth| Rc::new(truth.with_rows(rows)));
                self.table(Table { truth, ..table.with_rows(rows) })
            }
            // Data sets of TensorFlow.
            "batch" | "shuffle" | "prefetch" | "cache" if table.truth.is_some() => self.table(table.clone()),
            "to_sql" => {
                self.register(table, &arguments.first_value());
                Value::None
            }
            "df" | "fetchdf" | "pl" if arguments.all().next().is_none() => self.table(table.clone()),
            "to_pandas" => self.table(Table { polars: false, ..table.clone() }),
            "get_label" => match &table.truth {
                Some(truth) => self.table((**truth).clone()),
                None => Value::Unknown,
            },
            _ => return None,
        })
    }

    /// Methods that keep all rows and columns.
    fn call_whole(&mut self, (base, table): Of<'_>, name: &str, arguments: &Arguments) -> Option<Value> {
        Some(match name {
            "copy" | "reset_index" | "astype" | "infer_objects" | "convert_dtypes" | "ffill" | "bfill"
            | "rename_axis" | "set_index" | "sort_index" | "to_frame" | "cast" | "collect" | "lazy"
            | "tocsr" | "toarray" | "todense" | "pipe" | "float" | "cpu" | "detach" | "type" | "to"
            | "cuda" | "long" | "double" | "half" | "int" | "bool" | "contiguous" | "clone" | "unsqueeze"
            | "requires_grad_" | "permute" | "tolist" | "to_list" | "to_dict" | "droplevel" | "unstack"
            | "stack" | "fill_null" | "asfreq" | "with_row_index" | "items" | "swaplevel" => {
                let mut same = table.clone();
                match name {
                    "set_index" => match arguments.value(0, "keys").constant() {
                        Some(name) => same.remove(&name),
                        None => same = self.unsure(table),
                    },
                    "unstack" | "stack" | "to_dict" | "permute" => same = self.unsure(table),
                    "to_frame" => {
                        if let Some(name) = arguments.value(0, "name").constant() {
                            same = same.relabelled(name);
                        }
                    }
                    "reset_index" => {
                        if let Some(name) = arguments.named("name").and_then(Value::constant) {
                            same = same.relabelled(name);
                        }
                    }
                    _ => {}
                }
                same = self.counted_anew(same, name, arguments);
                if name != "copy" {
                    same.index &= matches!(name, "tolist" | "to_list" | "astype");
                }
                self.table(same)
            }
            "to_numpy" | "ravel" | "flatten" | "reshape" | "squeeze" | "transpose" | "view" | "numpy"
            | "round" | "abs" | "rank" | "argsort" | "argmax" | "dot" | "multiply" | "divide" | "sub"
            | "add" | "mul" | "div" | "pow" | "subtract" | "isin" | "between" | "is_in" | "is_between"
            | "isna" | "isnull" | "notna" | "notnull" | "eq" | "ne" | "gt" | "lt" | "ge" | "le" | "where"
            | "mask" | "clip" | "replace" | "fillna" | "softmax" | "log_softmax" | "sigmoid" | "tanh"
            | "relu" | "exp" | "log" | "clamp" | "square" | "sqrt" | "expm1" | "log1p" | "nan_to_num"
            | "clip_" => self.valuewise(table, name, arguments),
            "sort_values" | "sort" => self.sorted(table, arguments),
            "rename" | "add_prefix" | "add_suffix" => {
                let renamed = self.renamed(table, name, arguments);
                self.table(renamed)
            }
            "to_csv" | "to_parquet" | "to_pickle" | "to_feather" | "write_csv" => {
                let path = arguments.first_value();
                self.write(&path);
                Value::None
            }
            "split" | "chunk" if !table.whole && table.columns.is_empty() => {
                let batch = self.table(table.clone());
                Value::each(batch)
            }
            "info" | "head_" | "hist" | "plot" => Value::None,
            "keys" => self.attribute(base, "columns"),
            "set_axis" if arguments.positional.len() == 1 && arguments.named.is_empty() => {
                self.table(table.clone())
            }
            _ => return None,
        })
    }

    /// Methods that take rows in groups or in order.
    fn call_in_order(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Option<Value> {
        Some(match name {
            "groupby" | "group_by" => self.grouped(table, arguments),
            "cumsum" | "cummax" | "cummin" | "cumprod" if table.columns.is_empty() => {
                let group = Group { table: table.clone(), chosen: true, ..Group::default() };
                self.windowed(&group, table.rows, arguments)
            }
            "shift" | "diff" | "pct_change" | "cumsum" | "cumcount" | "cummax" | "cummin" | "cumprod" => {
                let mut lagged = table.values();
                (lagged.rest.target, lagged.rest.answer) = (false, Dependencies::default());
                lagged.rest.deps = match name {
                    "diff" | "pct_change" if table.columns.is_empty() => self.differences(table, arguments),
                    _ => self.lagged(&lagged.rest.deps),
                };
                if name == "shift" && !table.rows.is_known() {
                    // Statistics of groups are those of the group before.
                    lagged.rest.deps = self.infos.without(&lagged.rest.deps, Kind::Target);
                }
                // Later values of a column are no values of the column.
                (lagged.label, lagged.source) = (None, None);
                lagged = self.of_other_rows(&lagged, table.label.clone(), arguments);
                if name != "cumcount" {
                    lagged = self.of_neighbours(&lagged, arguments.range);
                }
                lagged.mask.compared = None;
                self.table(lagged)
            }
            "rolling" | "expanding" | "ewm" | "resample" => {
                let window = name != "resample" && !excludes_itself(arguments);
                let mut table = self.of_neighbours(table, arguments.range);
                if arguments.is_true("center") && !table.is_target() {
                    table = self.of_other_rows(&table, table.label.clone(), arguments);
                }
                self.state.add(Object::Group(Group {
                    table,
                    chosen: true,
                    ordered: true,
                    window,
                    ..Group::default()
                }))
            }
            _ => return None,
        })
    }

    /// A table whose rows are counted anew. Without `drop`, their numbers become a column.
    fn counted_anew(&mut self, table: Table, name: &str, arguments: &Arguments) -> Table {
        let mut same = table;
        if name != "reset_index" {
            return same;
        }
        if !arguments.is_true("drop") {
            let numbers = Table { order: same.order.clone(), ..Table::of(same.rows) };
            let numbers = self.of_neighbours(&numbers, arguments.range);
            if self.has_answer(&numbers.rest.deps) {
                same.set("index".into(), numbers.rest);
            }
        }
        same
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
        matches!(&self.facts.split, Some(Split::Time(Some(column))) if column == name)
    }

    pub(crate) fn valuewise(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Value {
        let conditional = is_one(COMPARISONS, name);
        let keeps_columns =
            matches!(name, "fillna" | "clip" | "replace" | "round" | "abs" | "where" | "mask");
        // Values of a table are taken by the names of the columns.
        let named = |machine: &Self, value: &Value| match (machine.table_of(value), &table.label) {
            (Some(given), Some(label))
                if keeps_columns && given.label.is_none() && !table.columns.is_empty() =>
            {
                given.column(label).deps
            }
            _ => machine.deps_of(value),
        };
        let others: Dependencies = arguments.all().map(|value| named(self, value)).collect();
        let others = if name == "fillna" { self.but_of_columns(&others, table) } else { others };
        let others = self.applied(&others, table.rows);
        let mut made = if keeps_columns { table.clone() } else { table.values() };
        made.learn(&others);
        if !conditional && !table.values().is_target() {
            let given: Vec<Table> =
                arguments.all().filter_map(|value| self.table_of(value)).cloned().collect();
            let answers: Dependencies =
                given.iter().map(|given| self.as_answer(given, arguments.range)).collect();
            made.learn(&answers);
        }
        if keeps_columns && name != "round" && !others.is_empty() {
            made.rest.target &= table.rest.target;
        }
        if let (Some(operation), Some(other)) = (comparison(name), arguments.first().filter(|_| conditional))
            && self.table_of(other).is_some()
        {
            let (left, right) = (self.table(table.clone()), other.clone());
            return self.compare_values(operation, &left, &right, (arguments.range, arguments.range));
        }
        if conditional {
            made = self.condition_of(table, name, arguments);
        } else if matches!(name, "sub" | "subtract" | "add")
            && let Some(other) = arguments.first().and_then(|value| self.table_of(value)).cloned()
        {
            let left = self.table(table.clone());
            let right = self.table(other);
            return self.operate(ruff_python_ast::Operator::Sub, &left, &right);
        }
        self.table(made)
    }

    /// The dependencies that other columns may get: `table.fillna(table.mean())` puts the mean of a column into this column.
    pub(crate) fn but_of_columns(&mut self, deps: &Dependencies, table: &Table) -> Dependencies {
        let named = table.columns.iter().map(|(_, column)| &column.deps);
        let named: Dependencies = named.filter(|_| table.label.is_none()).cloned().collect();
        let own: Vec<Dependency> = self.infos.deps(&named).collect();
        let any: Vec<Dependency> = self.infos.deps(&table.rest.deps).collect();
        self.infos.map(deps, |dep| (any.contains(&dep) || !own.contains(&dep)).then_some(dep))
    }

    /// `column.isin(...)` and the like.
    fn condition_of(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Table {
        let mut made = Table::of(table.rows);
        let others = arguments.first().and_then(|value| self.table_of(value));
        if let (true, Some(other)) = (table.index && name == "isin", others.filter(|other| other.index)) {
            made.mask.among = Some(other.rows);
        }
        let text = self.compact(arguments.range);
        let text =
            text.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_').to_owned();
        let opposites = [("notna", "isna"), ("notnull", "isna"), ("isnull", "isna")];
        let (key, negated) = match opposites.iter().find(|(one, _)| *one == name) {
            Some((one, other)) => (text.replace(one, other), *one != "isnull"),
            None => (text, matches!(name, "ne" | "ge" | "le")),
        };
        made.mask.condition = Some((key.into(), negated));
        made.by_target = table.is_target();
        made.source.clone_from(&table.source);
        made.rest.deps = self.as_answer(table, arguments.range).and(&table.values().rest.deps);
        made
    }

    /// Methods that choose rows.
    fn call_rows(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Option<Value> {
        Some(match name {
            "dropna" | "drop_duplicates" | "query" | "head" | "tail" | "nlargest" | "nsmallest"
            | "truncate" | "sample" | "filter_rows" | "drop_nulls" | "limit" => {
                let left = self.filtered(table, name, arguments);
                self.table(left)
            }
            "difference" if table.index => {
                let all = self.table(table.clone());
                self.other_positions(&all, &arguments.first_value())
            }
            "take" | "reindex" => {
                if let Some(found) = self.statistics_for(table, &arguments.first_value(), arguments.range) {
                    return Some(found);
                }
                let rows = self.chosen_rows(table, &arguments.first_value());
                rows.map_or(Value::Unknown, |rows| self.table(table.with_rows(rows)))
            }
            "append" => {
                let other = arguments.first().and_then(|value| self.table_of(value)).cloned()?;
                self.below(&[table.clone(), other], false, 0, arguments)
            }
            "repeat" => {
                let rows = self.rows.repeated(table.rows, self.site(arguments.range));
                self.table(table.with_rows(rows))
            }
            "iterrows" | "itertuples" | "iter_rows" if table.rows.is_known() => {
                let row = row_of(table, false);
                let item = if name == "iterrows" { Value::Tuple([Value::Unknown, row].into()) } else { row };
                Value::each(item)
            }
            // Parts of a row have its target, unless they have their own.
            "explode" if table.columns.iter().any(|(_, column)| column.target) => {
                let taken = arguments.first_value().constant();
                let own = taken.is_none_or(|name| self.targets.contains(&name));
                let rows = if own { RowsId::UNKNOWN } else { table.rows };
                let rows = self.rows.repeated(rows, self.site(arguments.range));
                self.table(table.with_rows(rows))
            }
            "explode" | "iterrows" | "itertuples" | "iter_rows" => Value::Unknown,
            _ => return None,
        })
    }

    /// Methods that compute something from all rows.
    fn call_statistic(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Option<Value> {
        let axis = arguments.named("axis").or_else(|| arguments.positional.last());
        let across = matches!(axis, Some(Value::Int(1)));
        Some(match name {
            _ if across && is_one(ACROSS, name) => self.table(table.values()),
            "mean" | "sum" if matches!(axis, Some(Value::Int(0))) => {
                self.reduce(table, name == "mean", arguments.range)
            }
            "mean" | "median" | "std" | "var" | "quantile" | "mode" => {
                self.reduce(table, true, arguments.range)
            }
            "max" | "min" | "sum" | "count" | "any" | "all" | "nunique" | "skew" | "kurt" | "prod" => {
                self.reduce(table, false, arguments.range)
            }
            "value_counts" | "unique" | "describe" | "idxmax" | "idxmin" => {
                let mut deps = self.without_answers(&table.values().rest.deps);
                let category = name == "unique";
                if !category {
                    deps.add(&self.counted_by_target(table, arguments.range));
                }
                Value::Number(Rc::new(Number { deps, category, ..Number::default() }))
            }
            "corr" | "corrwith" | "cov" => self.correlations(table, name, arguments),
            "pivot_table" | "pivot" => {
                let values = arguments.get(0, "values").and_then(Value::constant);
                let by_target = values.is_some_and(|name| self.targets.contains(&name));
                self.statistics(table.rows, by_target, arguments)
            }
            "map" | "apply" | "transform" | "applymap" | "map_elements" => self.mapped(table, arguments),
            "agg" | "aggregate" => self.reduce(table, true, arguments.range),
            _ => return None,
        })
    }

    fn correlations(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Value {
        let other = arguments.first().and_then(|value| self.table_of(value)).cloned();
        let other = other.as_ref();
        if name == "corr"
            && let Some(truth) = other.filter(|other| other.is_target())
            && self.infos.has_model(&table.deps())
        {
            let deps = table.values().rest.deps;
            return Value::score(self.score(arguments.range, truth.rows, &deps, false));
        }
        let is_of_target = |one: &Table| one.columns.is_empty() && self.is_of_target(one);
        let with_target = is_of_target(table) || other.is_some_and(is_of_target);
        if let Some(label) = other.and_then(|other| other.label.clone()).filter(|_| name == "corrwith") {
            self.seen.targets.names.insert(label.to_string());
        }
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
            Value::Method(method) => {
                let base = method.0.clone();
                self.deps_of(&base)
            }
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

    /// Methods that choose or make columns.
    fn call_columns(&mut self, (base, table): Of<'_>, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
        Some(match name {
            "drop" => self.dropped(table, arguments),
            "pop" => {
                let Some(name) = first.constant() else {
                    let unsure = self.unsure(table);
                    if let Some(table) = self.state.table_mut(base) {
                        *table = unsure;
                    }
                    return None;
                };
                let column = self.select(table, &name);
                if let Some(table) = self.state.table_mut(base) {
                    table.remove(&name);
                }
                self.table(column)
            }
            "select" | "filter" => match self.texts(arguments.get(0, "items").unwrap_or(&first)) {
                Some(names) => {
                    let selected = self.select_all(table, &names);
                    self.table(selected)
                }
                // Some of the columns, by their names.
                None if ["regex", "like"].iter().any(|by| arguments.named(by).is_some()) => {
                    let some = Table { framed: true, ..self.unsure(table) };
                    self.table(some)
                }
                None => Value::Unknown,
            },
            "select_dtypes" => self.select_types(table, arguments),
            "assign" => self.assigned(table, arguments),
            "insert" => {
                let (name, column) =
                    (arguments.get(1, "column")?.constant()?, self.column_of(arguments.get(2, "value")?));
                let value = arguments.get(2, "value").cloned().unwrap_or_default();
                self.note_source(&name, &value);
                let column = self.answering(&name, &value, column, arguments.range);
                if let Some(table) = self.state.table_mut(base) {
                    table.set(name, column);
                }
                Value::None
            }
            "merge" | "join" => {
                let other = first;
                self.merged(table, &other, arguments)
            }
            "get" => match first.constant().filter(|_| table.whole && !first.is_constant_number()) {
                Some(name) => {
                    let column = self.select(table, &name);
                    self.table(column)
                }
                None => Value::learnt(table.values().rest.deps),
            },
            _ => return None,
        })
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
            let column = self.column_of(&value);
            self.note_source(name, &value);
            let column = self.answering(name, &value, column, arguments.range);
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
        let names = match of_columns {
            Some(names) => names,
            None if by_axis => first,
            None => {
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

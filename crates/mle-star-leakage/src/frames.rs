//! Methods of tables and groups.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::facts::Split;
use crate::info::{Kind, Lesson, Lessons};
use crate::machine::{Machine, row_of};
use crate::names::is_one;
use crate::rows::RowsId;
use crate::table::{Column, Group, Table};
use crate::value::{Object, Value};

/// A value, and the table that it is.
type Of<'a> = (&'a Value, &'a Table);

/// Methods whose values are true or false.
const COMPARISONS: &str = "
    isin between isna isnull notna notnull eq ne gt lt ge le";

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
        let value = self
            .call_whole((base, table), name, arguments)
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

    /// Methods that keep all rows and columns.
    fn call_whole(&mut self, (base, table): Of<'_>, name: &str, arguments: &Arguments) -> Option<Value> {
        Some(match name {
            "copy" | "reset_index" | "astype" | "infer_objects" | "convert_dtypes" | "ffill" | "bfill"
            | "rename_axis" | "set_index" | "sort_index" | "to_frame" | "cast" | "collect" | "lazy"
            | "to_pandas" | "tocsr" | "toarray" | "todense" | "pipe" | "float" | "cpu" | "detach"
            | "type" | "to" | "cuda" | "long" | "double" | "half" | "int" | "contiguous" | "clone"
            | "unsqueeze" | "requires_grad_" | "permute" | "tolist" | "to_list" | "to_dict" | "droplevel"
            | "unstack" | "stack" | "fill_null" | "with_row_index" | "items" | "swaplevel" => {
                let mut same = table.clone();
                if name != "copy" {
                    same.index &= matches!(name, "tolist" | "to_list" | "astype");
                }
                self.table(same)
            }
            "to_numpy" | "ravel" | "flatten" | "reshape" | "squeeze" | "transpose" | "view" | "numpy"
            | "round" | "abs" | "rank" | "argsort" | "argmax" | "dot" | "multiply" | "divide" | "sub"
            | "add" | "mul" | "div" | "pow" | "subtract" | "isin" | "between" | "isna" | "isnull"
            | "notna" | "notnull" | "eq" | "ne" | "gt" | "lt" | "ge" | "le" | "where" | "mask" | "clip"
            | "replace" | "fillna" => self.valuewise(table, name, arguments),
            "sort_values" | "sort" => self.sorted(table, arguments),
            "rename" => {
                let renamed = self.renamed(table, arguments);
                self.table(renamed)
            }
            "groupby" | "group_by" => self.grouped(table, arguments),
            "shift" | "diff" | "pct_change" | "cumsum" | "cumcount" | "cummax" | "cummin" | "cumprod" => {
                let mut lagged = table.values();
                lagged.rest.target = false;
                lagged.rest.lessons = self.lagged(&lagged.rest.lessons);
                // Later values of a column are no values of the column.
                lagged.label = None;
                lagged.mask.compared = None;
                self.table(lagged)
            }
            "rolling" | "expanding" | "ewm" | "resample" => {
                let window = name != "resample" && !excludes_itself(arguments);
                let table = table.clone();
                self.state.add(Object::Group(Group {
                    table,
                    chosen: true,
                    ordered: true,
                    window,
                    by_target: false,
                }))
            }
            "to_csv" | "to_parquet" | "to_pickle" | "to_feather" | "write_csv" => {
                let path = arguments.first_value();
                self.write(&path);
                Value::None
            }
            "info" | "head_" | "hist" | "plot" => Value::None,
            "keys" => self.attribute(base, "columns"),
            _ => return None,
        })
    }

    fn sorted(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let by = arguments.value(0, "by");
        let by = by.constant().or_else(|| self.texts(&by)?.first().cloned());
        let is_time = |name: &Rc<str>| table.order.times.contains(name) || self.is_time(name);
        let sorted = by.filter(is_time);
        let lessons = self.order_of(table);
        let mut same = self.ordered_by(table, &lessons);
        same.order.sorted = sorted;
        self.table(same)
    }

    /// Whether the facts say that a column is the time.
    fn is_time(&self, name: &str) -> bool {
        matches!(&self.facts.split, Some(Split::Time(Some(column))) if column == name)
    }

    fn valuewise(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Value {
        let conditional = is_one(COMPARISONS, name);
        let others: Lessons = arguments.all().map(|value| self.lessons_of(value)).collect();
        let others = self.applied(&others, table.rows);
        let keeps_columns =
            matches!(name, "fillna" | "clip" | "replace" | "round" | "abs" | "where" | "mask");
        let mut made = if keeps_columns { table.clone() } else { table.values() };
        made.learn(&others);
        if keeps_columns && name != "round" && !others.is_empty() {
            made.rest.target &= table.rest.target;
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
        let opposites = [
            ("notna", "isna"),
            ("notnull", "isna"),
            ("isnull", "isna"),
            ("ne", "eq"),
            ("ge", "lt"),
            ("le", "gt"),
        ];
        let (key, negated) = match opposites.iter().find(|(one, _)| *one == name) {
            Some((one, other)) => (text.replace(one, other), *one != "isnull"),
            None => (text, false),
        };
        made.mask.condition = Some((key.into(), negated));
        made.by_target = table.is_target();
        made
    }

    fn renamed(&mut self, table: &Table, arguments: &Arguments) -> Table {
        let names = arguments.named("columns").or_else(|| arguments.positional.first());
        let mut renamed = table.clone();
        match names.map(|names| (names.constant(), self.state.get(names))) {
            Some((Some(name), _)) => renamed.label = Some(name),
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

    /// Methods that choose rows.
    fn call_rows(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Option<Value> {
        Some(match name {
            "dropna" | "drop_duplicates" | "query" | "head" | "tail" | "nlargest" | "nsmallest"
            | "truncate" | "sample" | "filter_rows" | "drop_nulls" | "limit" => {
                let left = self.filtered(table, name, arguments);
                self.table(left)
            }
            "take" | "reindex" => {
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
            "mean" | "median" | "std" | "var" | "quantile" | "mode" => {
                self.reduce(table, true, arguments.range)
            }
            "max" | "min" | "sum" | "count" | "any" | "all" | "nunique" | "skew" | "kurt" | "prod" => {
                self.reduce(table, false, arguments.range)
            }
            "value_counts" | "unique" | "describe" | "idxmax" | "idxmin" => {
                let lessons = table.values().rest.lessons;
                Value::learnt(lessons)
            }
            "corr" | "corrwith" | "cov" => self.correlations(table, name, arguments),
            "pivot_table" | "pivot" => {
                let values = arguments.get(0, "values").and_then(Value::constant);
                let by_target = values.is_some_and(|name| self.targets.contains(&*name));
                self.statistics(table.rows, by_target, arguments)
            }
            "map" | "apply" | "transform" | "applymap" | "map_elements" => self.mapped(table, arguments),
            "agg" | "aggregate" => self.reduce(table, true, arguments.range),
            _ => return None,
        })
    }

    fn correlations(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Value {
        let other = arguments.first().and_then(|value| self.table_of(value));
        let with_target = table.is_target() || other.is_some_and(Table::is_target);
        if let Some(label) = other.and_then(|other| other.label.clone()).filter(|_| name == "corrwith") {
            self.seen.targets.insert(label.to_string());
        }
        let kind = if with_target { Kind::Selection } else { Kind::Unsupervised };
        Value::learnt(self.learn(kind, arguments.range, table.rows))
    }

    /// A table of statistics: one row per group.
    pub(crate) fn statistics(&mut self, rows: RowsId, of_target: bool, arguments: &Arguments) -> Value {
        let lessons =
            if of_target { self.learn(Kind::Target, arguments.range, rows) } else { Lessons::default() };
        self.array(RowsId::UNKNOWN, lessons)
    }

    /// `column.map(...)`.
    fn mapped(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let function = arguments.first_value();
        let lessons = match &function {
            Value::Function(..) => {
                let across = matches!(arguments.get(1, "axis"), Some(Value::Int(1)));
                let item = if across {
                    self.table(table.clone())
                } else {
                    Value::learnt(table.values().rest.lessons)
                };
                let value = self.call_with(&function, &[item], arguments.range);
                self.lessons_of(&value)
            }
            Value::Method(method) => {
                let base = method.0.clone();
                self.lessons_of(&base)
            }
            _ => self.lessons_of(&function),
        };
        let own = table.values();
        let target = own.rest.target && lessons.is_empty();
        let mut made = Table::array(table.rows, own.rest.lessons.and(&lessons));
        made.rest.target = target;
        made.label = own.label;
        self.table(made)
    }

    /// Methods that choose or make columns.
    fn call_columns(&mut self, (base, table): Of<'_>, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
        Some(match name {
            "drop" => self.dropped(table, arguments),
            "pop" => {
                let Some(name) = first.constant() else {
                    if let Some(table) = self.state.table_mut(base) {
                        table.kept.clear();
                    }
                    return None;
                };
                let column = self.select(table, &name);
                if let Some(table) = self.state.table_mut(base) {
                    table.remove(&name);
                }
                self.table(column)
            }
            "select" | "filter" => match self.texts(&first) {
                Some(names) => {
                    let selected = self.select_all(table, &names);
                    self.table(selected)
                }
                None => Value::Unknown,
            },
            "select_dtypes" => self.select_types(table, arguments),
            "assign" => self.assigned(table, arguments),
            "insert" => {
                let (name, column) =
                    (arguments.get(1, "column")?.constant()?, self.column_of(arguments.get(2, "value")?));
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
                Some(name) => self.table(self.select(table, &name)),
                None => Value::learnt(table.values().rest.lessons),
            },
            _ => return None,
        })
    }

    /// Columns by their types. Statistics are numbers.
    fn select_types(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let excluded = arguments.named("exclude").is_some();
        let text = self.compact(arguments.range);
        let numeric = text.contains("number") || text.contains("float") || text.contains("int");
        let mut selected = table.clone();
        (selected.whole, selected.kept) = (false, Vec::new());
        if numeric == excluded {
            selected.columns.clear();
            selected.unnamed = Lessons::default();
        }
        self.table(selected)
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
            made.set(Rc::clone(name), self.column_of(&value));
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
            _ => (left.whole, left.kept) = (false, Vec::new()),
        }
        if let Value::Names(given) = &names
            && given.sure
        {
            left.columns.retain(|(name, _)| given.except.contains(name));
        }
        let lessons = self.lessons_of(&names);
        let lessons = self.infos.of_kind(&lessons, Kind::Selection);
        left.learn(&lessons);
        self.table(left)
    }

    fn without_rows(&mut self, table: &Table, index: &Value, arguments: &Arguments) -> Value {
        let rows = match self.table_of(index).map(|index| index.rows) {
            Some(part) => self.other_side(table.rows, part),
            None => None,
        };
        let rows = match rows {
            Some(rows) => rows,
            None => self.rows.some(table.rows, self.site(arguments.range)),
        };
        self.table(table.with_rows(rows))
    }

    /// Methods of groups.
    pub(crate) fn call_group(&mut self, group: &Group, name: &str, arguments: &Arguments) -> Value {
        match name {
            "rolling" | "expanding" | "ewm" | "shift" | "cumsum" | "cumcount" | "diff" | "pct_change"
            | "ffill" | "bfill" | "rank" | "cummax" | "cummin" | "ngroup" => {
                return if matches!(name, "rolling" | "expanding" | "ewm") {
                    let window = !excludes_itself(arguments);
                    self.state.add(Object::Group(Group { ordered: true, window, ..group.clone() }))
                } else {
                    let lessons = group.table.values().rest.lessons;
                    let lessons = self.lagged(&lessons);
                    self.array(group.table.rows, lessons)
                };
            }
            "groups" | "indices" | "get_group" | "__iter__" | "head" | "tail" | "sample" => {
                return Value::Unknown;
            }
            "reset_index" => return self.state.add(Object::Group(group.clone())),
            _ => {}
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
            return self.array(rows, Lessons::default());
        }
        if name == "apply" && ["sample(", "resample("].iter().any(|word| windowed.contains(word)) {
            return self.sampled_groups(group, arguments);
        }
        self.aggregated(group, rows, arguments)
    }

    /// The source of a function that is applied to groups.
    fn words_of_function(&self, arguments: &Arguments) -> String {
        let Some(Value::Function(function, _)) = arguments.first() else { return String::new() };
        format!("{} {}", self.text(arguments.range), self.body_text(*function).unwrap_or_default())
    }

    /// Statistics of the target of rows before each row, and of the row itself.
    fn windowed(&mut self, group: &Group, rows: RowsId, arguments: &Arguments) -> Value {
        let mut lessons = group.table.values().rest.lessons;
        if group.table.is_target() {
            lessons = lessons.and(&self.learn(Kind::Window, arguments.range, group.table.rows));
        }
        self.array(rows, lessons)
    }

    /// What values of rows before depend on.
    fn lagged(&mut self, lessons: &Lessons) -> Lessons {
        self.infos.without(lessons, Kind::Window)
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
        let lesson = Lesson::new(Kind::Target, self.site(arguments.range), group.table.rows);
        let lessons = self.infos.lesson(lesson);
        let table = &group.table;
        if group.chosen {
            let of_target = table.is_target() || table.columns.iter().any(|(_, column)| column.target);
            let lessons = if of_target { lessons } else { Lessons::default() };
            let mut made = Table::array(rows, table.lessons().and(&lessons));
            if let Some(label) = &table.label {
                made.set(Rc::clone(label), Column { lessons, target: false });
            }
            return self.table(made);
        }
        // All columns, or those that the arguments name: `agg({"price": "mean"})`, `agg(level=("price", "mean"))`.
        let mut made = Table::of(rows);
        let target = |machine: &Self, name: &str| machine.targets.contains(name);
        for (name, value) in &arguments.named {
            let of = self.contents(value).and_then(|items| items.first()?.constant());
            if of.is_some_and(|of| target(self, &of)) {
                made.set(Rc::clone(name), Column { lessons: lessons.clone(), target: false });
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
                made.set(name, Column { lessons: lessons.clone(), target: false });
            }
        }
        self.table(made)
    }
}

/// Whether the statistics of a row leave out the row itself: `rolling(7, closed="left")`.
fn excludes_itself(arguments: &Arguments) -> bool {
    matches!(arguments.named("closed"), Some(Value::Str(closed)) if matches!(&**closed, "left" | "neither"))
}

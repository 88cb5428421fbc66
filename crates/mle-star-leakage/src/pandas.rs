//! Functions of pandas and polars.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::conditions::key_of_query;
use crate::info::{Dependencies, Kind};
use crate::machine::Machine;
use crate::names;
use crate::rows::{DivisionKind, RowsId};
use crate::table::{Column, Group, Table, UNKNOWN_PART};
use crate::value::{Dict, Object, Value};
use ruff_text_size::TextRange;

/// Functions and classes of other libraries that read a table.
const READERS: &str = "
    numpy.load np.load numpy.genfromtxt numpy.loadtxt scipy.sparse.load_npz h5py.File";

impl Machine<'_> {
    /// Functions of pandas and polars, and readers of other libraries.
    pub(crate) fn call_pandas(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Option<Value> {
        let first = arguments.first_value();
        if symbol.starts_with("sklearn.datasets") {
            return Some(self.example_data(symbol, arguments));
        }
        if (name.starts_with("read_sql") || matches!(name, "sql" | "query" | "sqldf"))
            && let Some(made) = self.queried(&first, arguments)
        {
            return Some(made);
        }
        if name.starts_with("read_") || name.starts_with("scan_") || names::is_one(READERS, symbol) {
            let path = match &first {
                Value::Method(method) if &*method.1 == "file of" => method.0.clone(),
                path => path.clone(),
            };
            let table = self.read_table(&path, arguments);
            if symbol.starts_with("polars")
                && let Some(table) = self.state.table_mut(&table)
            {
                table.polars = true;
            }
            return Some(table);
        }
        if !["pandas", "polars", "cudf", "dask"].iter().any(|library| symbol.starts_with(library)) {
            return None;
        }
        if let Some(value) = self.call_expression(symbol, name, arguments) {
            return Some(value);
        }
        if let ("Series", Some(label), Some(values)) =
            (name, first.as_str(), arguments.get(1, "values").and_then(|values| self.table_of(values)))
        {
            let named = Table { label: Some(label.into()), polars: true, ..values.values() };
            return Some(self.table(named));
        }
        Some(match (name, self.table_of(&first).cloned()) {
            ("DataFrame" | "Series", _) => self.made_table(&first, arguments),
            ("concat", _) => self.concat(&first, arguments),
            ("crosstab", table) => {
                let about = |table: &Table| table.by_target || self.is_of_target(table);
                let by_target = arguments.all().any(|value| self.table_of(value).is_some_and(about));
                let rows = table.map_or(RowsId::UNKNOWN, |table| table.rows);
                self.statistics(rows, by_target, arguments)
            }
            (_, Some(table)) => self.call_on_table(name, &first, &table, arguments),
            ("Timestamp" | "to_datetime", None) if first.as_str().is_some() => first,
            _ => Value::Unknown,
        })
    }

    /// A function of pandas whose first argument is a table.
    fn call_on_table(&mut self, name: &str, value: &Value, table: &Table, arguments: &Arguments) -> Value {
        match name {
            "merge" | "merge_asof" => {
                let other = arguments.value(1, "right");
                self.merged(table, &other, arguments)
            }
            "to_datetime" => self.table(table.values().with_times(vec!["time".into()])),
            "cut" => {
                let bins = arguments.get(1, "bins").map(|bins| self.deps_of(bins)).unwrap_or_default();
                let bins = self.applied(&bins, table.rows);
                let mut cut = table.clone();
                cut.learn(&bins);
                self.table(cut)
            }
            "from_pandas" => self.table(Table { polars: true, ..table.clone() }),
            "get_dummies" => {
                let mut made = table.clone();
                let all = ["columns", "drop_first"].iter().all(|name| arguments.named(name).is_none());
                if all {
                    self.add_other_classes(&mut made, arguments.range);
                }
                self.table(made)
            }
            "to_numeric" => self.table(table.clone()),
            "factorize" => {
                let codes = self.table(table.values());
                Value::Tuple([codes, Value::Unknown].into())
            }
            "qcut" => self.table(table.values()),
            "pivot_table" | "isna" | "isnull" | "notna" | "notnull" => {
                self.call_table(value, table, name, arguments)
            }
            _ => Value::Unknown,
        }
    }

    /// The columns of the other classes beside one that is the target: `y_no` beside `y_yes`.
    fn add_other_classes(&mut self, made: &mut Table, range: TextRange) {
        let before = self.source.get(..range.start().to_usize()).unwrap_or_default();
        let is_named = |text: &str, name: &str| {
            [format!("\"{name}\""), format!("'{name}'")].iter().any(|quoted| text.contains(quoted))
        };
        let class = |name: &String| {
            let (column, _) = name.rsplit_once('_')?;
            let is_set = ["\"", "'"].iter().any(|mark| {
                let column = format!("{mark}{name}{mark}]");
                self.source.split(&column).skip(1).any(|after| after.trim_start().starts_with("= "))
            });
            let divided = made.whole
                && !is_set
                && !self.targets.contains(column)
                && is_named(self.source, column)
                && !is_named(before, name);
            divided.then(|| (column.to_owned(), name.clone()))
        };
        let classes: Vec<(String, String)> = self.targets.iter().filter_map(class).collect();
        for (column, target) in classes {
            let Some(number) = self.targets.number(&target) else { continue };
            let answer = self.learn(Kind::Answer(number), range, made.rows);
            made.set(format!("{column}_{UNKNOWN_PART}").into(), Column::learnt(answer));
        }
    }

    pub(crate) fn read_table(&mut self, path: &Value, arguments: &Arguments) -> Value {
        self.read(path, arguments);
        // Parts of a file, or several tables in one file, are different rows.
        let partly = ["nrows", "skiprows", "skipfooter", "chunksize", "sheet_name", "filters", "key"];
        let partly = partly.iter().any(|part| arguments.named(part).is_some());
        let name = match path.constant() {
            Some(path) if partly => format!("{path} {:?}", arguments.range),
            Some(path) => path.to_string(),
            // It may be another file each time.
            None => format!("{:?} {}", arguments.range, self.state.count()),
        };
        let rows = self.rows.table(&name);
        let file = path.constant().unwrap_or_else(|| format!("{:?}", arguments.range).into());
        let targets = self.targets_of_file(rows, &file);
        let times = arguments.named("parse_dates").and_then(|names| self.texts(names)).unwrap_or_default();
        let whole =
            !matches!(arguments.called_name(self.source), "load" | "load_npz" | "genfromtxt" | "loadtxt");
        let mut table = Table { whole, columns: targets, ..Table::of(rows) }.with_times(times);
        if let Some(names) = arguments.named("usecols").or_else(|| arguments.named("columns")) {
            table = match self.texts(names) {
                Some(names) => self.select_all(&table, &names),
                None => self.unsure(&table),
            };
        }
        self.table(table)
    }

    fn example_data(&mut self, symbol: &str, arguments: &Arguments) -> Value {
        let rows = self.rows.table(&format!("{symbol} {:?}", arguments.range));
        let made = symbol.contains(".make_") || arguments.is_true("return_X_y");
        let table = self.table(Table::of(rows));
        if !made {
            return table;
        }
        let mut target = Table { label: Some("target".into()), ..Table::of(rows) };
        target.rest.target = true;
        let target = self.table(target);
        Value::Tuple([table, target].into())
    }

    /// Scores or statistics in a dictionary.
    fn numbers_by_name(&mut self, first: &Value, arguments: &Arguments) -> Option<Value> {
        let Some(Object::Dict(dict)) = self.state.get(first) else { return None };
        if !dict.values().iter().all(|value| matches!(value, Value::Number(_))) {
            return None;
        }
        if !self.scores_of(first, 3).is_empty() {
            return Some(self.as_scores(first));
        }
        let is_series = arguments.called_name(self.source) == "Series";
        is_series.then(|| self.array(RowsId::UNKNOWN, self.deps_of(first)))
    }

    fn made_table(&mut self, first: &Value, arguments: &Arguments) -> Value {
        if arguments.all().next().is_none() {
            return self.table(Table::default());
        }
        if let Some(made) = self.numbers_by_name(first, arguments) {
            return made;
        }
        let index = arguments.named("index").and_then(|index| self.table_of(index)).map(|table| table.rows);
        let mut made = match (self.table_of(first).cloned(), self.state.get(first)) {
            (Some(table), _) => {
                let names = arguments.named("columns").and_then(|names| self.texts(names));
                let mut made = Table { index: false, ..table };
                if let Some(names) = names.filter(|_| made.columns.is_empty()) {
                    made.rest.deps = self.without_answers(&made.rest.deps);
                    let column = made.rest.clone();
                    names.into_iter().for_each(|name| made.set(name, column.clone()));
                }
                made
            }
            (None, Some(Object::Dict(dict))) => {
                let mut dict = dict.clone();
                let labelled = self.are_labelled(&dict.values());
                for (_, value) in &mut dict.items {
                    if let Some(table) = self.row_list(value).filter(|_| labelled) {
                        *value = self.table(table);
                    }
                }
                self.frame(&dict)
            }
            (None, Some(Object::List(_))) if !self.scores_of(first, 3).is_empty() => {
                return self.as_scores(first);
            }
            _ => {
                let deps = self.deps_of(first);
                if deps.is_empty() && index.is_none() {
                    return match first {
                        Value::Number(_) => first.clone(),
                        Value::Method(_) => first.clone(),
                        _ => self.as_scores(first),
                    };
                }
                if matches!(first, Value::Number(_)) {
                    return first.clone();
                }
                Table::array(RowsId::UNKNOWN, deps)
            }
        };
        let from_dict = matches!(self.state.get(first), Some(Object::Dict(_)));
        made.framed |= from_dict || arguments.named("columns").is_some();
        if let Some(rows) = index.filter(|_| !made.rows.is_known()) {
            made.rows = rows;
        }
        self.table(made)
    }

    /// A dictionary of columns as a table.
    pub(crate) fn frame(&mut self, dict: &Dict) -> Table {
        let named = dict.items.iter().map(|(_, value)| value);
        let tables = named.chain(&dict.others).filter_map(|value| self.table_of(value));
        let rows = tables.map(|table| table.rows).find(|rows| rows.is_known()).unwrap_or_default();
        let mut made = Table::of(rows);
        for (name, value) in &dict.items {
            made.set(Rc::clone(name), self.column_of(value));
        }
        // Columns with names that are not known, as in a loop over all columns of a table.
        for value in dict.others.iter().filter(|value| self.table_of(value).is_some()) {
            made.rest.deps.add(&self.column_of(value).deps);
        }
        made
    }

    fn concat(&mut self, first: &Value, arguments: &Arguments) -> Value {
        let across = matches!(arguments.get(1, "axis"), Some(Value::Int(1)))
            || matches!(arguments.get(1, "axis"), Some(Value::Str(axis)) if &**axis == "columns")
            || matches!(arguments.named("how"), Some(Value::Str(how)) if &**how == "horizontal");
        let open = matches!(self.state.get(first), Some(Object::List(list)) if list.open);
        let items = self.contents(first).unwrap_or_default();
        let tables: Vec<Table> = items.iter().filter_map(|item| self.table_of(item)).cloned().collect();
        if tables.is_empty() {
            return Value::Unknown;
        }
        if across {
            let made = self.side_by_side(&tables, arguments.range);
            return self.table(made);
        }
        let fixed = self.fixed_tables(first);
        self.below(&tables, open || tables.len() < items.len(), fixed, arguments)
    }

    /// `table.merge(other)`: the rows of the table with the columns of the other one.
    pub(crate) fn merged(&mut self, table: &Table, other: &Value, arguments: &Arguments) -> Value {
        let right = matches!(arguments.named("how"), Some(Value::Str(how)) if &**how == "right");
        let Some(other) = self.table_of(other).cloned() else {
            let same = if right { Table::default() } else { table.clone() };
            return self.table(same);
        };
        let (mut made, other) = if right { (other, table.clone()) } else { (table.clone(), other) };
        let keys = arguments.named("on").cloned().unwrap_or_default();
        let keys = keys.constant().map_or_else(|| self.texts(&keys).unwrap_or_default(), |key| vec![key]);
        let (same, from) = (other.rows == made.rows && made.rows.is_known(), other.rows);
        // A key that was changed finds other rows, as those of the week before.
        let set = |table: &Table, key: &Rc<str>| table.named(key).map_or(0, |column| column.set);
        let (left, right) = (arguments.named("left_on"), arguments.named("right_on"));
        let moved = keys.iter().any(|key| set(&other, key) != set(&made, key))
            || left.and_then(Value::constant) != right.and_then(Value::constant)
            || matches!(arguments.named("allow_exact_matches"), Some(Value::Bool(false)));
        for (name, column) in &other.columns {
            let column = &match moved {
                true => Column::learnt(self.of_unknown_rows(&column.deps)),
                false => self.looked_up(column, same, from, arguments),
            };
            if !keys.contains(name) && (!column.deps.is_empty() || column.target) {
                let taken = made.named(name).is_some() || self.targets.contains(name);
                let name = if taken { format!("{name}_y").into() } else { Rc::clone(name) };
                made.set(name, column.clone());
            }
        }
        made.unnamed.add(&other.rest.deps.and(&other.unnamed));
        made.label = None;
        self.table(made)
    }

    /// What values depend on that are those of other rows than before, and it is not known which.
    pub(crate) fn of_unknown_rows(&mut self, deps: &Dependencies) -> Dependencies {
        let deps = self.lagged(deps);
        self.infos.without(&deps, Kind::Target)
    }

    /// A column that is taken over by a key: the target of other rows is a statistic of them.
    fn looked_up(&mut self, column: &Column, same: bool, from: RowsId, arguments: &Arguments) -> Column {
        if same && column.target {
            return Column::learnt(column.answer.clone());
        }
        if same || !(column.target || self.has_answer(&column.deps)) {
            return column.clone();
        }
        let deps = self.without_answers(&column.deps);
        Column::learnt(deps.and(&self.learn(Kind::Target, arguments.range, from)))
    }

    /// Selects columns or rows: `table.loc[...]` called, `text.str.lower()` and the like.
    pub(crate) fn call_accessor(
        &mut self,
        base: &Value,
        accessor: &str,
        name: &str,
        arguments: &Arguments,
    ) -> Value {
        if matches!((accessor, name), ("history of" | "cross of", "get" | "pop")) {
            let key = arguments.first_value();
            return self.item_of_results(base, accessor, &key, arguments.range);
        }
        let Some(table) = self.table_of(base).cloned() else { return Value::Unknown };
        match (accessor, name) {
            ("T of", "dot") => {
                let left = Value::method(base.clone(), accessor);
                self.product_of(&left, &arguments.first_value(), arguments.range)
            }
            ("T of", _) => Value::Unknown,
            ("str", "contains" | "startswith" | "endswith") => {
                let key = self.compact(arguments.range);
                self.table(Table::conditions(table.rows, &key))
            }
            _ => self.table(table.values()),
        }
    }

    /// Columns by their types. Statistics are numbers.
    pub(crate) fn select_types(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let excluded = arguments.named("exclude").is_some();
        let text = self.compact(arguments.range);
        let numeric = text.contains("number") || text.contains("float") || text.contains("int");
        let mut selected = if numeric == excluded {
            Table { columns: Vec::new(), unnamed: Dependencies::default(), ..self.unsure(table) }
        } else {
            Table { whole: false, ..table.clone() }
        };
        selected.framed = true;
        selected.columns.retain(|(name, column)| !column.target || self.is_numeric(name));
        self.table(selected)
    }

    /// Rows that a method leaves.
    pub(crate) fn filtered(&mut self, table: &Table, name: &str, arguments: &Arguments) -> Table {
        if name == "sample" {
            return self.sample(table, arguments);
        }
        table.with_rows(if name == "query" {
            let query = arguments.first().and_then(Value::constant).unwrap_or_default();
            let key = key_of_query(&query);
            let (key, negated) = key.unwrap_or_else(|| (format!("query {query}"), false));
            let kind =
                if self.queries_a_value(&query) { DivisionKind::Value } else { DivisionKind::Condition };
            self.divided(table.rows, &key, negated, kind)
        } else {
            // The same call on the same rows leaves the same rows.
            self.rows.some(table.rows, self.site(arguments.range))
        })
    }

    /// Whether a query takes the rows with one value of a column, as in a loop over all of them: `town == @town`.
    fn queries_a_value(&self, query: &str) -> bool {
        let value = query
            .split_once("==")
            .and_then(|(_, name)| self.state.variable(self.scope, name.trim().strip_prefix('@')?));
        matches!(value, Some(Value::Number(number)) if number.category)
    }

    /// `table.groupby(...)`.
    pub(crate) fn grouped(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let by = arguments.value(0, "by");
        let by_target = by.constant().is_some_and(|name| self.targets.contains(&name))
            || self.table_of(&by).is_some_and(Table::is_target);
        let names = by.constant().map(|name| vec![name]).or_else(|| self.texts(&by)).unwrap_or_default();
        let target = names.iter().find_map(|name| self.targets.number(name));
        let chosen = table.columns.is_empty() && (table.label.is_some() || !table.whole);
        self.state.add(Object::Group(Group {
            table: table.clone(),
            chosen,
            by_target,
            target,
            ..Group::default()
        }))
    }
}

//! Tables that are read, made or put together: `read_csv`, `DataFrame`, `concat`, `merge`.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::conditions::{UNKNOWN, key_of_query};
use crate::effects::{self, Make, Receiver};
use crate::info::{Dependencies, Kind};
use crate::machine::Machine;
use crate::rows::{DivisionKind, RowsId};
use crate::table::{Column, Table, UNKNOWN_PART};
use crate::value::{Bound, Dict, Object, Value};

impl Machine<'_> {
    /// A table that is read from a file, which may be open: with the names of its columns, or without.
    pub(crate) fn read_table(&mut self, file: &Value, whole: bool, arguments: &Arguments) -> Value {
        let path = match file.bound() {
            Some((path, Bound::File)) => path,
            _ => file,
        };
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
        let range = self.all_columns(rows);
        let mut table = Table { whole, columns: targets, range, ..Table::of(rows) }.with_times(times);
        if let Some(names) = arguments.named("usecols").or_else(|| arguments.named("columns")) {
            table = match self.texts(names) {
                Some(names) => self.select_all(&table, &names),
                None => self.unsure(&table),
            };
        }
        self.table(table)
    }

    /// A data set that a library has or makes.
    pub(crate) fn example_data(&mut self, parts: bool, arguments: &Arguments) -> Value {
        let rows = self.rows.table(&format!("example {:?}", arguments.range));
        let table = self.table(Table::of(rows));
        if !parts && !arguments.is_true("return_X_y") {
            return table;
        }
        let mut target = Table { label: Some("target".into()), ..Table::of(rows) };
        target.rest.target = true;
        let target = self.table(target);
        Value::Tuple([table, target].into())
    }

    /// Scores or statistics in a dictionary.
    fn numbers_by_name(&mut self, make: Make, first: &Value) -> Option<Value> {
        let Some(Object::Dict(dict)) = self.state.get(first) else { return None };
        if !dict.values().iter().all(|value| matches!(value, Value::Number(_))) {
            return None;
        }
        if !self.scores_of(first, 3).is_empty() {
            return Some(self.as_scores(first));
        }
        (make == Make::Series).then(|| self.array(RowsId::UNKNOWN, self.deps_of(first)))
    }

    /// `DataFrame(...)` or `Series(...)`.
    pub(crate) fn made_table(&mut self, make: Make, first: &Value, arguments: &Arguments) -> Value {
        if arguments.all().next().is_none() {
            return self.table(Table::default());
        }
        // `polars.Series("name", values)`
        if let (Some(label), Some(values)) =
            (first.as_str(), arguments.get(1, "values").and_then(|values| self.table_of(values)))
        {
            let named = Table { label: Some(label.into()), polars: true, ..values.values() };
            return self.table(named);
        }
        if let Some(made) = self.numbers_by_name(make, first) {
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
                        Value::Number(_) | Value::Bound(_) => first.clone(),
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

    /// Methods of what a value has: `column.str.lower()` and the like.
    pub(crate) fn call_bound_value(
        &mut self,
        base: &Value,
        bound: &Bound,
        name: &str,
        arguments: &Arguments,
    ) -> Value {
        match (bound, self.table_of(base).cloned()) {
            (Bound::Transposed, _) | (_, None) => Value::Unknown,
            (Bound::Texts, Some(table)) if effects::of(&[Receiver::Texts], name).is_some() => {
                let key = self.key_at(arguments.range);
                self.table(Table::conditions(table.rows, &key))
            }
            (_, Some(table)) => self.table(table.values()),
        }
    }

    /// Columns by their types. Statistics are numbers.
    pub(crate) fn select_types(&mut self, table: &Table, arguments: &Arguments) -> Value {
        let excluded = arguments.named("exclude").is_some();
        let types =
            arguments.all().flat_map(|given| self.contents(given).unwrap_or_else(|| vec![given.clone()]));
        let is_numeric = |of: Value| match of {
            Value::Str(name) | Value::Symbol(name) => {
                ["number", "float", "int"].iter().any(|part| name.contains(part))
            }
            _ => false,
        };
        let numeric = types.into_iter().any(is_numeric);
        let mut selected = if numeric == excluded {
            Table { columns: Vec::new(), unnamed: Dependencies::default(), ..self.unsure(table) }
        } else {
            Table { whole: false, ..table.clone() }
        };
        selected.framed = true;
        selected.columns.retain(|(name, column)| !column.target || self.is_numeric(name));
        self.table(selected)
    }

    /// The rows for which a query holds.
    pub(crate) fn queried_rows(&mut self, rows: RowsId, arguments: &Arguments) -> RowsId {
        let given = arguments.first_value();
        let query = given.constant().unwrap_or_else(|| self.query_with_values(&given));
        let key = key_of_query(&query);
        let (key, negated) = key.unwrap_or_else(|| (format!("query {query}"), false));
        let kind = if self.queries_a_value(&query) { DivisionKind::Value } else { DivisionKind::Condition };
        self.divided(rows, &key, negated, kind)
    }

    /// A query in a text with values, of which each is told by what it depends on.
    fn query_with_values(&self, query: &Value) -> Rc<str> {
        let Value::Text(text) = query else { return format!("{UNKNOWN}{}", self.state.count()).into() };
        let mut values = text.values.iter().map(|value| match (value.constant(), value) {
            (Some(known), _) => known.to_string(),
            (None, Value::Number(number)) => format!("{:?}", number.deps),
            (None, _) => format!("{UNKNOWN}{}", self.state.count()),
        });
        let parts = text.fixed.split(UNKNOWN_PART);
        parts.flat_map(|part| [part.to_owned(), values.next().unwrap_or_default()]).collect::<String>().into()
    }

    /// Whether a query takes the rows with one value of a column, as in a loop over all of them: `town == @town`.
    fn queries_a_value(&self, query: &str) -> bool {
        let value = query
            .split_once("==")
            .and_then(|(_, name)| self.state.variable(self.scope, name.trim().strip_prefix('@')?));
        matches!(value, Some(Value::Number(number)) if number.category)
    }
}

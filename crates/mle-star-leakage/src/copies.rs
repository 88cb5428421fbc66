//! Rows one by one: lists that a loop over rows fills, and rows that it copies.

use std::borrow::Cow;
use std::rc::Rc;

use ruff_python_ast::Comprehension;
use ruff_text_size::TextRange;

use crate::calls::Arguments;
use crate::info::Dependencies;
use crate::machine::Machine;
use crate::rows::{Origin, RowsId};
use crate::site::Site;
use crate::table::{Column, Table};
use crate::value::{List, Number, Object, Row, Value};

impl Machine<'_> {
    /// Arguments in which lists with one item for each row are tables.
    pub(crate) fn with_row_lists<'g>(&mut self, arguments: &'g Arguments) -> Cow<'g, Arguments> {
        if !arguments.all().any(|value| self.is_filled_list(value)) {
            return Cow::Borrowed(arguments);
        }
        let mut made = arguments.clone();
        let given: Vec<Value> = arguments.all().cloned().collect();
        let labelled = self.are_labelled(&given);
        let named = made.named.iter_mut().map(|(_, value)| value);
        for value in made.positional.iter_mut().chain(named) {
            if let Some(mut table) = self.row_list(value) {
                if !labelled {
                    table.rows = RowsId::UNKNOWN;
                }
                *value = self.table(table);
            }
        }
        Cow::Owned(made)
    }

    /// Whether a value is a list that a loop fills.
    fn is_filled_list(&self, value: &Value) -> bool {
        matches!(self.state.get(value), Some(Object::List(list)) if !list.added.is_empty())
    }

    /// Whether lists that have rows more than once all do, labels as well: pairs of rows with labels of their own are
    /// no copies.
    pub(crate) fn are_labelled(&mut self, values: &[Value]) -> bool {
        let (mut repeated, mut others) = (false, false);
        for value in values {
            if !self.is_filled_list(value) {
                continue;
            }
            match self.row_list(value).map(|table| table.rows) {
                Some(rows) => repeated |= matches!(self.rows.origin(rows), Origin::Repeated { .. }),
                None => others = true,
            }
        }
        !(repeated && others)
    }

    /// A list with one item for each row, as a table.
    pub(crate) fn row_list(&mut self, value: &Value) -> Option<Table> {
        let Some(Object::List(list)) = self.state.get(value) else { return None };
        if list.added.is_empty() || list.fixed > 0 || list.items.is_empty() {
            return None;
        }
        let list = list.clone();
        let rows: Vec<Rc<Row>> = list.items.iter().filter_map(|item| self.row_in(item)).collect();
        let first = rows.first()?;
        if rows.iter().any(|row| row.rows != first.rows) {
            return None;
        }
        let mut taken = self.rows_added(&list, first.rows)?;
        if matches!(self.rows.origin(taken), Origin::Repeated { .. })
            && !list.items.iter().all(|item| self.keeps_label(item))
        {
            taken = RowsId::UNKNOWN;
        }
        let mut table = Table::of(taken);
        for item in &list.items {
            self.add_row_columns(&mut table, item);
        }
        let whole = first.table.as_ref().filter(|_| table.columns.is_empty());
        if let Some(whole) = whole {
            table = whole.with_rows(taken);
        } else if table.columns.is_empty() {
            table.rest.target = rows.len() == list.items.len() && rows.iter().all(|row| row.target);
            table.label = first.label.clone().filter(|_| rows.iter().all(|row| row.label == first.label));
            table.rest.deps = self.deps_of(value);
            let answers: Vec<_> = list.items.iter().map(|item| self.answers_among(item)).collect();
            answers.iter().for_each(|answers| table.rest.deps.add(answers));
        }
        Some(table)
    }

    /// The rows of a list by the places where a loop adds items.
    fn rows_added(&mut self, list: &List, of: RowsId) -> Option<RowsId> {
        let always: Vec<Site> =
            list.added.iter().filter(|(_, perhaps)| !perhaps).map(|(site, _)| *site).collect();
        let perhaps: Vec<Site> =
            list.added.iter().filter(|(_, perhaps)| *perhaps).map(|(site, _)| *site).collect();
        // A step that ends early may add an item at one place instead of the other.
        let skips = list.within.is_some_and(|within| self.syntax.continues.are_in(within));
        Some(match (always.as_slice(), perhaps.as_slice()) {
            ([_], []) => of,
            ([], [first, ..]) => {
                let clause = Site { expression: first.statement, statement: first.statement };
                self.rows.some(of, clause)
            }
            ([_], _) if skips => RowsId::UNKNOWN,
            ([_], [second, ..]) | ([_, second, ..], _) => {
                let second = Site { statement: second.expression, ..*second };
                self.rows.repeated(of, second)
            }
            ([], []) => return None,
        })
    }

    /// The row that a value, or a dictionary or tuple of values, belongs to.
    fn row_in(&self, value: &Value) -> Option<Rc<Row>> {
        match (value, self.state.get(value)) {
            (_, Some(Object::List(List { open: true, .. }))) => None,
            _ => row_of_number(value).or_else(|| self.items_in(value).find_map(row_of_number)),
        }
    }

    /// Whether a row that is put together has the true value of the row that it is made from.
    fn keeps_label(&self, item: &Value) -> bool {
        let mut items = self.items_in(item).peekable();
        items.peek().is_none() || items.any(|value| row_of_number(value).is_some_and(|row| row.target))
    }

    /// What a row depends on that is put together from values of a row, if the target is one of them.
    fn answers_among(&mut self, row: &Value) -> Dependencies {
        let items = self.contents(row).unwrap_or_default();
        let range = self.statement;
        items.iter().map(|item| self.answer_of_row(item, range)).collect()
    }

    /// The columns of rows that are dictionaries.
    fn add_row_columns(&mut self, table: &mut Table, row: &Value) {
        let handle = self.state.handle(row);
        let Some(Object::Dict(dict)) = handle.as_deref() else { return };
        for (name, value) in &dict.items {
            let target = row_of_number(value).is_some_and(|row| row.target);
            let answer = self.answer_of_row(value, self.statement);
            let column = Column { deps: self.deps_of(value), target, answer, ..Column::default() };
            let column = table.named(name).map_or_else(|| column.clone(), |before| before.join(&column));
            table.set(Rc::clone(name), column);
        }
    }

    /// A value of which nothing is known, in a loop over rows: something made from the row.
    pub(crate) fn of_current_row(&mut self, value: &Value) -> Value {
        let learnt = self.learnt_in_loop(value, false);
        let value = &self.with_deps(value, &learnt);
        let rows = self.nesting.around.last().and_then(|around| around.rows);
        match (value, rows) {
            (Value::Unknown, Some(rows)) => made_from_row(rows, Dependencies::default()),
            (Value::Number(number), Some(rows))
                if number.row.is_none()
                    && (!number.deps.is_empty() || self.rows.windows_of(rows).is_some()) =>
            {
                let row = Row { rows, ..Row::default() };
                Number { row: Some(row.into()), ..(**number).clone() }.value()
            }
            _ => value.clone(),
        }
    }

    /// Whether rows are others in each step of a loop, as they are chosen within it.
    pub(crate) fn varies(&self, rows: RowsId) -> bool {
        let within = |site: Site| {
            self.nesting.around.iter().any(|around| around.range.contains_range(site.expression))
        };
        self.rows.ancestors(rows).any(|above| match self.rows.origin(above) {
            Origin::Some { site, .. } => within(*site),
            Origin::Part { division, .. } => within(self.rows.division_of(*division).1),
            _ => false,
        })
    }

    /// Notes that a comprehension makes one item for each row.
    pub(crate) fn note_generator(&mut self, list: &Value, site: TextRange, generators: &[Comprehension]) {
        let [generator] = generators else { return };
        let within = Some(generator.range);
        let site = Site { expression: site, statement: generator.range };
        let perhaps = !generator.ifs.is_empty();
        if let Some(list) = self.state.list_mut(list) {
            list.within = within;
            list.added.push((site, perhaps));
        }
    }

    /// A value of a row, by the name of its column.
    pub(crate) fn value_of_row(&self, number: &Rc<Number>, name: &str) -> Value {
        let row = match &number.row {
            Some(row) if row.label.is_none() && !row.index => row,
            _ => return Value::Number(Rc::clone(number)),
        };
        let target = self.targets.contains(name);
        let deps = match &row.table {
            Some(table) if target => table.column(name).deps,
            Some(table) => table.column(name).as_feature().clone(),
            None => number.deps.clone(),
        };
        let row = Row { target, label: Some(name.into()), table: None, ..(**row).clone() };
        Number { row: Some(row.into()), deps, ..(**number).clone() }.value()
    }
}

fn row_of_number(value: &Value) -> Option<Rc<Row>> {
    match value {
        Value::Number(number) => number.row.clone().filter(|row| !row.index),
        _ => None,
    }
}

/// Whether a value, or one of a tuple, is of a row.
pub(crate) fn has_row(item: &Value) -> bool {
    match item {
        Value::Number(number) => number.row.is_some(),
        Value::Tuple(items) => items.iter().any(has_row),
        _ => false,
    }
}

/// A value of one row, or a tuple of such, as that of other rows.
pub(crate) fn with_rows(item: &Value, rows: RowsId) -> Value {
    match item {
        Value::Number(number) => {
            let same = |row: &Row| {
                Rc::new(Row { rows, table: row.table.clone().filter(|_| row.rows == rows), ..row.clone() })
            };
            let row = number.row.as_deref().map(same);
            Number { row, ..(**number).clone() }.value()
        }
        Value::Tuple(items) => Value::Tuple(items.iter().map(|item| with_rows(item, rows)).collect()),
        item => item.clone(),
    }
}

/// Something that is made from a row.
pub(crate) fn made_from_row(rows: RowsId, deps: Dependencies) -> Value {
    let row = Row { rows, ..Row::default() };
    Number { deps, row: Some(row.into()), ..Number::default() }.value()
}

//! Tables: rows, columns, and what the columns depend on.

use std::rc::Rc;

use crate::info::{Dependencies, TargetId};
use crate::join::common;
use crate::rows::RowsId;

/// Stands for a value in a text, and for the part of a column's name that is not known.
pub(crate) const UNKNOWN_PART: char = '\u{fffc}';

/// A table, a series or an array with one row per row of the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// Its rows.
    pub(crate) rows: RowsId,
    /// Columns of which something particular is known.
    pub(crate) columns: Vec<(Rc<str>, Column)>,
    /// All other columns, or the values of a series or array.
    pub(crate) rest: Column,
    /// What columns with unknown names depend on.
    pub(crate) unnamed: Dependencies,
    /// Columns that are certainly not in it.
    pub(crate) dropped: Vec<Rc<str>>,
    /// Whether all columns are in it, except `dropped`.
    pub(crate) whole: bool,
    /// Whether it has columns with names, of which none may be known.
    pub(crate) framed: bool,
    /// The name of the only column.
    pub(crate) label: Option<Rc<str>>,
    /// The names of the columns, if several were selected by their names.
    pub(crate) labels: Rc<[Rc<str>]>,
    /// The only column of the file that values were computed from, each from the value of its row.
    pub(crate) source: Option<Rc<str>>,
    /// The true values that come with the features, as in a data set of a library.
    pub(crate) truth: Option<Rc<Table>>,
    pub(crate) mask: Mask,
    pub(crate) order: Order,
    /// The column of which it has later values.
    pub(crate) lead: Option<Rc<str>>,
    /// The place and time where values were drawn at random, if they were.
    pub(crate) drawn: Option<usize>,
    /// Which columns of a table there are, by their positions.
    pub(crate) range: Option<ColumnRange>,
    /// Whether it is one of polars.
    pub(crate) polars: bool,
    /// Whether it is the index of a table, so the rows that it names.
    pub(crate) index: bool,
    /// The rows that it has positions of, if it is known that they are no names.
    pub(crate) positions: Option<RowsId>,
    /// Whether values other than features were filled in later, such as predictions of folds.
    pub(crate) blank: bool,
    /// Whether something was filled in.
    pub(crate) filled: bool,
    /// Whether a condition, or a choice of rows, depends on the target.
    pub(crate) by_target: bool,
}

/// Columns of a table that stand side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColumnRange {
    /// The table, by the number of objects before it.
    pub(crate) base: usize,
    /// The rows of the table.
    pub(crate) of: RowsId,
    /// The first column. Negative: from the end.
    pub(crate) low: i64,
    /// The column after the last one; `None`: all to the end.
    pub(crate) high: Option<i64>,
}

impl ColumnRange {
    /// Whether a single column is certainly among these.
    pub(crate) fn has(self, column: Self) -> bool {
        let at = column.low;
        let single = column.high == Some(at + 1) || (at == -1 && column.high.is_none());
        let after =
            (at >= 0 && (0..=at).contains(&self.low)) || (at < 0 && (self.low >= 0 || self.low <= at));
        let before = self.high.is_none_or(|high| (high < 0) == (at < 0) && at < high);
        self.base == column.base && single && after && before
    }

    /// Whether it is all columns.
    pub(crate) fn is_all(self) -> bool {
        self.low == 0 && self.high.is_none()
    }
}

/// What is known of values that come from a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mask {
    /// Whether the condition is that a column has one of its values, as in a loop over all of them.
    pub(crate) value: bool,
    /// Whether the condition is about values that were drawn at random.
    pub(crate) random: bool,
    /// The condition, if the values are true or false: its key, and whether it is negated.
    pub(crate) condition: Option<(Rc<str>, bool)>,
    /// The rows that the condition holds for.
    pub(crate) among: Option<RowsId>,
    /// The rows of the true values that predictions were compared with.
    pub(crate) compared: Option<RowsId>,
}

/// What is known of the order of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Order {
    /// The target that rows are sorted by.
    pub(crate) by_target: Option<TargetId>,
    /// The column of times that rows are sorted by.
    pub(crate) sorted: Option<Rc<str>>,
    /// Columns that are times.
    pub(crate) times: Vec<Rc<str>>,
}

/// What is known of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Column {
    /// What it depends on.
    pub(crate) deps: Dependencies,
    /// Whether it holds the target, perhaps on another scale.
    pub(crate) target: bool,
    /// What features depend on that it is one of, if it holds the target.
    pub(crate) answer: Dependencies,
    /// Where in the source it was set, if it was.
    pub(crate) set: u32,
    /// The rows of the true values that it compares with predictions, if it has errors.
    pub(crate) compared: Option<RowsId>,
}

/// Rows of a table in groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// The table, or the chosen columns of it.
    pub(crate) table: Table,
    /// Whether columns were chosen.
    pub(crate) chosen: bool,
    /// Whether rows are taken in order, as with `shift` or `expanding`.
    pub(crate) ordered: bool,
    /// Whether statistics of a row are those of rows before it, and of itself.
    pub(crate) window: bool,
    /// Whether the groups are those of the target.
    pub(crate) by_target: bool,
}

impl Table {
    /// A table of which only the rows are known.
    pub(crate) fn of(rows: RowsId) -> Self {
        Self { rows, ..Self::default() }
    }

    /// The positions of rows.
    pub(crate) fn positions(rows: RowsId) -> Self {
        Self { index: true, ..Self::of(rows) }
    }

    /// An array that is filled later.
    pub(crate) fn blank(rows: RowsId) -> Self {
        Self { blank: true, ..Self::of(rows) }
    }

    /// Whether a condition holds for each row, by its key.
    pub(crate) fn conditions(rows: RowsId, key: &str) -> Self {
        let condition = Some((key.into(), false));
        Self { mask: Mask { condition, ..Mask::default() }, ..Self::of(rows) }
    }

    /// An array with values that depend on these.
    pub(crate) fn array(rows: RowsId, deps: Dependencies) -> Self {
        Self { rows, rest: Column::learnt(deps), ..Self::default() }
    }

    /// Whether nothing says that columns have names, so it may be an array.
    pub(crate) fn is_nameless(&self) -> bool {
        self.columns.is_empty() && !self.whole && !self.framed
    }

    /// The column, if something particular is known of it.
    pub(crate) fn named(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(known, _)| &**known == name).map(|(_, column)| column)
    }

    /// What is known of a column, also if nothing particular is.
    pub(crate) fn column(&self, name: &str) -> Column {
        self.named(name).unwrap_or(&self.rest).clone()
    }

    /// Whether the column is certainly in it.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.named(name).is_some() || (self.whole && !self.dropped.iter().any(|dropped| &**dropped == name))
    }

    /// Sets a column.
    pub(crate) fn set(&mut self, name: Rc<str>, column: Column) {
        self.range = None;
        self.dropped.retain(|dropped| *dropped != name);
        match self.columns.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = column,
            None => self.columns.push((name, column)),
        }
    }

    /// Removes a column.
    pub(crate) fn remove(&mut self, name: &Rc<str>) {
        self.range = None;
        self.columns.retain(|(known, _)| known != name);
        self.dropped.push(Rc::clone(name));
    }

    /// The table with columns that are times.
    pub(crate) fn with_times(mut self, times: Vec<Rc<str>>) -> Self {
        self.order.times = times;
        self
    }

    /// The table with its rows in any order.
    pub(crate) fn with_order_lost(mut self) -> Self {
        (self.order.sorted, self.order.by_target) = (None, None);
        self
    }

    /// What any column depends on.
    pub(crate) fn deps(&self) -> Dependencies {
        let all = self.rest.deps.and(&self.unnamed);
        self.columns.iter().fold(all, |all, (_, column)| all.and(column.as_feature()))
    }

    /// The same series with another name.
    pub(crate) fn relabelled(mut self, name: Rc<str>) -> Self {
        if let [(column, _)] = self.columns.as_mut_slice() {
            *column = Rc::clone(&name);
        }
        self.label = Some(name);
        self
    }

    /// Whether the values are the target.
    pub(crate) fn is_target(&self) -> bool {
        self.rest.target && self.columns.is_empty()
    }

    /// Adds what all columns depend on.
    pub(crate) fn learn(&mut self, deps: &Dependencies) {
        if deps.is_empty() {
            return;
        }
        self.rest.deps = self.rest.deps.and(deps);
        for (_, column) in &mut self.columns {
            column.deps = column.deps.and(deps);
        }
    }

    /// The same rows with one column.
    pub(crate) fn select(&self, name: &Rc<str>) -> Self {
        Self {
            rows: self.rows,
            mask: Mask { compared: self.column(name).compared, ..Mask::default() },
            rest: self.column(name),
            label: Some(Rc::clone(name)),
            source: Some(Rc::clone(name)),
            order: Order { times: Vec::new(), ..self.order.clone() },
            by_target: self.by_target,
            polars: self.polars,
            ..Self::default()
        }
    }

    /// The same rows with some columns.
    pub(crate) fn select_all(&self, names: &[Rc<str>]) -> Self {
        let columns = names.iter().map(|name| (Rc::clone(name), self.column(name))).collect();
        Self {
            rows: self.rows,
            columns,
            label: if let [only] = names { Some(Rc::clone(only)) } else { None },
            labels: if names.len() > 1 { names.into() } else { Rc::default() },
            order: self.order.clone(),
            by_target: self.by_target,
            polars: self.polars,
            ..Self::default()
        }
    }

    /// The same columns with other rows.
    pub(crate) fn with_rows(&self, rows: RowsId) -> Self {
        // Of what was compared row by row, the same rows are left.
        let left = |compared: RowsId| if compared == self.rows { rows } else { compared };
        let compared = self.mask.compared.map(left);
        let mask = Mask { compared, ..Mask::default() };
        let mut table = Self { rows, mask, ..self.clone() };
        for (_, column) in &mut table.columns {
            column.compared = column.compared.map(left);
        }
        table
    }

    /// The values without the names of columns.
    pub(crate) fn values(&self) -> Self {
        let is_selected = self.label.is_some() || !self.labels.is_empty();
        let all_target = self.rest.target && self.columns.is_empty()
            || (is_selected
                && !self.columns.is_empty()
                && self.columns.iter().all(|(_, column)| column.target));
        let answer = match self.columns.first() {
            Some((_, column)) if all_target => column.answer.clone(),
            _ => self.rest.answer.clone(),
        };
        let deps = if all_target {
            let own = self.columns.iter().map(|(_, column)| column.deps.clone());
            own.fold(self.rest.deps.and(&self.unnamed), |all, deps| all.and(&deps))
        } else {
            self.deps()
        };
        Self {
            rows: self.rows,
            rest: Column { deps, target: all_target, answer, ..Column::default() },
            label: self.label.clone(),
            source: self.source.clone(),
            truth: self.truth.clone(),
            labels: Rc::clone(&self.labels),
            mask: self.mask.clone(),
            order: Order { times: Vec::new(), ..self.order.clone() },
            index: self.index,
            positions: self.positions,
            drawn: self.drawn,
            range: self.range,
            lead: self.lead.clone(),
            blank: self.blank,
            filled: self.filled,
            by_target: self.by_target,
            polars: self.polars,
            ..Self::default()
        }
    }

    /// What holds for both.
    pub(crate) fn join(&self, other: &Self) -> Self {
        let mut joined = self.clone();
        joined.rows = common(&self.rows, &other.rows);
        joined.rest = self.rest.join(&other.rest);
        joined.unnamed = self.unnamed.and(&other.unnamed);
        for (name, column) in &other.columns {
            let both = column.join(&joined.column(name));
            joined.set(Rc::clone(name), both);
        }
        for (name, column) in &mut joined.columns {
            if other.named(name).is_none() {
                *column = column.join(&other.rest);
            }
        }
        joined.whole = self.whole && other.whole;
        joined.framed = self.framed && other.framed;
        joined.label = common(&self.label, &other.label);
        joined.source = common(&self.source, &other.source);
        joined.truth = common(&self.truth, &other.truth);
        joined.labels = common(&self.labels, &other.labels);
        joined.mask.condition = common(&self.mask.condition, &other.mask.condition);
        joined.order.by_target = common(&self.order.by_target, &other.order.by_target);
        joined.order.sorted = common(&self.order.sorted, &other.order.sorted);
        joined.positions = common(&self.positions, &other.positions);
        joined.drawn = common(&self.drawn, &other.drawn);
        joined.range = common(&self.range, &other.range);
        joined.filled |= other.filled;
        joined.by_target &= other.by_target;
        joined
    }
}

impl Column {
    /// What may hold for either.
    pub(crate) fn join(&self, other: &Self) -> Self {
        let answer = if self.target && other.target {
            self.answer.and(&other.answer)
        } else {
            Dependencies::default()
        };
        let set = common(&self.set, &other.set);
        let compared = common(&self.compared, &other.compared);
        let target = self.target && other.target;
        Self { deps: self.deps.and(&other.deps), target, answer, set, compared }
    }

    /// A column that depends on these.
    pub(crate) fn learnt(deps: Dependencies) -> Self {
        Self { deps, ..Self::default() }
    }

    /// What a model depends on that has it among its features.
    pub(crate) fn as_feature(&self) -> &Dependencies {
        if self.target { &self.answer } else { &self.deps }
    }
}

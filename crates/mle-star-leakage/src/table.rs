//! Tables: rows, columns, and what the columns depend on.

use std::rc::Rc;

use crate::info::Lessons;
use crate::rows::RowsId;

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
    pub(crate) unnamed: Lessons,
    /// Columns that are certainly not in it.
    pub(crate) dropped: Vec<Rc<str>>,
    /// Whether all columns are in it, except `dropped`.
    pub(crate) whole: bool,
    /// The name of the only column.
    pub(crate) label: Option<Rc<str>>,
    /// The names of the columns, if several were selected by their names.
    pub(crate) labels: Rc<[Rc<str>]>,
    /// Targets among the columns that were selected by their names, as the file has them.
    pub(crate) kept: Vec<Rc<str>>,
    pub(crate) mask: Mask,
    pub(crate) order: Order,
    /// Whether it is the index of a table, so the rows that it names.
    pub(crate) index: bool,
    pub(crate) filling: Filling,
    /// Whether a condition, or a choice of rows, depends on the target.
    pub(crate) by_target: bool,
}

/// What is known of values that come from a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mask {
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
    /// The column of times that rows are sorted by.
    pub(crate) sorted: Option<Rc<str>>,
    /// Columns that are times.
    pub(crate) times: Vec<Rc<str>>,
}

/// How values came to be that were not read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each may hold without the others")]
pub(crate) struct Filling {
    /// Whether values other than features were filled in later, such as predictions of folds.
    pub(crate) blank: bool,
    /// Whether something unknown went into the values, such as a prediction.
    pub(crate) doubtful: bool,
    /// Whether something was filled in.
    pub(crate) filled: bool,
    /// Whether all values are zero.
    pub(crate) zero: bool,
    /// Whether some predictions were replaced by true values.
    pub(crate) mixed: bool,
}

/// What is known of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Column {
    /// What it depends on.
    pub(crate) lessons: Lessons,
    /// Whether it holds the target, perhaps on another scale.
    pub(crate) target: bool,
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
        Self { filling: Filling { blank: true, ..Filling::default() }, ..Self::of(rows) }
    }

    /// An array of zeros.
    pub(crate) fn zeros(rows: RowsId) -> Self {
        Self { filling: Filling { zero: true, ..Filling::default() }, ..Self::of(rows) }
    }

    /// Whether a condition holds for each row, by its key.
    pub(crate) fn conditions(rows: RowsId, key: &str) -> Self {
        let condition = Some((key.into(), false));
        Self { mask: Mask { condition, ..Mask::default() }, ..Self::of(rows) }
    }

    /// An array with values that depend on these.
    pub(crate) fn array(rows: RowsId, lessons: Lessons) -> Self {
        Self { rows, rest: Column { lessons, target: false }, ..Self::default() }
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
        self.dropped.retain(|dropped| *dropped != name);
        self.kept.retain(|kept| *kept != name);
        match self.columns.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = column,
            None => self.columns.push((name, column)),
        }
    }

    /// Removes a column.
    pub(crate) fn remove(&mut self, name: &Rc<str>) {
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
        self.order.sorted = None;
        self
    }

    /// What any column depends on.
    pub(crate) fn lessons(&self) -> Lessons {
        let named = self.columns.iter().filter(|(_, column)| !column.target);
        named.fold(self.rest.lessons.and(&self.unnamed), |all, (_, column)| all.and(&column.lessons))
    }

    /// Whether the values are the target.
    pub(crate) fn is_target(&self) -> bool {
        self.rest.target && self.columns.is_empty()
    }

    /// Adds what all columns depend on.
    pub(crate) fn learn(&mut self, lessons: &Lessons) {
        if lessons.is_empty() {
            return;
        }
        self.rest.lessons = self.rest.lessons.and(lessons);
        for (_, column) in &mut self.columns {
            column.lessons = column.lessons.and(lessons);
        }
    }

    /// The same rows with one column.
    pub(crate) fn select(&self, name: &Rc<str>) -> Self {
        Self {
            rows: self.rows,
            rest: self.column(name),
            label: Some(Rc::clone(name)),
            order: Order { times: Vec::new(), ..self.order.clone() },
            by_target: self.by_target,
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
            ..Self::default()
        }
    }

    /// The same columns with other rows.
    pub(crate) fn with_rows(&self, rows: RowsId) -> Self {
        Self { rows, mask: Mask { compared: self.mask.compared, ..Mask::default() }, ..self.clone() }
    }

    /// The values without the names of columns.
    pub(crate) fn values(&self) -> Self {
        let is_selected = self.label.is_some() || !self.labels.is_empty();
        let all_target = self.rest.target && self.columns.is_empty()
            || (is_selected
                && !self.columns.is_empty()
                && self.columns.iter().all(|(_, column)| column.target));
        let lessons = self.lessons();
        Self {
            rows: self.rows,
            rest: Column { lessons, target: all_target },
            label: self.label.clone(),
            labels: Rc::clone(&self.labels),
            mask: self.mask.clone(),
            order: Order { times: Vec::new(), ..self.order.clone() },
            index: self.index,
            filling: self.filling,
            by_target: self.by_target,
            ..Self::default()
        }
    }

    /// What holds for both.
    pub(crate) fn join(&self, other: &Self) -> Self {
        let mut joined = self.clone();
        if self.rows != other.rows {
            joined.rows = RowsId::UNKNOWN;
        }
        joined.rest = self.rest.join(&other.rest);
        joined.unnamed = self.unnamed.and(&other.unnamed);
        for (name, column) in &other.columns {
            let both = column.join(&joined.column(name));
            joined.set(Rc::clone(name), both);
        }
        joined.whole = self.whole && other.whole;
        if self.label != other.label {
            joined.label = None;
        }
        joined.kept.retain(|name| other.kept.contains(name));
        if self.labels != other.labels {
            joined.labels = Rc::default();
        }
        if self.mask.condition != other.mask.condition {
            joined.mask.condition = None;
        }
        if self.order.sorted != other.order.sorted {
            joined.order.sorted = None;
        }
        joined.filling = self.filling.join(other.filling);
        joined.by_target &= other.by_target;
        joined
    }
}

impl Filling {
    /// What may hold for either.
    fn join(self, other: Self) -> Self {
        Self {
            blank: self.blank,
            doubtful: self.doubtful || other.doubtful,
            filled: self.filled || other.filled,
            zero: self.zero && other.zero,
            mixed: self.mixed && other.mixed,
        }
    }
}

impl Column {
    /// What may hold for either.
    pub(crate) fn join(&self, other: &Self) -> Self {
        Self { lessons: self.lessons.and(&other.lessons), target: self.target && other.target }
    }
}

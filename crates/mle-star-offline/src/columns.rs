//! Columns of tables as scripts use them: how each is encoded, and what its values are good for.

use serde::Serialize;

use mle_star_tables::profile::{Column, ColumnKind, Table};

/// Categorical columns with more distinct values than this are encoded by target means.
pub(crate) const FEW_LEVELS: usize = 15;

/// The feature columns by their encoding.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Columns {
    pub(crate) numeric: Vec<String>,
    /// Few categories: codes or indicators.
    pub(crate) categorical: Vec<String>,
    /// Many categories: target means.
    pub(crate) many_levels: Vec<String>,
    pub(crate) dates: Vec<String>,
    /// The dates that begin with the day: `31.01.2024`.
    pub(crate) day_first: Vec<String>,
    /// The dates that have a time of day.
    pub(crate) with_hours: Vec<String>,
    pub(crate) texts: Vec<String>,
}

impl Columns {
    /// Whether there is no column.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Every column.
    pub(crate) fn all(&self) -> impl Iterator<Item = &String> {
        let Self { numeric, categorical, many_levels, dates, texts, .. } = self;
        [numeric, categorical, many_levels, dates, texts].into_iter().flatten()
    }

    /// Keeps the columns with these names.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&String) -> bool) {
        let Self { numeric, categorical, many_levels, dates, day_first, with_hours, texts } = self;
        for names in [numeric, categorical, many_levels, dates, day_first, with_hours, texts] {
            names.retain(&wanted);
        }
    }

    /// Adds a column by its kind.
    pub(crate) fn add(&mut self, name: String, column: &Column) {
        match column.kind {
            _ if is_number(column) => self.numeric.push(name),
            ColumnKind::Integer | ColumnKind::Float | ColumnKind::Empty => {}
            ColumnKind::Date => {
                self.day_first.extend(column.day_first.then(|| name.clone()));
                self.with_hours.extend(has_hours(column).then(|| name.clone()));
                self.dates.push(name);
            }
            ColumnKind::Text => self.texts.push(name),
            ColumnKind::Boolean => self.categorical.push(name),
            ColumnKind::Category if column.distinct <= FEW_LEVELS => self.categorical.push(name),
            ColumnKind::Category => self.many_levels.push(name),
        }
    }

    pub(crate) fn append(&mut self, other: &Self) {
        self.numeric.extend_from_slice(&other.numeric);
        self.categorical.extend_from_slice(&other.categorical);
        self.many_levels.extend_from_slice(&other.many_levels);
        self.dates.extend_from_slice(&other.dates);
        self.day_first.extend_from_slice(&other.day_first);
        self.with_hours.extend_from_slice(&other.with_hours);
        self.texts.extend_from_slice(&other.texts);
    }
}

/// A table's path as scripts see it.
pub(crate) fn input_path(table: &Table) -> String {
    format!("./input/{}", table.file.display())
}

/// Whether all rows are alike. With one value and gaps, they are not.
pub(crate) fn is_constant(column: &Column) -> bool {
    column.distinct + usize::from(column.missing > 0) < 2
}

/// Whether most values that are present occur once.
pub(crate) fn is_nearly_unique(column: &Column, present: usize) -> bool {
    column.distinct > 30 && column.distinct * 10 > present * 9
}

/// Whether a model should take the values as numbers. A few words among many numbers say that they are missing; among
/// few different numbers, they may be one more category.
pub(crate) fn is_number(column: &Column) -> bool {
    column.kind.is_number() || (column.nearly_numbers && column.distinct > FEW_LEVELS)
}

/// Whether dates have times of day other than midnight.
fn has_hours(column: &Column) -> bool {
    let is_clock = |part: &str| part.contains(':') && part.contains(|letter| ('1'..='9').contains(&letter));
    column.has_clock() && column.top_values.iter().any(|(date, _)| date.split([' ', 'T']).any(is_clock))
}

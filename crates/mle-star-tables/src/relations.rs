//! How columns and tables relate, as the data plane (the Python process that reads tables) describes it.

use std::collections::BTreeMap;

use mle_star_domain::measure::interval::Groups;
use serde::Deserialize;

/// What relates the tables of a folder, and columns of its training table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Relations {
    /// The links of the auxiliary tables. A table that joins neither the training table and the test table nor a table that does has
    /// none. It has several if several columns refer to it, or several tables look its rows up.
    pub links: Vec<Link>,
    /// The columns from which the target follows.
    pub determinants: Vec<String>,
    /// The columns that name series of rows in time.
    pub series: Vec<String>,
    /// The rows of the test table in groups, by the columns that may name groups.
    #[serde(default)]
    pub test_groups: BTreeMap<String, Groups>,
}

/// An auxiliary table that joins another table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Link {
    /// The position among the auxiliary tables.
    pub table: usize,
    /// The position of the auxiliary table that it joins; `None` if it joins the training table and the test table.
    pub to: Option<usize>,
    /// The key columns of the table.
    pub own: Vec<String>,
    /// The same columns of the table that it joins.
    pub columns: Vec<String>,
    /// Whether each key occurs once in the table.
    pub unique: bool,
    /// What rows of the table are known, if later rows would say more about training rows than about test rows: one for each column
    /// that refers to a table on the way.
    pub cutoffs: Vec<Cutoff>,
}

/// The date before which the rows of an auxiliary table have to be.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Cutoff {
    /// The column of dates that the training table and the test table have.
    pub date: Date,
    /// The columns of dates of the auxiliary table. A row is known from its last date on.
    pub own_dates: Vec<Date>,
    /// The days from the end of the auxiliary table to the test rows, in the median. Training rows must not know what happened
    /// in so many days before them either.
    pub lag: f64,
    /// The key columns of the auxiliary table, or of the one on the way, that are no dates.
    pub own: Vec<String>,
    /// The same columns of the training table and the test table.
    pub columns: Vec<String>,
    /// The table on the way to the training table; `None` if the auxiliary table has the keys itself.
    pub way: Option<Way>,
}

/// A column of dates.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Date {
    /// Its name.
    pub column: String,
    /// Whether its dates begin with the day: `31/01/2024`.
    pub day_first: bool,
}

/// A table between an auxiliary table and the training table: from payments, by accounts, to clients.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Way {
    /// The position among the auxiliary tables.
    pub table: usize,
    /// Its columns that name its rows.
    pub columns: Vec<String>,
    /// The same columns of the auxiliary table.
    pub own: Vec<String>,
}

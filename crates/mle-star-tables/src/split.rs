//! Times and groups that may tell test rows from training rows.

pub mod groups;
pub(crate) mod times;

pub use super::column_names::says_code;
pub use super::dates::calendar::Unit;

use std::io;

use super::profile::Profile;
use times::Clock;

/// The part of a year that the values of a column of a training table name as texts, such as `2021-W44`; `None` if they are other
/// values.
///
/// # Errors
/// A table cannot be read.
pub fn unit(profile: &Profile, column: &str) -> io::Result<Option<Unit>> {
    let is_text = profile.train.column(column).is_some_and(|column| times::unit(column).is_some());
    let clock = if is_text { times::clock(profile, column)? } else { None };
    Ok(match clock {
        Some(Clock::Part(unit)) => Some(unit),
        _ => None,
    })
}

//! Reads data folders and infers the task from them.
//!
//! [`profile::read`] profiles a folder's tables, [`media`] counts its images and sounds, [`facts`] is the task that the data plane
//! infers, and [`intake`] makes plain tables of other data. [`split::describe`] says how test rows differ from training
//! rows, [`comparison::script`] writes a script that compares both tables, [`series`] finds rows of the same series, [`new_series`] those that only the test table has,
//! [`determinants`] finds columns that tell the target, [`places`] finds coordinates, [`links`] finds how further tables join,
//! [`cutoff`] finds those whose rows are known too early, [`holdout`] keeps labelled rows from scripts, [`folds`] divides the others,
//! [`seasonal_naive`] writes what the simplest forecast of validated rows is, and [`summary`] tells
//! agents what the data holds.

pub mod agreement;
pub mod altered;
mod archives;
mod column_names;
pub mod comparison;
pub mod cutoff;
mod dates;
pub mod determinants;
pub mod digest;
pub mod facts;
pub mod folder;
pub mod folds;
pub mod holdout;
pub mod input;
pub mod intake;
pub mod keys;
mod labelled;
pub mod labelled_cells;
pub mod links;
pub mod media;
pub mod metrics;
pub mod missing;
pub mod new_series;
pub mod other_rows;
pub mod own_folds;
pub mod periods;
pub mod permuted;
pub mod places;
pub mod profile;
pub mod reading;
mod records;
pub mod seasonal_naive;
mod seeded;
pub mod series;
pub mod spellings;
pub mod split;
pub mod summary;
mod table;
pub mod tables;
#[cfg(test)]
mod testing;
mod unseen;
pub mod walk;

//! Known labels of rows, and the score of a file of predictions for them.

mod agreement;
mod columns;
pub(crate) mod evaluate;
mod forecasts;
mod known;
mod layout;
mod measured;
pub mod paired;
mod per_class;
mod read;
mod rows;
mod weights;

pub use agreement::Agreement;
pub use columns::{classes_of_columns, places_of_columns};
pub use evaluate::{Division, Files};
pub use forecasts::Forecasts;
pub use known::Labels;
pub use layout::{Columns, Layout, Others};
pub use read::Unusable;

#[cfg(test)]
mod tests;

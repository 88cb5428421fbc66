//! Scores of predictions, computed by the program and not by a script.
//!
//! [`names`] knows the metrics, [`score`] computes them with row weights, [`bootstrap`] adds the uncertainty, and
//! [`labels`] reads known labels and files of predictions. [`average`] averages files of predictions, and [`selection`] chooses their
//! weights. No maintained crate has these metrics with weights, so the formulas are here.

pub mod average;
pub mod bootstrap;
mod cell;
pub mod chance;
pub mod class_columns;
mod formulas;
pub mod intervals;
pub mod labels;
pub mod names;
mod parameters;
pub mod refit;
pub mod score;
pub mod selection;
pub mod spellings;
mod table;

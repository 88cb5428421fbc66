//! The report of a run for people: sentences, tables, charts and a page, during the run, at its end and later.
//!
//! Everything here is a function of what a run leaves behind: its journal, its result and its events. [`run_view`] reads
//! a run folder and writes nothing, and [`progress`] is the state after the events so far.
//!
//! With the feature `html`, `run_report` is what is told about the run, `views` makes the parts of a page from it, `chart`
//! draws them, `html` renders the report, `text` is a run in lines, and `export` writes it for other tools.

pub mod at_work;
#[cfg(feature = "html")]
pub mod chart;
pub mod cut;
pub mod cuts;
pub mod done;
pub mod event_line;
#[cfg(feature = "html")]
pub mod export;
pub mod figures;
pub mod files;
#[cfg(feature = "html")]
mod filters;
pub mod follow;
#[cfg(feature = "html")]
pub mod html;
#[cfg(feature = "html")]
mod markup;
pub mod model;
pub mod money;
pub mod pace;
#[cfg(feature = "html")]
mod page;
pub mod progress;
#[cfg(feature = "html")]
pub mod run_report;
pub mod run_view;
pub mod runners;
pub mod sanitize;
pub mod score_report;
pub mod script_output;
pub mod step_rows;
pub mod summary_file;
#[cfg(feature = "html")]
pub mod text;
pub mod usage;
#[cfg(feature = "html")]
pub mod views;
pub mod words;

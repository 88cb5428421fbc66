//! Table files as rows of text: CSV in all dialects, Parquet, Arrow, Excel and JSON.
//!
//! [`detect()`] says what a file is. [`open`] finds a table's columns, the notation of its numbers and its size, and
//! [`Table::each_row`] reads its rows. [`write_csv`] writes it as plain CSV, and [`is_plain`] says cheaply that a file is
//! plain CSV already. The crate knows nothing of tasks.
//!
//! # Canonical text
//! Cells are text. Those of delimited files stay as they are, except numbers with a decimal comma or with marks between
//! thousands in columns where all cells have one notation: `1.234,5` becomes `1234.5`, also where a typed format holds it
//! as text. Those of typed formats become what
//! pandas writes to CSV: whole numbers with all of their digits, floating-point numbers in the shortest form that reads
//! back the same, `True` and `False`, `2024-01-31`, `2024-01-31 13:45:00`, with an offset where there is a time zone.
//! Missing values are empty.

mod buffers;
mod canonical;
mod cells;
mod columnar;
mod delimited;
mod detect;
mod dialect;
mod excel;
mod formats;
mod guard;
mod json;
mod notation;
mod numbers;
mod packing;
mod plain;
mod readers;
mod records;
mod shape;
mod table;
mod text;
mod texts;
mod trouble;
mod write;

pub use csv::StringRecord;
pub use detect::{Detected, detect};
pub use formats::{Format, is_table_name, stem};
pub use notation::{AmbiguousColumn, Encoding, LineEnd, Notation, NumberColumn};
pub use numbers::Decimal;
pub use packing::{Packing, tables_in};
pub use plain::is_plain;
pub use readers::open;
pub use shape::{Column, Kind};
pub use table::{Options, Table, Visit};
pub use write::write_csv;

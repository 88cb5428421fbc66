//! Plain CSV.

use std::io::Write;

use mle_star_domain::trouble::Trouble;

use crate::table::Table;
use crate::trouble::File;

/// Writes a table as comma-separated UTF-8 with a header; lines end with `\n`, and cells are quoted where they must be.
///
/// # Errors
/// As [`Table::each_row`], or `out` cannot be written.
pub fn write_csv(table: &Table, out: &mut dyn Write) -> Result<(), Trouble> {
    let mut csv = csv::Writer::from_writer(out);
    let trouble = |error: &dyn std::fmt::Display| {
        File(table.path())
            .trouble(format!("cannot be written as CSV: {error}"), "check that the disk is not full")
    };
    csv.write_record(table.columns().iter().map(|column| &column.name)).map_err(|error| trouble(&error))?;
    table.each_row(&mut |row| csv.write_record(row).map_err(|error| trouble(&error)))?;
    csv.flush().map_err(|error| trouble(&error))
}

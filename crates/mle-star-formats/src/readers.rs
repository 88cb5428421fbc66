//! The readers of all formats.

use std::path::Path;

use mle_star_domain::trouble::Trouble;

use crate::columnar;
use crate::delimited;
use crate::detect::detect;
use crate::excel;
use crate::formats::Format;
use crate::json;
use crate::table::{Options, Table};
use crate::texts;

/// Opens a table: finds its format, header and notation. All formats but Parquet and Arrow are read once for it.
///
/// # Errors
/// As [`detect()`]; or the file cannot be read, is damaged, has no header, two columns of one name, or a row with more or
/// fewer cells than the header; a workbook has no such sheet, merged cells, or cells outside its header; a column holds
/// lists or structures; a row is larger than 64 MB. The message names file, row, column or cell.
pub fn open(path: &Path, options: &Options<'_>) -> Result<Table, Trouble> {
    let detected = detect(path)?;
    match detected.format {
        Format::Delimited => delimited::open(path, detected, options),
        Format::Parquet | Format::ArrowFile | Format::ArrowStream => {
            texts::with_notation(columnar::open(path, detected)?, options.like)
        }
        Format::Excel => texts::with_notation(excel::open(path, detected, options)?, options.like),
        Format::JsonLines | Format::JsonList => {
            texts::with_notation(json::open(path, detected)?, options.like)
        }
    }
}

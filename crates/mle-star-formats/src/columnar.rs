//! Parquet and Arrow files.

use std::fs::File as Opened;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use csv::StringRecord;
use jiff::tz::TimeZone;
use mle_star_domain::trouble::Trouble;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::RowGroupMetaData;

use crate::buffers::{self, Verdict, are_too_large};
use crate::canonical;
use crate::cells::{self, Cells, Seen, Style};
use crate::detect::Detected;
use crate::formats::Format;
use crate::guard::shielded;
use crate::notation::Notation;
use crate::packing::Packing;
use crate::records::LONGEST_ROW;
use crate::shape::{Column, Shape, check_names};
use crate::table::{Source, Table, Visit};
use crate::trouble::{File, quoted};

/// The rows of a Parquet file that are in memory at a time.
const BATCH: usize = 1_024;
/// Columns with this beginning hold the index of a pandas frame, which is no column of it.
const PANDAS_INDEX: &str = "__index_level_";

/// A Parquet or Arrow file.
#[derive(Debug)]
struct Columnar {
    /// The unpacked file, if it was packed.
    unpacked: Option<Opened>,
    layout: Layout,
    /// Positions in the file and styles of the columns.
    columns: Vec<(usize, Style)>,
}

/// How a file is read.
#[derive(Clone, Copy, Debug)]
struct Layout {
    format: Format,
    /// Whether times of 96 bits are read in microseconds. In nanoseconds, years such as 9999 would be others.
    in_micros: bool,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// Opens a Parquet or Arrow file. A pass over columns of floating-point numbers and times finds how they are written; in
/// an Arrow file it counts the rows.
///
/// # Errors
/// See [`open`](crate::open).
pub(crate) fn open(path: &Path, detected: Detected) -> Result<Table, Trouble> {
    let file = File(path);
    let opened = detected.packing.file(path)?;
    if detected.format != Format::Parquet {
        let again = rewound(file, &opened)?;
        let verdict = shielded(|| buffers::are_readable(again, detected.format));
        match verdict.ok_or_else(|| damaged(file))?.map_err(|error| file.io(&error))? {
            Verdict::Readable => {}
            Verdict::Damaged => return Err(damaged(file)),
            Verdict::Old => {
                let hint = "write it again with a newer pyarrow";
                return Err(
                    file.trouble("the file was written by Arrow 0.17, whose compression is not read", hint)
                );
            }
            Verdict::TooLarge => return Err(too_large(file, "a column")),
        }
    }
    let mut layout = Layout { format: detected.format, in_micros: true };
    let (schema, has_wide_times, large) = schema(file, &opened, layout)?;
    if let Some(column) = large {
        return Err(too_large(file, &format!("column {}", quoted(&column))));
    }
    let mut notes = Vec::new();
    let (positions, columns) = columns(file, &schema, &mut notes)?;
    let (mut rows, mut seen) = survey(file, &opened, layout, &schema, &positions)?;
    if has_wide_times && !seen.iter().any(|seen| seen.is_far) {
        layout.in_micros = false;
        (rows, seen) = survey(file, &opened, layout, &schema, &positions)?;
    }
    let style = |(at, seen): (usize, Seen)| {
        let zone = cells::zone_name(schema.field(at).data_type());
        (at, seen.style(zone.map(|name| time_zone(name, &mut notes))))
    };
    let columns_with_style = positions.into_iter().zip(seen).map(style).collect();
    let unpacked = (detected.packing != Packing::None).then_some(opened);
    let source = Box::new(Columnar { unpacked, layout, columns: columns_with_style });
    let shape = Shape { columns, rows, notes, ..Shape::default() };
    Ok(Table { path: path.to_owned(), detected, shape, notation: Notation::default(), source })
}

impl Source for Columnar {
    fn each_row(
        &self,
        table: &Table,
        chosen: Option<&[usize]>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Trouble> {
        let file = File(&table.path);
        let opened = match &self.unpacked {
            Some(unpacked) => unpacked.try_clone(),
            None => Opened::open(&table.path),
        };
        let opened = opened.map_err(|error| file.io(&error))?;
        let (mut row, mut cell, mut number) = (StringRecord::new(), String::new(), 0);
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let chosen = chosen.unwrap_or(&all);
        let in_file: Vec<usize> = chosen.iter().map(|at| self.columns[*at].0).collect();
        each_batch(file, &opened, self.layout, &in_file, &mut |batch| {
            let columns = shielded(|| batch.columns().iter().map(Cells::new).collect::<Vec<Cells>>());
            let columns =
                columns.filter(|columns| columns.len() == chosen.len()).ok_or_else(|| damaged(file))?;
            for at in 0..batch.num_rows() {
                number += 1;
                row.clear();
                for (cells, position) in columns.iter().zip(chosen) {
                    let written = shielded(|| cells.write(at, &self.columns[*position].1, &mut cell));
                    let written = written.ok_or_else(|| damaged(file))?;
                    let name = &table.shape.columns[*position].name;
                    check_cell(file, number, name, written.map(|()| cell.as_str()))?;
                    row.push_field(&cell);
                }
                visit(&row)?;
            }
            Ok(())
        })?;
        if number == table.shape.rows { Ok(()) } else { Err(damaged(file)) }
    }
}

/// Refuses what can be no cell of a CSV file.
fn check_cell(file: File<'_>, row: u64, column: &str, cell: Result<&str, &str>) -> Result<(), Trouble> {
    let what = match cell {
        Ok(text) if text.len() > LONGEST_ROW => "more than 64 MB",
        Ok(text) if memchr::memchr(0, text.as_bytes()).is_some() => "a NUL character",
        Ok(_) => return Ok(()),
        Err(what) => what,
    };
    let hint = "correct or remove the cell, or remove the column";
    Err(file.trouble(format!("row {row} of column {} holds {what}", quoted(column)), hint))
}

fn damaged(file: File<'_>) -> Trouble {
    file.damaged("the file is damaged")
}

fn too_large(file: File<'_>, what: &str) -> Trouble {
    let hint = "large contents belong into files of their own";
    file.trouble(format!("the cells of {what} have more than a megabyte each"), hint)
}

fn unreadable(file: File<'_>, error: &impl std::fmt::Display) -> Trouble {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    file.damaged(format!("the file cannot be read: {line}"))
}

fn rewound(file: File<'_>, opened: &Opened) -> Result<Opened, Trouble> {
    let mut again = opened.try_clone().map_err(|error| file.io(&error))?;
    again.seek(SeekFrom::Start(0)).map_err(|error| file.io(&error))?;
    Ok(again)
}

/// The columns of a file, whether some are times of 96 bits, and a column of a Parquet file whose cells are too large.
fn schema(
    file: File<'_>,
    opened: &Opened,
    layout: Layout,
) -> Result<(Schema, bool, Option<String>), Trouble> {
    let again = rewound(file, opened)?;
    let read = || -> Result<_, ArrowError> {
        let schema = match layout.format {
            Format::Parquet => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(again)?;
                let has_wide_times = wide_times(&builder).contains(&true);
                return Ok((builder.schema().as_ref().clone(), has_wide_times, large_column(&builder)));
            }
            Format::ArrowStream => StreamReader::try_new(BufReader::new(again), None)?.schema(),
            _ => FileReader::try_new(BufReader::new(again), None)?.schema(),
        };
        Ok((schema.as_ref().clone(), false, None))
    };
    shielded(read).ok_or_else(|| damaged(file))?.map_err(|error| unreadable(file, &error))
}

fn large_column(builder: &ParquetRecordBatchReaderBuilder<Opened>) -> Option<String> {
    let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
    let chunks = builder.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    let mut large = chunks
        .filter(|chunk| are_too_large(unsigned(chunk.uncompressed_size()), unsigned(chunk.num_values())));
    large.next().map(|chunk| chunk.column_path().string())
}

/// For each column of a Parquet file whether it holds times of 96 bits, as Hive, Impala and Spark write them.
fn wide_times(builder: &ParquetRecordBatchReaderBuilder<Opened>) -> Vec<bool> {
    let schema = builder.parquet_schema();
    let fields = schema.root_schema().get_fields();
    fields
        .iter()
        .map(|field| field.is_primitive() && field.get_physical_type() == PhysicalType::INT96)
        .collect()
}

/// A reader of a Parquet file that reads times of 96 bits in microseconds.
fn in_micros(opened: Opened) -> Result<ParquetRecordBatchReaderBuilder<Opened>, ArrowError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(opened.try_clone()?)?;
    let wide = wide_times(&builder);
    if !wide.contains(&true) {
        return Ok(builder);
    }
    let time = DataType::Timestamp(TimeUnit::Microsecond, None);
    let fields = builder.schema().fields().iter().zip(wide);
    let fields = fields.map(|(field, is_wide)| match is_wide {
        true => field.as_ref().clone().with_data_type(time.clone()),
        false => field.as_ref().clone(),
    });
    let options =
        ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields.collect::<Vec<Field>>())));
    Ok(ParquetRecordBatchReaderBuilder::try_new_with_options(opened, options)?)
}

/// Positions and descriptions of the columns of a table.
fn columns(
    file: File<'_>,
    schema: &Schema,
    notes: &mut Vec<String>,
) -> Result<(Vec<usize>, Vec<Column>), Trouble> {
    let (mut positions, mut columns) = (Vec::new(), Vec::new());
    for (at, field) in schema.fields().iter().enumerate() {
        let name = field.name().clone();
        if name.starts_with(PANDAS_INDEX) {
            notes.push(format!("the column `{name}`, the index of a pandas frame, is left out"));
            continue;
        }
        let kind = cells::kind(field.data_type()).map_err(|what| {
            let hint = "spread it over columns of numbers or text, or remove it";
            file.trouble(format!("the column {} holds {what}", quoted(&name)), hint)
        })?;
        positions.push(at);
        columns.push(Column { name, kind });
    }
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    check_names(file, &names)?;
    if columns.is_empty() {
        return Err(file.trouble("the table has no columns", "give a table with a header and rows"));
    }
    Ok((positions, columns))
}

/// The number of rows, and what a pass over the columns finds that need one.
fn survey(
    file: File<'_>,
    opened: &Opened,
    layout: Layout,
    schema: &Schema,
    positions: &[usize],
) -> Result<(u64, Vec<Seen>), Trouble> {
    let type_of = |at: usize| schema.field(at).data_type();
    let needed: Vec<usize> = positions.iter().copied().filter(|at| cells::needs_pass(type_of(*at))).collect();
    // Without a column, Parquet's reader believes the number of rows that a damaged file names.
    let read = if needed.is_empty() { vec![positions[0]] } else { needed.clone() };
    let mut seen = vec![Seen::default(); positions.len()];
    let mut rows = 0;
    each_batch(file, opened, layout, &read, &mut |batch| {
        rows += batch.num_rows() as u64;
        for (column, at) in read.iter().enumerate().filter(|(_, at)| needed.contains(at)) {
            let place = positions.iter().position(|position| position == at).unwrap_or_default();
            shielded(|| seen[place].add(&Cells::new(batch.column(column)))).ok_or_else(|| damaged(file))?;
        }
        Ok(())
    })?;
    Ok((rows, seen))
}

/// Calls `visit` with the batches of a file, with these columns only. They are in rising order.
fn each_batch(
    file: File<'_>,
    opened: &Opened,
    layout: Layout,
    columns: &[usize],
    visit: &mut dyn FnMut(&RecordBatch) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let again = rewound(file, opened)?;
    let batches = shielded(|| batches(again, layout, columns)).ok_or_else(|| damaged(file))?;
    let mut batches = batches.map_err(|error| unreadable(file, &error))?;
    loop {
        match shielded(|| batches.next()).ok_or_else(|| damaged(file))? {
            None => return Ok(()),
            Some(Err(error)) => return Err(unreadable(file, &error)),
            Some(Ok(batch)) => visit(&batch)?,
        }
    }
}

fn batches(opened: Opened, layout: Layout, columns: &[usize]) -> Result<Batches, ArrowError> {
    let projection = Some(columns.to_vec());
    Ok(match layout.format {
        Format::Parquet => {
            let builder = match layout.in_micros {
                true => in_micros(opened)?,
                false => ParquetRecordBatchReaderBuilder::try_new(opened)?,
            };
            let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
            Box::new(builder.with_batch_size(BATCH).with_projection(mask).build()?)
        }
        Format::ArrowStream => Box::new(StreamReader::try_new(BufReader::new(opened), projection)?),
        _ => Box::new(FileReader::try_new(BufReader::new(opened), projection)?),
    })
}

fn time_zone(name: &str, notes: &mut Vec<String>) -> TimeZone {
    canonical::zone(name).unwrap_or_else(|| {
        notes.push(format!("times are written in UTC: this machine does not know the time zone {name}"));
        TimeZone::UTC
    })
}

//! Excel workbooks.

use std::fs::File as Opened;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, Xlsx, XlsxError};
use csv::StringRecord;
use mle_star_domain::trouble::Trouble;
use zip::ZipArchive;

use crate::canonical::{MOST_EXACT, Precision, push_duration, push_f64, push_time_of_day, push_whole};
use crate::detect::Detected;
use crate::guard::shielded;
use crate::notation::Notation;
use crate::numbers::is_marked;
use crate::packing::Packing;
use crate::records::LONGEST_ROW;
use crate::shape::{Shape, check_names, is_blank, untyped};
use crate::table::{Options, Source, Table, Visit};
use crate::trouble::{File, quoted};

/// The size of a sheet.
const MOST_ROWS: u32 = 1 << 20;
const MOST_COLUMNS: u32 = 1 << 14;
/// The most bytes of all texts of a workbook: they are in memory at once.
const MOST_TEXTS: u64 = 2 << 30;
/// Names of columns that are times are dates, and those that are whole numbers have no fraction.
const OF_NAMES: Style = Style { times: Precision { is_date: true, digits: 0 }, has_fractions: false };

type Workbook = Xlsx<BufReader<Opened>>;

/// A sheet of a workbook.
#[derive(Debug)]
struct Sheet {
    /// The unpacked file, if it was packed.
    unpacked: Option<Opened>,
    name: String,
    /// The row of the header and the first column, from 0.
    header: u32,
    first: u32,
    /// For each column how its cells are written.
    styles: Vec<Style>,
}

/// How the cells of a column are written.
#[derive(Clone, Copy, Debug, Default)]
struct Style {
    times: Precision,
    /// Whether whole numbers are written as `1.0`, since others of the column have a fraction.
    has_fractions: bool,
}

/// The kinds of cells of a column.
#[derive(Clone, Copy, Default)]
struct Seen {
    times: Option<Precision>,
    has_fraction: bool,
    /// Cells that are neither numbers nor empty.
    has_others: bool,
    /// A text that is a number with a comma, a blank or an apostrophe.
    has_marked: bool,
}

/// What one pass over a sheet finds. Rows and columns count from 0.
#[derive(Default)]
struct Measured {
    header: Option<(u32, Vec<(u32, String)>)>,
    /// The last row with content, and rows without content after it.
    last: u32,
    empty_rows: u64,
    /// The column before the header's first one has content.
    has_index: bool,
    /// What is known of each column of the sheet.
    seen: Vec<Seen>,
}

/// Opens a sheet. One pass over its cells finds its shape.
///
/// # Errors
/// See [`open`](crate::open).
pub(crate) fn open(path: &Path, detected: Detected, options: &Options<'_>) -> Result<Table, Trouble> {
    let file = File(path);
    let opened = detected.packing.file(path)?;
    check_sizes(file, &opened)?;
    let mut workbook = workbook(file, &opened)?;
    let (name, notes) = sheet(file, &workbook, options.sheet)?;
    let found = measure(file, &mut workbook, &name)?;
    let Some((header, cells)) = found.header else {
        return Err(file.trouble(format!("the sheet `{name}` is empty"), "choose another one with --sheet"));
    };
    let (named, last) = (cells[0].0, cells.last().map_or(0, |(column, _)| *column));
    let first = named - u32::from(found.has_index);
    let mut names = vec![String::new(); (last - first) as usize + 1];
    cells.into_iter().for_each(|(column, text)| names[(column - first) as usize] = text);
    check_merged(file, &mut workbook, &name, (header, found.last), (first, last))?;
    let unnamed: Vec<u32> =
        (first..).zip(&names).filter(|(_, name)| name.is_empty()).map(|(at, _)| at).collect();
    if let [_, second, ..] = unnamed[..] {
        let hint = "the first row with content must name all columns: remove titles above the header";
        return Err(
            file.trouble(format!("the cell {} of the header is empty", address(header, second)), hint)
        );
    }
    check_names(file, &names)?;
    let seen = |at: usize| found.seen.get(first as usize + at).copied().unwrap_or_default();
    let styles = (0..names.len()).map(|at| seen(at).style()).collect();
    let marked = (0..names.len()).filter(|at| seen(*at).has_marked).collect();
    let rows = u64::from(found.last - header);
    let shape = Shape {
        columns: untyped(names),
        rows,
        empty_rows: found.empty_rows,
        marked,
        notes,
        ..Shape::default()
    };
    let unpacked = (detected.packing != Packing::None).then_some(opened);
    let source = Box::new(Sheet { unpacked, name, header, first, styles });
    Ok(Table { path: path.to_owned(), detected, shape, notation: Notation::default(), source })
}

impl Source for Sheet {
    fn each_row(&self, table: &Table, _: Option<&[usize]>, visit: &mut Visit<'_>) -> Result<(), Trouble> {
        let file = File(&table.path);
        let opened = match &self.unpacked {
            Some(unpacked) => unpacked.try_clone(),
            None => Opened::open(&table.path),
        };
        let mut workbook = workbook(file, &opened.map_err(|error| file.io(&error))?)?;
        let width = table.shape.columns.len();
        let mut cells = vec![String::new(); width];
        let (mut record, mut next) = (StringRecord::new(), self.header + 1);
        let last = u64::from(self.header) + table.shape.rows;
        let mut emit = |cells: &[String]| {
            record.clear();
            cells.iter().for_each(|cell| record.push_field(cell));
            visit(&record)
        };
        each(file, &mut workbook, &self.name, &mut |row, found| {
            if row <= self.header || u64::from(row) > last {
                return Ok(());
            }
            cells.iter_mut().for_each(String::clear);
            // Rows without cells are not in the file.
            (next..row).try_for_each(|_| emit(&cells))?;
            for (column, value) in found {
                let at = column.checked_sub(self.first).map(|at| at as usize).filter(|at| *at < width);
                if let Some(at) = at {
                    push_cell(value, self.styles[at], &mut cells[at]);
                    check_text(file, row, *column, &cells[at])?;
                }
            }
            next = row + 1;
            emit(&cells)
        })
    }
}

/// Refuses what can be no cell of a CSV file.
fn check_text(file: File<'_>, row: u32, column: u32, text: &str) -> Result<(), Trouble> {
    let what = match text {
        _ if text.len() > LONGEST_ROW => "more than 64 MB",
        _ if memchr::memchr(0, text.as_bytes()).is_some() => "a NUL character",
        _ => return Ok(()),
    };
    let cell = address(row, column);
    Err(file.trouble(format!("the cell {cell} holds {what}"), "correct or remove the cell"))
}

fn damaged(file: File<'_>) -> Trouble {
    file.damaged("the workbook is damaged")
}

fn unreadable(file: File<'_>, error: &XlsxError) -> Trouble {
    if matches!(error, XlsxError::Password) {
        return file.trouble("the workbook is protected by a password", "save it without one");
    }
    file.damaged(format!("the workbook cannot be read: {error}"))
}

/// Refuses a workbook that would not fit into memory: with a gigabyte in a cell, or in all texts.
fn check_sizes(file: File<'_>, opened: &Opened) -> Result<(), Trouble> {
    let again = opened.try_clone().map_err(|error| file.io(&error))?;
    let unreadable =
        |error: zip::result::ZipError| file.damaged(format!("the workbook cannot be read: {error}"));
    let mut archive = ZipArchive::new(BufReader::new(again)).map_err(unreadable)?;
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).map_err(unreadable)?;
        let is_texts = member.name().is_ok_and(|name| name.contains("sharedStrings"));
        if is_texts && member.size() > MOST_TEXTS {
            return Err(file.trouble("the texts of the workbook have more than 2 GB", "save it as CSV"));
        }
        if member.size() > LONGEST_ROW as u64
            && has_long_text(&mut member).map_err(|error| file.io(&error))?
        {
            return Err(
                file.trouble("a cell of the workbook has more than 64 MB", "correct or remove the cell")
            );
        }
    }
    Ok(())
}

/// Whether a part of an XML text without tags is longer than a row may be.
fn has_long_text(xml: &mut dyn Read) -> io::Result<bool> {
    let (mut bytes, mut length) = (vec![0; 1 << 16], 0);
    loop {
        let count = xml.read(&mut bytes)?;
        let part = &bytes[..count];
        length = match (memchr::memchr(b'<', part), memchr::memrchr(b'<', part)) {
            (Some(first), _) if length + first > LONGEST_ROW => return Ok(true),
            (_, Some(last)) => count - last,
            _ => length + count,
        };
        if count == 0 || length > LONGEST_ROW {
            return Ok(count > 0);
        }
    }
}

fn workbook(file: File<'_>, opened: &Opened) -> Result<Workbook, Trouble> {
    let mut again = opened.try_clone().map_err(|error| file.io(&error))?;
    again.seek(SeekFrom::Start(0)).map_err(|error| file.io(&error))?;
    let workbook = shielded(|| Xlsx::new(BufReader::new(again))).ok_or_else(|| damaged(file))?;
    workbook.map_err(|error| unreadable(file, &error))
}

/// The name of the sheet that is read, and a note if there are others.
fn sheet(file: File<'_>, workbook: &Workbook, asked: Option<&str>) -> Result<(String, Vec<String>), Trouble> {
    let sheets = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let names: Vec<&str> = sheets.map(|sheet| sheet.name.as_str()).collect();
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match (asked, names.first()) {
        (_, None) => Err(file.trouble("the workbook has no sheet with cells", "check the workbook")),
        (Some(asked), _) if !names.contains(&asked) => {
            let hint = format!("choose with --sheet one of {listed}");
            Err(file.trouble(format!("the workbook has no sheet `{asked}`"), &hint))
        }
        (Some(asked), _) => Ok((asked.to_owned(), Vec::new())),
        (None, Some(first)) if names.len() > 1 => {
            let note =
                format!("the sheet `{first}` is read, the first of {}: --sheet chooses another", names.len());
            Ok(((*first).to_owned(), vec![note]))
        }
        (None, Some(first)) => Ok(((*first).to_owned(), Vec::new())),
    }
}

type EachRow<'a> = dyn FnMut(u32, &[(u32, DataRef<'_>)]) -> Result<(), Trouble> + 'a;

/// Calls `visit` with each row that has cells.
fn each(
    file: File<'_>,
    workbook: &mut Workbook,
    sheet: &str,
    visit: &mut EachRow<'_>,
) -> Result<(), Trouble> {
    let reader = shielded(|| workbook.worksheet_cells_reader(sheet)).ok_or_else(|| damaged(file))?;
    let mut reader = reader.map_err(|error| unreadable(file, &error))?;
    let (mut row, mut cells) = (0, Vec::new());
    loop {
        let cell = shielded(|| reader.next_cell_with_formula_metadata()).ok_or_else(|| damaged(file))?;
        let cell = cell.map_err(|error| unreadable(file, &error))?;
        if cell.as_ref().is_none_or(|cell| cell.pos.0 != row) && !cells.is_empty() {
            visit(row, &cells)?;
            cells.clear();
        }
        let Some(cell) = cell else { return Ok(()) };
        let (next, column) = cell.pos;
        if next >= MOST_ROWS || column >= MOST_COLUMNS {
            let what = format!("the cell {} is beyond the last one of a sheet", address(next, column));
            return Err(file.damaged(what));
        }
        if next < row || cells.last().is_some_and(|(last, _)| *last >= column) {
            let what = format!("the cell {} stands twice or out of order", address(next, column));
            return Err(file.damaged(what));
        }
        if cell.formula.is_some() && cell.value == DataRef::Empty {
            let hint =
                "open the workbook in Excel or LibreOffice and save it: then values stand beside formulas";
            let what = format!("the formula of the cell {} has no value", address(next, column));
            return Err(file.trouble(what, hint));
        }
        row = next;
        cells.push((column, cell.value));
    }
}

fn measure(file: File<'_>, workbook: &mut Workbook, sheet: &str) -> Result<Measured, Trouble> {
    let mut found = Measured::default();
    each(file, workbook, sheet, &mut |row, cells| {
        let mut text = String::new();
        let mut filled = Vec::new();
        for (column, value) in cells {
            text.clear();
            push_cell(value, Style::default(), &mut text);
            if !is_blank(&text) {
                filled.push((*column, value, text.clone()));
            }
        }
        match &found.header {
            _ if filled.is_empty() => found.empty_rows += u64::from(found.header.is_some()),
            None => {
                let names = filled.into_iter().map(|(column, value, _)| {
                    let mut name = String::new();
                    push_cell(value, OF_NAMES, &mut name);
                    (column, name)
                });
                found.header = Some((row, names.collect()));
                found.last = row;
            }
            Some((header, names)) => {
                found.has_index |= check_place(file, *header, names, row, &filled)?;
                (found.last, found.empty_rows) = (row, 0);
                filled.iter().for_each(|(column, value, _)| found.note(*column, value));
            }
        }
        Ok(())
    })?;
    Ok(found)
}

impl Measured {
    fn note(&mut self, column: u32, value: &DataRef<'_>) {
        let column = column as usize;
        if self.seen.len() <= column {
            self.seen.resize(column + 1, Seen::default());
        }
        let seen = &mut self.seen[column];
        match value {
            DataRef::DateTime(time) => {
                let milliseconds = milliseconds(time);
                let times = seen.times.get_or_insert(Precision { is_date: true, digits: 0 });
                times.is_date &= milliseconds % 86_400_000 == 0;
                times.digits = times.digits.max(if milliseconds % 1_000 == 0 { 0 } else { 3 });
                seen.has_others = true;
            }
            DataRef::Float(number) => seen.has_fraction |= number.fract() != 0.0,
            DataRef::Int(_) | DataRef::Error(_) | DataRef::Empty => {}
            other => {
                seen.has_others = true;
                seen.has_marked |= match other {
                    DataRef::String(text) => is_marked(text),
                    DataRef::SharedString(text) => is_marked(text),
                    _ => false,
                };
            }
        }
    }
}

impl Seen {
    fn style(self) -> Style {
        let has_fractions = self.has_fraction && !self.has_others;
        Style { times: self.times.unwrap_or_default(), has_fractions }
    }
}

/// Whether a row has content in the column before the header; an error if it has content in others beside it.
fn check_place(
    file: File<'_>,
    header: u32,
    names: &[(u32, String)],
    row: u32,
    filled: &[(u32, &DataRef<'_>, String)],
) -> Result<bool, Trouble> {
    let (first, first_name) = (names[0].0, &names[0].1);
    let last = names.last().map_or(first, |(column, _)| *column);
    let outside = filled.iter().find(|(column, _, _)| *column > last || column + 1 < first);
    let Some((column, _, _)) = outside else {
        return Ok(filled.iter().any(|(column, _, _)| column + 1 == first));
    };
    let (cell, begin, end) = (address(row, *column), address(header, first), address(header, last));
    let range = if begin == end {
        format!("only {begin} ({})", quoted(first_name))
    } else {
        format!("{begin}:{end}")
    };
    let hint = "the first row with content must name all columns: remove titles above the header and cells beside \
        the table";
    Err(file.trouble(format!("the cell {cell} has no column name: the header has {range}"), hint))
}

/// Refuses merged cells in the table: all but the first of them are empty.
fn check_merged(
    file: File<'_>,
    workbook: &mut Workbook,
    sheet: &str,
    rows: (u32, u32),
    columns: (u32, u32),
) -> Result<(), Trouble> {
    let merged = shielded(|| workbook.merge_cells_by_sheet_name(sheet)).ok_or_else(|| damaged(file))?;
    let merged = merged.map_err(|error| unreadable(file, &error))?;
    let is_inside = |area: &&calamine::Dimensions| {
        let (from, to) = (area.start, area.end);
        from != to && from.0 <= rows.1 && to.0 >= rows.0 && from.1 <= columns.1 && to.1 >= columns.0
    };
    match merged.iter().find(is_inside) {
        None => Ok(()),
        Some(area) => {
            let (from, to) = (address(area.start.0, area.start.1), address(area.end.0, area.end.1));
            let hint = "undo the merging in Excel, and fill in all cells";
            Err(file.trouble(format!("the cells {from}:{to} of the sheet `{sheet}` are merged"), hint))
        }
    }
}

/// The name of a cell, such as `AB12`.
fn address(row: u32, column: u32) -> String {
    let (mut letters, mut left) = (Vec::new(), u64::from(column) + 1);
    while left > 0 {
        left -= 1;
        // A remainder of 26 is a letter.
        letters.push(char::from(b'A' + u8::try_from(left % 26).unwrap_or_default()));
        left /= 26;
    }
    let letters: String = letters.iter().rev().collect();
    format!("{letters}{}", u64::from(row) + 1)
}

/// Adds the text of a cell. Errors of formulas, such as `#N/A`, are empty.
fn push_cell(value: &DataRef<'_>, style: Style, into: &mut String) {
    match value {
        DataRef::Int(number) => {
            into.push_str(&number.to_string());
            into.push_str(if style.has_fractions { ".0" } else { "" });
        }
        DataRef::Float(number)
            if number.fract() == 0.0 && number.abs() < MOST_EXACT && !style.has_fractions =>
        {
            push_whole(*number, into);
        }
        DataRef::Float(number) => push_f64(*number, into),
        DataRef::String(text) => into.push_str(text),
        DataRef::SharedString(text) => into.push_str(text),
        DataRef::Bool(true) => into.push_str("True"),
        DataRef::Bool(false) => into.push_str("False"),
        DataRef::DateTime(time) => push_time(time, style.times, into),
        DataRef::DateTimeIso(text) => into.push_str(&text.replacen('T', " ", 1)),
        DataRef::DurationIso(text) => into.push_str(text),
        DataRef::Error(_) | DataRef::Empty => {}
    }
}

/// Excel counts days. Numbers below 1 are times of day.
fn push_time(time: &ExcelDateTime, precision: Precision, into: &mut String) {
    let milliseconds = milliseconds(time);
    if time.is_duration() {
        return push_duration(i128::from(milliseconds) * 1_000_000, into);
    }
    if (0.0..1.0).contains(&time.as_f64()) {
        return push_time_of_day(milliseconds % 86_400_000 * 1_000_000, into);
    }
    let (year, month, day, hours, minutes, seconds, rest) = time.to_ymd_hms_milli();
    into.push_str(&format!("{year:04}-{month:02}-{day:02}"));
    if !precision.is_date {
        into.push_str(&format!(" {hours:02}:{minutes:02}:{seconds:02}"));
        if precision.digits > 0 {
            into.push_str(&format!(".{rest:03}"));
        }
    }
}

/// The time in milliseconds from the day that is called 0.
#[expect(clippy::cast_possible_truncation, reason = "a number that is too large becomes the largest one")]
fn milliseconds(time: &ExcelDateTime) -> i64 {
    const MOST: i64 = 9_000_000_000_000;
    ((time.as_f64() * 86_400_000.0).round() as i64).clamp(-MOST, MOST)
}

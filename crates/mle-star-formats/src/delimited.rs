//! CSV in all dialects.

use std::path::Path;

use csv::StringRecord;
use mle_star_domain::trouble::Trouble;

use crate::detect::Detected;
use crate::dialect::Dialect;
use crate::notation::{Encoding, LineEnd, Notation, decide};
use crate::numbers::Tally;
use crate::packing::{Packing, read_full};
use crate::records::Records;
use crate::shape::{Shape, check_names, is_blank, is_line_of_blanks, untyped};
use crate::table::{Options, Source, Table, Visit};
use crate::text::{self, Utf8};
use crate::trouble::File;

/// The first bytes of a file, from which the dialect is read.
const HEAD: usize = 1 << 20;

/// Delimited text.
#[derive(Debug)]
struct Delimited {
    dialect: Dialect,
    /// Whether some row has empty cells after those of the header, or some line nothing but blanks.
    is_irregular: bool,
}

/// How the bytes of a file become rows.
#[derive(Clone, Copy, Debug)]
struct Layout {
    dialect: Dialect,
    encoding: Encoding,
    line_end: LineEnd,
}

/// What one pass over all rows finds.
#[derive(Debug, Default)]
struct Measured {
    header: Vec<String>,
    tallies: Vec<Tally>,
    /// Rows up to the last one that has content, and the rows without content since then.
    rows: u64,
    empty_rows: u64,
    /// The most cells up to the last one with content.
    widest: usize,
    /// The first row that has content beyond the header: its line and cells.
    wider: Option<(u64, usize)>,
    /// The first row with fewer cells than the header: its line and cells.
    shorter: Option<(u64, usize)>,
    /// Whether all rows have one cell more than the header.
    all_have_one_more: bool,
    /// Whether some row has more cells than the header, or some line nothing but blanks.
    is_irregular: bool,
}

/// Why a pass ended early.
enum Stopped {
    Trouble(Trouble),
    /// The text is not UTF-8.
    OtherBytes,
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// Opens delimited text. One pass over all rows finds its shape and the notation of its numbers.
///
/// # Errors
/// See [`open`](crate::open).
pub(crate) fn open(path: &Path, detected: Detected, options: &Options<'_>) -> Result<Table, Trouble> {
    let file = File(path);
    let mut layout = layout(path, &detected.packing)?;
    let measured = match measure(path, &detected.packing, layout) {
        Err(Stopped::OtherBytes) => {
            let is_marked = layout.encoding == Encoding::Utf8Mark;
            layout.encoding = of_other_bytes(path, &detected.packing, is_marked)?;
            measure(path, &detected.packing, layout)
        }
        other => other,
    };
    let measured = measured.map_err(|stopped| match stopped {
        Stopped::Trouble(trouble) => trouble,
        Stopped::OtherBytes => file.damaged("the text is not UTF-8"),
    })?;
    let delimiter = char::from(layout.dialect.delimiter);
    let is_irregular = measured.is_irregular || layout.dialect.names_itself;
    let (shape, tallies) = shape(file, measured)?;
    let names: Vec<String> = shape.columns.iter().map(|column| column.name.clone()).collect();
    let mut notation = decide(&names, &tallies, delimiter, options.like);
    (notation.encoding, notation.line_end) = (layout.encoding, layout.line_end);
    let source = Box::new(Delimited { dialect: layout.dialect, is_irregular });
    Ok(Table { path: path.to_owned(), detected, shape, notation, source })
}

impl Source for Delimited {
    fn each_row(&self, table: &Table, _: Option<&[usize]>, visit: &mut Visit<'_>) -> Result<(), Trouble> {
        let Notation { encoding, line_end, .. } = table.notation;
        let layout = Layout { dialect: self.dialect, encoding, line_end };
        let (mut row, mut left) = (StringRecord::new(), table.shape.rows);
        let mut is_header = true;
        let width = table.shape.columns.len();
        each(&table.path, &table.detected.packing, layout, &mut |_, cells| {
            if std::mem::take(&mut is_header) || left == 0 {
                return Ok(());
            }
            row.clear();
            for text in (&mut *cells).take(width) {
                row.push_field(text?);
            }
            if row.len() == 1 && is_line_of_blanks(&row[0]) && cells.next().is_none() {
                return Ok(());
            }
            left -= 1;
            // A row without content may have fewer cells.
            (row.len()..width).for_each(|_| row.push_field(""));
            Ok(visit(&row)?)
        })
        .map_err(|stopped| match stopped {
            Stopped::Trouble(trouble) => trouble,
            Stopped::OtherBytes => File(&table.path).damaged("the file was changed while it was read"),
        })
    }

    fn is_irregular(&self) -> bool {
        self.is_irregular
    }
}

/// Encoding, line ends and dialect, from the first part of a file.
fn layout(path: &Path, packing: &Packing) -> Result<Layout, Trouble> {
    let file = File(path);
    let read = |encoding: Encoding, line_end: LineEnd| {
        packing.with_bytes(path, |bytes| {
            let mut head = vec![0; HEAD];
            let mut text = Utf8::new(bytes, encoding, line_end);
            let count = read_full(&mut text, &mut head).map_err(|error| file.io(&error))?;
            head.truncate(count);
            Ok(head)
        })
    };
    let begin = packing.with_bytes(path, |bytes| {
        let mut begin = vec![0; 4_096];
        let count = read_full(bytes, &mut begin).map_err(|error| file.io(&error))?;
        begin.truncate(count);
        Ok(begin)
    })?;
    let encoding = text::encoding(&begin);
    let mut head = read(encoding, LineEnd::Lf)?;
    let line_end = text::line_end(&head);
    if line_end == LineEnd::Cr {
        head.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_named = |ending: &str| name.contains(ending);
    let tab = (is_named(".tsv") || is_named(".tab")).then_some(b'\t');
    let preferred = tab.or(is_named(".psv").then_some(b'|'));
    let dialect = Dialect::of(&head, head.len() < HEAD, preferred);
    Ok(Layout { dialect, encoding, line_end })
}

/// The encoding of a text that is not UTF-8. A byte order mark says that it should be.
fn of_other_bytes(path: &Path, packing: &Packing, is_marked: bool) -> Result<Encoding, Trouble> {
    let file = File(path);
    let survey = packing.with_bytes(path, |bytes| text::survey(bytes).map_err(|error| file.io(&error)))?;
    if is_marked || survey.wide > survey.invalid {
        let (invalid, line) = (survey.invalid, survey.line);
        let what =
            if invalid == 1 { "one byte is not".to_owned() } else { format!("{invalid} bytes are not") };
        return Err(
            file.damaged(format!("the text is UTF-8, but {what}, the first of them near line {line}"))
        );
    }
    Ok(Encoding::Windows1252)
}

type Cells<'a> = dyn Iterator<Item = Result<&'a str, Stopped>> + 'a;
type EachRow<'a> = dyn FnMut(u64, &mut Cells<'_>) -> Result<(), Stopped> + 'a;

/// Calls `visit` with line and cells of each row, the header included.
fn each(path: &Path, packing: &Packing, layout: Layout, visit: &mut EachRow<'_>) -> Result<(), Stopped> {
    let file = File(path);
    let mut stopped = None;
    packing.with_bytes(path, |bytes| {
        let text = Utf8::new(bytes, layout.encoding, layout.line_end);
        let mut records = Records::new(text, layout.dialect.delimiter);
        let mut skip = layout.dialect.names_itself;
        while let Some(line) = records.next().map_err(|fault| file.fault(&fault))? {
            if std::mem::take(&mut skip) {
                continue;
            }
            let mut cells =
                records.cells().map(|cell| std::str::from_utf8(cell).map_err(|_| Stopped::OtherBytes));
            if let Err(why) = visit(line, &mut cells) {
                stopped = Some(why);
                break;
            }
        }
        Ok(())
    })?;
    stopped.map_or(Ok(()), Err)
}

fn measure(path: &Path, packing: &Packing, layout: Layout) -> Result<Measured, Stopped> {
    let file = File(path);
    let mut found = Measured { all_have_one_more: true, ..Measured::default() };
    let mut has_header = false;
    each(path, packing, layout, &mut |line, cells| {
        if !has_header {
            found.header = cells.map(|cell| cell.map(ToOwned::to_owned)).collect::<Result<_, _>>()?;
            has_header = true;
            return check_text(file, line, &found.header.concat());
        }
        found.add(file, line, cells)
    })?;
    Ok(found)
}

impl Measured {
    fn add(&mut self, file: File<'_>, line: u64, cells: &mut Cells<'_>) -> Result<(), Stopped> {
        let (mut count, mut filled, mut is_blanks) = (0, 0, false);
        for cell in cells {
            let cell = cell?;
            is_blanks = count == 0 && is_line_of_blanks(cell);
            if count == self.tallies.len() {
                self.tallies.push(Tally::default());
            }
            self.tallies[count].add(cell);
            check_text(file, line, cell)?;
            count += 1;
            filled = if is_blank(cell) { filled } else { count };
        }
        let header = self.header.len();
        self.is_irregular |= count > header || is_blanks;
        if is_blanks {
            return Ok(());
        }
        if filled == 0 {
            self.empty_rows += 1;
        } else {
            self.rows += 1 + std::mem::take(&mut self.empty_rows);
            self.widest = self.widest.max(filled);
            self.all_have_one_more &= count == header + 1;
        }
        if filled > header {
            self.wider.get_or_insert((line, count));
        }
        if filled > 0 && count < header {
            self.shorter.get_or_insert((line, count));
        }
        Ok(())
    }
}

/// A character that no tool reads in a table.
fn check_text(file: File<'_>, line: u64, text: &str) -> Result<(), Stopped> {
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Err(file.damaged(format!("a NUL character stands in the row at line {line}")).into());
    }
    Ok(())
}

/// The columns, without empty ones at the end, and what is known of their numbers.
fn shape(file: File<'_>, measured: Measured) -> Result<(Shape, Vec<Tally>), Trouble> {
    let mut names = measured.header;
    let header = names.len();
    let mut tallies = measured.tallies;
    let has_row_names = measured.wider.is_some() && measured.all_have_one_more && measured.rows > 0;
    if has_row_names {
        names.insert(0, String::new());
    } else if let Some((line, cells)) = measured.wider {
        return Err(of_width(file, line, cells, header));
    }
    let named = names.iter().rposition(|name| !is_blank(name)).map_or(0, |last| last + 1);
    let kept = named.max(measured.widest.min(names.len()));
    if kept == 0 {
        return Err(file.trouble("the table has no header", "the first row must name the columns"));
    }
    if let Some((line, cells)) = measured.shorter.filter(|(_, cells)| *cells < kept) {
        return Err(of_width(file, line, cells, kept));
    }
    let empty_columns = names.len() - kept;
    names.truncate(kept);
    tallies.resize_with(kept, Tally::default);
    check_names(file, &names)?;
    let columns = untyped(names);
    let (rows, empty_rows) = (measured.rows, measured.empty_rows);
    let shape = Shape { columns, rows, empty_columns, empty_rows, has_row_names, ..Shape::default() };
    Ok((shape, tallies))
}

fn of_width(file: File<'_>, line: u64, cells: usize, header: usize) -> Trouble {
    let plural = if cells == 1 { "" } else { "s" };
    let hint = match header {
        1 | 2 if cells > header + 1 => "remove lines above the header; the first row must name the columns",
        _ => "correct the row, or quote cells that contain the delimiter",
    };
    file.trouble(
        format!("the row at line {line} has {cells} cell{plural}, but the header has {header}"),
        hint,
    )
}

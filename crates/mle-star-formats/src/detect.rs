//! What kind of table a file is.

use std::path::Path;

use mle_star_domain::trouble::Trouble;

use crate::formats::{Format, named};
use crate::packing::{Packing, read_full};
use crate::trouble::File;

/// The first bytes that say what a file is.
const HEAD: usize = 4_096;
const OLD_WORKBOOK: &str = "a workbook of old Excel (.xls) or with a password";

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The format of the table.
    pub format: Format,
    /// How it is packed.
    pub packing: Packing,
}

/// What the first bytes of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Table(Format),
    Text,
    /// Something that is no table that can be read, in words for people.
    Other(&'static str),
}

/// What this file is, by its first bytes and its name. The first bytes decide how it is packed; text is what its name
/// says, or JSON if it has no such name and looks so.
///
/// # Errors
/// The file cannot be read, is an archive with several tables or none, is no table, or is not what its name says.
pub fn detect(path: &Path) -> Result<Detected, Trouble> {
    let file = File(path);
    let packing = Packing::of(path)?;
    let mut head = vec![0; HEAD];
    let count =
        packing.with_bytes(path, |bytes| read_full(bytes, &mut head).map_err(|error| file.io(&error)))?;
    head.truncate(count);
    if head.is_empty() {
        return Err(file.trouble("the file is empty", "give a table with a header and rows"));
    }
    let name = match &packing {
        Packing::Zip(member) if named(member).is_some() => member.clone(),
        _ => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let format = format(file, named(&name), content(&head, &packing), &head)?;
    Ok(Detected { format, packing })
}

fn format(file: File<'_>, named: Option<Format>, content: Content, head: &[u8]) -> Result<Format, Trouble> {
    let is_arrow = |format| matches!(format, Format::ArrowFile | Format::ArrowStream);
    match (content, named) {
        (Content::Table(found), Some(name)) if found == name || (is_arrow(found) && is_arrow(name)) => {
            Ok(found)
        }
        (Content::Table(found), None) => Ok(found),
        (Content::Table(found), Some(_)) => {
            let hint = format!("give it a name that ends with {}", found.ending());
            Err(file.trouble(format!("its content is not what its name says: it is {}", found.name()), &hint))
        }
        (Content::Other(OLD_WORKBOOK), _) => Err(file.trouble(
            format!("it is {OLD_WORKBOOK}"),
            "save it as an Excel workbook (.xlsx) without a password",
        )),
        (Content::Other(what), _) => {
            let hint = "convert it to CSV, Parquet, Arrow, .xlsx or JSON lines";
            Err(file.trouble(format!("it is no table that can be read, but {what}"), hint))
        }
        (Content::Text, named) => of_text(file, named, head),
    }
}

/// Text is JSON if it looks so and its name does not say otherwise.
fn of_text(file: File<'_>, named: Option<Format>, head: &[u8]) -> Result<Format, Trouble> {
    // UTF-16 begins with its mark, and one of two bytes is zero.
    let is_marked = head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF");
    let first = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(if is_marked { &head[2..] } else { head });
    let first = first.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != 0);
    match (first, named) {
        (_, Some(Format::Delimited)) => Ok(Format::Delimited),
        (Some(b'['), Some(Format::JsonList | Format::JsonLines)) => Ok(Format::JsonList),
        (Some(b'{'), Some(Format::JsonList | Format::JsonLines)) => Ok(Format::JsonLines),
        (_, Some(name)) => {
            let hint = "give it a name that ends with .csv";
            let (name, what) = (name.name(), "text");
            Err(file.trouble(format!("by its name it is {name}, but it seems to be other {what}"), hint))
        }
        (Some(b'{'), None) => Ok(Format::JsonLines),
        (Some(b'['), None) => Ok(Format::JsonList),
        (_, None) => Ok(Format::Delimited),
    }
}

fn content(head: &[u8], packing: &Packing) -> Content {
    const KNOWN: [(&[u8], Content); 14] = [
        (b"PAR1", Content::Table(Format::Parquet)),
        (b"PARE", Content::Other("an encrypted Parquet file")),
        (b"ARROW1", Content::Table(Format::ArrowFile)),
        (b"\xFF\xFF\xFF\xFF", Content::Table(Format::ArrowStream)),
        (b"FEA1", Content::Other("a Feather file of the old version 1")),
        (b"\xD0\xCF\x11\xE0", Content::Other(OLD_WORKBOOK)),
        (b"%PDF", Content::Other("a PDF document")),
        (b"SQLite format 3", Content::Other("a SQLite database")),
        (b"\x89HDF", Content::Other("an HDF5 file")),
        (b"\x89PNG", Content::Other("a picture")),
        (b"\x1F\x8B", Content::Other("a gzip file within another archive")),
        (b"7z\xBC\xAF", Content::Other("a 7z archive")),
        (b"Rar!", Content::Other("a RAR archive")),
        (b"BZh", Content::Other("a bzip2 file")),
    ];
    // The header of a table may begin with a word that is all letters and digits.
    let is_word = |begin: &[u8]| begin.iter().all(u8::is_ascii_alphanumeric) && is_text(head);
    if let Some((_, content)) = KNOWN.iter().find(|(begin, _)| head.starts_with(begin) && !is_word(begin)) {
        return *content;
    }
    if head.starts_with(b"PK\x03\x04") {
        return of_archive(head, packing);
    }
    let begin: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(9).collect();
    let begin = begin.to_ascii_lowercase();
    if begin.starts_with(b"<!doctype") || begin.starts_with(b"<html") {
        return Content::Other("a web page");
    }
    if begin.starts_with(b"<?xml") {
        return Content::Other("an XML document");
    }
    Content::Text
}

/// Whether these first bytes of a file are UTF-8 without NUL. The last character may be cut off.
fn is_text(head: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && !head.contains(&0)
}

/// Workbooks are archives; [`Packing::of`] has told them from others.
fn of_archive(head: &[u8], packing: &Packing) -> Content {
    let has = |part: &[u8]| memchr::memmem::find(head, part).is_some();
    if has(b"opendocument") {
        Content::Other("an OpenDocument file")
    } else if has(b"xl/workbook.bin") {
        Content::Other("a binary Excel workbook (.xlsb)")
    } else if *packing == Packing::None || has(b"[Content_Types].xml") || has(b"xl/") || has(b"docProps/") {
        Content::Table(Format::Excel)
    } else {
        Content::Other("an archive within an archive")
    }
}

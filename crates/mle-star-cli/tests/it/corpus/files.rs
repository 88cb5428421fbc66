//! Writes tables as people have them: the ending says the format and the packing, and words say the rest.
//!
//! Words: a separator (`tabs`, `semicolons`, `bars`), `decimal-commas`, an encoding (`bom`, `utf-16`, `windows-1252`), line
//! ends (`cr`, `crlf`), `sheet=NAME` behind another sheet, `members=A,B` of an archive, and `from=FILE` for a file of
//! `mle-star-formats/tests/data`.

use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use encoding_rs::WINDOWS_1252;
use parquet::arrow::ArrowWriter;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::case;

/// The bytes of a file.
pub fn bytes(file: &case::File) -> Vec<u8> {
    let value = |key: &str| file.words.iter().find_map(|word| word.strip_prefix(key));
    if let Some(other) = value("from=") {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mle-star-formats/tests/data");
        return std::fs::read(folder.join(other)).unwrap();
    }
    let name = file.name.rsplit('/').next().unwrap();
    let (inner, packing) = match name.rsplit_once('.') {
        Some((inner, packing @ ("gz" | "zst" | "zip"))) => (inner, packing),
        _ => (name, ""),
    };
    let plain = match inner.rsplit_once('.').map(|(_, ending)| ending) {
        Some("parquet") => parquet(&file.text),
        Some("feather" | "arrow") => arrow(&file.text),
        Some("xlsx") => workbook(&file.text, value("sheet=")),
        Some("jsonl" | "ndjson") => lines_of_json(&file.text).into_bytes(),
        _ => text(&file.text, &file.words),
    };
    match packing {
        "gz" => {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(&plain).unwrap();
            packed.finish().unwrap()
        }
        "zst" => zstd::encode_all(plain.as_slice(), 1).unwrap(),
        "zip" => {
            let members: Vec<&str> =
                value("members=").map_or_else(|| vec![inner], |all| all.split(',').collect());
            archive(members.into_iter().map(|member| (member, plain.as_slice())))
        }
        _ => plain,
    }
}

/// The text with separators, line ends and an encoding.
fn text(text: &str, words: &[String]) -> Vec<u8> {
    let mut text = text.to_owned();
    let separator = words.iter().find_map(|word| match word.as_str() {
        "tabs" => Some(b'\t'),
        "semicolons" => Some(b';'),
        "bars" => Some(b'|'),
        _ => None,
    });
    let commas = words.iter().any(|word| word == "decimal-commas");
    if separator.is_some() || commas {
        let mut table =
            csv::WriterBuilder::new().delimiter(separator.unwrap_or(b',')).from_writer(Vec::new());
        for row in rows(&text) {
            let cell = |cell: &String| {
                if commas && cell.parse::<f64>().is_ok() { cell.replace('.', ",") } else { cell.clone() }
            };
            table.write_record(row.iter().map(cell)).unwrap();
        }
        text = String::from_utf8(table.into_inner().unwrap()).unwrap();
    }
    for word in words {
        match word.as_str() {
            "cr" => text = text.replace('\n', "\r"),
            "crlf" => text = text.replace('\n', "\r\n"),
            "bom" => text.insert(0, '\u{feff}'),
            _ => {}
        }
    }
    if words.iter().any(|word| word == "utf-16") {
        return std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    }
    if words.iter().any(|word| word == "windows-1252") {
        return WINDOWS_1252.encode(&text).0.into_owned();
    }
    text.into_bytes()
}

/// All rows with the header.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let record =
        |record: Result<csv::StringRecord, csv::Error>| record.unwrap().iter().map(str::to_owned).collect();
    reader.records().map(record).collect()
}

/// A column of values of one type.
enum Typed {
    Whole(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    Truth(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
}

/// The columns by name. Numbers with zeros in front are texts.
fn typed(text: &str) -> Vec<(String, Typed)> {
    let mut rows = rows(text);
    let header = rows.remove(0);
    let column = |(at, name): (usize, String)| {
        let cells: Vec<Option<&str>> =
            rows.iter().map(|row| row.get(at).map(String::as_str).filter(|cell| !cell.is_empty())).collect();
        let is_plain = |cell: &str| cell.len() == 1 || !cell.starts_with('0') || cell.starts_with("0.");
        (name, as_type(&cells, is_plain))
    };
    header.into_iter().enumerate().map(column).collect()
}

fn as_type(cells: &[Option<&str>], is_plain: impl Fn(&str) -> bool) -> Typed {
    fn all<T>(cells: &[Option<&str>], parse: impl Fn(&str) -> Option<T>) -> Option<Vec<Option<T>>> {
        cells.iter().map(|cell| cell.map_or(Some(None), |cell| parse(cell).map(Some))).collect()
    }
    let truth = |cell: &str| match cell {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    };
    let text = || cells.iter().map(|cell| cell.map(str::to_owned)).collect();
    all(cells, |cell| cell.parse().ok().filter(|_| is_plain(cell)))
        .map(Typed::Whole)
        .or_else(|| all(cells, |cell| cell.parse().ok().filter(|_| is_plain(cell))).map(Typed::Number))
        .or_else(|| all(cells, truth).map(Typed::Truth))
        .unwrap_or_else(|| Typed::Text(text()))
}

fn batch(text: &str) -> RecordBatch {
    let array = |column: Typed| -> ArrayRef {
        match column {
            Typed::Whole(cells) => Arc::new(Int64Array::from(cells)),
            Typed::Number(cells) => Arc::new(Float64Array::from(cells)),
            Typed::Truth(cells) => Arc::new(BooleanArray::from(cells)),
            Typed::Text(cells) => Arc::new(StringArray::from(cells)),
        }
    };
    let columns = typed(text).into_iter().map(|(name, column)| (name, array(column), true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn parquet(text: &str) -> Vec<u8> {
    let batch = batch(text);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow(text: &str) -> Vec<u8> {
    let batch = batch(text);
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// An object on each line; a text of JSON stays as it is.
fn lines_of_json(text: &str) -> String {
    if text.starts_with('{') {
        return text.to_owned();
    }
    let columns = typed(text);
    let rows = text.lines().count() - 1;
    let value = |column: &Typed, row: usize| match column {
        Typed::Whole(cells) => serde_json::json!(cells[row]),
        Typed::Number(cells) => serde_json::json!(cells[row]),
        Typed::Truth(cells) => serde_json::json!(cells[row]),
        Typed::Text(cells) => serde_json::json!(cells[row]),
    };
    let line = |row: usize| {
        let cells = columns
            .iter()
            .map(|(name, column)| format!("{}: {}", serde_json::json!(name), value(column, row)));
        format!("{{{}}}\n", cells.collect::<Vec<_>>().join(", "))
    };
    (0..rows).map(line).collect()
}

/// A workbook with the table on its first sheet, or on this one behind another.
fn workbook(text: &str, sheet: Option<&str>) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const LINKS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let names: Vec<&str> = sheet.map_or_else(|| vec!["Sheet1"], |name| vec!["About", name]);
    let sheets = |of: &dyn Fn(usize, &str) -> String| -> String {
        names.iter().enumerate().map(|(at, name)| of(at + 1, name)).collect()
    };
    let listed = sheets(&|at, name| format!("<sheet name=\"{name}\" sheetId=\"{at}\" r:id=\"r{at}\"/>"));
    let links = sheets(&|at, _| {
        format!("<Relationship Id=\"r{at}\" Type=\"{LINKS}/worksheet\" Target=\"worksheets/sheet{at}.xml\"/>")
    });
    let types = sheets(&|at, _| {
        format!(
            "<Override PartName=\"/xl/worksheets/sheet{at}.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>"
        )
    });
    let mut parts = vec![
        (
            "[Content_Types].xml".to_owned(),
            format!(
                "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override PartName=\"/xl/workbook.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>{types}</Types>"
            ),
        ),
        (
            "_rels/.rels".to_owned(),
            format!(
                "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"r1\" Type=\"{LINKS}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{LINKS}\"><sheets>{listed}</sheets></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{links}</Relationships>"),
        ),
    ];
    for at in 1..=names.len() {
        let rows = if at == names.len() { cells(text) } else { String::new() };
        let content = format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>");
        parts.push((format!("xl/worksheets/sheet{at}.xml"), content));
    }
    archive(parts.iter().map(|(name, content)| (name.as_str(), content.as_bytes())))
}

/// The rows of a sheet.
fn cells(text: &str) -> String {
    let escaped = |cell: &str| cell.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let cell = |cell: &String| match cell.as_str() {
        "" => "<c/>".to_owned(),
        "True" => "<c t=\"b\"><v>1</v></c>".to_owned(),
        "False" => "<c t=\"b\"><v>0</v></c>".to_owned(),
        number if number.parse::<f64>().is_ok() => format!("<c><v>{number}</v></c>"),
        text => format!("<c t=\"inlineStr\"><is><t>{}</t></is></c>", escaped(text)),
    };
    let row = |row: Vec<String>| format!("<row>{}</row>", row.iter().map(cell).collect::<String>());
    rows(text).into_iter().map(row).collect()
}

fn archive<'a>(members: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

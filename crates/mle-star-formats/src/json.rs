//! JSON lines, and JSON lists of objects.

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use csv::StringRecord;
use mle_star_domain::trouble::Trouble;
use rustc_hash::FxHashMap;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::canonical::push_f64;
use crate::detect::Detected;
use crate::formats::Format;
use crate::notation::{LineEnd, Notation};
use crate::numbers::is_marked;
use crate::packing::{Packing, read_full};
use crate::records::LONGEST_ROW;
use crate::shape::{Shape, untyped};
use crate::table::{Source, Table, Visit};
use crate::text::{self, Utf8};
use crate::trouble::{File, quoted};

/// The most different fields: with more, the keys of the objects are data.
const MOST_FIELDS: usize = 65_536;

/// Infinity as a number of JSON.
const INFINITE: &[u8] = b"1e99999";

/// Objects of JSON. Fields that an object lacks are empty cells; lists and objects within it are JSON text.
#[derive(Debug)]
struct Json;

/// The fields of an object in their order.
struct Fields(Vec<(String, Box<RawValue>)>);

type EachObject<'a> = dyn FnMut(u64, Fields) -> Result<(), Trouble> + 'a;

/// Opens JSON lines or a JSON list. One pass over all objects collects their fields.
///
/// # Errors
/// See [`open`](crate::open).
pub(crate) fn open(path: &Path, detected: Detected) -> Result<Table, Trouble> {
    let file = File(path);
    let encoding = detected.packing.with_bytes(path, |bytes| {
        let mut head = [0; 4_096];
        let count = read_full(bytes, &mut head).map_err(|error| file.io(&error))?;
        Ok(text::encoding(&head[..count]))
    })?;
    let notation = Notation { encoding, ..Notation::default() };
    let (mut names, mut known, mut rows) = (Vec::new(), FxHashMap::default(), 0);
    let (mut marked, mut are_nested) = (BTreeSet::new(), true);
    each(path, &detected, &notation, &mut |_, fields| {
        rows += 1;
        for (name, value) in fields.0 {
            let at = *known.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() - 1
            });
            are_nested &= value.get().starts_with(['{', '[']);
            let text = value.get().trim_matches('"');
            // Marks that are no ASCII may be escaped.
            if is_marked(text) || text.contains('\\') && is_marked(&unescaped(value.get())) {
                marked.insert(at);
            }
        }
        let hint = "the keys of objects must be names of columns";
        let many = || file.trouble(format!("the objects have more than {MOST_FIELDS} different keys"), hint);
        if names.len() > MOST_FIELDS { Err(many()) } else { Ok(()) }
    })?;
    if names.is_empty() {
        return Err(file.trouble("the table has no columns", "give a table with a header and rows"));
    }
    if are_nested && rows == 1 && detected.format == Format::JsonLines {
        let hint = "write one object for each row, as pandas does with orient=\"records\"";
        return Err(file.trouble("it holds one object of lists or objects, not rows", hint));
    }
    let marked = marked.into_iter().collect();
    let shape = Shape { columns: untyped(names), rows, marked, ..Shape::default() };
    Ok(Table { path: path.to_owned(), detected, shape, notation, source: Box::new(Json) })
}

impl Source for Json {
    fn each_row(&self, table: &Table, _: Option<&[usize]>, visit: &mut Visit<'_>) -> Result<(), Trouble> {
        let file = File(&table.path);
        let names = table.shape.columns.iter().enumerate();
        let places: FxHashMap<&str, usize> = names.map(|(at, column)| (column.name.as_str(), at)).collect();
        let mut cells = vec![String::new(); places.len()];
        let mut row = StringRecord::new();
        each(&table.path, &table.detected, &table.notation, &mut |number, fields| {
            cells.iter_mut().for_each(String::clear);
            for (name, value) in &fields.0 {
                let changed = || file.damaged("the file was changed while it was read");
                let at = *places.get(name.as_str()).ok_or_else(changed)?;
                push_value(value.get(), &mut cells[at]);
                if memchr::memchr(0, cells[at].as_bytes()).is_some() {
                    let place = place(table.detected.format, number);
                    return Err(file.damaged(format!("{place} has a NUL character in {}", quoted(name))));
                }
            }
            row.clear();
            cells.iter().for_each(|cell| row.push_field(cell));
            visit(&row)
        })
    }
}

fn place(format: Format, number: u64) -> String {
    let what = if format == Format::JsonLines { "line" } else { "object" };
    format!("{what} {number}")
}

/// Calls `visit` with each object, and its line or, in a list, its position from 1.
fn each(
    path: &Path,
    detected: &Detected,
    notation: &Notation,
    visit: &mut EachObject<'_>,
) -> Result<(), Trouble> {
    let file = File(path);
    let packing: &Packing = &detected.packing;
    packing.with_bytes(path, |bytes| {
        let text = Utf8::new(bytes, notation.encoding, LineEnd::Lf);
        match detected.format {
            Format::JsonLines => each_line(file, text, visit),
            _ => each_element(file, text, visit),
        }
    })
}

fn each_line(file: File<'_>, text: impl Read, visit: &mut EachObject<'_>) -> Result<(), Trouble> {
    let mut lines = BufReader::with_capacity(1 << 16, text);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        let most = LONGEST_ROW as u64 + 1;
        let count = (&mut lines).take(most).read_until(b'\n', &mut line).map_err(|error| file.io(&error))?;
        match count {
            0 => return Ok(()),
            count if count > LONGEST_ROW => {
                let hint = "each line must hold one object, one row";
                return Err(file.trouble(format!("line {number} has more than 64 MB"), hint));
            }
            _ if line.iter().all(u8::is_ascii_whitespace) => continue,
            _ => {}
        }
        let fields: Result<Fields, _> = serde_json::from_slice(&line);
        let fields = fields.or_else(|error| serde_json::from_slice(&standard(&line)).map_err(|_| error));
        let fields = fields.map_err(|error| {
            let hint = "each line must hold one JSON object, `{\"column\": value, …}`; pandas writes so with \
                orient=\"records\", lines=True";
            file.trouble(format!("line {number} is no row: {}", reason(&error)), hint)
        })?;
        visit(number, fields)?;
    }
}

/// A line of Python's `json`, which writes `NaN` and `Infinity`, as JSON: `null`, and numbers that are too large.
fn standard(line: &[u8]) -> Vec<u8> {
    let (mut json, mut rest, mut in_text) = (Vec::with_capacity(line.len()), line, false);
    while let Some((first, others)) = rest.split_first() {
        let (taken, written) = match (first, in_text) {
            (b'\\', true) => (2.min(rest.len()), None),
            (b'N', false) if rest.starts_with(b"NaN") => (3, Some(b"null".as_slice())),
            (b'I', false) if rest.starts_with(b"Infinity") => (8, Some(INFINITE)),
            _ => (1, None),
        };
        in_text ^= *first == b'"';
        json.extend(written.unwrap_or(&rest[..taken]));
        rest = others.get(taken - 1..).unwrap_or_default();
    }
    json
}

/// What is wrong, without the position, which is within the line.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn each_element(file: File<'_>, text: impl Read, visit: &mut EachObject<'_>) -> Result<(), Trouble> {
    let left = Rc::new(Cell::new(LONGEST_ROW));
    let limited = Limited { input: text, left: left.clone() };
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, limited));
    let (mut number, mut trouble) = (0, None);
    let list = List { left, visit, number: &mut number, trouble: &mut trouble };
    let read = json.deserialize_seq(list).and_then(|()| json.end());
    match (read, trouble) {
        (_, Some(trouble)) => Err(trouble),
        (Ok(()), None) => Ok(()),
        (Err(error), None) => {
            let hint = "the file must hold a JSON list of objects, one a row, and `null` instead of `NaN`";
            Err(file.trouble(format!("object {} is no row: {error}", number + 1), hint))
        }
    }
}

/// A reader of which only so many bytes may be read for one row.
struct Limited<R> {
    input: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::Error::other("it has more than 64 MB"));
        }
        let most = left.min(into.len());
        let count = self.input.read(&mut into[..most])?;
        self.left.set(left - count);
        Ok(count)
    }
}

/// Takes the objects of a list one after the other.
struct List<'a, 'b> {
    left: Rc<Cell<usize>>,
    visit: &'a mut EachObject<'b>,
    number: &'a mut u64,
    trouble: &'a mut Option<Trouble>,
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(fields) = list.next_element::<Fields>()? {
            *self.number += 1;
            self.left.set(LONGEST_ROW);
            if let Err(trouble) = (self.visit)(*self.number, fields) {
                *self.trouble = Some(trouble);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
                text.write_str("an object for each row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields: Vec<(String, Box<RawValue>)> = Vec::new();
                let mut known = HashSet::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if !known.insert(name.clone()) {
                        return Err(A::Error::custom(format!("it has two fields {}", quoted(&name))));
                    }
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// The text of a JSON string; nothing for other values.
fn unescaped(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_default()
}

/// Adds a JSON value as the text of a cell.
fn push_value(json: &str, into: &mut String) {
    match json.as_bytes().first() {
        None | Some(b'n') => {}
        Some(b't') => into.push_str("True"),
        Some(b'f') => into.push_str("False"),
        Some(b'"') => into.push_str(&unescaped(json)),
        Some(b'{' | b'[') => match serde_json::from_str::<serde_json::Value>(json) {
            Ok(value) => into.push_str(&value.to_string()),
            Err(_) => into.push_str(json),
        },
        Some(_) if json.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => into.push_str(json),
        Some(_) => match json.parse::<f64>() {
            Ok(number) if number.is_finite() || json.trim_start_matches('-').as_bytes() == INFINITE => {
                push_f64(number, into);
            }
            _ => into.push_str(json),
        },
    }
}

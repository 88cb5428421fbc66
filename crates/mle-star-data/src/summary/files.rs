//! The files that are not tables, by folder and ending.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use super::{FILES, media, words};
use crate::folder::Listing;
use crate::profile::{Column, Profile, ROWS_LOOKED_AT};

/// Files of a group that are opened.
const OPENED: usize = 5;
/// Folders that are named.
const FOLDERS: usize = 3;
/// Fewer rows with a file may be chance.
const FEWEST_NAMED: usize = 2;

/// The first folder of a path and the ending of its name.
type Place = (PathBuf, String);

/// A value that may name a file, and its column.
pub(super) type Named<'a> = (&'a Column, String);

/// The values that may name files: those of the first rows in columns whose values hardly repeat.
pub(super) fn named<'a>(profile: &'a Profile, rows: &[Vec<String>]) -> Vec<Named<'a>> {
    let looked = profile.train.rows.min(ROWS_LOOKED_AT);
    let names = |column: &Column| column.distinct * 10 >= looked * 9;
    let columns = profile.train.columns.iter().enumerate().filter(|(_, column)| names(column));
    let of_column = |(at, column): (usize, &'a Column)| {
        let values = rows.iter().filter_map(move |row| row.get(at)).filter(|value| !value.trim().is_empty());
        values.map(move |value| (column, value.trim().to_owned())).collect::<Vec<_>>()
    };
    columns.flat_map(of_column).collect()
}

/// The section of the files.
pub(super) fn section(data_dir: &Path, listing: &Listing, named: &[Named<'_>]) -> String {
    let mut groups: BTreeMap<Place, Vec<&PathBuf>> = BTreeMap::new();
    for file in listing.other.iter().filter(|file| !listing.copies.contains(file)) {
        groups.entry(place(file)).or_default().push(file);
    }
    let mut groups: Vec<(Place, Vec<&PathBuf>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
    let lines: Vec<String> =
        groups.iter().map(|(place, files)| line(data_dir, place, files, named)).collect();
    super::section("Other files", &lines, FILES)
}

fn place(file: &Path) -> Place {
    let mut parts = file.components();
    let first = parts.next().filter(|_| parts.next().is_some());
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    (first.map(|first| first.as_os_str().into()).unwrap_or_default(), ending.unwrap_or_default())
}

fn line(data_dir: &Path, (folder, ending): &Place, files: &[&PathBuf], named: &[Named<'_>]) -> String {
    let size: u64 =
        files.iter().filter_map(|file| fs::metadata(data_dir.join(file)).ok()).map(|meta| meta.len()).sum();
    let Some(example) = files.first() else { return String::new() };
    let kind = if ending.is_empty() { String::new() } else { format!(" .{}", words::plain(ending, 12)) };
    let files_of = if files.len() == 1 { "file" } else { "files" };
    let number = format!("{}{kind} {files_of}, {}", words::count(files.len() as u64), words::bytes(size));
    let opened: Vec<PathBuf> = spread(files).map(|file| data_dir.join(file)).collect();
    let mut parts = vec![number];
    parts.extend(folders(files));
    parts.push(format!("such as {}", words::path(example)));
    parts.extend(media::describe(ending, &opened));
    parts.extend(named_by(files, named));
    match folder.as_os_str().is_empty() {
        true => format!("- {}", parts.join("; ")),
        false => format!("- {}: {}", words::path(folder), parts.join("; ")),
    }
}

/// A few files from the whole list.
fn spread<'a>(files: &'a [&PathBuf]) -> impl Iterator<Item = &'a PathBuf> {
    let opened = files.len().min(OPENED);
    (0..opened).filter_map(move |at| files.get(at * files.len() / opened).copied())
}

/// The folders of these files, if they are several.
fn folders(files: &[&PathBuf]) -> Option<String> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let names: Vec<String> = folders.iter().take(FOLDERS).map(|folder| words::path(folder)).collect();
    let more = if folders.len() > FOLDERS { ", …" } else { "" };
    (folders.len() > 1)
        .then(|| format!("in {} folders ({}{more})", words::count(folders.len() as u64), names.join(", ")))
}

/// The column whose values are the names of these files.
fn named_by(files: &[&PathBuf], named: &[Named<'_>]) -> Option<String> {
    let mut values: HashMap<&str, Vec<&str>> = HashMap::new();
    for (column, value) in named {
        values.entry(value).or_default().push(&column.name);
    }
    let mut hits: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for file in files.iter().filter(|_| !values.is_empty()) {
        let forms = [
            ("without their ending", file.file_stem().and_then(|stem| stem.to_str())),
            ("as names", file.file_name().and_then(|name| name.to_str())),
            ("as paths", file.to_str()),
        ];
        for (form, text) in forms {
            for column in text.and_then(|text| values.get(text)).into_iter().flatten() {
                *hits.entry((column, form)).or_default() += 1;
            }
        }
    }
    let ((column, form), _) =
        hits.into_iter().filter(|(_, rows)| *rows >= FEWEST_NAMED).max_by_key(|hit| hit.1)?;
    Some(format!("values of {} name them, {form}", words::name(column)))
}

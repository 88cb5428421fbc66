//! The files that are not tables, by folder and ending, and those in zip archives.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use super::names;
use super::{media, words};
use crate::archives;
use crate::folder::Listing;
use crate::media::ending;
use crate::profile::{Column, Profile, ROWS_LOOKED_AT};

/// Files of a group that are opened.
const OPENED: usize = 5;
/// Folders that are named.
const FOLDERS: usize = 3;
/// Fewer rows with a file may be chance.
const FEWEST_NAMED: usize = 2;
/// Groups of an archive that are described.
const OF_AN_ARCHIVE: usize = 3;
/// Text files of a folder that are described one by one.
const ONE_BY_ONE: usize = 8;
/// Lines of a text file that are shown, and characters of each.
const LINES: usize = 3;
const CHARACTERS: usize = 60;

/// The endings of text files.
const TEXTS: [&str; 9] = ["txt", "csv", "tsv", "json", "jsonl", "xyz", "dat", "xml", "yaml"];

/// Where files are: in a first folder of the data folder or of an archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    archive: Option<PathBuf>,
    folder: PathBuf,
    ending: String,
}

/// Files of one place. Paths are relative to the data folder or to the archive.
struct Group<'a> {
    place: Place,
    files: Vec<Cow<'a, Path>>,
    /// The size of all files, if it is known.
    bytes: Option<u64>,
}

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

/// The section of the files, with at most `room` characters.
pub(super) fn section(data_dir: &Path, listing: &Listing, named: &[Named<'_>], room: usize) -> String {
    let files = listing.other.iter().filter(|file| !listing.copies.contains(file));
    let (packed, plain): (Vec<&PathBuf>, Vec<&PathBuf>) = files.partition(|file| archives::is_archive(file));
    let mut groups = grouped(None, plain.iter().map(|file| Cow::Borrowed(file.as_path())));
    for group in &mut groups {
        let size = |file: &Cow<'_, Path>| fs::metadata(data_dir.join(file)).map(|meta| meta.len()).ok();
        group.bytes = Some(group.files.iter().filter_map(size).sum());
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.files.len()));
    let mut lines: Vec<String> = packed.iter().flat_map(|file| of_archive(data_dir, file, named)).collect();
    lines.extend(groups.into_iter().flat_map(Group::parts).map(|group| group.line(data_dir, named)));
    super::section("Other files", &lines, room)
}

/// The groups of an archive; one line if it cannot be read.
fn of_archive(data_dir: &Path, archive: &Path, named: &[Named<'_>]) -> Vec<String> {
    let whole = data_dir.join(archive);
    let size = words::bytes(fs::metadata(&whole).map_or(0, |meta| meta.len()));
    let Ok(members) = archives::members(&whole) else {
        return vec![format!("- {}: {size}; cannot be read as an archive", words::path(archive))];
    };
    let mut groups = grouped(Some(archive), members.files.into_iter().map(Cow::Owned));
    if let ([only], Some(bytes)) = (groups.as_mut_slice(), members.bytes) {
        only.bytes = u64::try_from(bytes).ok();
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.files.len()));
    groups.iter().take(OF_AN_ARCHIVE).map(|group| group.line(data_dir, named)).collect()
}

fn grouped<'a>(archive: Option<&Path>, files: impl Iterator<Item = Cow<'a, Path>>) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<Place, Vec<Cow<'a, Path>>> = BTreeMap::new();
    for file in files {
        let mut parts = file.components();
        let first = parts.next().filter(|_| parts.next().is_some());
        let folder = first.map(|first| first.as_os_str().into()).unwrap_or_default();
        let place = Place { archive: archive.map(Path::to_owned), folder, ending: ending(&file) };
        groups.entry(place).or_default().push(file);
    }
    groups.into_iter().map(|(place, files)| Group { place, files, bytes: None }).collect()
}

impl Group<'_> {
    /// The group, or its files one by one if they are a few texts.
    fn parts(self) -> Vec<Self> {
        if self.files.len() > ONE_BY_ONE || self.files.len() < 2 || !self.is_text() {
            return vec![self];
        }
        let of_file = |file| Self { place: self.place.clone(), files: vec![file], bytes: None };
        self.files.into_iter().map(of_file).collect()
    }

    fn is_text(&self) -> bool {
        self.place.archive.is_none() && TEXTS.contains(&self.place.ending.as_str())
    }

    fn line(&self, data_dir: &Path, named: &[Named<'_>]) -> String {
        let Place { archive, folder, ending } = &self.place;
        let Some(example) = self.files.first() else { return String::new() };
        let kind = if ending.is_empty() { String::new() } else { format!(" .{}", words::plain(ending, 12)) };
        let files_of = if self.files.len() == 1 { "file" } else { "files" };
        let size = |bytes| format!(", {}", words::bytes(bytes));
        let alone = || fs::metadata(data_dir.join(example)).map(|meta| meta.len()).ok();
        let bytes = self.bytes.or_else(|| alone().filter(|_| archive.is_none()));
        let bytes = bytes.map(size).unwrap_or_default();
        let mut parts = vec![format!("{}{kind} {files_of}{bytes}", words::count(self.files.len() as u64))];
        parts.extend(folders(&self.files));
        parts.push(format!("such as {}", words::path(example)));
        parts.extend(names::of(&self.files));
        parts.extend(self.contents(data_dir));
        parts.extend(named_by(&self.files, named));
        let text = parts.join("; ");
        match (archive, folder.as_os_str().is_empty()) {
            (Some(archive), _) => format!("- {} (archive): {text}", words::path(archive)),
            (None, true) => format!("- {text}"),
            (None, false) => format!("- {}: {text}", words::path(folder)),
        }
    }

    /// What a few files hold.
    fn contents(&self, data_dir: &Path) -> Option<String> {
        let ending = &self.place.ending;
        if let Some(archive) = &self.place.archive {
            let whole = data_dir.join(archive);
            let read = |file: &Cow<'_, Path>| archives::beginning(&whole, file).ok().map(Cursor::new);
            return media::describe(ending, self.spread().filter_map(read));
        }
        if self.is_text() {
            return beginning(&data_dir.join(self.files.first()?));
        }
        let open = |file: &Cow<'_, Path>| File::open(data_dir.join(file)).ok().map(BufReader::new);
        media::describe(ending, self.spread().filter_map(open))
    }

    /// A few files from the whole list.
    fn spread(&self) -> impl Iterator<Item = &Cow<'_, Path>> {
        let opened = self.files.len().min(OPENED);
        (0..opened).filter_map(move |at| self.files.get(at * self.files.len() / opened))
    }
}

/// The first lines of a text file.
fn beginning(path: &Path) -> Option<String> {
    let file = BufReader::new(File::open(path).ok()?).take(1 << 16);
    let lines = file.lines().map_while(Result::ok).take(LINES);
    let lines: Vec<String> = lines.map(|line| format!("`{}`", words::plain(&line, CHARACTERS))).collect();
    (!lines.is_empty()).then(|| format!("begins with the lines {}", lines.join(", ")))
}

/// The folders of these files, if they are several.
fn folders(files: &[Cow<'_, Path>]) -> Option<String> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let names: Vec<String> = folders.iter().take(FOLDERS).map(|folder| words::path(folder)).collect();
    let more = if folders.len() > FOLDERS { ", …" } else { "" };
    (folders.len() > 1)
        .then(|| format!("in {} folders ({}{more})", words::count(folders.len() as u64), names.join(", ")))
}

/// The column whose values are the names of these files.
fn named_by(files: &[Cow<'_, Path>], named: &[Named<'_>]) -> Option<String> {
    let mut values: HashMap<&str, Vec<&str>> = HashMap::new();
    for (column, value) in named {
        values.entry(value).or_default().push(&column.name);
    }
    let mut hits: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for file in files.iter().filter(|_| !values.is_empty()) {
        let folder = file.parent().and_then(Path::file_name);
        let forms = [
            ("name them, without their ending", file.file_stem().and_then(|stem| stem.to_str())),
            ("name them, as names", file.file_name().and_then(|name| name.to_str())),
            ("name them, as paths", file.to_str()),
            ("name their folders", folder.and_then(|name| name.to_str())),
        ];
        for (form, text) in forms {
            for column in text.and_then(|text| values.get(text)).into_iter().flatten() {
                *hits.entry((column, form)).or_default() += 1;
            }
        }
    }
    let ((column, form), _) =
        hits.into_iter().filter(|(_, rows)| *rows >= FEWEST_NAMED).max_by_key(|hit| hit.1)?;
    Some(format!("values of {} {form}", words::name(column)))
}

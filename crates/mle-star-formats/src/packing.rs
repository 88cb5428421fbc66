//! Compressed files and archives.

use std::fs::File as Opened;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use mle_star_domain::trouble::Trouble;
use zip::ZipArchive;

use crate::formats::is_table_name;
use crate::trouble::{File, quoted};

/// The first bytes that say how a file is packed.
const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const ZIP: &[u8] = b"PK\x03\x04";
const EMPTY_ZIP: &[u8] = b"PK\x05\x06";
/// Members of archives that are workbooks and other documents.
const DOCUMENT: [&str; 2] = ["[Content_Types].xml", "mimetype"];
/// The largest window of zstd, as a power of two in bytes: what `zstd --long=31` writes.
const ZSTD_WINDOW: u32 = 31;

/// How a table is packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packing {
    /// It is not packed.
    None,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
    /// `.zip`, with the name of the table in the archive.
    Zip(String),
}

impl Packing {
    /// How the file is packed, from its first bytes.
    ///
    /// # Errors
    /// The file cannot be read, or is an archive that holds no table or several.
    pub(crate) fn of(path: &Path) -> Result<Self, Trouble> {
        let file = File(path);
        let mut begin = [0; 4];
        let mut opened = Opened::open(path).map_err(|error| file.io(&error))?;
        if opened.metadata().is_ok_and(|data| data.is_dir()) {
            return Err(file.trouble("is a folder, not a table", "give the file that holds the table"));
        }
        let count = read_full(&mut opened, &mut begin).map_err(|error| file.io(&error))?;
        match &begin[..count] {
            [first, second, ..] if [*first, *second] == GZIP => Ok(Self::Gzip),
            ZSTD => Ok(Self::Zstd),
            ZIP | EMPTY_ZIP => member(path, opened),
            _ => Ok(Self::None),
        }
    }

    /// Calls `take` with the unpacked bytes.
    pub(crate) fn with_bytes<T>(
        &self,
        path: &Path,
        take: impl FnOnce(&mut dyn Read) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let file = File(path);
        let opened = Opened::open(path).map_err(|error| file.io(&error))?;
        match self {
            Self::None => take(&mut { opened }),
            Self::Gzip => take(&mut MultiGzDecoder::new(BufReader::new(opened))),
            Self::Zstd => {
                let decoder = zstd::stream::read::Decoder::new(opened).and_then(|mut decoder| {
                    decoder.window_log_max(ZSTD_WINDOW)?;
                    Ok(decoder)
                });
                take(&mut decoder.map_err(|error| file.io(&error))?)
            }
            Self::Zip(name) => {
                let mut archive =
                    ZipArchive::new(BufReader::new(opened)).map_err(|error| unreadable(file, &error))?;
                let mut member = archive.by_name(name).map_err(|error| unreadable(file, &error))?;
                take(&mut member)
            }
        }
    }

    /// The unpacked bytes as a file. Packed bytes are written into a temporary file without a name.
    pub(crate) fn file(&self, path: &Path) -> Result<Opened, Trouble> {
        let file = File(path);
        if *self == Self::None {
            return Opened::open(path).map_err(|error| file.io(&error));
        }
        let folder = std::env::temp_dir();
        let of_folder = |error: io::Error| {
            let what = format!("it cannot be unpacked into {}: {error}", folder.display());
            file.trouble(what, "set TMPDIR to a folder that exists and has space")
        };
        let mut unpacked = tempfile::tempfile_in(&folder).map_err(of_folder)?;
        self.with_bytes(path, |bytes| io::copy(bytes, &mut unpacked).map_err(|error| file.io(&error)))?;
        unpacked.seek(SeekFrom::Start(0)).map_err(|error| file.io(&error))?;
        Ok(unpacked)
    }
}

/// Fills `into` as far as the bytes reach.
pub(crate) fn read_full(input: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < into.len() {
        match input.read(&mut into[count..]) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// The names of the tables in a zip archive, in its order; none if the file is no archive, or a workbook. Texts and JSON
/// files beside other tables are not counted: they describe them.
pub fn tables_in(path: &Path) -> Vec<String> {
    let opened = Opened::open(path).ok();
    opened.and_then(|opened| contents(path, opened).ok()).map(|contents| contents.tables).unwrap_or_default()
}

/// What an archive holds, apart from folders and hidden files.
struct Contents {
    is_document: bool,
    files: Vec<String>,
    tables: Vec<String>,
}

fn contents(path: &Path, opened: Opened) -> Result<Contents, Trouble> {
    let archive = ZipArchive::new(BufReader::new(opened)).map_err(|error| unreadable(File(path), &error))?;
    let names: Vec<String> = archive.file_names().filter_map(|name| name.ok().map(Into::into)).collect();
    let marks = |name: &String| DOCUMENT.contains(&name.as_str()) || name.starts_with("xl/");
    if names.iter().any(marks) {
        return Ok(Contents { is_document: true, files: names, tables: Vec::new() });
    }
    let is_content = |name: &String| {
        let base = name.rsplit('/').next().unwrap_or_default();
        !base.is_empty() && !base.starts_with('.') && !name.starts_with("__MACOSX/")
    };
    let files: Vec<String> = names.into_iter().filter(is_content).collect();
    let mut tables: Vec<String> = files.iter().filter(|name| is_table_name(name)).cloned().collect();
    let is_sure =
        |name: &String| ![".txt", ".json"].iter().any(|ending| name.to_lowercase().ends_with(ending));
    if tables.iter().any(is_sure) {
        tables.retain(is_sure);
    }
    Ok(Contents { is_document: false, files, tables })
}

/// The table in an archive. Workbooks are archives, too, but are no packed tables.
fn member(path: &Path, opened: Opened) -> Result<Packing, Trouble> {
    let file = File(path);
    let Contents { is_document, files, tables } = contents(path, opened)?;
    match (&tables[..], &files[..]) {
        _ if is_document => Ok(Packing::None),
        ([only], _) | ([], [only]) => Ok(Packing::Zip(only.clone())),
        ([first, second, ..], _) => {
            let hint = "unpack it and give one of the tables";
            let (count, first, second) = (tables.len(), quoted(first), quoted(second));
            let what = format!("the archive holds {count} tables, {first} and {second} among them");
            Err(file.trouble(what, hint))
        }
        _ => Err(file.trouble("the archive holds no table", "give a table, or an archive with one table")),
    }
}

fn unreadable(file: File<'_>, error: &impl std::fmt::Display) -> Trouble {
    file.damaged(format!("the archive cannot be read: {error}"))
}

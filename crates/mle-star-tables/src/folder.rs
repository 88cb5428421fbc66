//! The roles of the files in a data folder.

mod json;
mod roles;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use mle_star_domain::trouble::Trouble;
use roles::Role;
use zip::ZipArchive;

/// Files that describe the task; they are not data.
const ABOUT_THE_TASK: [&str; 7] =
    ["description.md", "task.yaml", "task.yml", "task.toml", "config.yaml", "config.yml", "config.toml"];

/// The files of a data folder by role.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    pub(super) train: Option<Source>,
    pub(super) test: Option<Source>,
    pub(super) sample: Option<Source>,
    pub(super) auxiliary: Vec<Source>,
    /// Every other file, with the copies.
    pub(super) other: Vec<PathBuf>,
    /// Further files with the same table as one of the above, such as `train.csv.zip` next to `train.csv`.
    pub(super) copies: Vec<PathBuf>,
}

/// Where a table's text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The plain file as scripts see it, relative to the data folder.
    pub(super) file: PathBuf,
    /// The file on disk, relative to the data folder.
    pub(super) on_disk: PathBuf,
    /// How the file on disk holds the table.
    pub(super) packing: Packing,
}

/// How a file holds a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// As its text.
    Plain,
    /// As its text, compressed with gzip.
    Gzip,
    /// As this member of a zip archive.
    Zip(String),
    /// As a list of JSON objects.
    Json,
}

/// Sorts the files of a data folder by role.
///
/// # Errors
/// The folder is missing, not a folder, unreadable, or empty.
pub(super) fn list(data_dir: &Path) -> Result<Listing, Trouble> {
    let mut listing = Listing::default();
    let mut sources = Vec::new();
    for path in files(data_dir)? {
        match source_of(data_dir, &path) {
            Some(source) => sources.push(source),
            None => listing.other.push(path),
        }
    }
    // A plain file wins over a packed file of the same table.
    sources.sort_by_key(|source| (source.file.clone(), source.is_packed()));
    for source in sources {
        listing.place(source);
    }
    listing.fill();
    listing.other.sort();
    Ok(listing)
}

impl Listing {
    /// Every table, in the order train, test, sample, others.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Source> {
        [&self.train, &self.test, &self.sample].into_iter().flatten().chain(&self.auxiliary)
    }

    fn place(&mut self, source: Source) {
        let slot = match roles::usual(&source.stem()) {
            Some(role) => self.slot(role),
            None if self.auxiliary.iter().any(|known| known.file == source.file) => {
                return self.copy(source.on_disk);
            }
            None => return self.auxiliary.push(source),
        };
        match slot {
            None => *slot = Some(source),
            Some(_) => self.copy(source.on_disk),
        }
    }

    /// Gives a role that no table has to the one table whose name is the most likely.
    fn fill(&mut self) {
        for role in [Role::Train, Role::Test, Role::Sample] {
            if self.slot(role).is_some() {
                continue;
            }
            let rank = |source: &Source| roles::likely(&source.stem()).filter(|(likely, _)| *likely == role);
            let ranks: Vec<Option<usize>> =
                self.auxiliary.iter().map(|source| rank(source).map(|(_, rank)| rank)).collect();
            let Some(best) = ranks.iter().flatten().min() else { continue };
            let mut found = ranks.iter().enumerate().filter(|(_, rank)| *rank == &Some(*best));
            if let (Some((at, _)), None) = (found.next(), found.next()) {
                *self.slot(role) = Some(self.auxiliary.remove(at));
            }
        }
    }

    fn slot(&mut self, role: Role) -> &mut Option<Source> {
        match role {
            Role::Train => &mut self.train,
            Role::Test => &mut self.test,
            Role::Sample => &mut self.sample,
        }
    }

    fn copy(&mut self, on_disk: PathBuf) {
        self.copies.push(on_disk.clone());
        self.other.push(on_disk);
    }
}

impl Source {
    /// The table in this file, an absolute path; `None` if it is none.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let (folder, name) = (path.parent()?, path.file_name()?);
        source_of(folder, Path::new(name))
    }

    /// The name of the plain file without its ending.
    fn stem(&self) -> String {
        self.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether scripts cannot read the file on disk as it is.
    pub(super) fn is_packed(&self) -> bool {
        self.packing != Packing::Plain
    }

    /// Calls `take` with the table's text.
    ///
    /// # Errors
    /// The file or the archive cannot be opened.
    pub(super) fn with_text<T>(
        &self,
        data_dir: &Path,
        take: impl FnOnce(&mut dyn Read) -> T,
    ) -> io::Result<T> {
        let mut file = File::open(data_dir.join(&self.on_disk))?;
        match &self.packing {
            Packing::Plain => Ok(take(&mut file)),
            Packing::Gzip => Ok(take(&mut MultiGzDecoder::new(file))),
            Packing::Zip(member) => Ok(take(&mut ZipArchive::new(file)?.by_name(member)?)),
            Packing::Json => Ok(take(&mut json::as_csv(file)?.as_slice())),
        }
    }
}

/// Every file of a data folder, as sorted relative paths, without hidden files and those that describe the task.
///
/// # Errors
/// The folder is missing, not a folder, unreadable, or empty.
pub(super) fn files(data_dir: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let name = data_dir.display();
    if !data_dir.exists() {
        return Err(Trouble::new(
            format!("no such data folder: {name}"),
            "check the path of the data folder",
        ));
    }
    if !data_dir.is_dir() {
        let hint = "give the folder that holds train.csv, not a file";
        return Err(Trouble::new(format!("the data folder {name} is not a folder"), hint));
    }
    let found = super::walk::walk(data_dir).map_err(|error| {
        Trouble::new(format!("cannot read the data folder {name}: {error}"), "check the folder's permissions")
    })?;
    let mut found = found.files;
    if found.is_empty() {
        let hint = "put train.csv, test.csv and sample_submission.csv into it";
        return Err(Trouble::new(format!("the data folder {name} is empty"), hint));
    }
    found.retain(|path| !ABOUT_THE_TASK.iter().any(|name| path == Path::new(name)));
    Ok(found)
}

/// Whether a folder has a table with a role, judged by the names of its files, packed or not.
pub fn has_tables(folder: &Path) -> bool {
    let has_role = |name: &str| {
        let lower = name.to_lowercase();
        let plain = [".zip", ".gz"].iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower);
        let stem = plain.strip_suffix(".csv").or_else(|| plain.strip_suffix(".json"));
        stem.is_some_and(|stem| roles::usual(stem).is_some() || roles::likely(stem).is_some())
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).any(|name| has_role(&name))
}

/// The table in this file; `None` unless it is a top-level CSV file, packed or not, or a training or test table in JSON.
fn source_of(data_dir: &Path, path: &Path) -> Option<Source> {
    let name = path.to_str().filter(|_| path.components().count() == 1)?;
    let lower = name.to_lowercase();
    let source = |file: &str, packing| Some(Source { file: file.into(), on_disk: path.to_owned(), packing });
    if lower.ends_with(".csv") {
        return source(name, Packing::Plain);
    }
    if lower.ends_with(".csv.gz") {
        let text = MultiGzDecoder::new(File::open(data_dir.join(path)).ok()?).read(&mut [0]);
        return text.ok().and_then(|_| source(&name[..name.len() - ".gz".len()], Packing::Gzip));
    }
    if let Some(stem) = lower.strip_suffix(".json") {
        let has_role = matches!(roles::usual(stem), Some(Role::Train | Role::Test));
        let is_table = has_role && json::is_table(&data_dir.join(path));
        return is_table.then(|| source(&format!("{}.csv", &name[..stem.len()]), Packing::Json)).flatten();
    }
    let stem = &name[..lower.strip_suffix(".zip")?.len()];
    let packing = Packing::Zip(csv_member(&data_dir.join(path), stem)?);
    if stem.to_lowercase().ends_with(".csv") {
        return source(stem, packing);
    }
    source(&format!("{stem}.csv"), packing)
}

/// The CSV member of an archive: the one named like the archive, otherwise the only one.
fn csv_member(archive: &Path, stem: &str) -> Option<String> {
    let archive = ZipArchive::new(File::open(archive).ok()?).ok()?;
    let is_data = |name: &String| name.to_lowercase().ends_with(".csv") && !name.starts_with("__MACOSX");
    let members: Vec<String> =
        archive.file_names().filter_map(|name| name.ok().map(Into::into)).filter(is_data).collect();
    let base = |name: &str| name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let stem = stem.to_lowercase();
    let named = members.iter().find(|name| base(name) == stem || base(name) == format!("{stem}.csv"));
    let only = || (members.len() == 1).then(|| members.first()).flatten();
    named.or_else(only).cloned()
}

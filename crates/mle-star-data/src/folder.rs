//! The roles of the files in a data folder.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use mle_star::stop::Trouble;
use zip::ZipArchive;

/// Files that describe the task; they are not data.
const ABOUT_THE_TASK: [&str; 7] =
    ["description.md", "task.yaml", "task.yml", "task.toml", "config.yaml", "config.yml", "config.toml"];

/// The files of a data folder by role.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) train: Option<Source>,
    pub(super) test: Option<Source>,
    pub(super) sample: Option<Source>,
    pub(super) auxiliary: Vec<Source>,
    pub(super) other: Vec<PathBuf>,
}

/// Where a table's text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The plain file as scripts see it, relative to the data folder.
    pub(super) file: PathBuf,
    /// The file on disk, relative to the data folder.
    pub(super) on_disk: PathBuf,
    /// The member of the archive, if `on_disk` is a zip archive.
    pub(super) member: Option<String>,
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
    // A plain file wins over an archive of the same table.
    sources.sort_by_key(|source| (source.file.clone(), source.member.is_some()));
    for source in sources {
        listing.place(source);
    }
    listing.other.sort();
    Ok(listing)
}

impl Listing {
    /// Every table, in the order train, test, sample, others.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Source> {
        [&self.train, &self.test, &self.sample].into_iter().flatten().chain(&self.auxiliary)
    }

    fn place(&mut self, source: Source) {
        let stem = source.file.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
        let slot = match stem.as_deref() {
            Some("train") => &mut self.train,
            Some("test") => &mut self.test,
            Some("sample_submission" | "samplesubmission") => &mut self.sample,
            _ if self.auxiliary.iter().any(|known| known.file == source.file) => {
                return self.other.push(source.on_disk);
            }
            _ => return self.auxiliary.push(source),
        };
        match slot {
            None => *slot = Some(source),
            Some(_) => self.other.push(source.on_disk),
        }
    }
}

impl Source {
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
        let Some(member) = &self.member else { return Ok(take(&mut file)) };
        let mut archive = ZipArchive::new(file)?;
        Ok(take(&mut archive.by_name(member)?))
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

/// The table in this file; `None` unless it is a top-level CSV file, zipped or not.
fn source_of(data_dir: &Path, path: &Path) -> Option<Source> {
    let name = path.to_str().filter(|_| path.components().count() == 1)?;
    let lower = name.to_lowercase();
    if lower.ends_with(".csv") {
        return Some(Source { file: path.to_owned(), on_disk: path.to_owned(), member: None });
    }
    let stem = &name[..lower.strip_suffix(".zip")?.len()];
    let member = csv_member(&data_dir.join(path), stem)?;
    let file = if stem.to_lowercase().ends_with(".csv") { stem.to_owned() } else { format!("{stem}.csv") };
    Some(Source { file: file.into(), on_disk: path.to_owned(), member: Some(member) })
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

//! The roles of the files in a data folder whose tables are plain: comma-separated text. [`intake`](super::intake) makes such
//! folders of others.

pub(crate) mod roles;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;

use crate::archives;
pub(crate) use roles::Role;

/// Files that describe the task; they are not data.
const ABOUT_THE_TASK: [&str; 7] =
    ["description.md", "task.yaml", "task.yml", "task.toml", "config.yaml", "config.yml", "config.toml"];
/// Endings of a file that holds another one, packed.
const PACKED: [&str; 4] = [".zip", ".gz", ".zst", ".zstd"];

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

/// The file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// Its path, relative to the data folder.
    pub(super) file: PathBuf,
}

/// Sorts the files of a data folder by role.
///
/// # Errors
/// The folder is missing, not a folder, unreadable, or empty.
pub(super) fn list(data_dir: &Path) -> Result<Listing, Trouble> {
    let mut listing = Listing::default();
    let mut sources = Vec::new();
    for path in files(data_dir)? {
        match source_of(&path) {
            Some(source) => sources.push(source),
            None => listing.other.push(path),
        }
    }
    sources.sort_by_key(|source| source.file.clone());
    for source in sources {
        listing.place(source);
    }
    listing.fill();
    let is_copy = |file: &&PathBuf| listing.tables().any(|table| table.is_packed_in(data_dir, file));
    let copies: Vec<PathBuf> = listing.other.iter().filter(is_copy).cloned().collect();
    listing.copies.extend(copies);
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
            None => return self.auxiliary.push(source),
        };
        match slot {
            None => *slot = Some(source),
            Some(_) => {
                self.copies.push(source.file.clone());
                self.other.push(source.file);
            }
        }
    }

    /// Gives a role that no table has to the one table whose name is the most likely.
    fn fill(&mut self) {
        for role in [Role::Train, Role::Test, Role::Sample] {
            if self.slot(role).is_none()
                && let Some(at) = roles::most_likely(role, self.auxiliary.iter().map(Source::stem))
            {
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
}

impl Source {
    /// The name without its ending.
    fn stem(&self) -> String {
        self.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether another file is this one, packed.
    fn is_packed_in(&self, data_dir: &Path, other: &Path) -> bool {
        let (name, text) = (self.file.to_string_lossy(), other.to_string_lossy());
        let rest = text.strip_prefix(&*name).or_else(|| text.strip_prefix(&*self.stem()));
        // `train.zip` may hold the images of `train.csv`.
        let holds_table = || {
            let one = |files: Vec<PathBuf>| matches!(files.as_slice(), [only] if source_of(only).is_some());
            !archives::is_archive(other) || archives::members(&data_dir.join(other)).is_ok_and(one)
        };
        rest.is_some_and(|rest| PACKED.contains(&rest)) && holds_table()
    }

    /// The open file.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) fn open(&self, data_dir: &Path) -> io::Result<File> {
        File::open(data_dir.join(&self.file))
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
    found.retain(|path| !is_about_the_task(path));
    Ok(found)
}

/// Whether a file, relative to the data folder, describes the task.
pub(super) fn is_about_the_task(path: &Path) -> bool {
    ABOUT_THE_TASK.iter().any(|name| path == Path::new(name))
}

/// The table in this file; `None` unless it is a top-level CSV file.
fn source_of(path: &Path) -> Option<Source> {
    let name = path.to_str().filter(|_| path.components().count() == 1)?;
    name.to_lowercase().ends_with(".csv").then(|| Source { file: path.to_owned() })
}

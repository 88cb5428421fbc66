//! The table files of a folder and their roles.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use mle_star_formats::{Format, Packing, Table, detect, is_plain, is_table_name, stem, tables_in};

use super::{Asked, opened, shown};
use crate::folder::{self, Role, roles};

/// The largest file beside the tables with a role that becomes CSV, in bytes. Scripts read larger ones as they are.
const FURTHER: u64 = 256 << 20;
/// Endings of files that are tables only if a role says so: many others have them, too.
const RARELY_TABLES: [&str; 2] = [".txt", ".json"];
/// Endings of a file that holds another one, packed.
const PACKED: [&str; 4] = [".gz", ".zst", ".zstd", ".zip"];

/// So many tables in an archive are data of another kind, such as a series for each row.
const MANY_TABLES: usize = 10;

/// A table file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The file, relative to the data folder.
    pub(super) file: PathBuf,
    /// The plain table as scripts see it.
    pub(super) plain: PathBuf,
}

/// The table files of a data folder, or one table file.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) folder: PathBuf,
    train: Option<Found>,
    test: Option<Found>,
    sample: Option<Found>,
    others: Vec<Found>,
    /// Further files with the table of one of the above.
    pub(super) copies: Vec<PathBuf>,
    /// Whether only one file was given.
    is_one: bool,
}

/// Whether this file is one that can be given as a task: its name says that it is a table.
pub fn is_table(path: &Path) -> bool {
    path.is_file() && path.file_name().is_some_and(|name| is_table_name(&name.to_string_lossy()))
}

/// Whether a folder has a table with a role, judged by the names of its files.
pub fn has_tables(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.into_iter().any(|name| {
        let stem = if is_table_name(&name) { Some(stem(&name)) } else { name.strip_suffix(".zip") };
        stem.is_some_and(|stem| roles::usual(stem).is_some() || roles::likely(stem).is_some())
    })
}

/// The tables of a folder, or the table in a file.
///
/// # Errors
/// Two files have one role, or the training table can be one of several in an archive.
pub(super) fn find(data: &Path) -> Result<Files, Trouble> {
    if data.is_file() {
        let folder = data.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let train = Found { file: shown(data), plain: "train.csv".into() };
        return Ok(Files { folder: folder.to_owned(), train: Some(train), is_one: true, ..Files::default() });
    }
    let mut files = Files { folder: data.to_owned(), ..Files::default() };
    let (mut found, mut others): (Vec<Found>, usize) = (Vec::new(), 0);
    for entry in fs::read_dir(data).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with('.') && !folder::is_about_the_task(Path::new(&*name)) {
            let table = candidate(data, &name);
            others += usize::from(table.is_none() && !name.to_lowercase().ends_with(".md"));
            found.extend(table);
        }
    }
    found.sort_by_key(|found| (found.is_packed(), found.is_rare(), !found.is_csv(), found.file.clone()));
    for found in found {
        files.place(found)?;
    }
    files.fill(others == 0);
    if files.train.is_none() {
        check_archive(data)?;
    }
    Ok(files)
}

/// Refuses an archive that is called like the training table and holds a few tables: one of them could be it.
fn check_archive(folder: &Path) -> Result<(), Trouble> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_train = |name: &str| {
        let stem = name.strip_suffix(".zip");
        stem.is_some_and(|stem| roles::usual(stem) == Some(Role::Train))
    };
    let archives = names.filter(|name| is_train(&name.to_string_lossy())).map(|name| folder.join(name));
    let mut refused = archives.filter(|path| (2..MANY_TABLES).contains(&tables_in(path).len()));
    refused.try_for_each(|path| detect(&path).map(drop))
}

/// The table that an entry of a folder is, if its name says that it is one.
fn candidate(folder: &Path, name: &str) -> Option<Found> {
    let path = folder.join(name);
    let plain = |stem: &str| PathBuf::from(format!("{stem}.csv"));
    if path.is_dir() {
        let inner = is_table_name(name).then(|| only_table_in(&path)).flatten()?;
        return Some(Found { file: Path::new(name).join(inner), plain: plain(stem(name)) });
    }
    if name.to_lowercase().ends_with(".csv") {
        return Some(Found { file: name.into(), plain: name.into() });
    }
    if is_table_name(name) {
        return Some(Found { file: name.into(), plain: plain(stem(name)) });
    }
    let stem = name.strip_suffix(".zip")?;
    matches!(detect(&path).ok()?.packing, Packing::Zip(_))
        .then(|| Found { file: name.into(), plain: plain(stem) })
}

/// The name of the only table in a folder such as `train.csv/train.csv`.
fn only_table_in(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let names = entries.filter(|name| is_table_name(&name.to_string_lossy()));
    let mut names = names.filter(|name| !name.to_string_lossy().starts_with(['.', '_']));
    names.next().filter(|_| names.next().is_none()).map(PathBuf::from)
}

impl Files {
    /// Whether it is a folder, not one file.
    pub(super) fn is_folder(&self) -> bool {
        !self.is_one
    }

    /// The tables with a role.
    pub(super) fn roles(&self) -> impl Iterator<Item = (Role, &Found)> {
        let all = [(Role::Train, &self.train), (Role::Test, &self.test), (Role::Sample, &self.sample)];
        all.into_iter().filter_map(|(role, found)| Some((role, found.as_ref()?)))
    }

    /// The path of a file.
    pub(super) fn path(&self, found: &Found) -> PathBuf {
        self.folder.join(&found.file)
    }

    /// The table, if it is not plain.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn opened(
        &self,
        found: &Found,
        asked: &Asked<'_>,
        like: Option<&Table>,
    ) -> Result<Option<Table>, Trouble> {
        let path = self.path(found);
        if found.is_plain_by_name() && is_plain(&path).unwrap_or_default() {
            return Ok(None);
        }
        let table = opened(&path, asked, like)?;
        let is_used_as_it_is = found.file == found.plain && table.is_plain();
        Ok((!is_used_as_it_is).then_some(table))
    }

    /// The tables without a role that are not plain and can become so.
    pub(super) fn further(&self, asked: &Asked<'_>) -> Vec<(Found, Table)> {
        let is_small =
            |found: &&Found| fs::metadata(self.path(found)).is_ok_and(|about| about.len() <= FURTHER);
        let others = self.others.iter().filter(|found| !found.is_rare()).filter(is_small);
        others.filter_map(|found| Some((found.clone(), self.opened(found, asked, None).ok()??))).collect()
    }

    fn place(&mut self, found: Found) -> Result<(), Trouble> {
        let (role, folder) = (roles::usual(&found.stem()), self.folder.clone());
        if found.is_rare() && (role.is_none() || !is_readable(&folder.join(&found.file))) {
            return Ok(());
        }
        let slot = match role {
            Some(role) => self.slot(role),
            None => {
                let known = self.others.iter().find(|other| other.plain == found.plain);
                match known {
                    Some(known) if known.packs(&found) => self.copies.push(found.file),
                    Some(_) => {}
                    None => self.others.push(found),
                }
                return Ok(());
            }
        };
        match slot {
            None => *slot = Some(found),
            Some(first) if first.is_rare() && !found.is_rare() && !first.packs(&found) => *slot = Some(found),
            Some(first) if found.is_rare() || first.packs(&found) || are_equal(&folder, first, &found) => {
                self.copies.push(found.file);
            }
            Some(first) => {
                let (one, other) = (first.file.display(), found.file.display());
                let role = role.map_or("table", Role::name);
                let message = format!("both {one} and {other} can be the {role}");
                return Err(Trouble::new(message, "rename or move one of them"));
            }
        }
        Ok(())
    }

    /// Gives a role that no table has to the one table whose name is the most likely; that of the training table to a table
    /// that is alone in its folder.
    fn fill(&mut self, are_all: bool) {
        for role in [Role::Train, Role::Test, Role::Sample] {
            if self.slot(role).is_none()
                && let Some(at) = roles::most_likely(role, self.others.iter().map(Found::stem))
            {
                *self.slot(role) = Some(self.others.remove(at));
            }
        }
        let has_role = self.roles().next().is_some();
        if let (true, false, [_]) = (are_all, has_role, self.others.as_slice()) {
            let only = self.others.pop();
            self.train = only.map(|only| Found { plain: "train.csv".into(), ..only });
        }
    }

    fn slot(&mut self, role: Role) -> &mut Option<Found> {
        match role {
            Role::Train => &mut self.train,
            Role::Test => &mut self.test,
            Role::Sample => &mut self.sample,
        }
    }
}

impl Found {
    /// Whether scripts can read the file as it is, if it holds what its name says.
    pub(super) fn is_plain_by_name(&self) -> bool {
        self.is_csv() && self.file == self.plain
    }

    /// The name of the plain table without its ending.
    fn stem(&self) -> String {
        self.plain.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn is_csv(&self) -> bool {
        self.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
    }

    fn is_rare(&self) -> bool {
        RARELY_TABLES.iter().any(|ending| self.unpacked().to_lowercase().ends_with(ending))
    }

    fn is_packed(&self) -> bool {
        self.unpacked() != self.file.to_string_lossy()
    }

    /// Whether the plain table has another name than the file, its packing aside.
    pub(super) fn is_renamed(&self) -> bool {
        let plain = self.plain.to_string_lossy();
        self.unpacked() != plain && self.unpacked() != self.stem()
    }

    /// The name of the file without the ending of its packing.
    fn unpacked(&self) -> String {
        let name = self.file.to_string_lossy().into_owned();
        let ending = PACKED.iter().find(|ending| name.to_lowercase().ends_with(*ending));
        ending.map_or(name.clone(), |ending| name[..name.len() - ending.len()].to_owned())
    }

    /// Whether the other file is this one, packed: `train.csv` or `train.csv/train.csv`, and `train.csv.zip` or `train.zip`.
    fn packs(&self, other: &Self) -> bool {
        let other = other.file.to_string_lossy();
        let names = [self.file.to_string_lossy(), self.plain.to_string_lossy(), self.stem().into()];
        names.iter().any(|name| other.strip_prefix(&**name).is_some_and(|rest| PACKED.contains(&rest)))
    }
}

/// Whether a file that is rarely a table is one: it can be read and has several columns.
fn is_readable(path: &Path) -> bool {
    let is_list = |path: &Path| detect(path).is_ok_and(|found| found.format != Format::Delimited);
    let table = opened(path, &Asked::default(), None);
    table.is_ok_and(|table| table.columns().len() > 1 || is_list(path))
}

/// Whether two files have the same bytes.
fn are_equal(folder: &Path, one: &Found, other: &Found) -> bool {
    let read = |found: &Found| {
        let mut bytes = Vec::new();
        let file = fs::File::open(folder.join(&found.file)).ok()?;
        file.take(FURTHER).read_to_end(&mut bytes).ok().map(|_| bytes)
    };
    let size = |found: &Found| fs::metadata(folder.join(&found.file)).map_or(0, |about| about.len());
    size(one) == size(other) && size(one) <= FURTHER && read(one) == read(other)
}

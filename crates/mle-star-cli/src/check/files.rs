//! The scripts and notebooks that arguments name, with those of folders.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use mle_star_domain::trouble::Trouble;

/// Folders whose Python is not that of the user.
const SKIPPED_DIRS: [&str; 3] = ["node_modules", "__pycache__", "site-packages"];
/// Files that a folder has if it is a Python environment.
const ENVIRONMENT_MARKERS: [&str; 2] = ["pyvenv.cfg", "conda-meta"];
/// Folders are walked to this depth.
const MAX_DEPTH: usize = 64;

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A script or a notebook.
    File(PathBuf),
    /// An argument without anything to check.
    Nothing(PathBuf, Trouble),
}

impl fmt::Display for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => formatter.write_str("<stdin>"),
            Self::File(path) | Self::Nothing(path, _) => write!(formatter, "{}", path.display()),
        }
    }
}

/// The scripts and notebooks that the arguments name, in their order; those of a folder are sorted. `-` is standard
/// input. Nothing is checked twice.
pub fn inputs(given: &[PathBuf]) -> Vec<Input> {
    let mut seen = HashSet::new();
    let mut inputs: Vec<Input> = given.iter().flat_map(|path| of(path)).collect();
    inputs.retain(|input| match input {
        Input::File(path) => seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())),
        Input::Stdin => seen.insert(PathBuf::from("-")),
        Input::Nothing(..) => true,
    });
    inputs
}

/// Whether the file is a notebook, by its name.
pub fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"))
}

fn of(path: &Path) -> Vec<Input> {
    if path == Path::new("-") {
        return vec![Input::Stdin];
    }
    if !path.is_dir() {
        return vec![Input::File(path.to_owned())];
    }
    match files_below(path) {
        Err(trouble) => vec![Input::Nothing(path.to_owned(), trouble)],
        Ok(files) if files.is_empty() => vec![Input::Nothing(path.to_owned(), without_scripts(path))],
        Ok(files) => {
            let named = |file: &PathBuf| file.strip_prefix(".").unwrap_or(file).to_owned();
            files.iter().map(|file| Input::File(named(file))).collect()
        }
    }
}

fn without_scripts(folder: &Path) -> Trouble {
    Trouble::new(
        format!("no scripts or notebooks in {}", folder.display()),
        "name a folder with files that end in .py or .ipynb and are not ignored by git, or the files themselves",
    )
}

/// The scripts and notebooks below a folder, but those that git ignores. Links to folders are not followed, because they can
/// form circles.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let is_own = |entry: &DirEntry| entry.depth() == 0 || !is_foreign(entry.path());
    let walk = WalkBuilder::new(folder).ignore(false).max_depth(Some(MAX_DEPTH)).filter_entry(is_own).build();
    let mut files = Vec::new();
    for entry in walk {
        let path = entry.map(DirEntry::into_path).map_err(|error| {
            let message = format!("cannot read the folder {}: {error}", folder.display());
            Trouble::new(message, "check its permissions")
        })?;
        if is_code(&path) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("py")) || is_notebook(path)
}

/// Whether a folder holds what others wrote.
fn is_foreign(path: &Path) -> bool {
    let is_named = path.file_name().is_some_and(|name| SKIPPED_DIRS.iter().any(|dir| name == *dir));
    is_named || ENVIRONMENT_MARKERS.iter().any(|name| path.join(name).exists())
}

//! The runs directory: creates run folders and finds them. [`inputs`] handles the frozen inputs of a run.

pub mod inputs;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use mle_star::journal::{JournalError, RunLock, hold};
use mle_star_domain::layout;
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;

use mle_star_domain::nearest::nearest;

pub use mle_star_report::run_view::{DEFAULT_DIR, argument, name, resume_command};

/// Limit on the characters of a task name in a run ID.
const MAX_TASK_NAME: usize = 50;
/// What a run folder may hold before the run has a journal: every file that freezing its inputs writes.
const BEGINNINGS: [&str; 17] = [
    layout::TASK,
    layout::FACTS,
    layout::CONFIG,
    layout::DATA,
    layout::INTAKE,
    layout::TEST_LABELS,
    layout::MODELS,
    layout::DATA_SUMMARY,
    layout::ALL_ROWS,
    layout::HOLDOUT,
    layout::SEASONAL_NAIVE,
    layout::WORK,
    layout::PROMPTS,
    layout::METRIC_FILE,
    layout::RUNNERS,
    layout::LOCK,
    layout::LOCK_OWNER,
];

/// The folder of a new run, locked by this process.
#[derive(Debug)]
pub struct NewRun {
    /// The run ID.
    pub id: String,
    /// The folder of the run, locked.
    pub hold: RunLock,
}

/// Creates the folder of a new run, with the ID `wanted`, else one made from task name and time. A folder `wanted` is
/// reused if it is empty, or the process that created it ended before it did anything.
///
/// # Errors
/// A run ID that exists or is invalid, or a runs directory that cannot be written.
pub fn claim(
    runs_dir: &Path,
    wanted: Option<&str>,
    task: &str,
    now: &jiff::Zoned,
) -> Result<NewRun, Trouble> {
    if let Some(id) = wanted {
        check_id(id)?;
    }
    fs::create_dir_all(runs_dir).map_err(|error| unwritable(runs_dir, &error))?;
    let short = short(task);
    let default = || format!("{short}-{}", now.strftime("%Y%m%d-%H%M%S"));
    let first = wanted.map_or_else(default, str::to_owned);
    for attempt in 1..1000 {
        let id = if attempt == 1 { first.clone() } else { format!("{first}-{attempt}") };
        let folder = runs_dir.join(&id);
        let is_new = match fs::create_dir(&folder) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => return Err(unwritable(runs_dir, &error)),
        };
        if (is_new || wanted.is_some())
            && let Some(hold) = lock_if_unused(&folder)?
        {
            remove_beginnings(&folder).map_err(|error| unwritable(runs_dir, &error))?;
            return Ok(NewRun { id, hold });
        }
        if wanted.is_some() {
            return Err(id_exists(&id, &folder));
        }
    }
    Err(Trouble::new("too many runs started in the same second", "try again"))
}

/// The beginning of the name of a run: the task's, as far as it can be a part of a folder's name that is not hidden.
fn short(task: &str) -> String {
    let allowed =
        |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = task.chars().map(allowed).take(MAX_TASK_NAME).collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() { "run".to_owned() } else { name.to_owned() }
}

fn id_exists(id: &str, folder: &Path) -> Trouble {
    if !is_run(folder) && !folder.join(layout::LOCK).exists() {
        let message = format!("{} already exists and is no run folder", folder.display());
        return Trouble::new(message, "choose another --run-id or --runs-dir");
    }
    let runs_dir = folder.parent().unwrap_or(folder);
    let message = format!("run {id} already exists in {}", runs_dir.display());
    Trouble::new(message, format!("choose another --run-id, or resume it: {}", resume_command(folder)))
}

/// Removes what an earlier start left in a folder: this run may have other inputs.
fn remove_beginnings(folder: &Path) -> io::Result<()> {
    let is_left = |name: &&&str| ![layout::LOCK, layout::LOCK_OWNER].contains(*name);
    BEGINNINGS.iter().filter(is_left).try_for_each(|name| inputs::remove(&folder.join(name)))
}

/// Locks a folder in which nothing was done; `None` if something was. The folder is checked again under the lock: another
/// process may have started its run in it meanwhile.
fn lock_if_unused(folder: &Path) -> Result<Option<RunLock>, Trouble> {
    // Leaves no lock file in a folder that is not a run.
    if !holds_only_beginnings(folder) {
        return Ok(None);
    }
    match hold(folder) {
        Ok(hold) => Ok(Some(hold).filter(|_| holds_only_beginnings(folder))),
        Err(JournalError::Held { .. } | JournalError::HeldElsewhere { .. }) => Ok(None),
        Err(error) => Err(error.trouble()),
    }
}

/// The data folder that scripts see: the one in the run folder if there is one, else the user's.
pub fn data_dir(run: &Path, task: &Task) -> PathBuf {
    let own = run.join(layout::DATA);
    if own.is_dir() { own } else { task.data_dir.clone() }
}

/// Whether the folder is empty or has only files that a start wrote before its run did anything. A start makes the lock
/// first, and [`layout::INTAKE`] before data. Where one is missing, the files are somebody else's.
pub fn holds_only_beginnings(folder: &Path) -> bool {
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let names = fs::read_dir(folder).and_then(|entries| entries.map(name).collect::<io::Result<Vec<_>>>());
    let Ok(names) = names else { return false };
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let is_known = |name: &String| BEGINNINGS.contains(&name.as_str()) || name.ends_with(".part");
    let is_of_start = has(layout::LOCK) && (has(layout::INTAKE) || !has(layout::DATA));
    names.is_empty() || is_of_start && names.iter().all(is_known)
}

/// The folder of a run, by ID or path.
///
/// # Errors
/// There is no such run.
pub fn find(run: &str, runs_dir: &Path) -> Result<PathBuf, Trouble> {
    let candidates = [runs_dir.join(run), PathBuf::from(run)];
    let is_meant = |folder: &PathBuf| is_run(folder) || holds_only_beginnings(folder);
    if let Some(folder) = candidates.into_iter().find(is_meant) {
        return Ok(folder);
    }
    let known: Vec<String> = all(runs_dir).iter().filter_map(|folder| name(folder)).collect();
    let hint = match nearest(run, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean {nearest}? `mle-star list` shows all runs"),
        None => "`mle-star list` shows all runs; set another runs directory with --runs-dir".to_owned(),
    };
    Err(Trouble::new(format!("no run {run} in {}", runs_dir.display()), hint))
}

/// The absolute path.
///
/// # Errors
/// The working directory is gone.
pub fn absolute(path: &Path) -> Result<PathBuf, Trouble> {
    std::path::absolute(path).map_err(|error| {
        Trouble::new(format!("cannot use the path {}: {error}", path.display()), "check the path")
    })
}

/// All run folders of a runs directory, sorted by name.
pub fn all(runs_dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(runs_dir).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| !is_hidden(entry));
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_run(path)).collect();
    folders.sort();
    folders
}

/// Whether the name begins with a dot. No run ID does; a run that is being deleted is renamed so.
pub fn is_hidden(entry: &fs::DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Whether this is a run folder.
pub fn is_run(folder: &Path) -> bool {
    [layout::JOURNAL, layout::TASK].iter().any(|file| folder.join(file).is_file())
}

fn check_id(id: &str) -> Result<(), Trouble> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !id.is_empty() && id.len() <= 100 && !id.starts_with(['.', '-']) && id.chars().all(allowed) {
        return Ok(());
    }
    let hint = "use up to 100 letters, digits, '-', '_' and '.', not starting with '.' or '-'";
    Err(Trouble::new(format!("invalid run ID \"{id}\""), hint))
}

/// The error for a runs directory that cannot be written.
pub fn unwritable(runs_dir: &Path, error: &std::io::Error) -> Trouble {
    let why = if runs_dir.is_file() { "it is no folder".to_owned() } else { error.to_string() };
    let message = format!("cannot write to the runs directory {}: {why}", runs_dir.display());
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free disk space, or set another folder with --runs-dir"
        }
        _ => "set a writable folder with --runs-dir",
    };
    Trouble::new(message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_unique_and_given_ones_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let runs = dir.path().join("deep/runs");
        let now: jiff::Zoned = "2025-01-02T03:04:05[UTC]".parse().unwrap();
        let id = |wanted| claim(&runs, wanted, "titanic", &now).map(|claimed| claimed.id);
        assert_eq!(id(None).unwrap(), "titanic-20250102-030405");
        assert_eq!(id(None).unwrap(), "titanic-20250102-030405-2");
        assert_eq!(id(Some("mine")).unwrap(), "mine");
        assert_eq!(id(Some("mine")).unwrap(), "mine", "nothing was done in it");
        fs::write(runs.join("mine/result.json"), "{}").unwrap();
        assert!(id(Some("mine")).unwrap_err().message.contains("already exists"));
        for bad in ["", "a/b", "..", "-x", "a b"] {
            assert!(id(Some(bad)).unwrap_err().message.contains("invalid run ID"), "{bad}");
        }
    }

    #[test]
    fn what_an_earlier_start_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let runs = dir.path();
        let now: jiff::Zoned = "2025-01-02T03:04:05[UTC]".parse().unwrap();
        let id = |wanted, task| claim(runs, wanted, task, &now).map(|claimed| claimed.id);
        let [left, own] = ["left", "own"].map(|name| runs.join(name));
        assert_eq!(id(Some("left"), "titanic").unwrap(), "left");
        for folder in [&left, &own] {
            fs::create_dir_all(folder.join(layout::DATA)).unwrap();
            fs::write(folder.join(layout::DATA).join("train.csv"), "id,y\n").unwrap();
            fs::write(folder.join(layout::METRIC_FILE), "").unwrap();
        }
        fs::write(left.join(layout::INTAKE), "{}").unwrap();
        assert_eq!(id(Some("left"), "titanic").unwrap(), "left");
        assert!(!left.join(layout::DATA).exists() && !left.join(layout::METRIC_FILE).exists());
        // An earlier start had models of its own.
        fs::write(left.join(layout::MODELS), "[]").unwrap();
        assert_eq!(id(Some("left"), "titanic").unwrap(), "left");
        assert!(!left.join(layout::MODELS).exists());
        // Somebody's project.
        for _ in 0..2 {
            assert!(id(Some("own"), "titanic").unwrap_err().message.contains("is no run folder"));
            assert!(own.join(layout::METRIC_FILE).exists() && !own.join(layout::LOCK).exists());
            let _ = fs::remove_dir_all(own.join(layout::DATA));
        }
        assert_eq!(id(None, "../House Prices (1)").unwrap(), "House-Prices--1--20250102-030405");
        assert_eq!(id(None, "..").unwrap(), "run-20250102-030405");
    }
}

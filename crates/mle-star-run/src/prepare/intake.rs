//! The plain tables of a task, made of whatever the user gave.
//!
//! Where the user's data is plain already, it is used as it is. Otherwise, a folder is made: beside the runs if a run follows,
//! which then keeps it, else a temporary one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_domain::protocol::{Holdout, Split};
use mle_star_domain::task::{Targets, TaskKeys};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::intake::{InputData, SubmissionFormat};
use mle_star_tables::profile::{Column, ColumnKind, Profile, Table};
use mle_star_tables::read_options::ReadOptions;
use mle_star_tables::task_inference::{CLASSES_WITHOUT_ROWS, TaskHints};
use mle_star_tables::walk;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::profile_data::Data;
use super::task_source::TaskSource;
use crate::data_plane::{BlockingPlaneClient, readable};
use crate::error::RunError;
use crate::python_environment::Say;
use crate::runs::{self, absolute, inputs};

/// The share of a single table that becomes its test table.
const TEST_SHARE: f64 = 0.2;
const MIN_TEST_SHARE: f64 = 0.05;
const MAX_TEST_SHARE: f64 = 0.5;
/// No more columns are named in a line.
const MAX_NAMED: usize = 10;

/// The data of a task as scripts see it.
#[derive(Debug)]
pub struct Intake {
    /// The user's folder or table file.
    given: PathBuf,
    taken: InputData,
    /// The client of the data plane.
    pub plane: BlockingPlaneClient,
    made: MadeFolder,
    /// The test rows that were taken from a single table.
    pub drawn: Option<DrawnRows>,
    /// The keys of the task that are about files.
    keys: TaskKeys,
}

/// The test rows of a single table.
#[derive(Debug, Deserialize)]
pub struct DrawnRows {
    /// The difference between these rows and the training rows.
    pub split: Split,
    /// The number of these rows, and the seed that chose them.
    pub holdout: Holdout,
    /// The column with the row IDs.
    id: String,
    /// The rows without a label, which are in neither table.
    unlabelled: u64,
    /// The words that stand for a missing label in them.
    words: Vec<String>,
}

/// A made sample submission.
#[derive(Deserialize)]
struct MadeSample {
    id: String,
    has_made_ids: bool,
}

/// The settings with which the data plane reads files.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The interpreter and its limits.
    pub config: &'a Config,
    /// Who is told that a Python environment is being created.
    pub say: Say<'a>,
}

/// How the data was made from the user's, as the run keeps it.
#[derive(Debug, Serialize, Deserialize)]
pub struct MadeData {
    /// The user's folder or table file.
    pub given: PathBuf,
    /// What was found, changed and left out, a sentence each.
    pub told: Vec<String>,
    /// How a submission is written; `None`: as scripts write it.
    pub submission: Option<SubmissionFormat>,
    /// How later files with rows to predict are read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reading: ReadOptions,
}

fn is_default(reading: &ReadOptions) -> bool {
    *reading == ReadOptions::default()
}

/// The folder in which a temporary folder is made.
#[derive(Clone, Copy, Debug)]
pub enum Location<'a> {
    /// Beside the runs of this folder.
    Runs(&'a Path),
    /// In the system's folder of temporary files.
    Temporary,
}

/// A folder with plain tables, which is removed at the end unless a run keeps it.
#[derive(Debug)]
struct MadeFolder {
    root: TempDir,
    /// The runs directory, if it was made, too.
    above: Option<PathBuf>,
}

/// Looks at the data of a task, and makes plain tables of it if it has others.
///
/// # Errors
/// There is no data, it cannot be read, or a folder cannot be made.
pub fn take_in(source: &TaskSource, place: Location<'_>, reader: Reader<'_>) -> Result<Intake, RunError> {
    let (keys, given) = (source.file.keys.clone(), source.data_dir.clone());
    if let Some(share) = keys.test_share.filter(|share| !(MIN_TEST_SHARE..=MAX_TEST_SHARE).contains(share)) {
        let message = format!("test_share is {share}, not between {MIN_TEST_SHARE} and {MAX_TEST_SHARE}");
        return Err(Trouble::new(message, "set another --test-share").into());
    }
    if !given.exists() {
        let message = format!("no such data folder: {}", given.display());
        return Err(Trouble::new(message, "check the path of the data folder").into());
    }
    let made = MadeFolder::new(place)?;
    let folds = keys.folds.as_ref().map(PathBuf::from);
    let files = readable(&given)?.into_iter().chain(folds.filter(|file| file.is_file()));
    let plane = BlockingPlaneClient::open(reader.config, made.root.path(), files, reader.say)?;
    let taken = read_tables(&given, &keys, &[], &made, &plane)?;
    Ok(Intake { given, taken, plane, made, drawn: None, keys })
}

/// Looks at the data, and makes plain tables of it where it is not plain.
fn read_tables(
    given: &Path,
    keys: &TaskKeys,
    leave_out: &[String],
    made: &MadeFolder,
    plane: &BlockingPlaneClient,
) -> Result<InputData, RunError> {
    let question = json!({
        "question": "take_in",
        "data": absolute(given)?,
        "sheet": keys.sheet,
        "id": keys.roles.id,
        "leave_out": leave_out,
    });
    // Those of an earlier look are made anew.
    let data = made.data();
    inputs::remove(&data).map_err(|error| Trouble::io("write in", &data, &error))?;
    plane.ask_for(question, &data)
}

impl Intake {
    /// The folder with plain tables: the made one once something is in it, else the user's.
    pub fn folder(&self) -> PathBuf {
        if self.taken.is_plain && !self.made.is_filled() { self.given.clone() } else { self.made.data() }
    }

    /// What was found, changed and left out, a line each.
    pub fn lines(&self) -> Vec<String> {
        let found = self.taken.told.iter().map(|sentence| format!("data: {sentence}"));
        let drawn = self.drawn.as_ref().filter(|drawn| drawn.unlabelled > 0);
        let dropped = drawn.map(|drawn| {
            let words: Vec<String> = drawn.words.iter().map(|word| format!("`{word}`")).collect();
            let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
            format!("data: {} rows without a target{words} are left out", drawn.unlabelled)
        });
        found.chain(dropped).collect()
    }

    /// Why the rows of the sample submission are not in the test table, for agents that need that.
    pub fn id_unknown(&self) -> Option<Trouble> {
        self.taken.id_unknown()
    }

    /// Why a table cannot be read, for agents that need it.
    pub fn damaged(&self) -> Option<Trouble> {
        self.taken.damaged()
    }

    /// The tables that have other names than the user's files: each table, and its file.
    pub fn instead(&self) -> Vec<(PathBuf, PathBuf)> {
        self.taken.instead.clone()
    }

    /// The facts of the data plane about the plain tables.
    ///
    /// # Errors
    /// What is given does not fit them.
    pub fn inspect(&self, given: &TaskHints) -> Result<Value, RunError> {
        let InputData { is_single, lacks_sample, marks_missing, .. } = self.taken;
        let given = TaskHints { marks_missing, makes_ids: is_single || lacks_sample, ..given.clone() };
        let question = json!({ "question": "inspect", "folder": absolute(&self.folder())?, "told": given });
        self.plane.ask(question).map_err(|error: RunError| {
            let trouble = Trouble { message: self.as_given(&error.trouble.message), ..error.trouble };
            RunError { trouble, ..error }
        })
    }

    /// A message of the data plane with the folder as the user wrote it.
    pub fn as_given(&self, message: &str) -> String {
        let folder = self.folder();
        let whole = absolute(&folder).unwrap_or_default();
        message.replace(&whole.display().to_string(), &folder.display().to_string())
    }

    /// Adds what the task lacks: a test table, a sample submission. Returns the ID column if it did; the tables are then to be
    /// inspected again. `given` is all that is known of the task, `unknown` says why it has no target.
    ///
    /// # Errors
    /// The target is not known, or too few rows are labelled.
    pub fn complete(
        &mut self,
        data: &Data,
        given: &TaskHints,
        unknown: &Trouble,
        seed: u32,
    ) -> Result<Option<Option<String>>, RunError> {
        let has_changed = self.leave_out_targets(data, given)?;
        let InputData { is_single, lacks_sample, is_plain, .. } = self.taken;
        if !is_single && !lacks_sample {
            return Ok(has_changed.then(|| given.roles.id.clone()));
        }
        given.roles.target.as_ref().ok_or_else(|| unknown.clone())?;
        let facts = if has_changed { self.inspect(given)? } else { data.facts.clone() };
        let question = json!({
            "question": if is_single { "draw" } else { "make_sample" },
            "folder": absolute(&self.folder())?,
            "facts": facts,
            "name": self.taken.name,
            "share": self.keys.test_share.unwrap_or(TEST_SHARE),
            "seed": seed,
        });
        let new = self.made.root.path().join("new");
        let id = if is_single {
            let drawn: DrawnRows = self.plane.ask_for(question, &new)?;
            self.drawn.insert(drawn).id.clone()
        } else {
            let sample: MadeSample = self.plane.ask_for(question, &new)?;
            let made = "there is no sample submission: one was made, sample_submission.csv".to_owned();
            let numbers =
                format!("the tables have no ID column: {} numbers the rows of the test table", sample.id);
            self.taken.told.extend([made].into_iter().chain(sample.has_made_ids.then_some(numbers)));
            sample.id
        };
        let taken = self.made.take(&new, Some(&self.given).filter(|_| is_plain));
        taken.map_err(|error| Trouble::io("write in", &self.made.data(), &error))?;
        Ok(Some(Some(id)))
    }

    /// Leaves the targets out of the test table; whether there were some.
    fn leave_out_targets(&mut self, data: &Data, given: &TaskHints) -> Result<bool, RunError> {
        let test = data.profile.as_ref().and_then(|profile| profile.test.as_ref());
        let Some(test) = test else { return Ok(false) };
        let targets = given.roles.target.iter().flat_map(Targets::all);
        let in_test: Vec<String> = targets.filter(|name| test.column(name).is_some()).cloned().collect();
        if in_test.is_empty() {
            return Ok(false);
        }
        self.taken = read_tables(&self.given, &self.keys, &in_test, &self.made, &self.plane)?;
        Ok(true)
    }

    /// Moves what was made into the folder of a run. Returns the data folder of the run; `None` if nothing was made.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn keep(&self, run: &Path) -> io::Result<Option<PathBuf>> {
        if self.folder() == self.given {
            return Ok(None);
        }
        let data = run.join(layout::DATA);
        // First: it tells the next start that the data is not somebody else's.
        let InputData { told, submission, reading, .. } = self.taken.clone();
        let record = MadeData { given: self.given.canonicalize()?, told, submission, reading };
        inputs::write_json(&run.join(layout::INTAKE), &record)?;
        fs::rename(self.made.data(), &data)?;
        if self.drawn.is_some() {
            fs::rename(self.made.labels(), run.join(layout::TEST_LABELS))?;
        }
        data.canonicalize().map(Some)
    }
}

impl MadeData {
    /// How the data of a run was made; `None` if it is the user's.
    pub fn of_run(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(layout::INTAKE)).ok()?).ok()
    }
}

impl MadeFolder {
    fn new(place: Location<'_>) -> Result<Self, Trouble> {
        let mut above = None;
        let root = match place {
            Location::Temporary => TempDir::new().map_err(|error| {
                Trouble::io("create a temporary folder in", &std::env::temp_dir(), &error)
            })?,
            Location::Runs(runs) => {
                above = (!runs.exists()).then(|| runs.to_owned());
                let make = || {
                    fs::create_dir_all(runs)?;
                    tempfile::Builder::new().prefix(".intake-").tempdir_in(runs)
                };
                make().map_err(|error| runs::unwritable(runs, &error))?
            }
        };
        let made = Self { root, above };
        // As the folder of a run, it is no data, wherever the runs lie.
        let lock = File::create(made.root.path().join(layout::LOCK));
        lock.map_err(|error| Trouble::io("write in", made.root.path(), &error))?;
        Ok(made)
    }

    fn data(&self) -> PathBuf {
        self.root.path().join(layout::DATA)
    }

    fn labels(&self) -> PathBuf {
        self.root.path().join(layout::TEST_LABELS)
    }

    /// Puts new tables in the place of others. `given` is the data that is used as it is so far.
    fn take(&self, new: &Path, given: Option<&PathBuf>) -> io::Result<()> {
        if let Some(given) = given.filter(|_| !self.is_filled()) {
            walk::link(given, &self.data(), |_| false)?;
        }
        let labels = new.join(layout::LABELS);
        if labels.exists() {
            fs::rename(labels, self.labels())?;
        }
        for table in fs::read_dir(new)? {
            let table = table?;
            fs::rename(table.path(), self.data().join(table.file_name()))?;
        }
        fs::remove_dir(new)
    }

    fn is_filled(&self) -> bool {
        fs::read_dir(self.data()).is_ok_and(|mut entries| entries.next().is_some())
    }
}

impl Drop for MadeFolder {
    fn drop(&mut self) {
        // What cannot be removed stays, and a folder with runs does, too.
        let _ = fs::remove_dir_all(self.root.path());
        if let Some(above) = &self.above {
            let _ = fs::remove_dir(above);
        }
    }
}

/// The error for a task in which nothing says what to predict.
pub fn no_target() -> Trouble {
    Trouble::new("the column to predict is not known", "give it with --target")
}

/// The first of these names, and how many more there are; `None` without any.
fn listed(names: &[&str]) -> Option<String> {
    let shown: Vec<String> = names.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// The columns of the sample submission for classes that no training row has, in a line.
pub fn lost_classes(profile: &Profile) -> Option<String> {
    let names = listed(&profile.columns_without_rows())?;
    Some(format!(
        "data: the sample submission has classes that no training row has: {names}; {CLASSES_WITHOUT_ROWS}"
    ))
}

/// The few classes of a target of which some have one row, in a line.
pub fn classes_of_one_row(profile: &Profile, target: &str) -> Option<String> {
    let is_listed =
        |column: &&Column| column.kind == ColumnKind::Category && column.distinct == column.top_values.len();
    let column = profile.train.column(target).filter(is_listed)?;
    let once = column.top_values.iter().filter(|(_, rows)| *rows == 1);
    let names: Vec<String> = once.map(|(value, _)| format!("`{value}`")).collect();
    (!names.is_empty()).then(|| format!("data: only one row of `{target}` has {}", names.join(", or ")))
}

/// The columns that only one of the tables has, a line for each table. Those to predict are not meant.
pub fn lost_columns(profile: &Profile, targets: &[&str]) -> Vec<String> {
    let Some(test) = &profile.test else { return Vec::new() };
    let only = |table: &Table, other: &Table| {
        let is_lost = |column: &&Column| {
            other.column(&column.name).is_none() && !targets.contains(&column.name.as_str())
        };
        let names = table.columns.iter().filter(is_lost).map(|column| column.name.as_str());
        let names = listed(&names.collect::<Vec<_>>())?;
        Some(format!("data: only {} has {names}", table.file.display()))
    };
    [only(&profile.train, test), only(test, &profile.train)].into_iter().flatten().collect()
}

//! The plain tables of a task, made of whatever the user gave.
//!
//! Where the user's data is plain already, it is used as it is. Otherwise, a folder is made: beside the runs if a run follows,
//! which then keeps it, else a temporary one.

use std::fs::{self, File};
use std::io;
use std::path::{self, Path, PathBuf};

use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::task::{ColumnRoles, Targets, Task};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::infer::{CLASSES_WITHOUT_ROWS, Given, Inferred, columns_without_rows};
use mle_star_tables::intake::{Draw, Drawn, Look, ROW_ID, Submission, draw, make_sample};
use mle_star_tables::metrics::Metric;
use mle_star_tables::profile::{self, Column, Context, Profile, Table};
use mle_star_tables::reading::Reading;
use mle_star_tables::split;
use mle_star_tables::walk::{self, walk};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tempfile::TempDir;

use super::task_source::TaskSource;
use crate::data_plane::Questions;
use crate::error::RunError;
use crate::python_environment::Say;
use crate::runs::{self, absolute, inputs};
use crate::settings::Invocation;

/// The share of a single table that becomes its test table.
const TEST_SHARE: f64 = 0.2;
const LEAST_SHARE: f64 = 0.05;
const LARGEST_SHARE: f64 = 0.5;
/// No more columns are named in a line.
const NAMED: usize = 10;

/// The data of a task as scripts see it.
#[derive(Debug)]
pub struct Intake {
    look: Option<Look>,
    record: Record,
    /// What reads the data; `None` if there is none.
    questions: Option<Questions>,
    made: Option<MadeFolder>,
    /// The test rows that were taken from a single table.
    pub drawn: Option<Drawn>,
    asked: Asked,
    share: f64,
}

/// What the user says about the files.
#[derive(Clone, Debug, Default)]
struct Asked {
    /// The sheet of workbooks.
    sheet: Option<String>,
    /// The column with the row IDs.
    id: Option<String>,
}

/// What the data plane reads files with.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The interpreter and its limits.
    pub config: &'a Config,
    /// Who is told that a Python environment is being created.
    pub say: Say<'a>,
}

/// What is known of a task whose test table or sample submission has to be made.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The column to predict, or why it is not known.
    pub target: Result<&'a str, &'a Trouble>,
    /// All columns to predict, if that one is known.
    pub targets: &'a [String],
    /// The column with the row IDs.
    pub id: Option<&'a str>,
    /// The metric's name.
    pub metric: &'a str,
    /// The column whose values are groups.
    pub group: Option<&'a str>,
    /// The column with the time of each row.
    pub time: Option<&'a str>,
    /// The column with the weight of each row.
    pub weight: Option<&'a str>,
}

/// How the data was made from the user's, as the run keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The user's folder or table file.
    pub given: PathBuf,
    /// What was found, changed and left out, a sentence each.
    pub told: Vec<String>,
    /// How a submission is written; `None`: as scripts write it.
    pub submission: Option<Submission>,
    /// How later files with rows to predict are read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reading: Reading,
}

fn is_default(reading: &Reading) -> bool {
    *reading == Reading::default()
}

/// Where a folder is made.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
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
/// The data cannot be read, or a folder cannot be made.
pub fn take_in(
    source: &TaskSource,
    invocation: &Invocation,
    place: Place<'_>,
    reader: Reader<'_>,
) -> Result<Intake, RunError> {
    let share = invocation.test_share.or(source.file.test_share).unwrap_or(TEST_SHARE);
    if !(LEAST_SHARE..=LARGEST_SHARE).contains(&share) {
        let message = format!("test_share is {share}, not between {LEAST_SHARE} and {LARGEST_SHARE}");
        return Err(Trouble::new(message, "set another --test-share").into());
    }
    let given = source.data_dir.clone();
    if !given.exists() {
        return Ok(Intake { record: Record { given, ..Record::default() }, share, ..Intake::none() });
    }
    let or = |first: &Option<String>, second: &Option<String>| first.clone().or_else(|| second.clone());
    let (sheet, id) =
        (or(&invocation.sheet, &source.file.sheet), or(&invocation.id_column, &source.file.id_column));
    let asked = Asked { sheet, id };
    let made = MadeFolder::new(place)?;
    let files = readable(&given).map_err(|error| Trouble::io("read", &given, &error))?;
    let questions = Questions::open(reader.config, made.root.path(), files, reader.say)?;
    let look = look(&given, &asked, &[], &made, &questions)?;
    let record = Record {
        given,
        told: look.told.clone(),
        submission: look.submission.clone(),
        reading: look.reading.clone(),
    };
    let (look, questions, made) = (Some(look), Some(questions), Some(made));
    Ok(Intake { look, record, questions, made, asked, share, ..Intake::none() })
}

/// Looks at the data, and makes plain tables of it where it is not plain.
fn look(
    given: &Path,
    asked: &Asked,
    leave_out: &[String],
    made: &MadeFolder,
    questions: &Questions,
) -> Result<Look, RunError> {
    let question = json!({
        "question": "take_in",
        "data": absolute(given)?,
        "sheet": asked.sheet,
        "id": asked.id,
        "leave_out": leave_out,
    });
    made.empty()?;
    questions.ask_for(question, &made.data())
}

/// The data, and what links in it lead to.
pub fn readable(given: &Path) -> io::Result<Vec<PathBuf>> {
    // The path itself may lead through a link.
    let mut files = vec![path::absolute(given)?, given.canonicalize()?];
    if given.is_dir() {
        files.extend(walk(given)?.linked(&[]).iter().filter_map(|link| link.canonicalize().ok()));
    }
    Ok(files)
}

impl Intake {
    fn none() -> Self {
        Self {
            look: None,
            record: Record::default(),
            questions: None,
            made: None,
            drawn: None,
            asked: Asked::default(),
            share: TEST_SHARE,
        }
    }

    /// The folder with plain tables: the made one once something is in it, else the user's.
    pub fn folder(&self) -> PathBuf {
        match &self.made {
            Some(made) if !self.is_plain() || made.is_filled() => made.data(),
            _ => self.record.given.clone(),
        }
    }

    fn is_plain(&self) -> bool {
        self.look.as_ref().is_none_or(|look| look.is_plain)
    }

    /// What was found, changed and left out, a line each.
    pub fn lines(&self) -> Vec<String> {
        let told = self.record.told.iter().map(|told| format!("data: {told}"));
        let drawn = self.drawn.as_ref().filter(|drawn| drawn.unlabelled > 0);
        let dropped = drawn.map(|drawn| {
            let words: Vec<String> = drawn.words.iter().map(|word| format!("`{word}`")).collect();
            let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
            format!("data: {} rows without a target{words} are left out", drawn.unlabelled)
        });
        told.chain(dropped).collect()
    }

    /// Why the rows of the sample submission are not in the test table, for agents that need that.
    pub fn id_unknown(&self) -> Option<Trouble> {
        self.look.as_ref()?.id_unknown()
    }

    /// Whether the file of the training table marks missing cells.
    pub fn marks_missing(&self) -> bool {
        self.look.as_ref().is_some_and(|look| look.marks_missing)
    }

    /// Why a table cannot be read, for agents that need it.
    pub fn damaged(&self) -> Option<Trouble> {
        self.look.as_ref()?.damaged()
    }

    /// The tables that have other names than the user's files: each table, and its file.
    pub fn instead(&self) -> Vec<(PathBuf, PathBuf)> {
        self.look.as_ref().map(|look| look.instead.clone()).unwrap_or_default()
    }

    /// What reads the data; `None` if there is none.
    pub fn questions(&self) -> Option<&Questions> {
        self.questions.as_ref()
    }

    /// Whether the task is a single table.
    pub fn is_single(&self) -> bool {
        self.look.as_ref().is_some_and(|look| look.is_single)
    }

    /// The columns that the user gave as the tables spell them: case and blanks around names do not count. An ID column that is
    /// made, as the task file of `init` names it, is none of the table yet.
    pub fn spelled(&self, given: Given, profile: Option<&Profile>) -> Given {
        let Some(profile) = profile else { return given };
        let spell = |name: String| spelled(Some(profile), name);
        // A table may have a column `row_id` that is no ID.
        let is_made = |id: &String| {
            let makes = self.look.as_ref().is_some_and(|look| look.is_single || look.lacks_sample);
            makes && id.trim_end_matches('_') == ROW_ID && profile.train.column(id).is_none()
        };
        let roles = ColumnRoles {
            group: given.roles.group.map(spell),
            time: given.roles.time.map(spell),
            weight: given.roles.weight.map(spell),
            ignored: given.roles.ignored.into_iter().map(spell).collect(),
            positive_class: given.roles.positive_class,
        };
        let id = given.id.filter(|id| !is_made(id)).map(spell);
        let target = given.target.map(|target| target.all().iter().cloned().map(spell).collect::<Vec<_>>());
        Given { target: target.map(Targets::from), id, roles, ..given }
    }

    /// Adds what the task lacks: a test table, a sample submission. Returns the profile of the data with it, and the ID column.
    ///
    /// # Errors
    /// The target is not known, or too few rows are labelled.
    pub fn complete(
        &mut self,
        profile: Profile,
        known: &Known<'_>,
        seed: u32,
    ) -> Result<(Profile, Option<String>), RunError> {
        let id = known.id.map(str::to_owned);
        let profile = self.without_targets(profile, known)?;
        let (Some(look), Some(made)) = (&self.look, &self.made) else { return Ok((profile, id)) };
        if !look.is_single && !look.lacks_sample {
            return Ok((profile, id));
        }
        let target = known.target.map_err(Clone::clone)?;
        if look.is_plain && !made.is_filled() {
            let linked = walk::link(&self.record.given, &made.data(), |_| false);
            linked.map_err(|error| Trouble::io("write in", &made.data(), &error))?;
        }
        let targets: Vec<&str> = known.targets.iter().map(String::as_str).collect();
        let id = if look.is_single {
            let name = look.name.clone();
            let draw_by = Draw {
                name: &name,
                targets: &targets,
                id: known.id,
                metric: known.metric,
                weight: known.weight,
                split: &split_of(known, target, &profile),
                share: self.share,
                seed: u64::from(seed),
            };
            let drawn = draw(&profile, &draw_by, &made.data(), &made.labels())?;
            self.drawn = Some(drawn.clone());
            drawn.id
        } else {
            let in_test = |id: &&str| profile.test.as_ref().is_some_and(|test| test.column(id).is_some());
            let sample =
                make_sample(&profile, &targets, known.id.filter(in_test), known.metric, &made.data())?;
            self.record
                .told
                .push("there is no sample submission: one was made, sample_submission.csv".to_owned());
            if sample.has_made_ids {
                let told =
                    format!("the tables have no ID column: {} numbers the rows of the test table", sample.id);
                self.record.told.push(told);
            }
            sample.id
        };
        Ok((read_again(profile, &made.data())?, Some(id)))
    }

    /// Leaves the targets out of the test table.
    fn without_targets(&mut self, profile: Profile, known: &Known<'_>) -> Result<Profile, RunError> {
        let (Some(test), Some(made), Some(questions)) = (&profile.test, &self.made, &self.questions) else {
            return Ok(profile);
        };
        let in_test: Vec<String> =
            known.targets.iter().filter(|name| test.column(name).is_some()).cloned().collect();
        if in_test.is_empty() {
            return Ok(profile);
        }
        let look = look(&self.record.given, &self.asked, &in_test, made, questions)?;
        self.record.told.clone_from(&look.told);
        self.look = Some(look);
        Ok(read_again(profile, &made.data())?)
    }

    /// Moves what was made into the folder of a run. Returns the data folder of the run; `None` if nothing was made.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn keep(self, run: &Path) -> io::Result<Option<PathBuf>> {
        let Some(made) = self.made.as_ref().filter(|_| self.folder() != self.record.given) else {
            return Ok(None);
        };
        let data = run.join(layout::DATA);
        // First: it tells the next start that the data is not somebody else's.
        let given = self.record.given.canonicalize()?;
        inputs::write_json(&run.join(layout::INTAKE), &Record { given, ..self.record.clone() })?;
        fs::rename(made.data(), &data)?;
        if self.drawn.is_some() {
            fs::rename(made.labels(), run.join(layout::TEST_LABELS))?;
        }
        data.canonicalize().map(Some)
    }
}

impl Record {
    /// How the data of a run was made; `None` if it is the user's.
    pub fn of_run(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(layout::INTAKE)).ok()?).ok()
    }
}

impl MadeFolder {
    fn new(place: Place<'_>) -> Result<Self, Trouble> {
        let mut above = None;
        let root = match place {
            Place::Temporary => TempDir::new().map_err(|error| {
                Trouble::io("create a temporary folder in", &std::env::temp_dir(), &error)
            })?,
            Place::Runs(runs) => {
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

    /// Removes the plain tables, to make them anew.
    fn empty(&self) -> Result<(), Trouble> {
        match fs::remove_dir_all(self.data()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Trouble::io("write in", &self.data(), &error))
            }
            _ => Ok(()),
        }
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

/// The profile of other tables with the columns of this one.
fn read_again(profile: Profile, folder: &Path) -> Result<Profile, Trouble> {
    let text_columns = profile.text_columns.clone();
    drop(profile);
    profile::read_with(folder, &Context { text_columns: Some(&text_columns), ..Context::default() })
}

/// How the test rows of a single table differ from the others: as the user says, else not at all.
fn split_of(known: &Known<'_>, target: &str, profile: &Profile) -> Split {
    let target = profile.train.column(target);
    let has_classes = match Metric::parse(known.metric) {
        Some(metric) => !metric.is_for_regression(),
        None => target.is_some_and(|column| !column.kind.is_number()),
    };
    let named = split::Known { group: known.group, time: known.time, ..split::Known::default() }.split();
    let kind = if has_classes { SplitKind::Stratified } else { SplitKind::Rows };
    named.unwrap_or(Split { kind, ..Split::default() })
}

/// The name of a column as the tables spell it.
pub fn spelled(profile: Option<&Profile>, name: String) -> String {
    let tables = || {
        let tables =
            profile.map(|profile| [Some(&profile.train), profile.test.as_ref(), profile.sample.as_ref()]);
        tables.into_iter().flatten().flatten()
    };
    if tables().any(|table| table.column(&name).is_some()) {
        return name;
    }
    let key = |name: &str| name.trim().to_lowercase();
    let found = tables().find_map(|table| {
        let mut alike = table.columns.iter().filter(|column| key(&column.name) == key(&name));
        alike.next().filter(|_| alike.next().is_none())
    });
    found.map_or(name, |column| column.name.clone())
}

impl<'a> Known<'a> {
    /// What is inferred.
    pub fn of(inferred: &'a Inferred, unknown: &'a Trouble) -> Self {
        let unknown = inferred.target_unknown.as_ref().unwrap_or(unknown);
        Self {
            target: inferred.target.as_deref().ok_or(unknown),
            targets: &inferred.targets,
            id: inferred.id.as_deref(),
            metric: &inferred.metric,
            group: inferred.roles.group.as_deref(),
            time: inferred.roles.time.as_deref(),
            weight: inferred.roles.weight.as_deref(),
        }
    }

    /// What a task says. `unknown` says why it has no target.
    pub fn of_task(task: &'a Task, unknown: &'a Trouble) -> Self {
        Self {
            target: task.target().ok_or(unknown),
            targets: task.target_column.as_ref().map(Targets::all).unwrap_or_default(),
            id: task.id_column.as_deref(),
            // The name of a metric file may be that of another metric.
            metric: if task.metric_file.is_some() { "" } else { &task.evaluation_metric },
            group: task.group_column.as_deref(),
            time: task.time_column.as_deref(),
            weight: task.weight_column.as_deref(),
        }
    }
}

/// That nothing says what to predict.
pub fn no_target() -> Trouble {
    Trouble::new("the column to predict is not known", "give it with --target")
}

/// The columns of the sample submission for classes that no training row has, in a line.
pub fn lost_classes(profile: &Profile, target: &str, id: Option<&str>) -> Option<String> {
    let names: Vec<String> =
        columns_without_rows(profile, target, id).into_iter().map(|name| format!("`{name}`")).collect();
    let shown = names.get(..NAMED).unwrap_or(&names).join(", ");
    let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
    (!names.is_empty()).then(|| {
        format!("data: the sample submission has classes that no training row has: {shown}{more}; {CLASSES_WITHOUT_ROWS}")
    })
}

/// The columns that only one of the tables has, a line for each table. Those to predict are not meant.
pub fn lost_columns(profile: &Profile, targets: &[&str]) -> Vec<String> {
    let Some(test) = &profile.test else { return Vec::new() };
    let only = |table: &Table, other: &Table| {
        let is_lost = |column: &&Column| {
            other.column(&column.name).is_none() && !targets.contains(&column.name.as_str())
        };
        let lost: Vec<String> =
            table.columns.iter().filter(is_lost).map(|column| format!("`{}`", column.name)).collect();
        let more =
            if lost.len() > NAMED { format!(" and {} more", lost.len() - NAMED) } else { String::new() };
        let named = lost.get(..NAMED).unwrap_or(&lost).join(", ");
        (!lost.is_empty()).then(|| format!("data: only {} has {named}{more}", table.file.display()))
    };
    [only(&profile.train, test), only(test, &profile.train)].into_iter().flatten().collect()
}

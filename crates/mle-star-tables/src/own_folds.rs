//! Folds that the user gives: a column of the training table, or a CSV file with row IDs and `fold`.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use mle_star_domain::trouble::Trouble;

use crate::labelled::{Labelled, LabelledRow, Parts};
use crate::labelled_cells::own_id;
use crate::profile::Profile;

/// The most folds; a column with more values is hardly one of folds.
const MOST: usize = 100;
/// The columns of a file with folds, and of rows that have numbers instead of IDs.
const FOLD: &str = "fold";
const ROW: &str = "row";
/// The hint where folds do not fit the labelled rows.
const HINT: &str = "give each labelled row exactly one fold, or leave `folds` (--folds) out";

/// The fold of each labelled row, from 0 in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFolds {
    /// By the number of the row in the training table.
    of_row: HashMap<u64, u8>,
    count: u8,
}

impl OwnFolds {
    /// Reads the folds of the labelled rows from a column or a file.
    ///
    /// # Errors
    /// There is neither, a labelled row has no fold, rows of the file are unknown or twice, or there are fewer than two folds or
    /// more than a hundred.
    pub fn read(profile: &Profile, target: &str, id: Option<&str>, from: &str) -> Result<Self, Trouble> {
        let unreadable = |error: &io::Error| Trouble::new(format!("cannot read the folds: {error}"), HINT);
        let labelled = Labelled::of(profile, target, id).map_err(|error| unreadable(&error))?;
        let path = Path::new(from);
        let is_column = profile.train.column(from).is_some();
        let names = match is_column {
            true => of_column(&labelled, profile, from),
            false if path.is_file() => of_file(&labelled, profile, path),
            false => {
                let (given, table) = (name(path), name(&profile.train.file));
                let message = format!("folds: `{given}` is neither a column of {table} nor a file");
                let hint = "name the column with the fold of each row, or a CSV file with row IDs and `fold`";
                return Err(Trouble::new(message, hint));
            }
        };
        Self::numbered(&names.map_err(|error| unreadable(&error))??, from)
    }

    /// How many there are.
    pub fn count(&self) -> u8 {
        self.count
    }

    /// The fold of a row; `None` if it is not labelled.
    pub(crate) fn of(&self, row: u64) -> Option<u8> {
        self.of_row.get(&row).copied()
    }

    fn numbered(names: &HashMap<u64, String>, from: &str) -> Result<Self, Trouble> {
        let mut numbers: BTreeMap<&str, u8> = names.values().map(|name| (name.as_str(), 0)).collect();
        let count = numbers.len();
        if !(2..=MOST).contains(&count) {
            let is = match count {
                0 | 1 => "has one fold for all labelled rows; at least two are needed".to_owned(),
                _ => format!("has {count} folds; at most {MOST} are possible"),
            };
            return Err(Trouble::new(format!("folds: `{}` {is}", name(Path::new(from))), HINT));
        }
        let mut sorted: Vec<&str> = numbers.keys().copied().collect();
        // 10 comes after 9, if all are numbers.
        let number = |name: &&str| name.parse::<f64>().unwrap_or(f64::NAN);
        if sorted.iter().all(|name| number(name).is_finite()) {
            sorted.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        for (fold, name) in (0..).zip(&sorted) {
            numbers.insert(name, fold);
        }
        let of_row = names.iter().filter_map(|(row, name)| Some((*row, *numbers.get(name.as_str())?)));
        Ok(Self { of_row: of_row.collect(), count: u8::try_from(count).unwrap_or(u8::MAX) })
    }
}

/// The names of folds, by row, or what is wrong with them.
type Named = io::Result<Result<HashMap<u64, String>, Trouble>>;

fn of_column(labelled: &Labelled<'_>, profile: &Profile, column: &str) -> Named {
    let parts = Parts { column: Some(column.to_owned()), groups: None };
    let mut names = HashMap::new();
    let mut without = None;
    labelled.each(&parts, |row| match row.part.map(str::trim).filter(|fold| !fold.is_empty()) {
        Some(fold) => drop(names.insert(row.number, fold.to_owned())),
        None => drop(without.get_or_insert_with(|| row.id.to_owned())),
    })?;
    Ok(without.map_or(Ok(names), |id| {
        let message = format!("row `{id}` of {} has no fold in `{column}`", name(&profile.train.file));
        Err(Trouble::new(message, HINT))
    }))
}

fn of_file(labelled: &Labelled<'_>, profile: &Profile, path: &Path) -> Named {
    let mut given = match rows_of(path, labelled.id.unwrap_or(ROW))? {
        Ok(given) => given,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let (file, table) = (name(path), name(&profile.train.file));
    let mut names = HashMap::new();
    let mut without = None;
    let mut used = Vec::new();
    labelled.each_row(&Parts::default(), |row: LabelledRow<'_>, is_labelled| {
        let id = own_id(row.id);
        match given.get(&id) {
            Some(fold) if is_labelled => drop(names.insert(row.number, fold.clone())),
            None if is_labelled => drop(without.get_or_insert_with(|| row.id.to_owned())),
            _ => {}
        }
        used.push(id);
    })?;
    used.extend(test_ids(labelled.id, profile));
    used.iter().for_each(|id| drop(given.remove(id)));
    let trouble = |message: String| Ok(Err(Trouble::new(message, HINT)));
    match (without, given.keys().min()) {
        (Some(id), _) => trouble(format!("row `{id}` of {table} has no fold in {file}")),
        (None, Some(id)) => {
            trouble(format!("{file} has a fold for the row `{id}`, which {table} does not have"))
        }
        (None, None) => Ok(Ok(names)),
    }
}

/// The IDs of the test rows, which may have come from a single table that the file is about; none if there are none.
fn test_ids(id: Option<&str>, profile: &Profile) -> Vec<String> {
    let mut ids = Vec::new();
    if let (Some(id), Ok(test)) = (id, profile.tables.test())
        && let Some(at) = test.find(id)
    {
        // A table that cannot be read names no rows.
        let _ = test.each(&[at], |row| {
            ids.push(own_id(row.value(0).unwrap_or_default()));
            true
        });
    }
    ids
}

/// The fold of each row in a file, by ID, or what is wrong with it.
fn rows_of(path: &Path, id: &str) -> io::Result<Result<HashMap<String, String>, Trouble>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path)?;
    let header: Vec<String> =
        reader.headers()?.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
    let find = |wanted: &str| header.iter().position(|name| name.eq_ignore_ascii_case(wanted.trim()));
    let (Some(at), Some(fold)) = (find(id), find(FOLD)) else {
        let names: Vec<String> = header.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("{} has the columns {}, not `{id}` and `{FOLD}`", name(path), names.join(", "));
        return Ok(Err(Trouble::new(
            message,
            "write a CSV file with a line for each row: its ID and its fold",
        )));
    };
    let mut rows = HashMap::new();
    for record in reader.records() {
        let record = record?;
        let (id, fold) = (own_id(record.get(at).unwrap_or_default()), record.get(fold).unwrap_or_default());
        if !fold.is_empty() && rows.insert(id.clone(), fold.to_owned()).is_some() {
            let message = format!("{} has the row `{id}` twice", name(path));
            return Ok(Err(Trouble::new(message, HINT)));
        }
    }
    Ok(Ok(rows))
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

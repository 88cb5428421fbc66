//! Infers the column to predict and the column with the row IDs.

use std::cmp::Ordering;

use mle_star_domain::task::{ColumnRoles, Targets};
use mle_star_domain::trouble::Trouble;

use super::sample_classes::class_columns;
use super::{Given, Guess};
use crate::column_names::says_time;
use crate::description::{self, Description};
use crate::profile::{Column, ColumnKind, Profile, ROWS_LOOKED_AT, Table};

/// A first column with fewer values may have no two equal ones by chance.
const FEWEST_IDS: usize = 20;
/// Targets that are named.
const NAMED: usize = 10;
const USUAL_TARGETS: [&str; 6] = ["target", "label", "labels", "class", "y", "outcome"];

/// The columns that cannot be the target.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) roles: &'a ColumnRoles,
}

/// The inferred target.
pub(super) enum Target {
    Given(String),
    /// At least two.
    Several(Vec<String>),
    Guessed(Guess),
    Unknown(Trouble),
}

/// The given ID column, otherwise the sample's first column if the test table (without one, the training table) has it, otherwise a column of unique values whose name says
/// that it is an ID. Without a sample, the first column of the tables can be the ID, too.
pub(super) fn id(
    profile: &Profile,
    given: &Given,
    guesses: &mut Vec<Guess>,
) -> Result<Option<String>, Trouble> {
    if let Some(name) = given.id.as_deref() {
        let tables = [profile.sample.as_ref(), profile.test.as_ref()];
        for table in tables.into_iter().flatten() {
            check_column(table, name, "id", "--id-column")?;
        }
        if profile.sample.is_none() && profile.test.is_none() {
            check_column(&profile.train, name, "id", "--id-column")?;
        }
        return Ok(Some(name.to_owned()));
    }
    let guess =
        id_of_sample(profile).or_else(|| id_by_name(profile)).or_else(|| id_by_position(profile, given));
    let name = guess.as_ref().map(|guess| guess.value.clone());
    guesses.extend(guess);
    Ok(name)
}

/// The given target, otherwise the one that the tables and the description imply.
pub(super) fn target(
    profile: &Profile,
    description: &Description,
    given: Option<&Targets>,
    others: Others<'_>,
) -> Result<Target, Trouble> {
    if let Some(given) = given {
        return given_targets(profile, given, others.id);
    }
    let id = others.id;
    let candidates = candidates(profile, others);
    // Some test tables contain the target too, empty or not.
    let all: Vec<&Column> = profile.train.columns.iter().filter(|column| !others.has(&column.name)).collect();
    let guess = by_sample(profile, &candidates, id)
        .or_else(|| first_of_several(profile, &candidates, id))
        .or_else(|| by_sample(profile, &all, id))
        .or_else(|| by_absence(profile, &candidates))
        .or_else(|| by_classes(profile, &candidates, id))
        .or_else(|| by_description(description, &candidates))
        .or_else(|| by_usual_name(&candidates))
        .or_else(|| by_emptiness(profile, &all))
        .or_else(|| by_description(description, if candidates.is_empty() { &all } else { &[] }));
    let Some((name, reason)) = guess else {
        return Ok(Target::Unknown(unknown_target(profile, &candidates)));
    };
    Ok(Target::Guessed(Guess { field: "target_column", value: name.to_owned(), reason }))
}

/// The given columns. A text that is no column of the training table may name several, separated by commas.
fn given_targets(profile: &Profile, given: &Targets, id: Option<&str>) -> Result<Target, Trouble> {
    let parts = |name: &str| name.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>();
    let names = match given.all() {
        [only] if profile.train.column(only).is_none() && only.contains(',') => parts(only),
        names => names.to_vec(),
    };
    for name in &names {
        check_column(&profile.train, name, "target", "--target")?;
    }
    if let [only] = names.as_slice() {
        return Ok(Target::Given(only.clone()));
    }
    let repeated = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    if let Some((_, name)) = repeated {
        return Err(Trouble::new(
            format!("the target column \"{name}\" is given twice"),
            "name each column once",
        ));
    }
    let Some((sample, first)) = profile.sample.as_ref().zip(names.first()) else {
        return Ok(Target::Several(names));
    };
    let asked = profile.targets(first, id);
    let odd = asked.iter().find(|name| !names.iter().any(|given| given == **name)).copied();
    let odd = odd.or_else(|| names.iter().map(String::as_str).find(|name| !asked.contains(name)));
    match odd {
        None => Ok(Target::Several(asked.into_iter().map(str::to_owned).collect())),
        Some(odd) => {
            let file = sample.file.display();
            let message =
                format!("the given targets are not those of {file}: \"{odd}\" is only one of either");
            Err(Trouble::new(
                message,
                format!("give all target columns of {file} with --target, separated by commas"),
            ))
        }
    }
}

/// The ID column and the target of a folder without a training table: the given ones, otherwise the first column of the
/// sample submission and the only other one.
pub(super) fn of_sample(
    sample: Option<&Table>,
    given: &Given,
    guesses: &mut Vec<Guess>,
) -> (Option<String>, Target) {
    let columns: Vec<&str> =
        sample.iter().flat_map(|sample| &sample.columns).map(|column| column.name.as_str()).collect();
    let file = sample.map(|sample| sample.file.display().to_string()).unwrap_or_default();
    let guess = |field, value: &str, reason| Guess { field, value: value.to_owned(), reason };
    let first = columns.first().filter(|_| columns.len() > 1);
    let guessed = match &given.id {
        Some(_) => None,
        None => first.map(|name| guess("id_column", name, format!("the first column of {file}"))),
    };
    let id = given.id.clone().or_else(|| guessed.as_ref().map(|guess| guess.value.clone()));
    guesses.extend(guessed);
    let others: Vec<&&str> = columns.iter().filter(|name| Some(**name) != id.as_deref()).collect();
    let target = match (&given.target, others.as_slice()) {
        (Some(given), _) if given.all().len() > 1 => Target::Several(given.all().to_vec()),
        (Some(given), _) => Target::Given(given.to_string()),
        (None, [only]) => Target::Guessed(guess(
            "target_column",
            only,
            format!("the column of {file} beside the ID; no training table has it"),
        )),
        (None, _) => {
            let why = "there is no training table to find the target in";
            Target::Unknown(Trouble::new(why, "give --target"))
        }
    };
    (id, target)
}

fn check_column(table: &Table, name: &str, role: &str, option: &str) -> Result<(), Trouble> {
    if table.column(name).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = table.columns.iter().take(20).map(|column| column.name.as_str()).collect();
    let message = format!("the {role} column \"{name}\" is not in {}", table.file.display());
    Err(Trouble::new(message, format!("give one of its columns with {option}: {}", names.join(", "))))
}

fn id_of_sample(profile: &Profile) -> Option<Guess> {
    let sample = profile.sample.as_ref()?;
    // The only column is what is asked for.
    let first = &sample.columns.first().filter(|_| sample.columns.len() > 1)?.name;
    let in_test = profile.test.as_ref().map_or(&profile.train, |test| test).column(first).is_some();
    in_test.then(|| Guess {
        field: "id_column",
        value: first.clone(),
        reason: format!("the first column of {}", sample.file.display()),
    })
}

/// A column of both tables; without a sample, one of the test table alone can be the ID, too.
fn id_by_name(profile: &Profile) -> Option<Guess> {
    let is_id = |table: &Table, column: &Column| {
        let lower = column.name.to_lowercase();
        let named = lower == "id" || lower.ends_with("_id") || column.name.ends_with("Id");
        named && column.missing == 0 && column.distinct == table.rows.min(ROWS_LOOKED_AT)
    };
    let (train, test) = (&profile.train, profile.test.as_ref());
    let in_test = |column: &&Column| test.is_none_or(|test| test.column(&column.name).is_some());
    let of_both = train.columns.iter().filter(|column| is_id(train, column)).find(in_test);
    let of_test = || {
        let test = test.filter(|_| profile.sample.is_none())?;
        let is_own = |column: &&Column| train.column(&column.name).is_none() && is_id(test, column);
        test.columns.iter().find(is_own)
    };
    let found = of_both.map(|column| (column, "training"));
    let (column, rows) = found.or_else(|| Some((of_test()?, "test")))?;
    let reason = format!("its name says so, and no two {rows} rows share a value");
    Some(Guess { field: "id_column", value: column.name.clone(), reason })
}

/// Without a sample, the first column if it counts or names rows: codes without blanks, or whole numbers that lie close
/// together, of which no two rows share one.
fn id_by_position(profile: &Profile, given: &Given) -> Option<Guess> {
    let tables = [Some(&profile.train), profile.test.as_ref()];
    let rows: usize = tables.iter().flatten().map(|table| table.rows).sum();
    let names_rows = |table: &Table| {
        let Some(column) = table.columns.first().filter(|column| column.missing == 0) else { return false };
        let is_unique = table.rows >= FEWEST_IDS && column.distinct == table.rows.min(ROWS_LOOKED_AT);
        let is_close = |(low, high): (f64, f64)| high - low < 2.0 * rows as f64;
        let is_id = match column.kind {
            ColumnKind::Integer => column.range.is_some_and(is_close),
            ColumnKind::Category => !column.top_values.iter().any(|(value, _)| value.contains(' ')),
            _ => false,
        };
        is_unique && is_id
    };
    let is_target = |name: &str| given.target.iter().flat_map(Targets::all).any(|target| target == name);
    let is_other = |name: &str| given.roles.has(name) || is_target(name) || says_time(name);
    let name = profile.train.columns.first()?.name.as_str();
    let is_first = |table: &Table| table.columns.first().is_some_and(|column| column.name == name);
    let all = profile.sample.is_none()
        && tables.into_iter().flatten().all(|table| is_first(table) && names_rows(table));
    let reason = "the first column, and no two rows share a value".to_owned();
    (all && !is_other(name)).then(|| Guess { field: "id_column", value: name.to_owned(), reason })
}

/// Columns of the training table that can be the target: those without another role that are not in the test table.
fn candidates<'a>(profile: &'a Profile, others: Others<'_>) -> Vec<&'a Column> {
    let known =
        |column: &Column| profile.test.as_ref().is_some_and(|test| test.column(&column.name).is_some());
    let columns = profile.train.columns.iter();
    columns.filter(|column| !others.has(&column.name) && !known(column)).collect()
}

impl Others<'_> {
    /// Whether a column has one of these roles.
    fn has(self, name: &str) -> bool {
        self.id == Some(name) || self.roles.has(name)
    }
}

fn sample_columns<'a>(profile: &'a Profile, id: Option<&str>) -> Vec<&'a str> {
    let columns = profile.sample.iter().flat_map(|sample| &sample.columns);
    columns.map(|column| column.name.as_str()).filter(|name| Some(*name) != id).collect()
}

fn by_sample<'a>(
    profile: &Profile,
    candidates: &[&'a Column],
    id: Option<&str>,
) -> Option<(&'a str, String)> {
    let asked = sample_columns(profile, id);
    let mut both = candidates.iter().filter(|column| asked.contains(&column.name.as_str()));
    let (Some(only), None) = (both.next(), both.next()) else { return None };
    let (file, train) = (profile.sample.as_ref()?.file.display(), profile.train.file.display());
    Some((&only.name, format!("the column of {file} that {train} also has")))
}

/// If the sample asks for several columns of the training table, the first of them.
fn first_of_several<'a>(
    profile: &Profile,
    candidates: &[&'a Column],
    id: Option<&str>,
) -> Option<(&'a str, String)> {
    let asked = sample_columns(profile, id);
    let find = |name: &&str| candidates.iter().find(|column| column.name == **name);
    let both: Vec<&&Column> = asked.iter().filter_map(find).collect();
    let [first, _, ..] = both.as_slice() else { return None };
    let (file, train) = (profile.sample.as_ref()?.file.display(), profile.train.file.display());
    let names: Vec<String> = both.iter().map(|column| format!("`{}`", column.name)).collect();
    let shown = names.get(..NAMED).unwrap_or(&names).join(", ");
    let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
    Some((
        &first.name,
        format!("the first of the columns of {file} that {train} also has; all are targets: {shown}{more}"),
    ))
}

fn by_absence<'a>(profile: &Profile, candidates: &[&'a Column]) -> Option<(&'a str, String)> {
    let test = profile.test.as_ref()?;
    let [only] = candidates else { return None };
    let train = profile.train.file.display();
    Some((&only.name, format!("the only column of {train} that {} lacks", test.file.display())))
}

/// The column that the test table has without values.
fn by_emptiness<'a>(profile: &Profile, all: &[&'a Column]) -> Option<(&'a str, String)> {
    let test = profile.test.as_ref()?;
    let is_empty = |column: &&&Column| {
        column.distinct > 0 && test.column(&column.name).is_some_and(|twin| twin.distinct == 0)
    };
    let mut empty = all.iter().filter(is_empty);
    let (Some(only), None) = (empty.next(), empty.next()) else { return None };
    Some((&only.name, format!("the only column that {} has without values", test.file.display())))
}

/// If the sample has one column per class, the target is the column with these values.
fn by_classes<'a>(
    profile: &Profile,
    candidates: &[&'a Column],
    id: Option<&str>,
) -> Option<(&'a str, String)> {
    let asked = sample_columns(profile, id);
    let holds_classes = |column: &&&Column| {
        let known = |(value, _): &(String, usize)| asked.iter().any(|name| name.ends_with(value.as_str()));
        let columns = || asked.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        column.distinct >= 2
            && match column.distinct.cmp(&asked.len()) {
                Ordering::Equal => column.top_values.iter().all(known),
                Ordering::Less => class_columns(profile, &column.name, &columns()).is_some(),
                Ordering::Greater => false,
            }
    };
    let column = candidates.iter().find(holds_classes)?;
    Some((&column.name, "its values are the columns of the sample submission".to_owned()))
}

fn by_description<'a>(description: &Description, candidates: &[&'a Column]) -> Option<(&'a str, String)> {
    let names: Vec<&str> = candidates.iter().map(|column| column.name.as_str()).collect();
    let (at, from) = description::target(description, &names)?;
    Some((&candidates[at].name, format!("from {from}")))
}

fn by_usual_name<'a>(candidates: &[&'a Column]) -> Option<(&'a str, String)> {
    let is_usual = |column: &&&Column| USUAL_TARGETS.contains(&column.name.to_lowercase().as_str());
    let column = candidates.iter().find(is_usual)?;
    Some((&column.name, "targets are usually called so".to_owned()))
}

fn unknown_target(profile: &Profile, candidates: &[&Column]) -> Trouble {
    let names: Vec<&str> = candidates.iter().take(20).map(|column| column.name.as_str()).collect();
    let hint = if names.is_empty() {
        let train = profile.train.file.display();
        let why = profile.test.as_ref().map_or_else(
            || format!("no column of {train} is left beside those with other roles"),
            |test| format!("every column of {train} is in {} too", test.file.display()),
        );
        format!("{why}; check the data, or give the column with --target")
    } else {
        format!("give it with --target (or target_column in the task file); candidates: {}", names.join(", "))
    };
    Trouble::new("the column to predict is not given and cannot be inferred", hint)
}

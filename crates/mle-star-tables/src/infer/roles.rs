//! Finds the columns whose roles the user named: groups, times, weights, and columns that are no features.

use mle_star_domain::nearest::nearest;
use mle_star_domain::task::ColumnRoles;
use mle_star_domain::trouble::Trouble;

use crate::profile::{Profile, Table};
use crate::split::times::{Clock, DATES, clocks};
use crate::table;

/// Names that a hint lists.
const LISTED: usize = 20;

/// A role that a user can give to a column.
#[derive(Clone, Copy)]
struct Role {
    name: &'static str,
    option: &'static str,
}

const GROUP: Role = Role { name: "group", option: "--group-column" };
const TIME: Role = Role { name: "time", option: "--time-column" };
const WEIGHT: Role = Role { name: "weight", option: "--weight-column" };
const IGNORED: Role = Role { name: "ignored", option: "--ignore-columns" };

/// The named columns, spelt as in their tables.
///
/// # Errors
/// A column is in no table, or its name fits two columns. Groups, times and weights are columns of the training table.
pub(super) fn named(profile: Option<&Profile>, given: &ColumnRoles) -> Result<ColumnRoles, Trouble> {
    let of_train =
        |name: &Option<String>, role| name.as_ref().map(|name| of_train(profile, name, role)).transpose();
    let mut ignored = Vec::new();
    for name in &given.ignored {
        let name = of_any(profile, name, IGNORED)?;
        if !ignored.contains(&name) {
            ignored.push(name);
        }
    }
    Ok(ColumnRoles {
        group: of_train(&given.group, GROUP)?,
        time: of_train(&given.time, TIME)?,
        weight: of_train(&given.weight, WEIGHT)?,
        ignored,
        positive_class: given.positive_class.clone(),
    })
}

/// Checks that roles do not contradict each other, and that the columns hold what their roles need.
///
/// # Errors
/// A column has two roles, groups or times are all the same, a time has no order, or a labelled row has no weight.
pub(super) fn check(
    profile: &Profile,
    roles: &ColumnRoles,
    target: Option<&str>,
    id: Option<&str>,
) -> Result<(), Trouble> {
    let targets = target.map(|target| profile.targets(target, id)).unwrap_or_default();
    let single = [(&roles.group, GROUP), (&roles.time, TIME), (&roles.weight, WEIGHT)];
    let single = single.into_iter().filter_map(|(name, role)| Some((name.as_ref()?, role)));
    for (name, role) in single.chain(roles.ignored.iter().map(|name| (name, IGNORED))) {
        if targets.contains(&name.as_str()) {
            return two_roles(name, role, "the target", "--target");
        }
    }
    if let Some(weight) = &roles.weight {
        let others = [(roles.group.as_deref(), GROUP), (roles.time.as_deref(), TIME)];
        if let Some((_, other)) = others.into_iter().find(|(name, _)| *name == Some(weight)) {
            return two_roles(weight, WEIGHT, &format!("the {} column", other.name), other.option);
        }
        if id == Some(weight) {
            return two_roles(weight, WEIGHT, "the row ID", "--id-column");
        }
        check_weights(profile, weight, &targets)?;
    }
    if let Some(group) = &roles.group {
        check_differs(profile, group, GROUP)?;
    }
    match &roles.time {
        Some(time) => check_differs(profile, time, TIME).and_then(|()| check_times(profile, time)),
        None => Ok(()),
    }
}

/// The column with this name, whatever case and surrounding blanks it is given in.
///
/// # Errors
/// It fits two columns.
fn find(table: &Table, name: &str, role: Role) -> Result<Option<String>, Trouble> {
    if table.column(name).is_some() {
        return Ok(Some(name.to_owned()));
    }
    let bare = |name: &str| name.trim().to_lowercase();
    let alike: Vec<&String> =
        table.columns.iter().map(|column| &column.name).filter(|other| bare(other) == bare(name)).collect();
    match alike.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some((*only).clone())),
        [one, other, ..] => Err(Trouble::new(
            format!(
                "the {} column \"{name}\" can be `{one}` or `{other}` of {}",
                role.name,
                table.file.display()
            ),
            format!("give the exact name with {}", role.option),
        )),
    }
}

fn of_train(profile: Option<&Profile>, name: &str, role: Role) -> Result<String, Trouble> {
    let Some(profile) = profile else { return Err(without_tables(name, role)) };
    if let Some(found) = find(&profile.train, name, role)? {
        return Ok(found);
    }
    let train = profile.train.file.display();
    for table in others(profile) {
        if let Some(found) = find(table, name, role)? {
            let message = format!(
                "the {} column `{found}` is in {}, but not in {train}",
                role.name,
                table.file.display()
            );
            return Err(Trouble::new(message, format!("give a column of {train} with {}", role.option)));
        }
    }
    Err(in_no_table(&[&profile.train], name, role))
}

fn of_any(profile: Option<&Profile>, name: &str, role: Role) -> Result<String, Trouble> {
    let Some(profile) = profile else { return Err(without_tables(name, role)) };
    let tables: Vec<&Table> = std::iter::once(&profile.train).chain(others(profile)).collect();
    for table in &tables {
        if let Some(found) = find(table, name, role)? {
            return Ok(found);
        }
    }
    Err(in_no_table(&tables, name, role))
}

/// The tables beside the training table.
fn others(profile: &Profile) -> impl Iterator<Item = &Table> {
    profile.test.iter().chain(&profile.auxiliary)
}

fn without_tables(name: &str, role: Role) -> Trouble {
    let message = format!("there is no training table to find the {} column \"{name}\" in", role.name);
    Trouble::new(message, format!("leave out {}", role.option))
}

fn in_no_table(tables: &[&Table], name: &str, role: Role) -> Trouble {
    let mut names: Vec<&str> = Vec::new();
    for column in tables.iter().flat_map(|table| &table.columns) {
        if !names.contains(&column.name.as_str()) {
            names.push(&column.name);
        }
    }
    // Names are compared without case, as they are found.
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let close = nearest(name, lower.iter().map(String::as_str));
    let meant = lower.iter().position(|name| Some(name.as_str()) == close).map(|at| names[at]);
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
    names.truncate(LISTED);
    let hint = format!("{meant}give one of the columns with {}: {}", role.option, names.join(", "));
    Trouble::new(format!("the {} column \"{name}\" is in no table", role.name), hint)
}

fn two_roles<T>(name: &str, role: Role, other: &str, option: &str) -> Result<T, Trouble> {
    let message = format!("`{name}` cannot be the {} column, as it is {other}", role.name);
    Err(Trouble::new(message, format!("give another column with {} or {option}", role.option)))
}

fn check_differs(profile: &Profile, name: &str, role: Role) -> Result<(), Trouble> {
    if profile.train.column(name).is_none_or(|column| column.distinct > 1) {
        return Ok(());
    }
    let message = format!(
        "the {} column `{name}` has fewer than two values in {}",
        role.name,
        profile.train.file.display()
    );
    Err(Trouble::new(message, format!("give another column with {}, or leave it out", role.option)))
}

/// Checks that all times can be put in order.
fn check_times(profile: &Profile, name: &str) -> Result<(), Trouble> {
    let Some(column) = profile.train.column(name) else { return Ok(()) };
    let clocks = match clocks(column) {
        [] => [Clock::Number].into_iter().chain(DATES).collect(),
        clocks => clocks.to_vec(),
    };
    let mut odd: Vec<Option<(u64, String)>> = vec![None; clocks.len()];
    each(profile, &[name], |row| {
        let Some(text) = row.value(0) else { return true };
        for (clock, odd) in clocks.iter().zip(&mut odd).filter(|(_, odd)| odd.is_none()) {
            *odd = clock.read(text).is_none().then(|| (row.number, text.to_owned()));
        }
        odd.iter().any(Option::is_none)
    })?;
    // Of several readings, one has to fit all rows.
    let odd: Option<Vec<(u64, String)>> = odd.into_iter().collect();
    let Some((row, text)) = odd.and_then(|odd| odd.into_iter().max()) else { return Ok(()) };
    let message = format!(
        "the time column `{name}` has \"{}\" in row {} of {}, which is no number and no date",
        text.chars().take(40).collect::<String>(),
        row + 1,
        profile.train.file.display()
    );
    Err(Trouble::new(
        message,
        "write dates as 2024-01-31, weeks as 2024-W05, quarters as 2024Q1, or give another column with --time-column",
    ))
}

/// Checks that each labelled row has a weight.
fn check_weights(profile: &Profile, name: &str, targets: &[&str]) -> Result<(), Trouble> {
    let columns: Vec<&str> = std::iter::once(name).chain(targets.iter().copied()).collect();
    let (mut odd, mut total) = (None, 0.0);
    each(profile, &columns, |row| {
        let is_labelled = (1..columns.len()).all(|at| row.value(at).is_some());
        if !is_labelled {
            return true;
        }
        let weight = row.value(0).map(|text| (text, text.parse::<f64>()));
        match weight {
            Some((_, Ok(weight))) if weight.is_finite() && weight >= 0.0 => total += weight,
            Some((text, _)) => odd = Some((row.number, Some(text.chars().take(40).collect::<String>()))),
            None => odd = Some((row.number, None)),
        }
        odd.is_none()
    })?;
    let file = profile.train.file.display();
    let message = match odd {
        None if total > 0.0 => return Ok(()),
        None => format!("all weights in column `{name}` of {file} are 0"),
        Some((row, None)) => format!("row {} of {file} has no weight in column `{name}`", row + 1),
        Some((row, Some(text))) => {
            format!("row {} of {file} has the weight \"{text}\" in column `{name}`", row + 1)
        }
    };
    let hint = "weights are numbers from 0 on; correct the row, or give another column with --weight-column";
    Err(Trouble::new(message, hint))
}

/// Calls `take` with these columns of each training row.
fn each(
    profile: &Profile,
    columns: &[&str],
    take: impl FnMut(table::Row<'_>) -> bool,
) -> Result<(), Trouble> {
    let read = profile.tables.train().and_then(|train| {
        let columns = train.positions(columns.iter().copied())?;
        train.each(&columns, take)
    });
    read.map_err(|error| {
        let message = format!("cannot read {}: {error}", profile.train.file.display());
        Trouble::new(message, "check that the file is complete and did not change")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::read;
    use crate::testing::folder;

    fn profile(train: &str) -> (tempfile::TempDir, Profile) {
        let dir = folder(&[("train.csv", train), ("test.csv", "id,a,Site,only\n9,1,x,2\n")]);
        let profile = read(dir.path()).unwrap();
        (dir, profile)
    }

    fn roles(words: &[(&str, &str)]) -> ColumnRoles {
        let of = |role| words.iter().find(|(name, _)| *name == role).map(|(_, column)| (*column).to_owned());
        let ignored = words.iter().filter(|(name, _)| *name == "ignored");
        ColumnRoles {
            group: of("group"),
            time: of("time"),
            weight: of("weight"),
            ignored: ignored.map(|(_, column)| (*column).to_owned()).collect(),
            positive_class: None,
        }
    }

    #[test]
    fn columns_that_cannot_have_their_role_are_refused() {
        let check = |words: &[(&str, &str)], message: &str, hint: &str| {
            let train =
                "id,a,Site,s,S,w,c,y\n1,1,x,2024-01-01,1,0.5,c,0\n2,2,z,soon,2,-1,c,1\n3,3,z,,1,,c,\n";
            let (_dir, profile) = profile(train);
            let found = named(Some(&profile), &roles(words))
                .and_then(|roles| super::check(&profile, &roles, Some("y"), Some("id")));
            let trouble = found.unwrap_err();
            assert_eq!(trouble.message, message, "{words:?}");
            assert!(trouble.hint.contains(hint), "{}", trouble.hint);
        };
        check(&[("group", "sit")], "the group column \"sit\" is in no table", "did you mean `Site`?");
        check(
            &[("time", "only")],
            "the time column `only` is in test.csv, but not in train.csv",
            "--time-column",
        );
        check(&[("weight", "y")], "`y` cannot be the weight column, as it is the target", "--target");
        check(
            &[("weight", "a"), ("group", "a")],
            "`a` cannot be the weight column, as it is the group column",
            "--group-column",
        );
        check(
            &[("time", "s")],
            "the time column `s` has \"soon\" in row 2 of train.csv, which is no number and no date",
            "--time-column",
        );
        check(
            &[("weight", "w")],
            "row 2 of train.csv has the weight \"-1\" in column `w`",
            "numbers from 0 on",
        );
    }
}

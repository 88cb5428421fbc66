//! Finds how the test table names the rows of the sample submission.

use std::collections::HashSet;

use csv::StringRecord;
use mle_star_domain::trouble::Trouble;
use mle_star_formats::Table;

use super::columns::{Cells, Columns, Index, key};
use super::row_ids::ROW_ID;
use super::{Asked, Look, quoted};
use crate::folder::Role;

/// No more columns of the test table are tried as parts of an ID.
const MOST_PARTS: usize = 40;
/// The longest text between the parts of an ID, in characters.
const LONGEST: usize = 3;
/// The rows by which parts are tried before all rows are.
const TRIED: usize = 50;

/// How IDs are made of columns: their places in the file, and the text between them.
type Joined = (Vec<usize>, String);

/// Finds the row IDs of the sample submission in the test table: in a column, in an unnamed one, in several columns, or as the
/// number of the row. Adds the column where the tables lack it.
pub(super) fn find(look: &mut Look, asked: &Asked<'_>) -> Result<(), Trouble> {
    let Some(sample) = look.of(Role::Sample).map(|sample| sample.columns.clone()) else { return Ok(()) };
    let Some(test) = look.of(Role::Test).map(|test| test.columns.clone()) else { return Ok(()) };
    // In a sample with one further column, the unnamed one has the IDs.
    let is_only = sample.all.len() == 1 && sample.index.is_some();
    let named = asked.id.and_then(|id| sample.find(id)).map(|at| sample.all[at].name.clone());
    let first = || sample.all.first().map(|column| column.name.clone());
    let name = if is_only { Some(ROW_ID.to_owned()) } else { named.or_else(first) };
    let Some(name) = name else { return Ok(()) };
    let lacks_column = sample.all.len() < 2 && !is_only;
    if lacks_column || test.find(&name).is_some() || asked.id.is_some_and(|id| test.find(id).is_some()) {
        return Ok(());
    }
    let ids = if is_only { index_ids(&sample) } else { Ids::read(look, &name, asked)? };
    let Some(ids) = ids else { return Ok(()) };
    if is_only && let Some(sample) = look.columns(Role::Sample) {
        let given = sample.index.take().map(|index| index.given).unwrap_or_default();
        sample.add(&name, Cells::Own(0));
        sample.all[0].given = given;
    }
    let rows = look.table(Role::Test, asked)?.map_or(0, Table::row_count);
    if let Some(index) = test.index.as_ref().filter(|index| ids.are(index)) {
        let next = index.next();
        look.name_rows(&name, Cells::Own(0), next);
        look.told.push(format!(
            "the unnamed first column of {} is the ID {}",
            look.file(Role::Test),
            quoted(&name)
        ));
    } else if let Some(joined) = look.joined(&ids, asked)? {
        look.join(&name, joined, &ids);
    } else if let Some(from) = ids.from.filter(|_| ids.count == rows && rows > 0) {
        let next = from + i64::try_from(rows).unwrap_or_default();
        look.name_rows(&name, Cells::Count(from), next);
        look.told.push(format!(
            "the ID {} counts the rows of {} from {from}",
            quoted(&name),
            look.file(Role::Test)
        ));
    } else if look.of(Role::Train).is_none_or(|train| train.columns.find(&name).is_none()) {
        let message = format!(
            "{} of {} names rows, such as {}, but {} has no such column, and no columns that make it together",
            quoted(&name),
            look.file(Role::Sample),
            quoted(&ids.first),
            look.file(Role::Test)
        );
        let hint = "give the ID of both tables the same name, or name it with --id-column";
        look.id_unknown = Some(Trouble::new(message, hint));
    }
    Ok(())
}

/// The IDs of a sample submission.
struct Ids {
    all: HashSet<String>,
    first: String,
    count: u64,
    /// The first ID, if the others count on from it.
    from: Option<i64>,
}

fn index_ids(sample: &Columns) -> Option<Ids> {
    let index = sample.index.as_ref()?;
    let all: HashSet<String> = index.numbers().map(|value| value.to_string()).collect();
    let first = index.from.unwrap_or_default().to_string();
    Some(Ids { first, count: all.len() as u64, from: index.from, all })
}

impl Ids {
    fn read(look: &mut Look, name: &str, asked: &Asked<'_>) -> Result<Option<Self>, Trouble> {
        let at = look.of(Role::Sample).and_then(|sample| sample.columns.place(name));
        let (Some(at), Some(table)) = (at, look.table(Role::Sample, asked)?) else { return Ok(None) };
        let mut ids = Self { all: HashSet::new(), first: String::new(), count: 0, from: None };
        table.each_row(&mut |row: &StringRecord| {
            let id = row.get(at).unwrap_or_default();
            let number = id.trim().parse::<i64>().ok();
            let passed = i64::try_from(ids.count).unwrap_or(i64::MAX);
            if ids.count == 0 {
                id.clone_into(&mut ids.first);
                ids.from = number.filter(|number| (0..=1).contains(number));
            } else {
                ids.from = ids.from.filter(|from| number == Some(from + passed));
            }
            ids.all.insert(id.to_owned());
            ids.count += 1;
            Ok(())
        })?;
        Ok((ids.count > 0).then_some(ids))
    }

    /// Whether these are the numbers of an unnamed column.
    fn are(&self, index: &Index) -> bool {
        self.all.len() == index.numbers().count()
            && index.numbers().all(|value| self.all.contains(&value.to_string()))
    }
}

impl Look {
    fn file(&self, role: Role) -> String {
        self.of(role).map(|taken| taken.found.file.display().to_string()).unwrap_or_default()
    }

    /// Adds an ID column to the test table; the rows of the training table are counted from `next`.
    fn name_rows(&mut self, name: &str, cells: Cells, next: i64) {
        if let Some(test) = self.columns(Role::Test) {
            test.index = None;
            test.add(name, cells);
        }
        if let Some(train) = self.columns(Role::Train).filter(|train| train.find(name).is_none()) {
            train.add(name, Cells::Count(next));
        }
    }

    /// The columns of the test table that make the IDs together.
    fn joined(&mut self, ids: &Ids, asked: &Asked<'_>) -> Result<Option<Joined>, Trouble> {
        let Some(test) = self.of(Role::Test).map(|test| test.columns.clone()) else { return Ok(None) };
        let places: Vec<usize> = test.own_places().take(MOST_PARTS).collect();
        let Some(table) = self.table(Role::Test, asked)? else { return Ok(None) };
        let mut rows: Vec<StringRecord> = Vec::new();
        table.each_row(&mut |row: &StringRecord| {
            if rows.len() < TRIED {
                rows.push(row.clone());
            }
            Ok(())
        })?;
        for joined in candidates(&rows, &places, ids) {
            let (mut made, mut all) = (HashSet::new(), true);
            table.each_row(&mut |row: &StringRecord| {
                let id = joined_text(row, &joined);
                all = all && ids.all.contains(&id) && made.insert(id);
                Ok(())
            })?;
            if all && made.len() == ids.all.len() {
                return Ok(Some(joined));
            }
        }
        Ok(None)
    }

    /// Adds the ID that is made of several columns to both tables.
    fn join(&mut self, name: &str, (places, between): Joined, ids: &Ids) {
        let Some(test) = self.of(Role::Test).map(|test| test.columns.clone()) else { return };
        let names: Vec<String> = places.iter().filter_map(|place| test.name_at(*place)).collect();
        if let Some(test) = self.columns(Role::Test) {
            test.add(name, Cells::Joined(places, between.clone()));
        }
        if let Some(train) = self.columns(Role::Train) {
            let of_train: Option<Vec<usize>> = names.iter().map(|name| train.place(name)).collect();
            if let Some(places) = of_train {
                train.add(name, Cells::Joined(places, between.clone()));
            }
        }
        let named: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let with =
            if between.is_empty() { String::new() } else { format!(", joined by {}", quoted(&between)) };
        self.told.push(format!(
            "the ID {}, such as {}, is made of {}{with}",
            quoted(name),
            quoted(&ids.first),
            named.join(" and ")
        ));
    }
}

/// The ways to make an ID of two or three columns that hold for the first rows.
fn candidates(rows: &[StringRecord], places: &[usize], ids: &Ids) -> Vec<Joined> {
    let Some(first) = rows.first() else { return Vec::new() };
    let cell = |place: usize| first.get(place).unwrap_or_default();
    let mut found: Vec<Joined> = Vec::new();
    let mut sorted: Vec<&str> = ids.all.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    for one in places.iter().filter(|place| !cell(**place).is_empty()) {
        let begin = sorted.partition_point(|id| *id < cell(*one));
        let alike = sorted[begin..].iter().take_while(|id| id.starts_with(cell(*one)));
        for rest in alike.filter_map(|id| id.strip_prefix(cell(*one))) {
            ways(rest, *one, places, &cell, &mut found);
        }
    }
    let holds = |joined: &Joined| rows.iter().all(|row| ids.all.contains(&joined_text(row, joined)));
    found.retain(holds);
    // Fewer parts come first.
    found.sort_by_key(|(places, _)| places.len());
    found
}

/// How this rest of an ID is made of one or two further columns of the first row.
fn ways<'a>(
    rest: &str,
    one: usize,
    places: &[usize],
    cell: &impl Fn(usize) -> &'a str,
    found: &mut Vec<Joined>,
) {
    let others = || places.iter().filter(|place| **place != one && !cell(**place).is_empty());
    for last in others() {
        let Some(between) = rest.strip_suffix(cell(*last)) else { continue };
        add((vec![one, *last], between.to_owned()), found);
        for middle in others().filter(|middle| *middle != last) {
            if let Some((before, after)) = between.split_once(cell(*middle))
                && before == after
            {
                add((vec![one, *middle, *last], before.to_owned()), found);
            }
        }
    }
}

fn add(joined: Joined, found: &mut Vec<Joined>) {
    let is_short = joined.1.chars().count() <= LONGEST && !joined.1.contains(char::is_alphanumeric);
    if is_short && !found.contains(&joined) {
        found.push(joined);
    }
}

fn joined_text(row: &StringRecord, (places, between): &Joined) -> String {
    places.iter().map(|place| row.get(*place).unwrap_or_default()).collect::<Vec<_>>().join(between)
}

impl Columns {
    /// The place in the file of the column with this name.
    fn place(&self, name: &str) -> Option<usize> {
        self.all.iter().find(|column| key(&column.name) == key(name)).and_then(|column| match column.cells {
            Cells::Own(place) => Some(place),
            _ => None,
        })
    }

    fn own_places(&self) -> impl Iterator<Item = usize> {
        self.all.iter().filter_map(|column| match column.cells {
            Cells::Own(place) => Some(place),
            _ => None,
        })
    }

    fn name_at(&self, place: usize) -> Option<String> {
        self.all.iter().find(|column| column.cells == Cells::Own(place)).map(|column| column.name.clone())
    }
}

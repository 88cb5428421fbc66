//! Checks a submission file against the sample submission.
//!
//! Both files are read row by row, side by side, so that memory use does not grow with the submission. The sample's IDs
//! are collected only if they differ. A submission is untrusted: the file, its header and its rows have size limits, and
//! findings quote only the first wrong values, shortened.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use csv::StringRecord;
use mle_star_domain::effects::Submission;
use table::{Table, Unreadable};

mod table;

/// How many offending rows or values a finding names.
const NAMED: usize = 3;
/// How many columns have their own finding.
const LISTED: usize = 20;
/// How much of a name or value a finding quotes, in characters.
const QUOTED: usize = 100;

/// The size limit in bytes. Submissions with the pixels of images have a few hundred MiB.
const LARGEST: u64 = 1 << 30;
/// With a large sample, the limit is this many times its size: a cell `0` may become a number with all its digits.
const TIMES_THE_SAMPLE: u64 = 16;

/// Checks the CSV file `file`.
///
/// Against `sample`: the same columns in the same order, the same number of rows, the same IDs in the same order,
/// no missing values where the sample has none, finite numbers where the sample has numbers. The IDs are in
/// `id_column`, or else in the sample's first column. Without a sample, the file must parse and have a data row. A
/// file that is [too large](largest) is not read.
pub fn check_submission(file: &Path, sample: Option<&Path>, id_column: Option<&str>) -> Submission {
    let bytes = fs::metadata(file).map_or(0, |meta| meta.len());
    if bytes > largest(sample) {
        return too_large(bytes, sample);
    }
    let checked = match sample {
        None => count_rows(file).map(|rows| (rows, Vec::new())).map_err(|unreadable| unreadable.text("")),
        Some(sample) => Sample::read(sample, id_column)
            .map_err(|unreadable| unreadable.text("the sample submission: "))
            .and_then(|sample| compare(file, &sample).map_err(|unreadable| unreadable.text(""))),
    };
    match checked {
        Err(finding) => Submission { bytes, rows: None, findings: vec![finding] },
        Ok((rows, mut findings)) => {
            if rows == 0 {
                findings.insert(0, "there is no data row below the header".to_owned());
            }
            Submission { bytes, rows: Some(rows), findings }
        }
    }
}

/// The size limit of a submission in bytes.
pub(crate) fn largest(sample: Option<&Path>) -> u64 {
    let sample = sample.and_then(|file| fs::metadata(file).ok()).map_or(0, |meta| meta.len());
    LARGEST.max(sample.saturating_mul(TIMES_THE_SAMPLE))
}

/// The result for a submission that is too large to be read.
pub(crate) fn too_large(bytes: u64, sample: Option<&Path>) -> Submission {
    let (mib, most) = (bytes >> 20, largest(sample) >> 20);
    let finding = format!("the file has {mib} MiB; a submission has at most {most} MiB");
    Submission { bytes, rows: None, findings: vec![finding] }
}

fn count_rows(file: &Path) -> Result<u64, Unreadable> {
    let mut table = Table::of_submission(file, 0)?;
    let (mut record, mut rows) = (StringRecord::new(), 0);
    while table.read(&mut record)? {
        rows += 1;
    }
    Ok(rows)
}

/// The requirements of the sample submission.
struct Sample<'a> {
    file: &'a Path,
    columns: Vec<String>,
    header_bytes: u64,
    wants: Vec<Wants>,
    rows: u64,
    /// Position of the ID column, if any.
    id: Option<usize>,
}

/// The requirements on the values of one column.
#[derive(Clone)]
struct Wants {
    numbers: bool,
    /// Whether numbers may be missing, in any spelling.
    may_be_missing: bool,
    /// Whether texts may be missing: an empty cell. Words such as `None` are texts.
    may_be_empty: bool,
    /// The first value, until another one is seen.
    constant: Option<String>,
}

impl<'a> Sample<'a> {
    fn read(file: &'a Path, id_column: Option<&str>) -> Result<Self, Unreadable> {
        let mut table = Table::of_sample(file)?;
        let (columns, header_bytes) = (table.columns.clone(), table.header_bytes);
        let unseen = Wants { numbers: true, may_be_missing: false, may_be_empty: false, constant: None };
        let wants = vec![unseen; columns.len()];
        let mut sample = Self { file, columns, header_bytes, wants, rows: 0, id: None };
        let mut seen_values = vec![false; sample.columns.len()];
        let mut record = StringRecord::new();
        while table.read(&mut record)? {
            for ((value, wants), seen) in record.iter().zip(&mut sample.wants).zip(&mut seen_values) {
                wants.see(value.trim(), sample.rows == 0);
                *seen |= !is_missing(value.trim(), true);
            }
            sample.rows += 1;
        }
        for (wants, seen) in sample.wants.iter_mut().zip(seen_values) {
            wants.numbers &= seen;
        }
        sample.id = sample.id_position(id_column);
        Ok(sample)
    }

    /// The named column, or else the first one, unless it is the only one or has the same value in every row.
    fn id_position(&self, id_column: Option<&str>) -> Option<usize> {
        let named = id_column.and_then(|name| self.columns.iter().position(|column| column == name));
        let first_is_id = self.columns.len() > 1 && (self.rows < 2 || self.wants[0].constant.is_none());
        named.or(first_is_id.then_some(0))
    }
}

impl Wants {
    fn see(&mut self, value: &str, first: bool) {
        if first {
            self.constant = Some(value.to_owned());
        } else if self.constant.as_deref() != Some(value) {
            self.constant = None;
        }
        let missing = is_missing(value, true);
        self.may_be_missing |= missing;
        self.may_be_empty |= is_missing(value, false);
        self.numbers &= missing || is_finite_number(value);
    }
}

/// Compares row by row. Returns the number of rows and the findings.
fn compare(file: &Path, sample: &Sample<'_>) -> Result<(u64, Vec<String>), Unreadable> {
    let mut table = Table::of_submission(file, sample.header_bytes)?;
    let mut expected = Table::of_sample(sample.file)?;
    let columns = std::mem::take(&mut table.columns);
    let mut findings = compare_columns(&columns, &sample.columns);
    let place = |name: &String| columns.iter().position(|column| column == name);
    let mut values: Vec<ColumnCheck<'_>> = sample
        .columns
        .iter()
        .zip(&sample.wants)
        .filter_map(|(name, wants)| Some(ColumnCheck::new(name, place(name)?, wants)))
        .collect();
    let id = sample.id.and_then(|position| Some((place(&sample.columns[position])?, position)));
    let (mut rows, mut first_other_id) = (0, None);
    let (mut record, mut expected_record) = (StringRecord::new(), StringRecord::new());
    while table.read(&mut record)? {
        rows += 1;
        values.iter_mut().for_each(|check| check.see(rows, &record));
        if let Some((here, there)) = id
            && first_other_id.is_none()
            && expected.read(&mut expected_record)?
        {
            let (found, wanted) = (field(&record, here), field(&expected_record, there));
            first_other_id = (found != wanted).then(|| (rows, quoted(found), quoted(wanted)));
        }
    }
    if rows != sample.rows {
        findings.push(format!("there are {rows} data rows; the sample submission has {}", sample.rows));
    }
    if let Some((here, there)) = id
        && (rows != sample.rows || first_other_id.is_some())
    {
        findings.extend(compare_ids((file, here), (sample, there), first_other_id)?);
    }
    findings.extend(values.iter().flat_map(ColumnCheck::findings));
    Ok((rows, findings))
}

fn compare_columns(found: &[String], wanted: &[String]) -> Vec<String> {
    if found == wanted {
        return Vec::new();
    }
    let (there, asked_for): (HashSet<_>, HashSet<_>) = (found.iter().collect(), wanted.iter().collect());
    let missing = wanted.iter().filter(|name| !there.contains(*name));
    let surplus = found.iter().filter(|name| !asked_for.contains(*name));
    let mut findings =
        about_each(missing, "columns are missing", |name| format!("column {} is missing", quoted(name)));
    findings.extend(about_each(surplus, "columns are not in the sample submission", |name| match name {
        "" => "a column without a name is not in the sample submission (write the file with index=False)"
            .to_owned(),
        name => format!("column {} is not in the sample submission", quoted(name)),
    }));
    let first_other = (0..).find(|&position| found.get(position) != wanted.get(position));
    if let (true, Some(position)) = (findings.is_empty(), first_other) {
        let name = |columns: &[String]| columns.get(position).map_or("none".to_owned(), |name| quoted(name));
        let (here, there) = (name(found), name(wanted));
        findings.push(format!(
            "the columns are other ones than the sample's from column {} on: {here} instead of {there}",
            position + 1
        ));
    }
    findings
}

/// One finding for each of the first columns and one for all others.
fn about_each<'a>(
    mut columns: impl Iterator<Item = &'a String>,
    what: &str,
    about: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut findings: Vec<String> = columns.by_ref().take(LISTED).map(|name| about(name)).collect();
    let more = columns.count();
    if more > 0 {
        findings.push(format!("{more} more {what}"));
    }
    findings
}

/// Describes the IDs in which two columns differ, or the row from which their order differs.
fn compare_ids(
    (found, here): (&Path, usize),
    (sample, there): (&Sample<'_>, usize),
    first_other: Option<(u64, String, String)>,
) -> Result<Vec<String>, Unreadable> {
    let mut left: HashMap<String, i64> = HashMap::new();
    let column = quoted(&sample.columns[there]);
    let wanted = || Table::of_sample(sample.file);
    each_value(wanted()?, there, |_, id| *left.entry(id.to_owned()).or_default() += 1)?;
    let (mut unknown, mut repeated) = (Offenders::default(), Offenders::default());
    each_value(Table::of_submission(found, sample.header_bytes)?, here, |row, id| match left.get_mut(id) {
        None => unknown.add(|| format!("{} in row {row}", quoted(id))),
        Some(0) => repeated.add(|| format!("{} in row {row}", quoted(id))),
        Some(count) => *count -= 1,
    })?;
    let mut missing = Offenders::default();
    each_value(wanted()?, there, |_, id| {
        if left.get_mut(id).is_some_and(|count| std::mem::take(count) > 0) {
            missing.add(|| quoted(id));
        }
    })?;
    let about = [
        (missing, "ids of the sample are missing"),
        (unknown, "ids are not in the sample"),
        (repeated, "ids are repeated"),
    ];
    let mut findings: Vec<String> =
        about.iter().filter_map(|(who, what)| who.finding(&column, what)).collect();
    if let (true, Some((row, found, wanted))) = (findings.is_empty(), first_other) {
        findings.push(format!(
            "column {column}: the ids are in another order than the sample's from row {row} on: {found} instead of {wanted}"
        ));
    }
    Ok(findings)
}

/// Calls `see` with each row's number and its value in one column.
fn each_value(mut table: Table, column: usize, mut see: impl FnMut(u64, &str)) -> Result<(), Unreadable> {
    let (mut record, mut row) = (StringRecord::new(), 0);
    while table.read(&mut record)? {
        row += 1;
        see(row, field(&record, column));
    }
    Ok(())
}

/// The invalid values of one column.
struct ColumnCheck<'a> {
    name: &'a str,
    position: usize,
    wants: &'a Wants,
    missing: Offenders,
    no_numbers: Offenders,
}

impl<'a> ColumnCheck<'a> {
    fn new(name: &'a str, position: usize, wants: &'a Wants) -> Self {
        Self { name, position, wants, missing: Offenders::default(), no_numbers: Offenders::default() }
    }

    fn see(&mut self, row: u64, record: &StringRecord) {
        let value = field(record, self.position);
        if is_missing(value, self.wants.numbers) {
            let may_be = if self.wants.numbers { self.wants.may_be_missing } else { self.wants.may_be_empty };
            if !may_be {
                self.missing.add(|| format!("row {row}"));
            }
        } else if self.wants.numbers && !is_finite_number(value) {
            self.no_numbers.add(|| format!("{} in row {row}", quoted(value)));
        }
    }

    fn findings(&self) -> impl Iterator<Item = String> {
        let column = quoted(self.name);
        let missing = self.missing.finding(&column, "values are missing");
        let no_numbers = self.no_numbers.finding(&column, "values are not finite numbers");
        missing.into_iter().chain(no_numbers)
    }
}

/// The number of invalid rows and the first of them.
#[derive(Default)]
struct Offenders {
    count: u64,
    first: Vec<String>,
}

impl Offenders {
    fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(name());
        }
    }

    /// `column` is quoted.
    fn finding(&self, column: &str, what: &str) -> Option<String> {
        let (count, first) = (self.count, self.first.join(", "));
        (count > 0).then(|| format!("column {column}: {count} {what}, first {first}"))
    }
}

fn field(record: &StringRecord, position: usize) -> &str {
    record.get(position).unwrap_or_default().trim()
}

/// In a column of texts, `None` or `NA` may be a label; in a column of numbers it is a missing value.
fn is_missing(value: &str, among_numbers: bool) -> bool {
    let one_of = |words: &[&str]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    one_of(&["", "nan", "<na>"]) || among_numbers && one_of(&["na", "n/a", "none", "null", "nat"])
}

fn is_finite_number(value: &str) -> bool {
    value.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Quotes a name or value for findings, which appear in journals and prompts.
fn quoted(name: &str) -> String {
    match name.char_indices().nth(QUOTED) {
        None => format!("`{name}`"),
        Some((end, _)) => format!("`{}...` ({} characters)", &name[..end], name.chars().count()),
    }
}

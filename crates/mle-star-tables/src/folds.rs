//! Writes the folds of the labelled rows into the data, so that all scripts validate alike.
//!
//! The file has the ID of each row that is validated, and its fold. Folds are like the test table: of other groups where it has
//! other groups, earlier periods of its length where it has later times, random rows otherwise. The user may give other folds.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use mle_star_domain::layout;
use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::trouble::Trouble;

use super::holdout::Plan;
use super::holdout::write::{beside, replace};
use super::labelled::{Labelled, Parts};
use super::own_folds::OwnFolds;
use super::periods::Timeline;
use super::profile::Profile;
use super::records::{add_row, digest};
use super::seeded::Seeded;
use super::split::times;
use super::walk;

/// The number of folds of rows and of groups.
const FOLDS: u8 = 5;
/// Where times have no periods, the shares of rows that are earlier than each fold.
const EARLIER: [f64; 3] = [0.55, 0.7, 0.85];
/// The headers of the column with folds, and of the column with row numbers that stands for a missing ID column.
const FOLD: &str = "fold";
const ROW: &str = "row";

/// What folds depend on, beside the tables.
#[derive(Clone, Copy, Debug)]
pub struct FoldBasis<'a> {
    /// The column to predict, or one of several.
    pub target: &'a str,
    /// The column with the row IDs.
    pub id: Option<&'a str>,
    /// How the test rows differ from the training rows.
    pub split: &'a Split,
    /// The periods of a split by time, if it has some.
    pub timeline: Option<&'a Timeline>,
    /// The folds that the user gives.
    pub own: Option<&'a OwnFolds>,
    /// The seed of the random choice of rows.
    pub seed: u64,
}

/// The fold of each row of the training table; `None` for rows that are not validated.
pub(crate) type Folds = Vec<Option<u8>>;

/// Whether the data folder already has a file with the name of the folds file.
pub fn has_file(profile: &Profile) -> bool {
    profile.tables.data_dir.join(layout::FOLDS).symlink_metadata().is_ok()
}

/// Makes `into` a folder with links to the data and the folds of all rows. Replaces an earlier folder; `into` is complete
/// whenever it exists.
///
/// # Errors
/// A table cannot be read, or the folder cannot be written.
pub fn link_all_rows(profile: &Profile, by: &FoldBasis<'_>, into: &Path) -> Result<(), Trouble> {
    let partial = beside(into);
    let fill = || {
        if partial.exists() {
            fs::remove_dir_all(&partial)?;
        }
        fs::create_dir_all(&partial)?;
        walk::link(&profile.tables.data_dir, &partial, |_| false)?;
        write(profile, by, None, &partial)
    };
    replace(fill(), &partial, into).map_err(|error| {
        Trouble::new(
            format!("cannot write {}: {error}", into.display()),
            "check that the disk is not full and that the data folder did not change",
        )
    })
}

/// Writes the folds into a data folder, for the rows that `plan` does not hold out.
///
/// # Errors
/// The training table cannot be read, or the file cannot be written.
pub fn write(profile: &Profile, by: &FoldBasis<'_>, plan: Option<&Plan>, folder: &Path) -> io::Result<()> {
    let validated = Validated::of(profile, by, plan)?;
    let path = folder.join(layout::FOLDS);
    // The user's own file may be in the data folder, and this may be a link to it.
    if path.symlink_metadata().is_ok() {
        fs::remove_file(&path)?;
    }
    validated.write(FOLD, &path, |_, fold| fold.to_string())
}

/// The rows that are validated, each with its name in the data that scripts see.
pub(crate) struct Validated<'a> {
    rows: Rows<'a>,
    folds: Folds,
    /// The column with the names, and its position; `None` if rows are named by their numbers.
    id: Option<(&'a str, usize)>,
}

impl<'a> Validated<'a> {
    pub(crate) fn of(profile: &'a Profile, by: &FoldBasis<'a>, plan: Option<&'a Plan>) -> io::Result<Self> {
        let labelled = Labelled::of(profile, by.target, by.id)?;
        let named = by.id.filter(|id| *id != FOLD);
        let named = named.and_then(|id| Some((id, labelled.train.find(id)?)));
        let id = match named {
            Some((id, at)) if plan.is_some() || names_rows(&labelled, at)? => Some((id, at)),
            _ => None,
        };
        let rows = Rows { of: labelled, plan };
        let folds = rows.folds(profile, by)?;
        Ok(Self { rows, folds, id })
    }

    /// Writes a table with the name of each row and a cell that `cell` makes of the row's number in the training table and its fold.
    pub(crate) fn write(
        &self,
        column: &str,
        path: &Path,
        mut cell: impl FnMut(u64, u8) -> String,
    ) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        let name = self.id.map_or(ROW, |(name, _)| name);
        let mut line = Vec::new();
        add_row([name.as_bytes(), column.as_bytes()].into_iter(), &mut line)?;
        line.push(b'\n');
        let (mut number, mut written) = (0_u64, Ok(()));
        let positions: Vec<usize> = self.id.iter().map(|(_, at)| *at).collect();
        self.rows.of.train.each(&positions, |row| {
            if !self.rows.leaves(row.number) {
                return true;
            }
            if let Some(fold) = place(row.number).and_then(|row| self.folds.get(row).copied().flatten()) {
                let (number, cell) = (number.to_string(), cell(row.number, fold));
                let name = if self.id.is_some() { row.cell(0) } else { number.as_bytes() };
                written = add_row([name, cell.as_bytes()].into_iter(), &mut line)
                    .and_then(|()| file.write_all(&line));
                line.clear();
                line.push(b'\n');
            }
            number += 1;
            written.is_ok()
        })?;
        written?;
        file.write_all(&line)?;
        file.flush()
    }
}

/// The fold of each row of the training table, from 0; `None` for rows that are not validated.
pub(crate) fn of_all_rows(profile: &Profile, by: &FoldBasis<'_>) -> io::Result<Folds> {
    Rows { of: Labelled::of(profile, by.target, by.id)?, plan: None }.folds(profile, by)
}

/// Whether each row has a value of its own in the column at this position.
fn names_rows(labelled: &Labelled<'_>, id: usize) -> io::Result<bool> {
    let names = labelled.train.names();
    let name = names.get(id).map(String::as_str).unwrap_or_default();
    let digests = labelled.train.digests(name, |row| digest(row.value(0).unwrap_or_default()))?;
    let is_missing = digests.binary_search(&digest("")).is_ok();
    Ok(!is_missing && digests.windows(2).all(|pair| pair[0] != pair[1]))
}

/// The labelled rows that are not held out.
struct Rows<'a> {
    of: Labelled<'a>,
    plan: Option<&'a Plan>,
}

impl Rows<'_> {
    fn folds(&self, profile: &Profile, by: &FoldBasis<'_>) -> io::Result<Folds> {
        if let Some(own) = by.own {
            return Ok((0..self.of.train.rows()).map(|row| own.of(row)).collect());
        }
        let folds = match (by.split.kind, by.timeline) {
            (SplitKind::Time, Some(timeline)) => Some(self.of_periods(timeline)),
            (SplitKind::Time, None) => self.of_later_rows(profile, by.split)?,
            (SplitKind::Groups, _) => self.of_groups(by)?,
            (SplitKind::Rows | SplitKind::Stratified, _) => None,
        };
        match folds {
            Some(folds) => Ok(folds),
            None => self.at_random(by),
        }
    }

    fn of_periods(&self, timeline: &Timeline) -> Folds {
        let beside_held_out = self.plan.is_some_and(Plan::is_period);
        let periods = timeline.folds(beside_held_out);
        let left_out = timeline.left_out().filter(|_| beside_held_out);
        let is_skipped = |row: u64| left_out.is_some_and(|left| left.skips(row));
        let fold = |row: u64| {
            let is_scored = timeline.is_labelled(row) && self.leaves(row) && !is_skipped(row);
            let time = timeline.time(row).filter(|_| is_scored)?;
            let period = periods.iter().position(|period| period.has(time));
            period.and_then(|fold| u8::try_from(fold).ok())
        };
        (0..self.of.train.rows()).map(fold).collect()
    }

    /// Folds of later rows; `None` if the times cannot be read, or only one of them has labels.
    fn of_later_rows(&self, profile: &Profile, split: &Split) -> io::Result<Option<Folds>> {
        let column = split.column.as_deref().unwrap_or_default();
        let Some(clock) = times::clock(profile, column)? else { return Ok(None) };
        let by = Parts { column: split.column.clone(), groups: split.groups.clone() };
        let times = self.of.times(&by, clock)?;
        let is_left = |row: &u64| times.labelled.contains(*row) && self.leaves(*row);
        let left = (0..self.of.train.rows()).filter(is_left);
        let mut sorted: Vec<f64> = left.filter_map(|row| times.of(row)).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(first) = sorted.first() else { return Ok(None) };
        let from =
            |share: f64| sorted.get(at_share(share, sorted.len())).filter(|from| *from > first).copied();
        let mut starts: Vec<f64> = EARLIER.into_iter().filter_map(from).collect();
        starts.dedup();
        let fold = |row: u64| {
            let time = times.of(row).filter(|_| is_left(&row))?;
            u8::try_from(starts.partition_point(|start| *start <= time).checked_sub(1)?).ok()
        };
        Ok((!starts.is_empty()).then(|| (0..self.of.train.rows()).map(fold).collect()))
    }

    /// Folds of whole groups with about as many rows each; `None` if there is only one group. Rows without a group are groups of
    /// their own.
    fn of_groups(&self, by: &FoldBasis<'_>) -> io::Result<Option<Folds>> {
        let parts = Parts { column: by.split.column.clone(), groups: None };
        let seeded = Seeded::new(by.seed, "folds");
        let mut groups: Vec<Option<u64>> = vec![None; rows_of(&self.of)];
        let mut sizes: HashMap<u64, u64> = HashMap::new();
        let mut take = |row: u64, group: u64| {
            if let Some(known) = place(row).and_then(|row| groups.get_mut(row)) {
                *known = Some(group);
                *sizes.entry(group).or_default() += 1;
            }
        };
        self.each(&parts, |row| match row.part {
            Some(group) => take(row.number, seeded.of(group.as_bytes())),
            None => take(row.number, seeded.below(u64::MAX, row.number)),
        })?;
        let mut largest: Vec<(Reverse<u64>, u64)> =
            sizes.into_iter().map(|(group, rows)| (Reverse(rows), group)).collect();
        largest.sort_unstable();
        let mut rows = vec![0; usize::from(FOLDS).min(largest.len())];
        let mut folds = HashMap::new();
        for (Reverse(size), group) in largest {
            if let Some((fold, rows)) =
                rows.iter_mut().zip(0_u8..).map(|(rows, fold)| (fold, rows)).min_by_key(|(_, rows)| **rows)
            {
                *rows += size;
                folds.insert(group, fold);
            }
        }
        let fold = |group: Option<u64>| group.and_then(|group| folds.get(&group).copied());
        Ok((rows.len() > 1).then(|| groups.into_iter().map(fold).collect()))
    }

    /// Folds of random rows, of about the same size; if the split is stratified, with about the same share of each class.
    fn at_random(&self, by: &FoldBasis<'_>) -> io::Result<Folds> {
        let seeded = Seeded::new(by.seed, "folds");
        let by_class = by.split.kind == SplitKind::Stratified;
        let mut order = Vec::new();
        self.each(&Parts::default(), |row| {
            let class = if by_class { seeded.of(row.label.as_bytes()) } else { 0 };
            order.push((class, seeded.of(row.id.as_bytes()), row.number));
        })?;
        order.sort_unstable();
        let mut folds: Folds = vec![None; rows_of(&self.of)];
        for ((_, _, row), fold) in order.into_iter().zip((0..FOLDS).cycle()) {
            if let Some(known) = place(row).and_then(|row| folds.get_mut(row)) {
                *known = Some(fold);
            }
        }
        Ok(folds)
    }

    fn leaves(&self, row: u64) -> bool {
        self.plan.is_none_or(|plan| plan.leaves(row))
    }

    fn each(&self, by: &Parts, mut take: impl FnMut(super::labelled::LabelledRow<'_>)) -> io::Result<()> {
        let each = self.of.each(by, |row| {
            if self.leaves(row.number) {
                take(row);
            }
        });
        each.map(drop)
    }
}

fn rows_of(labelled: &Labelled<'_>) -> usize {
    usize::try_from(labelled.train.rows()).unwrap_or_default()
}

fn place(row: u64) -> Option<usize> {
    usize::try_from(row).ok()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a number of rows is not negative and not larger"
)]
fn at_share(share: f64, rows: usize) -> usize {
    (share * rows as f64) as usize
}

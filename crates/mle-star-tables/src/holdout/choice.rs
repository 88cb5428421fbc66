//! Chooses the rows that are held out.

use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use blake3::Hasher;
use mle_star_domain::protocol::{Split, SplitKind};

use super::off::{Off, off, unreadable};
use crate::labelled::{Labelled, LabelledRow, Parts};
use crate::profile::Profile;
use crate::seeded::{RowSet, Seeded};
use crate::split::times::{self, Clock};

/// The usual share.
const AUTO: f64 = 0.15;
/// With fewer labelled rows, none is held out unless a share is given.
const AUTO_FROM: u64 = 2_000;
/// With fewer labelled rows, none is held out.
const FEWEST_LABELLED: u64 = 50;
/// Fewer rows tell too little.
pub(super) const FEWEST_HELD: u64 = 20;
/// The rows of smaller classes all remain.
const SMALLEST_CLASS: usize = 5;
/// With a larger share of rows at the last time, none is held out unless a share is given.
const LARGEST_AUTO: f64 = 0.3;
/// Fewer groups are too few for two sides.
const FEWEST_GROUPS: usize = 10;
/// The numbers of further classes are computed again for each row.
const MOST_KNOWN: usize = 1_000;

/// How many of the labelled rows are held out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// The usual share of a large training table; none of a small one.
    Auto {
        /// The greatest number of rows.
        most: u64,
    },
    /// This share, between 0 and 1, but not more than this number of rows.
    Of(f64, u64),
}

/// The rows that are held out.
pub(crate) struct Chosen {
    pub(crate) rows: u64,
    pub(crate) labelled: u64,
    pub(crate) digest: String,
    pub(crate) held: RowSet,
    /// Rows that are in neither table of the search.
    pub(crate) left_out: RowSet,
}

/// Which labelled rows are held out.
enum Rule {
    /// Those whose number is at most that of their class.
    Smallest { classes: HashMap<u64, u64>, by_class: bool, candidates: RowSet },
    /// Those of these groups.
    Groups { column: String, groups: HashSet<u64> },
    /// Those from this time on. Rows of a group have the time of its first row.
    From { by: Parts, clock: Clock, time: f64, firsts: HashMap<u64, f64> },
}

/// The labelled rows, and the numbers that are drawn for them.
struct Train<'a> {
    of: &'a Labelled<'a>,
    seeded: Seeded,
}

/// The rows of a class.
#[derive(Default)]
struct Class {
    rows: u64,
    /// Those with the smallest numbers: their numbers, and the rows.
    smallest: BinaryHeap<(u64, u64)>,
}

/// The numbers of classes by their labels.
type Classes = HashMap<String, u64>;

/// Chooses labelled rows as `split` says that test rows differ from training rows.
pub(crate) fn choose(
    profile: &Profile,
    labelled: &Labelled<'_>,
    split: &Split,
    share: Share,
    seed: u64,
) -> Result<Chosen, Off> {
    let train = Train { of: labelled, seeded: Seeded::new(seed, "rows") };
    let (labelled, rule) = match split.kind {
        SplitKind::Rows => at_random(&train, share, false)?,
        SplitKind::Stratified => at_random(&train, share, true)?,
        SplitKind::Groups => by_groups(&train, share, known_column(profile, split)?)?,
        SplitKind::Time => by_time(&train, profile, share, split)?,
    };
    let chosen = train.mark(labelled, &rule)?;
    if chosen.rows < FEWEST_HELD {
        return off(format!("only {} rows could be held out; {FEWEST_HELD} are needed", chosen.rows));
    }
    Ok(chosen)
}

/// The column of the split.
fn known_column<'a>(profile: &Profile, split: &'a Split) -> Result<&'a str, Off> {
    match &split.column {
        Some(column) if profile.train.column(column).is_some() => Ok(column.as_str()),
        _ => off("the column that tells test rows from training rows is not known"),
    }
}

/// Checks that enough rows are labelled for this share.
pub(super) fn check(share: Share, labelled: u64) -> Result<(), Off> {
    let (share, fewest) = match share {
        Share::Auto { .. } => (AUTO, AUTO_FROM),
        Share::Of(share, _) => (share, FEWEST_LABELLED),
    };
    if !(share > 0.0 && share < 1.0) {
        return off(format!("the share of held-out rows is {share}, not between 0 and 1"));
    }
    if labelled < fewest {
        return off(format!("only {labelled} rows are labelled; {fewest} are needed"));
    }
    Ok(())
}

/// The number of rows to hold out, and the greatest number.
fn wanted(share: Share, labelled: u64) -> Result<(u64, u64), Off> {
    check(share, labelled)?;
    let (share, most) = match share {
        Share::Auto { most } => (AUTO, most),
        Share::Of(share, most) => (share, most),
    };
    let wanted = rounded(share * labelled as f64).min(most);
    if wanted < FEWEST_HELD {
        return off(format!("only {wanted} rows would be held out; {FEWEST_HELD} are needed"));
    }
    Ok((wanted, most))
}

fn at_random(train: &Train<'_>, share: Share, by_class: bool) -> Result<(u64, Rule), Off> {
    let (Share::Auto { most } | Share::Of(_, most)) = share;
    // The order of the classes is the same on every machine.
    let mut classes: BTreeMap<u64, Class> = BTreeMap::new();
    let mut known = Classes::default();
    let labelled = train.each(&Parts::default(), |row| {
        let class = train.class(&row, by_class, &mut known);
        classes.entry(class).or_default().push((train.seeded.of(row.id.as_bytes()), row.number), most);
    })?;
    let (wanted, _) = wanted(share, labelled)?;
    let share = wanted as f64 / labelled as f64;
    classes.retain(|_, class| class.rows >= SMALLEST_CLASS as u64);
    // Rounding the sum of the shares keeps the number of all rows right.
    let (mut sum, mut held) = (0.0, 0);
    let mut last = HashMap::new();
    let mut candidates = RowSet::default();
    for (class, Class { rows: all, smallest }) in classes {
        sum += share * all as f64;
        let rows = rounded(sum).saturating_sub(held).min(all - 1);
        held += rows;
        let Some(place) = usize::try_from(rows).ok().and_then(|rows| rows.checked_sub(1)) else { continue };
        let smallest = smallest.into_sorted_vec();
        smallest.iter().for_each(|(_, row)| candidates.insert(*row));
        last.extend(smallest.get(place).map(|(number, _)| (class, *number)));
    }
    Ok((labelled, Rule::Smallest { classes: last, by_class, candidates }))
}

fn by_groups(train: &Train<'_>, share: Share, column: &str) -> Result<(u64, Rule), Off> {
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    let by = Parts { column: Some(column.to_owned()), groups: None };
    let labelled = train.each(&by, |row| {
        if let Some(group) = row.part {
            *sizes.entry(train.seeded.of(group.as_bytes())).or_default() += 1;
        }
    })?;
    let (wanted, most) = wanted(share, labelled)?;
    if sizes.len() < FEWEST_GROUPS {
        let found = sizes.len();
        return off(format!("`{column}` has only {found} groups with labels; {FEWEST_GROUPS} are needed"));
    }
    let (mut groups, mut held) = (HashSet::new(), 0);
    let limit = most.min(wanted + wanted / 2);
    for (group, size) in sizes {
        // A very large group remains.
        if held < wanted && held + size <= limit {
            groups.insert(group);
            held += size;
        }
    }
    if groups.len() < 2 {
        return off(format!("the groups of `{column}` are too large to hold some of them out"));
    }
    Ok((labelled, Rule::Groups { column: column.to_owned(), groups }))
}

fn by_time(train: &Train<'_>, profile: &Profile, share: Share, split: &Split) -> Result<(u64, Rule), Off> {
    let column = known_column(profile, split)?;
    let Some(clock) = train.clock(profile, column)? else {
        return off(format!("the values of `{column}` have no order of time"));
    };
    let by = Parts { column: Some(column.to_owned()), groups: split.groups.clone() };
    let firsts = train.of.firsts(&by, clock).map_err(|error| unreadable(train.of.train, &error))?;
    let mut times = Vec::new();
    let labelled = train.each(&by, |row| times.extend(row.time(clock, &firsts)))?;
    let wanted = wanted(share, labelled)?;
    let largest = match share {
        Share::Auto { .. } => LARGEST_AUTO,
        Share::Of(..) => 0.5,
    };
    times.sort_unstable_by(f64::total_cmp);
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return off(format!("no labelled row has a value of `{column}`"));
    };
    if first == last {
        return off(format!("all labelled rows have the same value of `{column}`"));
    }
    let Some(time) = boundary(&times, wanted, largest) else {
        return off(format!("too many rows have the last value of `{column}`"));
    };
    Ok((labelled, Rule::From { by, clock, time, firsts }))
}

/// The time from which on rows are held out, so that they are about as many as wanted, at most the `largest` share, and not
/// more than `most` if possible. Rows of the same time are on the same side.
fn boundary(times: &[f64], (wanted, most): (u64, u64), largest: f64) -> Option<f64> {
    let limit = usize::try_from(rounded(largest * times.len() as f64)).ok()?.min(times.len() / 2);
    let [wanted, most] =
        [wanted, most].map(|rows| usize::try_from(rows).unwrap_or(limit).clamp(1, limit.max(1)));
    let at = times.get(times.len().checked_sub(wanted)?)?;
    let with = times.partition_point(|time| time < at);
    let without = times.partition_point(|time| time <= at);
    let rows = |from: usize| times.len() - from;
    let fits = |from: &usize| (1..=limit).contains(&rows(*from));
    let from = [with, without]
        .into_iter()
        .filter(fits)
        .min_by_key(|from| (rows(*from) > most, rows(*from).abs_diff(wanted)))?;
    times.get(from).copied()
}

impl Class {
    /// Adds a row. Of all rows, `most` can be held out.
    fn push(&mut self, row: (u64, u64), most: u64) {
        self.rows += 1;
        if (self.smallest.len() as u64) < most {
            self.smallest.push(row);
        } else if let Some(mut largest) = self.smallest.peek_mut().filter(|largest| row < **largest) {
            *largest = row;
        }
    }
}

impl Train<'_> {
    /// Calls `take` with each labelled row. Returns the number of labelled rows.
    fn each(&self, by: &Parts, take: impl FnMut(LabelledRow<'_>)) -> Result<u64, Off> {
        self.of.each(by, take).map_err(|error| unreadable(self.of.train, &error))
    }

    fn class(&self, row: &LabelledRow<'_>, by_class: bool, known: &mut Classes) -> u64 {
        if !by_class {
            return 0;
        }
        if let Some(class) = known.get(row.label) {
            return *class;
        }
        let class = self.seeded.of(row.label.as_bytes());
        if known.len() < MOST_KNOWN {
            known.insert(row.label.to_owned(), class);
        }
        class
    }

    /// The order of the column's values; of several, the one in which the test table is later.
    fn clock(&self, profile: &Profile, column: &str) -> Result<Option<Clock>, Off> {
        times::clock(profile, column).map_err(|error| unreadable(self.of.train, &error))
    }

    fn mark(&self, labelled: u64, rule: &Rule) -> Result<Chosen, Off> {
        let by = match rule {
            Rule::Smallest { .. } => Parts::default(),
            Rule::Groups { column, .. } => Parts { column: Some(column.clone()), groups: None },
            Rule::From { by, .. } => by.clone(),
        };
        let (mut rows, mut held, mut hasher) = (0, RowSet::default(), Hasher::new());
        let mut known = Classes::default();
        self.each(&by, |row| {
            if self.is_held(rule, &row, &mut known) {
                rows += 1;
                held.insert(row.number);
                hasher.update(row.id.as_bytes()).update(b"\n");
            }
        })?;
        let digest = hasher.finalize().to_hex().to_string();
        Ok(Chosen { rows, labelled, digest, held, left_out: RowSet::default() })
    }

    fn is_held(&self, rule: &Rule, row: &LabelledRow<'_>, known: &mut Classes) -> bool {
        match rule {
            Rule::Smallest { candidates, .. } if !candidates.contains(row.number) => false,
            Rule::Smallest { classes, by_class, .. } => {
                let last = classes.get(&self.class(row, *by_class, known));
                last.is_some_and(|last| self.seeded.of(row.id.as_bytes()) <= *last)
            }
            Rule::Groups { groups, .. } => {
                row.part.is_some_and(|group| groups.contains(&self.seeded.of(group.as_bytes())))
            }
            Rule::From { clock, time, firsts, .. } => row.time(*clock, firsts).is_some_and(|at| at >= *time),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of rows are not negative"
)]
fn rounded(number: f64) -> u64 {
    number.round() as u64
}

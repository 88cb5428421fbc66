//! Chooses the rows of a period like that of the test table.

use std::collections::HashSet;

use blake3::Hasher;

use super::choice::{Chosen, FEWEST_HELD, Share, check};
use super::off::{Off, off, unreadable};
use crate::labelled::{Labelled, Parts};
use crate::periods::Timeline;
use crate::seeded::{RowSet, Seeded};

/// A period with more than so many rows for each row of the test table has as many as the test table.
const DENSER: f64 = 1.5;

/// Chooses the labelled rows of the last period. If it has many more rows than the test table, some of them are drawn. Rows
/// that are neither held out nor earlier by at least the gap are left out, and so is the history of series that are to be new. The share only says whether rows are held out at all.
pub(super) fn choose(
    labelled: &Labelled<'_>,
    timeline: &Timeline,
    share: Share,
    (seed, test_rows): (u64, u64),
) -> Result<Chosen, Off> {
    if check(share, timeline.labelled()).is_err() {
        let mut all = 0;
        each_id(labelled, |_, _| all += 1)?;
        check(share, all)?;
        let timed = timeline.labelled();
        return off(format!("only {timed} of {all} labelled rows have a time up to that of the test table"));
    }
    let bounds = timeline.held_out().map_err(Off)?;
    let is_within = |time: f64| bounds.has(time);
    let is_scored = |row: u64| timeline.left_out().is_none_or(|left| !left.skips(row));
    let is_in_period =
        |row: u64| timeline.is_labelled(row) && timeline.time(row).is_some_and(is_within) && is_scored(row);
    let of_period = (0..labelled.train.rows()).filter(|row| is_in_period(*row)).count() as u64;
    let fewest = test_rows.max(FEWEST_HELD);
    let is_denser = of_period as f64 > DENSER * fewest as f64;
    let seeded = Seeded::new(seed, "rows");
    let mut drawn = Vec::new();
    if is_denser {
        each_id(labelled, |row, id| {
            if is_in_period(row) {
                drawn.push((seeded.of(id.as_bytes()), row));
            }
        })?;
        drawn.sort_unstable();
        drawn.truncate(usize::try_from(fewest).unwrap_or(usize::MAX));
    }
    let drawn: HashSet<u64> = drawn.into_iter().map(|(_, row)| row).collect();
    let is_held = |row: u64| is_in_period(row) && (!is_denser || drawn.contains(&row));
    let (mut rows, mut held, mut hasher) = (0, RowSet::default(), Hasher::new());
    each_id(labelled, |row, id| {
        if is_held(row) {
            rows += 1;
            held.insert(row);
            hasher.update(id.as_bytes()).update(b"\n");
        }
    })?;
    if rows < FEWEST_HELD {
        return off(format!("the last period has only {rows} rows; {FEWEST_HELD} are needed"));
    }
    let mut left_out = RowSet::default();
    let is_late = |row: u64| timeline.is_too_late(row, &bounds);
    let is_hidden = |row: u64| timeline.left_out().is_some_and(|left| left.hides(row));
    (0..labelled.train.rows())
        .filter(|row| is_late(*row) || is_hidden(*row))
        .filter(|row| !held.contains(*row))
        .for_each(|row| left_out.insert(row));
    let digest = hasher.finalize().to_hex().to_string();
    Ok(Chosen { rows, labelled: timeline.labelled(), digest, held, left_out })
}

fn each_id(labelled: &Labelled<'_>, mut take: impl FnMut(u64, &str)) -> Result<(), Off> {
    let each = labelled.each(&Parts::default(), |row| take(row.number, row.id));
    each.map(drop).map_err(|error| unreadable(labelled.train, &error))
}

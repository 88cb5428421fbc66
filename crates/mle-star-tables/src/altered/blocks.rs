//! The rows among which labels are permuted.
//!
//! Where test rows are of other groups or times, what is between groups or times is left as it is: a script sees the
//! drift that it is made for, and what it is made of.

use std::collections::BTreeMap;

use mle_star_domain::protocol::{Split, SplitKind};

use crate::dates::Reading;
use crate::split::times::Clock;

/// The fewest rows of a block.
const FEWEST: usize = 50;
/// The number of blocks of times.
const TIMES: usize = 10;

/// The block of each of these rows, from 0: one block for all, or whole groups, or rows of neighbouring times. A block
/// has rows with different labels, so that a permutation can change it. Times that are neither numbers nor dates, such as
/// `Q1 2019`, come in the order of their texts.
///
/// Each row has its value in the column of the split, if it has one, and its labels.
pub(super) fn blocks<L: PartialEq>(
    split: Option<&Split>,
    values: &[Option<String>],
    labels: &[L],
) -> Vec<u32> {
    match split.map(|split| split.kind) {
        None | Some(SplitKind::Rows | SplitKind::Stratified) => vec![0; labels.len()],
        Some(SplitKind::Groups) => joined(units(values, str::to_owned), labels, FEWEST),
        Some(SplitKind::Time) => {
            let fewest = FEWEST.max(labels.len().div_ceil(TIMES));
            match clock(values) {
                Some(clock) => joined(units(values, |text| in_order(clock.read(text))), labels, fewest),
                None => joined(units(values, str::to_owned), labels, fewest),
            }
        }
    }
}

/// The clock that reads all values.
fn clock(values: &[Option<String>]) -> Option<Clock> {
    let clocks = [Clock::Number, Clock::Date(Reading::MonthFirst), Clock::Date(Reading::DayFirst)];
    clocks.into_iter().find(|clock| values.iter().flatten().all(|text| clock.read(text).is_some()))
}

/// A whole number with the order of this one.
fn in_order(number: Option<f64>) -> i64 {
    let bits = number.unwrap_or(f64::NEG_INFINITY).to_bits().cast_signed();
    bits ^ ((bits >> 63) & i64::MAX)
}

/// The rows with equal values, in the order of the values.
fn units<K: Ord>(values: &[Option<String>], key: impl Fn(&str) -> K) -> Vec<Vec<usize>> {
    let mut units: BTreeMap<Option<K>, Vec<usize>> = BTreeMap::new();
    for (row, value) in values.iter().enumerate() {
        units.entry(value.as_deref().map(&key)).or_default().push(row);
    }
    units.into_values().collect()
}

/// Joins neighbours until a block has enough rows.
fn joined<L: PartialEq>(units: Vec<Vec<usize>>, labels: &[L], fewest: usize) -> Vec<u32> {
    // Each with whether its labels differ.
    let mut blocks: Vec<(Vec<usize>, bool)> = Vec::new();
    let is_large = |block: &(Vec<usize>, bool)| block.1 && block.0.len() >= fewest;
    for unit in units {
        if blocks.last().is_none_or(is_large) {
            blocks.push((Vec::new(), false));
        }
        if let Some((block, differs)) = blocks.last_mut() {
            let first = *block.first().unwrap_or(&unit[0]);
            *differs |= unit.iter().any(|row| labels[*row] != labels[first]);
            block.extend(unit);
        }
    }
    if let Some((last, _)) = blocks.pop_if(|block| !is_large(block)) {
        match blocks.last_mut() {
            Some((block, _)) => block.extend(last),
            None => blocks.push((last, false)),
        }
    }
    let mut block_of = vec![0; labels.len()];
    for (number, (block, _)) in (0..).zip(blocks) {
        block.into_iter().for_each(|row| block_of[row] = number);
    }
    block_of
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        kind: SplitKind,
        rows: usize,
        value: impl Fn(usize) -> String,
        label: fn(usize) -> usize,
    ) -> Vec<u32> {
        let split = Split { kind, column: Some("g".to_owned()), ..Split::default() };
        let values: Vec<Option<String>> = (0..rows).map(|row| Some(value(row))).collect();
        blocks(Some(&split), &values, &(0..rows).map(label).collect::<Vec<_>>())
    }

    /// The number of blocks and the size of the smallest one.
    fn sizes(blocks: &[u32]) -> (usize, usize) {
        let mut sizes = BTreeMap::new();
        blocks.iter().for_each(|block| *sizes.entry(block).or_insert(0) += 1);
        (sizes.len(), sizes.into_values().min().unwrap())
    }

    #[test]
    fn groups_stay_together_and_small_ones_are_joined() {
        let small = of(SplitKind::Groups, 600, |row| format!("g{:03}", row % 200), |row| row % 7);
        assert_eq!(sizes(&small), (11, 51));
        assert!((0..400).all(|row| small[row] == small[row + 200]));
        let large = of(SplitKind::Groups, 600, |row| (row % 3).to_string(), |row| row % 7);
        assert_eq!(sizes(&large), (3, 200));
        // Labels of groups: no group alone can be permuted.
        let constant = of(SplitKind::Groups, 600, |row| (row % 6).to_string(), |row| row % 2);
        assert_eq!(sizes(&constant), (3, 200));
    }

    #[test]
    fn times_are_blocks_in_their_order() {
        let days =
            of(SplitKind::Time, 1000, |row| format!("{}/1/20{:02}", row % 12 + 1, 99 - row / 12), |row| row);
        assert_eq!(sizes(&days), (10, 100));
        assert!(days[999] == 0 && days[0] == 9, "{days:?}");
        // As texts, 10 would come before 9.
        let numbers = of(SplitKind::Time, 200, |row| row.to_string(), |row| row);
        assert_eq!(sizes(&numbers), (4, 50));
        assert!(numbers.is_sorted(), "{numbers:?}");
        let signed = of(SplitKind::Time, 200, |row| format!("{}", row as f64 / 7.0 - 14.0), |row| row);
        assert!(signed.is_sorted(), "{signed:?}");
    }

    #[test]
    fn without_groups_or_times_all_rows_are_one_block() {
        assert_eq!(sizes(&of(SplitKind::Stratified, 300, |row| row.to_string(), |row| row)), (1, 300));
        assert_eq!(sizes(&of(SplitKind::Time, 30, |row| row.to_string(), |row| row)), (1, 30));
        assert_eq!(sizes(&of(SplitKind::Groups, 300, |row| row.to_string(), |_| 0)), (1, 300));
        assert_eq!(blocks(None, &[None, None], &[1, 2]), [0, 0]);
    }
}

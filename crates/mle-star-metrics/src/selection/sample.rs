//! The rows on which weights are chosen.

use std::collections::BTreeMap;

use crate::bootstrap::weight;

/// No replicate of a score has such a number.
const BAGS_FROM: u64 = 1 << 40;

/// Rows, each with the number of rows that it stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    /// The places of the rows, in ascending order.
    pub places: Vec<usize>,
    /// What each of them counts; `None` if all count the same.
    pub weights: Option<Vec<f64>>,
}

impl Sample {
    /// All of these rows.
    pub fn all(places: Vec<usize>) -> Self {
        Self { places, weights: None }
    }

    /// A bootstrap sample of these rows, which are in a random order, from at most about `most` of them. Of classes, each
    /// gives as many, so that the rows of a rare one are in every bag; together, they count as much as all of their class.
    /// Rows with equal `units` are drawn together.
    pub fn bag(
        rows: &[usize],
        classes: Option<&[u32]>,
        units: &[u64],
        (number, most): (usize, usize),
    ) -> Self {
        let mut of_class: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for row in rows {
            of_class.entry(classes.map_or(0, |classes| classes[*row])).or_default().push(*row);
        }
        let share = if rows.len() <= most { most } else { (most / of_class.len().max(1)).max(1) };
        let mut kept: Vec<(usize, f64)> = Vec::new();
        for rows in of_class.values() {
            let step = rows.len().div_ceil(share).max(1);
            let some: Vec<usize> = rows.iter().skip(number % step).step_by(step).copied().collect();
            let stands_for = rows.len() as f64 / some.len().max(1) as f64;
            let drawn = |row: usize| f64::from(weight(units[row], BAGS_FROM + number as u64)) * stands_for;
            kept.extend(some.into_iter().map(|row| (row, drawn(row))).filter(|(_, weight)| *weight > 0.0));
        }
        kept.sort_unstable_by_key(|(row, _)| *row);
        let (places, weights) = kept.into_iter().unzip();
        Self { places, weights: Some(weights) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_rare_class_are_not_thinned_out() {
        let check = |count: usize, is_rare: Option<fn(usize) -> bool>, most: usize, expected: (f64, f64)| {
            let classes: Option<Vec<u32>> =
                is_rare.map(|is_rare| (0..count).map(|row| u32::from(is_rare(row))).collect());
            let units: Vec<u64> = (0..count).map(|row| row as u64 * 7919).collect();
            let rows: Vec<usize> = (0..count).collect();
            let bags = [0, 1].map(|number| Sample::bag(&rows, classes.as_deref(), &units, (number, most)));
            assert_ne!(bags[0], bags[1]);
            for Sample { places, weights } in bags {
                let is_rare = |row: usize| is_rare.is_some_and(|is_rare| is_rare(row));
                let rare = places.iter().filter(|row| is_rare(**row)).count() as f64;
                // Of the rows that a bag may have, 63 % are drawn.
                let is_near =
                    |found: f64, expected: f64, part: f64| (found - expected).abs() <= part * expected;
                let drawn = 1.0 - (-1.0_f64).exp();
                assert!(
                    is_near(places.len() as f64, drawn * expected.0, 0.05),
                    "{count} {most}: {}",
                    places.len()
                );
                assert!(is_near(rare, drawn * expected.1, 0.2), "{count} {most}: {rare}");
                assert!(places.is_sorted());
                let weights = weights.unwrap();
                assert!(is_near(weights.iter().sum::<f64>(), count as f64, 0.06), "{count} {most}");
                let of_rare = places.iter().zip(&weights).filter(|(row, _)| is_rare(**row));
                let all = (0..count).filter(|row| is_rare(*row)).count() as f64;
                assert!(is_near(of_rare.map(|(_, weight)| weight).sum::<f64>(), all, 0.25), "{count} {most}");
            }
        };
        let one_in_hundred: fn(usize) -> bool = |row| row.is_multiple_of(100);
        check(20_000, Some(one_in_hundred), 40_000, (20_000.0, 200.0));
        // All 200 of the rare ones, and every fourth other.
        check(20_000, Some(one_in_hundred), 10_000, (200.0 + 4950.0, 200.0));
        check(20_000, Some(|row| row.is_multiple_of(2)), 10_000, (10_000.0, 5_000.0));
        check(20_000, None, 10_000, (10_000.0, 0.0));
    }

    #[test]
    fn rows_of_a_unit_are_drawn_together() {
        let units: Vec<u64> = (0..1_000).map(|row| row / 10).collect();
        let rows: Vec<usize> = (0..1_000).collect();
        let bag = Sample::bag(&rows, None, &units, (0, 10_000));
        let mut of_unit: BTreeMap<u64, usize> = BTreeMap::new();
        bag.places.iter().for_each(|row| *of_unit.entry(units[*row]).or_default() += 1);
        assert!(of_unit.values().all(|count| *count == 10) && of_unit.len() < 80, "{of_unit:?}");
    }
}

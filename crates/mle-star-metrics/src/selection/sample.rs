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
    fn rows_of_a_unit_are_drawn_together() {
        let units: Vec<u64> = (0..1_000).map(|row| row / 10).collect();
        let rows: Vec<usize> = (0..1_000).collect();
        let bag = Sample::bag(&rows, None, &units, (0, 10_000));
        let mut of_unit: BTreeMap<u64, usize> = BTreeMap::new();
        bag.places.iter().for_each(|row| *of_unit.entry(units[*row]).or_default() += 1);
        assert!(of_unit.values().all(|count| *count == 10) && of_unit.len() < 80, "{of_unit:?}");
    }
}

//! Scores with their direction.
//!
//! [`Direction`] says whether larger or smaller scores win. A [`Score`] carries its direction, so that no other code
//! compares scores with `<` or `>`.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which scores win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Larger wins, as for accuracy.
    Maximize,
    /// Smaller wins, as for an error.
    Minimize,
}

/// A finite score on the task's metric, in the metric's own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    value: f64,
    direction: Direction,
}

impl Direction {
    /// The word for better scores in prompts: `higher` or `lower`.
    pub fn comparative(self) -> &'static str {
        match self {
            Self::Maximize => "higher",
            Self::Minimize => "lower",
        }
    }

    /// The name used in files: `maximize` or `minimize`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maximize => "maximize",
            Self::Minimize => "minimize",
        }
    }
}

impl Score {
    /// A score; `None` when the value is not a finite number.
    pub fn new(value: f64, direction: Direction) -> Option<Self> {
        value.is_finite().then_some(Self { value, direction })
    }

    /// The number itself.
    pub fn value(self) -> f64 {
        self.value
    }

    /// Another value on the same metric.
    #[must_use]
    pub fn of_value(self, value: f64) -> Self {
        Self { value, ..self }
    }

    /// How much better this score is than another: positive when it wins, in the metric's unit.
    pub fn gain_over(self, other: Self) -> f64 {
        match self.direction {
            Direction::Maximize => self.value - other.value,
            Direction::Minimize => other.value - self.value,
        }
    }

    /// Strictly better: a tie is not an improvement.
    pub fn beats(self, other: Self) -> bool {
        self.gain_over(other) > 0.0
    }

    /// Better or equal: a tie goes to the newer solution, as in Algorithms 1 and 2.
    pub fn beats_or_ties(self, other: Self) -> bool {
        self.gain_over(other) >= 0.0
    }
}

/// The best item by score, and the last of equals; `None` for an empty iterator.
pub fn last_best<T>(items: impl IntoIterator<Item = T>, score: impl Fn(&T) -> Score) -> Option<T> {
    items.into_iter().reduce(|best, next| if score(&next).beats_or_ties(score(&best)) { next } else { best })
}

/// Sorts best first; equals keep their order.
pub fn sort_best_first<T>(items: &mut [T], score: impl Fn(&T) -> Score) {
    // Gains are finite, and 0.0 and -0.0 are equal.
    let order = |a: &T, b: &T| score(b).gain_over(score(a)).partial_cmp(&0.0).unwrap_or(Ordering::Equal);
    items.sort_by(order);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(values: &[f64], direction: Direction) -> Vec<Score> {
        values.iter().map(|&value| Score::new(value, direction).unwrap()).collect()
    }

    #[test]
    fn comparison_knows_the_direction_and_its_tie_rule() {
        let check = |a, b, direction, strict, tie| {
            let pair = scores(&[a, b], direction);
            assert_eq!((pair[0].beats(pair[1]), pair[0].beats_or_ties(pair[1])), (strict, tie), "{a} {b}");
        };
        check(0.9, 0.8, Direction::Maximize, true, true);
        check(0.8, 0.9, Direction::Maximize, false, false);
        check(0.8, 0.8, Direction::Maximize, false, true);
        check(0.8, 0.9, Direction::Minimize, true, true);
        check(0.9, 0.8, Direction::Minimize, false, false);
        check(0.8, 0.8, Direction::Minimize, false, true);
    }

    #[test]
    fn only_finite_numbers_are_scores() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Score::new(value, Direction::Maximize).is_none());
        }
    }

    #[test]
    fn last_of_equals_wins_and_sorting_keeps_order() {
        let check = |values: &[f64], direction, best: usize, order: &[usize]| {
            let mut items: Vec<(usize, Score)> = scores(values, direction).into_iter().enumerate().collect();
            assert_eq!(last_best(&items, |item| item.1).unwrap().0, best);
            sort_best_first(&mut items, |item| item.1);
            assert_eq!(items.iter().map(|item| item.0).collect::<Vec<_>>(), order);
        };
        check(&[0.85, 0.88, 0.87, 0.88], Direction::Maximize, 3, &[1, 3, 2, 0]);
        check(&[0.7, 0.9, 0.8], Direction::Maximize, 1, &[1, 2, 0]);
        check(&[0.7, 0.9, 0.7], Direction::Minimize, 2, &[0, 2, 1]);
    }
}

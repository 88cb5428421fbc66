//! The order of rows by a value.

/// Rows in the order of a value, the largest first.
pub(crate) struct Ranking {
    rows: Vec<u32>,
    /// Whether the next row has another value.
    ends: Vec<bool>,
}

impl Ranking {
    /// The order of so many rows by their value.
    pub(crate) fn descending(rows: usize, value: impl Fn(usize) -> f64) -> Self {
        let mut pairs: Vec<(f64, u32)> = (0..rows as u32).map(|row| (value(row as usize), row)).collect();
        pairs.sort_unstable_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(&two.1)));
        let differs = |at: usize| pairs.get(at + 1).is_none_or(|next| next.0 != pairs[at].0);
        let ends = (0..pairs.len()).map(differs).collect();
        Self { rows: pairs.into_iter().map(|(_, row)| row).collect(), ends }
    }

    /// The rows in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().map(|row| *row as usize)
    }

    /// The rows in order, and whether the next one has another value.
    pub(crate) fn rows_and_ends(&self) -> impl Iterator<Item = (usize, bool)> {
        self.rows().zip(self.ends.iter().copied())
    }

    /// The rank of each row, if it were repeated as often as its weight says. Equal values share the mean rank.
    pub(crate) fn ranks(&self, weights: &[f64]) -> Vec<f64> {
        let mut ranks = vec![0.0; self.rows.len()];
        let (mut start, mut above, mut tied) = (0, 0.0, 0.0);
        for (at, (row, is_end)) in self.rows_and_ends().enumerate() {
            tied += weights[row];
            if is_end {
                let rank = above + (tied + 1.0) / 2.0;
                for row in &self.rows[start..=at] {
                    ranks[*row as usize] = rank;
                }
                (start, above, tied) = (at + 1, above + tied, 0.0);
            }
        }
        ranks
    }
}

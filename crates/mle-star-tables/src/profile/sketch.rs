//! A sample of a column's distinct values, from which it can be told whether they are also in another column.

/// The number of values kept.
const MOST: usize = 256;

/// The smallest digests of a column's distinct values. Whether a value is kept depends on the value alone, so the samples of two
/// columns have equal values in common as often as the columns do (bottom-k sketches: Cohen and Kaplan, 2007).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// In ascending order.
    digests: Vec<u64>,
    /// Whether these are all values.
    is_whole: bool,
}

impl Sketch {
    /// The sketch of values with these digests.
    pub(super) fn new(mut digests: Vec<u64>) -> Self {
        let is_whole = digests.len() <= MOST;
        if !is_whole {
            digests.select_nth_unstable(MOST);
            digests.truncate(MOST);
        }
        digests.sort_unstable();
        Self { digests, is_whole }
    }

    /// The share of these values that the other column has, too; `None` if the sketches do not tell.
    pub(crate) fn share_in(&self, other: &Self) -> Option<f64> {
        let last = if other.is_whole { u64::MAX } else { *other.digests.last()? };
        let comparable = self.digests.partition_point(|digest| *digest <= last);
        let is_found = |digest: &&u64| other.digests.binary_search(digest).is_ok();
        let found = self.digests[..comparable].iter().filter(is_found).count();
        (comparable > 0).then(|| found as f64 / comparable as f64)
    }
}

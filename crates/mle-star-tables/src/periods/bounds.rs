//! Where a period begins and ends.

/// The first and the last time of a period, and the last time of the rows that its models learn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) learn: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Bounds {
    /// Whether a time lies in the period.
    pub(crate) fn has(&self, time: f64) -> bool {
        self.from <= time && time <= self.to
    }
}

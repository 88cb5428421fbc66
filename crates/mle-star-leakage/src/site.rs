//! Places in the source.

use ruff_text_size::TextRange;

/// A place in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    /// The expression.
    pub(crate) expression: TextRange,
    /// The statement that it belongs to.
    pub(crate) statement: TextRange,
}

impl PartialOrd for Site {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Site {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |site: &Self| (site.expression.start(), site.expression.end(), site.statement.start());
        key(self).cmp(&key(other))
    }
}

//! Two columns whose values go together: users and what they rate, shops and what they sell.
//!
//! How they do is no property of either, so models get factors of both that are learnt together (matrix factorisation,
//! as in Koren, Bell and Volinsky, 2009).

use crate::problem::Problem;

/// Of fewer categories, models learn all pairs by themselves.
const MIN_LEVELS: usize = 20;
/// Of fewer rows, there are no factors to learn.
const MIN_ROWS: usize = 5;

impl Problem {
    /// This problem with two columns of many categories as a pair, if each category has some rows and the target is one
    /// number, or one of two classes.
    pub(crate) fn with_pair(self) -> Self {
        let has_rows =
            |(_, levels): &&(&String, usize)| *levels >= MIN_LEVELS && levels * MIN_ROWS <= self.used_rows;
        let found = self.offered.levels(&self.columns.many_levels);
        let found: Vec<_> = found.iter().filter(has_rows).collect();
        let pair = match found.as_slice() {
            [(one, _), (other, _), ..] if self.classes <= 2 && self.several.is_empty() => {
                Some([one, other].map(|name| (*name).clone()))
            }
            _ => None,
        };
        Self { pair, ..self }
    }
}

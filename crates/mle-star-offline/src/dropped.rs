//! Columns that are not features because they say something about the target in the training table only.
//!
//! They become known during a run, so a script carries them itself: a comment names them in every section that
//! depends on columns, and later edits of the script or of one of its blocks read it there.

use std::borrow::Cow;

use crate::problem::Problem;

/// The comment before the names.
const COMMENT: &str = "# Dropped, since they say something about the target in the training table only: ";

impl Problem {
    /// This problem without these feature columns. Unknown names are ignored, and so are all of them if no other
    /// feature is left.
    pub(crate) fn without(&self, columns: &[&str]) -> Cow<'_, Self> {
        let stays = |name: &String| !columns.contains(&name.as_str());
        let mut rest = self.clone();
        rest.own.retain(stays);
        rest.offered.retain(stays);
        let mut tables = rest.own.clone();
        self.joins.iter().for_each(|join| tables.append(&join.gives()));
        tables.retain(stays);
        rest = rest.with_columns(tables);
        if rest.columns == self.columns || rest.columns.is_empty() {
            return Cow::Borrowed(self);
        }
        rest.varied.retain(stays);
        rest.history = rest.history.filter(|history| history.series.iter().all(stays));
        rest.dropped = Some(format!("{COMMENT}{}", serde_json::json!(columns)));
        Cow::Owned(rest)
    }

    /// This problem as a script or one of its sections has it: without the columns that it has dropped.
    pub(crate) fn seen_by(&self, code: &str) -> Cow<'_, Self> {
        let names = code.lines().find_map(|line| line.strip_prefix(COMMENT));
        let columns: Vec<String> =
            names.and_then(|names| serde_json::from_str(names).ok()).unwrap_or_default();
        self.without(&columns.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

//! Copies of labelled rows, in each of which one column is permuted: scripts predict them, so that the scores of the copies tell
//! how much a script depends on each column.

use std::path::PathBuf;

use mle_star_domain::protocol::SplitKind;
use mle_star_domain::question::ImportanceRows;
use serde_json::{Value, json};

use super::Evaluator;
use crate::script::plane::absolute;

/// The labelled rows that are copied.
#[derive(Clone, Debug)]
pub(crate) struct CopiedRows {
    pub(crate) on: ImportanceRows,
    /// The data whose test table has them.
    pub(crate) folder: PathBuf,
    /// A table with their IDs.
    pub(crate) ids: PathBuf,
    /// The sample submission of the data.
    pub(crate) sample: Option<PathBuf>,
}

impl Evaluator {
    /// Why the importance of columns is not computed with this metric, if it is not.
    pub(crate) fn computes_no_importance(&self) -> Option<String> {
        let say = |name| {
            format!("the metric is that of {name}, so the program does not compute the importance of columns")
        };
        self.setup.metric_file.as_ref().map(|file| say(&file.name))
    }

    /// The question for copies of these rows.
    pub(crate) fn copies(&self, rows: &CopiedRows) -> Value {
        let setup = &self.setup;
        let split = setup.split.as_ref();
        let by = split.filter(|split| matches!(split.kind, SplitKind::Groups | SplitKind::Time));
        let of_split = by.and_then(|split| split.column.clone());
        let of_groups = split.into_iter().flat_map(|split| split.groups.iter().chain(&split.series).cloned());
        let kept: Vec<String> = self
            .targets()
            .into_iter()
            .chain(of_split)
            .chain(of_groups)
            .chain(setup.columns.cluster.clone())
            .chain(setup.columns.weight.clone())
            .collect();
        json!({
            "question": "permuted",
            "folder": absolute(&rows.folder),
            "ids": absolute(&rows.ids),
            "id": setup.id_column,
            "kept": kept,
        })
    }
}

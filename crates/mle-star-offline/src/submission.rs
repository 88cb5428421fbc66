//! What the submission file looks like: its columns, and which values they want.

use mle_star::stop::Trouble;
use mle_star::task::Task;
use serde::Serialize;

use crate::metric::Metric;
use crate::problem::input_path;
use mle_star_data::profile::{Column, Profile, Table};

/// The submission's shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Layout {
    pub(crate) kind: LayoutKind,
    /// The sample submission's path.
    pub(crate) sample_file: Option<String>,
    /// Rows are matched by id rather than by position.
    pub(crate) by_id: bool,
    /// The predicted column, where there is one.
    pub(crate) column: String,
    /// One predicted column per class, in the sample's order.
    pub(crate) class_columns: Vec<String>,
    /// What stands before the class label in `class_columns`.
    pub(crate) prefix: String,
}

/// Which values a submission wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LayoutKind {
    Value,
    Label,
    Probability,
    PerClass,
    PerClassInOrder,
}

impl Layout {
    /// Is this a column that the submission predicts?
    pub(crate) fn predicts(&self, column: &str) -> bool {
        self.column == column || self.class_columns.iter().any(|name| name == column)
    }
}

/// Reads the shape off the sample submission, or makes the plain one: id and target.
///
/// # Errors
/// When the sample asks for several targets.
pub(crate) fn layout(
    task: &Task,
    profile: &Profile,
    target: &Column,
    metric: &Metric,
    classes: usize,
) -> Result<Layout, Trouble> {
    let id = task.id_column.as_deref();
    let wanted = wanted_columns(profile.sample.as_ref(), profile.test.as_ref(), id, target);
    let mut layout = Layout {
        kind: LayoutKind::Value,
        sample_file: profile.sample.as_ref().map(input_path),
        by_id: matched_by_id(profile, id),
        column: wanted.first().map_or_else(|| target.name.clone(), |name| (*name).to_owned()),
        class_columns: Vec::new(),
        prefix: String::new(),
    };
    layout.kind = match (wanted.len(), classes) {
        (0 | 1, 0) => LayoutKind::Value,
        (0 | 1, _) if metric.labels => LayoutKind::Label,
        (0 | 1, 2) => LayoutKind::Probability,
        (0, _) => LayoutKind::PerClass,
        (1, _) => LayoutKind::Label,
        (count, classes) if count == classes && !metric.labels => {
            layout.column = String::new();
            layout.class_columns = wanted.iter().map(|name| (*name).to_owned()).collect();
            match class_prefix(&layout.class_columns, target) {
                Some(prefix) => {
                    layout.prefix = prefix;
                    LayoutKind::PerClass
                }
                None => LayoutKind::PerClassInOrder,
            }
        }
        _ if wanted.contains(&target.name.as_str()) && metric.labels => {
            layout.column = target.name.clone();
            LayoutKind::Label
        }
        _ => return Err(several_targets(&wanted)),
    };
    Ok(layout)
}

fn several_targets(wanted: &[&str]) -> Trouble {
    let names = wanted.iter().take(4).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Trouble::new(
        format!("the sample submission asks for several columns ({names}) that are not the target's classes"),
        "the built-in rules predict one target; give `target_column` and `id_column`, or use `--agents claude`",
    )
}

/// The sample's columns that are to be predicted: neither the id nor copied from the test table.
fn wanted_columns<'a>(
    sample: Option<&'a Table>,
    test: Option<&Table>,
    id: Option<&str>,
    target: &Column,
) -> Vec<&'a str> {
    let Some(sample) = sample else { return Vec::new() };
    let copied = |name: &str| {
        id == Some(name) || (name != target.name && test.is_some_and(|test| test.column(name).is_some()))
    };
    sample.columns.iter().map(|column| column.name.as_str()).filter(|name| !copied(name)).collect()
}

fn matched_by_id(profile: &Profile, id: Option<&str>) -> bool {
    let unique = |table: Option<&Table>| {
        let (Some(table), Some(id)) = (table, id) else { return false };
        table.column(id).is_some_and(|column| column.distinct == table.rows.min(100_000))
    };
    unique(profile.sample.as_ref()) && unique(profile.test.as_ref())
}

/// What must be put before a class label to make a column's name; `None` when the names are others.
fn class_prefix(columns: &[String], target: &Column) -> Option<String> {
    let labels: Vec<&str> = target.top_values.iter().map(|(label, _)| label.as_str()).collect();
    let first = labels.first()?;
    let candidates = columns.iter().filter_map(|column| column.strip_suffix(first));
    let fits = |prefix: &&str| {
        labels.iter().all(|label| columns.iter().any(|column| *column == format!("{prefix}{label}")))
    };
    candidates.into_iter().find(fits).map(str::to_owned)
}

//! The layout of the submission file: its columns and their values.

use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use serde::Serialize;

use crate::columns::input_path;
use crate::metric::Metric;
use mle_star_tables::metrics::bounds;
use mle_star_tables::profile::{ClassColumn, Column, Profile, Table};

/// The layout of the submission.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Layout {
    pub(crate) kind: LayoutKind,
    /// The sample submission's path.
    pub(crate) sample_file: Option<String>,
    /// Whether rows are matched by ID, not by position.
    pub(crate) by_id: bool,
    /// The predicted column, if there is one.
    pub(crate) column: String,
    /// One predicted column per class or target, in the sample's order.
    pub(crate) class_columns: Vec<String>,
    /// The prefix of the class label in `class_columns`.
    pub(crate) prefix: String,
    /// The class label of each of `class_columns`, if they are not a prefix and the label.
    pub(crate) class_labels: Vec<String>,
    /// Those of `class_labels` that no training row has; they are called like their columns.
    pub(crate) absent: Vec<String>,
    /// The ID column, if the training table has it.
    #[serde(skip)]
    pub(crate) train_id: Option<String>,
    /// Whether the training table has the column that names rows; if not, rows are numbered.
    pub(crate) named: bool,
    /// The columns of validation predictions that are not predicted: first the row's name.
    pub(crate) copied: Vec<String>,
    /// Whether the submission has the column that names rows.
    pub(crate) names_rows: bool,
    /// Whether scripts write the scores behind predicted classes too.
    pub(crate) class_scores: bool,
    /// The columns of validation predictions, if the sample has them in another order.
    pub(crate) order: Option<Vec<String>>,
}

/// The values of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LayoutKind {
    Value,
    Label,
    Probability,
    PerClass,
    PerClassInOrder,
    /// The most probable classes, the best first, with blanks between them.
    Guesses,
    /// A lower and an upper bound.
    Bounds,
    /// One column for each of several targets.
    Several,
}

/// The layout of the sample submission, else ID and target.
///
/// # Errors
/// The sample has several targets.
pub(crate) fn layout(
    task: &Task,
    profile: &Profile,
    target: &Column,
    metric: &Metric,
    classes: usize,
    several: &[String],
) -> Result<Layout, Trouble> {
    let id = task.roles.id.as_deref();
    let wanted = wanted_columns(profile.sample.as_ref(), profile.test.as_ref(), id, target);
    let mut layout = Layout {
        kind: LayoutKind::Value,
        sample_file: profile.sample.as_ref().map(input_path),
        by_id: matched_by_id(profile, id),
        column: wanted.first().map_or_else(|| target.name.clone(), |name| (*name).to_owned()),
        class_columns: Vec::new(),
        prefix: String::new(),
        class_labels: Vec::new(),
        absent: Vec::new(),
        train_id: None,
        named: false,
        names_rows: false,
        class_scores: false,
        copied: Vec::new(),
        order: None,
    };
    layout.kind = fill_in(&mut layout, (profile, &wanted), target, metric, classes, several)?;
    copy_columns(&mut layout, profile, id, &wanted);
    let rows = &layout.copied[0];
    layout.names_rows =
        profile.sample.as_ref().map_or(id == Some(rows), |sample| sample.column(rows).is_some());
    let is_class = target.top_values.iter().any(|(label, _)| label == rows);
    layout.class_scores = metric.labels && layout.kind == LayoutKind::Label && !is_class;
    Ok(layout)
}

/// Fills in the predicted columns, and returns what they hold.
///
/// # Errors
/// The columns are not what the metric needs.
fn fill_in(
    layout: &mut Layout,
    (profile, wanted): (&Profile, &[&str]),
    target: &Column,
    metric: &Metric,
    classes: usize,
    several: &[String],
) -> Result<LayoutKind, Trouble> {
    Ok(match (wanted.len(), classes) {
        (2, 0) if metric.bounds.is_some() => {
            let names: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
            layout.column = String::new();
            layout.class_columns = bounds(&names).map_or(names, |bounds| bounds.to_vec());
            LayoutKind::Bounds
        }
        _ if metric.bounds.is_some() => {
            return Err(Trouble::new(
                format!(
                    "{} needs two predicted columns, a lower and an upper bound, but the sample submission has {}",
                    metric.id,
                    wanted.len()
                ),
                "set another `evaluation_metric` (`--metric`), or `id_column` (`--id-column`)",
            ));
        }
        _ if !several.is_empty() => {
            if let Some(other) = wanted.iter().find(|name| !several.iter().any(|target| target == *name)) {
                return Err(unknown_column(other));
            }
            layout.column = String::new();
            layout.class_columns = several.to_vec();
            LayoutKind::Several
        }
        (0 | 1, 0) => LayoutKind::Value,
        (0 | 1, _) if metric.labels => LayoutKind::Label,
        (0 | 1, _) if metric.guesses.is_some() => LayoutKind::Guesses,
        (0 | 1, 2) => LayoutKind::Probability,
        (0, _) => LayoutKind::PerClass,
        (1, _) => LayoutKind::Label,
        (count, classes) if count == classes && !metric.labels => {
            layout.column = String::new();
            layout.class_columns = wanted.iter().map(|name| (*name).to_owned()).collect();
            if let Some(prefix) = class_prefix(&layout.class_columns, target) {
                layout.prefix = prefix;
                LayoutKind::PerClass
            } else if let Some(columns) = profile.classes_of(&layout.class_columns) {
                label_columns(layout, columns);
                LayoutKind::PerClass
            } else {
                LayoutKind::PerClassInOrder
            }
        }
        (count, classes) if count > classes && classes > 1 && !metric.labels => {
            layout.column = String::new();
            layout.class_columns = wanted.iter().map(|name| (*name).to_owned()).collect();
            let columns = profile.classes_of(&layout.class_columns);
            label_columns(layout, columns.ok_or_else(|| several_targets(wanted))?);
            LayoutKind::PerClass
        }
        _ if wanted.contains(&target.name.as_str()) && metric.labels => {
            layout.column = target.name.clone();
            LayoutKind::Label
        }
        _ => return Err(several_targets(wanted)),
    })
}

/// Fills in the class of each column.
fn label_columns(layout: &mut Layout, columns: Vec<ClassColumn>) {
    let is_absent = |column: &&ClassColumn| column.class.is_none();
    layout.absent = columns.iter().filter(is_absent).map(|column| column.column.clone()).collect();
    layout.class_labels = columns
        .into_iter()
        .map(|ClassColumn { column, class }| class.map_or(column, |class| class.trim().to_owned()))
        .collect();
}

/// Fills in the columns of validation predictions that are copied from the training table.
fn copy_columns(layout: &mut Layout, profile: &Profile, id: Option<&str>, wanted: &[&str]) {
    let sample = profile.sample.iter().flat_map(|sample| &sample.columns).map(|column| column.name.as_str());
    let known = |name: &str| profile.train.column(name).is_some();
    let others: Vec<&str> = sample.clone().filter(|name| !wanted.contains(name)).collect();
    let row = id.or(others.first().copied()).unwrap_or("row");
    layout.named = known(row);
    layout.train_id = id.filter(|id| known(id)).map(str::to_owned);
    let copied = others.into_iter().filter(|name| *name != row && known(name));
    layout.copied = std::iter::once(row).chain(copied).map(str::to_owned).collect();
    let predicted = match layout.class_columns.as_slice() {
        [] => std::slice::from_ref(&layout.column),
        several => several,
    };
    let columns: Vec<&String> = layout.copied.iter().chain(predicted).collect();
    let order: Vec<String> =
        sample.filter(|name| columns.iter().any(|column| column == name)).map(str::to_owned).collect();
    layout.order = (order.len() == columns.len() && !order.iter().eq(columns)).then_some(order);
}

fn several_targets(wanted: &[&str]) -> Trouble {
    let names = wanted.iter().take(4).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Trouble::new(
        format!(
            "the sample submission has several columns ({names}) that are neither targets in the training table nor classes of the target"
        ),
        "the offline agents cannot know what to write there; set `target_column` and `id_column`, or use `--agents claude`",
    )
}

fn unknown_column(name: &str) -> Trouble {
    Trouble::new(
        format!("the sample submission has several targets, and the column `{name}`, which no table has"),
        "the offline agents cannot know what to write there; use `--agents claude`",
    )
}

/// The columns of the sample to predict: neither the ID nor copied from the test table.
fn wanted_columns<'a>(
    sample: Option<&'a Table>,
    test: Option<&Table>,
    id: Option<&str>,
    target: &Column,
) -> Vec<&'a str> {
    let Some(sample) = sample else { return Vec::new() };
    let is_class = |name: &str| target.top_values.iter().any(|(label, _)| label == name);
    // Features may have the names of classes.
    let has_classes = target.top_values.iter().all(|(label, _)| sample.column(label).is_some());
    let copied = |name: &str| {
        let in_test = test.is_some_and(|test| test.column(name).is_some());
        id == Some(name) || (name != target.name && in_test && !(has_classes && is_class(name)))
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

/// The prefix that turns class labels into column names; `None` if there is none.
fn class_prefix(columns: &[String], target: &Column) -> Option<String> {
    let labels: Vec<&str> = target.top_values.iter().map(|(label, _)| label.as_str()).collect();
    let first = labels.first()?;
    let candidates = columns.iter().filter_map(|column| column.strip_suffix(first));
    let fits = |prefix: &&str| {
        labels.iter().all(|label| columns.iter().any(|column| *column == format!("{prefix}{label}")))
    };
    candidates.into_iter().find(fits).map(str::to_owned)
}

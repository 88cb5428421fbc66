//! Whether the program can compute scores itself, and by which columns.

use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::protocol::Split;
use mle_star_domain::task::{Task, TextColumn};
use mle_star_tables::metrics::{Kind, Metric};
use mle_star_tables::profile::{Column, ColumnKind, Profile, ROWS_LOOKED_AT, Table};

use super::evaluated::Evaluated;

/// The columns by which the program computes scores itself.
///
/// # Errors
/// Why it cannot, in one sentence.
pub fn verified_columns<'a>(
    task: impl Into<Evaluated<'a>>,
    profile: &Profile,
    split: Option<&Split>,
) -> Result<LabelColumns, String> {
    let task = task.into();
    let Evaluated { metric: name, target, id, weight, positive, by_file, .. } = task;
    let metric = task.built_in();
    if metric.is_none() && !by_file {
        return Err(format!("the program cannot compute the metric {name}"));
    }
    let target = target.ok_or("the target is not known")?;
    let sample = profile.sample.as_ref().ok_or("there is no sample submission")?;
    let targets = profile.targets(target, id);
    let classes_of = |name: &&str| profile.train.column(name).map(|column| column.distinct);
    let classes = targets.iter().filter_map(classes_of).max();
    let classes = classes.ok_or("the training table has no column that is to be predicted")?;
    let [sample_name, train_name] = [sample, &profile.train].map(|table| table.file.display());
    let one_column_each = targets.len() > 1 || sample.columns.len() <= 2;
    // One column cannot hold the probabilities of three classes.
    if metric.is_some_and(Metric::wants_probabilities) && classes > 2 && one_column_each {
        return Err(format!(
            "{sample_name} has one column, which cannot hold the probabilities of {classes} classes"
        ));
    }
    // A sample of probabilities, where the metric needs labels.
    let is_number = |column: &&Column| column.kind == ColumnKind::Float;
    let metric = metric.filter(|metric| metric.kind() == Kind::Labels && one_column_each);
    if let Some(metric) = metric
        && sample.columns.last().filter(is_number).is_some()
    {
        return Err(format!("{sample_name} has numbers, and {metric} needs labels"));
    }
    // The test table has what further columns ask for, so they are no targets.
    let is_copied =
        |name: &str| !targets.contains(&name) && Some(name) != id && profile.train.column(name).is_some();
    if let Some(column) = sample.columns.iter().find(|column| is_copied(&column.name)) {
        return Err(format!("{sample_name} asks for `{}`, which is no target", column.name));
    }
    let id = id.filter(|id| profile.train.column(id).is_some()).map(str::to_owned);
    if let Some(id) = id.as_ref().filter(|id| repeats(&profile.train, id)) {
        return Err(format!("a value of `{id}` occurs twice in {train_name}"));
    }
    let cluster = split.and_then(|split| split.cluster().map(str::to_owned));
    let further: Vec<String> =
        targets.into_iter().filter(|name| *name != target).map(str::to_owned).collect();
    let positive = positive.filter(|_| further.is_empty());
    let words = TextColumn::words_of(&profile.text_columns, |name| {
        name == target || further.iter().any(|other| other == name)
    });
    let [weight, positive] = [weight, positive].map(|name| name.map(str::to_owned));
    Ok(LabelColumns { id, target: target.to_owned(), further, cluster, weight, positive, words })
}

/// The column of a submission with the row IDs: without a named one, the first of several columns.
pub fn id_column(task: &Task, header: &[String]) -> Option<String> {
    let named = task.id_column.clone().filter(|id| header.contains(id));
    named.or_else(|| header.first().filter(|_| header.len() > 1).cloned())
}

/// Whether a value occurs twice in a column, judged by the rows that were looked at.
fn repeats(table: &Table, column: &str) -> bool {
    let column = table.column(column);
    column.is_some_and(|column| column.distinct + column.missing < table.rows.min(ROWS_LOOKED_AT))
}

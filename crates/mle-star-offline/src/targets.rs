//! Tasks with several targets: one script predicts all of them, and its score is the mean of the metric over them.

use mle_star_domain::trouble::Trouble;

use mle_star_tables::metrics::{Kind, Metric};
use mle_star_tables::profile::{Column, ColumnKind, Profile};

/// The targets of a task.
pub(crate) struct Targets {
    /// One column for all of them, with the name of the first.
    pub(crate) whole: Column,
    /// The names of all targets if there are several; otherwise none.
    pub(crate) several: Vec<String>,
}

/// The targets of a task, of which `target` is one.
///
/// # Errors
/// A target does not fit the metric, or there are several and one has more than two classes.
pub(crate) fn targets(
    profile: &Profile,
    target: &Column,
    id: Option<&str>,
    metric: Metric,
) -> Result<Targets, Trouble> {
    let names = profile.targets(&target.name, id);
    let columns: Vec<&Column> = names.iter().filter_map(|name| profile.train.column(name)).collect();
    columns.iter().try_for_each(|column| check_target(column, metric))?;
    if columns.len() < 2 {
        return Ok(Targets { whole: target.clone(), several: Vec::new() });
    }
    if let Some(column) = columns.iter().find(|column| !metric.is_for_regression() && column.distinct > 2) {
        return Err(Trouble::new(
            format!("there are {} targets, and `{}` has more than two classes", columns.len(), column.name),
            "the offline agents predict several numbers or several yes-or-no labels; use `--agents claude`",
        ));
    }
    let several = names.into_iter().map(str::to_owned).collect();
    Ok(Targets { whole: whole(target, &columns), several })
}

fn whole(target: &Column, columns: &[&Column]) -> Column {
    let ranges = columns.iter().map(|column| column.range);
    let both = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| Some((a?.0.min(b?.0), a?.1.max(b?.1)));
    let kind = |wanted: &[ColumnKind]| columns.iter().all(|column| wanted.contains(&column.kind));
    Column {
        name: target.name.clone(),
        kind: match target.kind {
            ColumnKind::Integer if !kind(&[ColumnKind::Integer]) => ColumnKind::Float,
            other => other,
        },
        missing: columns.iter().map(|column| column.missing).max().unwrap_or_default(),
        distinct: columns.iter().map(|column| column.distinct).min().unwrap_or_default(),
        range: ranges.reduce(both).flatten(),
        mean: None,
        huge: columns.iter().map(|column| column.huge).sum(),
        padded: 0,
        nearly_numbers: false,
        respelled: false,
        scattered: false,
        day_first: false,
        parts: None,
        ..target.clone()
    }
}

/// Checks whether a target can be learnt for a metric.
///
/// # Errors
/// The target does not fit the metric, or is the same in all rows.
fn check_target(target: &Column, metric: Metric) -> Result<(), Trouble> {
    let numeric = matches!(target.kind, ColumnKind::Integer | ColumnKind::Float);
    let kind = metric.kind_for(target.distinct);
    if kind == Kind::Sets {
        return Err(Trouble::new(
            format!("the metric is {metric}, and `{}` has several labels in a cell", target.name),
            "the offline agents predict one label or number; use `--agents claude`",
        ));
    }
    if matches!(kind, Kind::Numbers | Kind::Intervals) && !numeric {
        return Err(Trouble::new(
            format!("the metric needs a numeric target, but `{}` is not numeric", target.name),
            "set another `evaluation_metric` (`--metric`) or `target_column` (`--target`)",
        ));
    }
    if target.distinct < 2 {
        let missing = match target.missing {
            0 => String::new(),
            missing => {
                format!("; {missing} cells are empty or words such as NA and None, which mean the same")
            }
        };
        return Err(Trouble::new(
            format!("the target `{}` has fewer than two distinct values{missing}", target.name),
            "set another `target_column` (`--target`)",
        ));
    }
    Ok(())
}

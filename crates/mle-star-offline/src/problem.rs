//! The task as the templates need it: the roles of columns, the metric and the submission.
//!
//! [`Problem`] is built once from task and profile, and fails for a task that the rules cannot solve.

use mle_star_domain::config::SEED;
use mle_star_domain::protocol::Split;
use mle_star_domain::task::{Task, TaskType};
use mle_star_domain::trouble::Trouble;
use serde::Serialize;

use crate::columns::{Columns, FEW_LEVELS, input_path, is_constant, is_nearly_unique, is_number};
use crate::derived::{DerivableColumns, Derived};
use crate::grouping::{Grouping, Rows, grouping};
use crate::history::History;
use crate::joins::{Join, joins, twins};
use crate::metric::Metric;
use crate::no_features::NoFeatures;
use crate::row_time::{TimeColumn, row_time, with_parsed_times};
use crate::submission_layout::{Layout, LayoutKind, layout};
use crate::targets::{Targets, targets};
use crate::unusual::{Unusual, unusual};
use mle_star_tables::metrics::{Kind, Metric as Known};
use mle_star_tables::profile::{Column, ColumnKind, INFERENCE_ROWS, Profile, Table};
use mle_star_tables::relations::Link;

/// The shares of more classes would be too many columns.
const MAX_CLASSES: usize = 15;
/// From this number of classes on, random folds often lack one.
const MANY_CLASSES: usize = 20;

/// A random sample has to have this many rows of a class on average, so that each fold surely has some.
const MIN_SAMPLED: f64 = 20.0;

/// Templates of blends and postprocessing that take one column of predictions for each target.
const FOR_SEVERAL: [&str; 3] = ["blends/mean", "blends/weights", "posts/plain"];

/// The problem that a script solves.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) name: String,
    pub(crate) metric: Metric,
    pub(crate) classification: bool,
    /// Number of classes; 0 for a numeric target.
    pub(crate) classes: usize,
    /// A Python expression that tells the class which binary predictions are about, if it is not the last one in order.
    pub(crate) positive: Option<String>,
    /// The target, or the first of several.
    pub(crate) target: String,
    /// The names of all targets if there are several; otherwise none.
    pub(crate) several: Vec<String>,
    pub(crate) id: Option<String>,
    /// The column with the weights of rows, if any.
    pub(crate) weight: Option<String>,
    pub(crate) train_file: String,
    pub(crate) test_file: String,
    pub(crate) target_missing: bool,
    /// Number of training rows before subsampling.
    pub(crate) rows: usize,
    /// Number of training rows that scripts of the search read.
    pub(crate) used_rows: usize,
    /// How many letters the texts of these rows have.
    pub(crate) letters: f64,
    /// Row limit of the search, if the table is larger.
    pub(crate) subsample: Option<u32>,
    pub(crate) columns: Columns,
    /// The feature columns without those of auxiliary tables and computed ones.
    #[serde(skip)]
    pub(crate) own: Columns,
    /// What the tables offer for computed columns.
    #[serde(skip)]
    pub(crate) offered: DerivableColumns,
    /// The columns that scripts compute from others.
    pub(crate) derived: Derived,
    /// Numeric columns, the most varied first.
    pub(crate) varied: Vec<String>,
    /// Auxiliary tables that are joined.
    pub(crate) joins: Vec<Join>,
    /// Auxiliary tables that can be joined.
    #[serde(skip)]
    pub(crate) tables: Vec<Join>,
    /// Whether every class has enough rows for each of the program's folds.
    pub(crate) stratified: bool,
    /// Whether the fitting rows of a fold may lack a class.
    pub(crate) spreads: bool,
    #[serde(flatten)]
    pub(crate) unusual: Unusual,
    /// The groups that folds keep whole, if any.
    pub(crate) grouping: Option<Grouping>,
    /// The time that separates fitting from validation rows, if any.
    pub(crate) time: Option<TimeColumn>,
    /// The series whose earlier targets are features, if any.
    pub(crate) history: Option<History>,
    /// Two columns of many categories whose values go together in a way to learn, if any.
    pub(crate) pair: Option<[String; 2]>,
    #[serde(flatten)]
    pub(crate) names: Names,
    /// Python: the comment that names the columns that a script has dropped, if any.
    pub(crate) dropped: Option<String>,
    pub(crate) folds: usize,
    /// The seed of everything random in a script but the rows of the sample.
    pub(crate) seed: u32,
    /// The seed of the sample, the same in all scripts of a run: predictions for other rows cannot be combined.
    pub(crate) sample_seed: u32,
    /// What scikit-learn's target encoder calls it: `continuous`, or `auto` for classes, of which few may be present.
    pub(crate) target_type: &'static str,
    /// Share of the rarest class; 1 for numeric targets.
    pub(crate) rarest: f64,
    /// Smallest and largest value of a numeric target.
    pub(crate) target_range: (f64, f64),
    pub(crate) integer_target: bool,
    /// The scale on which models learn a numeric target: `plain` or `log`.
    pub(crate) scale: &'static str,
    pub(crate) layout: Layout,
}

/// The shares of classes, and what follows for folds.
struct Shares {
    rarest: f64,
    stratified: bool,
    unequal_classes: bool,
}

/// The file `input/folds.csv`, as scripts read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct FoldsFile {
    /// The column that names rows; `None` if the file has their numbers.
    pub(crate) id: Option<String>,
    /// How much earlier than a validated period the rows that its models learn from are, beyond the usual step: in seconds for
    /// dates, else in the unit of the time; 0 for splits other than time.
    pub(crate) gap: f64,
    /// Whether the score is the mean over the folds.
    pub(crate) averages: bool,
}

/// How folds are chosen, and Python expressions that depend on it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Names {
    /// The targets of the rows that have out-of-fold predictions.
    pub(crate) truth: &'static str,
    /// The weights of these rows, if rows have weights.
    pub(crate) weights: &'static str,
    /// The folds of these rows, for what is tuned on out-of-fold predictions.
    pub(crate) tuning: &'static str,
    /// The file with the folds, if the program has written one.
    pub(crate) folds_file: Option<FoldsFile>,
    /// The folds within fitting rows, for cross-fitted target means.
    pub(crate) inner_folds: &'static str,
}

impl Shares {
    /// Those of a target with this number of classes, in this many rows, which may be a sample.
    fn of(target: &Column, classes: usize, (used, is_sample): (usize, bool), several: &[String]) -> Self {
        let rarest = if classes == 0 { 1.0 } else { target.rarest };
        // Of many classes, each fold has a row of each at least.
        let fewest = match classes {
            _ if is_sample => MIN_SAMPLED,
            MANY_CLASSES.. => 5.0,
            _ => 10.0,
        };
        let stratified = several.is_empty() && classes > 0 && rarest * used as f64 >= fewest;
        Self { rarest, stratified, unequal_classes: stratified && rarest * classes as f64 <= 0.8 }
    }
}

impl Problem {
    /// The problem of a task with this profile.
    ///
    /// # Errors
    /// The rules cannot solve this task; the hint names the field to set.
    #[expect(clippy::too_many_lines, reason = "most of them are fields")]
    pub(crate) fn new(
        task: &Task,
        profile: &Profile,
        subsample_limit: u32,
        split: Option<&Split>,
    ) -> Result<Self, Trouble> {
        let (target, id) = (known_target(task, profile)?, task.roles.id.as_deref());
        let (metric_id, test) = (known_metric(task, profile, target)?, known_test(profile)?);
        let Targets { whole: target, several } = &targets(profile, target, id, metric_id)?;
        let classes = classes(target, metric_id);
        let (time, metric) = (row_time(split, profile, id), Metric::new(metric_id));
        let layout = layout(task, profile, target, &metric, classes, several)?;
        let (rows, used) = (profile.train.rows, profile.train.rows.min(subsample_limit as usize));
        let Shares { rarest, stratified, unequal_classes } =
            Shares::of(target, classes, (used, used < rows), several);
        let others = [Some(target.name.as_str()), id, Some(&layout.column)];
        let no_features = NoFeatures::of(task, time.as_ref(), others);
        let (taken, targets) = (|name: &str| no_features.has(name), all_targets(&target.name, several));
        let grouping = grouping(split, profile, &Rows { used, unequal_classes }, taken);
        let links = no_features.links(profile);
        let (columns, offered) = useful_columns((profile, time.as_ref()), &links, grouping.as_ref(), taken)?;
        let unusual = unusual(profile, id, target, &metric, time.as_ref(), &columns);
        let length = |name: &String| profile.train.column(name).map_or(0.0, |column| column.mean_length);
        let tables = joins(&no_features.without(profile), &links, &targets, &unusual.as_text);
        Self {
            name: task.competition_id.clone(),
            classification: classes > 0,
            classes,
            positive: positive(target, classes, &layout, task.roles.positive.as_deref()),
            target: target.name.clone(),
            several: several.clone(),
            id: id.filter(|id| test.column(id).is_some()).map(str::to_owned),
            weight: task.roles.weight.clone(),
            train_file: input_path(&profile.train),
            test_file: input_path(test),
            target_missing: target.missing > 0 || rows > INFERENCE_ROWS,
            rows,
            used_rows: used,
            letters: used as f64 * columns.texts.iter().map(length).sum::<f64>(),
            subsample: (rows > used).then_some(subsample_limit),
            varied: varied(&profile.train, &columns),
            own: columns,
            offered,
            columns: Columns::default(),
            derived: Derived::default(),
            joins: Vec::new(),
            tables: tables.clone(),
            stratified,
            spreads: grouping.is_some() || !stratified,
            folds: folds(used, grouping.as_ref()),
            seed: SEED,
            sample_seed: SEED,
            names: names(grouping.is_some(), time.is_some()),
            grouping,
            time,
            history: None,
            pair: None,
            dropped: None,
            unusual,
            target_type: if classes > 0 { "auto" } else { "continuous" },
            rarest,
            target_range: target.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY)),
            integer_target: target.kind == ColumnKind::Integer,
            scale: default_scale(target, metric_id),
            metric,
            layout,
        }
        .with_joins(tables)
        .checked()
    }

    /// This problem if there is anything to learn from.
    ///
    /// # Errors
    /// There is not.
    fn checked(self) -> Result<Self, Trouble> {
        if self.own.is_empty() && self.tables.is_empty() && self.offered.is_empty() {
            return Err(Trouble::new(
                "train and test have no usable feature column in common",
                "the offline agents need tables; use `--agents claude` for images, audio and other data",
            ));
        }
        Ok(self)
    }

    /// The names of all targets.
    pub(crate) fn targets(&self) -> Vec<String> {
        if self.several.is_empty() { vec![self.target.clone()] } else { self.several.clone() }
    }

    /// The number of classes that the metric compares, or 0 for numbers: those that the submission has columns for, but an order
    /// of rows is that of one class against the rest.
    pub(crate) fn compared_classes(&self) -> usize {
        if self.metric.by_order { self.classes } else { self.classes + self.layout.absent.len() }
    }

    /// Number of feature columns of every kind.
    pub(crate) fn width(&self) -> usize {
        self.columns.all().count()
    }

    /// Number of values that models of the search read; a text becomes forty columns.
    pub(crate) fn cells(&self) -> usize {
        (self.used_rows * (self.width() + 40 * self.columns.texts.len())).max(1)
    }

    /// Number of values that a round of boosting reads in all folds: there is a tree for each class.
    pub(crate) fn cells_of_trees(&self) -> usize {
        self.cells() * self.folds * if self.classes > 2 { self.classes } else { 1 }
    }

    /// Whether trees are fast and good only if each looks at a part of the columns.
    pub(crate) fn is_wide(&self) -> bool {
        self.width() > 40
    }

    /// This problem with these auxiliary tables joined, and no others.
    pub(crate) fn with_joins(&self, joins: Vec<Join>) -> Self {
        let mut columns = self.own.clone();
        for join in &joins {
            columns.append(&join.gives());
        }
        Self { joins, ..self.clone() }.with_columns(columns)
    }

    /// This problem with the columns of the training table as they are; unchanged if no feature is among them.
    pub(crate) fn plain(&self) -> Self {
        if self.own.is_empty() {
            return self.clone();
        }
        let (columns, derived) = (self.own.clone(), Derived::default());
        Self { columns, derived, joins: Vec::new(), pair: None, history: None, ..self.clone() }
    }

    /// This problem with the history of its series, if the test rows are later rows of the same series and there is one
    /// target, a number or one of a few classes.
    pub(crate) fn with_history(self, profile: &Profile) -> Self {
        let time = self.time.as_ref().filter(|_| self.classes <= MAX_CLASSES && self.several.is_empty());
        let history = time.and_then(|time| History::of(profile, time));
        Self { history, ..self }
    }

    /// Whether a blend or a postprocessing works for the targets of this problem.
    pub(crate) fn can_use(&self, template: &str) -> bool {
        let by_class = template == "blends/weights" && self.classification;
        self.several.is_empty() || (FOR_SEVERAL.contains(&template) && !by_class)
    }

    /// This problem with these columns of tables, and what is computed from them.
    pub(crate) fn with_columns(self, mut columns: Columns) -> Self {
        let summaries = self.joins.iter().filter(|join| !join.unique);
        let summarised: Vec<String> = summaries.flat_map(|join| join.gives().numeric).collect();
        let (derived, gives) = self.offered.derived(&columns, &summarised, &twins(&self.joins));
        columns.append(&gives);
        Self { columns, derived, ..self }.with_pair()
    }
}

/// The number of classes of a target, or 0 if the metric compares numbers.
fn classes(target: &Column, metric: Known) -> usize {
    match metric.kind_for(target.distinct) {
        Kind::Numbers | Kind::Intervals => 0,
        _ => target.distinct,
    }
}

fn all_targets<'a>(target: &'a String, several: &'a [String]) -> Vec<&'a str> {
    let all = if several.is_empty() { std::slice::from_ref(target) } else { several };
    all.iter().map(String::as_str).collect()
}

fn known_target<'a>(task: &Task, profile: &'a Profile) -> Result<&'a Column, Trouble> {
    let name = task.target().ok_or_else(|| {
        Trouble::new("the target column is unknown", "set `target_column` in the task, or `--target`")
    })?;
    profile.train.column(name).ok_or_else(|| {
        Trouble::new(
            format!("the target `{name}` is not a column of {}", profile.train.file.display()),
            "set `target_column` in the task, or `--target`",
        )
    })
}

fn known_test(profile: &Profile) -> Result<&Table, Trouble> {
    profile.test.as_ref().ok_or_else(|| {
        Trouble::new("the data folder has no test table", "put the rows to predict into `test.csv`")
    })
}

/// The metric that scripts compute. With a metric file, which they cannot call, it is one for predictions of the same kind; the
/// program scores them by the file.
fn known_metric(task: &Task, profile: &Profile, target: &Column) -> Result<Known, Trouble> {
    if task.metric_file.is_some() {
        return Ok(stand_in(task, profile, target));
    }
    Known::parse(&task.evaluation_metric).ok_or_else(|| {
        Trouble::new(
            format!("the offline agents do not know the metric `{}`", task.evaluation_metric),
            format!(
                "set `evaluation_metric` in the task, or `--metric`, to one of these: {}",
                Known::listed()
            ),
        )
    })
}

/// The usual metric for what the submission holds.
fn stand_in(task: &Task, profile: &Profile, target: &Column) -> Known {
    if target.kind.is_number() && task.task_type == TaskType::Regression {
        return Known::Rmse;
    }
    let id = task.roles.id.as_deref();
    let sample = profile.sample.iter().flat_map(|sample| &sample.columns);
    let predicted: Vec<&Column> = sample.filter(|column| id != Some(column.name.as_str())).collect();
    let has_fractions = predicted.iter().any(|column| column.kind == ColumnKind::Float);
    let numbers_for_texts =
        !target.kind.is_number() && predicted.iter().any(|column| column.kind.is_number());
    let is_wide = predicted.len() > 1 && predicted.len() >= target.distinct;
    match target.distinct {
        _ if is_wide => Known::LogLoss,
        2 if has_fractions || numbers_for_texts => Known::LogLoss,
        _ => Known::Accuracy,
    }
}

/// The feature columns without those that only name groups, unless there are no others, and what can be computed from them.
fn useful_columns(
    (profile, time): (&Profile, Option<&TimeColumn>),
    links: &[Link],
    grouping: Option<&Grouping>,
    taken: impl Fn(&str) -> bool,
) -> Result<(Columns, DerivableColumns), Trouble> {
    let profile = &with_parsed_times(profile, time);
    let test = known_test(profile)?;
    let excluded = |name: &str| taken(name) || grouping.is_some_and(|grouping| grouping.names(name));
    let columns = feature_columns(profile, test, links, excluded);
    let offered = DerivableColumns::new(profile, test, &columns, excluded);
    if columns.is_empty() && offered.is_empty() && profile.auxiliary.is_empty() {
        return Ok((feature_columns(profile, test, links, taken), offered));
    }
    Ok((columns, offered))
}

fn feature_columns(profile: &Profile, test: &Table, links: &[Link], taken: impl Fn(&str) -> bool) -> Columns {
    let train = &profile.train;
    let is_key = |name: &String| links.iter().any(|link| link.to.is_none() && link.columns.contains(name));
    let mut columns = Columns::default();
    for column in &train.columns {
        let Some(twin) = test.column(&column.name) else { continue };
        let mut agreed = agreed(column, twin);
        // Keys have to be equal in all tables.
        agreed.nearly_numbers &= !is_key(&column.name);
        if taken(&column.name) || is_constant(column) || is_row_name(&agreed, train.rows.min(INFERENCE_ROWS))
        {
            continue;
        }
        columns.add(column.name.clone(), &agreed);
    }
    columns
}

/// Text codes that differ in almost every row that was looked at are not useful as features.
fn is_row_name(column: &Column, rows: usize) -> bool {
    let is_code = column.kind == ColumnKind::Category && !is_number(column);
    is_code && is_nearly_unique(column, rows.saturating_sub(column.missing))
}

/// A column of numbers in the training table alone is a category.
fn agreed(train: &Column, test: &Column) -> Column {
    let same = match test.kind {
        ColumnKind::Integer | ColumnKind::Float | ColumnKind::Empty => true,
        _ => test.nearly_numbers && train.distinct > FEW_LEVELS,
    };
    Column {
        kind: if train.kind.is_number() && !same { ColumnKind::Category } else { train.kind },
        nearly_numbers: train.nearly_numbers && same,
        day_first: train.day_first || test.day_first,
        ..train.clone()
    }
}

fn varied(table: &Table, columns: &Columns) -> Vec<String> {
    let distinct = |name: &String| table.column(name).map_or(0, |column| column.distinct);
    let mut names: Vec<String> = columns.numeric.iter().filter(|name| distinct(name) > 2).cloned().collect();
    names.sort_by_key(|name| std::cmp::Reverse(distinct(name)));
    names
}

/// A Python expression that tells the positive label, unless it is the second one anyway: the named class, else the class that
/// a column of probabilities has the name of. Otherwise `yes` and `true` are what the program's own score is about, also
/// where capitals put them first.
fn positive(target: &Column, classes: usize, layout: &Layout, named: Option<&str>) -> Option<String> {
    let labels: Vec<&String> = target.top_values.iter().map(|(label, _)| label).collect();
    let [a, b] = labels[..] else { return None };
    if classes != 2 {
        return None;
    }
    if target.kind.is_number() {
        let number = |label: &str| label.trim().parse::<f64>().ok();
        let (positive, first) = (number(named?)?, number(a)?.min(number(b)?));
        return (positive == first).then(|| format!("float(label) == {positive}"));
    }
    let is_given = |label: &&String| Some(label.trim()) == named.map(str::trim);
    let is_named = |label: &&String| layout.kind == LayoutKind::Probability && **label == layout.column;
    let is_yes = |label: &&String| ["yes", "true"].contains(&label.to_lowercase().as_str());
    let find = |is: &dyn Fn(&&String) -> bool| [a, b].into_iter().find(is);
    let positive = find(&is_given).or_else(|| find(&is_named)).or_else(|| find(&is_yes))?;
    let is_first = [a, b].into_iter().any(|other| positive < other);
    // A JSON text is one of Python, too.
    is_first.then(|| format!("str(label).strip() == {}", serde_json::Value::from(positive.trim())))
}

/// The number of folds: fewer for many rows, and at most the number of groups.
fn folds(used: usize, grouping: Option<&Grouping>) -> usize {
    let samples = grouping.map_or(used, |grouping| grouping.groups.min(used));
    if samples < 3_000 { samples.min(5) } else { 3 }
}

fn names(by_group: bool, in_time: bool) -> Names {
    let (truth, weights, tuning, inner_folds) = match (by_group, in_time) {
        (true, _) => ("y", "WEIGHTS", "FOLDS", "inner_folds(fit)"),
        // Without shuffling, the inner folds are stretches of time.
        (false, true) => ("TRUTH", "WEIGHTS[VALIDATED]", "TUNING", "KFold(5)"),
        (false, false) => ("y", "WEIGHTS", "FOLDS", "KFold(5, shuffle=True, random_state=SEED)"),
    };
    Names { truth, weights, tuning, folds_file: None, inner_folds }
}

/// An absolute error wants the median, which stays the median on any scale. Products of columns are easier to learn as
/// logarithms.
fn default_scale(target: &Column, metric: Known) -> &'static str {
    const LONG_TAIL: f64 = 4.0;
    let Some((low, high)) = target.range else { return "plain" };
    let has_long_tail = target.mean.is_some_and(|mean| high > LONG_TAIL * mean);
    match metric {
        Known::Rmsle | Known::Mape | Known::Smape if low >= 0.0 => "log",
        Known::Mae | Known::MedianAbsoluteError if low >= 0.0 && has_long_tail => "log",
        _ => "plain",
    }
}

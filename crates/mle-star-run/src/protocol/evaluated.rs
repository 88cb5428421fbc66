//! What the protocol of a task depends on.

use mle_star_domain::task::Task;
use mle_star_tables::facts::Inferred;
use mle_star_tables::metrics::Metric;
use mle_star_tables::split::Known;

/// What the protocol of a task depends on, beside its tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evaluated<'a> {
    /// The name of its metric.
    pub metric: &'a str,
    /// The column to predict.
    pub target: Option<&'a str>,
    /// The column with the row IDs.
    pub id: Option<&'a str>,
    /// Whether a file computes the metric, whatever its name is.
    pub by_file: bool,
    /// The column that the user named for groups.
    pub group: Option<&'a str>,
    /// The column that the user named for times.
    pub time: Option<&'a str>,
    /// The column with the weights of rows.
    pub weight: Option<&'a str>,
    /// The folds that the user gives.
    pub folds: Option<&'a str>,
    /// Columns that no model may use.
    pub ignored: &'a [String],
    /// The label, of two, whose probability is predicted.
    pub positive: Option<&'a str>,
}

impl<'a> From<&'a Task> for Evaluated<'a> {
    fn from(task: &'a Task) -> Self {
        Self {
            metric: &task.evaluation_metric,
            target: task.target(),
            id: task.id_column.as_deref(),
            by_file: task.metric_file.is_some(),
            group: task.group_column.as_deref(),
            time: task.time_column.as_deref(),
            weight: task.weight_column.as_deref(),
            folds: task.folds.as_deref(),
            ignored: &task.ignore_columns,
            positive: task.positive_class.as_deref(),
        }
    }
}

impl<'a> Evaluated<'a> {
    /// A task as it was inferred from its folder.
    pub fn inferred(inferred: &'a Inferred) -> Self {
        let Inferred { metric, target, id, roles, .. } = inferred;
        Self {
            metric,
            target: target.as_deref(),
            id: id.as_deref(),
            group: roles.group.as_deref(),
            time: roles.time.as_deref(),
            weight: roles.weight.as_deref(),
            ignored: &roles.ignored,
            positive: roles.positive_class.as_deref(),
            by_file: false,
            folds: None,
        }
    }

    /// The same with a file that computes the metric, or not.
    #[must_use]
    pub fn with_file(self, by_file: bool) -> Self {
        Self { by_file, ..self }
    }

    /// The metric, if the program has its formula.
    pub(super) fn built_in(&self) -> Option<Metric> {
        Metric::parse(self.metric).filter(|_| !self.by_file)
    }

    /// The columns whose roles are known.
    pub fn known(self) -> Known<'a> {
        let Self { target, id, group, time, weight, .. } = self;
        Known { target, id, group, time, weight }
    }

    /// Whether the user named a column by which rows are validated or weighted.
    pub(super) fn names_columns(self) -> bool {
        self.group.or(self.time).or(self.weight).is_some()
    }
}

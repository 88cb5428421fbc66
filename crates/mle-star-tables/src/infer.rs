//! Infers the task from a data folder and its description.
//!
//! [`infer`] fills in what the user left out. Each inferred value has a reason, so that it can be shown and
//! corrected.

mod columns;
mod fit;
mod kinds;
mod metric;
mod positive;
mod roles;
mod sample_classes;

use std::fmt;

use mle_star_domain::metric::Direction;
use mle_star_domain::task::{ColumnRoles, DataModality, Targets, TaskType};
use mle_star_domain::trouble::Trouble;

use super::description::Description;
use super::profile::{Profile, Unlabelled};
use crate::metrics::Metric;

pub(crate) use kinds::MOST_CLASSES;
pub use sample_classes::{CLASSES_WITHOUT_ROWS, ClassColumn, class_columns, columns_without_rows};

/// The values that the user gave; every `None` is inferred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The kind of problem.
    pub task_type: Option<TaskType>,
    /// The kind of data.
    pub data_modality: Option<DataModality>,
    /// The metric's name.
    pub metric: Option<String>,
    /// Which scores win.
    pub direction: Option<Direction>,
    /// The columns to predict; one text may also name several, separated by commas.
    pub target: Option<Targets>,
    /// The column with the row IDs.
    pub id: Option<String>,
    /// The roles of further columns.
    pub roles: ColumnRoles,
}

/// One inferred value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The task's field, for example `target_column`.
    pub field: &'static str,
    /// Its value, as in a task file.
    pub value: String,
    /// The reason for this value.
    pub reason: String,
}

impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.field, self.value, self.reason)
    }
}

/// The task as given and inferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The kind of problem.
    pub task_type: TaskType,
    /// The kind of data.
    pub data_modality: DataModality,
    /// The metric's name.
    pub metric: String,
    /// Which scores win.
    pub direction: Direction,
    /// The column to predict, if known; the first of several.
    pub target: Option<String>,
    /// All columns to predict.
    pub targets: Vec<String>,
    /// The column with the row IDs, if any.
    pub id: Option<String>,
    /// The roles of further columns.
    pub roles: ColumnRoles,
    /// The inferred values, in the order of a task file.
    pub guesses: Vec<Guess>,
    /// Why the target is unknown and how to set it, for agents that need it.
    pub target_unknown: Option<Trouble>,
}

/// Infers what was not given. `profile` is `None` for a folder without a training table; its sample submission and its
/// files are then in `unlabelled`.
///
/// # Errors
/// A given column is in no table, the metric and the direction contradict each other, or the metric or direction
/// is neither given nor inferable. The hint names the option to set.
pub fn infer(
    profile: Option<&Profile>,
    unlabelled: &Unlabelled,
    description: &str,
    given: &Given,
) -> Result<Inferred, Trouble> {
    let mut guesses = Vec::new();
    let text = Description::read(description);
    let mut roles = roles::named(profile, &given.roles)?;
    let (id, found) = match profile {
        Some(profile) => {
            let id = columns::id(profile, given, &mut guesses)?;
            let others = columns::Others { id: id.as_deref(), roles: &roles };
            let found = columns::target(profile, &text, given.target.as_ref(), others)?;
            (id, found)
        }
        None => columns::of_sample(unlabelled.sample.as_ref(), given, &mut guesses),
    };
    let (mut targets, target_unknown) = found_targets(found, &mut guesses);
    let target = targets.first().cloned();
    if let (Some(profile), [only]) = (profile, targets.as_slice()) {
        targets = profile.targets(only, id.as_deref()).into_iter().map(str::to_owned).collect();
    }
    let held = profile.map(|profile| targets.iter().filter_map(|name| profile.train.column(name)).collect());
    let held: Vec<_> = held.unwrap_or_default();
    let named = metric::name(&text, given, &held, &mut guesses);
    let metric = named.map_err(|metric| together(metric, target_unknown.as_ref()))?;
    let direction = metric::direction(&metric, &text, given.direction, &mut guesses)?;
    if let Some(profile) = profile {
        roles::check(profile, &roles, target.as_deref(), id.as_deref())?;
    }
    let sample = profile.map_or(&unlabelled.sample, |profile| &profile.sample);
    let columns = kinds::Columns {
        profile,
        sample: sample.as_ref(),
        media: profile.map_or(unlabelled.media, |profile| profile.media),
        target: target.as_deref(),
        id: id.as_deref(),
        roles: &roles,
    };
    let data_modality = kinds::modality(columns, given.data_modality, &mut guesses);
    let task_type = kinds::task_type(columns, &metric, data_modality, given.task_type, &mut guesses);
    if let (Some(profile), Some(target)) = (profile, target.as_deref()) {
        let metric = Metric::parse(&metric);
        fit::check(profile, target, metric)?;
        if given.metric.is_none() {
            fit::check_logarithm(target, metric)?;
        }
        let may_choose = given.metric.is_none() && !text.speaks_of_scores();
        let asked =
            positive::Asked { profile, target, id: id.as_deref(), metric, description: &text, may_choose };
        roles.positive_class =
            positive::positive(asked, given.roles.positive_class.as_deref(), &mut guesses)?;
    }
    Ok(Inferred {
        task_type,
        data_modality,
        metric,
        direction,
        target,
        targets,
        id,
        roles,
        guesses,
        target_unknown,
    })
}

/// Asks for the metric and, if it is open too, for the target.
fn together(metric: Trouble, target: Option<&Trouble>) -> Trouble {
    let Some(target) = target else { return metric };
    let message = format!("{}, and {}", metric.message, target.message);
    Trouble::new(message, format!("{}; {}", metric.hint, target.hint))
}

/// The columns to predict, or why they are unknown. A guess is told.
fn found_targets(found: columns::Target, guesses: &mut Vec<Guess>) -> (Vec<String>, Option<Trouble>) {
    match found {
        columns::Target::Given(name) => (vec![name], None),
        columns::Target::Several(names) => (names, None),
        columns::Target::Guessed(guess) => {
            let name = guess.value.clone();
            guesses.push(guess);
            (vec![name], None)
        }
        columns::Target::Unknown(why) => (Vec::new(), Some(why)),
    }
}

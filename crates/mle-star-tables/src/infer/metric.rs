//! Infers the metric and its direction.

use crate::metrics::Metric;
use mle_star_domain::metric::Direction;
use mle_star_domain::nearest;
use mle_star_domain::task::TaskType;
use mle_star_domain::trouble::Trouble;

use super::kinds::holds_numbers;
use super::{Given, Guess};
use crate::description::{self, Description, DirectionReading, MetricReading};
use crate::profile::Column;

/// What every hint about a metric ends with.
const FILE: &str = "or compute it with --metric-file";

/// The given metric, otherwise the one in the description, otherwise the usual one for these targets if the description says
/// nothing about scores.
pub(super) fn name(
    description: &Description,
    given: &Given,
    targets: &[&Column],
    guesses: &mut Vec<Guess>,
) -> Result<String, Trouble> {
    if let Some(name) = &given.metric {
        return given_name(name, given).map(str::to_owned);
    }
    match description::metric(description, given.roles.weight.is_some()) {
        MetricReading::Known { metric, from } => {
            let value = metric.name().into_owned();
            guesses.push(Guess {
                field: "evaluation_metric",
                value: value.clone(),
                reason: format!("from {from}"),
            });
            Ok(value)
        }
        MetricReading::Unknown { phrase, from } => Err(unknown(&phrase, &from)),
        MetricReading::Contrast { phrase, from } => {
            let message =
                format!("the description names a metric only by what it is not, \"{phrase}\": {from}");
            Err(Trouble::new(message, format!("say which metric counts with --metric, {FILE}")))
        }
        MetricReading::Several(readings) => {
            let readings: Vec<String> =
                readings.iter().map(|(name, from)| format!("{name} in {from}")).collect();
            let message = format!(
                "the description can be read in {} ways: {}",
                readings.len(),
                readings.join(", and ")
            );
            Err(Trouble::new(message, format!("say which metric counts with --metric, {FILE}")))
        }
        MetricReading::None => match usual(targets, given.task_type) {
            Some((metric, holds)) if !description.speaks_of_scores() => {
                let reason = format!("the usual one, since {holds}; --metric sets another");
                let value = metric.name().into_owned();
                guesses.push(Guess { field: "evaluation_metric", value: value.clone(), reason });
                Ok(value)
            }
            _ => Err(nothing(description)),
        },
    }
}

/// The metric of targets for which nothing names one, and what they hold.
fn usual(targets: &[&Column], task_type: Option<TaskType>) -> Option<(Metric, String)> {
    let (are_numbers, holds): (Vec<bool>, Vec<String>) =
        targets.iter().map(|target| holds_numbers(target)).unzip();
    let first = targets.first()?;
    let is_regression = task_type.map_or(are_numbers[0], |given| given == TaskType::Regression);
    let metric = match (is_regression, targets.len()) {
        (true, 1) => Metric::Rmse,
        (true, _) if are_numbers.iter().all(|are| *are) => Metric::ColumnRmse,
        (false, 1) if first.distinct == 2 => Metric::RocAuc,
        (false, 1) => Metric::LogLoss,
        _ => return None,
    };
    Some((metric, holds.into_iter().next()?))
}

/// The given metric, if it says all that it must.
fn given_name<'a>(name: &'a str, given: &Given) -> Result<&'a str, Trouble> {
    if let Some(lacks) = Metric::lacks(name) {
        return Err(Trouble::new(
            format!("the metric \"{name}\" does not say {lacks}"),
            "give it in full with --metric",
        ));
    }
    if Metric::is_weighted(name) && given.roles.weight.is_none() {
        let message = format!("the metric \"{name}\" needs a weight for each row");
        return Err(Trouble::new(
            message,
            "name the column of the weights with --weight-column (weight_column in the task file)",
        ));
    }
    Ok(name)
}

fn nothing(description: &Description) -> Trouble {
    let message = if description.is_empty() {
        "the evaluation metric is not given, and nothing describes it"
    } else {
        "the evaluation metric is not given, and the description does not name one clearly"
    };
    let hint = "give it with --metric, for example --metric RMSE (or evaluation_metric in the task file)";
    Trouble::new(message, format!("{hint}, {FILE}"))
}

/// A metric without a formula for all of its phrase.
fn unknown(phrase: &str, from: &str) -> Trouble {
    if let Some(lacks) = Metric::lacks(phrase) {
        let message = format!("the description scores by \"{phrase}\" and leaves open {lacks}: {from}");
        return Trouble::new(message, format!("give the metric in full with --metric, {FILE}"));
    }
    let message = format!("the description scores by \"{phrase}\", which is no built-in metric: {from}");
    let weight = if phrase.to_lowercase().contains("weight") {
        "name the column of the weights with --weight-column, "
    } else {
        ""
    };
    let hint = format!(
        "{weight}give the built-in metric that is meant with --metric, {FILE}; for agents that can compute it themselves, \
         give its name with --metric, and --direction"
    );
    Trouble::new(message, hint)
}

/// The given direction, otherwise that of a known metric, otherwise the one that a sentence states. The name of an unknown
/// metric does not tell it.
pub(super) fn direction(
    metric: &str,
    description: &Description,
    given: Option<Direction>,
    guesses: &mut Vec<Guess>,
) -> Result<Direction, Trouble> {
    let (direction, reason) = match (Metric::parse(metric), given) {
        (Some(known), Some(given)) => return agreeing(known, given),
        (None, Some(given)) => return Ok(given),
        (Some(known), None) => {
            let direction = known.direction();
            (direction, format!("{known} is better when it is {}", direction.comparative()))
        }
        (None, None) => match description::direction(description, metric) {
            DirectionReading::Said(direction, from) => (direction, format!("from {from}")),
            DirectionReading::Both(one, other) => {
                let message = format!("the description says of \"{metric}\" both {one} and {other}");
                return Err(Trouble::new(message, DIRECTIONS));
            }
            DirectionReading::None => {
                let message = format!("it is not known whether a larger or a smaller \"{metric}\" is better");
                return Err(Trouble::new(message, misspelt(metric)));
            }
        },
    };
    guesses.push(Guess { field: "metric_direction", value: direction.name().to_owned(), reason });
    Ok(direction)
}

const DIRECTIONS: &str =
    "give --direction maximize or --direction minimize (metric_direction in the task file)";

/// The known metric that may be meant, and how to give one of the user's own.
fn misspelt(name: &str) -> String {
    let known = Metric::ALL.map(|metric| metric.name().to_lowercase());
    let near = nearest::misspelt(name, known.iter().map(String::as_str)).and_then(Metric::parse);
    near.map_or_else(|| DIRECTIONS.to_owned(), |known| format!("did you mean {known}? If not, {DIRECTIONS}"))
}

fn agreeing(known: Metric, given: Direction) -> Result<Direction, Trouble> {
    let right = known.direction();
    if right == given {
        return Ok(given);
    }
    let message = format!("metric {known} and direction {} contradict each other", given.name());
    let hint =
        format!("use --direction {} (metric_direction in the task file), or leave it out", right.name());
    Err(Trouble::new(message, hint))
}

//! Infers which of two labels a probability is asked for.

use crate::metrics::{Kind, Metric};
use mle_star_domain::trouble::Trouble;

use super::Guess;
use crate::description::{self, Description, PositiveReading};
use crate::profile::{Column, Profile};

/// Labels whose second one is what a question asks for.
const USUAL: [[&str; 2]; 8] = [
    ["false", "true"],
    ["no", "yes"],
    ["n", "y"],
    ["f", "t"],
    ["negative", "positive"],
    ["neg", "pos"],
    ["0", "1"],
    ["-1", "1"],
];

/// What the positive class depends on.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) profile: &'a Profile,
    pub(super) target: &'a str,
    pub(super) id: Option<&'a str>,
    pub(super) metric: Option<Metric>,
    pub(super) description: &'a Description,
    /// Whether the program chose the metric, so that it may choose the label.
    pub(super) may_choose: bool,
}

/// The given label, otherwise the one that the sample's column, the labels or a sentence tell. `None` where it does not
/// matter.
pub(super) fn positive(
    asked: Asked<'_>,
    given: Option<&str>,
    guesses: &mut Vec<Guess>,
) -> Result<Option<String>, Trouble> {
    let Some(column) = asked.profile.train.column(asked.target) else { return Ok(given.map(str::to_owned)) };
    let labels: Vec<&str> = column.top_values.iter().map(|(label, _)| label.as_str()).collect();
    let is_asked = asked.metric.is_some_and(|metric| takes_a_side(metric, column.distinct));
    let mut told = |label: &str, why: &str| {
        let reason = format!("higher means \"{label}\"; {why}");
        guesses.push(Guess { field: "positive_class", value: label.to_owned(), reason });
        Ok(Some(label.to_owned()))
    };
    if let Some(given) = given {
        let label = agreeing(given, column, &labels)?;
        return if is_asked { told(&label, "as given") } else { Ok(Some(label)) };
    }
    let [one, other] = labels[..] else { return Ok(None) };
    if column.distinct != 2 || !is_asked {
        return Ok(None);
    }
    // In order, so that what is told does not depend on their counts.
    let is_less = match number(one).zip(number(other)) {
        Some((one, other)) => one < other,
        None => one < other,
    };
    let labels = if is_less { [one, other] } else { [other, one] };
    let predicted = asked.predicted();
    if predicted.len() > 1 {
        return Ok(None);
    }
    let (label, reason) = asked.read(labels, predicted.first().copied())?;
    told(labels[label], &reason)
}

/// Whether a metric of two classes treats them differently.
fn takes_a_side(metric: Metric, distinct: usize) -> bool {
    metric.kind_for(distinct) == Kind::Probabilities || metric == Metric::F1
}

impl<'a> Asked<'a> {
    /// The columns to predict: those of the sample beside the ID and those that repeat the test table's.
    fn predicted(self) -> Vec<&'a str> {
        let columns = self.profile.sample.iter().flat_map(|sample| &sample.columns);
        let in_test = |name: &str| self.profile.test.as_ref().is_some_and(|test| test.column(name).is_some());
        let is_predicted = |name: &&str| Some(*name) != self.id && (*name == self.target || !in_test(name));
        columns.map(|column| column.name.as_str()).filter(is_predicted).collect()
    }

    /// The place of the label, and why.
    fn read(self, labels: [&str; 2], predicted: Option<&str>) -> Result<(usize, String), Trouble> {
        let reading = description::positive(self.description, labels);
        let from = match &reading {
            PositiveReading::Said(label, from) => return Ok((*label, format!("from {from}"))),
            PositiveReading::Both(one, other) => format!("the description names both: {one}, and {other}"),
            PositiveReading::None => "nothing says which".to_owned(),
        };
        let are_numbers = labels.iter().all(|label| number(label).is_some());
        // The number in the name of the target itself, such as `q1`, is no label.
        let predicted = predicted.filter(|name| !are_numbers || *name != self.target);
        if let Some((name, label)) =
            predicted.and_then(|name| Some((name, description::named_in(name, labels)?)))
        {
            return Ok((label, format!("the sample submission's column is called \"{name}\"")));
        }
        if let Some(label) = usual(labels) {
            return Ok((label, "which is the usual meaning".to_owned()));
        }
        if are_numbers && reading == PositiveReading::None {
            return Ok((1, "the larger number, since nothing says which".to_owned()));
        }
        if self.may_choose {
            return Ok((1, "the later of the two; --positive-class sets the other".to_owned()));
        }
        let [one, other] = labels;
        let message = format!(
            "the column \"{}\" holds \"{one}\" and \"{other}\", and the metric needs to know whose probability is predicted: {from}",
            self.target
        );
        Err(Trouble::new(message, choose(one, other)))
    }
}

fn number(label: &str) -> Option<f64> {
    label.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

fn choose(one: &str, other: &str) -> String {
    format!(
        "give --positive-class \"{one}\" or --positive-class \"{other}\" (positive_class in the task file)"
    )
}

/// The label that usually is the positive one.
fn usual(labels: [&str; 2]) -> Option<usize> {
    let is = |label: &str, word: &str| {
        label.trim().eq_ignore_ascii_case(word) || number(label).is_some() && number(label) == number(word)
    };
    (0..2).find(|at| {
        USUAL.iter().any(|[negative, positive]| is(labels[*at], positive) && is(labels[1 - at], negative))
    })
}

/// The given label as the table spells it.
fn agreeing(given: &str, column: &Column, labels: &[&str]) -> Result<String, Trouble> {
    let same = |label: &&&str| {
        let numbers = number(label).zip(number(given));
        label.trim() == given.trim() || numbers.is_some_and(|(one, other)| one == other)
    };
    let lower = |label: &&&str| label.trim().eq_ignore_ascii_case(given.trim());
    let name = &column.name;
    if column.distinct != 2 {
        let message = format!(
            "--positive-class \"{given}\": the column \"{name}\" holds {} different values, not two labels",
            column.distinct
        );
        return Err(Trouble::new(message, "leave out --positive-class (positive_class in the task file)"));
    }
    let found = labels
        .iter()
        .find(same)
        .or_else(|| labels.iter().find(lower).filter(|_| labels.iter().filter(lower).count() == 1));
    match (found, labels) {
        (Some(found), _) => Ok((*found).to_owned()),
        (None, [one, other, ..]) => {
            let (one, other) = if one < other { (one, other) } else { (other, one) };
            let message = format!(
                "--positive-class \"{given}\" is no label of the column \"{name}\", which holds \"{one}\" and \"{other}\""
            );
            Err(Trouble::new(message, choose(one, other)))
        }
        (None, _) => {
            Err(Trouble::new(format!("the column \"{name}\" has no labels"), "check the training table"))
        }
    }
}

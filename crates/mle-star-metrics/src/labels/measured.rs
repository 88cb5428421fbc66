//! The score of a file of predictions with its uncertainty.

use std::io::Read;

use mle_star_domain::measure::{Difference, FoldScore, Measurement};

use super::evaluate::Predicted;
use super::known::Labels;
use super::layout::{Layout, Others};
use crate::bootstrap::{mean, on_other_rows};
use crate::intervals::{
    FEW_GROUPS, GroupErrors, IntervalFor, Scale, for_one_more_period, for_other_groups, jackknife_error,
    places_of_groups,
};
use crate::names::Metric;
use crate::score::Unscorable;

/// Replicates that draw single rows, for the variance within groups.
const ROW_REPLICATES: usize = 100;

impl Labels {
    /// The score of a CSV file of predictions with its uncertainty, by [`crate::bootstrap::measure`]. The interval is for the score on the
    /// test rows, as far as they are known.
    ///
    /// The file has the columns of the layout, in any order; further columns do not count. Rows are matched by ID.
    ///
    /// - One column holds numbers, labels, or the probability of the positive class, as the metric needs. It is about
    ///   another class if it is named like that class.
    /// - Several columns are the probabilities of the classes, by their names, which may have a common prefix. If no
    ///   column is named like a class, and there are as many columns as classes, they are in the classes' order. A
    ///   metric of labels compares the most probable class. If the columns are not about classes, the one named like
    ///   the target counts alone.
    /// - Guesses stand in one column, the best first, with blanks, commas, semicolons or `|` between them. So do the labels of a
    ///   set. An empty cell is an empty set.
    /// - Two columns are the lower and the upper bound of an interval.
    /// - With several targets, each has the one column that is named like it. The score is the mean over the targets, and
    ///   so is that of each replicate.
    ///
    /// # Errors
    /// The file does not have this form, or its predictions have no score. The text is one sentence.
    pub fn evaluate(
        &self,
        predictions: impl Read,
        layout: &Layout<'_>,
        others: Others,
        replicates: usize,
    ) -> Result<Measurement, Unscorable> {
        let predicted = self.predicted(predictions, layout, others)?;
        self.measured(&predicted, replicates)
    }

    /// The mean score over the targets with its uncertainty.
    pub(crate) fn measured(
        &self,
        predicted: &[Predicted],
        replicates: usize,
    ) -> Result<Measurement, Unscorable> {
        let metric = self.metric();
        let measured = self.measured_by_rows(predicted, replicates)?;
        let mean_over_periods = predicted.first().is_some_and(Predicted::averages);
        let constants: Option<Vec<f64>> = predicted.iter().map(Predicted::constant).collect();
        let constant = constants.map(|each| each.iter().sum::<f64>() / each.len().max(1) as f64);
        let seasonal_naive = match predicted {
            [predicted] => predicted.score_of(|key| self.forecasts.of_row(key)),
            _ => None,
        };
        let measured = Measurement { mean_over_periods, constant, seasonal_naive, ..measured };
        Ok(match self.interval_for {
            IntervalFor::Rows(rows) => on_other_rows(metric, measured, rows),
            IntervalFor::Period => for_one_more_period(measured, self.periods(predicted), Scale::of(metric)),
            IntervalFor::Groups { groups, rows } => {
                let errors = group_errors(metric, predicted, &measured);
                for_other_groups(measured, &errors, (groups, rows), Scale::of(metric))
            }
        })
    }

    /// The score of the first file minus that of the second on the rows that both have, and the number of these rows. There is
    /// no difference for fewer rows than `fewest`.
    ///
    /// # Errors
    /// As [`Labels::evaluate`].
    pub fn difference(
        &self,
        files: [impl Read; 2],
        layout: &Layout<'_>,
        fewest: usize,
        replicates: usize,
    ) -> Result<(usize, Option<Difference>), Unscorable> {
        let [one, other] = files.map(|file| self.predicted(file, layout, Others::Reject));
        let files = self.on_common_rows(&[one?, other?]);
        let rows = files.first().and_then(|file| file.first()).map_or(0, Predicted::rows);
        if rows < fewest.max(1) {
            return Ok((rows, None));
        }
        let measured = files.iter().map(|file| self.measured_by_rows(file, replicates));
        let measured = measured.collect::<Result<Vec<_>, _>>()?;
        let [one, other] = measured.as_slice() else { return Ok((rows, None)) };
        Ok((rows, one.difference(other)))
    }

    /// The mean score over the targets, with the uncertainty of rows like these.
    pub(crate) fn measured_by_rows(
        &self,
        predicted: &[Predicted],
        replicates: usize,
    ) -> Result<Measurement, Unscorable> {
        let of_target = |(labels, predicted): (&Self, &Predicted)| {
            predicted.measure(replicates).map_err(|error| self.about(labels, error))
        };
        let measured = self.targets().zip(predicted).map(of_target).collect::<Result<Vec<_>, _>>()?;
        mean(self.metric(), &measured)
    }

    /// The scores of the periods that are predicted.
    fn periods(&self, predicted: &[Predicted]) -> Vec<FoldScore> {
        let keys = predicted.first().map(Predicted::keys).unwrap_or_default();
        let of_fold = |(fold, places): (u32, Vec<usize>)| {
            // The metric may be undefined for a period, for example if all its rows are of one class.
            let score = score_at(predicted, &places)?;
            Some(FoldScore { fold, rows: places.len() as u64, score })
        };
        self.folds.places(keys).into_iter().filter_map(of_fold).collect()
    }
}

/// The standard errors of the score if whole groups are drawn, and if single rows are.
fn group_errors(metric: Metric, predicted: &[Predicted], measured: &Measurement) -> GroupErrors {
    let units = predicted.first().map(Predicted::units).unwrap_or_default();
    let groups = places_of_groups(units);
    let sizes = groups.iter().map(|places| places.len() as u64).collect();
    let alone: Option<Vec<Measurement>> =
        predicted.iter().map(|one| one.measure_rows(ROW_REPLICATES).ok()).collect();
    let by_rows = alone.and_then(|alone| mean(metric, &alone).ok()?.standard_error);
    if groups.len() > FEW_GROUPS {
        return GroupErrors { sizes, by_groups: measured.standard_error, by_rows };
    }
    let without = |left_out: &Vec<usize>| {
        let unit = units[*left_out.first()?];
        let places: Vec<usize> = (0..units.len()).filter(|place| units[*place] != unit).collect();
        score_at(predicted, &places)
    };
    let scores: Vec<f64> = groups.iter().filter_map(without).collect();
    GroupErrors { sizes, by_groups: jackknife_error(&scores, groups.len()), by_rows }
}

/// The mean score over the targets at these places; `None` if there is none.
fn score_at(predicted: &[Predicted], places: &[usize]) -> Option<f64> {
    let of_target = |one: &Predicted| {
        let one = one.at(places);
        one.score(&one.values).ok()
    };
    let scores: Option<Vec<f64>> = predicted.iter().map(of_target).collect();
    let scores = scores.filter(|scores| !scores.is_empty())?;
    Some(scores.iter().sum::<f64>() / scores.len() as f64)
}

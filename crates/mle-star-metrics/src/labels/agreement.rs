//! How alike the errors of several files of predictions are.

use std::collections::HashSet;
use std::io::Read;

use mle_star_domain::measure::{Difference, Measurement};
use mle_star_domain::metric::Direction;

use super::evaluate::Predicted;
use super::known::Labels;
use super::layout::{Layout, Others};
use crate::score::Unscorable;

/// How alike the errors of several files are.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The number of rows that all files have.
    pub rows: usize,
    /// The file with the best score on these rows.
    pub best: usize,
    /// How much larger the score of each file is than that of the best one.
    pub differences: Vec<Option<Difference>>,
    /// The correlation of the errors of each pair of files; `None` where one of them has no spread. The errors of several
    /// targets have the mean correlation.
    pub correlations: Vec<Vec<Option<f64>>>,
}

impl Labels {
    /// Compares the errors of files of predictions on the rows that all of them have; `None` for fewer rows than `fewest`.
    ///
    /// The error of a number is its distance from the truth; of a probability, what the true class lacks; of a label, whether it
    /// is wrong. Errors of probabilities are compared within classes, since those of a rare class are alike for all models.
    ///
    /// # Errors
    /// As [`Labels::evaluate`].
    pub fn agreement<R: Read>(
        &self,
        files: impl IntoIterator<Item = R>,
        layout: &Layout<'_>,
        fewest: usize,
        replicates: usize,
    ) -> Result<Option<Agreement>, Unscorable> {
        let files = files.into_iter().map(|file| self.predicted(file, layout, Others::Reject));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let files = self.on_common_rows(&files);
        let rows = files.first().and_then(|file| file.first()).map_or(0, Predicted::rows);
        if rows < fewest.max(1) {
            return Ok(None);
        }
        let measured = files.iter().map(|file| self.measured_by_rows(file, replicates));
        let measured = measured.collect::<Result<Vec<_>, _>>()?;
        let best = best_of(&measured, self.metric().direction());
        let differences = measured.iter().map(|one| one.difference(&measured[best])).collect();
        let errors: Vec<Vec<Vec<f64>>> =
            files.iter().map(|file| file.iter().map(Predicted::errors).collect()).collect();
        let row = |one: &Vec<Vec<f64>>| errors.iter().map(|other| mean_correlation(one, other)).collect();
        Ok(Some(Agreement { rows, best, differences, correlations: errors.iter().map(row).collect() }))
    }

    /// The predictions for the rows that all files have, to be scored alike.
    pub(super) fn on_common_rows(&self, files: &[Vec<Predicted>]) -> Vec<Vec<Predicted>> {
        let keys = |file: &Vec<Predicted>| -> HashSet<u64> {
            file.first().map(Predicted::keys).unwrap_or_default().iter().copied().collect()
        };
        let common = files.iter().map(keys).reduce(|one, other| &one & &other).unwrap_or_default();
        let at = |one: &Predicted| {
            let places = (0..one.rows()).filter(|place| common.contains(&one.keys()[*place]));
            let one = one.at(&places.collect::<Vec<_>>());
            let folds = self.folds_of(one.keys());
            one.in_folds(folds)
        };
        files.iter().map(|file| file.iter().map(at).collect()).collect()
    }
}

fn best_of(measured: &[Measurement], direction: Direction) -> usize {
    let goodness = |place: &usize| match direction {
        Direction::Maximize => measured[*place].score,
        Direction::Minimize => -measured[*place].score,
    };
    let places = (0..measured.len()).rev();
    places.max_by(|one, two| goodness(one).total_cmp(&goodness(two))).unwrap_or_default()
}

/// The mean over the targets.
fn mean_correlation(one: &[Vec<f64>], other: &[Vec<f64>]) -> Option<f64> {
    let all: Vec<f64> = one.iter().zip(other).filter_map(|(one, other)| correlation(one, other)).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// Pearson's correlation; `None` if a side has no spread.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let count = one.len().max(1) as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (own, others) = (mean(one), mean(other));
    let product = |one: &[f64], own: f64, other: &[f64], others: f64| -> f64 {
        one.iter().zip(other).map(|(a, b)| (a - own) * (b - others)).sum()
    };
    let spread = product(one, own, one, own) * product(other, others, other, others);
    let found = product(one, own, other, others) / spread.sqrt();
    found.is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::labels::Columns;
    use crate::names::Metric;

    const ROWS: usize = 400;

    fn table(header: &str, rows: usize, value: impl Fn(usize) -> String) -> String {
        let mut text = format!("{header}\n");
        (0..rows).for_each(|row| writeln!(text, "{row},{}", value(row)).unwrap());
        text
    }

    /// A number from -1 to 1 that looks random.
    fn noise(row: usize, salt: u64) -> f64 {
        let draws = (0..16).map(|number| crate::bootstrap::weight(row as u64, salt * 100 + number) & 1);
        draws.enumerate().map(|(place, bit)| f64::from(bit) / f64::from(1 << place)).sum::<f64>() - 1.0
    }

    fn agreement(metric: Metric, header: &str, truth: &str, files: &[String]) -> Option<Agreement> {
        let labels =
            Labels::read(truth.as_bytes(), &Columns::new(Some("id".to_owned()), "y"), metric).unwrap();
        let header: Vec<String> = header.split(',').map(str::to_owned).collect();
        let layout = Layout { header: &header, id_column: Some("id") };
        labels.agreement(files.iter().map(String::as_bytes), &layout, 20, 50).unwrap()
    }

    #[test]
    fn errors_are_compared_on_the_rows_of_all_files() {
        let truth = |row: usize| (row % 10) as f64;
        let numbers = table("id,y", ROWS, |row| truth(row).to_string());
        // The second errs like the first, but more. The third errs in its own way, and has half of the rows.
        let file = |rows, salt: u64, size: f64| {
            table("id,y", rows, |row| (truth(row) + size * noise(row, salt)).to_string())
        };
        let files = [file(ROWS, 1, 1.0), file(ROWS, 1, 2.0), file(ROWS / 2, 40, 0.5)];
        let found = agreement(Metric::Rmse, "id,y", &numbers, &files).unwrap();
        assert_eq!((found.rows, found.best), (ROWS / 2, 2));
        assert!((found.correlations[0][1].unwrap() - 1.0).abs() < 1e-9, "{found:?}");
        assert!(found.correlations[0][2].unwrap().abs() < 0.3, "{found:?}");
        let by = |place: usize| found.differences[place].unwrap();
        assert!(by(1).by > by(0).by && by(0).by > 2.0 * by(0).standard_error && by(2).by == 0.0, "{found:?}");
        // Files without enough common rows.
        assert_eq!(agreement(Metric::Rmse, "id,y", &numbers, &[file(ROWS, 1, 1.0), file(10, 2, 1.0)]), None);
    }

    #[test]
    fn labels_and_probabilities_of_classes_are_compared() {
        let names = ["low", "mid", "top"];
        let truth = table("id,y", ROWS, |row| names[row % 3].to_owned());
        let label = |salt: u64| {
            table("id,y", ROWS, |row| names[(row + usize::from(noise(row, salt) > 0.6)) % 3].to_owned())
        };
        let found = agreement(Metric::Accuracy, "id,y", &truth, &[label(1), label(1), label(40)]).unwrap();
        assert!(found.correlations[0][1].unwrap() > 0.999 && found.correlations[0][2].unwrap().abs() < 0.3);
        let scores = |salt: u64| {
            table("id,low,mid,top", ROWS, |row| {
                let own = 0.6 + 0.2 * noise(row, salt);
                let score = |class: usize| if row % 3 == class { own } else { (1.0 - own) / 2.0 };
                format!("{},{},{}", score(0), score(1), score(2))
            })
        };
        let found = agreement(Metric::LogLoss, "id,low,mid,top", &truth, &[scores(1), scores(40), scores(1)])
            .unwrap();
        assert!(found.correlations[0][1].unwrap().abs() < 0.3 && found.correlations[0][2].unwrap() > 0.999);
        let truth = table("id,y", ROWS, |row| names[row % 3].to_owned());
        // Labels that are all right have no spread.
        let right = table("id,y", ROWS, |row| names[row % 3].to_owned());
        let found = agreement(Metric::Accuracy, "id,y", &truth, &[right, label(1)]).unwrap();
        assert_eq!((found.correlations[0][1], found.best), (None, 0));
    }
}

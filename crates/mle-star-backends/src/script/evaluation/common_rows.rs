//! Comparisons of scripts on the validation rows that they predicted in common.

use std::path::{Path, PathBuf};

use mle_star_domain::measure::Difference;
use mle_star_domain::question::Agreement;
use mle_star_metrics::labels;

use super::{Evaluator, REPLICATES, fewest_rows, opened};

impl Evaluator {
    /// Compares two files of validation predictions on the rows that both have. Returns the number of these rows, and the
    /// difference of the scores unless the rows are too few.
    ///
    /// # Errors
    /// Why they cannot be compared.
    pub(crate) fn compare(&self, one: &Path, other: &Path) -> Result<(usize, Option<Difference>), String> {
        if let Some(by_file) = &self.by_file {
            return by_file.compare(&self.setup, &self.layout(), [one, other]);
        }
        let labels = &self.known()?.search;
        let fewest = fewest_rows(labels.rows(), self.setup.subsample_limit, self.setup.split.as_ref());
        let files = [opened(one)?, opened(other)?];
        labels.difference(files, &self.layout(), fewest, REPLICATES).map_err(|error| error.to_string())
    }

    /// Compares the errors of files of validation predictions on the rows that all of them have.
    ///
    /// # Errors
    /// Why they cannot be compared.
    pub(crate) fn agreement(&self, files: &[PathBuf]) -> Result<Agreement, String> {
        if let Some(by_file) = &self.by_file {
            return Err(by_file.computes_no("scores of the rows that several scripts predict"));
        }
        let labels = &self.known()?.search;
        let fewest = fewest_rows(labels.rows(), self.setup.subsample_limit, self.setup.split.as_ref());
        let files = files.iter().map(|file| opened(file)).collect::<Result<Vec<_>, _>>()?;
        let found = labels.agreement(files, &self.layout(), fewest, REPLICATES);
        let found = found.map_err(|error| error.to_string())?.ok_or("they have too few rows in common")?;
        let labels::Agreement { rows, best, differences, correlations } = found;
        Ok(Agreement { rows: rows as u64, best, differences, correlations, failure: String::new() })
    }
}

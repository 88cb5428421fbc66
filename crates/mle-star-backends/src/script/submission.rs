//! Checks a submission file against the sample submission, by asking the data plane, the Python process that reads tables.

use std::fs;
use std::path::Path;
use std::time::Instant;

use mle_star_domain::effects::Submission;
use mle_star_domain::trouble::Trouble;
use serde_json::json;

use super::plane::{Plane, absolute};

/// The size limit in bytes. Submissions with the pixels of images have a few hundred MiB.
const MAX_SUBMISSION_BYTES: u64 = 1 << 30;
/// With a large sample, the limit is this many times its size: a cell `0` may become a number with all its digits.
const TIMES_THE_SAMPLE: u64 = 16;

/// Checks the CSV file `file`.
///
/// Against `sample`: the same columns in the same order, the same number of rows, the same IDs in the same order,
/// no missing values where the sample has none, finite numbers where the sample has numbers. The IDs are in
/// `id_column`, or else in the sample's first column. Without a sample, the file must parse and have a data row. A
/// file that is [too large](largest) is not read.
///
/// # Errors
/// The data plane cannot be used.
pub async fn check_submission(
    plane: &Plane,
    file: &Path,
    sample: Option<&Path>,
    id_column: Option<&str>,
    ends: Instant,
) -> Result<Submission, Trouble> {
    let bytes = fs::metadata(file).map_or(0, |meta| meta.len());
    let (file, sample) = (absolute(file), sample.map(absolute));
    let question = json!({ "question": "check", "file": file, "sample": sample, "id_column": id_column });
    match plane.ask(question, ends).await {
        Ok(checked) => Ok(checked),
        Err(unanswered) => Ok(Submission { bytes, rows: None, findings: vec![unanswered.reason()?] }),
    }
}

/// The size limit of a submission in bytes.
pub(crate) fn largest(sample: Option<&Path>) -> u64 {
    let sample = sample.and_then(|file| fs::metadata(file).ok()).map_or(0, |meta| meta.len());
    MAX_SUBMISSION_BYTES.max(sample.saturating_mul(TIMES_THE_SAMPLE))
}

/// The result for a submission that is too large to be read.
pub(crate) fn too_large(bytes: u64, sample: Option<&Path>) -> Submission {
    let (mib, most) = (bytes >> 20, largest(sample) >> 20);
    let finding = format!("the file has {mib} MiB; a submission has at most {most} MiB");
    Submission { bytes, rows: None, findings: vec![finding] }
}

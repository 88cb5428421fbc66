//! Checks a submission file.
use mle_star::effects::Submission;
use std::path::Path;
/// Checks.
pub fn check_submission(_file: &Path, _sample: Option<&Path>, _id: Option<&str>) -> Submission {
    Submission { bytes: 0, rows: None, findings: vec![] }
}

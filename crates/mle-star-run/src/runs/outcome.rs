//! How a run ended, as its folder tells.

use std::path::Path;

use mle_star::journal;
use mle_star::result::FinalResult;
use mle_star::verdict::Best;
use mle_star_domain::config::Config;
use mle_star_domain::layout;
use serde::{Deserialize, Serialize};

use super::files;

/// The largest `result.json` that is read, in bytes. A full-size run has less than a megabyte.
const LARGEST_RESULT: u64 = 256 << 20;

/// `final/provisional.json`: what the files in `final/` are while the run is not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provisional {
    /// The run of the script that wrote the submission.
    pub place: String,
    /// Its validation score.
    pub score: f64,
    /// The 95 % interval of that score; `None` if it is unknown.
    pub interval: Option<[f64; 2]>,
    /// The solution in `final/`, whose score may be better.
    pub solution: Best,
}

/// Whether a result is that of a run with this configuration. It stays while the run goes on with larger limits.
pub fn is_current(result: &FinalResult, config: &Config) -> bool {
    let limits = |config: &Config| (config.time_limit_seconds, config.max_budget_usd);
    limits(&result.config) == limits(config)
}

/// Whether a run has the result of its present limits.
pub fn is_finished(folder: &Path) -> bool {
    let config = files::read(folder, layout::CONFIG, LARGEST_RESULT).ok();
    let config: Option<Config> = config.and_then(|text| serde_json::from_str(&text).ok());
    let result = read_result(folder);
    result.zip(config).is_some_and(|(result, config)| is_current(&result, &config))
}

/// The last result of a run, which may be that of smaller limits, see [`is_current`].
pub fn read_result(folder: &Path) -> Option<FinalResult> {
    let mut result: FinalResult =
        serde_json::from_str(&files::read(folder, layout::RESULT, LARGEST_RESULT).ok()?).ok()?;
    // The folder may have been moved since. Links in it are not followed.
    if !result.submission_path.is_empty() {
        let whole = folder.canonicalize().or_else(|_| std::path::absolute(folder));
        let submission =
            whole.unwrap_or_else(|_| folder.to_owned()).join(layout::FINAL).join(layout::SUBMISSION);
        result.submission_path = submission.display().to_string();
    }
    Some(result)
}

/// Does a process work on the run? It holds the lock while it does.
pub fn is_held(folder: &Path) -> bool {
    let lock = files::open(folder, layout::LOCK);
    lock.is_ok_and(|lock| journal::is_locked(&lock, &folder.join(layout::LOCK)))
}

/// What the files in `final/` are while a run is not finished; `None` without an answer so far.
pub fn provisional(folder: &Path) -> Option<Provisional> {
    let name = format!("{}/{}", layout::FINAL, layout::PROVISIONAL);
    serde_json::from_str(&files::read(folder, &name, LARGEST_RESULT).ok()?).ok()
}

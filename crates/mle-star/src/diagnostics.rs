//! Diagnostics of a run that ended early: its progress, its usage and its best results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Best;
use mle_star_domain::effects::Usage;
use mle_star_domain::place::{Phase, Place};
use mle_star_domain::protocol::Period;

/// Progress and results of a run that ended early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostics {
    /// The error that ended it.
    pub error: String,
    /// Seconds of the run, over all its processes.
    pub elapsed_seconds: f64,
    /// Cost and tokens of all its agent calls.
    pub spent: Usage,
    /// The phase it was in.
    pub phase: Option<Phase>,
    /// The last agent call or script that succeeded.
    pub last_success: Option<Place>,
    /// The number of scored scripts.
    pub scored: u64,
    /// The solution it would submit.
    pub solution: Option<Best>,
    /// The best solution whose run left a valid submission.
    pub submission: Option<Best>,
    /// The period that scripts of the search predict instead of the rows of the test table; `None` if they predict these.
    pub predicts: Option<Period>,
}

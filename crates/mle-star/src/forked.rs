//! `forked_from` in `result.json`: the run and the place that a fork began from.

use mle_star_domain::place::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The run that another one was forked from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForkedFrom {
    /// The run ID.
    pub run: String,
    /// The first place that is not shared.
    pub place: Place,
    /// What the shared calls cost, in US dollars with estimates. The fork's own cost does not include it. `None` if unknown.
    pub inherited_cost_usd: Option<f64>,
    /// The number of the last record that may be shared.
    #[schemars(skip)]
    pub(crate) last: i64,
}

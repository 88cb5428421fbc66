//! What the data plane says of the data once it is known how solutions are evaluated: how columns and tables relate, and the data
//! in a few lines, for the prompts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mle_star_domain::protocol::{Protocol, Split};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::relations::Relations;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::data_plane::Questions;
use crate::error::RunError;

/// How columns and tables relate, where test rows differ like this. The facts keep it.
///
/// # Errors
/// The data cannot be read.
pub fn relate(
    questions: &Questions,
    folder: &Path,
    facts: &mut Value,
    split: Option<&Split>,
) -> Result<Relations, RunError> {
    facts["split"] = json!(split);
    facts["relations"] =
        questions.ask(json!({ "question": "relations", "folder": folder, "facts": facts }))?;
    let unreadable = |error| Trouble::new(format!("cannot read how tables relate: {error}"), "report it");
    Ok(Relations::deserialize(&facts["relations"]).map_err(unreadable)?)
}

/// What a description of the data, as scripts of the search see it, depends on.
pub fn described(facts: &Value, protocol: Option<&Protocol>, instead: Vec<(PathBuf, PathBuf)>) -> Value {
    // Where series end at times of their own, periods count in stretches and say nothing about a length of time.
    let is_common = |protocol: &&Protocol| !protocol.split.as_ref().is_some_and(Split::has_own_ends);
    let periods = protocol.filter(is_common).and_then(|protocol| protocol.periods.as_ref());
    let period = periods.map(|periods| periods.held_out.as_ref().unwrap_or(&periods.test).at);
    let mut facts = facts.clone();
    facts["period"] = json!(period);
    let instead: BTreeMap<PathBuf, PathBuf> = instead.into_iter().collect();
    json!({ "facts": facts, "instead": instead })
}

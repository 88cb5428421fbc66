//! What the data plane says of the data once it is known how solutions are evaluated: how columns and tables relate, and the data
//! in a few lines, for the prompts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mle_star_domain::config::{Config, Context};
use mle_star_domain::protocol::Split;
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::holdout;
use mle_star_tables::profile::Profile;
use mle_star_tables::relations::Relations;
use serde::Deserialize;
use serde_json::{Value, json};

use super::intake::Intake;
use super::protocol::Decided;
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
    Ok(related(facts)?.unwrap_or_default())
}

/// How columns and tables relate as the facts say; `None` if they do not.
///
/// # Errors
/// Another build wrote them.
pub fn related(facts: &Value) -> Result<Option<Relations>, Trouble> {
    let found = facts.get("relations").map(Relations::deserialize).transpose();
    let hint = "use the version of mle-star that started the run";
    found.map_err(|error| Trouble::new(format!("cannot read how tables relate: {error}"), hint))
}

/// What the data holds, as scripts of the search see it; `None` with `context: paper`. `known` is there with a training table.
///
/// # Errors
/// The data cannot be read, or the folder that scripts see cannot be written.
pub fn summary(
    task: &Task,
    config: &Config,
    intake: &Intake,
    known: Option<(&Profile, &Value)>,
    decided: Option<&Decided>,
) -> Result<Option<String>, RunError> {
    let Some(questions) = intake.questions().filter(|_| config.context == Context::Full) else {
        return Ok(None);
    };
    let mut facts = known.map(|(_, facts)| facts.clone());
    if let (Some(facts), Some(period)) = (&mut facts, decided.and_then(period)) {
        facts["period"] = json!(period);
    }
    let held_out = decided.and_then(|decided| decided.held_out.as_ref());
    let (seen, mut folder) = (questions.folder().join("seen"), &task.data_dir);
    if let Some((plan, (profile, _))) = held_out.zip(known) {
        holdout::write(profile, plan, &seen)?;
        folder = &seen;
    }
    let instead: BTreeMap<PathBuf, PathBuf> = intake.instead().into_iter().collect();
    let told: Result<BTreeMap<String, String>, RunError> = questions
        .ask(json!({ "question": "describe", "folder": folder, "facts": facts, "instead": instead }));
    // It would go with the folder that it is in, too.
    drop(fs::remove_dir_all(&seen));
    Ok(told?.remove("text"))
}

/// The first and the last time of the rows to predict. Where series end at times of their own, periods count in stretches and say
/// nothing about a length of time.
fn period(decided: &Decided) -> Option<[f64; 2]> {
    let is_common = !decided.protocol.split.as_ref().is_some_and(Split::has_own_ends);
    let periods = decided.protocol.periods.as_ref().filter(|_| is_common)?;
    Some(periods.held_out.as_ref().unwrap_or(&periods.test).at)
}

//! The tool `doctor`.

use mle_star_domain::trouble::Trouble;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Hub;
use super::answer::Answer;
use crate::args::DoctorArgs;
use crate::commands::doctor as command;

pub const ABOUT: &str = "Check this machine: Python, the agents that run would choose and why, credentials (names only), \
hardware, and isolation of scripts. Changes nothing.";

/// Nothing to say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoctorInput {}

/// The findings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorOutput {
    /// As `mle-star doctor --json` prints them.
    findings: Value,
}

/// Checks this machine.
pub fn doctor(_: &Hub, _: DoctorInput) -> Result<Answer<DoctorOutput>, Trouble> {
    let findings = command::findings(&DoctorArgs::default()).map_err(|failure| failure.trouble)?;
    let lines = command::lines(&findings);
    Ok(Answer::new(&lines, DoctorOutput { findings: serde_json::to_value(&findings).unwrap_or_default() }))
}

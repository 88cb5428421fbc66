//! The facts about a task's data, as the data plane (the Python process that reads tables) finds them.

use mle_star_domain::trouble::Trouble;
use mle_star_tables::profile::{self, Profile};
use mle_star_tables::task_inference::TaskHints;
use serde_json::Value;

use super::intake::Intake;
use crate::error::RunError;

/// The facts about a data folder.
#[derive(Debug)]
pub struct Data {
    /// The answer of the data plane.
    pub facts: Value,
    /// The profile of the tables; `None` without a readable training table.
    pub profile: Option<Profile>,
    /// Why its tables were not read.
    pub unread: Option<Trouble>,
}

impl Data {
    /// Reads the plain tables. With [`TaskHints::may_lack_tables`], data without a training table has facts, too.
    ///
    /// # Errors
    /// The tables cannot be read, or what was given does not fit them.
    pub fn inspect(intake: &Intake, given: &TaskHints) -> Result<Self, RunError> {
        let damaged = intake.damaged();
        let given = match &damaged {
            Some(trouble) if !given.may_lack_tables => return Err(trouble.clone().into()),
            damaged => TaskHints { without_tables: damaged.is_some(), ..given.clone() },
        };
        let facts = intake.inspect(&given)?;
        let of_facts = || {
            let [message, hint] = ["0", "1"].map(|at| facts.pointer(&format!("/unread/{at}"))?.as_str());
            Some(Trouble::new(intake.as_given(message?), hint.unwrap_or_default()))
        };
        let unread = damaged.or_else(of_facts);
        let profile = Profile::of(&facts)?;
        Ok(Self { facts, profile, unread })
    }

    /// The facts that a run kept when it began.
    ///
    /// # Errors
    /// The build that began the run kept no facts.
    pub fn of_run(facts: Option<Value>, begun_by: Option<&str>) -> Result<Self, Trouble> {
        let facts = facts.ok_or_else(|| {
            let build = begun_by.unwrap_or("of an earlier version");
            let message = format!("mle-star {build} began this run, and kept no facts of its data");
            Trouble::new(message, "use that version, or start a new run")
        })?;
        Ok(Self { profile: Profile::of(&facts)?, unread: None, facts })
    }

    /// Whether there is nothing that could stand for a training table: no sample submission, no images, no sounds.
    pub fn is_bare(&self) -> bool {
        let count = |of: &str| self.facts.pointer(of).and_then(Value::as_u64).unwrap_or_default();
        self.profile.is_none()
            && self.facts["sample"].is_null()
            && count("/media/images") + count("/media/sounds") == 0
    }

    /// The note that the tables were not read, with the reason.
    pub fn note(&self) -> Option<String> {
        let unread = self.unread.as_ref();
        unread.map(|trouble| format!("note: the tables were not profiled: {}", trouble.message))
    }
}

/// A folder without a training table may still be a task for a model.
pub fn for_offline(error: RunError) -> RunError {
    if !error.trouble.message.starts_with(profile::NO_TRAIN) {
        return error;
    }
    let Trouble { message, hint, .. } = &error.trouble;
    let hint = format!("{hint}; for images, sounds and other data, use a model: --agents claude");
    let message = format!("{message}: the offline agents need a training table");
    RunError { trouble: Trouble::new(message, hint), ..error }
}

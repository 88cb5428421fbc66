//! The profile of a task's data.

use std::path::Path;

use mle_star_domain::trouble::Trouble;
use mle_star_tables::profile::{self, Context, Profile, Unlabelled};

use crate::provider::Chosen;

/// The profile of a data folder.
#[derive(Debug)]
pub struct ProfiledData {
    /// Its tables; `None` without a readable training table.
    pub profile: Option<Profile>,
    /// The sample submission, images and sounds, if there is no training table.
    pub unlabelled: Unlabelled,
    /// Why there is no profile.
    pub note: Option<String>,
}

/// Profiles a data folder. The offline agents require a profile; other agents can explore the data themselves. `context` says
/// how cells are to be read, `damaged` why a table is known to be unreadable.
///
/// # Errors
/// The offline agents were chosen and the tables cannot be read.
pub fn profile_data(
    data_dir: &Path,
    chosen: &Chosen,
    context: &Context<'_>,
    damaged: Option<&Trouble>,
) -> Result<ProfiledData, Trouble> {
    let read = match damaged {
        Some(trouble) => Err(trouble.clone()),
        None => profile::read_with(data_dir, context),
    };
    match (read, chosen) {
        (Ok(profile), _) => {
            Ok(ProfiledData { profile: Some(profile), unlabelled: Unlabelled::default(), note: None })
        }
        (Err(trouble), Chosen::Offline) => Err(for_offline(trouble)),
        (Err(trouble), Chosen::Claude(_) | Chosen::Files | Chosen::OpenAi(_) | Chosen::Codex(_)) => {
            let note = not_profiled(&trouble);
            let unlabelled = profile::read_unlabelled(data_dir);
            Ok(ProfiledData { profile: None, unlabelled, note: Some(note) })
        }
    }
}

/// That the tables were not read, and why, in a line.
pub fn not_profiled(trouble: &Trouble) -> String {
    format!("note: the tables were not profiled: {}", trouble.message)
}

/// A folder without a training table may still be a task for a model.
fn for_offline(trouble: Trouble) -> Trouble {
    if !trouble.message.starts_with(profile::NO_TRAIN) {
        return trouble;
    }
    let hint = format!("{}; for images, sounds and other data, use a model: --agents claude", trouble.hint);
    Trouble::new(format!("{}: the offline agents need a training table", trouble.message), hint)
}

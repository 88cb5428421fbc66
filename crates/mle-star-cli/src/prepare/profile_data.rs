//! The profile of a task's data.

use std::path::{Path, PathBuf};

use mle_star::stop::Trouble;
use mle_star_data::profile::{self, Profile};

use crate::provider::Chosen;

/// The profile of a data folder.
#[derive(Debug)]
pub struct ProfiledData {
    /// Its tables; `None` without a readable training table.
    pub profile: Option<Profile>,
    /// The files that are not tables, if there is no profile.
    pub files: Vec<PathBuf>,
    /// Why there is no profile.
    pub note: Option<String>,
}

/// Profiles a data folder. The offline agents require a profile; other agents can explore the data by itself.
///
/// # Errors
/// The offline agents were chosen and the tables cannot be read.
pub fn profile_data(data_dir: &Path, chosen: &Chosen) -> Result<ProfiledData, Trouble> {
    match (profile::read(data_dir), chosen) {
        (Ok(profile), _) => Ok(ProfiledData { profile: Some(profile), files: Vec::new(), note: None }),
        (Err(trouble), Chosen::Offline) => Err(trouble),
        (Err(trouble), Chosen::Claude(_) | Chosen::Files | Chosen::OpenAi(_) | Chosen::Codex(_)) => {
            let note = format!("note: the tables were not profiled: {}", trouble.message);
            Ok(ProfiledData { profile: None, files: profile::other_files(data_dir), note: Some(note) })
        }
    }
}

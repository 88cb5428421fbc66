//! What the file system of the runs directory offers.

use std::path::{Path, PathBuf};

use mle_star::journal::{Storage, storage};
use serde::Serialize;

use mle_star_run::runs;

/// The runs directory of the settings.
#[derive(Debug, Serialize)]
pub struct RunsDir {
    path: PathBuf,
    #[serde(flatten)]
    offers: Option<Storage>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

impl RunsDir {
    /// Tries the folder, or the nearest one above it that exists.
    pub fn check(given: Option<&Path>) -> Self {
        let path = given.unwrap_or(Path::new(runs::DEFAULT_DIR));
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let nearest = path.ancestors().find(|folder| folder.exists()).unwrap_or(&path);
        let (offers, trouble) = match storage(nearest) {
            Ok(offers) => (Some(offers), None),
            Err(error) => (None, Some(format!("{} cannot be written: {error}", nearest.display()))),
        };
        Self { path, offers, trouble }
    }

    /// The line of the text.
    pub fn line(&self) -> String {
        let what = match (&self.offers, &self.trouble) {
            (Some(storage), _) => {
                let kind = storage.kind.as_deref().unwrap_or("unknown file system");
                let locks = match storage.has_locks {
                    true => "locks (flock)",
                    false => "no locks (flock): a run locks with a file that names its process",
                };
                let log = if storage.has_log { "write-ahead log" } else { "SQLite without write-ahead log" };
                format!("{kind}, {locks}, {log}")
            }
            (None, trouble) => trouble.clone().unwrap_or_default(),
        };
        format!("{}: {what}", self.path.display())
    }
}

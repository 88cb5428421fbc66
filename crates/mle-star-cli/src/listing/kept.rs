//! What was read of the runs of a directory, in the user's cache folder.
//!
//! A list that is missing, damaged or of another version is as good as none: the runs are read again. So no error is
//! told, neither when reading nor when writing.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use mle_star_backends::script::environment::cache_folder;
use mle_star_run::VERSION;
use mle_star_run::runs::inputs::write_atomically;
use serde::{Deserialize, Serialize};

use super::Stamped;

/// The folder in the cache folder.
const LISTS: &str = "lists";

#[derive(Serialize, Deserialize)]
struct Kept<R> {
    made_by: String,
    runs_dir: PathBuf,
    runs: R,
}

/// The runs as they were last read; none if nothing was kept.
pub fn load(runs_dir: &Path) -> HashMap<String, Stamped> {
    let read = || {
        let (file, runs_dir) = place(runs_dir)?;
        let kept: Kept<HashMap<String, Stamped>> = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        (kept.made_by == VERSION && kept.runs_dir == runs_dir).then_some(kept.runs)
    };
    read().unwrap_or_default()
}

/// Keeps the runs for the next process; `None` if that is not possible.
pub fn store(runs_dir: &Path, runs: &HashMap<String, Stamped>) -> Option<()> {
    let (file, runs_dir) = place(runs_dir)?;
    fs::create_dir_all(file.parent()?).ok()?;
    let kept = Kept { made_by: VERSION.to_owned(), runs_dir, runs };
    write_atomically(&file, &serde_json::to_vec(&kept).ok()?).ok()
}

/// The file for a runs directory, and the whole path of the latter.
fn place(runs_dir: &Path) -> Option<(PathBuf, PathBuf)> {
    let runs_dir = runs_dir.canonicalize().ok()?;
    let digest = blake3::hash(runs_dir.as_os_str().as_encoded_bytes()).to_hex();
    Some((cache_folder().ok()?.join(LISTS).join(format!("{}.json", &digest[..24])), runs_dir))
}

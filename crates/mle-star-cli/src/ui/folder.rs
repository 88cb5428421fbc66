//! The folder of a run below the runs directory, and the address of its page.

use std::path::{Path, PathBuf};

use mle_star_domain::layout;
use mle_star_report::{files, run_view};
use mle_star_run::runs;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The address of a run's page.
pub fn page_of(id: &str) -> String {
    const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    format!("/runs/{}", utf8_percent_encode(id, &ENCODED))
}

/// The run folder with this ID, which must be a plain name of a folder directly in the runs directory.
pub fn folder_of(runs_dir: &Path, id: &str) -> Option<PathBuf> {
    let is_name = !id.is_empty() && ![".", ".."].contains(&id) && !id.contains(['/', '\0']);
    let folder = runs_dir.join(id);
    (is_name
        && runs::is_run(&folder)
        && folder.canonicalize().ok()?.parent() == Some(&runs_dir.canonicalize().ok()?))
    .then_some(folder)
}

/// Changes whenever a run may have changed: sizes and times of its files, and whether it is locked.
pub fn stamp(folder: &Path) -> String {
    let log = format!("{}-wal", layout::JOURNAL);
    let seen = [layout::JOURNAL, &log, layout::RESULT, layout::REPORT].map(|name| files::stamp(folder, name));
    let notes = folder.join(layout::NOTES).symlink_metadata().and_then(|meta| meta.modified()).ok();
    format!("{seen:?} {notes:?} {}", run_view::is_running(folder))
}

//! A finished run to look at, `examples/recorded/flight-delays`.
//!
//! The run is a real one of the example with the offline agents. It takes place in a folder of a neutral name, because
//! journal and result hold the path of the data. Of its folder, what the views need is kept. A test opens it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{cargo, root, say, succeeds};
use crate::files;

const NAME: &str = "flight-delays";
/// Files that the views read. Scripts are in the journal; what they predicted is most of a run folder.
const KEPT: [&str; 8] = [
    "config.json",
    "data.md",
    "final/requirements.txt",
    "final/solution.py",
    "final/submission.csv",
    "journal.db",
    "result.json",
    "task.json",
];
/// Few rows and minutes: a small recording of a whole run.
const OPTIONS: [&str; 6] = ["--agents", "offline", "--time-limit", "360", "--set", "subsample_limit=1500"];
/// The largest recording, in bytes.
const LARGEST: u64 = 2_000_000;

/// Runs the example and replaces the recording; `true` if the run ended well and is small enough.
pub fn record() -> bool {
    if !succeeds(cargo("build --package mle-star-cli")) {
        return false;
    }
    let folder = std::env::temp_dir().join("mle-star");
    match performed(&folder).and_then(|run| keep(&run, &root().join("examples/recorded").join(NAME))) {
        Ok(size) => {
            say(&format!("recorded {size} bytes; {LARGEST} are allowed"));
            size <= LARGEST
        }
        Err(error) => {
            say(&format!("cannot record: {error}"));
            false
        }
    }
}

/// Runs the example in `folder`; the run's folder.
fn performed(folder: &Path) -> io::Result<PathBuf> {
    let runs = folder.join("runs");
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    copy(&root().join("examples").join(NAME), &folder.join(NAME))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let mut run = Command::new(target.join("debug/mle-star"));
    run.args(["run", NAME, "--run-id", NAME, "--runs-dir", "runs"]).args(OPTIONS);
    let status = run.current_dir(folder).status()?;
    if status.success() {
        Ok(runs.join(NAME))
    } else {
        Err(io::Error::other(format!("the run failed ({status})")))
    }
}

/// Replaces `recording` with what the views need of a run; its size in bytes.
fn keep(run: &Path, recording: &Path) -> io::Result<u64> {
    if recording.exists() {
        fs::remove_dir_all(recording)?;
    }
    KEPT.iter().try_for_each(|name| copy(&run.join(name), &recording.join(name)))?;
    files::files(recording, "").iter().map(|file| Ok(file.metadata()?.len())).sum()
}

/// Copies a file or the files of a folder.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for file in files::files(from, "") {
        let below = file.strip_prefix(from).unwrap_or(Path::new(""));
        let target = if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) };
        target.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(&file, &target)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_views_need_is_kept_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (run, recording) = (dir.path().join("run"), dir.path().join("recorded/x"));
        for name in KEPT.iter().chain(&["submissions/a.csv"]) {
            let file = run.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "four").unwrap();
        }
        fs::create_dir_all(&recording).unwrap();
        fs::write(recording.join("old"), "").unwrap();
        assert_eq!(keep(&run, &recording).unwrap(), 8 * 4);
        assert!(recording.join("final/solution.py").exists() && recording.join("journal.db").exists());
        assert!(!recording.join("submissions").exists() && !recording.join("old").exists());
    }
}

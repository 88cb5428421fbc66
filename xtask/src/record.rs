//! A finished run to look at, `examples/recorded/flight-delays`, and pictures of its page.
//!
//! The run is a real one of the example with the offline agents. `hidden.json` beside it has its score on the hidden answers, and
//! that of LightGBM. It takes place in a folder of a neutral name, because
//! journal and result hold the path of the data. Of its folder, what the views need is kept. A test opens it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::browser;
use crate::command::{cargo, root, say, succeeds, target};
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
const OPTIONS: [&str; 6] =
    ["--agents", "offline", "--set", "subsample_limit=1500", "--set", "ensemble_rounds=1"];
/// The seconds of the recorded run.
const SECONDS: &str = "360";
/// The pictures in `docs/`, and the most that each may have in bytes.
const PICTURES: [&str; 2] = ["page", "page-code"];
const LARGEST_PICTURE: u64 = 150_000;
/// The largest recording, in bytes.
const LARGEST: u64 = 2_900_000;

/// Runs the example and replaces the recording; `true` if the run ended well and is small enough.
pub fn record() -> bool {
    if !succeeds(cargo("build --package mle-star-cli")) {
        return false;
    }
    let folder = std::env::temp_dir().join("mle-star");
    let recording = root().join("examples/recorded").join(NAME);
    let recorded = || {
        let run = performed(&folder, NAME, SECONDS)?;
        let scores = hidden_scores(&run)?;
        let size = keep(&run, &recording)?;
        fs::write(recording.join("hidden.json"), scores)?;
        Ok::<_, io::Error>(size)
    };
    match recorded() {
        Ok(size) => {
            say(&format!("recorded {size} bytes; {LARGEST} are allowed"));
            size <= LARGEST && pictures()
        }
        Err(error) => {
            say(&format!("cannot record: {error}"));
            false
        }
    }
}

/// Takes the pictures of the page of the recorded run; `true` if all are small enough.
pub fn pictures() -> bool {
    let browser = match browser::prepare() {
        Ok(browser) => browser,
        Err(missing) => {
            say(&missing);
            return false;
        }
    };
    if !succeeds(cargo("build --package mle-star-cli")) {
        return false;
    }
    let taken = || {
        let mut test = cargo("test --package mle-star-cli --test it pictures_are_taken");
        test.env("MLE_STAR_TEST_CHROMIUM", &browser.chromium);
        test.env("MLE_STAR_TEST_CHROMEDRIVER", &browser.driver);
        test.env("MLE_STAR_TEST_PICTURED_RUNS", root().join("examples/recorded"));
        let is_taken = succeeds(test);
        let size = |name: &str| {
            let picture = target().join(format!("screenshots/{name}.png"));
            fs::copy(picture, root().join(format!("docs/{name}.png")))
        };
        let sizes: Vec<u64> = PICTURES.into_iter().map(size).collect::<io::Result<_>>()?;
        say(&format!("pictures have {sizes:?} bytes; {LARGEST_PICTURE} are allowed"));
        Ok::<_, io::Error>(is_taken && sizes.iter().all(|size| *size <= LARGEST_PICTURE))
    };
    taken().unwrap_or_else(|error| {
        say(&format!("cannot take pictures: {error}"));
        false
    })
}

/// Runs the example in `folder` for these seconds; the run's folder.
fn performed(folder: &Path, id: &str, seconds: &str) -> io::Result<PathBuf> {
    let runs = folder.join("runs");
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    copy(&root().join("examples").join(NAME), &folder.join(NAME))?;
    let mut run = program();
    run.args(["run", NAME, "--run-id", id, "--runs-dir", "runs", "--time-limit", seconds]).args(OPTIONS);
    let status = run.current_dir(folder).status()?;
    if status.success() {
        Ok(runs.join(id))
    } else {
        Err(io::Error::other(format!("the run failed ({status})")))
    }
}

fn program() -> Command {
    Command::new(target().join("debug/mle-star"))
}

/// The scores of a run and of LightGBM on the hidden answers, as JSON.
fn hidden_scores(run: &Path) -> io::Result<Vec<u8>> {
    let doctor = program().args(["doctor", "--json"]).output()?;
    let found: serde_json::Value = serde_json::from_slice(&doctor.stdout)?;
    let python = found["environment"]["path"].as_str().ok_or_else(|| io::Error::other("no environment"))?;
    let mut scoring = Command::new(python);
    scoring
        .arg(root().join("xtask/python/hidden_scores.py"))
        .arg(run)
        .arg(root().join("examples").join(NAME));
    let scored = scoring.stderr(Stdio::inherit()).output()?;
    if scored.status.success() { Ok(scored.stdout) } else { Err(io::Error::other("the run has no score")) }
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

//! `examples/recorded`: a finished run that needs nothing but this program to be looked at.
//!
//! It also shows that a later version reads the runs of an earlier one. `cargo xtask record` makes a new one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sealed::Sealed;
use crate::ui::served::Served;

/// A copy, because a report is written into the folder of its run.
pub fn copied() -> Sealed {
    let sealed = Sealed::with(&[]);
    copy(&recording(), &sealed.path("recorded/flight-delays"));
    sealed
}

fn recording() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../examples/recorded/flight-delays"].iter().collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_recorded_run_is_shown() {
    let sealed = copied();
    let shown = sealed.run("show recorded/flight-delays");
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    for words in [
        "flight-delays (finished)",
        "ROC-AUC (maximize)",
        "validated:",
        "held out:",
        "Phase 2",
        "finalization",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    let json = sealed.run("show recorded/flight-delays --json");
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json["result"]["trust"]["holdout_score"].as_f64().is_some_and(|score| score > 0.6), "{json}");
    let best = json["result"]["lineage"].as_array().unwrap().last().unwrap()["place"].as_str().unwrap();
    let script = sealed.run(&format!("show recorded/flight-delays --code {best}"));
    assert!(script.code == 0 && script.stdout.contains("import "), "{script:?}");
    assert!(sealed.run("list --runs-dir recorded").stdout.contains("flight-delays"));
}

#[test]
fn the_recorded_run_has_a_report_and_a_page() {
    let sealed = copied();
    let before = files(&sealed.path("recorded")).len();
    let served = Served::of(&sealed, "--runs-dir recorded");
    let page = served.get("/runs/flight-delays");
    assert!(page.status == 200 && page.body.contains("ROC-AUC"), "{page:?}");
    assert_eq!(served.get("/").status, 200);
    assert_eq!(files(&sealed.path("recorded")).len(), before, "pages write nothing");
    assert_eq!(sealed.run("report recorded/flight-delays").code, 0);
    assert!(sealed.read("recorded/flight-delays/report.html").contains("<svg"));
    assert_eq!(files(&sealed.path("recorded")).len(), before + 1);
}

#[test]
fn the_recording_is_small_and_names_no_machine() {
    let kept: Vec<PathBuf> =
        files(&recording()).into_iter().filter(|file| !file.ends_with("report.html")).collect();
    let size: u64 = kept.iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(size < 2_000_000, "{size} bytes");
    for file in kept {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for path in ["/home/", "/root/", "/work/", "/Users/"] {
            assert!(!text.contains(path), "{path} in {}", file.display());
        }
    }
}

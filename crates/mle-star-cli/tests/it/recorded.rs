//! `examples/recorded`: a finished run that needs nothing but this program to be looked at.
//!
//! It also shows that a later version reads the runs of an earlier one. `cargo xtask record` makes a new one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::check::on_terminal;
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// A copy, because a report is written into the folder of its run.
pub fn copied() -> Sealed {
    let sealed = Sealed::with(&[]);
    copy(&recording(), &sealed.path("recorded/flight-delays"));
    sealed
}

/// The score of a step of the recorded run, as pages show it.
pub fn score_of(sealed: &Sealed, place: &str) -> String {
    let shown = sealed.run("show recorded/flight-delays --json");
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let scores = shown["steps"].as_array().unwrap().iter().filter(|step| step["place"] == place);
    let score = scores.filter_map(|step| step["score"].as_f64()).next().unwrap();
    format!("{score:.4}")
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
        "count where they are joined: `planes.csv` at `tailnum`, `weather.csv` at `origin` and `time_hour`.",
        "leaderboard: ",
        "finalization",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    let json = sealed.run("show recorded/flight-delays --json");
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json["result"]["importance_why"].is_null(), "{json}");
    assert!(json["result"]["trust"]["holdout_score"].as_f64().is_some_and(|score| score > 0.6), "{json}");
    let best = json["result"]["lineage"].as_array().unwrap().last().unwrap()["place"].as_str().unwrap();
    let script = sealed.run(&format!("show recorded/flight-delays --code {best}"));
    assert!(script.code == 0 && script.stdout.contains("import "), "{script:?}");
    assert!(sealed.run("list --runs-dir recorded").stdout.contains("flight-delays"));
}

#[test]
fn the_pages_show_the_scores_of_the_recorded_run() {
    let pages = |name: &str| format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| fs::read_to_string(pages(name)).unwrap();
    let json = |name: &str| -> Value {
        serde_json::from_str(&read(&format!("examples/recorded/flight-delays/{name}"))).unwrap()
    };
    let sealed = copied();
    // The best solutions say enough.
    let shown = on_terminal(&sealed, "show recorded/flight-delays");
    let shown = shown.split("phase1/baseline-linear").next().unwrap().trim_end();
    let shown = shown.replace(&sealed.path("").display().to_string(), "/home/me/");
    let text = format!("$ mle-star show examples/recorded/flight-delays\n{shown}\n…");
    let picture = anstyle_svg::Term::new().palette(anstyle_svg::WIN10_CONSOLE).render_svg(&text);
    mle_star_needs::assert_file(pages("docs/terminal.svg").as_ref(), &picture);
    let trust = &json("result.json")["trust"];
    let shown = |name: &str| format!("{:.4}", trust[name].as_f64().unwrap());
    let line = format!("ROC-AUC: {} validated [", shown("validation_score"));
    for page in ["docs/start.md", "docs/trust.md"] {
        let text = read(page);
        assert!(text.contains(&line), "{page}: {line}");
        assert!(text.contains(&format!("], {} held out [", shown("holdout_score"))), "{page}");
    }
    let expected = json("result.json")["expected"]["score"].as_f64().unwrap();
    let words = format!("expected ROC-AUC {expected:.4}");
    assert!(read("README.md").contains(&words), "take the pictures again: {words}");
    let hidden = json("hidden.json");
    for name in ["score", "lightgbm"] {
        let score = format!("{:.5}", hidden[name].as_f64().unwrap());
        assert!(read("README.md").contains(&score), "{score}");
    }
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
    assert_eq!(files(&sealed.path("recorded")).len(), before + 1, "the report");
    let picture = sealed.run("show recorded/flight-delays --svg");
    assert_eq!(picture.code, 0, "{picture:?}");
    let is_alone = picture.stdout.starts_with("<svg xmlns=") && !picture.stdout.contains("href");
    assert!(is_alone && picture.stdout.contains("+0.0038</tspan> target encoding"), "{}", picture.stdout);
}

#[test]
fn the_recording_is_small_and_names_no_machine() {
    let kept: Vec<PathBuf> =
        files(&recording()).into_iter().filter(|file| !file.ends_with("report.html")).collect();
    let size: u64 = kept.iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(size < 2_900_000, "{size} bytes");
    for file in kept {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for path in ["/home/", "/root/", "/work/", "/Users/"] {
            assert!(!text.contains(path), "{path} in {}", file.display());
        }
    }
}

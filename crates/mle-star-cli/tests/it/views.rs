//! The report and `show`, during and after a run.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use mle_star::journal::{Journal, MadeWith};
use serde_json::Value;

use crate::claude::{KEY, WELL, claude, run_line, say};
use crate::events::until_files;
use crate::sealed::Sealed;

/// A run whose agent at `place` does not answer until its input ends.
pub fn hanging(sealed: &Sealed, place: &str) -> Child {
    let hang = "while read -r line; do :; done; exit 1";
    claude(sealed, &format!("case $MLE_STAR_PLACE in {place}) {hang} ;; esac\n{WELL}"));
    let path = format!("{}:/usr/bin:/bin", sealed.path("bin").display());
    let mut run = sealed.command(&format!("{} --json", run_line(sealed)));
    let mut run =
        run.envs([KEY, ("PATH", &path)]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_there = |line: String| line.contains("agent_started") && line.contains(place);
    assert!(lines.into_iter().any(is_there), "no call at {place}");
    run
}

/// The exit code after Ctrl-C.
fn interrupted(mut run: Child) -> Option<i32> {
    let sent = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(sent.success());
    run.wait().unwrap().code()
}

/// The run's report once it contains all of this.
pub fn report_with(sealed: &Sealed, parts: &[&str]) -> String {
    let folder = sealed.path("runs/r");
    until_files(&folder, || {
        let report = std::fs::read_to_string(folder.join("report.html")).ok()?;
        parts.iter().all(|part| report.contains(part)).then_some(report)
    })
}

#[test]
fn the_report_follows_the_run_and_is_there_when_it_is_stopped() {
    let sealed = Sealed::with(&[]);
    let run = hanging(&sealed, "phase2/path-0/t0/ablation");
    let report = report_with(&sealed, &[">running</span>", "path 1, step 1", "ablation, since "]);
    assert!(!report.contains("can be resumed"));
    let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
    assert_eq!((&shown["run"]["state"], &shown["run"]["phase"]), (&"running".into(), &"phase2".into()));
    assert_eq!(interrupted(run), Some(130));
    report_with(&sealed, &[">unfinished</span>", "can be resumed", "Best script so far"]);
    claude(&sealed, WELL);
    assert_eq!(say(&sealed, "resume r", &[KEY]).code, 0);
    let last = report_with(&sealed, &[">finished</span>", "Final script"]);
    assert_eq!(sealed.run("report r").code, 0);
    assert_eq!(sealed.read("runs/r/report.html"), last, "the same run gives the same bytes");
}

#[test]
fn show_tells_changes_and_solutions_and_prints_any_script() {
    let sealed = Sealed::with(&[]);
    claude(&sealed, WELL);
    assert_eq!(say(&sealed, &run_line(&sealed), &[KEY]).code, 0);
    let show = |more: &str| sealed.run(&format!("show r {more}"));
    let shown = show("").stdout;
    for part in [
        "validated:  0.50000\nsolution:   ",
        "leaderboard: ",
        "\n◆ phase1/candidate-1 ",
        "steps without a score:\n",
        "  finalization ",
        "valid submission",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(show("--code finalization").stdout, sealed.read("runs/r/final/solution.py"));
    let whole = sealed.read("runs/r/solutions/phase2.path-0.t0.k0.run.py");
    for place in ["phase2/path-0/t0/k0", "phase2/path-0/t0/k0/run"] {
        assert_eq!(show(&format!("--code {place}")).stdout, whole);
    }
    let diff = show("--diff phase2/path-0/t0/k0").stdout;
    for part in
        ["--- phase1/merge-1/run\n", "+++ phase2/path-0/t0/k0/run\n", "\n-block = 1\n", "\n+block = 2\n"]
    {
        assert!(diff.contains(part), "{part}: {diff}");
    }
    let said = show("--diff phase1/candidate-0");
    assert_eq!((said.code, said.stdout.as_str()), (0, ""));
    assert!(said.stderr.contains("has no parent script"), "{said:?}");
    let said = show("--code phase2/path-0/t0/k7");
    assert_eq!(said.code, 2);
    assert!(
        said.stderr.contains("no script at phase2/path-0/t0/k7") && said.stderr.contains("did you mean"),
        "{said:?}"
    );
}

#[test]
fn the_command_that_repeats_a_run_repeats_it() {
    let sealed = Sealed::with(&[]);
    claude(&sealed, WELL);
    assert_eq!(say(&sealed, &run_line(&sealed), &[KEY]).code, 0);
    let command = "run task.json --config config.json";
    assert!(sealed.read("runs/r/report.html").contains(&format!("mle-star {command}")));
    // The report's command runs in the run's folder; here the paths are adapted to another folder.
    let line = "run runs/r/task.json --config runs/r/config.json --run-id again";
    let said = say(&sealed, line, &[KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    let read = |run: &str, file: &str| sealed.read(&format!("runs/{run}/{file}"));
    for file in ["config.json", "prompts/coder.md"] {
        assert_eq!(read("again", file), read("r", file), "{file}");
    }
    // What the first run inferred is given to the second one.
    let task = |run: &str| {
        let mut task: serde_json::Value = serde_json::from_str(&read(run, "task.json")).unwrap();
        for column in task["columns"].as_array_mut().unwrap() {
            column["why"] = "".into();
        }
        task
    };
    assert_eq!(task("again"), task("r"));
}

#[test]
fn a_run_tells_what_it_was_made_with_and_not_what_shows_it() {
    let sealed = Sealed::with(&[]);
    let run = hanging(&sealed, "phase1/candidate-1/init");
    assert_eq!(interrupted(run), Some(130));
    // As if another version had resumed it.
    let between =
        MadeWith { mle_star: "0.0.7".to_owned(), python: "3.10.1".to_owned(), ..MadeWith::default() };
    let (journal, _) = Journal::open(&sealed.path("runs/r")).unwrap();
    journal.note_made_with(between).unwrap();
    drop(journal);
    claude(&sealed, WELL);
    let resumed = say(&sealed, "resume r", &[KEY]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert!(resumed.stderr.contains("note: the run used mle-star 0.0.7, Python 3.10.1"), "{resumed:?}");
    let this = format!("mle-star {}, Python 3.11.0, claude 2.1.329, linux ", mle_star_run::VERSION);
    let show = sealed.run("show r").stdout;
    let line = show.lines().find(|line| line.starts_with("made with:  ")).unwrap();
    let parts = format!("{this}; resumed with mle-star 0.0.7, Python 3.10.1, ; resumed with {this}");
    assert_eq!(line.replace(std::env::consts::ARCH, ""), format!("made with:  {parts}"));
    let line = line.strip_prefix("made with:  ").unwrap();
    assert!(sealed.read("runs/r/report.html").contains(&format!("<dt>made with</dt><dd>{line}</dd>")));
    let result: Value = serde_json::from_str(&sealed.read("runs/r/result.json")).unwrap();
    let versions: Vec<&str> = result["made_with"]
        .as_array()
        .unwrap()
        .iter()
        .map(|made_with| made_with["mle_star"].as_str().unwrap())
        .collect();
    assert_eq!(versions, [mle_star_run::VERSION, "0.0.7", mle_star_run::VERSION]);
    let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
    assert_eq!(shown["made_with"], result["made_with"]);
}

#[test]
fn a_resume_tells_in_one_line_what_is_read_back_and_then_what_is_new() {
    let sealed = Sealed::with(&[]);
    let run = hanging(&sealed, "phase2/path-0/t0/k0/coder");
    assert_eq!(interrupted(run), Some(130));
    let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
    let steps = shown["steps"].as_array().unwrap().iter();
    let scripts = steps.filter(|step| step["kind"] == "script" && step["outcome"] != "not ended").count();
    // An answer that is used again is no call.
    let by_phase = shown["usage"]["by_phase"].as_object().unwrap().values();
    let calls = by_phase.map(|used| used["calls"].as_u64().unwrap()).sum::<u64>() as usize;
    assert!(calls > 5 && scripts > 2, "{shown}");
    let events_before = sealed.read("runs/r/logs/events.jsonl").len();
    claude(&sealed, WELL);
    let resumed = say(&sealed, "resume r", &[KEY]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    let line = format!("replayed {} steps: {calls} agent calls, {scripts} scripts, ~$0.", calls + scripts);
    let parts = [
        line.as_str(),
        " already paid",
        "=== Phase 2: refinement ===",
        "path 1, step 1",
        "=== Finalization ===",
    ];
    assert!(parts.iter().all(|part| resumed.stderr.contains(part)), "{parts:?}: {resumed:?}");
    assert!(!["Phase 1", "  one ", "merge 1"].iter().any(|old| resumed.stderr.contains(old)), "{resumed:?}");
    // Readers of events get all of them again.
    let events = sealed.read("runs/r/logs/events.jsonl").split_off(events_before);
    let again = events.lines().filter(|line| line.contains("\"replayed\":true")).count();
    assert_eq!(again, calls + scripts, "{events}");
    assert!(events.contains("\"phase\":\"phase1\""), "{events}");
}

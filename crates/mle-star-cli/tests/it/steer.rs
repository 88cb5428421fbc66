//! Notes to the agents of a run, and forks of runs, by real processes.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::by_files::{answer_all, reply};
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::mcp::client::Client;
use crate::sealed::Sealed;
use crate::ui::served::Served;

/// A search with two planners.
const SEARCH: &str = "--set num_retrieved_models=1 --set outer_loop_steps=1 --set inner_loop_steps=3 \
                      --set num_parallel_solutions=1 --set ensemble_rounds=1";

fn start(sealed: &Sealed, line: &str) -> Child {
    sealed.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn interrupt(run: &mut Child) {
    let sent = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(sent.success() && run.wait().unwrap().code() == Some(130));
}

/// Answers the calls of the run `r` until it asks at a place with this end.
fn until(sealed: &Sealed, run: &mut Child, end: &str) -> std::path::PathBuf {
    let is_held = |call: &Path| call.display().to_string().ends_with(end);
    answer_all(run, &sealed.path("runs/r/agents"), |call| (!is_held(call)).then(|| reply(call))).unwrap()
}

#[test]
fn a_note_reaches_the_planners_of_a_running_and_of_an_interrupted_run() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let line = format!("run data --run-id r --agents files --set python={python} {SEARCH}");
    let mut run = start(&sealed, &line);
    let planner = until(&sealed, &mut run, "k1.planner");
    let prompt = |call: &Path| fs::read_to_string(call.join("prompt.md")).unwrap();
    assert!(!prompt(&planner).contains("Notes of the user"));

    let said = sealed.say("note r \"--try ranks\nof sizes\"");
    assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{said:?}");
    assert_eq!(said.stderr, "planners see the note from their next call on\n");
    let shown = sealed.run("show r").stdout;
    assert!(shown.contains("your note:  --try ranks (") && shown.contains("; not seen yet)"), "{shown}");
    fs::write(planner.join("draft"), reply(&planner)).unwrap();
    fs::rename(planner.join("draft"), planner.join("reply.txt")).unwrap();
    let next = until(&sealed, &mut run, "k2.planner");
    assert!(prompt(&next).ends_with("A note of the user:\n> --try ranks\n> of sizes"), "{}", prompt(&next));
    interrupt(&mut run);

    // From the page and by a tool.
    let page = Served::of(&sealed, "");
    assert!(page.get("/runs/r").body.contains("/runs/r/note\""));
    assert!(page.get("/runs/r/note").body.contains("<textarea name=\"text\""));
    assert_eq!(page.post("/runs/r/note", "text=%3Cb%3Eby+page").status, 303);
    assert_eq!(page.post("/runs/r/note", "text=+").status, 409);
    assert!(page.get("/runs/r").body.contains("&lt;b&gt;by page"));
    let mut client = Client::of(&sealed);
    let left =
        client.ask("tools/call", &json!({"name": "note", "arguments": {"run": "r", "text": "by tool"}}));
    assert_eq!(left["result"]["isError"], false, "{left}");

    let mut run = start(&sealed, "resume r");
    let again = until(&sealed, &mut run, "k2.planner");
    assert_eq!(again, next, "the same question");
    assert!(
        prompt(&again)
            .ends_with("> of sizes\n\nA note of the user:\n> <b>by page\n\nA note of the user:\n> by tool")
    );
    let ended = answer_all(&mut run, &sealed.path("runs/r/agents"), |call| Some(reply(call))).unwrap_err();
    assert_eq!(ended.code(), Some(0));
    let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
    let notes = shown["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 3);
    assert!(notes.iter().all(|note| note["first_seen"] == "phase2/path-0/t0/k2/planner"), "{notes:?}");
    assert!(sealed.read("runs/r/report.html").contains("&lt;b&gt;by page"));
    let said = sealed.run("note r more");
    assert!(said.code == 2 && said.stderr.starts_with("error: run r is finished"), "{said:?}");
}

#[test]
fn what_cannot_be_a_note_is_said() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, "exit 1");
    sealed.run(&format!("run data --run-id r --agents offline --set python={python} {SMALL}"));
    let check = |line: &str, code: i32, words: &str| {
        let said = sealed.say(line);
        assert!(said.code == code && said.stderr.contains(words), "{line}: {said:?}");
    };
    check("note r \"\"", 2, "error: the note is empty");
    check(&format!("note r \"{}\"", "x".repeat(4001)), 2, "the note has 4001 characters");
    check("note q text", 2, "no run q in runs");
    check("note r text", 0, "the agents of this run are offline");
    let mut piped = sealed.command("note r -").stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(piped.stdin.as_mut().unwrap(), b"by pipe\n").unwrap();
    assert!(piped.wait_with_output().unwrap().status.success());
    let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
    assert_eq!((&shown["notes"][0]["text"], &shown["notes"][1]["text"]), (&json!("text"), &json!("by pipe")));
}

/// A finished run `r` with offline agents.
fn finished() -> Sealed {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let line =
        format!("run data --run-id r --agents offline --set holdout=off --set python={python} {SEARCH}");
    let said = sealed.run(&line);
    assert_eq!(said.code, 0, "{said:?}");
    sealed
}

#[test]
fn a_fork_shares_what_comes_before_its_place() {
    let sealed = finished();
    let before = sealed.read("runs/r/result.json");
    let said = sealed.run("fork r --at phase2/path-0/t0/k1 --run-id f --set inner_loop_steps=4 --json");
    assert_eq!(said.code, 0, "{said:?}");
    let events = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ended = events.filter(|event| event["event"] == "script_ended");
    let (old, new): (Vec<Value>, Vec<Value>) = ended.partition(|event| event["replayed"] == true);
    let at =
        |events: &[Value], place: &str| events.iter().any(|event| event["place"] == format!("{place}/run"));
    for place in ["phase1/candidate-0", "phase2/path-0/t0", "phase2/path-0/t0/k0"] {
        assert!(at(&old, place) && !at(&new, place), "{place}: {}", said.stdout);
        assert_eq!(sealed.read(&script("f", place)), sealed.read(&script("r", place)));
    }
    let result: Value = serde_json::from_str(&sealed.read("runs/f/result.json")).unwrap();
    let from = &result["forked_from"];
    assert_eq!((&from["run"], &from["place"]), (&json!("r"), &json!("phase2/path-0/t0/k1")));
    let attempts = &result["phase2_results"][0]["step_history"][0]["inner_loop_attempts"];
    assert_eq!(attempts.as_array().unwrap().len(), 4);
    let shown = sealed.run("show f").stdout;
    assert!(shown.contains("forked:     from r at phase2/path-0/t0/k1\n"), "{shown}");
    assert!(sealed.read("runs/f/report.html").contains("Forked from r at phase2/path-0/t0/k1."));
    assert_eq!(sealed.read("runs/r/result.json"), before, "the parent stays");
    assert!(!sealed.read("runs/r/report.html").contains("A new run from here"), "a report starts nothing");
}

fn script(run: &str, place: &str) -> String {
    format!("runs/{run}/solutions/{}.run.py", place.replace('/', "."))
}

#[test]
fn a_fork_that_cannot_be_says_why_and_leaves_nothing() {
    let sealed = finished();
    let check = |options: &str, words: &str| {
        let said = sealed.run(&format!("fork r {options} --run-id f"));
        assert!(said.code == 2 && said.stderr.contains(words), "{options}: {said:?}");
        assert_eq!(sealed.names("runs"), ["r"], "{options}");
    };
    check("--at phase2/path-0/t0/k7", "error: the run has nothing at \"phase2/path-0/t0/k7\"");
    check("--at phase2/path-0/t0/k7", "hint: did you mean phase2/path-0/t0");
    check("--at nowhere", "the run has nothing at \"nowhere\"");
    check("--at phase2 --set seed=3", "seed cannot be changed in a fork (--set)");
    check("--at phase2 --set metric=MAE", "metric cannot be changed in a fork (--set)");
    check("--at phase2 --set nonsense=3", "nonsense");
    check("--at phase2 --set inner_loop_steps=0", "inner_loop_steps");
    check("--at phase2 --set num_retrieved_models=2", "the run before phase2 would not be the recorded one");
    let said = sealed.run("fork r --at phase1 --run-id r");
    assert!(said.code == 2 && said.stderr.contains("run r already exists"), "{said:?}");
    let said = sealed.run("fork r --at phase1 --set num_retrieved_models=2 --run-id f --quiet");
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_fork_starts_from_the_page_and_by_a_tool() {
    let sealed = finished();
    let page = Served::of(&sealed, "");
    let to = "/runs/r/fork?at=phase2/path-0/t0/k1";
    assert!(page.get("/runs/r").body.contains(to), "{}", page.get("/runs/r").body);
    assert!(page.get(to).body.contains("name=\"at\" value=\"phase2/path-0/t0/k1\""));
    assert_eq!(page.post("/runs/r/fork", "at=nowhere").status, 409);
    let started = page
        .post("/runs/r/fork", "at=phase2%2Fpath-0%2Ft0%2Fk1&settings=inner_loop_steps%3D4%0D%0A&time_limit=");
    assert_eq!(started.status, 303, "{started:?}");
    let id = started.header("location").unwrap().trim_start_matches("/runs/").to_owned();
    assert_eq!(sealed.run(&format!("watch {id}")).code, 0);
    let result: Value = serde_json::from_str(&sealed.read(&format!("runs/{id}/result.json"))).unwrap();
    assert_eq!(result["config"]["inner_loop_steps"], 4);
    let mut client = Client::of(&sealed);
    let forked = client.data("fork", &json!({"run": "r", "at": "finalization", "run_id": "t"}));
    assert_eq!(forked["run_id"], "t");
    assert_eq!(client.watch_to_the_end(&json!("t"))["exit_code"], 0);
    assert!(client.error("fork", &json!({"run": "r", "at": "nowhere"})).contains("has nothing at"));
}

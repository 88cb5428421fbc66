//! Runs whose calls are answered through files. The test answers them, and the interpreter is a shell script.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::exits::{SCORE, SUBMIT, interpreter};
use crate::sealed::Sealed;

/// The smallest search.
const SMALL: &str = "--set num_retrieved_models=1 --set outer_loop_steps=1 --set inner_loop_steps=1 \
                     --set num_parallel_solutions=1 --set ensemble_rounds=1";

/// The reply to a call, by the agent in its `call.json`.
pub fn reply(call: &Path) -> String {
    let asked: Value = serde_json::from_slice(&fs::read(call.join("call.json")).unwrap()).unwrap();
    let text = match (asked["agent"].as_str().unwrap(), asked["variant"].as_str()) {
        ("retriever", _) => r#"{"models": [{"model_name": "one", "example_code": "fit()"}]}"#,
        ("leakage", _) => r#"{"answers": [{"leakage_status": "No Data Leakage", "code_block": ""}]}"#,
        ("extractor", _) => {
            "The block:\n```json\n{\"plans\": [{\"code_block\": \"block = 1\", \"plan\": \"change it\"}]}\n```"
        }
        ("data", _) => "All the provided information is used.",
        ("test", Some(_)) => "There is no subsampling.",
        ("coder", _) => "```python\nblock = 2\nblock = abs(block)\n```",
        ("summarize", _) => "The block matters.",
        _ => "```python\nblock = 1\nprint(block)\n```",
    };
    text.to_owned()
}

/// Answers a call: the reply is moved into place.
fn answer(call: &Path) {
    answer_with(call, &reply(call));
}

fn answer_with(call: &Path, reply: &str) {
    fs::write(call.join("draft"), reply).unwrap();
    fs::rename(call.join("draft"), call.join("reply.txt")).unwrap();
}

/// The calls that wait for an answer.
fn open_calls(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_open = |call: &PathBuf| call.join("ready").exists() && !call.join("reply.txt").exists();
    entries.map(|entry| entry.path()).filter(is_open).collect()
}

/// Answers the calls of a run until it ends or asks at the place `held`, whose call is returned unanswered.
fn answer_until(child: &mut Child, folder: &Path, held: &str) -> Result<PathBuf, ExitStatus> {
    answer_all(child, folder, |call| {
        let is_held = call.display().to_string().ends_with(held);
        (!is_held).then(|| reply(call))
    })
}

/// Answers the calls of a run until it ends or there is no reply to a call, which is returned unanswered.
pub fn answer_all(
    child: &mut Child,
    folder: &Path,
    reply: impl Fn(&Path) -> Option<String>,
) -> Result<PathBuf, ExitStatus> {
    let deadline = Instant::now() + Duration::from_secs(120);
    while Instant::now() < deadline {
        for call in open_calls(folder) {
            match reply(&call) {
                Some(reply) => answer_with(&call, &reply),
                None => return Ok(call),
            }
        }
        if let Some(status) = child.try_wait().unwrap() {
            return Err(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("neither an end nor a call to hold");
}

fn start(sealed: &Sealed, line: &str) -> Child {
    let output = fs::File::create(sealed.path("said")).unwrap();
    sealed.command(line).stdout(Stdio::null()).stderr(output).spawn().unwrap()
}

#[test]
fn a_run_is_answered_through_files_across_a_kill_and_an_interrupt() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let calls = sealed.path("runs/r/agents");

    let mut run =
        start(&sealed, &format!("run data --run-id r --agents files --set python={python} {SMALL}"));
    let coder = answer_until(&mut run, &calls, ".coder").unwrap();
    assert!(fs::read_to_string(coder.join("prompt.md")).unwrap().contains("change it"));
    run.kill().unwrap();
    run.wait().unwrap();
    let said = sealed.read("said");
    assert!(said.starts_with("agents: files (as requested)\n"), "{said}");
    assert_eq!(said.matches("waiting for answers in ").count(), 1, "{said}");
    assert!(said.contains(&format!("{}\n", calls.display())), "{said}");
    answer(&coder);

    let mut run = start(&sealed, "resume r");
    let check = answer_until(&mut run, &calls, "k0.leakage").unwrap();
    let sent = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(sent.success() && run.wait().unwrap().code() == Some(130));
    assert!(check.join("withdrawn").exists() && !check.join("ready").exists());

    let mut run = start(&sealed, "resume r");
    let ended = answer_until(&mut run, &calls, "nowhere").unwrap_err();
    assert_eq!(ended.code(), Some(0), "{}", sealed.read("said"));
    let refined = sealed.read("runs/r/solutions/phase2.path-0.t0.k0.run.py");
    assert!(refined.contains("block = 2"), "the reply that came meanwhile: {refined}");
    check_calls(&sealed);
    check_views(&sealed);
}

/// One call a place, numbered in order, all answered.
fn check_calls(sealed: &Sealed) {
    let names = sealed.names("runs/r/agents");
    let mut places: Vec<&str> = names.iter().map(|name| name.split_once('-').unwrap().1).collect();
    let numbers: Vec<String> = (1..=names.len()).map(|number| format!("{number:03}")).collect();
    assert!(names.iter().zip(&numbers).all(|(name, number)| name.starts_with(number)), "{names:?}");
    assert_eq!(places[..2], ["phase1.retriever", "phase1.candidate-0.init"]);
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), names.len(), "{names:?}");
    for name in &names {
        let has = |file: &str| sealed.path(&format!("runs/r/agents/{name}/{file}")).exists();
        assert!(has("answered") && !has("ready") && !has("withdrawn"), "{name}");
        assert_eq!(has("schema.json"), name.ends_with("retriever") || is_structured(name), "{name}");
    }
}

fn is_structured(name: &str) -> bool {
    ["leakage", "extractor"].iter().any(|agent| name.ends_with(agent))
}

fn check_views(sealed: &Sealed) {
    let result: Value = serde_json::from_str(&sealed.read("runs/r/result.json")).unwrap();
    assert_eq!(result["total_cost_usd"], 0.0);
    assert_eq!(result["config"]["agents"], "files");
    for text in [&sealed.run("show r").stdout, &sealed.read("runs/r/report.html")] {
        assert!(!text.contains("cost:") && !text.contains("sonnet)"), "{text}");
    }
}

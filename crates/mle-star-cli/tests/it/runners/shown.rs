//! Runners of a config file: local processes that speak to the binary as those of other machines do.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use mle_star_backends::runners::entry::{RunnerEntry, selected};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;

/// A config file with two real runners, a command that prints something else and fails, and one that says nothing.
fn config() -> String {
    let binary = env!("CARGO_BIN_EXE_mle-star");
    format!(
        "max_concurrent_scripts: 0\nrunners:\n- name: near\n  command: [{binary}, runner]\n  count: 2\n  slots: 3\n\
         - name: other\n  command: [{binary}, runner]\n\
         - name: broken\n  command: [sh, -c, \"printf 'no \\\\33[31mroute\\\\n' ; exit 3\"]\n\
         - name: mute\n  command: [sleep, '600']\n  start_timeout: 1\n"
    )
}

fn sealed() -> Sealed {
    Sealed::with(&[("c.yaml", &config())])
}

#[test]
fn the_entries_of_the_docs_are_valid() {
    let page = include_str!("../../../../../docs/machines.md");
    let mut blocks = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let whole: Value = serde_saphyr::from_str(blocks.next().unwrap()).unwrap();
    let mut all: Vec<RunnerEntry> = serde_json::from_value(whole["runners"].clone()).unwrap();
    for block in blocks {
        let entries: Value = serde_saphyr::from_str(block).unwrap();
        let entries: Vec<RunnerEntry> =
            serde_json::from_value(entries).unwrap_or_else(|error| panic!("{error}: {block}"));
        selected(&entries, &[]).unwrap();
        all.extend(entries);
    }
    let names: Vec<&str> = all.iter().map(|entry| &*entry.name).collect();
    assert_eq!(names, ["box", "box", "gpu", "near", "ray", "docker", "apptainer", "pod"]);
}

#[test]
fn doctor_measures_the_runners_that_it_reaches_and_says_why_it_misses_others() {
    let sealed = sealed();
    let said = sealed.run("doctor --config c.yaml");
    assert_eq!(said.code, 0, "a runner that is not reached is a finding: {said:?}");
    assert!(said.stderr.contains("starting 4 runners, for up to 600 s"), "{said:?}");
    let block = |name: &str| {
        let blocks = said.stdout.split("\n\n");
        let found = blocks.filter(|block| block.starts_with(&format!("runner {name}:"))).collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{said:?}");
        found[0].to_owned()
    };
    assert!(block("near").contains("reached in "), "{said:?}");
    assert!(block("near").contains("up to 2 of them, 3 scripts at once on each"), "{said:?}");
    for row in ["host: ", "mle-star: ", "python: ", "cores: ", "isolation: ", "round trip: ", "data: "] {
        assert!(block("other").lines().any(|line| line.trim_start().starts_with(row)), "{row}: {said:?}");
    }
    let broken = block("broken");
    assert!(broken.contains("not reached after ") && broken.contains("exit code 3"), "{broken}");
    assert!(broken.contains("route") && !said.stdout.contains('\u{1b}'), "{broken:?}");
    assert!(block("mute").contains("did not answer within 1 s"), "{said:?}");
}

#[test]
fn ctrl_c_ends_a_check_of_runners() {
    let sealed = Sealed::with(&[]);
    let [queued, told] = ["queued", "told"].map(|name| sealed.path(name).display().to_string());
    let queue = format!("trap 'echo > {told}; exit 1' TERM; echo > {queued}; while true; do sleep 0.1; done");
    let entries = json!([{"name": "mute", "command": ["sh", "-c", queue]}]);
    sealed.write("c.yaml", json!({"runners": entries}).to_string().as_bytes());
    let mut command = sealed.command("doctor --config c.yaml");
    let mut doctor = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    while !sealed.path("queued").exists() {
        assert!(doctor.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(doctor.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(doctor.wait().unwrap().code(), Some(130));
    assert!(sealed.path("told").exists(), "the command was killed without a word");
}

#[test]
fn a_run_names_the_runners_of_its_scripts_also_after_a_resume_without_them() {
    let binary = env!("CARGO_BIN_EXE_mle-star");
    // Agents are told of the machine, so no runner starts only to tell.
    let config =
        format!("runners:\n- name: near\n  command: [{binary}, runner]\n  count: 2\n  machine: this one\n");
    let sealed = Sealed::with(&[("c.yaml", &config)]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let options = format!("--run-id r --set python={python} --set max_concurrent_scripts=0 {SMALL}");
    let said = sealed.run(&format!("run data --config c.yaml {options}"));
    assert_eq!(said.code, 0, "{said:?}");
    let show = |sealed: &Sealed| -> Vec<Value> {
        let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
        shown["runners"].as_array().unwrap().clone()
    };
    let runners = show(&sealed);
    assert!(!runners.is_empty());
    let scripts = |runners: &[Value]| runners.iter().map(|one| one["scripts"].as_u64().unwrap()).sum::<u64>();
    let ran = scripts(&runners);
    assert!(ran > 4, "{runners:?}");
    assert!(runners.iter().all(|one| one["state"] == "ended" && one["lost_scripts"] == 0), "{runners:?}");
    let text = sealed.run("show r").stdout;
    assert!(text.lines().any(|line| line.starts_with("runners:    near-1 on ")), "{text}");
    let log = sealed.read("runs/r/logs/events.jsonl");
    assert!(log.contains("\"event\":\"runner\",\"runner\":\"near-1\",\"state\":\"ready\""), "{log}");
    assert!(sealed.read("runs/r/report.html").contains("<section id=\"runners\""));
    fs::remove_file(sealed.path("runs/r/result.json")).unwrap();
    let said = sealed.run("resume r --runner none");
    assert_eq!(said.code, 2, "scripts have no place to run: {said:?}");
    sealed.write("more.yaml", config.replace("near", "more").as_bytes());
    let said = sealed.run("resume r --config more.yaml");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(show(&sealed), runners, "nothing ran again, and the earlier runners are known");
}

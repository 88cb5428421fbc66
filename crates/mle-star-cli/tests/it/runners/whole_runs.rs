//! Whole runs with runners, by the real binary.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mle_star::journal::{Kind, read};
use mle_star_domain::effects::ScriptOutcome;
use mle_star_needs::needs;
use serde_json::{Value, json};

use crate::exits::{SMALL, SUBMIT, interpreter};
use crate::killed::{effects, outcome, working_below};
use crate::runs;
use crate::sealed::{Said, Sealed};

/// Every script runs on a runner.
const ONLY_THERE: &str = "--set max_concurrent_scripts=0 --config runners.yaml";

/// An entry whose runners are the real binary with a cache in the test's folder.
fn entry(sealed: &Sealed, name: &str) -> Value {
    let cache = format!("MLE_STAR_CACHE={}", sealed.path("cache").display());
    let command = ["env", &cache, env!("CARGO_BIN_EXE_mle-star"), "runner", "--copy-data"];
    json!({"name": name, "command": command})
}

/// Writes a config file with these runners.
fn configure(sealed: &Sealed, file: &str, entries: &Value) {
    sealed.write(file, json!({"runners": entries}).to_string().as_bytes());
}

/// A folder with a task, an interpreter whose scripts take this many seconds and have scores that depend on their text,
/// and a config file with one runner called `near`. Returns the command line of a run, too.
fn small(seconds: f64) -> (Sealed, String) {
    let sealed = Sealed::with(&[]);
    let score = "sum=$(cksum < solution.py); echo \"Final Validation Performance: 0.${sum%% *}\"";
    let python = interpreter(&sealed, &format!("sleep {seconds}; {SUBMIT}; {score}"));
    configure(&sealed, "runners.yaml", &json!([entry(&sealed, "near")]));
    (sealed, format!("run data --json --set python={python} {SMALL} --run-id"))
}

/// What a run has to have in common with one elsewhere: not its configuration, and not what the machine of the process
/// keeps its own scripts from.
fn result(sealed: &Sealed, run: &str) -> Value {
    let mut outcome = outcome(sealed, run);
    outcome["result"].as_object_mut().unwrap().remove("config");
    for made_with in outcome["result"]["made_with"].as_array_mut().unwrap() {
        made_with.as_object_mut().unwrap().remove("kept_from");
    }
    outcome["result"]["usage"].as_object_mut().unwrap().remove("interrupted_calls");
    outcome
}

/// The runners of a run's scripts, in order of their start; empty for this machine.
fn places(said: &str) -> Vec<String> {
    let events = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let started = events.filter(|event| event["event"] == "script_started");
    started.map(|event| event["runner"].as_str().unwrap_or_default().to_owned()).collect()
}

fn succeeded(said: &Said) {
    assert_eq!(said.code, 0, "{}", said.stderr);
}

/// Nothing of a run may be left, on any host, soon after its end.
fn nothing_is_left(sealed: &Sealed) {
    let (began, folder) = (Instant::now(), sealed.path(".").canonicalize().unwrap());
    while !working_below(&folder).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", working_below(&folder));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts the binary and kills it when it has started a script at `place` on a runner of this name.
fn killed_at(sealed: &Sealed, line: &str, place: &str, runner: &str) {
    let mut child = start(sealed, line);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let (place, runner) = (format!("\"place\":\"{place}"), format!("\"runner\":\"{runner}-"));
    let is_there =
        |line: &String| line.contains("script_started") && line.contains(&place) && line.contains(&runner);
    assert!(lines.into_iter().any(|line| is_there(&line)), "no script at {place} on {runner}");
    std::thread::sleep(Duration::from_millis(200));
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_is_left(sealed);
}

fn start(sealed: &Sealed, line: &str) -> Child {
    sealed.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_run_on_runners_alone_ends_like_one_here() {
    let (sealed, line) = small(0.1);
    succeeded(&sealed.run(&format!("{line} here")));
    let mut near = entry(&sealed, "near");
    near["count"] = json!(2);
    configure(&sealed, "runners.yaml", &json!([near]));
    let said = sealed.run(&format!("{line} there {ONLY_THERE}"));
    succeeded(&said);
    nothing_is_left(&sealed);
    assert_eq!(result(&sealed, "there"), result(&sealed, "here"));
    assert_eq!(effects(&sealed, "there"), effects(&sealed, "here"));
    assert!(places(&said.stdout).iter().all(|runner| runner.starts_with("near-")), "{}", said.stdout);
    for effect in read(&sealed.path("runs/there")).unwrap().effects {
        if effect.kind == Kind::Script {
            let outcome: ScriptOutcome = serde_json::from_value(effect.outcome.unwrap()).unwrap();
            assert!(outcome.runner.is_some_and(|runner| runner.starts_with("near-")), "{}", effect.place);
        }
    }
    assert_eq!(sealed.names("cache/runners"), Vec::<String>::new());
}

#[test]
fn real_scripts_have_the_same_scores_on_runners_even_if_one_is_killed() {
    needs!(Libraries);
    let sealed = runs::task();
    let python = runs::interpreter();
    let line = format!("run data --json --set python={} {} --run-id", python.display(), runs::SMALL);
    // As many scripts at once on each machine, so that each has as many threads.
    succeeded(&sealed.run(&format!("{line} here --jobs 2")));
    let mut near = entry(&sealed, "near");
    (near["count"], near["slots"]) = (json!(2), json!(2));
    configure(&sealed, "runners.yaml", &json!([near]));
    killed_at(&sealed, &format!("{line} there {ONLY_THERE}"), "phase2", "near");
    let said = sealed.run("resume there --json");
    succeeded(&said);
    nothing_is_left(&sealed);
    assert!(!places(&said.stdout).is_empty());
    assert!(places(&said.stdout).iter().all(|runner| runner.starts_with("near-")), "{}", said.stdout);
    assert_eq!(result(&sealed, "there"), result(&sealed, "here"));
    assert_eq!(effects(&sealed, "there"), effects(&sealed, "here"));
}

#[test]
fn runners_use_the_environment_of_their_own_cache() {
    needs!(Libraries);
    let sealed = runs::task();
    // Each side finds the environment in a cache of its own.
    let made = runs::interpreter().ancestors().nth(3).unwrap().to_owned();
    for cache in [".cache/mle-star", "cache"] {
        let own = sealed.path(cache).join("python").join(made.file_name().unwrap());
        fs::create_dir_all(&own).unwrap();
        symlink(made.join("venv"), own.join("venv")).unwrap();
        let complete = fs::read_to_string(made.join("complete.json")).unwrap();
        let complete = complete.replace(made.to_str().unwrap(), own.to_str().unwrap());
        fs::write(own.join("complete.json"), complete).unwrap();
    }
    configure(&sealed, "runners.yaml", &json!([entry(&sealed, "near")]));
    let said = sealed.run(&format!("run data --json {} --run-id r {ONLY_THERE}", runs::SMALL));
    succeeded(&said);
    nothing_is_left(&sealed);
    let runners = places(&said.stdout);
    assert!(!runners.is_empty() && runners.iter().all(|runner| runner == "near-1"), "{}", said.stdout);
}

#[test]
fn a_killed_run_goes_on_with_the_last_runners_or_with_others() {
    let (sealed, line) = small(0.4);
    succeeded(&sealed.run(&format!("{line} here")));
    configure(&sealed, "other.yaml", &json!([entry(&sealed, "other"), entry(&sealed, "unused")]));
    killed_at(&sealed, &format!("{line} r {ONLY_THERE}"), "phase1/merge-1", "near");
    // A file that is changed meanwhile has no effect: the run has its own copy.
    sealed.write("runners.yaml", b"runners: []");
    killed_at(&sealed, "resume r --json", "phase2", "near");
    let none = sealed.run("resume r --runner none");
    assert_eq!(none.code, 2, "{none:?}");
    assert!(none.stderr.contains("max_concurrent_scripts is 0, and there are no runners"), "{none:?}");
    killed_at(&sealed, "resume r --json --config other.yaml --runner other", "phase2", "other");
    let said = sealed.run("resume r --json");
    succeeded(&said);
    nothing_is_left(&sealed);
    let runners = places(&said.stdout);
    assert!(!runners.is_empty() && runners.iter().all(|runner| runner == "other-1"), "{runners:?}");
    assert_eq!(result(&sealed, "r"), result(&sealed, "here"));
    assert_eq!(effects(&sealed, "r"), effects(&sealed, "here"));
}

#[test]
fn wrong_runners_are_usage_errors_that_name_them() {
    let (sealed, line) = small(0.1);
    let check = |entries: Value, more: &str, parts: &[&str]| {
        configure(&sealed, "runners.yaml", &entries);
        let said = sealed.run(&format!("{line} r --config runners.yaml {more}"));
        assert_eq!(said.code, 2, "{said:?}");
        for part in parts {
            assert!(said.stderr.contains(part), "{part}: {said:?}");
        }
        assert!(said.stderr.contains("hint: ") && !sealed.path("runs/r").exists(), "{said:?}");
    };
    let nowhere = ["max_concurrent_scripts is 0, and there are no runners"];
    check(json!([]), "--set max_concurrent_scripts=0", &nowhere);
    check(json!([]), "--jobs 0", &nowhere);
    check(json!([{"name": "box", "comand": ["ssh", "box"]}]), "", &["box", "comand"]);
    check(json!([{"name": "box"}]), "", &["runner \"box\": it needs a `command`"]);
    check(json!([{"command": ["ssh", "box"]}]), "", &["runners", "name"]);
    check(json!([{"name": "box", "command": "ssh box"}]), "", &["runners", "command"]);
    check(json!([{"name": "box", "command": ["x"], "slots": 0}]), "", &["runner \"box\"", "slots"]);
    check(json!({"name": "box", "command": ["x"]}), "", &["runners"]);
    let two = json!([{"name": "box", "command": ["x"]}, {"name": "lab", "command": ["x"]}]);
    check(two, "--runner desk", &["there is no runner desk", "the configuration has box, lab"]);
}

#[test]
fn a_run_whose_runners_cannot_be_started_says_so_and_goes_on_later() {
    let (sealed, line) = small(0.1);
    let broken = json!({"name": "far", "command": ["sh", "-c", "echo No route to host >&2; exit 255"]});
    let working = sealed.read("runners.yaml");
    configure(&sealed, "runners.yaml", &json!([broken]));
    let began = Instant::now();
    let said = sealed.run(&format!("{line} r {ONLY_THERE}"));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    for part in [
        "error: no runner can be used: far: its command ended with exit code 255",
        "No route to host",
        "hint: try them with `mle-star doctor",
        "mle-star resume r",
    ] {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
    nothing_is_left(&sealed);
    sealed.write("runners.yaml", working.as_bytes());
    succeeded(&sealed.run("resume r --config runners.yaml"));
    assert!(effects(&sealed, "r").values().all(|times| *times == 1));
}

#[test]
fn commands_that_start_runners_get_no_keys() {
    let (sealed, line) = small(0.1);
    let mut near = entry(&sealed, "near");
    let all = sealed.path("environment").display().to_string();
    let words = ["sh", "-c", &format!("env > {all}; exec \"$@\""), "sh"].map(|word| json!(word));
    near["command"].as_array_mut().unwrap().splice(0..0, words);
    configure(&sealed, "runners.yaml", &json!([near]));
    let withheld = [
        "OUR_ENDPOINT_KEY",
        "MLE_STAR_KEY",
        "MLE_STAR_LLM_TOKEN",
        "HF_TOKEN",
        "AWS_BEARER_TOKEN_BEDROCK",
        "OTHER_API_KEY",
    ];
    let kept = ["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "KUBECONFIG", "SLURM_CONF", "SSH_AUTH_SOCK"];
    let variables: Vec<_> = withheld.iter().chain(&kept).map(|name| (*name, "value")).collect();
    let key = "--set openai.key_variable=OUR_ENDPOINT_KEY --set agents=offline";
    succeeded(&sealed.run_with(&format!("{line} r {ONLY_THERE} {key}"), &variables));
    let environment = sealed.read("environment");
    let names: Vec<&str> = environment.lines().filter_map(|line| line.strip_suffix("=value")).collect();
    assert!(kept.iter().all(|name| names.contains(name)), "{names:?}");
    assert_eq!(names.len(), kept.len(), "{names:?}");
}

#[test]
fn a_run_whose_runners_wait_in_a_queue_ends_at_its_time_limit() {
    let (sealed, line) = small(0.1);
    let working = sealed.read("runners.yaml");
    configure(&sealed, "runners.yaml", &json!([{"name": "queued", "command": ["sleep", "600"]}]));
    let began = Instant::now();
    let said = sealed.run(&format!("{line} r {ONLY_THERE} --time-limit 4"));
    assert_eq!(said.code, 4, "{said:?}");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    nothing_is_left(&sealed);
    sealed.write("runners.yaml", working.as_bytes());
    succeeded(&sealed.run("resume r --config runners.yaml --time-limit 600"));
}

//! The real binary on the example, killed with SIGKILL in the middle of its scripts, and resumed each time, ends as if
//! undisturbed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mle_star::journal::{EffectState, Kind, read};
use mle_star_needs::needs;
use serde_json::Value;

use crate::runs::interpreter;
use crate::sealed::Sealed;

/// Two candidates, a merge, two paths of one attempt, one ensemble round; two concurrent scripts with one core
/// each, so that sums have a fixed order. With this seed, the paths end with different scripts.
const SEARCH: &str = "--set num_retrieved_models=2 --set outer_loop_steps=1 --set inner_loop_steps=1 --set seed=2 \
                      --set num_parallel_solutions=2 --set ensemble_rounds=1 --time-limit 1200 --jobs 2";
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flight-delays");
/// Training rows of the example: enough for every model, and few enough for scripts of a second.
const ROWS: usize = 400;
/// The ends of the places of the scripts in which the run is killed, one in each stage, and the maximum time until then in
/// seconds. Which of two paths is ahead depends on the machine: the first that comes to a stage is meant.
const KILLS: [(&str, f64); 6] = [
    ("phase1/candidate-1/run", 0.5),
    ("phase1/merge-1/run", 0.3),
    ("/t0/run", 0.3),
    ("/t0/k0/run", 0.0),
    ("phase3/extra-1/run", 0.3),
    ("phase3/r0/run", 0.3),
];

/// How long something may take that is done at once on an idle machine.
const LONGEST: Duration = Duration::from_secs(60);

#[test]
fn a_run_killed_twice_ends_like_an_undisturbed_one() {
    needs!(Libraries);
    let sealed = shortened_example();
    start_whole(&sealed);
    kill_and_resume(&sealed, start(&sealed, &format!("{} killed", line())), &[KILLS[0], KILLS[3]]);
    ends_alike(&sealed);
    let predicted = |run: &str| sealed.run(&format!("predict {run} example/data/test.csv"));
    let (whole, killed) = (predicted("intact"), predicted("killed"));
    assert_eq!((whole.code, &whole.stdout), (0, &killed.stdout), "{whole:?} {killed:?}");
    let rows = sealed.read("example/data/test.csv").lines().count();
    assert_eq!(whole.stdout.lines().count(), rows);
}

#[test]
fn a_run_killed_at_random_moments_ends_like_an_undisturbed_one() {
    needs!(Libraries);
    let sealed = shortened_example();
    start_whole(&sealed);
    let child = start(&sealed, &format!("{} killed", line()));
    std::thread::sleep(Duration::from_secs_f64(0.3 * Random(0xbe91).next()));
    kill(&sealed, child, "at its beginning");
    // A run that was killed before it had a journal is started again with the same ID.
    let known = read(&sealed.path("runs/killed")).is_ok();
    let again = if known { "resume killed --json".to_owned() } else { format!("{} killed", line()) };
    kill_and_resume(&sealed, start(&sealed, &again), &KILLS);
    ends_alike(&sealed);
}

/// The command that runs the example, without the ID.
fn line() -> String {
    format!("run example --json --set python={} {SEARCH} --run-id", interpreter().display())
}

fn start_whole(sealed: &Sealed) {
    let whole = sealed.run(&format!("{} intact", line()));
    assert_eq!(whole.code, 0, "{whole:?}");
}

/// Kills the run in each of these scripts, resumes it each time, and waits for its end.
fn kill_and_resume(sealed: &Sealed, mut child: Child, kills: &[(&str, f64)]) {
    let (mut random, mut in_the_middle) = (Random(0x5eed), 0);
    for (stage, longest) in kills {
        let place = &comes_to(&mut child, stage);
        if !place.starts_with("phase1") {
            comes_to_an_answer(sealed, place);
        }
        std::thread::sleep(Duration::from_secs_f64(longest * random.next()));
        kill(sealed, child, place);
        in_the_middle += usize::from(is_cut_off(sealed, place));
        if !place.starts_with("phase1") {
            has_an_answer(sealed, place);
        }
        child = start(sealed, "resume killed --json");
    }
    assert!(
        in_the_middle >= kills.len() / 2,
        "{in_the_middle} kills in the middle of a script: they are too short for this test"
    );
    std::io::copy(child.stdout.as_mut().unwrap(), &mut std::io::sink()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// The killed run has the outcome of the intact one, to the byte, and did nothing twice. Both names are equally long: a kept model has
/// the path of its script in it.
fn ends_alike(sealed: &Sealed) {
    assert_eq!(without_cuts(sealed, "killed"), without_cuts(sealed, "intact"));
    assert!(!sealed.path("runs/killed/final/provisional.json").exists());
    assert_eq!(effects(sealed, "killed"), effects(sealed, "intact"));
}

/// Waits until the answer of Phase 1 lies on the disk: it is written beside the search.
fn comes_to_an_answer(sealed: &Sealed, place: &str) {
    let (file, deadline) = (sealed.path("runs/killed/final/provisional.json"), Instant::now() + LONGEST);
    while !file.exists() {
        assert!(Instant::now() < deadline, "no answer in {LONGEST:?} at {place}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// From the end of Phase 1 on, a killed run leaves its best solution and a checked submission.
fn has_an_answer(sealed: &Sealed, place: &str) {
    let last = |name: &str| sealed.read(&format!("runs/killed/final/{name}"));
    let provisional: Value = serde_json::from_str(&last("provisional.json")).unwrap();
    let solution = provisional["solution"]["run"].as_str().unwrap().replace('/', ".");
    assert_eq!(last("solution.py"), sealed.read(&format!("runs/killed/solutions/{solution}.py")), "{place}");
    let rows = last("submission.csv").lines().count();
    let sample = sealed.read("example/data/sample_submission.csv").lines().count();
    assert_eq!(rows, sample, "{place}: {provisional}");
}

/// The outcome of a run without the number of interrupted calls, since a kill may interrupt a short call of the
/// other path, and without which member of a combination was the fastest, since that depends on what else the machine does.
fn without_cuts(sealed: &Sealed, run: &str) -> Value {
    let mut outcome = outcome(sealed, run);
    outcome["result"]["usage"].as_object_mut().unwrap().remove("interrupted_calls");
    for probe in outcome["result"]["trust"]["probes"].as_array_mut().unwrap() {
        let detail = probe["detail"].as_str().unwrap();
        let end = detail.find(" (the member of").unwrap_or(detail.len());
        probe["detail"] = detail[..end].into();
    }
    outcome
}

/// A folder with the example in `example/`, with the first rows of its training data.
fn shortened_example() -> Sealed {
    let (sealed, example) = (Sealed::with(&[]), Path::new(EXAMPLE));
    for name in ["task.yaml", "config.yaml", "description.md"] {
        sealed.write(&format!("example/{name}"), &fs::read(example.join(name)).unwrap());
    }
    for entry in fs::read_dir(example.join("data")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut text = fs::read_to_string(&path).unwrap();
        if name == "train.csv" {
            text = text.split_inclusive('\n').take(ROWS + 1).collect();
        }
        sealed.write(&format!("example/data/{name}"), text.as_bytes());
    }
    sealed
}

/// A small generator of numbers in 0..1, the same in every run of the test.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 33).unwrap()) / f64::from(u32::MAX >> 1)
    }
}

fn start(sealed: &Sealed, line: &str) -> Child {
    sealed.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Reads the run's events until it has started a script whose place ends like this, and returns the place.
fn comes_to(child: &mut Child, stage: &str) -> String {
    let mut events = String::new();
    for line in BufReader::new(child.stdout.as_mut().unwrap()).lines().map_while(Result::ok) {
        let event: Value = serde_json::from_str(&line).unwrap();
        let place = event["place"].as_str().unwrap_or_default();
        if event["event"] == "script_started" && place.ends_with(stage) {
            return place.to_owned();
        }
        events += &(line + "\n");
    }
    panic!("no script was started at {stage}:\n{events}");
}

/// Kills the run and waits until its child processes have ended.
fn kill(sealed: &Sealed, mut child: Child, when: &str) {
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(survivors(sealed), Vec::<String>::new(), "killed {when}");
}

/// Whether the script was running when the run was killed.
fn is_cut_off(sealed: &Sealed, place: &str) -> bool {
    let effects = read(&sealed.path("runs/killed")).unwrap().effects;
    effects.iter().any(|effect| effect.place.as_str() == place && effect.state == EffectState::Begun)
}

/// Processes that still work in a run folder of this test. Waits until there are none.
fn survivors(sealed: &Sealed) -> Vec<String> {
    let deadline = Instant::now() + LONGEST;
    loop {
        let found = working_below(&fs::canonicalize(sealed.path(".")).unwrap());
        if found.is_empty() || Instant::now() > deadline {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// IDs of the processes that work in a folder.
pub fn working_below(folder: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let works_there = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    processes.filter(works_there).map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// The result without its times and paths.
pub fn outcome(sealed: &Sealed, run: &str) -> Value {
    let mut result: Value = serde_json::from_str(&sealed.read(&format!("runs/{run}/result.json"))).unwrap();
    for key in ["durations", "total_duration_seconds", "submission_path"] {
        result.as_object_mut().unwrap().remove(key);
    }
    without_times(&mut result);
    let submission = sealed.read(&format!("runs/{run}/final/submission.csv"));
    serde_json::json!({"result": result, "submission": submission})
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| {
                !["created_at", "at", "milliseconds_per_row", "seconds"].contains(&key.as_str())
            });
            fields.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

/// The number of records of each place: one each, if no finished effect was repeated or lost.
pub fn effects(sealed: &Sealed, run: &str) -> BTreeMap<String, usize> {
    let mut ended = BTreeMap::new();
    for effect in read(&sealed.path("runs").join(run)).unwrap().effects {
        if effect.kind != Kind::Decision && effect.outcome.is_some() {
            assert_eq!(effect.state, EffectState::Ended, "{}", effect.place);
            *ended.entry(effect.place.to_string()).or_insert(0) += 1;
        }
    }
    ended
}

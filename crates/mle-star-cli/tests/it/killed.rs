//! The real binary on the example, killed with SIGKILL at random moments, and resumed each time, ends as if undisturbed.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mle_star::journal::{EffectState, Kind, read};
use serde_json::Value;

use crate::runs::interpreter;
use crate::sealed::Sealed;

/// Two candidates, a merge, two paths of one attempt, one ensemble round; two scripts at once, each on a core of
/// its own, so that sums are added up in one order.
const SEARCH: &str = "--set num_retrieved_models=2 --set outer_loop_steps=1 --set inner_loop_steps=1 \
                      --set num_parallel_solutions=2 --set ensemble_rounds=1 --time-limit 1200 --jobs 2";
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flight-delays");
/// Kills at most; what is left then runs to its end. Even a run twice as fast as the first is killed three times.
const KILLS: usize = 8;

#[test]
#[ignore = "needs an interpreter with the libraries in MLE_STAR_TEST_PYTHON"]
fn a_run_killed_at_random_moments_ends_like_an_undisturbed_one() {
    let python = interpreter();
    let sealed = Sealed::with(&[]);
    let line = format!("run {EXAMPLE} --set python={} {SEARCH} --run-id", python.display());
    let begun = Instant::now();
    assert_eq!(sealed.run(&format!("{line} whole")).code, 0);
    let undisturbed = begun.elapsed();

    let mut random = Random(0x5eed);
    let mut child = start(&sealed, &format!("{line} killed"));
    let mut kills = 0;
    while kills < KILLS && !ended_before(&mut child, undisturbed.mul_f64(random.next() / 6.0)) {
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(survivors(&sealed), Vec::<String>::new(), "after kill {kills}");
        kills += 1;
        // Killed before its journal was there, a run is begun anew under its name.
        let known = read(&sealed.path("runs/killed")).is_ok();
        child = start(&sealed, &if known { "resume killed".to_owned() } else { format!("{line} killed") });
    }
    assert!(kills >= 3, "only {kills} kills: the run is too short for this test");
    assert!(child.wait().unwrap().success());
    assert_eq!(outcome(&sealed, "killed"), outcome(&sealed, "whole"));
    assert_eq!(effects(&sealed, "killed"), effects(&sealed, "whole"));
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
    sealed.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn ended_before(child: &mut Child, moment: Duration) -> bool {
    let deadline = Instant::now() + moment;
    while Instant::now() < deadline {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Processes that still work in a run folder of this test, looked for until there is none or 10 s are over.
fn survivors(sealed: &Sealed) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let found = working_below(&fs::canonicalize(sealed.path(".")).unwrap());
        if found.is_empty() || Instant::now() > deadline {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Ids of the processes that work in a folder.
pub fn working_below(folder: &std::path::Path) -> Vec<String> {
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
            fields.retain(|key, _| key != "created_at" && key != "at");
            fields.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

/// How often each place ended; once each, if no finished effect was repeated and none was lost.
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

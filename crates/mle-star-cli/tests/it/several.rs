//! Several tasks from one process.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::Sealed;

/// Three tasks and something else in `tasks/`; the last has no target that can be inferred.
fn tasks() -> Sealed {
    let sealed = Sealed::with(&[("tasks/notes.txt", "none of these")]);
    for task in ["one", "two/prepared/public"] {
        sealed.write_task(&format!("tasks/{task}"));
    }
    sealed.write("tasks/wrong/train.csv", b"a,b\n1,2\n");
    sealed.write("tasks/drafts/idea.txt", b"not a task");
    sealed
}

/// The IDs of the existing runs, by name of the task.
fn runs(sealed: &Sealed) -> Vec<String> {
    sealed.names("runs")
}

#[test]
fn each_task_has_its_run_and_a_bad_one_stops_no_other() {
    let sealed = tasks();
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let said = sealed.run(&format!("run tasks --set python={python} {SMALL}"));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains("error: tasks/wrong: "), "{said:?}");
    assert_eq!(said.stderr.matches("note: skipped tasks/drafts: ").count(), 1, "{said:?}");
    let ids = runs(&sealed);
    assert!(ids.len() == 2 && ids[0].starts_with("one-") && ids[1].starts_with("two-"), "{ids:?}");
    for id in &ids {
        assert!(sealed.path(&format!("runs/{id}/final/submission.csv")).is_file(), "{id}");
    }
    let table: Vec<&str> = said.stderr.lines().rev().take(4).collect();
    assert!(table[3].starts_with("task ") && table[3].ends_with("submission"), "{table:?}");
    assert!(table[0].starts_with("two ") && table[0].contains(" 0  /"), "{table:?}");
    assert!(table[2].starts_with("tasks/wrong ") && table[2].ends_with(" 2  -"), "{table:?}");
    for name in ["one: ", "two: "] {
        assert!(said.stderr.lines().any(|line| line.starts_with(name)), "{said:?}");
    }
}

#[test]
fn several_runs_cannot_share_a_name() {
    let sealed = tasks();
    sealed.write("named.yaml", b"run_id: r\n");
    let check = |line: &str, part: &str| {
        let said = sealed.run(line);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(part) && said.stderr.contains("hint: "), "{said:?}");
        assert_eq!(runs(&sealed), Vec::<String>::new());
    };
    check("run data tasks/one --run-id r", "cannot share the run ID r");
    check("run tasks --run-id r", "cannot share the run ID r");
    check("run data tasks/one --config named.yaml", "cannot share the run ID r");
    check("run", "<TASK>");
}

/// A script that prints the times of its start and end, in nanoseconds.
fn noting(sealed: &Sealed, work: &str) -> String {
    let now = "date +at:%s%N";
    interpreter(sealed, &format!("{now}; {work}; {now}; {SUBMIT}; {SCORE}"))
}

/// The maximum number of concurrent scripts of all runs.
fn at_once(sealed: &Sealed) -> usize {
    let mut moments = Vec::new();
    for id in runs(sealed) {
        let logs = format!("runs/{id}/logs");
        for name in sealed.names(&logs).iter().filter(|name| name.ends_with(".stdout")) {
            let text = sealed.read(&format!("{logs}/{name}"));
            let times: Vec<u64> =
                text.lines().filter_map(|line| line.strip_prefix("at:")?.parse().ok()).collect();
            let [begun, ended] = times[..] else { panic!("{name}: {text}") };
            moments.extend([(begun, 1_isize), (ended, -1)]);
        }
    }
    moments.sort_unstable();
    let mut running = 0;
    let counts = moments.iter().map(|(_, change)| {
        running += change;
        running
    });
    counts.max().unwrap().cast_unsigned()
}

#[test]
fn slots_are_shared_and_events_name_their_run() {
    let check = |jobs: usize| {
        let sealed = tasks();
        let python = noting(&sealed, "sleep 0.05");
        let said = sealed
            .run(&format!("run data tasks/one tasks/two --json --jobs {jobs} --set python={python} {SMALL}"));
        assert_eq!(said.code, 0, "{said:?}");
        let most = at_once(&sealed);
        assert!(most <= jobs && (jobs == 1 || most > 1), "{most} of {jobs}");
        let of_event =
            |line: &str| serde_json::from_str::<Value>(line).unwrap()["run_id"].as_str().unwrap().to_owned();
        let mut ids: Vec<String> = said.stdout.lines().map(of_event).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids, runs(&sealed), "{said:?}");
    };
    check(1);
    check(3);
}

#[test]
fn an_interrupt_reaches_every_run_and_each_goes_on() {
    let sealed = tasks();
    let python = noting(&sealed, WHILE_SLOW);
    let line = format!("run data tasks/one tasks/two --json --jobs 2 --set python={python} {SMALL}");
    let mut command = sealed.command(&line);
    command.envs([SLOW]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // Two wait for their scripts to end, the third for a slot.
    assert_eq!(lines.filter(|line| line.contains("\"script_started\"")).take(2).count(), 2);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert_eq!(stderr.matches("continue with: mle-star resume ").count(), 3, "{stderr}");
    for id in runs(&sealed) {
        assert!(stderr.contains(&format!("mle-star resume {id}")), "{id}: {stderr}");
        let said = sealed.run(&format!("resume {id}"));
        assert_eq!(said.code, 0, "{said:?}");
    }
}

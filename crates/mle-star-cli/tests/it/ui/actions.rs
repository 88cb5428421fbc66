//! Actions of pages: only signals and new processes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use mle_star::journal::hold;

use super::served::Served;
use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::Sealed;

/// Waits for the first script to start.
fn running(sealed: &Sealed, line: &str) -> Child {
    let mut run = sealed.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("script_started")));
    run
}

#[test]
fn a_second_stop_is_asked_for_by_its_name() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, "exec sleep 600");
    let mut run = running(&sealed, &format!("run data --run-id r --json --set python={python} {SMALL}"));
    let page = Served::of(&sealed, "");
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &run.id().to_string()]).status().unwrap().success());
    };
    assert!(page.get("/runs/r/stop").body.contains(">Stop it<"));
    // It cannot answer yet.
    signal("-STOP");
    for _ in 0..2 {
        assert_eq!(page.post("/runs/r/stop", "").status, 303);
    }
    let again = page.get("/runs/r/stop").body;
    assert!(again.contains("Stop it at once") && again.contains("name=\"at_once\" value=\"yes\""), "{again}");
    signal("-CONT");
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn a_running_run_is_not_deleted() {
    let sealed = Sealed::with(&[("runs/idle/task.json", "{}"), ("runs/idle/journal.lock", "")]);
    let python = interpreter(&sealed, "exec sleep 600");
    let mut run = running(&sealed, &format!("run data --run-id r --json --set python={python} {SMALL}"));
    let page = Served::of(&sealed, "");
    let check = |answered: crate::ui::served::Answered| {
        assert!(answered.status == 409 && answered.body.contains("works on r"), "{answered:?}");
        assert_eq!(sealed.names("runs"), ["idle", "r"]);
    };
    check(page.get("/delete?run=r"));
    check(page.post("/delete", "run=idle&run=r"));
    let said = sealed.run("delete idle r --yes");
    assert!(said.code == 1 && said.stderr.contains("works on"), "{said:?}");
    let said = sealed.run("delete idle");
    assert!(said.code == 2 && said.stderr.contains("--yes"), "{said:?}");
    assert!(!page.get("/runs/r").body.contains("/delete"), "it is not offered");
    assert_eq!(sealed.names("runs"), ["idle", "r"]);
    assert_eq!(sealed.run("delete idle --yes").code, 0);
    assert_eq!(page.get("/delete?run=idle").status, 404);
    assert_eq!(page.get("/delete").status, 409);
    assert_eq!(sealed.names("runs"), ["r"]);
    assert_eq!(page.post("/runs/r/stop", "").status, 303);
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn only_a_process_of_ours_that_holds_the_run_is_signalled() {
    let sealed = Sealed::with(&[("runs/r/task.json", "{}")]);
    let page = Served::of(&sealed, "");
    let check = |part: &str| {
        for answered in [page.get("/runs/r/stop"), page.post("/runs/r/stop", "")] {
            assert!(answered.status == 409 && answered.body.contains(part), "{part}: {answered:?}");
        }
    };
    check("no process works on this run");
    // This test is not an mle-star process.
    let _held = hold(&sealed.path("runs/r")).unwrap();
    check("not an mle-star process of yours");
    // An mle-star process that works on another run.
    let other = Served::of(&sealed, "");
    for holder in
        [format!("process {}", other.id()), "process 1".to_owned(), "process -1".to_owned(), "x".to_owned()]
    {
        fs::write(sealed.path("runs/r/journal.lock"), holder).unwrap();
        check("not an mle-star process of yours");
    }
    assert_eq!(other.get("/").status, 200, "it is still there");
}

#[test]
fn a_failed_start_is_reported_and_leaves_nothing() {
    let sealed = Sealed::with(&[]);
    let page = Served::of(&sealed, "");
    let check = |form: &str, part: &str| {
        let answered = page.post("/start", form);
        assert!(answered.status == 409 && answered.body.contains(part), "{part}: {answered:?}");
        assert_eq!(sealed.names("runs"), Vec::<String>::new(), "{form}");
    };
    check("folder=nowhere", "No such folder");
    check("folder=data&target=nothing", "nothing");
    check("folder=data&settings=a%3D1", "nknown config key");
    check("folder=data&settings=nothing", "has no value");
    check("folder=data&time_limit=soon", "<strong>Time-limit: ");
    // Detected by the started process.
    check("folder=data&settings=python%3D%2Fno%2Fpython", "/no/python");
}

#[test]
fn a_run_is_started_and_resumed_without_scripts_in_the_page() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{WHILE_SLOW}; {SUBMIT}; {SCORE}")).replace('/', "%2F");
    let mut slow = sealed.command("ui --json --port 0");
    slow.envs([SLOW]);
    let mut page = Served::started(slow);
    let settings = SMALL.replace("--set ", "").replace('=', "%3D").replace(' ', "%0D%0A");
    let started = page.post("/start", &format!("folder=data&settings=python%3D{python}%0D%0A{settings}"));
    let to = started.header("location").unwrap_or_default().to_owned();
    assert!(started.status == 303 && to.starts_with("/runs/"), "{started:?}");
    assert_eq!(page.post(&format!("{to}/stop"), "").status, 303);
    let state = |page: &Served, state: &str| page.get(&to).body.contains(&format!("class=\"state {state}\""));
    // The updates of this run's page; earlier ones come first.
    let wait_for = |page: &Served, wanted: &str| {
        let mut lines = BufReader::new(page.stream("GET", &format!("{to}/events?since=0"), &[], "")).lines();
        let wanted = format!("class=\\\"state {wanted}\\\"");
        assert!(lines.any(|line| line.unwrap().contains(&wanted)), "it is never {wanted}");
    };
    wait_for(&page, "unfinished");
    assert_eq!(page.post(&format!("{to}/resume"), "time_limit=&max_budget_usd=").status, 303);
    assert!(state(&page, "running"));
    page.kill();
    // Another page finds it still running.
    let page = Served::of(&sealed, "");
    assert!(state(&page, "running"));
    assert_eq!(page.post(&format!("{to}/stop"), "").status, 303);
    wait_for(&page, "unfinished");
    assert_eq!(page.post(&format!("{to}/resume"), "").status, 303);
    wait_for(&page, "finished");
    let log = sealed.read(&format!("{}/logs/mle-star.log", to.trim_start_matches('/')));
    assert!(log.contains("submission: "), "{log}");
}

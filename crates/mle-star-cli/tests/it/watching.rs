//! `watch`, and the output on a terminal.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::openpty;

use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;

/// A run `r` in progress, whose first script waits while the file `slow` exists.
struct Going {
    sealed: Sealed,
    run: Child,
}

impl Going {
    fn new() -> Self {
        let sealed = Sealed::with(&[("slow", "")]);
        let slow = sealed.path("slow").display().to_string();
        let wait = format!("while [ -e {slow} ]; do sleep 0.05; done");
        let python = interpreter(&sealed, &format!("{wait}; {SUBMIT}; {SCORE}"));
        // Without the comparison of the tables, which would be the first script.
        let line = format!("run data --run-id r --json --set python={python} --set preset=paper {SMALL}");
        let mut run = sealed.command(&line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("\"script_started\"")));
        // Who watches reads the events of the run's folder, which may come later.
        let deadline = Instant::now() + Duration::from_secs(60);
        while !sealed.read("runs/r/logs/events.jsonl").contains("\"script_started\"") {
            assert!(Instant::now() < deadline, "the event is not written");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { sealed, run }
    }

    /// Starts to watch, and waits until it shows the run.
    fn watch(&self, more: &str) -> Watching {
        Watching::new(&self.sealed, more)
    }

    fn go_on(&self) {
        std::fs::remove_file(self.sealed.path("slow")).unwrap();
    }
}

struct Watching {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Watching {
    fn new(sealed: &Sealed, more: &str) -> Self {
        let mut command = sealed.command(&format!("watch r {more}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        stderr.read_line(&mut first).unwrap();
        assert_eq!(first, "watching runs/r; Ctrl-C stops watching, the run continues\n");
        Self { child, stderr }
    }

    /// Exit code, stdout and the rest of stderr.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stdout, stderr)
    }
}

fn signal(child: &Child, name: &str) -> ExitStatus {
    Command::new("kill").args([name, &child.id().to_string()]).status().unwrap()
}

#[test]
fn those_who_watch_see_the_rest_and_the_end() {
    let mut going = Going::new();
    let watching = [going.watch(""), going.watch(""), going.watch("--json")];
    going.go_on();
    assert_eq!(going.run.wait().unwrap().code(), Some(0));
    let [one, two, json] = watching.map(Watching::end);
    for (code, stdout, stderr) in [one, two] {
        // It shows the events since it started to watch, if any.
        assert!(code == Some(0) && !stdout.contains("run_ended"), "{stdout}{stderr}");
        for part in ["LightGBM ", "=== Finalization ===", "submission: ", "run r has finished; "] {
            assert!(stderr.contains(part), "{part}: {stderr}");
        }
        assert!(!stderr.contains("=== Phase 1"), "that was before: {stderr}");
    }
    let (code, stdout, _) = json;
    assert_eq!(code, Some(0));
    let file = going.sealed.read("runs/r/logs/events.jsonl");
    assert!(file.ends_with(&stdout) && stdout.contains("\"run_ended\"") && file.len() > stdout.len());
    // Later there is nothing left to watch.
    let said = going.sealed.run("watch r");
    assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{said:?}");
    assert_eq!(said.stderr, "run r has finished; see `mle-star show r`\n");
}

#[test]
fn an_interrupt_ends_the_watching_and_not_the_run() {
    let mut going = Going::new();
    for more in ["", "--json"] {
        let watching = going.watch(more);
        assert!(signal(&watching.child, "-INT").success());
        let (code, stdout, stderr) = watching.end();
        // It shows the events since it started to watch, if any.
        assert!(code == Some(0) && !stdout.contains("run_ended"), "{stdout}{stderr}");
        assert_eq!(stderr, "stopped watching; the run continues: r\n");
    }
    going.go_on();
    assert_eq!(going.run.wait().unwrap().code(), Some(0));
}

#[test]
fn a_stopped_run_is_reported_with_a_hint() {
    let check = |with: &str, code: i32, parts: &[&str]| {
        let mut going = Going::new();
        let watching = going.watch("");
        assert!(signal(&going.run, with).success());
        let _ = going.run.wait().unwrap();
        let (found, _, stderr) = watching.end();
        assert_eq!(found, Some(code), "{stderr}");
        let said = going.sealed.run("watch r");
        for text in [stderr.as_str(), &said.stderr] {
            assert!(parts.iter().all(|part| text.contains(part)), "{with}: {text}");
            assert!(text.contains("hint: continue with: mle-star resume r\n"), "{text}");
        }
        assert_eq!(said.code, code, "{said:?}");
    };
    check("-INT", 130, &["error: interrupted after "]);
    check("-TERM", 143, &["error: interrupted after "]);
    check("-KILL", 1, &["error: run r is not running; its outcome was not recorded\n"]);
    let said = Sealed::with(&[]).run("watch r");
    assert!(said.code == 2 && said.stderr.contains("no run r"), "{said:?}");
}

/// The output of a run on a terminal with this environment; optionally, the terminal is closed during the run.
fn on_terminal(environment: &[(&str, &str)], closed: bool) -> (Option<i32>, String) {
    let sealed = Sealed::with(&[]);
    // Long enough for the status to be drawn.
    let wait = "case $PWD in *candidate-0*) sleep 0.4 ;; esac";
    let python = interpreter(&sealed, &format!("{wait}; {SUBMIT}; {SCORE}"));
    let pty = openpty(None, None).unwrap();
    // The run must not keep it open itself.
    fcntl(&pty.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
    let mut command = sealed.command(&format!("run data --run-id r --set python={python} {SMALL}"));
    command.envs(environment.iter().copied()).stderr(pty.slave);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    // The command holds the terminal open too.
    drop(command);
    let mut terminal = File::from(pty.master);
    let mut bytes = vec![0; 64];
    if closed {
        terminal.read_exact(&mut bytes).unwrap();
        drop(terminal);
    } else {
        bytes.clear();
        // A closed terminal gives a read error.
        let _ = terminal.read_to_end(&mut bytes);
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&bytes).into_owned())
}

#[test]
fn a_terminal_gets_what_it_can_show() {
    let check = |environment: &[(&str, &str)], live: bool, colour: bool| {
        let (code, text) = on_terminal(environment, false);
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(text.contains("\u{1b}[J"), live, "{environment:?}: {text}");
        assert_eq!(text.contains("\u{1b}[1m"), colour, "{environment:?}: {text}");
        assert_eq!(text.contains('\u{1b}'), live, "{environment:?}: {text}");
        assert!(text.contains("=== Phase 1") && text.contains("submission: "), "{text}");
        // The cursor is never hidden and no mode is changed: nothing must be restored.
        assert!(!text.contains("\u{1b}[?"), "{text}");
    };
    check(&[("TERM", "xterm")], true, true);
    check(&[("TERM", "xterm"), ("NO_COLOR", "1")], true, false);
    check(&[("TERM", "dumb")], false, false);
    check(&[], false, false);
    check(&[("TERM", "xterm"), ("CI", "true")], false, false);
}

#[test]
fn a_run_outlives_its_terminal() {
    let (code, text) = on_terminal(&[("TERM", "xterm")], true);
    assert_eq!(code, Some(0), "{text}");
}

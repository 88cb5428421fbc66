//! Whole runs on a file system without locks: a library that the test compiles answers for the kernel.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::{Said, Sealed};

/// `flock` fails, as on Lustre; with `NO_FCNTL`, locks of `fcntl` too.
const LIBRARY: &str = "#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
int flock(int file, int operation) { errno = ENOSYS; return -1; }
static int answer(const char *name, int file, int command, void *argument) {
    int is_lock = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
    if (is_lock && getenv(\"NO_FCNTL\")) { errno = ENOLCK; return -1; }
    return ((int (*)(int, int, ...))dlsym(RTLD_NEXT, name))(file, command, argument);
}
#define ANSWER(name) int name(int file, int command, ...) { \\
    va_list all; va_start(all, command); void *argument = va_arg(all, void *); va_end(all); \\
    return answer(#name, file, command, argument); }
ANSWER(fcntl)
ANSWER(fcntl64)
";

/// A folder with a task, and what makes the program find no locks.
struct World {
    sealed: Sealed,
    environment: Vec<(&'static str, String)>,
}

impl World {
    fn without_locks(more: &[&'static str]) -> Self {
        let sealed = Sealed::with(&[("locks.c", LIBRARY)]);
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o", "locks.so", "locks.c", "-ldl"])
            .current_dir(sealed.path(""))
            .status();
        assert!(compiled.unwrap().success());
        let library = sealed.path("locks.so").display().to_string();
        let more = more.iter().map(|name| (*name, "yes".to_owned()));
        Self { environment: more.chain([("LD_PRELOAD", library)]).collect(), sealed }
    }

    fn run(&self, line: &str) -> Said {
        let environment: Vec<_> = self.environment.iter().map(|(name, value)| (*name, &**value)).collect();
        self.sealed.run_with(line, &environment)
    }

    /// Starts a run and waits until it has started the script at `place`.
    fn comes_to(&self, line: &str, place: &str) -> Child {
        let mut command = self.sealed.command(line);
        command.envs([SLOW]).envs(self.environment.iter().map(|(name, value)| (name, value)));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let is_there = |line: String| line.contains("\"script_started\"") && line.contains(place);
        assert!(lines.any(is_there), "no script was started at {place}");
        child
    }
}

#[test]
fn runs_need_no_locks_of_the_file_system() {
    check(&[]);
    check(&["NO_FCNTL"]);
}

fn check(without: &[&'static str]) {
    let world = World::without_locks(without);
    let sealed = &world.sealed;
    let wait = format!("case $PWD in *merge-1*) {WHILE_SLOW} ;; esac");
    let python = interpreter(sealed, &format!("{wait}; {SUBMIT}; {SCORE}"));
    let line = format!("run data --run-id r --json --set python={python} {SMALL}");
    let mut child = world.comes_to(&line, "phase1/merge-1/run");

    let names = sealed.names("runs/r");
    assert!(!names.iter().any(|name| name.contains("-wal") || name.contains("-shm")), "{names:?}");
    let refused = world.run("resume r");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains(&format!("process {}", child.id())), "{refused:?}");
    assert!(!refused.stderr.contains("disk space"), "{refused:?}");
    let shown = |state: &str| {
        assert!(world.run("show r").stdout.contains("phase1/candidate-0"), "{state}");
        let list = world.run("list").stdout;
        assert!(list.contains(state), "{list}");
    };
    shown("running");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(sealed.path("runs/r/journal.lock.held").exists());
    shown("unfinished");

    let mine = sealed.read("runs/r/journal.lock.held");
    let mut other: Value = serde_json::from_str(&mine).unwrap();
    other["host"] = json!("node17");
    sealed.write("runs/r/journal.lock.held", other.to_string().as_bytes());
    let refused = world.run("resume r");
    assert_eq!(refused.code, 1, "{refused:?}");
    let parts = [" on node17\n", "remove the file that it left: rm ", "runs/r/journal.lock.held"];
    assert!(parts.iter().all(|part| refused.stderr.contains(part)), "{refused:?}");
    sealed.write("runs/r/journal.lock.held", mine.as_bytes());

    let resumed = world.run("resume r");
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert!(!sealed.path("runs/r/journal.lock.held").exists());
    shown("finished");
    // On a file system with locks, the same run is read and shown.
    assert!(sealed.run("show r").stdout.contains("phase1/candidate-0"));
}

#[test]
fn doctor_says_what_the_runs_directory_offers() {
    let world = World::without_locks(&[]);
    let check = |run: &dyn Fn(&str) -> Said, has_locks: bool, words: &str| {
        let said = run("doctor");
        assert!(said.stdout.contains(words), "{said:?}");
        let json: Value = serde_json::from_str(&run("doctor --json").stdout).unwrap();
        assert_eq!(json["runs_dir"]["has_locks"], json!(has_locks), "{json}");
        assert_eq!(json["runs_dir"]["has_log"], json!(has_locks), "{json}");
    };
    check(&|line| world.run(line), false, "no locks (flock)");
    check(&|line| world.sealed.run(line), true, ", locks (flock), write-ahead log");
    assert_eq!(world.sealed.names("runs"), [""; 0]);
}

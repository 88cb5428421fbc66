//! Events of a run: JSON lines on stdout and in its folder, checked against the schema in `docs/`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mle_star::event::Line;
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::unistd::pipe;
use serde_json::Value;

use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;

const FILE: &str = "runs/r/logs/events.jsonl";

/// Waits until a run prints an event that contains all of these.
pub fn wait_for(run: &mut Child, parts: &[&str]) {
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| parts.iter().all(|part| line.contains(part))), "no event with {parts:?}");
}

/// Waits until a check of a folder has a result. Checks now and whenever a file in it is written or moved there.
pub fn until_files<T>(folder: &Path, mut look: impl FnMut() -> Option<T>) -> T {
    let watch = Inotify::init(InitFlags::IN_CLOEXEC).unwrap();
    watch.add_watch(folder, AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_CLOSE_WRITE).unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(found) = look() {
            return found;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let mut ready = [PollFd::new(watch.as_fd(), PollFlags::POLLIN)];
        let changes = poll(&mut ready, PollTimeout::try_from(left).unwrap()).unwrap();
        assert!(changes > 0, "it never comes: {}", folder.display());
        watch.read_events().unwrap();
    }
}

fn schema() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.schema.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Checks that the line has exactly the fields of its event in the schema, and that the types read all of them.
fn check_line(schema: &Value, line: &str) {
    let found: Value = serde_json::from_str(line).unwrap();
    let read: Line = serde_json::from_value(found.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), found, "{line}");
    let of_event = |one: &&Value| one["properties"]["event"]["const"] == found["event"];
    let variant = schema["oneOf"].as_array().unwrap().iter().find(of_event).unwrap();
    let defined = variant["$ref"]
        .as_str()
        .map_or(&Value::Null, |name| schema.pointer(name.trim_start_matches('#')).unwrap());
    let mut names: Vec<&String> = [schema, variant, defined]
        .iter()
        .filter_map(|part| part["properties"].as_object())
        .flat_map(|properties| properties.keys())
        .collect();
    // Only what is left out of a terminal has it.
    names.retain(|name| *name != "detail" || found.get("detail").is_some());
    names.sort();
    let mut given: Vec<&String> = found.as_object().unwrap().keys().collect();
    given.sort();
    assert_eq!(given, names, "{line}");
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn begun(text: &str) -> Vec<&str> {
    let is_frame = |line: &&str| line.contains("\"run_started\"") || line.contains("\"run_ended\"");
    text.lines().filter(is_frame).collect()
}

#[test]
fn what_a_run_prints_is_as_documented_and_is_kept_in_its_folder() {
    let schema = schema();
    let check = |script: &str, more: &str, code: i32| {
        let sealed = Sealed::with(&[]);
        let python = interpreter(&sealed, script);
        let said = sealed.run(&format!("run data --run-id r --json --set python={python} {SMALL} {more}"));
        assert_eq!(said.code, code, "{said:?}");
        said.stdout.lines().for_each(|line| check_line(&schema, line));
        assert_eq!(sorted(&said.stdout), sorted(&sealed.read(FILE)));
        let frame = begun(&said.stdout);
        assert_eq!(frame.len(), 2, "{frame:?}");
        assert!(frame[0].contains("\"resumed\":false"), "{frame:?}");
        assert!(frame[1].contains(&format!("\"exit_code\":{code},")), "{frame:?}");
    };
    check(&format!("{SUBMIT}; {SCORE}"), "", 0);
    check(SCORE, "--set num_parallel_solutions=2", 3);
    check("exit 1", "", 1);
    check("exec sleep 600", "--time-limit 2", 4);
}

#[test]
fn a_quiet_run_writes_events_too_and_a_resume_appends() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, "exit 1");
    let said = sealed.run(&format!("run data --run-id r --quiet --set python={python} {SMALL}"));
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{said:?}");
    let first = sealed.read(FILE);
    assert_eq!(begun(&first).len(), 2, "{first}");
    let said = sealed.run("resume r --quiet");
    assert_eq!(said.code, 1, "{said:?}");
    let both = sealed.read(FILE);
    let added = both.strip_prefix(&first).unwrap();
    assert!(begun(added)[0].contains("\"resumed\":true"), "{added}");
    assert!(added.contains("\"replayed\":true"), "{added}");
}

#[test]
fn a_reader_that_goes_away_ends_nothing() {
    let check = |more: &str| {
        let sealed = Sealed::with(&[]);
        let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
        let line = format!("run data --run-id r --set python={python} {SMALL} {more}");
        let mut child = sealed.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The reader closes the pipe after one line.
        let mut first = String::new();
        if more.is_empty() {
            BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
        } else {
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
            drop(child.stderr.take());
        }
        assert!(!first.is_empty());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{more}");
        assert!(sealed.path("runs/r/final/submission.csv").is_file());
    };
    check("");
    check("--json");
}

#[test]
fn a_reader_that_does_not_read_holds_nothing_up() {
    let check = |more: &str, is_stdout: bool| {
        let sealed = Sealed::with(&[]);
        let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
        let line = format!("run data --run-id r --set python={python} {SMALL} {more}");
        let (reader, writer) = pipe().unwrap();
        // The disk is full from the start.
        let size = fcntl(&writer, FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
        let mut writer = File::from(writer);
        writer.write_all(&vec![b'\n'; usize::try_from(size).unwrap()]).unwrap();
        let mut command = sealed.command(&line);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if is_stdout {
            command.stdout(writer)
        } else {
            command.stderr(writer)
        };
        let mut child = command.spawn().unwrap();
        drop(command);
        let run = sealed.path("runs/r");
        // Its folder is there before anything is watched.
        fs::create_dir_all(&run).unwrap();
        until_files(&run, || run.join("result.json").exists().then_some(()));
        assert!(child.try_wait().unwrap().is_none(), "nothing was left to print");
        let mut text = String::new();
        File::from(reader).read_to_string(&mut text).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        text
    };
    assert!(check("", false).contains("submission: "));
    assert!(check("--json", true).contains("\"run_ended\""));
}

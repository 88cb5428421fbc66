//! What tests need beside Rust, and files that tests compare with.
//!
//! `needs!(Libraries);` in the first line of a test ends it where something is missing. The test then says
//! `skipped: needs …`, and `cargo xtask verify` counts it as skipped.
#![forbid(unsafe_code)]

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// The variable with a file in which each test that was skipped gets a line.
pub const SKIPPED: &str = "MLE_STAR_TESTS_SKIPPED";

/// Something that not every machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The program's own Python environment, or another interpreter with its libraries in `MLE_STAR_TEST_PYTHON`.
    Libraries,
    /// A program or folder that this variable names.
    Named(&'static str),
    /// To be root.
    Root,
    /// Network namespaces.
    ClosedNetwork,
}

/// Ends the test if something is missing.
#[macro_export]
macro_rules! needs {
    ($($need:expr),+) => {
        $({
            use $crate::Need::*;
            if $crate::is_missing($need) {
                return;
            }
        })+
    };
}

/// Whether something is missing; the running test then counts as skipped.
#[must_use]
pub fn is_missing(need: Need) -> bool {
    let missing = match need {
        Need::Libraries => libraries().is_none().then(|| "the program's Python environment".to_owned()),
        Need::Named(variable) => env::var_os(variable).is_none().then(|| variable.to_owned()),
        Need::Root => (!is_root()).then(|| "root".to_owned()),
        Need::ClosedNetwork => (!networks_can_be_closed()).then(|| "network namespaces".to_owned()),
    };
    missing.as_deref().inspect(|what| skip(&format!("needs {what}"))).is_some()
}

/// Counts the running test as skipped.
pub fn skip(why: &str) {
    let thread = thread::current();
    let line = format!("{}: skipped: {why}\n", thread.name().unwrap_or("a test"));
    // Where it cannot be told, the test passes without a word, as it would without this crate.
    let _ = io::stderr().write_all(line.as_bytes());
    if let Some(file) = env::var_os(SKIPPED)
        && let Ok(mut file) = OpenOptions::new().create(true).append(true).open(file)
    {
        let _ = file.write_all(line.as_bytes());
    }
}

/// An interpreter with the libraries that scripts use.
#[must_use]
pub fn python_with_libraries() -> PathBuf {
    libraries().unwrap_or_else(|| "python3".into())
}

/// What the data plane says of a folder of plain tables, of which this is told.
///
/// # Panics
/// It refuses.
#[must_use]
pub fn inspect(folder: &Path, told: &Value) -> Value {
    ask(&json!({ "question": "inspect", "folder": folder, "told": told }))
}

/// The answer of the data plane, which is one process for each test.
///
/// # Panics
/// It refuses.
#[must_use]
#[expect(clippy::panic, reason = "a test that gets no answer fails")]
pub fn ask(question: &Value) -> Value {
    static PLANE: Mutex<Option<Pipes>> = Mutex::new(None);
    let mut plane = PLANE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut reply = || -> io::Result<Value> {
        let (child, replies) = match plane.as_mut() {
            Some(open) => open,
            None => plane.insert(opened()?),
        };
        let mut question = question.clone();
        question["number"] = json!(1);
        writeln!(child, "{question}")?;
        let mut line = String::new();
        replies.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    };
    match reply() {
        Ok(mut reply) if reply.get("answer").is_some() => reply["answer"].take(),
        Ok(reply) => panic!("{question}: {reply}"),
        Err(error) => panic!("{question}: {error}"),
    }
}

type Pipes = (ChildStdin, BufReader<ChildStdout>);

fn opened() -> io::Result<Pipes> {
    let mut python = Command::new(python_with_libraries());
    python
        .args(["-m", "mle_star_data"])
        .env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/../../python"));
    let mut child = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    input
        .zip(output)
        .map(|(input, output)| (input, BufReader::new(output)))
        .ok_or(io::ErrorKind::BrokenPipe.into())
}

/// Compares a file with what it should hold. `INSTA_UPDATE=always` writes the file instead.
///
/// # Panics
/// The file differs, or cannot be written.
#[expect(clippy::panic, reason = "a test whose file differs fails")]
pub fn assert_file(path: &Path, text: &str) {
    let written = fs::read_to_string(path).unwrap_or_default();
    if written == text {
        return;
    }
    if env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        if let Err(error) = folder.and_then(|()| fs::write(path, text)) {
            panic!("{}: {error}", path.display());
        }
        return;
    }
    let first = text.lines().zip(written.lines()).find(|(is, was)| is != was);
    panic!("{} differs, first at {first:?}; INSTA_UPDATE=always takes it over", path.display());
}

fn libraries() -> Option<PathBuf> {
    if let Some(python) = env::var_os("MLE_STAR_TEST_PYTHON") {
        return Some(python.into());
    }
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let cache = variable("MLE_STAR_CACHE")
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("mle-star")))
        .or_else(|| Some(variable("HOME")?.join(".cache/mle-star")))?;
    let environments = fs::read_dir(cache.join("python")).ok()?.flatten();
    let interpreters = environments.filter_map(|environment| {
        let python = environment.path().join("venv/bin/python");
        let made = fs::metadata(&python).and_then(|file| file.modified()).ok()?;
        Some((made, python))
    });
    interpreters.max().map(|(_, python)| python)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn networks_can_be_closed() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "true"]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

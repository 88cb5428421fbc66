//! The only module that prints: data to stdout, messages to stderr. A closed pipe (`mle-star list | head -1`) is not an
//! error.
//!
//! It also keeps the status lines at the bottom of the terminal ([`stay`]) and prints everything else above them.

mod block;

use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, PoisonError, TryLockError};

use mle_star_domain::trouble::Trouble;
use mle_star_report::sanitize::{escape, width};
use serde::Serialize;

use crate::exit::Failure;

pub use block::{DrawnLine, replaced};

/// The status lines at the bottom of the terminal.
static STANDING: Mutex<Vec<DrawnLine>> = Mutex::new(Vec::new());

/// The first error of writing to stdout that matters.
static LOST: Mutex<Option<String>> = Mutex::new(None);

/// Prints one line of data unchanged, for programs.
pub fn data(line: &str) {
    note_loss(writeln!(io::stdout().lock(), "{line}"));
}

/// Prints a value as indented JSON.
///
/// # Errors
/// It cannot be written as JSON.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value);
    data(&text.map_err(|error| Failure::defect(format!("cannot write JSON: {error}")))?);
    Ok(())
}

/// Why some data was not printed; `None`: all was.
pub fn write_error() -> Option<Trouble> {
    note_loss(io::stdout().lock().flush());
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    lost.map(|why| {
        Trouble::new(
            format!("cannot write to stdout: {why}"),
            "free disk space or fix the destination, then run the command again",
        )
    })
}

// A closed pipe means that the reader wants no more.
fn note_loss(printed: io::Result<()>) {
    let is_unwanted = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if let Some(error) = printed.err().filter(|error| !is_unwanted(error)) {
        *LOST.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }
}

/// Prints one line of data for people, without control characters.
pub fn shown(line: &str) {
    data(&escape(line));
}

/// Prints one message, without control characters.
pub fn talk(line: &str) {
    above(&escape(line));
}

/// Prints one message that is laid out and coloured already.
pub fn drawn(line: &DrawnLine) {
    above(&line.text);
}

fn above(text: &str) {
    let standing = STANDING.lock().unwrap_or_else(PoisonError::into_inner);
    write_above(&standing, text);
}

/// Prints an error and its hint.
pub fn error(trouble: &Trouble) {
    talk(&of_trouble(trouble));
}

/// Prints text unchanged, such as help.
pub fn text(text: &str) {
    bytes(text.as_bytes());
}

/// Prints bytes unchanged, such as the source of a manual page.
pub fn bytes(bytes: &[u8]) {
    note_loss(io::stdout().lock().write_all(bytes));
}

/// Replaces the status lines at the bottom of the terminal; an empty list removes them.
pub fn stay(lines: Vec<DrawnLine>) {
    let mut standing = STANDING.lock().unwrap_or_else(PoisonError::into_inner);
    if *standing != lines {
        write(&replaced(&standing, None, &lines, columns()));
        *standing = lines;
    }
}

/// The width of the terminal behind stderr.
pub fn columns() -> usize {
    size().0
}

/// The width of the terminal behind stdout; `None` if there is none.
pub fn data_columns() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(columns, _)| usize::from(columns.0))
}

/// Columns and rows of the terminal behind stderr.
pub fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map_or((80, 24), |(columns, rows)| (usize::from(columns.0), usize::from(rows.0)))
}

/// Turns a panic into one sentence.
pub fn install_panic_hook() {
    panic::set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        let at =
            info.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        let what = info.payload_as_str().unwrap_or("no message");
        let line = of_trouble(&Trouble::new(
            format!("internal error{at}: {what}"),
            "this is a bug in mle-star; please report it with the command you ran",
        ));
        match STANDING.try_lock() {
            Ok(standing) => write_above(&standing, &line),
            Err(TryLockError::Poisoned(standing)) => write_above(standing.get_ref(), &line),
            // The thread that panics may hold the lock.
            Err(TryLockError::WouldBlock) => write(&format!("{line}\n")),
        }
    }));
}

/// The text in lines of at most `columns` columns, all but the first further to the right.
pub fn paragraph(text: &str, columns: usize) -> String {
    let words = text.trim_start();
    let indent = text.len() - words.len();
    let lines = wrapped(words, columns, indent + 2).replace('\n', &format!("\n{:1$}", "", indent + 2));
    format!("{:indent$}{lines}", "")
}

/// The text in lines of at most `columns` columns, if `indent` columns stand before each.
pub fn wrapped(text: &str, columns: usize, indent: usize) -> String {
    let most = columns.saturating_sub(indent).max(20);
    let (mut lines, mut taken) = (String::new(), 0);
    for word in text.split(' ') {
        let needed = width(word);
        if taken > 0 && taken + 1 + needed > most {
            lines.push('\n');
            taken = 0;
        } else if taken > 0 {
            lines.push(' ');
            taken += 1;
        }
        lines.push_str(word);
        taken += needed;
    }
    lines
}

fn of_trouble(trouble: &Trouble) -> String {
    escape(&format!("error: {}\nhint: {}", trouble.message.trim_end_matches('.'), trouble.hint))
}

fn write_above(standing: &[DrawnLine], text: &str) {
    // Without status lines the width does not matter.
    let columns = if standing.is_empty() { 0 } else { columns() };
    write(&replaced(standing, Some(text), standing, columns));
}

fn write(bytes: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(bytes.as_bytes());
    let _ = stderr.flush();
}

//! The only place that prints: data to stdout, talk to stderr. A reader that has gone away
//! (`mle-star list | head -1`) is no error.
//!
//! Lines that stay at the bottom of the terminal ([`stay`]) are kept here, so that whoever prints does so above them.

mod nearest;
pub mod sanitize;

use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, PoisonError, TryLockError};

use mle_star::stop::Trouble;

pub use nearest::nearest;

use crate::output::sanitize::plain;
use crate::watch::{Drawn, replaced};

/// What stands at the bottom of the terminal.
static STANDING: Mutex<Vec<Drawn>> = Mutex::new(Vec::new());

/// Why data could not be printed, once it could not.
static LOST: Mutex<Option<String>> = Mutex::new(None);

/// One line of data, as it is: what a program reads.
pub fn data(line: &str) {
    note_loss(writeln!(io::stdout().lock(), "{line}"));
}

/// Why not all data was printed.
pub fn lost() -> Option<Trouble> {
    note_loss(io::stdout().lock().flush());
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    lost.map(|why| {
        Trouble::new(
            format!("cannot write to stdout: {why}"),
            "make room where it leads to, then say it again",
        )
    })
}

/// A reader that has gone away wants no more, and a stream that was closed before never did.
fn note_loss(printed: io::Result<()>) {
    let is_unwanted = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if let Some(error) = printed.err().filter(|error| !is_unwanted(error)) {
        *LOST.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }
}

/// One line of data for people: a terminal does not act on what is in it.
pub fn shown(line: &str) {
    data(&plain(line));
}

/// One line of talk; a terminal does not act on what is in it.
pub fn talk(line: &str) {
    above(&plain(line));
}

/// One line of talk that has been drawn already, with its colours.
pub fn drawn(line: &Drawn) {
    above(&line.text);
}

fn above(text: &str) {
    let standing = STANDING.lock().unwrap_or_else(PoisonError::into_inner);
    write_above(&standing, text);
}

/// An error and what to do about it.
pub fn error(trouble: &Trouble) {
    talk(&of_trouble(trouble));
}

/// Help and the like, as they are.
pub fn text(text: &str) {
    bytes(text.as_bytes());
}

/// What is no text for people, such as a manual page's source.
pub fn bytes(bytes: &[u8]) {
    note_loss(io::stdout().lock().write_all(bytes));
}

/// Lines that stand at the bottom of the terminal from now on; none: what stands there goes.
pub fn stay(lines: Vec<Drawn>) {
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
            "this is a defect of mle-star; please report it with the command you gave",
        ));
        match STANDING.try_lock() {
            Ok(standing) => write_above(&standing, &line),
            Err(TryLockError::Poisoned(standing)) => write_above(standing.get_ref(), &line),
            // Perhaps by the thread that panics.
            Err(TryLockError::WouldBlock) => write(&format!("{line}\n")),
        }
    }));
}

fn of_trouble(trouble: &Trouble) -> String {
    plain(&format!("error: {}\nhint: {}", trouble.message.trim_end_matches('.'), trouble.hint))
}

fn write_above(standing: &[Drawn], text: &str) {
    // Without anything that stands there is no terminal to ask.
    let columns = if standing.is_empty() { 0 } else { columns() };
    write(&replaced(standing, Some(text), standing, columns));
}

fn write(bytes: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(bytes.as_bytes());
    let _ = stderr.flush();
}

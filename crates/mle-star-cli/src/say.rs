//! The only place that prints: data to stdout, talk to stderr. A reader that has gone away
//! (`mle-star list | head -1`) is no error.

use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};

use mle_star::stop::Trouble;

/// One line of data.
pub fn data(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// One line of talk.
pub fn talk(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// An error and what to do about it.
pub fn error(trouble: &Trouble) {
    talk(&format!("error: {}", trouble.message.trim_end_matches('.')));
    talk(&format!("hint: {}", trouble.hint));
}

/// Help and the like, as they are.
pub fn text(text: &str) {
    let _ = write!(io::stdout().lock(), "{text}");
}

/// Turns a panic into one sentence.
pub fn install_panic_hook() {
    panic::set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        let at =
            info.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        let what = info.payload_as_str().unwrap_or("no message");
        error(&Trouble::new(
            format!("internal error{at}: {what}"),
            "this is a defect of mle-star; please report it with the command you gave",
        ));
    }));
}

//! Errors that name the file.

use std::io;
use std::path::Path;

use mle_star_domain::trouble::Trouble;

use crate::records::{Fault, LONGEST_ROW};

/// A name or a text of the file as errors quote it: in one line, cut off if it is long.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", begin(text, 60))
}

/// A message of a library, which may quote the file.
fn in_one_line(text: &str) -> String {
    begin(text, 400)
}

fn begin(text: &str, most: usize) -> String {
    let line = |letter: char| if letter.is_control() { ' ' } else { letter };
    let begin: String = text.chars().take(most).map(line).collect();
    let more = if text.chars().nth(most).is_some() { "…" } else { "" };
    format!("{begin}{more}")
}

/// The file as errors name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File<'a>(pub(crate) &'a Path);

impl File<'_> {
    /// An error that begins with the file.
    pub(crate) fn trouble(self, what: impl std::fmt::Display, hint: &str) -> Trouble {
        Trouble::new(format!("{}: {}", self.0.display(), in_one_line(&what.to_string())), hint)
    }

    /// The file cannot be read, for a reason outside it.
    pub(crate) fn io(self, error: &io::Error) -> Trouble {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free disk space, or set TMPDIR to a folder that has some"
            }
            io::ErrorKind::PermissionDenied => "check the permissions of the file",
            _ => "the file may be incomplete or damaged: copy or download it again",
        };
        Trouble::new(format!("cannot read {}: {}", self.0.display(), in_one_line(&error.to_string())), hint)
    }

    /// The file is not what it should be.
    pub(crate) fn damaged(self, what: impl std::fmt::Display) -> Trouble {
        self.trouble(what, "the file may be incomplete or damaged: copy or download it again")
    }

    /// Rows cannot be read.
    pub(crate) fn fault(self, fault: &Fault) -> Trouble {
        match fault {
            Fault::Io(error) => self.io(error),
            Fault::TooLong(line) => {
                let most = LONGEST_ROW >> 20;
                let hint =
                    "check the line ends and the quotes; large contents belong into files of their own";
                self.trouble(
                    format!("the row at line {line} has more than {most} MB or a million cells"),
                    hint,
                )
            }
            Fault::Unclosed(line) => {
                let hint = "the file may be incomplete; a quote within a quoted cell is written twice";
                self.trouble(format!("the row at line {line} has a quote that is never closed"), hint)
            }
        }
    }
}

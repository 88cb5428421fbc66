//! The files that a script left, in its folder or received from a runner.

use std::fs::File;

use mle_star_domain::trouble::Trouble;

use crate::runners::Received;
use crate::script::executor::Workplace;

/// The files that a script wrote.
pub(super) enum Outputs {
    /// In the folder that it ran in.
    Here(Workplace),
    /// Received from a runner.
    There(Received),
}

/// A file that the script wrote. Why it is not accepted is a note.
pub(super) fn open_output(
    outputs: &Outputs,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<Option<File>, Trouble> {
    let (opened, folder) = match outputs {
        Outputs::Here(workplace) => (workplace.output(name), workplace.folder()),
        Outputs::There(received) => (received.output(name), received.folder()),
    };
    let opened = opened.map_err(|error| Trouble::io("read", folder, &error))?;
    Ok(opened.unwrap_or_else(|refused| {
        notes.push(refused);
        None
    }))
}

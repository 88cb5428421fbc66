//! Files that collect results of several machines and days, one in each line.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Failure;

/// The results in a file; none if there is no file.
///
/// # Errors
/// The file cannot be read.
pub fn read<T: Deserialize<'static>>(file: &Path) -> Result<Vec<T>, Failure> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        text => text?,
    };
    // Names are static, as those of tasks in the program are.
    text.leak().lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Replaces the results in a file.
///
/// # Errors
/// The file cannot be written.
pub fn write<T: Serialize>(file: &Path, results: &[T]) -> Result<(), Failure> {
    let mut text = String::new();
    for result in results {
        writeln!(text, "{}", serde_json::to_string(result)?)?;
    }
    // Interrupted, the file stays as it was.
    let draft = file.with_extension("draft");
    fs::write(&draft, text)?;
    Ok(fs::rename(draft, file)?)
}

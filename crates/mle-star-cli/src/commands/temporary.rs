//! The folder for temporary files, which scripts and installers need.

use std::env;
use std::io::ErrorKind;
use std::path::Path;

use mle_star_domain::trouble::Trouble;

/// Checks that the folder can be used.
///
/// # Errors
/// It is missing, no folder, or cannot be written.
pub fn check() -> Result<(), Trouble> {
    let folder = env::temp_dir();
    let why = match tempfile::Builder::new().prefix(".mle-star-").tempfile_in(&folder) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => "does not exist".to_owned(),
        Err(error) if error.kind() == ErrorKind::NotADirectory => "is not a folder".to_owned(),
        Err(error) => format!("cannot be written: {}", error.kind()),
    };
    Err(trouble(&folder, &why, env::var_os("TMPDIR").is_some()))
}

fn trouble(folder: &Path, why: &str, is_named: bool) -> Trouble {
    let by = if is_named { ", which TMPDIR names," } else { "" };
    let message = format!("the folder for temporary files {}{by} {why}", folder.display());
    Trouble::new(message, "set TMPDIR to a folder that you may write to, such as /tmp")
}

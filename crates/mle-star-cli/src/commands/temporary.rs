//! The folder for temporary files, which scripts and installers need.

use std::env;
use std::io::ErrorKind;

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
    let by = if env::var_os("TMPDIR").is_some() { ", which TMPDIR names," } else { "" };
    let message = format!("the folder for temporary files {}{by} {why}", folder.display());
    Err(Trouble::new(message, "set TMPDIR to a folder that you may write to, such as /tmp"))
}

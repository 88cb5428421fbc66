//! `prompts export`: writes the built-in templates.

use std::fs;
use std::path::Path;

use mle_star::prompts::BUILT_IN;
use mle_star_domain::trouble::Trouble;

use crate::args::PromptsCommand;
use crate::exit::{Exit, Failure};
use crate::output;

/// Performs a command about templates.
///
/// # Errors
/// A file already exists, or the folder cannot be written.
pub fn perform(command: &PromptsCommand) -> Result<Exit, Failure> {
    let PromptsCommand::Export { dir } = command;
    export(dir)?;
    output::talk(&format!("wrote {} templates; use them with --prompts {}", BUILT_IN.len(), dir.display()));
    Ok(Exit::Done)
}

fn export(dir: &Path) -> Result<(), Trouble> {
    if let Some((name, _)) = BUILT_IN.iter().find(|(name, _)| dir.join(name).exists()) {
        let message = format!("{} already exists", dir.join(name).display());
        return Err(Trouble::new(message, "export to another folder to keep changed templates"));
    }
    let unwritable = |error: std::io::Error| {
        let message = format!("cannot write to {}: {error}", dir.display());
        Trouble::new(message, "choose a writable folder")
    };
    fs::create_dir_all(dir).map_err(unwritable)?;
    for (name, text) in BUILT_IN {
        fs::write(dir.join(name), text).map_err(unwritable)?;
        output::data(&dir.join(name).display().to_string());
    }
    Ok(())
}

//! `prompts export`: the built-in templates as files.

use std::fs;
use std::path::Path;

use mle_star::prompts::BUILT_IN;
use mle_star::stop::Trouble;

use crate::args::PromptsCommand;
use crate::exit::{Exit, Failure};
use crate::output;

/// Performs a command about templates.
///
/// # Errors
/// A file that exists already, or a folder that cannot be written.
pub fn perform(command: &PromptsCommand) -> Result<Exit, Failure> {
    let PromptsCommand::Export { dir } = command;
    export(dir)?;
    output::talk(&format!(
        "{} templates written; give them to a run with --prompts {}",
        BUILT_IN.len(),
        dir.display()
    ));
    Ok(Exit::Done)
}

fn export(dir: &Path) -> Result<(), Trouble> {
    if let Some((name, _)) = BUILT_IN.iter().find(|(name, _)| dir.join(name).exists()) {
        let message = format!("{} exists already", dir.join(name).display());
        return Err(Trouble::new(message, "export into another folder, so that no changed template is lost"));
    }
    let unwritable = |error: std::io::Error| {
        let message = format!("cannot write into {}: {error}", dir.display());
        Trouble::new(message, "give a folder you may write to")
    };
    fs::create_dir_all(dir).map_err(unwritable)?;
    for (name, text) in BUILT_IN {
        fs::write(dir.join(name), text).map_err(unwritable)?;
        output::data(&dir.join(name).display().to_string());
    }
    Ok(())
}

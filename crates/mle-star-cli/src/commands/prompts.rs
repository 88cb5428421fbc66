//! `prompts export`: writes the built-in templates.

use std::fs;
use std::path::Path;

use mle_star::prompts::built_in;
use mle_star_domain::config::Context;
use mle_star_domain::trouble::Trouble;

use crate::args::PromptsCommand;
use crate::exit::{Exit, Failure};
use crate::output;

/// Performs a command about templates.
///
/// # Errors
/// A file already exists, or the folder cannot be written.
pub fn perform(command: &PromptsCommand) -> Result<Exit, Failure> {
    let PromptsCommand::Export { dir, paper } = command;
    let count = export(dir, if *paper { Context::Paper } else { Context::Full })?;
    output::talk(&format!("wrote {count} templates; use them with --prompts {}", dir.display()));
    Ok(Exit::Done)
}

fn export(dir: &Path, context: Context) -> Result<usize, Trouble> {
    let templates = built_in(context);
    if let Some(name) = templates.keys().find(|name| dir.join(name).exists()) {
        let message = format!("{} already exists", dir.join(name).display());
        return Err(Trouble::new(message, "export to another folder to keep changed templates"));
    }
    let unwritable = |error: std::io::Error| {
        let message = format!("cannot write to {}: {error}", dir.display());
        Trouble::new(message, "choose a writable folder")
    };
    fs::create_dir_all(dir).map_err(unwritable)?;
    for (name, text) in &templates {
        fs::write(dir.join(name), text).map_err(unwritable)?;
        output::data(&dir.join(name).display().to_string());
    }
    Ok(templates.len())
}

//! `skill`: the skill file for coding agents.

use std::fs;
use std::path::Path;

use mle_star_domain::trouble::Trouble;

use crate::exit::{Exit, Failure};
use crate::output;

const SKILL: &str = include_str!("../../skill/SKILL.md");
/// The path of the file below the folder of an agent's skills.
const FILE: &str = "mle-star/SKILL.md";

/// Prints the file, or writes it to a folder of skills.
///
/// # Errors
/// The folder cannot be written.
pub fn skill(dir: Option<&Path>) -> Result<Exit, Failure> {
    let Some(dir) = dir else {
        output::text(SKILL);
        return Ok(Exit::Done);
    };
    let file = dir.join(FILE);
    let written = fs::create_dir_all(file.parent().unwrap_or(dir)).and_then(|()| fs::write(&file, SKILL));
    written.map_err(|error| {
        Trouble::new(format!("cannot write {}: {error}", file.display()), "choose a writable folder")
    })?;
    output::data(&file.display().to_string());
    Ok(Exit::Done)
}

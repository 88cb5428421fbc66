//! `completions` and `man`, generated from the definitions of the commands.

use std::fs;
use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use clap_mangen::{Man, generate_to};
use mle_star_domain::trouble::Trouble;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::output;

/// Prints a shell completion script.
///
/// # Errors
/// None.
pub fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    generate(shell, &mut command, name, &mut script);
    // clap_complete 4.6 spells names with a hyphen in two ways in bash scripts, and then completes no options.
    output::text(&String::from_utf8_lossy(&script).replace("mle__subcmd__star", "mle__star"));
    Ok(Exit::Done)
}

/// Prints the manual page of the program, or writes one page per command to a folder.
///
/// # Errors
/// The folder cannot be written.
pub fn man(dir: Option<&Path>) -> Result<Exit, Failure> {
    let unwritable = |error: io::Error| {
        let place = dir.map_or_else(String::new, |dir| format!(" into {}", dir.display()));
        let message = format!("cannot write manual pages{place}: {error}");
        Failure::from(Trouble::new(message, "choose a writable folder"))
    };
    match dir {
        None => {
            let mut page = Vec::new();
            Man::new(Cli::command()).render(&mut page).map_err(unwritable)?;
            output::bytes(&page);
        }
        Some(dir) => {
            fs::create_dir_all(dir).map_err(unwritable)?;
            generate_to(Cli::command(), dir).map_err(unwritable)?;
            output::talk(&format!(
                "wrote the pages to {}; read one with: man {}/mle-star.1",
                dir.display(),
                dir.display()
            ));
        }
    }
    Ok(Exit::Done)
}

//! `completions` and `man`: made from the definitions of the commands.

use std::fs;
use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use clap_mangen::{Man, generate_to};
use mle_star::stop::Trouble;

use crate::args::{Cli, CompletedShell};
use crate::exit::{Exit, Failure};
use crate::output;

/// Prints a shell's completions.
///
/// # Errors
/// None.
pub fn completions(shell: CompletedShell) -> Result<Exit, Failure> {
    let shell = match shell {
        CompletedShell::Bash => Shell::Bash,
        CompletedShell::Zsh => Shell::Zsh,
        CompletedShell::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    generate(shell, &mut command, name, &mut script);
    // For bash, clap_complete 4.6 spells a name with a hyphen in two ways, and finds no options then.
    output::text(&String::from_utf8_lossy(&script).replace("mle__subcmd__star", "mle__star"));
    Ok(Exit::Done)
}

/// Prints the page of the program, or writes that and one for each command into a folder.
///
/// # Errors
/// The folder cannot be written.
pub fn man(dir: Option<&Path>) -> Result<Exit, Failure> {
    let unwritable = |error: io::Error| {
        let place = dir.map_or_else(String::new, |dir| format!(" into {}", dir.display()));
        let message = format!("cannot write manual pages{place}: {error}");
        Failure::from(Trouble::new(message, "give a folder you may write to"))
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
                "pages are in {}; read one with: man {}/mle-star.1",
                dir.display(),
                dir.display()
            ));
        }
    }
    Ok(Exit::Done)
}

//! `check`: finds leaks in scripts and notebooks.

use std::path::Path;

use mle_star_domain::trouble::Trouble;

use crate::args::CheckArgs;
use crate::check::files::inputs;
use crate::check::screen::{self, Look};
use crate::check::{Checked, Counts, check_all, data, json, sarif};
use crate::exit::{Exit, Failure};
use crate::output;
use mle_star_run::settings::process_environment;

/// Checks the scripts and prints what was found.
///
/// # Errors
/// A mistake in the data of `--data`, or the findings cannot be printed.
pub fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let known = args.data.as_deref().map(|folder| data::known(args, folder)).transpose()?;
    let checked = check_all(&inputs(&args.scripts), &data::facts(args, known.as_ref()));
    if args.json {
        output::json(&json::document(&checked, known.as_ref(), Counts::of(&checked)))?;
    } else if args.sarif {
        output::json(&sarif::log(&checked, &current_folder()?))?;
    } else {
        known.iter().for_each(|known| output::talk(&format!("{}\n", known.lines().join("\n"))));
        show(&checked, Look::of(&process_environment));
    }
    Ok(exit(Counts::of(&checked)))
}

/// What was found, and then, next to the last line, what could not be checked.
fn show(all: &[Checked], look: Look) {
    let found = all.iter().filter_map(|checked| Some((&checked.name, checked.outcome.as_ref().ok()?)));
    found.for_each(|(name, findings)| output::text(&screen::findings(name, findings, look)));
    all.iter().filter_map(|checked| checked.outcome.as_ref().err()).for_each(output::error);
    output::text(&screen::last_line(Counts::of(all), look));
}

fn exit(counts: Counts) -> Exit {
    match counts {
        Counts { leaks: 1.., .. } => Exit::Failed,
        Counts { unreadable: 1.., .. } => Exit::Usage,
        _ => Exit::Done,
    }
}

fn current_folder() -> Result<std::path::PathBuf, Trouble> {
    std::env::current_dir().or_else(|_| Path::new(".").canonicalize()).map_err(|error| {
        Trouble::new(format!("cannot read the current folder: {error}"), "change to another folder")
    })
}

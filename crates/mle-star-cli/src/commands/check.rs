//! `check`: finds leaks in scripts and notebooks.

use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::count;
use mle_star_run::settings::process_environment;

use crate::args::CheckArgs;
use crate::check::baseline::Baseline;
use crate::check::files::inputs;
use crate::check::screen::{self, OutputStyle};
use crate::check::{CheckedFile, Counts, check_all, data, json, pyproject, sarif};
use crate::exit::{Exit, Failure};
use crate::output;

/// Checks the scripts and prints what was found.
///
/// # Errors
/// A mistake in the data of `--data`, or the findings cannot be printed.
pub fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    if let Some(rule) = args.explain {
        output::text(rule.explanation());
        return Ok(Exit::Done);
    }
    let args = &pyproject::with_project(args)?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let known = args.data.as_deref().map(|folder| data::data_facts(args, folder)).transpose()?;
    let facts = data::facts(args, known.as_ref());
    let mut checked = check_all(&inputs(&args.scripts), &facts, args);
    if let Some(path) = &args.write_baseline {
        return write_baseline(&checked, path);
    }
    let gone = baseline.map_or(0, |baseline| baseline.hide(&mut checked));
    if args.json {
        output::json(&json::document(&checked, known.as_ref()))?;
    } else if args.sarif {
        output::json(&sarif::log(&checked, &current_folder()?))?;
    } else {
        known.iter().for_each(|known| output::talk(&format!("{}\n", known.lines().join("\n"))));
        show(&checked, OutputStyle::of(&process_environment));
        if gone > 0 {
            output::talk(&format!(
                "{} of the baseline no longer found; --write-baseline updates it\n",
                count(gone as u64, "finding")
            ));
        }
    }
    Ok(exit(Counts::of(&checked), args.strict))
}

/// Writes what was found to a file that hides it later.
fn write_baseline(all: &[CheckedFile], path: &Path) -> Result<Exit, Failure> {
    tell_unreadable(all);
    let baseline = Baseline::of(all, path);
    let written = format!("{} written to {}\n", count(baseline.len() as u64, "finding"), path.display());
    baseline.write(path)?;
    output::text(&written);
    Ok(if Counts::of(all).unreadable > 0 { Exit::Usage } else { Exit::Done })
}

/// What was found, and then, next to the last line, what could not be checked.
fn show(all: &[CheckedFile], style: OutputStyle) {
    let found = all.iter().filter_map(|checked| Some((&checked.name, checked.outcome.as_ref().ok()?)));
    found.for_each(|(name, findings)| output::text(&screen::findings(name, findings, style)));
    tell_unreadable(all);
    output::text(&screen::summary(all, style));
}

/// Says which files and cells could not be checked.
fn tell_unreadable(all: &[CheckedFile]) {
    for CheckedFile { name, outcome } in all {
        match outcome {
            Err(trouble) => output::error(trouble),
            Ok(findings) => findings.code.unparsable_cells().iter().for_each(|(cell, why)| {
                output::talk(&format!("{name}: cell {cell} is left out: {why}"));
            }),
        }
    }
}

fn exit(counts: Counts, is_strict: bool) -> Exit {
    match counts {
        Counts { leaks: 1.., .. } => Exit::Failed,
        Counts { warnings: 1.., .. } if is_strict => Exit::Failed,
        Counts { unreadable: 1.., .. } => Exit::Usage,
        _ => Exit::Done,
    }
}

fn current_folder() -> Result<PathBuf, Trouble> {
    std::env::current_dir().map_err(|error| {
        Trouble::new(format!("cannot read the current folder: {error}"), "change to another folder")
    })
}

//! `export`: a finished run as a notebook, and as a run of MLflow.

mod mlflow;

use std::fs;
use std::path::Path;

use mle_star::result::FinalResult;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::export::notebook;
use mle_star_report::files;
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view::{self, RunView, resume_command};

use crate::args::ExportArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// The largest script that is exported, in bytes.
const MAX_SOLUTION_BYTES: u64 = 64 << 20;

/// Writes the files that were asked for.
///
/// # Errors
/// There is no such run, it is not finished, or a file exists or cannot be written.
pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let folder = args.run.find()?;
    let view = run_view::read(&folder)?;
    let result = finished(&view)?;
    if let Some(file) = args.notebook.as_ref().filter(|file| file.is_file() && !args.force) {
        let message = format!("{} exists", file.display());
        return Err(Trouble::new(message, "choose another name, or replace it with --force").into());
    }
    if let Some(file) = &args.notebook {
        write(file, &notebook_text(&view)?)?;
    }
    if let Some(uri) = &args.mlflow {
        mlflow::log(&view, result, &RunReport::of(&view), uri)?;
    }
    Ok(Exit::Done)
}

/// The notebook of a finished run.
///
/// # Errors
/// The run is not finished, or has no solution.
pub fn notebook_text(view: &RunView) -> Result<String, Trouble> {
    let result = finished(view)?;
    let solution = read(&view.folder, &format!("{}/{}", layout::FINAL, layout::SOLUTION))?;
    let notebook = notebook(&RunReport::of(view), &result.task.competition_id, &solution);
    Ok(serde_json::to_string_pretty(&notebook).unwrap_or_default() + "\n")
}

fn finished(view: &RunView) -> Result<&FinalResult, Trouble> {
    view.result.as_ref().ok_or_else(|| {
        let id = &view.summary.run.run_id;
        let hint = format!("a finished run is exported; continue it with: {}", resume_command(&view.folder));
        Trouble::new(format!("{id} has no result yet"), hint)
    })
}

/// Reads a file of the run, following no link.
fn read(folder: &Path, name: &str) -> Result<String, Trouble> {
    let hint = "a run that ended without a solution has none";
    files::read(folder, name, MAX_SOLUTION_BYTES)
        .map_err(|error| Trouble::new(format!("cannot read {}: {error}", folder.join(name).display()), hint))
}

/// Writes a file, and says so.
fn write(file: &Path, text: &str) -> Result<(), Trouble> {
    fs::write(file, text).map_err(|error| {
        let message = format!("cannot write {}: {error}", file.display());
        Trouble::new(message, "choose a folder that exists and can be written")
    })?;
    output::talk(&format!("wrote {}", file.display()));
    Ok(())
}

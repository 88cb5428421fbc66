//! `export`: a finished run as a notebook, as a model card, and as a run of MLflow.

mod mlflow;

use std::fs;
use std::io::Write as _;
use std::path::Path;

use mle_star::result::FinalResult;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::export::{NOTEBOOK, model_card, notebook};
use mle_star_report::files;
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view::{self, RunView, resume_command};
use mle_star_run::runs;
use tempfile::NamedTempFile;

use super::runs_dir;
use crate::args::ExportArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// The largest script that is exported, in bytes.
const LARGEST_SOLUTION: u64 = 64 << 20;

/// Writes the files that were asked for.
///
/// # Errors
/// There is no such run, it is not finished, or a file exists or cannot be written.
pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let folder = runs::find(&args.run, &runs_dir(args.runs_dir.clone()))?;
    let view = run_view::read(&folder).map_err(|error| Failure::journal(&error))?;
    let result = finished(&view)?;
    let report = RunReport::of(&view);
    let wanted = [args.notebook.as_deref(), args.model_card.as_deref()];
    if let Some(file) = wanted.into_iter().flatten().find(|file| file.is_file() && !args.force) {
        let message = format!("{} exists", file.display());
        return Err(Trouble::new(message, "choose another name, or replace it with --force").into());
    }
    if let Some(file) = &args.notebook {
        write(file, &notebook_text(&view, result, &report)?)?;
    }
    if let Some(file) = &args.model_card {
        write(file, &model_card(&report, result))?;
    }
    if let Some(uri) = &args.mlflow {
        mlflow::log(&view, result, &report, uri)?;
    }
    Ok(Exit::Done)
}

/// The notebook or the model card of a finished run, by the name that its page calls it.
///
/// # Errors
/// The run is not finished, or has no solution.
pub fn text(view: &RunView, name: &str) -> Result<String, Trouble> {
    let (result, report) = (finished(view)?, RunReport::of(view));
    if name == NOTEBOOK { notebook_text(view, result, &report) } else { Ok(model_card(&report, result)) }
}

fn notebook_text(view: &RunView, result: &FinalResult, report: &RunReport) -> Result<String, Trouble> {
    let solution = read(&view.folder, &format!("{}/{}", layout::FINAL, layout::SOLUTION))?;
    let notebook = notebook(report, &result.task.competition_id, &solution);
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
    files::read(folder, name, LARGEST_SOLUTION)
        .map_err(|error| Trouble::new(format!("cannot read {}: {error}", folder.join(name).display()), hint))
}

/// Writes a file as a whole, and says so.
fn write(file: &Path, text: &str) -> Result<(), Trouble> {
    // What is no file, such as /dev/stdout, cannot be replaced.
    if fs::metadata(file).is_ok_and(|about| !about.is_file()) {
        return fs::write(file, text).map_err(|error| Trouble::io("write", file, &error));
    }
    let beside = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let written = NamedTempFile::new_in(beside).and_then(|mut partial| {
        partial.write_all(text.as_bytes())?;
        fs::set_permissions(partial.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        partial.persist(file).map(drop).map_err(|error| error.error)
    });
    written.map_err(|error| {
        Trouble::new(
            format!("cannot write {}: {error}", file.display()),
            "choose a folder that exists and can be written",
        )
    })?;
    output::talk(&format!("wrote {}", file.display()));
    Ok(())
}

//! Writes the results of a finished run: `final/` and, last, `result.json`.

use std::fs;
use std::io;
use std::path::Path;

use mle_star::pipeline::FinishedRun;
use mle_star::result::FinalResult;
use mle_star_backends::script::environment::requirements_txt;
use mle_star_domain::layout;
use mle_star_domain::place::Place;
use mle_star_domain::trouble::Trouble;

use super::backends::Backends;
use super::delivery::{Form, keep_folds, link_data, replace};
use crate::observer::Observer;
use crate::open_run::OpenRun;
use crate::runs::inputs::{copy_atomically, unwritable, write_atomically, write_json};

/// Writes the results; returns the result with the path of the submission, and notes for people.
///
/// # Errors
/// The disk is full, or the folder is no longer writable.
pub async fn write(
    run: &OpenRun,
    backends: &Backends,
    finished: FinishedRun,
    observer: &dyn Observer,
) -> Result<(FinalResult, Vec<String>), Trouble> {
    let folder = &run.folder;
    let result = delivered(folder, backends, finished).map_err(|error| unwritable(folder, &error))?;
    let mut notes = copy_out(&result, run.frozen.task.output_dir.as_deref());
    notes.extend(observer.before_result(folder, &result).await);
    // Fails if something is left in it, which then stays for inspection.
    let _ = fs::remove_dir(folder.join(layout::WORK));
    write_json(&folder.join(layout::RESULT), &result).map_err(|error| unwritable(folder, &error))?;
    Ok((result, notes))
}

/// Writes `final/`, unless an earlier answer stays.
fn delivered(folder: &Path, backends: &Backends, finished: FinishedRun) -> io::Result<FinalResult> {
    let stem = finished.submission.as_ref().map(Place::file_stem);
    let mut result = finished.result;
    let submission = stem.and_then(|stem| backends.scripts.submission(&stem, &result.final_solution.content));
    let last = folder.join(layout::FINAL);
    link_data(&folder.join(layout::INPUT), &backends.all_rows)?;
    let submitted = last.join(layout::SUBMISSION);
    if finished.keeps_earlier_answer {
        let is_there = !result.submission_path.is_empty();
        result.submission_path = if is_there { path_of(&submitted)? } else { String::new() };
        return Ok(result);
    }
    replace(&last, |next| {
        write_atomically(&next.join(layout::SOLUTION), result.final_solution.content.as_bytes())?;
        write_atomically(
            &next.join(layout::REQUIREMENTS),
            requirements_txt(&backends.environment).as_bytes(),
        )?;
        keep_folds(&backends.all_rows, next)?;
        let form = Form::of_run(folder);
        let copied = submission.as_ref().map(|file| form.write(file, &next.join(layout::SUBMISSION)));
        copied.unwrap_or(Ok(()))
    })?;
    if submission.is_some() {
        result.submission_path = path_of(&submitted)?;
    }
    Ok(result)
}

fn path_of(file: &Path) -> io::Result<String> {
    Ok(file.canonicalize()?.display().to_string())
}

/// Copies the submission to the task's output folder; a missing folder is a note and not an error.
fn copy_out(result: &FinalResult, output_dir: Option<&Path>) -> Vec<String> {
    let Some(folder) = output_dir.filter(|_| !result.submission_path.is_empty()) else { return Vec::new() };
    let copied = fs::create_dir_all(folder)
        .and_then(|()| copy_atomically(Path::new(&result.submission_path), &folder.join(layout::SUBMISSION)));
    copied.err().map(|error| format!("note: no copy in {}: {error}", folder.display())).into_iter().collect()
}

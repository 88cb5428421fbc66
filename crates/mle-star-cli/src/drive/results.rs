//! Writes the results of a finished run: `final/`, the report and, last, `result.json`.

use std::fs;
use std::io;
use std::path::Path;

use mle_star::pipeline::Finished;
use mle_star::result::FinalResult;
use mle_star_backends::script::environment::requirements_txt;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_report::RunReport;

use super::Start;
use super::backends::Backends;
use super::provisional::replace;
use crate::exit::Exit;
use crate::report::updates;
use crate::runs::inputs::{copy_whole, unwritable, write_json, write_whole};
use crate::runs::run_view::State;

/// Writes the results; returns the exit code and the last lines to show.
///
/// # Errors
/// The disk is full, or the folder is no longer writable.
pub async fn finish(
    start: &Start,
    backends: &Backends,
    finished: Finished,
) -> Result<(Exit, Vec<String>), Trouble> {
    let folder = &start.folder;
    let stem = finished.submission.as_ref().map(mle_star_domain::place::Place::file_stem);
    let mut result = finished.result;
    let submission = stem.and_then(|stem| backends.scripts.submission(&stem, &result.final_solution.content));
    let write = || -> io::Result<FinalResult> {
        let last = folder.join(layout::FINAL);
        link_data(&folder.join(layout::INPUT), &backends.all_rows)?;
        let submitted = last.join(layout::SUBMISSION);
        if finished.stays {
            let is_there = !result.submission_path.is_empty();
            result.submission_path = if is_there { path_of(&submitted)? } else { String::new() };
            return Ok(result);
        }
        replace(&last, |next| {
            write_whole(&next.join(layout::SOLUTION), result.final_solution.content.as_bytes())?;
            write_whole(
                &next.join(layout::REQUIREMENTS),
                requirements_txt(&backends.environment).as_bytes(),
            )?;
            let copied = submission.as_ref().map(|file| copy_whole(file, &next.join(layout::SUBMISSION)));
            copied.unwrap_or(Ok(()))
        })?;
        if submission.is_some() {
            result.submission_path = path_of(&submitted)?;
        }
        Ok(result)
    };
    let result = write().map_err(|error| unwritable(folder, &error))?;
    let mut lines = copy_out(&result, start.frozen.task.output_dir.as_deref());
    lines.extend(write_report(start, &result).await);
    // Fails if something is left in it, which then stays for inspection.
    let _ = fs::remove_dir(folder.join(layout::WORK));
    write_json(&folder.join(layout::RESULT), &result).map_err(|error| unwritable(folder, &error))?;
    lines.push(String::new());
    lines.extend(RunReport::of_result(folder, &result).last_lines());
    Ok((exit_of(&result), lines))
}

fn path_of(file: &Path) -> io::Result<String> {
    Ok(file.canonicalize()?.display().to_string())
}

/// Lets `python final/solution.py` find the data from the run folder.
pub(super) fn link_data(link: &Path, data_dir: &Path) -> io::Result<()> {
    match std::os::unix::fs::symlink(data_dir.canonicalize()?, link) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// The exit code of a run with this result.
pub fn exit_of(result: &FinalResult) -> Exit {
    if result.submission_path.is_empty() { Exit::NoSubmission } else { Exit::Done }
}

/// Copies the submission to the task's output folder; a missing folder is a note and not an error.
fn copy_out(result: &FinalResult, output_dir: Option<&Path>) -> Vec<String> {
    let Some(folder) = output_dir.filter(|_| !result.submission_path.is_empty()) else { return Vec::new() };
    let copied = fs::create_dir_all(folder)
        .and_then(|()| copy_whole(Path::new(&result.submission_path), &folder.join(layout::SUBMISSION)));
    copied.err().map(|error| format!("note: no copy in {}: {error}", folder.display())).into_iter().collect()
}

/// Writes the report, before the result exists; without a report the run is still a success.
async fn write_report(start: &Start, result: &FinalResult) -> Option<String> {
    let result = result.clone();
    let note = updates::last(&start.folder, move |view| {
        view.summary.state = State::Finished;
        view.summary.submission = Some(result.submission_path.clone()).filter(|path| !path.is_empty());
        view.result = Some(result);
    });
    note.await
}

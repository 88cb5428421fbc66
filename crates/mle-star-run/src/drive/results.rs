//! Writes the results of a finished run: `final/` and, last, `result.json`.

use std::fs;
use std::io;
use std::path::Path;

use mle_star::pipeline::FinishedRun;
use mle_star::result::{FinalResult, KeptModel};
use mle_star_backends::script::environment::requirements_txt;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view::{self, read_result};
use tokio::sync::watch;

use super::backends::Backends;
use super::delivery::{keep_folds, link_data, replace, write_submission};
use super::{cancelled, model};
use crate::observer::Observer;
use crate::open_run::OpenRun;
use crate::runs::inputs::{copy, copy_atomically, unwritable, write_atomically, write_json};

/// Writes the results; `cancel` ends what would keep the model. Returns the result with the path of the submission, and notes for people.
///
/// # Errors
/// The disk is full, or the folder is no longer writable.
pub async fn write(
    run: &OpenRun,
    backends: &Backends,
    finished: FinishedRun,
    observer: &dyn Observer,
    cancel: &watch::Receiver<bool>,
) -> Result<(FinalResult, Vec<String>), Trouble> {
    let folder = &run.folder;
    let is_new = !finished.keeps_earlier_answer;
    keep_diagnostics(folder, backends, &finished).await.map_err(|error| unwritable(folder, &error))?;
    let (kept, search) = (finished.model.clone(), finished.search_models.clone());
    let submission = finished.submitted().and_then(|run| backends.scripts.submission(&run));
    if let (true, Ok(found)) = (is_new, &kept) {
        keep_model_before(folder, backends, found).map_err(|error| unwritable(folder, &error))?;
    }
    let mut result = delivered(folder, backends, finished).map_err(|error| unwritable(folder, &error))?;
    if is_new {
        let keeping =
            model::keep_model(run, backends, (&result, submission.as_deref()), (kept, &search), cancel);
        result.model = tokio::select! {
            biased;
            model = keeping => model,
            () = cancelled(cancel) => model::remove_model(run, "the run was interrupted before its model was checked"),
        };
    }
    // The fitted model was moved out of this working folder.
    for made in [layout::MODEL, layout::PLANE] {
        let _ = fs::remove_dir_all(folder.join(layout::WORK).join(made));
    }
    let mut notes = copy_out(&result, run.frozen.task.output_dir.as_deref());
    notes.extend(observer.before_result(folder, &result).await);
    // Fails if something is left in it, which then stays for inspection.
    let _ = fs::remove_dir(folder.join(layout::WORK));
    write_json(&folder.join(layout::RESULT), &result).map_err(|error| unwritable(folder, &error))?;
    keep_summary(folder);
    Ok((result, notes))
}

/// Writes `summary.json`. Without it, lists read the journal.
pub fn keep_summary(folder: &Path) {
    if let Ok(view) = run_view::read_as_left(folder) {
        let _ = write_json(&folder.join(layout::SUMMARY), &view.summary);
    }
}

/// Writes where the predictions of the final solution are right and where they are wrong, unless an earlier answer stays.
async fn keep_diagnostics(folder: &Path, backends: &Backends, finished: &FinishedRun) -> io::Result<()> {
    let Some(predictions) = &finished.predictions else { return Ok(()) };
    let columns = finished.result.importance.iter().flatten().map(|one| one.column.clone()).collect();
    let file = folder.join(layout::HOLDOUT).join(layout::DIAGNOSTICS);
    let Some(found) = backends.scripts.diagnose(predictions, columns).await else {
        let _ = fs::remove_file(file);
        return Ok(());
    };
    fs::create_dir_all(folder.join(layout::HOLDOUT))?;
    write_json(&file, &found)
}

/// Keeps the model of the answer from before a limit was raised, if the same script is the answer again.
fn keep_model_before(folder: &Path, backends: &Backends, found: &KeptModel) -> io::Result<()> {
    let into = backends.scripts.kept_model(&found.files());
    // Where `why` says something, the model is that of another solution.
    let is_its =
        |before: FinalResult| before.final_solution.content == found.script && before.model.why.is_empty();
    if into.exists() || !read_result(folder).is_some_and(is_its) {
        return Ok(());
    }
    fs::create_dir_all(into.with_file_name(""))?;
    copy(&folder.join(layout::FINAL).join(layout::MODEL), &into)
}

/// Writes `final/`, unless an earlier answer stays.
fn delivered(folder: &Path, backends: &Backends, finished: FinishedRun) -> io::Result<FinalResult> {
    let submission = finished.submitted().and_then(|run| backends.scripts.submission(&run));
    let mut result = finished.result;
    let last = folder.join(layout::FINAL);
    // All rows: scripts of the search are shown `holdout/input` instead.
    link_data(&folder.join(layout::INPUT), &backends.all_rows)?;
    let submitted = last.join(layout::SUBMISSION);
    if finished.keeps_earlier_answer {
        // The user may have removed it.
        let is_there = !result.submission_path.is_empty() && submitted.exists();
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
        let into = next.join(layout::SUBMISSION);
        submission.as_ref().map_or(Ok(()), |file| write_submission(folder, file, &into))
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

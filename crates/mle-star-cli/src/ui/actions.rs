//! Stop, resume, note and fork: the page that says what each will do, and the form that does it.

use std::path::Path as FilePath;
use std::sync::{Arc, PoisonError};

use axum::extract::{Form, Path, Query, State as Of};
use axum::response::Redirect;
use mle_star::journal::MAX_NOTE_CHARS;
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view::{self, RunView, State};
use mle_star_run::note as notes;
use serde::Deserialize;
use serde_json::json;

use super::folder::page_of;
use super::response::{Page, PageResponse, in_background, redirected};
use super::run::why_not_resumed;
use super::site::Site;
use crate::args::{ForkArgs, ResumeArgs};
use crate::processes::{detached, working};

/// What a form asks for; fields that it does not have are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ActionForm {
    /// `yes` to end a process that was asked to stop before.
    at_once: String,
    /// A note.
    text: String,
    /// The place of a fork.
    at: String,
    /// Settings of a fork, one `KEY=VALUE` a line.
    settings: String,
    /// Larger limits, or those of a fork.
    time_limit: String,
    max_budget_usd: String,
}

/// The form that stops a run, or ends it at once if it was asked to stop before.
///
/// # Errors
/// There is no such run, no process works on it, or the process belongs to another user or program.
pub async fn stop_page(Of(site): Of<Arc<Site>>, Path(id): Path<String>) -> PageResponse {
    let of = id.clone();
    let is_asked = in_background(move || {
        let worker = working(&site.find(&of)?)?;
        Ok(site.asked.lock().unwrap_or_else(PoisonError::into_inner).contains(&worker))
    })
    .await?;
    Page::rendered("ui/stop.html", &json!({"id": id, "is_asked": is_asked}))
}

/// Stops a run. A form that is sent twice, as by a double click, asks once.
///
/// # Errors
/// As [`stop_page`].
pub async fn stop(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Form(form): Form<ActionForm>,
) -> Result<Redirect, Page> {
    redirected(move || {
        let worker = working(&site.find(&id)?)?;
        let mut asked = site.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if form.at_once == "yes" || !asked.contains(&worker) {
            worker.interrupt()?;
            asked.insert(worker);
        }
        Ok(page_of(&id))
    })
    .await
}

/// The form that resumes a run, with its form.
///
/// # Errors
/// There is no such run, or it cannot be resumed.
pub async fn resume_page(Of(site): Of<Arc<Site>>, Path(id): Path<String>) -> PageResponse {
    let of = id.clone();
    let view = in_background(move || Ok(resumable(&site.find(&of)?)?)).await?;
    let config = &view.snapshot.frozen.config;
    let values = json!({
        "id": id, "is_cut_short": view.result.is_some(),
        "time_limit": config.time_limit_seconds, "max_budget_usd": config.max_budget_usd,
    });
    Page::rendered("ui/resume.html", &values)
}

/// A run that was interrupted, or used its limit.
fn resumable(folder: &FilePath) -> Result<RunView, Trouble> {
    let view = run_view::read(folder).map_err(|error| error.trouble())?;
    match why_not_resumed(&view) {
        Some(why) => Err(Trouble::new(why, "look at its result so far")),
        None => Ok(view),
    }
}

/// Resumes a run in a separate process.
///
/// # Errors
/// As [`resume_page`]; the error of a `resume` that ends at once.
pub async fn resume(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Form(form): Form<ActionForm>,
) -> Result<Redirect, Page> {
    redirected(move || {
        let folder = site.find(&id)?;
        resumable(&folder)?;
        let args = ResumeArgs {
            time_limit: non_empty(&form.time_limit),
            max_budget_usd: non_empty(&form.max_budget_usd),
            ..ResumeArgs::default()
        };
        let resumed = detached::resume(&folder, &args)?;
        if resumed.state == State::Finished {
            let hint = resumed.notes.join("; ");
            return Err(Trouble::new("there is nothing left to do", hint).into());
        }
        Ok(page_of(&id))
    })
    .await
}

/// The form for a note to the agents of a run.
///
/// # Errors
/// There is no such run.
pub async fn note_page(Of(site): Of<Arc<Site>>, Path(id): Path<String>) -> PageResponse {
    let of = id.clone();
    in_background(move || site.find(&of)).await?;
    Page::rendered("ui/steer.html", &json!({"id": id, "most": MAX_NOTE_CHARS}))
}

/// Leaves a note for the agents of a run.
///
/// # Errors
/// There is no such run, it takes no note, or the text is none.
pub async fn note(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Form(form): Form<ActionForm>,
) -> Result<Redirect, Page> {
    redirected(move || {
        notes::leave(&site.find(&id)?, &form.text)?;
        Ok(page_of(&id))
    })
    .await
}

/// The form that makes a new run from a place of another one.
///
/// # Errors
/// There is no such run, or it cannot be read.
pub async fn fork_page(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Query(form): Query<ActionForm>,
) -> PageResponse {
    let of = id.clone();
    let view = in_background(move || Ok(run_view::read(&site.find(&of)?)?)).await?;
    let config = &view.snapshot.frozen.config;
    let values = json!({
        "id": id, "at": form.at,
        "time_limit": config.time_limit_seconds, "max_budget_usd": config.max_budget_usd,
    });
    Page::rendered("ui/fork.html", &values)
}

/// Makes a new run from a place of another one, in a separate process.
///
/// # Errors
/// As [`fork_page`]; the error of a `fork` that ends at once.
pub async fn fork(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Form(form): Form<ActionForm>,
) -> Result<Redirect, Page> {
    redirected(move || {
        let parent = site.find(&id)?;
        let set = form.settings.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
        let args = ForkArgs {
            at: form.at.trim().to_owned(),
            set: set.collect(),
            time_limit: non_empty(&form.time_limit),
            max_budget_usd: non_empty(&form.max_budget_usd),
            ..ForkArgs::default()
        };
        Ok(page_of(&detached::fork(&parent, &args)?.run_id))
    })
    .await
}

/// A field that was filled in.
fn non_empty(value: &str) -> Option<String> {
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

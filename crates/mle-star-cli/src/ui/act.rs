//! Stop and resume, each behind a page that says what it will do.

use std::path::Path as FilePath;
use std::sync::{Arc, PoisonError};

use axum::extract::{Form, Path, Query, State as Of};
use axum::response::Redirect;
use mle_star::journal::LONGEST_NOTE;
use mle_star::result::FinalResult;
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view::{self, RunView, State};
use mle_star_run::note as notes;
use serde::Deserialize;
use serde_json::json;

use super::answer::{ErrorResponse, Page, PageResponse, in_background};
use super::folder::page_of;
use super::site::Site;
use crate::args::{ForkArgs, ResumeArgs};
use crate::processes::{detached, working};

/// Larger limits for a run to resume; empty to keep them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Limits {
    time_limit: String,
    max_budget_usd: String,
}

/// A note to the agents of a run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NoteWish {
    text: String,
}

/// Where to fork a run, and what to change.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ForkWish {
    at: String,
    settings: String,
    time_limit: String,
    max_budget_usd: String,
}

/// How to stop a run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StopWish {
    /// `yes` for a process that was asked to stop before.
    at_once: String,
}

/// The form that stops a run, or ends it at once if it was asked to stop before.
///
/// # Errors
/// There is no such run, no process works on it, or the process belongs to another user or program.
pub async fn stop_page(Of(site): Of<Arc<Site>>, Path(id): Path<String>) -> PageResponse {
    let of = id.clone();
    let is_asked = in_background(move || {
        let worker = working(&site.find(&of)?).map_err(ErrorResponse::conflict)?;
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
    Form(wish): Form<StopWish>,
) -> Result<Redirect, Page> {
    let to = Redirect::to(&page_of(&id));
    in_background(move || {
        let worker = working(&site.find(&id)?).map_err(ErrorResponse::conflict)?;
        let mut asked = site.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if wish.at_once == "yes" || !asked.contains(&worker) {
            worker.interrupt().map_err(ErrorResponse::conflict)?;
            asked.insert(worker);
        }
        Ok(())
    })
    .await?;
    Ok(to)
}

/// The form that resumes a run, with its limits.
///
/// # Errors
/// There is no such run, or it cannot be resumed.
pub async fn resume_page(Of(site): Of<Arc<Site>>, Path(id): Path<String>) -> PageResponse {
    let of = id.clone();
    let view = in_background(move || resumable(&site.find(&of)?).map_err(ErrorResponse::conflict)).await?;
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
    let why = match view.summary.run.state {
        State::Unfinished => return Ok(view),
        State::Finished if view.result.as_ref().is_some_and(FinalResult::was_cut) => return Ok(view),
        State::Running => "this run is already running",
        State::Finished => "this run has finished",
    };
    Err(Trouble::new(why, "look at its result so far"))
}

/// Resumes a run in a separate process.
///
/// # Errors
/// As [`resume_page`]; the error of a `resume` that ends at once.
pub async fn resume(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Form(limits): Form<Limits>,
) -> Result<Redirect, Page> {
    let to = Redirect::to(&page_of(&id));
    in_background(move || {
        let folder = site.find(&id)?;
        resumable(&folder).map_err(ErrorResponse::conflict)?;
        let args = ResumeArgs {
            time_limit: given(&limits.time_limit),
            max_budget_usd: given(&limits.max_budget_usd),
            ..ResumeArgs::default()
        };
        let resumed =
            detached::resume(&folder, &args).map_err(|failure| ErrorResponse::conflict(failure.trouble))?;
        if resumed.state == State::Finished {
            let hint = resumed.notes.join("; ");
            return Err(ErrorResponse::conflict(Trouble::new("there is nothing left to do", hint)));
        }
        Ok(())
    })
    .await?;
    Ok(to)
}

/// The form for a note to the agents of a run.
///
/// # Errors
/// There is no such run.
pub async fn note_page(Of(site): Of<Arc<Site>>, Path(id): Path<String>) -> PageResponse {
    let of = id.clone();
    in_background(move || site.find(&of)).await?;
    Page::rendered("ui/steer.html", &json!({"id": id, "most": LONGEST_NOTE}))
}

/// Leaves a note for the agents of a run.
///
/// # Errors
/// There is no such run, it takes no note, or the text is none.
pub async fn note(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Form(wish): Form<NoteWish>,
) -> Result<Redirect, Page> {
    let to = Redirect::to(&page_of(&id));
    in_background(move || {
        notes::leave(&site.find(&id)?, &wish.text).map(drop).map_err(ErrorResponse::conflict)
    })
    .await?;
    Ok(to)
}

/// The form that makes a new run from a place of another one.
///
/// # Errors
/// There is no such run, or it cannot be read.
pub async fn fork_page(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Query(wish): Query<ForkWish>,
) -> PageResponse {
    let of = id.clone();
    let view = in_background(move || {
        run_view::read(&site.find(&of)?).map_err(|error| ErrorResponse::conflict(error.trouble()))
    })
    .await?;
    let config = &view.snapshot.frozen.config;
    let values = json!({
        "id": id, "at": wish.at,
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
    Form(wish): Form<ForkWish>,
) -> Result<Redirect, Page> {
    let to = in_background(move || {
        let parent = site.find(&id)?;
        let set = wish.settings.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
        let args = ForkArgs {
            at: wish.at.trim().to_owned(),
            set: set.collect(),
            time_limit: given(&wish.time_limit),
            max_budget_usd: given(&wish.max_budget_usd),
            ..ForkArgs::default()
        };
        let forked =
            detached::fork(&parent, &args).map_err(|failure| ErrorResponse::conflict(failure.trouble))?;
        Ok(page_of(&forked.run_id))
    })
    .await?;
    Ok(Redirect::to(&to))
}

/// A field that was filled in.
fn given(value: &str) -> Option<String> {
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

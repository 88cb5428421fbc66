//! Stop and resume, each behind a page that says what it will do.

use std::sync::Arc;

use axum::extract::{Form, Path, State as Of};
use axum::response::Redirect;
use mle_star_run::runs;
use serde::Deserialize;
use serde_json::json;

use super::answer::{ErrorResponse, Page, PageResponse, in_background};
use super::folder::page_of;
use super::site::Site;
use crate::args::ResumeArgs;
use crate::processes::{Stopping, resumable, resume as resume_run, working};

/// Larger limits for a run to resume; empty to keep them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Limits {
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
    let (worker, folder, is_asked) = in_background(move || {
        let folder = site.find(&of)?;
        let worker = working(&folder).map_err(ErrorResponse::conflict)?;
        let is_asked = site.interrupted.holds(&worker);
        Ok((worker, folder, is_asked))
    })
    .await?;
    let others = worker.runs.iter().filter(|run| run.canonicalize().ok() != folder.canonicalize().ok());
    let others: Vec<String> = others.filter_map(|run| runs::name(run)).collect();
    Page::rendered("ui/stop.html", &json!({"id": id, "others": others, "is_asked": is_asked}))
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
    let stopping = if wish.at_once == "yes" { Stopping::AtOnce } else { Stopping::InOrder };
    in_background(move || {
        let worker = working(&site.find(&id)?).map_err(ErrorResponse::conflict)?;
        site.interrupted.interrupt(&worker, stopping).map_err(ErrorResponse::conflict)
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
        let given = |value: String| Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        let args = ResumeArgs {
            time_limit: given(limits.time_limit),
            max_budget_usd: given(limits.max_budget_usd),
            ..ResumeArgs::default()
        };
        resume_run(&folder, &args, &site.late).map(drop).map_err(ErrorResponse::conflict)
    })
    .await?;
    Ok(to)
}

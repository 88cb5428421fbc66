//! What is served for each address: the list of runs, a run's page, their events, and downloads.

use std::fs::File as Opened;
use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State as Of};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream::try_unfold;
use mle_star_domain::trouble::Trouble;
use mle_star_report::export::NOTEBOOK;
use mle_star_report::figures::count;
use mle_star_report::run_view;
use mle_star_report::views::{PARTS, Part};
use serde_json::json;
use tokio::fs::File;
use tokio::io::AsyncReadExt;

use super::folder::page_of;
use super::list::{Group, ListQuery, row_id};
use super::live::{self, Since};
use super::response::{ErrorResponse, Page, PageResponse, in_background};
use super::run::{FIRST, LOGS, nothing};
use super::site::Site;
use super::{files, logs};
use crate::commands::export::notebook_text;

/// Bytes that are sent at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Shows the runs that match the query.
///
/// # Errors
/// The page cannot be rendered.
pub async fn list_page(Of(site): Of<Arc<Site>>, Query(query): Query<ListQuery>) -> PageResponse {
    let sections = site.list.now().await;
    let mut entries = site.list.source().entries();
    let all = entries.len();
    entries.retain(|entry| query.takes(entry));
    query.sort(&mut entries);
    let page = query.page(&entries);
    let group = |group: &Group<'_>| {
        let rows: Vec<&str> = group.runs.iter().map(|entry| sections.html(&row_id(entry))).collect();
        let size = count(group.all as u64, "run");
        json!({"task": group.task, "size": size, "rows": rows})
    };
    let values = json!({
        "query": query, "groups": page.groups.iter().map(group).collect::<Vec<_>>(), "matching": entries.len(),
        "all": all, "columns": query.columns(), "page": page.number, "pages": page.pages,
        "runs_dir": site.runs_dir.display().to_string(), "revision": sections.revision,
    });
    Page::rendered("ui/list.html", &values)
}

/// Streams changed rows.
pub async fn list_events(
    Of(site): Of<Arc<Site>>,
    Query(Since { since }): Query<Since>,
    headers: HeaderMap,
) -> impl IntoResponse {
    site.list.follow(live::since(&headers, since))
}

/// Shows a run.
///
/// # Errors
/// There is no such run.
pub async fn run_page(Of(site): Of<Arc<Site>>, Path(id): Path<String>) -> PageResponse {
    let (of, at) = (Arc::clone(&site), id.clone());
    let folder = in_background(move || of.find(&at)).await?;
    let sections = site.run(&id, folder).now().await;
    let after = |part: &Part| (part.name == PARTS[0].name).then_some(LOGS);
    let names = PARTS.iter().flat_map(|part| [Some(part.name), after(part)]).flatten();
    let shown: Vec<&str> = names.map(|name| sections.html(name)).collect();
    let address = page_of(&id);
    let is_empty = |name: &str| sections.html(name) == nothing(name);
    let links = PARTS.iter().filter_map(Part::link);
    let parts: Vec<_> = links.map(|[name, title]| (name, title, is_empty(name))).collect();
    let values = json!({
        "id": id, "address": address, "doing": sections.html(FIRST), "parts": parts, "sections": shown, "revision": sections.revision,
        "now": jiff::Timestamp::now().as_second(),
    });
    Page::rendered("ui/run.html", &values)
}

/// Streams changed sections.
///
/// # Errors
/// There is no such run.
pub async fn run_events(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Query(Since { since }): Query<Since>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Page> {
    let (of, at) = (Arc::clone(&site), id.clone());
    let folder = in_background(move || of.find(&at)).await?;
    Ok(site.run(&id, folder).follow(live::since(&headers, since)))
}

/// Serves a file of a run as a download.
///
/// # Errors
/// There is no such run or file.
pub async fn result_file(
    Of(site): Of<Arc<Site>>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, Page> {
    let saved = format!("attachment; filename=\"{name}\"");
    let body = in_background(move || {
        let folder = site.find(&id)?;
        if name == NOTEBOOK {
            let view = run_view::read(&folder).map_err(|error| ErrorResponse::missing(error.trouble()))?;
            return notebook_text(&view).map(Body::from).map_err(ErrorResponse::missing);
        }
        files::open_named(&folder, &name).map(stream).ok_or_else(|| no_file(&name))
    });
    let headers = [(CONTENT_TYPE, "application/octet-stream".to_owned()), (CONTENT_DISPOSITION, saved)];
    Ok((headers, body.await?).into_response())
}

/// Serves a file of `logs/`.
///
/// # Errors
/// There is no such run or file.
pub async fn log_file(
    Of(site): Of<Arc<Site>>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, Page> {
    let body = in_background(move || {
        logs::open_named(&site.find(&id)?, &name).map(stream).ok_or_else(|| no_file(&name))
    });
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], body.await?).into_response())
}

fn no_file(name: &str) -> ErrorResponse {
    ErrorResponse::missing(Trouble::new(format!("no file called {name}"), "look at the run's page"))
}

/// A file in pieces, so that a large one needs no memory. An error is passed on, so that a partial file is not taken for a
/// whole one.
fn stream(file: Opened) -> Body {
    Body::from_stream(try_unfold(File::from_std(file), async |mut file| {
        let mut piece = vec![0; CHUNK_BYTES];
        let length = file.read(&mut piece).await?;
        piece.truncate(length);
        Ok::<_, io::Error>((length > 0).then_some((piece, file)))
    }))
}

//! What a user does to runs that are there: stars, remarks, deletion.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State as Of};
use axum::http::HeaderMap;
use axum::http::header::{HOST, REFERER};
use axum::response::Redirect;
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view::is_held;
use serde::Deserialize;
use serde_json::json;

use super::answer::{ErrorResponse, Page, PageResponse, in_background};
use super::folder::page_of;
use super::site::Site;
use crate::deletion;
use crate::listing::{set_remark, set_star};

/// Whether the run is to have a star.
#[derive(Debug, Deserialize)]
pub struct Star {
    /// `yes` or `no`.
    star: String,
}

/// The remark on a run.
#[derive(Debug, Deserialize)]
pub struct Remark {
    remark: String,
}

/// Gives a run a star or takes it away, and shows the page again that asked for it.
///
/// # Errors
/// There is no such run, or its folder cannot be written.
pub async fn star(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(wanted): Form<Star>,
) -> Result<Redirect, Page> {
    let to = Redirect::to(&asking_page(&headers).unwrap_or_else(|| page_of(&id)));
    in_background(move || {
        let folder = site.find(&id)?;
        set_star(&folder, wanted.star == "yes").map_err(|error| unwritten(&id, &error))
    })
    .await?;
    Ok(to)
}

/// Replaces the remark on a run.
///
/// # Errors
/// As [`star`]; the remark is too long.
pub async fn remark(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Form(wanted): Form<Remark>,
) -> Result<Redirect, Page> {
    let to = Redirect::to(&page_of(&id));
    in_background(move || {
        let folder = site.find(&id)?;
        set_remark(&folder, &wanted.remark).map_err(|error| unwritten(&id, &error))
    })
    .await?;
    Ok(to)
}

/// Asks whether to delete the runs in the address, each given as `run=ID`.
///
/// # Errors
/// None is given, one does not exist, or a process works on one.
pub async fn delete_page(
    Of(site): Of<Arc<Site>>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> PageResponse {
    let ids = chosen(pairs);
    let of = ids.clone();
    in_background(move || deletable(&site, &of)).await?;
    Page::rendered("ui/delete.html", &json!({"ids": ids}))
}

/// Deletes runs.
///
/// # Errors
/// As [`delete_page`]; a folder cannot be removed.
pub async fn delete(
    Of(site): Of<Arc<Site>>,
    Form(pairs): Form<Vec<(String, String)>>,
) -> Result<Redirect, Page> {
    let ids = chosen(pairs);
    in_background(move || {
        deletable(&site, &ids)?;
        for id in &ids {
            deletion::delete(&site.find(id)?).map_err(ErrorResponse::conflict)?;
            site.forget(id);
        }
        Ok(())
    })
    .await?;
    Ok(Redirect::to("/"))
}

fn chosen(pairs: Vec<(String, String)>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    let ids = pairs.into_iter().filter(|(key, _)| key == "run").map(|(_, id)| id);
    ids.filter(|id| seen.insert(id.clone())).collect()
}

fn deletable(site: &Site, ids: &[String]) -> Result<(), ErrorResponse> {
    if ids.is_empty() {
        let trouble =
            Trouble::new("no run was chosen", "choose runs in the list, by the boxes before their names");
        return Err(ErrorResponse::conflict(trouble));
    }
    for id in ids {
        if is_held(&site.find(id)?) {
            let message = format!("a process works on {id}, so it cannot be deleted");
            return Err(ErrorResponse::conflict(Trouble::new(message, "stop it on its page first")));
        }
    }
    Ok(())
}

/// The address, on this server, of the page with the form.
fn asking_page(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name)?.to_str().ok();
    let path = text(REFERER)?.strip_prefix("http://")?.strip_prefix(text(HOST)?)?;
    // A second slash would lead to another server.
    (path.starts_with('/') && !path.starts_with("//")).then(|| path.to_owned())
}

fn unwritten(id: &str, error: &std::io::Error) -> ErrorResponse {
    let hint = "check the length of the remark, and that the run's folder can be written";
    ErrorResponse::conflict(Trouble::new(format!("cannot write into the folder of {id}: {error}"), hint))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_pages_of_this_server_are_shown_again() {
        let check = |referer: &'static str, expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("localhost:7575"));
            headers.insert(REFERER, HeaderValue::from_static(referer));
            assert_eq!(asking_page(&headers).as_deref(), expected, "{referer}");
        };
        check("http://localhost:7575/?sort=best", Some("/?sort=best"));
        check("http://localhost:7575/", Some("/"));
        check("http://localhost:7575//evil.org", None);
        check("http://localhost:75755/", None);
        check("http://evil.org/", None);
        check("", None);
    }
}

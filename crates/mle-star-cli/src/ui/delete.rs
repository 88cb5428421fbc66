//! Deletion of runs.

use std::sync::Arc;

use axum::extract::{Form, Query, State as Of};
use axum::response::Redirect;
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view::is_running;
use serde_json::json;

use super::response::{ErrorResponse, Page, PageResponse, in_background, redirected};
use super::site::Site;
use crate::deletion;

/// Asks whether to delete the runs in the address, each given as `run=ID`.
///
/// # Errors
/// None is given, one does not exist, or a process works on one.
pub async fn page(Of(site): Of<Arc<Site>>, Query(pairs): Query<Vec<(String, String)>>) -> PageResponse {
    let ids = selected_runs(pairs);
    let of = ids.clone();
    in_background(move || deletable(&site, &of)).await?;
    Page::rendered("ui/delete.html", &json!({"ids": ids}))
}

/// Deletes runs.
///
/// # Errors
/// As [`page`]; a folder cannot be removed.
pub async fn delete(
    Of(site): Of<Arc<Site>>,
    Form(pairs): Form<Vec<(String, String)>>,
) -> Result<Redirect, Page> {
    let ids = selected_runs(pairs);
    redirected(move || {
        deletable(&site, &ids)?;
        for id in &ids {
            deletion::delete(&site.find(id)?)?;
            site.forget(id);
        }
        Ok("/".to_owned())
    })
    .await
}

/// The runs that the pairs of an address or a form name, each once.
pub fn selected_runs(pairs: Vec<(String, String)>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    let ids = pairs.into_iter().filter(|(key, _)| key == "run").map(|(_, id)| id);
    ids.filter(|id| seen.insert(id.clone())).collect()
}

fn deletable(site: &Site, ids: &[String]) -> Result<(), ErrorResponse> {
    if ids.is_empty() {
        let trouble =
            Trouble::new("no run was chosen", "choose runs in the list, by the boxes before their names");
        return Err(trouble.into());
    }
    for id in ids {
        if is_running(&site.find(id)?) {
            let message = format!("a process works on {id}, so it cannot be deleted");
            return Err(Trouble::new(message, "stop it on its page first").into());
        }
    }
    Ok(())
}

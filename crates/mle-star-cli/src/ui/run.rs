//! A run's page.

use std::sync::Arc;

use axum::extract::{Path, State as Of};
use serde_json::json;

use super::answer::{Answer, Refused, Shown, in_background};
use super::site::Site;
use crate::run_view;
use mle_star::stop::Trouble;

/// Shows a run.
///
/// # Errors
/// There is no such run, or its journal cannot be read.
pub async fn page(Of(site): Of<Arc<Site>>, Path(id): Path<String>) -> Answer {
    let view = in_background(move || {
        let folder = site.find(&id)?;
        run_view::read(&folder)
            .map_err(|error| Refused::conflict(Trouble::new(error.to_string(), error.hint())))
    });
    let view = view.await?;
    Shown::page("ui/run.html", &json!({"summary": view.summary}))
}

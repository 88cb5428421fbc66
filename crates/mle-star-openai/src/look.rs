//! A look at an endpoint, for checks: whether it answers, and which models it offers.

use std::time::Duration;

use mle_star_domain::trouble::Trouble;
use serde::Serialize;
use serde_json::Value;
use tokio::time::timeout;

use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::http::{Broken, Http};

/// A check should not take longer.
const MAX_TIMEOUT: Duration = Duration::from_secs(15);
/// The service that lists models.
const MODELS: &str = "models";

/// What a look at an endpoint shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointStatus {
    /// Whether anything answers at the address.
    pub reachable: bool,
    /// The names of its models, if it lists them.
    pub models: Option<Vec<String>>,
    /// Why it does not.
    pub trouble: Option<String>,
}

/// Asks an endpoint for its models.
///
/// # Errors
/// The system offers no secure connections.
pub async fn check_endpoint(endpoint: &Endpoint) -> Result<EndpointStatus, Trouble> {
    let http = Http::new(endpoint)?;
    Ok(timeout(MAX_TIMEOUT, models(&http, endpoint)).await.unwrap_or_else(|_| {
        EndpointStatus::without(false, format!("it does not answer within {} s", MAX_TIMEOUT.as_secs()))
    }))
}

impl EndpointStatus {
    fn without(reachable: bool, why: String) -> Self {
        Self { reachable, models: None, trouble: Some(why) }
    }
}

async fn models(http: &Http, endpoint: &Endpoint) -> EndpointStatus {
    let mut response = match http.get(endpoint, MODELS).await {
        Ok(response) => response,
        Err(Broken::Unreachable(why)) => {
            return EndpointStatus::without(false, format!("it cannot be reached: {why}"));
        }
        Err(Broken::Tls(why)) => {
            return EndpointStatus::without(false, format!("no secure connection: {why}"));
        }
        Err(Broken::Lost(why)) => {
            return EndpointStatus::without(true, format!("the connection ended: {why}"));
        }
    };
    let body = match response.body().await {
        Ok(body) => body,
        Err(_) => return EndpointStatus::without(true, "its list of models broke off".to_owned()),
    };
    match response.status() {
        200..=299 => match listed(&body) {
            Some(models) => EndpointStatus { reachable: true, models: Some(models), trouble: None },
            None => EndpointStatus::without(true, "it lists no models".to_owned()),
        },
        status @ (401 | 403) if endpoint.has_key() => {
            EndpointStatus::without(true, format!("it refuses the key ({status})"))
        }
        status @ (401 | 403) => EndpointStatus::without(true, format!("it asks for a key ({status})")),
        404 | 405 | 501 => EndpointStatus::without(true, "it lists no models".to_owned()),
        status => {
            let words = endpoint.redact(&Failure::of_response(status, &body).words());
            EndpointStatus::without(
                true,
                format!("it reports an error ({status}) {words}").trim_end().to_owned(),
            )
        }
    }
}

/// The names in a list of models, sorted.
fn listed(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = value["data"].as_array().or_else(|| value.as_array())?;
    let mut names: Vec<String> =
        list.iter().filter_map(|model| model["id"].as_str().map(str::to_owned)).collect();
    names.sort();
    Some(names)
}

//! The HTTP client. This is the only file of the program that sends requests.
//!
//! Redirects are not followed, so the key goes to no other host. The variables for proxies apply, except to endpoints of
//! this machine.

#![expect(clippy::disallowed_types, reason = "it is the one file")]

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mle_star_domain::trouble::Trouble;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, redirect};
use rustls::{ClientConfig, RootCertStore};

use crate::endpoint::Endpoint;
use crate::sse::MAX_EVENT;

/// How long it may take to reach the endpoint.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends requests to one endpoint.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
}

/// The beginning of a response. Its body is read with [`Response::chunk`].
#[derive(Debug)]
pub(crate) struct Response {
    inner: reqwest::Response,
}

/// Why there is no response, or no more of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Nobody answers at the address. Nothing was sent.
    Unreachable(String),
    /// The endpoint's certificate is not trusted, or it does not speak TLS. Nothing was sent.
    Tls(String),
    /// The connection ended.
    Lost(String),
}

impl Http {
    /// A client for the endpoint.
    ///
    /// # Errors
    /// The system offers no secure connections.
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Self, Trouble> {
        let mut builder = Client::builder()
            .redirect(redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("mle-star/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(tls(endpoint).map_err(|error| unusable(&error))?);
        if endpoint.is_local() {
            builder = builder.no_proxy();
        }
        builder.build().map(|client| Self { client }).map_err(|error| unusable(&error))
    }

    /// Posts JSON to a service of the endpoint; returns when the response begins.
    ///
    /// # Errors
    /// There is no response.
    pub(crate) async fn post(
        &self,
        endpoint: &Endpoint,
        service: &str,
        body: String,
    ) -> Result<Response, Broken> {
        let request = self.client.post(endpoint.url_of(service));
        send(endpoint, request.header(CONTENT_TYPE, "application/json").body(body)).await
    }

    /// Gets what a service of the endpoint offers.
    ///
    /// # Errors
    /// There is no response.
    pub(crate) async fn get(&self, endpoint: &Endpoint, service: &str) -> Result<Response, Broken> {
        send(endpoint, self.client.get(endpoint.url_of(service))).await
    }
}

impl Response {
    pub(crate) fn status(&self) -> u16 {
        self.inner.status().as_u16()
    }

    /// The type of the body, in lower case and without its parameters; empty if it is not told.
    pub(crate) fn content_type(&self) -> String {
        self.header(CONTENT_TYPE.as_str()).split(';').next().unwrap_or_default().trim().to_lowercase()
    }

    /// How long the endpoint asks to wait.
    pub(crate) fn retry_after(&self) -> Duration {
        let text = self.header(RETRY_AFTER.as_str());
        let seconds = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let until = || httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok();
        seconds.or_else(until).unwrap_or_default()
    }

    /// The address that it redirects to.
    pub(crate) fn location(&self) -> &str {
        self.header(LOCATION.as_str())
    }

    /// The next bytes of the body, or `None` at its end. Cancel safe.
    ///
    /// # Errors
    /// The connection ended before the body did.
    pub(crate) async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Broken> {
        self.inner.chunk().await.map_err(|error| broken(&error))
    }

    /// The whole body, as far as it is not longer than any answer.
    ///
    /// # Errors
    /// The connection ended before the body did.
    pub(crate) async fn body(&mut self) -> Result<Vec<u8>, Broken> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(chunk.as_ref());
            if body.len() > MAX_EVENT {
                break;
            }
        }
        Ok(body)
    }

    fn header(&self, name: &str) -> &str {
        self.inner.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Trusts the certificates of this machine and, because minimal systems have none, Mozilla's.
fn tls(endpoint: &Endpoint) -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    // Reading them takes a while.
    if endpoint.is_secure() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

async fn send(endpoint: &Endpoint, request: RequestBuilder) -> Result<Response, Broken> {
    let login = endpoint.key().and_then(|key| HeaderValue::try_from(format!("Bearer {}", key.reveal())).ok());
    let request = match login {
        Some(mut login) => {
            login.set_sensitive(true);
            request.header(AUTHORIZATION, login)
        }
        None => request,
    };
    request.send().await.map(|inner| Response { inner }).map_err(|error| broken(&error))
}

fn broken(error: &reqwest::Error) -> Broken {
    let chain: Vec<&(dyn Error + 'static)> =
        std::iter::successors(Some(error as &(dyn Error + 'static)), |error| beneath(*error)).collect();
    let of_tls = chain.iter().find_map(|error| error.downcast_ref::<rustls::Error>());
    if let Some(what) = of_tls.filter(|_| error.is_connect()) {
        return Broken::Tls(what.to_string());
    }
    let cause = chain.last().map(ToString::to_string).unwrap_or_default();
    if error.is_connect() { Broken::Unreachable(cause) } else { Broken::Lost(cause) }
}

/// What caused an error. An I/O error skips the error that it wraps.
fn beneath<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source())
}

fn unusable(error: &dyn Error) -> Trouble {
    Trouble::new(format!("cannot make secure connections: {error}"), "check the certificates of this machine")
}

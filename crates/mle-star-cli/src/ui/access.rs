//! Access control: checks the host name, the token and the origin of forms.
//!
//! Any web page can make a browser send requests here. It could read a response only through a host name that
//! points to this machine, so the `Host` must be ours. It could send a form, so the `Origin` must be ours. The
//! only address that reads more than the runs, the start of a run, is restricted to requests that the browser
//! marks as coming from here or from no page ([`is_own_wish`]). Requests without that mark, from old browsers or
//! on another address, are allowed: inferring a task from a folder executes nothing and writes nothing.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use mle_star_domain::trouble::Trouble;

use super::response::{ErrorResponse, Page};

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The headers of every response. With `no-referrer`, browsers would also hide the origin of our own forms; other
/// sites get no referrer either way.
const HEADERS: [(axum::http::HeaderName, &str); 4] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "same-origin"),
    (CACHE_CONTROL, "no-store"),
];
/// The prefix of the token cookie's name. The port follows, because cookies are shared between ports.
const COOKIE_NAME: &str = "mle_star_token_";

/// The header with which browsers mark the site of a request.
const SITE: &str = "sec-fetch-site";

/// The conditions for a request.
pub struct Access {
    /// The given host, in lower case.
    host: String,
    address: SocketAddr,
    /// The machine's host name, in lower case.
    machine: String,
    token: String,
}

impl Access {
    /// The conditions for a server that listens on `address` for the given `host`.
    pub fn new(host: &str, address: SocketAddr, token: String) -> Self {
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let [host, machine] = [host, machine.trim()].map(str::to_ascii_lowercase);
        Self { host, address, machine, token }
    }

    /// The URL to open in a browser on this machine.
    pub fn url(&self) -> String {
        let ip = match self.address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        };
        let at = SocketAddr::new(ip, self.address.port());
        format!("http://{at}/?token={}", self.token)
    }

    fn judge(&self, request: &Request) -> Result<(), ErrorResponse> {
        let host = text(request.headers(), &HOST).unwrap_or_default();
        if !self.is_ours(host) {
            let hint = format!("open {} instead", self.url().split('?').next().unwrap_or_default());
            return Err(ErrorResponse::forbidden(Trouble::new(
                format!("\"{host}\" is not this page's address"),
                hint,
            )));
        }
        if !self.has_token(request.headers()) {
            let hint = "open the address that `mle-star ui` printed when it was started, token included";
            return Err(ErrorResponse::forbidden(Trouble::new("this page needs a token", hint)));
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) && !is_own_form(request.headers(), host) {
            let message = "this was not sent by a form of this page";
            return Err(ErrorResponse::forbidden(Trouble::new(
                message,
                "open the page itself and try again there",
            )));
        }
        Ok(())
    }

    /// Whether a host name can only mean this server.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        port == Some(self.address.port()) && self.is_our_name(name)
    }

    fn is_our_name(&self, name: &str) -> bool {
        if let Ok(ip) = name.parse::<IpAddr>() {
            return match self.address.ip() {
                ours if ours.is_unspecified() => true,
                ours if ours.is_loopback() => ip.is_loopback(),
                ours => ip == ours,
            };
        }
        let name = name.to_ascii_lowercase();
        let below = |machine: &str| name.strip_prefix(machine).is_some_and(|rest| rest.starts_with('.'));
        let is_machine = name == self.machine || !self.machine.is_empty() && below(&self.machine);
        name == "localhost" || name == self.host || is_machine
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(given, value)| given == name && is_same(value, &self.token))
    }

    /// Turns a token in the address into a cookie and redirects to the address without it.
    fn let_in(&self, request: &Request) -> Option<Response> {
        let (path, query) = (request.uri().path(), request.uri().query()?);
        let (tokens, others): (Vec<&str>, Vec<&str>) =
            query.split('&').partition(|pair| pair.starts_with("token="));
        let (given, token) = (tokens.first()?.strip_prefix("token=")?, &self.token);
        let is_right = *request.method() == Method::GET
            && is_same(given, token)
            && self.is_ours(text(request.headers(), &HOST).unwrap_or_default());
        is_right.then(|| {
            let to = if others.is_empty() { path.to_owned() } else { format!("{path}?{}", others.join("&")) };
            let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name());
            ([(SET_COOKIE, cookie)], Redirect::to(&to)).into_response()
        })
    }

    fn cookie_name(&self) -> String {
        format!("{COOKIE_NAME}{}", self.address.port())
    }
}

/// Refuses requests that [`Access`] does not allow, and adds the security headers to every answer.
pub async fn admit(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let judged = access.judge(&request);
    let mut response = match (access.let_in(&request), judged) {
        (Some(response), _) => response,
        (None, Ok(())) => next.run(request).await,
        (None, Err(refused)) => Page::from(refused).into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether the browser marks the request as coming from this server's pages or from no page.
pub fn is_own_wish(headers: &HeaderMap) -> bool {
    headers.get(SITE).is_none_or(|site| ["same-origin", "none"].iter().any(|own| site == own))
}

/// Whether the browser marks the form as sent by a page of this server.
fn is_own_form(headers: &HeaderMap, host: &str) -> bool {
    let origin = text(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
    let site = headers.get(SITE).map(|site| site == "same-origin");
    origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host)) && site != Some(false)
}

fn text<'a>(headers: &'a HeaderMap, name: &axum::http::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Compares in constant time, so that the time does not reveal how much of a token is right.
fn is_same(given: &str, token: &str) -> bool {
    given.len() == token.len()
        && given.bytes().zip(token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// A random token.
///
/// # Errors
/// The system has no random numbers.
pub fn random_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl ErrorResponse {
    fn forbidden(trouble: Trouble) -> Self {
        Self { status: StatusCode::FORBIDDEN, trouble }
    }
}

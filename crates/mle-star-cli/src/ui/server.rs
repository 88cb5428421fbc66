//! Listens, and routes addresses to pages.

use std::io::ErrorKind;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::CONTENT_TYPE;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use mle_star_domain::trouble::Trouble;
use mle_star_report::html;
use tokio::net::TcpListener;

use super::access::{self, Access};
use super::response::{ErrorResponse, Page};
use super::site::Site;
use super::{actions, compare, delete, pages, sources, start, try_row};

/// A bound address, before requests are answered.
pub struct BoundServer {
    listener: TcpListener,
    access: Access,
    /// The URL to open, with its token.
    pub url: String,
    /// Whether other machines can reach it.
    pub is_open: bool,
}

/// Files that pages load. They are part of the program; pages load nothing from other servers.
const FILES: [(&str, &str, &str); 4] = [
    ("/style.css", "text/css; charset=utf-8", html::STYLE),
    ("/page.js", "text/javascript; charset=utf-8", html::SCRIPT),
    ("/ui.css", "text/css; charset=utf-8", include_str!("../../templates/ui/ui.css")),
    ("/live.js", "text/javascript; charset=utf-8", include_str!("../../templates/ui/live.js")),
];

/// Binds the port; 0 picks a free one.
///
/// # Errors
/// The port is in use, or the host is not an address of this machine.
pub async fn bind(host: &str, port: u16) -> Result<BoundServer, Trouble> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let bound = TcpListener::bind((host, port)).await;
    let listener = bound.map_err(|error| unbound(host, port, &error))?;
    let address = listener.local_addr().map_err(|error| unbound(host, port, &error))?;
    let is_open = !address.ip().is_loopback();
    let token = access::random_token().map_err(|error| {
        Trouble::new(
            format!("cannot make a token: {error}"),
            "check that the system has a source of randomness",
        )
    })?;
    let access = Access::new(host, address, token);
    let url = access.url();
    Ok(BoundServer { listener, access, url, is_open })
}

/// Serves requests until the process ends.
///
/// # Errors
/// The socket fails.
pub async fn serve(bound: BoundServer, site: Site) -> Result<(), Trouble> {
    let access = Arc::new(bound.access);
    let pages = routes(Arc::new(site)).layer(middleware::from_fn_with_state(access, access::admit));
    let served = axum::serve(bound.listener, pages).await;
    served.map_err(|error| Trouble::new(format!("the web page ended: {error}"), "start it again"))
}

fn routes(site: Arc<Site>) -> Router {
    let mut routes = Router::new()
        .route("/", get(pages::list_page))
        .route("/events", get(pages::list_events))
        .route("/compare", get(compare::page))
        .route("/start", get(start::page).post(start::start))
        // Files that are sent have a bound of their own.
        .route("/start/upload", post(sources::upload).layer(DefaultBodyLimit::disable()))
        .route("/start/example", post(sources::example))
        .route("/runs/{run}", get(pages::run_page))
        .route("/runs/{run}/events", get(pages::run_events))
        .route("/runs/{run}/logs/{name}", get(pages::log_file))
        .route("/runs/{run}/files/{name}", get(pages::result_file))
        .route("/runs/{run}/stop", get(actions::stop_page).post(actions::stop))
        .route("/runs/{run}/note", get(actions::note_page).post(actions::note))
        .route("/runs/{run}/fork", get(actions::fork_page).post(actions::fork))
        .route("/runs/{run}/resume", get(actions::resume_page).post(actions::resume))
        .route("/runs/{run}/try", post(try_row::predict))
        .route("/delete", get(delete::page).post(delete::delete))
        .fallback(nowhere);
    for (path, kind, text) in FILES {
        routes = routes.route(path, get(move || async move { ([(CONTENT_TYPE, kind)], text) }));
    }
    routes.with_state(site)
}

async fn nowhere(request: Request) -> Response {
    let path = request.uri().path();
    let trouble = Trouble::new(format!("there is no page {path}"), "the list of runs links to every page");
    Page::from(ErrorResponse::missing(trouble)).into_response()
}

fn unbound(host: &str, port: u16, error: &std::io::Error) -> Trouble {
    match error.kind() {
        ErrorKind::AddrInUse => Trouble::new(
            format!("port {port} of {host} is taken by another program"),
            "choose another port with --port, or open the page that runs there",
        ),
        ErrorKind::PermissionDenied => {
            Trouble::new(format!("port {port} may not be taken"), "choose one above 1023 with --port")
        }
        _ => Trouble::new(
            format!("cannot listen on {host}, port {port}: {error}"),
            "give an address of this machine with --host, or leave it out",
        ),
    }
}

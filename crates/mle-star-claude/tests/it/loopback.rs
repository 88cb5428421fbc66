//! A service on loopback that keeps every request. The first segment of a path is the scenario.

use std::net::SocketAddr;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The server, which stops when dropped.
pub struct Service {
    address: SocketAddr,
    asked: watch::Receiver<Vec<Asked>>,
    server: JoinHandle<()>,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The first segment of the path.
    pub scenario: String,
    /// The index among the requests of its scenario and path.
    pub nth: usize,
    /// The rest of the path.
    pub path: String,
    pub method: Method,
    pub headers: HeaderMap,
    /// JSON, or null.
    pub body: Value,
}

impl Service {
    /// Serves on a free port.
    pub async fn start<F, R>(respond: F) -> Self
    where
        F: Fn(Asked) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Response> + Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, asked) = watch::channel(Vec::new());
        let service = Router::new().fallback(move |request: Request| {
            let (seen, respond) = (seen.clone(), respond.clone());
            async move { respond(noted(request, &seen).await).await }
        });
        let server = tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
        Self { address, asked, server }
    }

    /// The address of a scenario.
    pub fn url(&self, scenario: &str) -> String {
        format!("http://{}/{scenario}", self.address)
    }

    /// All requests, in order.
    pub fn asked(&self) -> watch::Receiver<Vec<Asked>> {
        self.asked.clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn noted(request: Request, seen: &watch::Sender<Vec<Asked>>) -> Asked {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let (scenario, path) = parts.uri.path().trim_start_matches('/').split_once('/').unwrap_or_default();
    let mut asked = Asked {
        scenario: scenario.to_owned(),
        nth: 0,
        path: path.to_owned(),
        method: parts.method,
        headers: parts.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    seen.send_modify(|seen| {
        asked.nth = seen.iter().filter(|other| other.scenario == scenario && other.path == path).count();
        seen.push(asked.clone());
    });
    asked
}

//! Responses: pages rendered from templates, and errors with hints.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use minijinja::Environment;
use minijinja::value::Serde;
use mle_star::journal::JournalError;
use mle_star_domain::trouble::Trouble;
use mle_star_report::html;
use serde::Serialize;

use crate::exit::Failure;

/// The templates of the pages and their frame.
const TEMPLATES: [(&str, &str); 16] = templates![
    "layout" "list" "row" "compare" "run" "doing" "logs" "note" "stop" "resume" "fork" "steer" "delete" "start" "try" "trouble"
];

/// Templates below `ui/` by their names.
macro_rules! templates {
    ($($name:literal)*) => {
        [$((concat!("ui/", $name, ".html"), include_str!(concat!("../../templates/ui/", $name, ".html")))),*]
    };
}
use templates;

static PAGES: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(environment);

/// A rendered HTML page with its HTTP status.
pub struct Page {
    status: StatusCode,
    html: String,
}

/// An error response with a hint.
#[derive(Debug)]
pub struct ErrorResponse {
    /// The status code.
    pub status: StatusCode,
    /// The message and hint.
    pub trouble: Trouble,
}

/// The response to a request for a page.
pub type PageResponse = Result<Page, Page>;

/// Renders a page from its template. Text is escaped.
///
/// # Errors
/// The template does not fit the values, which is an internal error.
pub fn render(template: &str, values: &impl Serialize) -> Result<String, ErrorResponse> {
    let page = pages()?.get_template(template).map_err(|error| ErrorResponse::defect(&error))?;
    page.render(Serde(values)).map_err(|error| ErrorResponse::defect(&error))
}

/// All templates: of pages, and of the parts of a run's page, which crate `mle-star-report` defines.
///
/// # Errors
/// One of them is broken, which is an internal error.
pub fn pages() -> Result<&'static Environment<'static>, ErrorResponse> {
    PAGES.as_ref().map_err(ErrorResponse::defect)
}

/// Runs blocking work on a separate thread.
///
/// # Errors
/// The error of the work, or a panic in it.
pub async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorResponse> + Send + 'static,
) -> Result<T, ErrorResponse> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(ErrorResponse {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            trouble: Trouble::new(format!("internal error: {error}"), "please report this"),
        })
    })
}

/// Does what a form asks for, and leads to the address that the work returns.
///
/// # Errors
/// As [`in_background`].
pub async fn redirected(
    work: impl FnOnce() -> Result<String, ErrorResponse> + Send + 'static,
) -> Result<Redirect, Page> {
    Ok(Redirect::to(&in_background(work).await?))
}

impl Page {
    /// A page.
    ///
    /// # Errors
    /// As [`render`].
    pub fn rendered(template: &str, values: &impl Serialize) -> PageResponse {
        Ok(Self { status: StatusCode::OK, html: render(template, values)? })
    }

    /// This page with another status.
    pub fn with(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl ErrorResponse {
    /// A template does not fit its values.
    pub fn defect(error: &minijinja::Error) -> Self {
        let message = format!("the page cannot be made: {error}");
        let trouble = Trouble::new(message, "this is a defect of mle-star; please report it");
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, trouble }
    }

    /// The error for something that does not exist.
    pub fn missing(trouble: Trouble) -> Self {
        Self { status: StatusCode::NOT_FOUND, trouble }
    }
}

/// By default an error is about an action that is not possible.
impl From<Trouble> for ErrorResponse {
    fn from(trouble: Trouble) -> Self {
        Self { status: StatusCode::CONFLICT, trouble }
    }
}

impl From<Failure> for ErrorResponse {
    fn from(failure: Failure) -> Self {
        failure.trouble.into()
    }
}

impl From<JournalError> for ErrorResponse {
    fn from(error: JournalError) -> Self {
        error.trouble().into()
    }
}

impl From<ErrorResponse> for Page {
    fn from(refused: ErrorResponse) -> Self {
        let ErrorResponse { status, trouble: Trouble { message, hint, .. } } = refused;
        let values = serde_json::json!({"message": message, "hint": hint});
        // Each template is checked, so that an error in one does not hide an error in another.
        let html = render("ui/trouble.html", &values).unwrap_or_else(|_| "internal error".to_owned());
        Self { status, html }
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        (self.status, Html(self.html)).into_response()
    }
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = html::environment()?;
    // Only a page can start runs.
    environment.add_global("forks", true);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

//! Downloads: the result of a run, and its report.

use std::fs::File as Opened;
use std::io;
use std::path::Path as FilePath;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State as Of};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use mle_star_domain::layout::{FINAL, LOG, LOGS, REPORT, REQUIREMENTS, RESULT, SOLUTION, SUBMISSION};
use mle_star_domain::trouble::Trouble;
use mle_star_report::files;
use tokio::fs::File;
use tokio::io::AsyncReadExt;

use super::answer::{Refused, Shown, in_background};
use super::site::Site;

/// The files that can be downloaded, relative to the run's folder.
const FILES: [(&str, &str); 6] = [
    (FINAL, SUBMISSION),
    (FINAL, SOLUTION),
    (FINAL, REQUIREMENTS),
    (".", REPORT),
    (".", RESULT),
    (LOGS, LOG),
];
const PIECE: usize = 64 * 1024;

/// The names of the existing files.
pub fn present(folder: &FilePath) -> Vec<&'static str> {
    FILES.into_iter().filter(|file| open(folder, *file).is_ok()).map(|(_, name)| name).collect()
}

/// Serves a file of a run as a download.
///
/// # Errors
/// There is no such run or file.
pub async fn file(
    Of(site): Of<Arc<Site>>,
    Path((id, wanted)): Path<(String, String)>,
) -> Result<Response, Shown> {
    let found = in_background(move || {
        let folder = site.find(&id)?;
        let known = FILES.into_iter().find(|(_, name)| *name == wanted);
        let file = known.and_then(|file| Some((open(&folder, file).ok()?, file.1)));
        let missing =
            || Refused::missing(Trouble::new(format!("no file called {wanted}"), "look at the run's page"));
        file.ok_or_else(missing)
    });
    let (file, name) = found.await?;
    Ok(stream(file, Some(name)))
}

/// Streams a file, as text to view or as a download with a name.
pub fn stream(file: Opened, saved_as: Option<&str>) -> Response {
    let mut response = Body::from_stream(unfold(Some(File::from_std(file)), next_piece)).into_response();
    let kind = if saved_as.is_some() { "application/octet-stream" } else { "text/plain; charset=utf-8" };
    let saved = saved_as.map(|name| format!("attachment; filename=\"{name}\""));
    response.headers_mut().insert(CONTENT_TYPE, axum::http::HeaderValue::from_static(kind));
    response.headers_mut().extend(saved.and_then(|text| Some((CONTENT_DISPOSITION, text.parse().ok()?))));
    response
}

/// The next piece and the rest of the file. An error is passed on, so that a partial file is not taken for a whole one.
async fn next_piece(file: Option<File>) -> Option<(io::Result<Vec<u8>>, Option<File>)> {
    let mut file = file?;
    let mut piece = vec![0; PIECE];
    match file.read(&mut piece).await {
        Ok(0) => None,
        Ok(length) => {
            piece.truncate(length);
            Some((Ok(piece), Some(file)))
        }
        Err(error) => Some((Err(error), None)),
    }
}

fn open(run: &FilePath, (folder, name): (&str, &str)) -> io::Result<Opened> {
    files::open(run, &if folder == "." { name.to_owned() } else { format!("{folder}/{name}") })
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn a_file_that_cannot_be_read_to_its_end_is_no_download() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("whole");
        std::fs::write(&file, vec![7; 3 * PIECE]).unwrap();
        let bytes = async |of: &FilePath| {
            to_bytes(stream(Opened::open(of).unwrap(), None).into_body(), usize::MAX).await
        };
        assert_eq!(bytes(&file).await.unwrap().len(), 3 * PIECE);
        // A folder can be opened, but not read.
        assert!(bytes(folder.path()).await.is_err());
    }
}

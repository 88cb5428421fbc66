//! Data for a new run: what lies below the folder of the page, files that are sent, and an example.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Multipart, State as Of};
use axum::response::Redirect;
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::size;
use mle_star_report::sanitize::is_invisible;
use mle_star_run::runs;
use mle_star_tables::intake::{has_tables, is_table, stem};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use super::response::{Page, redirected};
use super::site::Site;
use super::start;

/// Larger files are better chosen where they are.
const MAX_UPLOAD_BYTES: usize = 1_000_000_000;
/// Entries of a folder that are shown.
const MAX_ENTRIES: usize = 200;
/// The folder of the example.
const EXAMPLE: &str = "example-flight-delays";
/// Its files.
const EXAMPLE_FILES: [(&str, &str); 6] = [
    ("description.md", include_str!("../../templates/example/description.md")),
    ("train.csv", include_str!("../../templates/example/data/train.csv")),
    ("test.csv", include_str!("../../templates/example/data/test.csv")),
    ("sample_submission.csv", include_str!("../../templates/example/data/sample_submission.csv")),
    ("planes.csv", include_str!("../../templates/example/data/planes.csv")),
    ("weather.csv", include_str!("../../templates/example/data/weather.csv")),
];

/// The folders and tables in a folder below that of the page; in that folder itself if `inside` does not lead below it.
pub fn listing(site: &Site, inside: &str) -> Value {
    let below = |path: &Path| path.canonicalize().ok().filter(|path| path.starts_with(&site.folder));
    let at =
        below(&site.folder.join(inside)).filter(|path| path.is_dir()).unwrap_or_else(|| site.folder.clone());
    let relative = |path: &Path| path.strip_prefix(&site.folder).unwrap_or(path).display().to_string();
    let entries = fs::read_dir(&at).into_iter().flatten().flatten();
    let visible = entries.filter(|entry| !runs::is_hidden(entry)).map(|entry| entry.path());
    let is_data = |path: &PathBuf| match path.is_dir() {
        true => path != &site.runs_dir && !runs::is_run(path),
        false => is_table(path),
    };
    let mut paths: Vec<PathBuf> = visible.filter(|path| is_data(path) && below(path).is_some()).collect();
    paths.sort_by_key(|path| (path.is_file(), path.clone()));
    let shown = paths.iter().take(MAX_ENTRIES).map(|path| {
        let bytes = path.metadata().ok().filter(fs::Metadata::is_file).map(|meta| size(meta.len()));
        json!({"name": path.file_name().map(|name| name.to_string_lossy()), "path": relative(path), "size": bytes})
    });
    json!({
        "root": site.folder, "at": relative(&at), "is_data": has_tables(&at),
        "up": (at != site.folder).then(|| at.parent().map(relative)), "entries": shown.collect::<Vec<_>>(),
        "more": paths.len().saturating_sub(MAX_ENTRIES), "most": size(MAX_UPLOAD_BYTES as u64),
    })
}

/// Keeps files that are sent, in a folder of their own beside the runs, and shows the task that they are.
///
/// # Errors
/// No file was chosen, they are too large, or they cannot be written.
pub async fn upload(Of(site): Of<Arc<Site>>, mut form: Multipart) -> Result<Redirect, Page> {
    match received(&site.uploads(), &mut form).await {
        Ok(data) => Ok(Redirect::to(&checked(&data))),
        Err(trouble) => Err(start::refused(site, start::StartForm::default(), trouble).await),
    }
}

/// Writes the example beside the runs, and shows the task that it is.
///
/// # Errors
/// It cannot be written.
pub async fn example(Of(site): Of<Arc<Site>>) -> Result<Redirect, Page> {
    redirected(move || {
        let folder = site.uploads().join(EXAMPLE);
        let mut written = fs::create_dir_all(&folder);
        for (name, text) in EXAMPLE_FILES {
            written = written.and_then(|()| fs::write(folder.join(name), text));
        }
        written.map_err(|error| Trouble::io("write in", &folder, &error))?;
        Ok(checked(&folder))
    })
    .await
}

/// The address that shows the task of this data.
fn checked(data: &Path) -> String {
    format!("/start?folder={}", utf8_percent_encode(&data.display().to_string(), NON_ALPHANUMERIC))
}

/// The folder with the files of the form, or the file if it is one.
async fn received(uploads: &Path, form: &mut Multipart) -> Result<PathBuf, Trouble> {
    let cannot = |error: io::Error| Trouble::io("write in", uploads, &error);
    let unread = |error: axum::extract::multipart::MultipartError| {
        Trouble::new(format!("the files did not arrive: {}", error.body_text()), "send them again")
    };
    fs::create_dir_all(uploads).map_err(cannot)?;
    let arriving = tempfile::Builder::new().prefix(".arriving-").tempdir_in(uploads).map_err(cannot)?;
    let (mut names, mut bytes): (Vec<String>, usize) = (Vec::new(), 0);
    while let Some(mut field) = form.next_field().await.map_err(unread)? {
        let Some(name) = field.file_name().and_then(plain_name) else { continue };
        let mut file = File::create(arriving.path().join(&name)).await.map_err(cannot)?;
        while let Some(piece) = field.chunk().await.map_err(unread)? {
            bytes += piece.len();
            // A browser shows no answer before it has sent all.
            if bytes <= MAX_UPLOAD_BYTES {
                file.write_all(&piece).await.map_err(cannot)?;
            }
        }
        file.flush().await.map_err(cannot)?;
        names.push(name);
    }
    let is_first = |name: &&String| is_table(&arriving.path().join(name));
    let Some(first) = names.iter().find(is_first).or(names.first()) else {
        return Err(Trouble::new("no file was chosen", "choose a table, or several tables of one task"));
    };
    if bytes > MAX_UPLOAD_BYTES {
        let [sent, most] = [bytes, MAX_UPLOAD_BYTES].map(|bytes| size(bytes as u64));
        let hint = "put them into a folder below that of the page, and choose them there";
        return Err(Trouble::new(format!("these files have {sent}, and at most {most} can be sent"), hint));
    }
    let numbers = std::iter::once(String::new()).chain((2..).map(|number| format!("-{number}")));
    let mut folders = numbers.map(|number| uploads.join(format!("{}{number}", stem(first))));
    let folder = folders.find(|folder| !folder.exists()).unwrap_or_default();
    fs::rename(arriving.path(), &folder).map_err(cannot)?;
    Ok(if names.len() == 1 { folder.join(first) } else { folder })
}

/// The name of a file that is sent, without its folder; `None` if it is hidden or has none.
fn plain_name(given: &str) -> Option<String> {
    let name = given.rsplit(['/', '\\']).next()?;
    (!name.starts_with('.') && !name.is_empty() && !name.contains(is_invisible)).then(|| name.to_owned())
}

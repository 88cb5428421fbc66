//! Reads rows to predict from a table in any format.

use std::path::Path;

use mle_star_domain::config::Config;
use mle_star_tables::other_rows::{Layout, Names};
use mle_star_tables::reading::Reading;
use serde::Deserialize;
use serde_json::json;

use crate::data_plane::ask_for;
use crate::error::RunError;
use crate::python_environment::Say;
use crate::runs::absolute;

/// The answer of the data plane.
#[derive(Deserialize)]
struct Written {
    names: Vec<String>,
}

/// Writes the columns of the test table of the table `given` as plain CSV. Returns the names of the rows. Further columns
/// are left out.
///
/// # Errors
/// The table cannot be read, has numbers that can be read in two ways, or lacks a column; the file cannot be written.
pub async fn read_rows(
    layout: &Layout,
    (given, reading): (&Path, &Reading),
    names: Names,
    into: &Path,
    (config, say): (&Config, Say<'_>),
) -> Result<Vec<String>, RunError> {
    let file = absolute(given)?;
    let question = json!({
        "question": "read_rows",
        "file": file,
        "reading": reading,
        "layout": layout,
        "names": names,
    });
    let real = file.canonicalize().unwrap_or_else(|_| file.clone());
    let written: Written = ask_for(config, [file, real], question, into, say).await?;
    Ok(written.names)
}

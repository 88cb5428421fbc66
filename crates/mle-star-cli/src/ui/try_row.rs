//! Predicts a row that a person filled in, with the fitted model of a run.

use std::collections::HashMap;
use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::{Form, Path, State as Of};
use csv::{Reader, Writer};
use mle_star_domain::trouble::Trouble;
use mle_star_report::run_view;
use mle_star_report::views::values;
use mle_star_run::predict::predict as predict_rows;
use mle_star_run::runtime::drive_with_threads;
use serde_json::{Value, json};

use super::response::{Page, PageResponse, in_background};
use super::site::Site;
use crate::exit::Failure;

/// Shows what the model of a run predicts for the row of a form, with the form for another one.
///
/// # Errors
/// There is no such run, it kept no fitted model, or that does not predict the row.
pub async fn predict(
    Of(site): Of<Arc<Site>>,
    Path(id): Path<String>,
    Form(row): Form<HashMap<String, String>>,
) -> PageResponse {
    let of = id.clone();
    let values = in_background(move || {
        let folder = site.find(&of)?;
        let (mut fields, name) = fields(&folder)?;
        for field in &mut fields {
            if let Some(given) = field["column"].as_str().and_then(|column| row.get(column)) {
                field["value"] = given.as_str().into();
            }
        }
        let (predicted, notes) = predicted(&folder, name.as_deref(), &fields)?;
        Ok(json!({"id": id, "fields": fields, "predicted": predicted, "notes": notes}))
    })
    .await?;
    Page::rendered("ui/try.html", &values)
}

/// The columns of a row with their typical values, and the column that names rows in predictions.
fn fields(folder: &FilePath) -> Result<(Vec<Value>, Option<String>), Failure> {
    let view = run_view::read(folder).map_err(|error| error.trouble())?;
    let model = values(&view, "model").unwrap_or_default();
    let fields = model["fields"].as_array().cloned().unwrap_or_default();
    if fields.is_empty() {
        let why = "this run kept no fitted model that could predict a row";
        return Err(
            Trouble::new(why, "predict the rows of a table with mle-star predict: it fits again").into()
        );
    }
    Ok((fields, model["id"].as_str().map(str::to_owned)))
}

/// The predicted columns of this row, and what was odd about it.
fn predicted(folder: &FilePath, id: Option<&str>, fields: &[Value]) -> Result<(Value, Vec<String>), Failure> {
    let cannot = |error: csv::Error| Trouble::new(format!("cannot predict the row: {error}"), "try again");
    let made = tempfile::tempdir().map_err(|error| Trouble::io("write in", &std::env::temp_dir(), &error))?;
    let [rows, into] = ["row.csv", "predicted.csv"].map(|name| made.path().join(name));
    let mut writer = Writer::from_path(&rows).map_err(cannot)?;
    for cells in ["column", "value"] {
        writer.write_record(fields.iter().filter_map(|field| field[cells].as_str())).map_err(cannot)?;
    }
    writer.flush().map_err(|error| Trouble::io("write", &rows, &error))?;
    let done = drive_with_threads(predict_rows(folder, &rows, &into, false, &|_| ()))?;
    let mut reader = Reader::from_path(&into).map_err(cannot)?;
    let names = reader.headers().map_err(cannot)?.clone();
    let cells = reader.records().next().transpose().map_err(cannot)?.unwrap_or_default();
    let both = names.iter().zip(&cells).filter(|(name, _)| Some(*name) != id);
    Ok((both.map(|(name, cell)| json!([name, cell])).collect(), done.notes))
}

//! `report`: writes `report.html`.

use mle_star_report::run_view;
use mle_star_run::runs;

use super::runs_dir;
use crate::args::RunRef;
use crate::exit::{Exit, Failure};
use crate::{output, report};

/// Writes the report of a run.
///
/// # Errors
/// There is no such run, its journal cannot be read, or its folder cannot be written.
pub fn report(args: &RunRef) -> Result<Exit, Failure> {
    let folder = runs::find(&args.run, &runs_dir(args.runs_dir.clone()))?;
    let view = run_view::read(&folder).map_err(|error| Failure::journal(&error))?;
    let path = report::write(&view).map_err(Failure::failed)?;
    if args.json {
        output::data(&serde_json::json!({"report": path}).to_string());
    } else {
        output::data(&path.display().to_string());
    }
    Ok(Exit::Done)
}

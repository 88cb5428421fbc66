//! `report`: writes `report.html`.

use mle_star_report::html::Extent;
use mle_star_report::run_view;

use crate::args::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::{output, report};

/// Writes the report of a run.
///
/// # Errors
/// There is no such run, its journal cannot be read, or its folder cannot be written.
pub fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let folder = args.run.find()?;
    let view = run_view::read(&folder)?;
    let extent = if args.full { Extent::Full } else { Extent::Brief };
    let path = report::write(&view, extent).map_err(Failure::failed)?;
    if args.json {
        output::data(&serde_json::json!({"report": path}).to_string());
    } else {
        output::data(&path.display().to_string());
    }
    Ok(Exit::Done)
}

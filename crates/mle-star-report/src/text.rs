//! `show`: a run as lines of text, from the template `show.txt`.

use minijinja::value::{Serde, Value};
use minijinja::{Error, context};
use mle_star_domain::trouble::Trouble;

use crate::page::environment;
use crate::run_report::RunReport;
use crate::views::{self, Context};

/// A run in lines.
///
/// # Errors
/// The template is broken.
pub fn lines(run: &Context<'_>) -> Result<Vec<String>, Trouble> {
    let text = rendered(run).map_err(|error| {
        Trouble::new(format!("cannot show the run: {error:#}"), "this is a bug in mle-star, please report it")
    })?;
    Ok(text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect())
}

fn rendered(run: &Context<'_>) -> Result<String, Error> {
    let report = RunReport::with(run);
    let parts = ["overview", "importance", "leaderboard", "tree", "runners", "script", "costs", "now"]
        .map(|name| (name, Serde(views::part(name).and_then(|part| (part.values)(run, &report)))));
    let values = context! { report => Serde(&report), ..Value::from_pairs(parts) };
    environment()?.get_template("show.txt")?.render(values)
}

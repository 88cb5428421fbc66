//! The importance of columns: how much the score depends on each.

use mle_star::result::FinalResult;
use mle_star_domain::layout;
use serde_json::{Value, json};

use super::{Context, RunReport};
use crate::chart::strips;
use crate::cut::line_of;
use crate::figures::{grouped, signed};
use crate::sanitize::first_line;

/// The most columns in sight; a fold has the others.
const IN_SIGHT: usize = 10;
/// The most columns in lines of text.
const MAX_LISTED: usize = 20;
/// The longest name of a column in a sentence, in characters.
const NAME: usize = 40;

/// How much worse the score gets without each column; `None` without a result that says so.
pub fn importance(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let result = context.result()?;
    let why = &result.importance_why;
    let about = about(result);
    let columns = match (&result.importance, why) {
        (Some(columns), _) => columns.as_slice(),
        (None, Some(_)) => &[],
        (None, None) => return None,
    };
    // Those without which the score is better beyond chance.
    let hurting = columns.iter().rev().filter(|one| one.hurts()).take(5);
    let hurting: Vec<String> = hurting.map(|one| format!("`{}`", first_line(&one.column, NAME))).collect();
    let listed = columns.iter().take(MAX_LISTED);
    let bars = strips(&columns.iter().map(|one| (one.difference, one.interval)).collect::<Vec<_>>());
    let row = |(at, one): (usize, _)| json!({"of": one, "bar": bars.get(at), "hurts": columns[at].hurts()});
    let width = listed.map(|one| first_line(&one.column, NAME).chars().count()).max();
    Some(json!({
        "why": why.as_ref().filter(|_| result.importance.is_none()),
        "about": about,
        "columns": columns.iter().enumerate().map(row).collect::<Vec<_>>(),
        "in_sight": IN_SIGHT,
        "listed": MAX_LISTED,
        "width": width,
        "hurting": hurting,
        "joined": joined(context),
    }))
}

fn about(result: &FinalResult) -> String {
    let rows = result.importance_rows.map_or_else(String::new, |rows| {
        format!(" on {} {}", grouped(rows), result.importance_on.unwrap_or_default().words())
    });
    let metric = line_of(&result.task.evaluation_metric);
    format!("How much worse {metric} gets{rows} when a column is permuted")
}

/// Where the columns of further tables count, which the script joins itself; `None` without such tables.
fn joined(context: &Context<'_>) -> Option<String> {
    let facts: Value = context.file(&[layout::FACTS])?;
    let links = facts["relations"]["links"].as_array()?.iter().filter(|link| link["to"].is_null());
    let at = links.filter_map(|link| {
        let file =
            facts["auxiliary"].get(usize::try_from(link["table"].as_u64()?).ok()?)?["file"].as_str()?;
        let own = link["own"].as_array()?.iter().filter_map(Value::as_str);
        let own: Vec<String> = own.map(|name| format!("`{}`", first_line(name, NAME))).collect();
        Some(format!("`{}` at {}", first_line(file, NAME), own.join(" and ")))
    });
    let at = at.collect::<Vec<_>>().join(", ");
    let words = "columns of further tables count where they are joined";
    (!at.is_empty()).then(|| format!("{words}: {at}"))
}

/// How much worse, without a sign if it is worse.
pub fn worse(difference: f64) -> String {
    signed(difference).trim_start_matches(['+', '±']).to_owned()
}

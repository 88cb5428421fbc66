//! How much the score depends on each column.

use mle_star::result::FinalResult;
use mle_star_domain::question::ColumnImportance;
use serde::Serialize;

use super::context::Context;
use crate::chart::{self, About, Effect, Mood};
use crate::cut::{PROSE, cut, line_of, sentence};
use crate::figures::{grouped, interval, signed};
use crate::sanitize::first_line;

/// The most columns in the picture; the table has all.
const DRAWN: usize = 30;
/// The most columns in lines of text.
const LISTED: usize = 20;
/// The longest name of a column in a line, in characters.
const NAME: usize = 40;

/// The part of a run's page about what matters for its predictions.
#[derive(Clone, Debug, Serialize)]
pub struct ImportanceView {
    /// SVG: the strongest columns.
    pub chart: Option<String>,
    /// On how many rows.
    pub about: String,
    /// All columns, strongest first.
    pub rows: Vec<ColumnRow>,
    /// The number of columns that are not drawn.
    pub undrawn: usize,
    /// The columns without which the score is better, in one sentence.
    pub hurting: Option<String>,
    /// Why it is not known, in one sentence.
    pub why: Option<String>,
}

/// One column.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnRow {
    /// Its name.
    pub column: String,
    /// How much worse the score gets.
    pub worse: String,
    /// The interval.
    pub interval: Option<String>,
}

/// Creates the view of a run; `None` without a result that says so.
pub fn importance(context: &Context<'_>) -> Option<ImportanceView> {
    of_result(context.result()?)
}

fn of_result(result: &FinalResult) -> Option<ImportanceView> {
    let Some(columns) = &result.importance else {
        let why = format!("the importance of columns is not known: {}", result.importance_why.as_ref()?);
        let why = Some(sentence(&cut(&why, PROSE)));
        let (chart, about, hurting) = (None, String::new(), None);
        return Some(ImportanceView { chart, about, rows: Vec::new(), undrawn: 0, hurting, why });
    };
    let rows = result.importance_rows.map_or_else(String::new, |rows| {
        format!(" on {} {}", grouped(rows), result.importance_on.unwrap_or_default().words())
    });
    let about = format!(
        "How much worse {} gets{rows} when a column is permuted",
        line_of(&result.task.evaluation_metric)
    );
    let strongest =
        columns.first().map(|first| format!("The strongest column is {}.", line_of(&first.column)));
    let description = strongest.unwrap_or_default();
    let picture = About { id: "importance-chart", title: &about, description: &description };
    let drawn: Vec<Effect> = columns.iter().take(DRAWN).map(effect).collect();
    Some(ImportanceView {
        chart: chart::effects(&picture, &drawn),
        rows: columns.iter().map(row).collect(),
        undrawn: columns.len().saturating_sub(DRAWN),
        hurting: hurting(columns).map(|words| sentence(&words)),
        why: None,
        about,
    })
}

/// The columns without which the score is better beyond chance.
fn hurting(columns: &[ColumnImportance]) -> Option<String> {
    let names: Vec<String> = columns
        .iter()
        .rev()
        .filter(|one| one.hurts())
        .take(5)
        .map(|one| format!("`{}`", first_line(&one.column, NAME)))
        .collect();
    let (verb, whose) = if names.len() == 1 { ("hurts", "it") } else { ("hurt", "each of them") };
    (!names.is_empty())
        .then(|| format!("{} {verb}: the score is better when {whose} is permuted", names.join(", ")))
}

/// The importance as lines of text; none if a result says nothing about it.
pub fn lines(result: &FinalResult) -> Vec<String> {
    let Some(view) = of_result(result) else { return Vec::new() };
    if let Some(why) = view.why {
        return vec![String::new(), first_line(&why, 300)];
    }
    let mut lines = vec![String::new(), format!("{}:", view.about)];
    let width = view.rows.iter().take(LISTED).map(|row| first_line(&row.column, NAME).chars().count()).max();
    let width = width.unwrap_or(0);
    lines.extend(view.rows.iter().take(LISTED).map(|row| {
        let interval = row.interval.as_ref().map_or_else(String::new, |interval| format!("  {interval}"));
        format!("  {:<width$}  {:>10}{interval}", first_line(&row.column, NAME), row.worse)
    }));
    let more = view.rows.len().saturating_sub(LISTED);
    if more > 0 {
        lines.push(format!("  and {more} weaker; --json has all"));
    }
    lines.extend(view.hurting);
    lines
}

fn effect(one: &ColumnImportance) -> Effect {
    Effect {
        name: one.column.clone(),
        value: one.difference,
        interval: one.interval,
        shown: worse(one.difference),
        mood: if one.hurts() { Mood::Bad } else { Mood::Plain },
    }
}

/// How much worse, without a sign if it is worse.
fn worse(difference: f64) -> String {
    signed(difference).trim_start_matches(['+', '±']).to_owned()
}

fn row(one: &ColumnImportance) -> ColumnRow {
    ColumnRow {
        column: line_of(&one.column),
        worse: worse(one.difference),
        interval: one.interval.map(|ends| interval(ends).replace("[-", "[−").replace(" -", " −")),
    }
}

//! Starts a run: shows what data there is, then what a run would take it for, so that it can be changed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Form, Query, State as Of};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Redirect;
use mle_star_domain::config::{Config, Key};
use mle_star_domain::task::{ColumnRole, TaskKeys};
use mle_star_domain::trouble::Trouble;
use mle_star_report::figures::brief;
use mle_star_run::columns::MAX_COLUMNS;
use mle_star_run::prepare::intake::{Intake, Location, Reader, take_in};
use mle_star_run::prepare::{Data, Intent, Prepared, prepare_for, settings_of, task_source};
use mle_star_run::settings::process_environment;
use mle_star_tables::profile::Profile;
use mle_star_tables::task_inference::TaskHints;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::access::is_own_wish;
use super::folder::page_of;
use super::response::{ErrorResponse, Page, PageResponse, in_background};
use super::site::Site;
use super::sources::listing;
use crate::args::{RunArgs, SettingsArgs, TaskArgs};
use crate::processes::{detached, expanded};

/// Rows of the preview.
const FIRST_ROWS: usize = 6;
/// What fields are called instead of the options that errors name.
const LABELS: [(&str, &str); 7] = [
    ("target", "Column to predict"),
    ("metric", "Metric"),
    ("direction", "Better scores"),
    ("id-column", "Column with row IDs"),
    ("time-limit", "Time"),
    ("agents", "Who writes the scripts"),
    ("max-budget-usd", "Cost limit in US dollars"),
];

/// The fields of the form; empty if not filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StartForm {
    folder: String,
    /// The folder whose data is offered.
    within: String,
    agents: String,
    time_limit: String,
    max_budget_usd: String,
    /// `KEY=VALUE` lines.
    settings: String,
    /// Keys of the task.
    #[serde(flatten)]
    task: BTreeMap<String, String>,
}

/// The form, before anything is looked at: a field for each key of the task, with its value.
fn blank(entered: &StartForm) -> Value {
    let field = |key: &Key| {
        let name = key.option_name();
        let value = entered.task.get(name).map(String::as_str).unwrap_or_default();
        json!({"name": name, "help": key.help, "of_columns": key.placeholder.starts_with("COLUMN"), "value": value})
    };
    json!({
        "entered": entered, "fields": TaskKeys::all().map(field).collect::<Vec<_>>(), "labels": BTreeMap::from(LABELS),
        "listing": null, "tasks": null, "seen": null, "table": null, "trouble": null,
    })
}

/// Shows what data there is, or what a run would take the chosen data for. A request from another site's page reads nothing.
///
/// # Errors
/// The page cannot be rendered.
pub async fn page(
    Of(site): Of<Arc<Site>>,
    headers: HeaderMap,
    Query(entered): Query<StartForm>,
) -> PageResponse {
    let values = match is_own_wish(&headers) {
        true => in_background(move || Ok(looked_at(&site, &entered.with_plain_lines()))).await?,
        false => blank(&StartForm::default()),
    };
    Page::rendered("ui/start.html", &values)
}

/// Starts the run in a separate process and redirects to its page.
///
/// # Errors
/// The folder or a field is wrong; with the error of `run`.
pub async fn start(Of(site): Of<Arc<Site>>, Form(entered): Form<StartForm>) -> Result<Redirect, Page> {
    let entered = entered.with_plain_lines();
    let args = RunArgs { runs_dir: Some(site.runs_dir.clone()), ..entered.arguments() };
    match in_background(move || Ok(detached::start(&args)?.run_id)).await {
        Ok(id) => Ok(Redirect::to(&page_of(&id))),
        Err(ErrorResponse { trouble, .. }) => Err(refused(site, entered, trouble).await),
    }
}

/// The form with what was wrong with it.
pub async fn refused(site: Arc<Site>, entered: StartForm, trouble: Trouble) -> Page {
    let values = in_background(move || {
        let mut values = looked_at(&site, &entered);
        values["trouble"] = told(trouble);
        Ok(values)
    });
    let page = values.await.map_err(Page::from).and_then(|values| Page::rendered("ui/start.html", &values));
    page.map_or_else(|page| page, |page| page.with(StatusCode::CONFLICT))
}

/// The values of the page: the data that can be chosen, or the task inferred from what was chosen and what is wrong with it.
fn looked_at(site: &Site, entered: &StartForm) -> Value {
    let mut values = blank(entered);
    if entered.folder.trim().is_empty() {
        values["listing"] = listing(site, &entered.within);
        return values;
    }
    let folder = entered.path();
    let tasks = task_source::all(std::slice::from_ref(&folder));
    if tasks.len() > 1 {
        values["tasks"] = json!(tasks);
        return values;
    }
    let prepared = task_source::find_one(&folder).and_then(|task| {
        let prepared =
            prepare_for(Intent::Preview, &entered.arguments().options()?, &task, &process_environment);
        prepared.map_err(|error| error.trouble)
    });
    match prepared {
        Ok(prepared) => values["seen"] = preview(&prepared),
        Err(trouble) => {
            values["trouble"] = told(trouble);
            values["table"] = columns_alone(entered).unwrap_or_default();
        }
    }
    if let Some(table) = values.pointer_mut("/seen/table").map(Value::take) {
        values["table"] = table;
    }
    values
}

/// What went wrong, for people who see fields instead of options.
fn told(Trouble { message, hint, mut questions, .. }: Trouble) -> Value {
    for question in &mut questions {
        question.seen = in_fields(&question.seen);
        question.readings.iter_mut().for_each(|reading| reading.means = in_fields(&reading.means));
    }
    json!({"message": in_fields(&message), "hint": in_fields(&hint), "questions": questions})
}

/// A text with the names of fields instead of options.
fn in_fields(text: &str) -> String {
    let mut parts = text.split("--");
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-');
        let (option, rest) = part.split_at(end.unwrap_or(part.len()));
        let label = LABELS.iter().find(|(name, _)| *name == option);
        let label = label.map_or_else(|| option.replace('-', " "), |(_, label)| (*label).to_owned());
        told += &format!("\u{201c}{label}\u{201d}{rest}");
    }
    told
}

/// The inferred task, with the reasons.
fn preview(prepared: &Prepared) -> Value {
    let guesses = prepared.guesses.iter().map(|guess| {
        let value: String = guess.value.chars().take(300).collect();
        json!({"field": guess.field, "value": value, "reason": guess.reason})
    });
    let (config, task) = (&prepared.configured.config, &prepared.task);
    let is_timed = prepared.configured.given.contains("time_limit_seconds");
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let time = is_timed.then(|| brief(config.time_limit_seconds as f64));
    json!({
        "task": task.competition_id, "description": task.description, "guesses": guesses.collect::<Vec<_>>(),
        "target": task.roles.target.as_ref().map(ToString::to_string), "id_column": task.roles.id,
        "metric": task.evaluation_metric, "direction": task.metric_direction,
        "sources": prepared.lines().iter().map(|line| in_fields(line)).collect::<Vec<_>>(), "programs": programs(config), "time": time,
        "table": prepared.data.profile.as_ref().map(|profile| table(&prepared.intake, profile, &task.columns)),
    })
}

/// The columns of data that is not understood yet; `None` if its tables cannot be read.
fn columns_alone(entered: &StartForm) -> Option<Value> {
    let source = task_source::find(&task_source::find_one(&entered.path()).ok()?).ok()?;
    let (settings, _) = settings_of(&Default::default(), &source, &process_environment).ok()?;
    // As in a preview, no program that settings name is executed.
    let config = Config { python: None, ..settings.config };
    let intake = take_in(&source, Location::Temporary, Reader { config: &config, say: &|_| () }).ok()?;
    let data = Data::inspect(&intake, &TaskHints { may_lack_tables: true, ..TaskHints::default() }).ok()?;
    Some(table(&intake, data.profile.as_ref()?, &[]))
}

/// The first rows of the training table. Columns with a part in the task come first.
fn table(intake: &Intake, profile: &Profile, roles: &[ColumnRole]) -> Value {
    let file = std::path::absolute(intake.folder().join(&profile.train.file)).unwrap_or_default();
    let question = json!({"question": "head", "file": file, "rows": FIRST_ROWS});
    let rows: Value = intake.plane.ask(question).unwrap_or_default();
    let rows = rows["rows"].as_array().cloned().unwrap_or_default();
    let role = |name: &str| roles.iter().position(|role| role.column == name);
    let mut columns: Vec<_> = profile.train.columns.iter().enumerate().collect();
    columns.sort_by_key(|(_, column)| role(&column.name).unwrap_or(MAX_COLUMNS));
    let column = |(at, column): &(usize, &mle_star_tables::profile::Column)| {
        let role = role(&column.name).map(|role| &roles[role]);
        let cells: Vec<_> = rows.iter().map(|row| row[*at].clone()).collect();
        json!({"name": column.name, "kind": column.kind.name(), "role": role.map(|role| &role.role),
            "why": role.map(|role| &role.why), "cells": cells})
    };
    let made_of = intake.instead().into_iter().find(|(table, _)| *table == profile.train.file);
    json!({
        "file": made_of.map_or_else(|| profile.train.file.clone(), |(_, file)| file), "rows": profile.train.rows, "all": columns.len(),
        "columns": columns.iter().take(MAX_COLUMNS).map(column).collect::<Vec<_>>(),
    })
}

/// Programs that a run executes because the configuration names them.
fn programs(config: &Config) -> Vec<Value> {
    let named = [
        ("python", &config.python),
        ("claude_path", &config.claude_path),
        ("codex_path", &config.codex_path),
    ];
    let named =
        named.into_iter().filter_map(|(key, program)| Some((key, program.as_ref()?.display().to_string())));
    let searches = config.search_command.first().map(|program| ("search_command", program.clone()));
    named.chain(searches).map(|(key, path)| json!({"key": key, "path": path})).collect()
}

impl StartForm {
    /// Browsers send CRLF line ends.
    fn with_plain_lines(self) -> Self {
        Self { settings: self.settings.replace("\r\n", "\n"), ..self }
    }

    fn path(&self) -> PathBuf {
        expanded(self.folder.trim())
    }

    fn arguments(&self) -> RunArgs {
        let value = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let given = self.task.iter().filter_map(|(name, text)| {
            let text = value(text)?;
            let is_path = text.starts_with('~');
            Some((name.as_str(), if is_path { expanded(&text).display().to_string() } else { text }))
        });
        RunArgs {
            path: self.path(),
            settings: SettingsArgs {
                agents: value(&self.agents),
                set: self.settings.lines().filter_map(value).collect(),
                max_budget_usd: value(&self.max_budget_usd),
                ..SettingsArgs::default()
            },
            time_limit: value(&self.time_limit),
            task: TaskArgs::of(given),
            ..RunArgs::default()
        }
    }
}

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
use mle_star_run::prepare::intake::{Intake, Location, Reader, take_in};
use mle_star_run::prepare::{Data, Intent, Prepared, prepare_for, task_source};
use mle_star_run::settings::process_environment;
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
        "entered": entered, "fields": TaskKeys::all().map(field).collect::<Vec<_>>(),
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
        true => in_background(move || Ok(looked_at(&site, &entered))).await?,
        false => blank(&StartForm::default()),
    };
    Page::rendered("ui/start.html", &values)
}

/// Starts the run in a separate process and redirects to its page.
///
/// # Errors
/// The folder or a field is wrong; with the error of `run`.
pub async fn start(Of(site): Of<Arc<Site>>, Form(entered): Form<StartForm>) -> Result<Redirect, Page> {
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
        Ok(prepared) => {
            values["seen"] = preview(&prepared);
            values["table"] = json!(table(&prepared.intake, &prepared.data, &prepared.task.columns));
        }
        Err(trouble) => {
            values["trouble"] = told(trouble);
            values["table"] = json!(columns_alone(entered));
        }
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

/// A text with the names of fields instead of options, which have dashes before and in them.
fn in_fields(text: &str) -> String {
    let plain = format!(" {text}").replace(" --", " ").replace("`--", "`").replace("(--", "(");
    plain.trim_start().to_owned()
}

/// The inferred task, with the reasons.
fn preview(prepared: &Prepared) -> Value {
    let (configured, task) = (&prepared.configured, &prepared.task);
    let is_timed = configured.given.contains("time_limit_seconds");
    json!({
        "task": task, "guesses": prepared.guesses, "target": task.roles.target.as_ref().map(ToString::to_string),
        "sources": prepared.lines().iter().map(|line| in_fields(line)).collect::<Vec<_>>(),
        "programs": programs(&configured.config),
        "time": is_timed.then_some(configured.config.time_limit_seconds),
    })
}

/// The columns of data that is not understood yet; `None` if its tables cannot be read.
fn columns_alone(entered: &StartForm) -> Option<Value> {
    let source = task_source::find(&task_source::find_one(&entered.path()).ok()?).ok()?;
    // As in a preview, no program that settings name is executed.
    let reader = Reader { config: &Config::default(), say: &|_| () };
    let intake = take_in(&source, Location::Temporary, reader).ok()?;
    let data = Data::inspect(&intake, &TaskHints { may_lack_tables: true, ..TaskHints::default() }).ok()?;
    table(&intake, &data, &[])
}

/// The first rows of the training table, and what its columns are taken for; `None` without one.
fn table(intake: &Intake, data: &Data, roles: &[ColumnRole]) -> Option<Value> {
    let (train, file) = (&data.facts["train"], &data.profile.as_ref()?.train.file);
    let path = std::path::absolute(intake.folder().join(file)).ok()?;
    let cells: Value =
        intake.plane.ask(json!({"question": "head", "file": path, "rows": FIRST_ROWS})).ok()?;
    let made_of = intake.instead().into_iter().find(|(table, _)| table == file);
    Some(json!({
        "file": made_of.map_or_else(|| file.clone(), |(_, given)| given), "rows": train["rows"],
        "columns": train["columns"], "roles": roles, "cells": cells,
    }))
}

/// Programs that a run executes because the configuration names them.
fn programs(config: &Config) -> Vec<Value> {
    let all = json!(config);
    let program = |key: &str| all[key].as_str().or_else(|| all[key][0].as_str()).map(str::to_owned);
    let keys = ["python", "claude_path", "codex_path", "search_command"].into_iter();
    keys.filter_map(|key| Some(json!({"key": key, "path": program(key)?}))).collect()
}

impl StartForm {
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

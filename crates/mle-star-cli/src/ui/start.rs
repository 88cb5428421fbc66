//! Starts a run from a folder, after showing the inferred task so that it can be changed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Form, Query, State as Of};
use axum::http::HeaderMap;
use axum::response::Redirect;
use mle_star_domain::config::{Config, Key};
use mle_star_domain::task::TaskKeys;
use mle_star_domain::trouble::Trouble;
use mle_star_run::prepare::{Intent, Prepared, prepare_for, task_source};
use mle_star_run::settings::process_environment;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::access::is_own_wish;
use super::folder::page_of;
use super::response::{Page, PageResponse, in_background, redirected};
use super::site::Site;
use crate::args::{RunArgs, SettingsArgs, TaskArgs};
use crate::processes::{detached, expanded};

/// The keys of the task that are always shown.
const MAIN: [&str; 4] = ["metric", "direction", "target", "id_column"];

/// The fields of the form; empty if not filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StartForm {
    folder: String,
    agents: String,
    time_limit: String,
    max_budget_usd: String,
    /// `KEY=VALUE` lines.
    settings: String,
    /// Keys of the task.
    #[serde(flatten)]
    task: BTreeMap<String, String>,
}

/// A field for each key of the task, with its value.
fn fields(entered: &StartForm) -> Vec<Value> {
    let field = |key: &Key| {
        let name = key.option_name();
        let value = entered.task.get(name).map(String::as_str).unwrap_or_default();
        json!({"name": name, "label": key.help, "of_columns": key.placeholder.starts_with("COLUMN"), "value": value,
            "is_main": MAIN.contains(&name)})
    };
    TaskKeys::all().map(field).collect()
}

/// Shows the form: empty, or filled in from the folder. A request from another site's page does not read the folder.
///
/// # Errors
/// The page cannot be rendered.
pub async fn page(headers: HeaderMap, Query(entered): Query<StartForm>) -> PageResponse {
    let entered = if is_own_wish(&headers) { entered.with_plain_lines() } else { StartForm::default() };
    let values = in_background(move || Ok(looked_at(&entered))).await?;
    Page::rendered("ui/start.html", &values)
}

/// Starts the run in a separate process and redirects to its page.
///
/// # Errors
/// The folder or a field is wrong; with the error of `run`.
pub async fn start(Of(site): Of<Arc<Site>>, Form(entered): Form<StartForm>) -> Result<Redirect, Page> {
    let entered = entered.with_plain_lines();
    redirected(move || {
        let args = RunArgs { runs_dir: Some(site.runs_dir.clone()), ..entered.arguments() };
        Ok(page_of(&detached::start(&args)?.run_id))
    })
    .await
}

/// The values of the form, with the task inferred from the folder or the error, if there is a folder.
fn looked_at(entered: &StartForm) -> Value {
    let folder = entered.path();
    let form = |entered: &StartForm, tasks: &[PathBuf], seen: Value, trouble: Value| json!({"entered": entered, "tasks": tasks, "seen": seen, "trouble": trouble, "fields": fields(entered)});
    if entered.folder.trim().is_empty() {
        return form(entered, &[], Value::Null, Value::Null);
    }
    let tasks = task_source::all(std::slice::from_ref(&folder));
    if tasks.len() > 1 {
        return form(entered, &tasks, Value::Null, Value::Null);
    }
    let prepared = task_source::find_one(&folder).and_then(|task| {
        let prepared =
            prepare_for(Intent::Preview, &entered.arguments().options()?, &task, &process_environment);
        prepared.map_err(|error| error.trouble)
    });
    match prepared {
        Ok(prepared) => form(&entered.with(&prepared), &[], preview(&prepared), Value::Null),
        Err(Trouble { message, hint, questions, .. }) => {
            let trouble = json!({"message": message, "hint": hint, "questions": questions});
            form(entered, &[], Value::Null, trouble)
        }
    }
}

/// The inferred task, with the reasons.
fn preview(prepared: &Prepared) -> Value {
    let guesses = prepared.guesses.iter().map(|guess| {
        let value: String = guess.value.chars().take(300).collect();
        json!({"field": guess.field, "value": value, "reason": guess.reason})
    });
    let columns = prepared.data.profile.iter().flat_map(|profile| &profile.train.columns);
    let config = &prepared.configured.config;
    json!({
        "task": prepared.task.competition_id,
        "description": prepared.task.description,
        "guesses": guesses.collect::<Vec<_>>(),
        "columns": columns.map(|column| column.name.clone()).collect::<Vec<_>>(),
        "sources": prepared.lines(),
        "programs": programs(config),
        "search": [
            ("models", config.num_retrieved_models), ("outer steps", config.outer_loop_steps),
            ("inner steps", config.inner_loop_steps), ("paths", config.num_parallel_solutions),
            ("ensemble rounds", config.ensemble_rounds),
        ],
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

    /// With inferred values in the empty fields.
    fn with(&self, prepared: &Prepared) -> Self {
        let task = &prepared.task;
        let (roles, metric) = (&task.roles, task.evaluation_metric.clone());
        let found = [
            // The name of a metric of the user's own would be looked for among the known ones.
            ("metric", Some(metric).filter(|_| task.metric_file.is_none())),
            ("direction", Some(task.metric_direction.name().to_owned())),
            ("target", roles.target.as_ref().map(ToString::to_string)),
            ("id_column", roles.id.clone()),
        ];
        let mut filled = self.clone();
        for (name, value) in found {
            let field = filled.task.entry(name.to_owned()).or_default();
            if field.trim().is_empty() {
                *field = value.unwrap_or_default();
            }
        }
        if filled.time_limit.trim().is_empty() {
            filled.time_limit = prepared.configured.config.time_limit_seconds.to_string();
        }
        filled
    }
}

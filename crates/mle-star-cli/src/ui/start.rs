//! Starts a run from a folder, after showing the inferred task so that it can be changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Form, Query, State as Of};
use axum::http::HeaderMap;
use axum::response::Redirect;
use mle_star::config::Config;
use mle_star::stop::Trouble;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::access::is_own_wish;
use super::answer::{Answer, Refused, Shown, in_background};
use super::processes::{self, Begun};
use super::site::{Site, page_of};
use crate::args::RunArgs;
use crate::prepare::task_source;
use crate::prepare::{self, Intent, Prepared};
use crate::settings::process_environment;

/// The fields of the form; empty if not filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entered {
    folder: String,
    metric: String,
    direction: String,
    target: String,
    id_column: String,
    agents: String,
    time_limit: String,
    max_budget_usd: String,
    /// `KEY=VALUE` lines.
    settings: String,
}

/// Shows the form: empty, or filled in from the folder. A request from another site's page does not read the folder.
///
/// # Errors
/// The page cannot be rendered.
pub async fn page(headers: HeaderMap, Query(entered): Query<Entered>) -> Answer {
    let entered = if is_own_wish(&headers) { entered.with_plain_lines() } else { Entered::default() };
    if entered.folder.trim().is_empty() {
        return Shown::page(
            "ui/start.html",
            &json!({"entered": entered, "seen": null, "trouble": null, "tasks": []}),
        );
    }
    let values = in_background(move || Ok(looked_at(&entered))).await?;
    Shown::page("ui/start.html", &values)
}

/// Starts the run in a separate process and redirects to its page.
///
/// # Errors
/// The folder or a field is wrong; with the error of `run`.
pub async fn start(Of(site): Of<Arc<Site>>, Form(entered): Form<Entered>) -> Result<Redirect, Shown> {
    let entered = entered.with_plain_lines();
    let to = in_background(move || {
        let prepared = prepared(Intent::Begin, &entered).map_err(Refused::conflict)?;
        let id = run_id(&prepared.task.competition_id, &jiff::Zoned::now());
        let arguments = entered.command_line(&site.runs_dir, &id);
        let begun = processes::begin(&site.runs_dir, &site.runs_dir.join(&id), &arguments, &site.late);
        // Reading large data takes a while; the list shows the run once it exists.
        Ok(match begun.map_err(Refused::conflict)? {
            Begun::Going => page_of(&id),
            Begun::Preparing => "/".to_owned(),
        })
    })
    .await?;
    Ok(Redirect::to(&to))
}

/// The task inferred from the folder, or the error, for the form.
fn looked_at(entered: &Entered) -> Value {
    let folder = entered.path();
    let tasks = task_source::all(std::slice::from_ref(&folder));
    if tasks.len() > 1 {
        let tasks: Vec<String> = tasks.iter().map(|task| task.display().to_string()).collect();
        return json!({"entered": entered, "seen": null, "trouble": null, "tasks": tasks});
    }
    match prepared(Intent::Look, entered) {
        Ok(prepared) => {
            json!({"entered": entered.with(&prepared), "seen": seen(&prepared), "trouble": null, "tasks": []})
        }
        Err(Trouble { message, hint, .. }) => {
            json!({"entered": entered, "seen": null, "trouble": {"message": message, "hint": hint}, "tasks": []})
        }
    }
}

fn prepared(intent: Intent, entered: &Entered) -> Result<Prepared, Trouble> {
    let prepared = prepare::prepare_for(intent, &entered.arguments(), &entered.path(), &process_environment);
    prepared.map_err(|failure| failure.trouble)
}

/// The inferred task, with the reasons.
fn seen(prepared: &Prepared) -> Value {
    let guesses = prepared.guesses.iter().map(|guess| {
        let value: String = guess.value.chars().take(300).collect();
        json!({"field": guess.field, "value": value, "reason": guess.reason})
    });
    let columns = prepared.profile.iter().flat_map(|profile| &profile.train.columns);
    let config = &prepared.config;
    json!({
        "task": prepared.task.competition_id,
        "description": prepared.task.description,
        "guesses": guesses.collect::<Vec<_>>(),
        "columns": columns.map(|column| column.name.clone()).collect::<Vec<_>>(),
        "sources": prepared.sources,
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

/// A valid run ID made from the task's name.
fn run_id(task: &str, now: &jiff::Zoned) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = task.chars().map(allowed).take(60).collect();
    let name = name.trim_start_matches(['-', '.']);
    let name = if name.is_empty() { "task" } else { name };
    format!("{name}-{}", now.strftime("%Y%m%d-%H%M%S"))
}

impl Entered {
    /// Browsers send CRLF line ends.
    fn with_plain_lines(self) -> Self {
        Self { settings: self.settings.replace("\r\n", "\n"), ..self }
    }

    fn path(&self) -> PathBuf {
        let folder = self.folder.trim();
        match (folder.strip_prefix("~/"), std::env::var_os("HOME")) {
            (Some(below), Some(home)) => PathBuf::from(home).join(below),
            _ => PathBuf::from(folder),
        }
    }

    fn options(&self) -> Vec<(&'static str, &str)> {
        let options = [
            ("metric", &self.metric),
            ("direction", &self.direction),
            ("target", &self.target),
            ("id-column", &self.id_column),
            ("agents", &self.agents),
            ("time-limit", &self.time_limit),
            ("max-budget-usd", &self.max_budget_usd),
        ];
        let given = options.into_iter().map(|(option, value)| (option, value.trim()));
        let settings = self.settings.lines().map(|line| ("set", line.trim()));
        given.chain(settings).filter(|(_, value)| !value.is_empty()).collect()
    }

    fn arguments(&self) -> RunArgs {
        let value = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        RunArgs {
            tasks: vec![self.path()],
            metric: value(&self.metric),
            direction: value(&self.direction),
            target: value(&self.target),
            id_column: value(&self.id_column),
            agents: value(&self.agents),
            time_limit: value(&self.time_limit),
            max_budget_usd: value(&self.max_budget_usd),
            set: self.settings.lines().filter_map(value).collect(),
            ..RunArgs::default()
        }
    }

    fn command_line(&self, runs_dir: &Path, id: &str) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec!["run".into(), "--quiet".into(), format!("--run-id={id}").into()];
        line.extend(["--runs-dir".into(), runs_dir.as_os_str().to_owned()]);
        line.extend(self.options().into_iter().map(|(option, value)| format!("--{option}={value}").into()));
        line.extend(["--".into(), self.path().into_os_string()]);
        line
    }

    /// With inferred values in the empty fields.
    fn with(&self, prepared: &Prepared) -> Self {
        let task = &prepared.task;
        let or = |given: &str, found: Option<&str>| match given.trim() {
            "" => found.unwrap_or_default().to_owned(),
            given => given.to_owned(),
        };
        Self {
            metric: or(&self.metric, Some(&task.evaluation_metric)),
            direction: or(&self.direction, Some(task.metric_direction.name())),
            target: or(&self.target, task.target_column.as_deref()),
            id_column: or(&self.id_column, task.id_column.as_deref()),
            time_limit: or(&self.time_limit, Some(&prepared.config.time_limit_seconds.to_string())),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_entered_becomes_a_command_line() {
        let entered = Entered {
            folder: " --data ".to_owned(),
            target: "--x y".to_owned(),
            settings: "a=1\n\n b=2 \n".to_owned(),
            ..Entered::default()
        };
        let line = entered.command_line(Path::new("/runs"), "r");
        let expected = [
            "run",
            "--quiet",
            "--run-id=r",
            "--runs-dir",
            "/runs",
            "--target=--x y",
            "--set=a=1",
            "--set=b=2",
            "--",
            "--data",
        ];
        assert_eq!(line, expected);
    }

    #[test]
    fn every_task_gets_an_id_that_is_allowed() {
        let now: jiff::Zoned = "2025-01-02T03:04:05[UTC]".parse().unwrap();
        let check = |task: &str, expected: &str| {
            assert_eq!(run_id(task, &now), format!("{expected}-20250102-030405"));
        };
        check("houses", "houses");
        check("Häuser / 2", "H-user---2");
        check("..", "task");
        check("", "task");
    }
}

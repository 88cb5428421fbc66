//! Beginning a run from a folder: what can be guessed is guessed, shown, and may be changed first.

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

/// What a person entered; empty where nothing was.
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

/// Shows the form: empty, or with what the folder says. Another site's page can lead here; it gets nothing looked at.
///
/// # Errors
/// The page cannot be made.
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

/// Begins the run, in a process of its own, and goes to its page.
///
/// # Errors
/// What is wrong with the folder or what was entered, as `run` says it.
pub async fn start(Of(site): Of<Arc<Site>>, Form(entered): Form<Entered>) -> Result<Redirect, Shown> {
    let entered = entered.with_plain_lines();
    let to = in_background(move || {
        let prepared = prepared(Intent::Begin, &entered).map_err(Refused::conflict)?;
        let id = run_id(&prepared.task.competition_id, &jiff::Zoned::now());
        let arguments = entered.command_line(&site.runs_dir, &id);
        let begun = processes::begin(&site.runs_dir, &site.runs_dir.join(&id), &arguments, &site.late);
        // Much data takes a while to be looked through; the list tells when the run is there.
        Ok(match begun.map_err(Refused::conflict)? {
            Begun::Going => page_of(&id),
            Begun::Preparing => "/".to_owned(),
        })
    })
    .await?;
    Ok(Redirect::to(&to))
}

/// What the folder says, or what is wrong with it, for the form.
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

/// What was found out, with the reasons.
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

/// What a run with this configuration executes because it is named there.
fn programs(config: &Config) -> Vec<Value> {
    let named = [("python", &config.python), ("claude_path", &config.claude_path)].into_iter();
    let named = named.filter_map(|(key, program)| Some((key, program.as_ref()?.display().to_string())));
    named.map(|(key, path)| json!({"key": key, "path": path})).collect()
}

/// A name for a run of the task, allowed as an id whatever the task is called.
fn run_id(task: &str, now: &jiff::Zoned) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = task.chars().map(allowed).take(60).collect();
    let name = name.trim_start_matches(['-', '.']);
    let name = if name.is_empty() { "task" } else { name };
    format!("{name}-{}", now.strftime("%Y%m%d-%H%M%S"))
}

impl Entered {
    /// Browsers end lines as the network does.
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

    /// With what was found out in the fields that were left empty.
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

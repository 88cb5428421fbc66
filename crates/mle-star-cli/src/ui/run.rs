//! A run's page: the parts of its report, the actions on it and the end of its log, updated while it runs.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use mle_star::result::FinalResult;
use mle_star_domain::layout;
use mle_star_report::at_work::AtWork;
use mle_star_report::export::NOTEBOOK;
use mle_star_report::html;
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view::{self, RunView, State};
use mle_star_report::views::{Context, PARTS, Part, now};
use serde_json::json;

use super::folder::{page_of, stamp};
use super::live::Source;
use super::response::{ErrorResponse, pages, render};
use super::{files, logs};

/// The section before the parts.
pub const FIRST: &str = "doing";
/// The section after the first part.
pub const LOGS: &str = "logs";
/// The name of the part with what runs now.
const NOW: &str = "now";

/// A run's sections.
pub struct RunSections {
    folder: PathBuf,
    id: String,
    /// What the events tell, read as they come.
    at_work: Mutex<AtWork>,
}

impl RunSections {
    /// The page of the run in this folder.
    pub fn of(id: &str, folder: PathBuf) -> Self {
        Self { at_work: Mutex::new(AtWork::unread(&folder)), folder, id: id.to_owned() }
    }

    fn of_view(&self, view: &RunView) -> Vec<(String, String)> {
        let mut at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.read(&self.folder, view.summary.run.state);
        let (run, logs) = (Context::of(view, &at_work), format!("{}/logs", page_of(&self.id)));
        let report = RunReport::with(&run);
        let part = |part: &Part| {
            let pages = pages()?;
            let html = match part.name {
                NOW => now::present(view, &at_work)
                    .map_or_else(|| Ok(String::new()), |values| html::now(pages, &values, Some(&logs))),
                _ => html::part(pages, part, &run, &report),
            };
            html.map_err(|error| ErrorResponse::defect(&error))
        };
        let parts = PARTS.iter().map(|known| (known.name, part(known)));
        let others = [(FIRST, self.actions(view)), (LOGS, self.log(view))];
        parts.chain(others).map(|(name, html)| (name.to_owned(), section(name, html))).collect()
    }

    /// What can be done with the run.
    fn actions(&self, view: &RunView) -> Result<String, ErrorResponse> {
        let (summary, state) = (&view.summary, view.summary.run.state);
        let values = json!({
            "id": self.id, "address": page_of(&self.id), "task": summary.task, "state": state.name(),
            "can_note": state != State::Finished, "can_stop": state == State::Running, "can_resume": why_not_resumed(view).is_none(),
            "files": downloads(view),
        });
        render("ui/doing.html", &values)
    }

    /// The end of the log of an unfinished run; hidden for others.
    fn log(&self, view: &RunView) -> Result<String, ErrorResponse> {
        let is_unfinished = view.summary.run.state == State::Unfinished;
        let log = is_unfinished.then(|| logs::of_program(&self.folder)).flatten();
        render("ui/logs.html", &json!({"address": page_of(&self.id), "log": log}))
    }
}

impl Source for RunSections {
    /// Events, and what running scripts print, are in `logs/`.
    fn stamp(&self) -> String {
        let logs = fs::read_dir(self.folder.join(layout::LOGS)).into_iter().flatten().flatten();
        let logs =
            logs.filter_map(|file| file.metadata().ok()).map(|file| (file.len(), file.modified().ok()));
        let logs = logs.fold((0, None), |(size, last), (bytes, time)| (size + bytes, time.max(last)));
        format!("{} {logs:?}", stamp(&self.folder))
    }

    fn sections(&self) -> Vec<(String, String)> {
        match run_view::read(&self.folder) {
            Ok(view) => self.of_view(&view),
            Err(error) => unreadable(&error.to_string()),
        }
    }
}

/// The names of what can be downloaded.
fn downloads(view: &RunView) -> Vec<&'static str> {
    let files = files::present(&view.folder);
    let has_solution = view.result.is_some() && files.contains(&layout::SOLUTION);
    files.iter().copied().chain(has_solution.then_some(NOTEBOOK)).collect()
}

/// A section as it is shown: what went wrong if it could not be rendered, and a hidden one if the run has no such part.
fn section(name: &str, html: Result<String, ErrorResponse>) -> String {
    let html = html.unwrap_or_else(|refused| trouble(name, &refused.trouble.message));
    if html.is_empty() { nothing(name) } else { html }
}

/// The sections of a run that cannot be read: the error, and empty ones.
fn unreadable(why: &str) -> Vec<(String, String)> {
    let empty = PARTS.iter().map(|part| part.name).chain([LOGS]);
    let empty = empty.map(|name| (name.to_owned(), nothing(name)));
    empty.chain([(FIRST.to_owned(), trouble(FIRST, why))]).collect()
}

fn trouble(name: &str, why: &str) -> String {
    let page = render("ui/note.html", &json!({"name": name, "why": why}));
    page.unwrap_or_else(|_| nothing(name))
}

/// An empty section for a part that may follow.
pub fn nothing(name: &str) -> String {
    format!("<section id=\"{name}\" hidden></section>")
}

/// Why a run cannot be resumed; `None` if it can.
pub fn why_not_resumed(view: &RunView) -> Option<&'static str> {
    match view.summary.run.state {
        State::Running => Some("this run is already running"),
        State::Finished if !view.result.as_ref().is_some_and(FinalResult::was_cut) => {
            Some("this run has finished")
        }
        State::Unfinished | State::Finished => None,
    }
}

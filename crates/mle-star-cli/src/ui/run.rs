//! A run's page: the parts of its report, the actions on it and the end of its log, updated while it runs.

use std::path::{Path as FilePath, PathBuf};
use std::sync::{Mutex, PoisonError};

use mle_star::result::FinalResult;
use mle_star_domain::layout::{self, EVENTS};
use mle_star_report::at_work::AtWork;
use mle_star_report::export::NOTEBOOK;
use mle_star_report::html;
use mle_star_report::run_view::{self, RunView, State};
use mle_star_report::views::{Context, PARTS, Part, now};
use serde_json::json;

use super::answer::{ErrorResponse, pages, render};
use super::folder::{page_of, stamp};
use super::live::Source;
use super::{files, logs};

/// The section before the parts.
pub const FIRST: &str = "doing";
/// The section after the first part.
pub const LOGS: &str = "logs";

/// A run's sections.
pub struct RunSections {
    folder: PathBuf,
    id: String,
    known: Mutex<RenderedParts>,
}

/// The rendered parts, and what is needed to render what runs now again.
struct RenderedParts {
    stamp: String,
    parts: Vec<(String, String)>,
    /// `None` before the first read, and for a run that cannot be read.
    state: Option<State>,
    /// The run, if it is running.
    running: Option<RunView>,
    at_work: AtWork,
}

/// The name of the part with what runs now.
const NOW: &str = "now";

impl RunSections {
    /// The page of the run in this folder.
    pub fn of(id: &str, folder: PathBuf) -> Self {
        let known = RenderedParts {
            stamp: String::new(),
            parts: Vec::new(),
            state: None,
            running: None,
            at_work: AtWork::unread(&folder),
        };
        Self { folder, id: id.to_owned(), known: Mutex::new(known) }
    }

    fn read(&self, known: &mut RenderedParts) {
        let now = of_run(&self.folder);
        if known.stamp == now {
            return;
        }
        match run_view::read(&self.folder) {
            Ok(view) => {
                known.at_work.read(&self.folder, view.summary.run.state);
                known.parts = self.parts(&view, &known.at_work);
                known.state = Some(view.summary.run.state);
                known.running = Some(view).filter(|view| view.summary.run.state == State::Running);
            }
            Err(error) => {
                known.parts = unreadable(&error.to_string());
                (known.state, known.running) = (None, None);
            }
        }
        known.stamp = now;
    }

    fn parts(&self, view: &RunView, at_work: &AtWork) -> Vec<(String, String)> {
        let run = Context::of(view, at_work);
        let part = |part: &Part| {
            let html = pages()
                .and_then(|pages| html::part(pages, part, &run).map_err(|e| ErrorResponse::defect(&e)));
            (part.name.to_owned(), shown(part.name, html))
        };
        // What runs now changes more often than the rest.
        let stable = PARTS.iter().filter(|part| part.name != NOW);
        let mut parts: Vec<(String, String)> = stable.map(part).collect();
        parts.push((FIRST.to_owned(), self.first(view)));
        parts
    }

    /// The actions on the run.
    fn first(&self, view: &RunView) -> String {
        let summary = &view.summary;
        let is_cut_short = view.result.as_ref().is_some_and(FinalResult::was_cut);
        let values = json!({
            "id": self.id, "address": page_of(&self.id), "task": summary.task, "state": summary.run.state.name(),
            "can_note": summary.run.state != State::Finished,
            "can_stop": summary.run.state == State::Running,
            "can_resume": summary.run.state == State::Unfinished || summary.run.state == State::Finished && is_cut_short,
            "files": downloads(view),
        });
        render("ui/doing.html", &values).unwrap_or_else(|refused| trouble(FIRST, &refused.trouble.message))
    }
}

/// The names of what can be downloaded.
fn downloads(view: &RunView) -> Vec<&'static str> {
    let files = files::present(&view.folder);
    let has_solution = view.result.is_some() && files.contains(&layout::SOLUTION);
    files.iter().copied().chain(has_solution.then_some(NOTEBOOK)).collect()
}

impl Source for RunSections {
    fn stamp(&self) -> String {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let running = known.running.as_ref();
        let present = running.map(|view| (events(&self.folder), now::stamp(view)));
        format!("{} {present:?}", of_run(&self.folder))
    }

    fn sections(&self) -> Vec<(String, String)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.read(&mut known);
        let mut sections = known.parts.clone();
        sections.push((NOW.to_owned(), self.now(&mut known)));
        sections.push((LOGS.to_owned(), self.logs(&known)));
        sections
    }
}

impl RunSections {
    /// What runs now; hidden unless the run is running.
    fn now(&self, known: &mut RenderedParts) -> String {
        let Some(view) = &known.running else { return nothing(NOW) };
        known.at_work.read(&self.folder, State::Running);
        let Some(values) = now::present(view, &known.at_work) else { return nothing(NOW) };
        let logs = format!("{}/logs", page_of(&self.id));
        let html = pages().and_then(|pages| {
            html::now(pages, &values, Some(&logs)).map_err(|error| ErrorResponse::defect(&error))
        });
        shown(NOW, html)
    }

    /// The end of the log of an unfinished run; hidden for others.
    fn logs(&self, known: &RenderedParts) -> String {
        let is_unfinished = known.state == Some(State::Unfinished);
        let log = is_unfinished.then(|| logs::of_program(&self.folder)).flatten();
        let values = json!({"address": page_of(&self.id), "log": log});
        render("ui/logs.html", &values).unwrap_or_else(|refused| trouble(LOGS, &refused.trouble.message))
    }
}

/// A part as it is shown: what went wrong if it could not be rendered, and a hidden section if the run has no such part.
fn shown(name: &str, html: Result<String, ErrorResponse>) -> String {
    let html = html.unwrap_or_else(|refused| trouble(name, &refused.trouble.message));
    if html.is_empty() { nothing(name) } else { html }
}

/// Changes whenever the parts may have changed. Only the events tell what runners do.
fn of_run(folder: &FilePath) -> String {
    let runners = mle_star_report::files::stamp(folder, layout::RUNNERS);
    format!("{} {:?}", stamp(folder), runners.is_some().then(|| events(folder)))
}

/// Changes with every event.
fn events(folder: &FilePath) -> String {
    format!("{:?}", mle_star_report::files::stamp(folder, &format!("{}/{EVENTS}", layout::LOGS)))
}

/// The parts of a run that cannot be read: the error, and empty sections.
fn unreadable(why: &str) -> Vec<(String, String)> {
    let names = std::iter::once(FIRST).chain(PARTS.iter().map(|part| part.name));
    names
        .map(|name| (name.to_owned(), if name == FIRST { trouble(name, why) } else { nothing(name) }))
        .collect()
}

fn trouble(name: &str, why: &str) -> String {
    let page = render("ui/note.html", &json!({"name": name, "why": why}));
    page.unwrap_or_else(|_| nothing(name))
}

/// An empty section for a part that may follow.
pub fn nothing(name: &str) -> String {
    format!("<section id=\"{name}\" hidden></section>")
}

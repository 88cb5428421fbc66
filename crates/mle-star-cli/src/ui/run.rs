//! A run's page: the parts of its report, the actions on it and the output of its scripts, updated while it runs.

use std::path::{Path as FilePath, PathBuf};
use std::sync::{Mutex, PoisonError};

use mle_star::result::FinalResult;
use mle_star_domain::layout::{self, EVENTS};
use mle_star_domain::place::Place;
use mle_star_report::html::{self, PARTS};
use mle_star_report::run_view::{self, RunView, State};
use mle_star_report::views;
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

/// The rendered parts and the running scripts.
#[derive(Default)]
struct RenderedParts {
    stamp: String,
    parts: Vec<(String, String)>,
    /// `None` before the first read, and for a run that cannot be read.
    state: Option<State>,
    /// Places of running scripts.
    running: Vec<(Place, String)>,
}

impl RunSections {
    /// The page of the run in this folder.
    pub fn of(id: &str, folder: PathBuf) -> Self {
        Self { folder, id: id.to_owned(), known: Mutex::default() }
    }

    fn read(&self, known: &mut RenderedParts) {
        let now = of_run(&self.folder);
        if known.stamp == now {
            return;
        }
        *known = match run_view::read(&self.folder) {
            Ok(view) => RenderedParts {
                stamp: now,
                parts: self.parts(&view),
                state: Some(view.summary.run.state),
                running: logs::running(&view),
            },
            Err(error) => RenderedParts {
                stamp: now,
                parts: unreadable(&error.to_string()),
                ..RenderedParts::default()
            },
        };
    }

    fn parts(&self, view: &RunView) -> Vec<(String, String)> {
        let of_run = views::of_run(view);
        let part = |name: &str| {
            let html = pages()
                .and_then(|pages| html::part(pages, name, &of_run).map_err(|e| ErrorResponse::defect(&e)));
            let html = html.unwrap_or_else(|refused| trouble(name, &refused.trouble.message));
            (name.to_owned(), if html.is_empty() { nothing(name) } else { html })
        };
        let mut parts: Vec<(String, String)> = PARTS.iter().map(|(name, _)| part(name)).collect();
        parts.push((FIRST.to_owned(), self.first(view)));
        parts
    }

    /// The actions on the run.
    fn first(&self, view: &RunView) -> String {
        let summary = &view.summary;
        let is_cut_short = view.result.as_ref().is_some_and(FinalResult::was_cut);
        let values = json!({
            "id": self.id, "address": page_of(&self.id), "task": summary.task, "state": summary.run.state.name(),
            "can_stop": summary.run.state == State::Running,
            "can_resume": summary.run.state == State::Unfinished || summary.run.state == State::Finished && is_cut_short,
            "files": files::present(&self.folder),
        });
        render("ui/doing.html", &values).unwrap_or_else(|refused| trouble(FIRST, &refused.trouble.message))
    }
}

impl Source for RunSections {
    fn stamp(&self) -> String {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let logs = logs::stamp(&self.folder, &known.running);
        format!("{} {logs}", of_run(&self.folder))
    }

    fn sections(&self) -> Vec<(String, String)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.read(&mut known);
        let mut sections = known.parts.clone();
        sections.push((LOGS.to_owned(), self.logs(&known)));
        sections
    }
}

impl RunSections {
    fn logs(&self, known: &RenderedParts) -> String {
        let shown = match known.state {
            Some(State::Running) => logs::of_scripts(&self.folder, &known.running),
            Some(State::Unfinished) => logs::of_program(&self.folder),
            Some(State::Finished) | None => Vec::new(),
        };
        let values = json!({"address": page_of(&self.id), "logs": shown, "is_running": known.state == Some(State::Running)});
        render("ui/logs.html", &values).unwrap_or_else(|refused| trouble(LOGS, &refused.trouble.message))
    }
}

/// Changes whenever the parts may have changed. Only the events tell what runners do.
fn of_run(folder: &FilePath) -> String {
    let runners = mle_star_report::files::stamp(folder, layout::RUNNERS);
    let events = runners
        .is_some()
        .then(|| mle_star_report::files::stamp(folder, &format!("{}/{EVENTS}", layout::LOGS)));
    format!("{} {events:?}", stamp(folder))
}

/// The parts of a run that cannot be read: the error, and empty sections.
fn unreadable(why: &str) -> Vec<(String, String)> {
    let names = std::iter::once(FIRST).chain(PARTS.map(|(name, _)| name));
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_runners_do_changes_the_page() {
        let check = |has_runners: bool| {
            let folder = tempfile::tempdir().unwrap();
            if has_runners {
                fs::write(folder.path().join(layout::RUNNERS), "[]").unwrap();
            }
            let before = of_run(folder.path());
            fs::create_dir(folder.path().join(layout::LOGS)).unwrap();
            fs::write(folder.path().join(layout::LOGS).join(EVENTS), "{}\n").unwrap();
            assert_eq!(of_run(folder.path()) != before, has_runners);
        };
        check(true);
        check(false);
    }
}

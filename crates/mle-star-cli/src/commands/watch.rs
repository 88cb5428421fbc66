//! `watch`: shows a run of another process from its `logs/events.jsonl`.

mod news;

use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::event::Event;
use mle_star::shell;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::follow::{Follow, FollowedLine};
use mle_star_report::progress::Progress;
use mle_star_report::run_view;
use mle_star_run::runs::{self, resume_command};
use mle_star_run::runtime::wait_for;
use mle_star_run::settings::process_environment;
use tokio::signal::unix::{SignalKind, signal};

use super::runs_dir;
use crate::args::WatchArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::watch::{JsonLines, Show, Terminal, TerminalStyle, Watch};

/// How often the file is read.
const INTERVAL: Duration = Duration::from_millis(250);

/// Watches a run until it ends.
///
/// # Errors
/// There is no such run, or its events cannot be read.
pub fn watch(args: &WatchArgs) -> Result<Exit, Failure> {
    let folder = runs::find(&args.run, &runs_dir(args.runs_dir.clone()))?;
    if args.news {
        return news::tell(&folder, args);
    }
    let mut run = Watched::new(folder);
    run.catch_up(args.since.unwrap_or(usize::MAX))?;
    let ended = wait_for(async {
        // Installed before anything is printed.
        let mut interrupts = signal(SignalKind::interrupt()).ok();
        let interrupted = async {
            match interrupts.as_mut() {
                Some(interrupts) => drop(interrupts.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            ended = run.follow(args.json) => ended.map(Some),
            () = interrupted => Ok(None),
        }
    })??;
    let Some(last) = ended else {
        output::talk(&format!("stopped watching; the run continues: {}", args.run));
        return Ok(Exit::Done);
    };
    let exit = outcome(&run.folder, last)?;
    let name = runs::name(&run.folder).unwrap_or_default();
    output::talk(&format!("run {name} has finished; see `mle-star show {}`", shell::word(&args.run)));
    Ok(exit)
}

struct Watched {
    folder: PathBuf,
    follow: Follow,
    progress: Progress,
    /// Earlier events that are to be shown.
    missed: Vec<FollowedLine>,
    /// How the last process of the run ended, if it recorded that.
    end: Option<Event>,
}

impl Watched {
    fn new(folder: PathBuf) -> Self {
        let follow = Follow::new(&folder);
        Self { folder, follow, progress: Progress::default(), missed: Vec::new(), end: None }
    }

    /// Reads earlier events; those before `since` are not shown.
    fn catch_up(&mut self, since: usize) -> Result<(), Failure> {
        let mut lines = self.new_lines()?;
        self.missed = lines.split_off(since.min(lines.len()));
        for line in lines.iter().filter_map(|read| read.line.as_ref()) {
            self.progress.take(line);
        }
        Ok(())
    }

    fn new_lines(&mut self) -> Result<Vec<FollowedLine>, Failure> {
        let lines = self.follow.new_lines().map_err(|error| unreadable(&self.folder, &error))?;
        for line in lines.iter().filter_map(|read| read.line.as_ref()) {
            match &line.event {
                Event::RunStarted(_) => self.end = None,
                end @ Event::RunEnded { .. } => self.end = Some(end.clone()),
                _ => {}
            }
        }
        Ok(lines)
    }

    /// Shows events until no process works on the run; returns the end that the last one recorded.
    async fn follow(&mut self, as_json: bool) -> Result<Option<Event>, Failure> {
        let show = if as_json { Show::Frame } else { Show::Everything };
        let terminal = Terminal::new(show, TerminalStyle::of(&process_environment));
        let json = as_json.then(JsonLines::new);
        let run = terminal.run_with(self.progress.clone());
        if run_view::is_held(&self.folder) {
            run.line(&format!(
                "watching {}; Ctrl-C stops watching, the run continues",
                self.folder.display()
            ));
        }
        loop {
            // Checked before reading, so that the last lines of a process that ends now are read, too.
            let is_running = run_view::is_held(&self.folder);
            let missed = std::mem::take(&mut self.missed);
            for FollowedLine { text, line } in missed.into_iter().chain(self.new_lines()?) {
                line.iter().for_each(|line| run.see(line));
                json.iter().for_each(|json| json.print(text.clone()));
            }
            if !is_running {
                break;
            }
            tokio::time::sleep(INTERVAL).await;
        }
        drop(run);
        terminal.finish();
        json.iter().for_each(JsonLines::finish);
        Ok(self.end.clone())
    }
}

/// The outcome of a run on which no process works; `end` is what its last process recorded.
///
/// # Errors
/// It ended without a result.
fn outcome(folder: &Path, end: Option<Event>) -> Result<Exit, Failure> {
    let result = run_view::read_result(folder).filter(|_| run_view::is_finished(folder));
    match (end, result) {
        (Some(Event::RunEnded { exit_code, error: Some(message), hint }), _) => {
            let trouble = Trouble::new(message, hint.unwrap_or_default());
            Err(Failure { exit: Exit::of_code(exit_code), trouble })
        }
        (Some(Event::RunEnded { exit_code, .. }), _) => Ok(Exit::of_code(exit_code)),
        (_, Some(result)) => Ok(Exit::of_result(&result)),
        _ => {
            let name = runs::name(folder).unwrap_or_default();
            let message = format!("run {name} is not running; its outcome was not recorded");
            let hint = format!("continue with: {}", resume_command(folder));
            Err(Failure::failed(Trouble::new(message, hint)))
        }
    }
}

fn events(folder: &Path) -> PathBuf {
    folder.join(layout::LOGS).join(layout::EVENTS)
}

/// Events that cannot be read.
fn unreadable(folder: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot read {}: {error}", events(folder).display());
    Failure::failed(Trouble::new(message, "fix its permissions; `mle-star show` reads the journal instead"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_of_the_run_is_that_of_watching_it() {
        let end = Event::RunEnded { exit_code: 3, error: None, hint: None };
        assert_eq!(outcome(Path::new("none"), Some(end)), Ok(Exit::NoSubmission));
    }
}

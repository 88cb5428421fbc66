//! `watch`: shows a run of another process from its `logs/events.jsonl`.

mod news;

use std::path::Path;
use std::time::Duration;

use mle_star::event::Event;
use mle_star::shell;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::follow::{Follow, FollowedLine};
use mle_star_report::progress::Progress;
use mle_star_report::run_view;
use mle_star_run::runs::{self, resume_command};
use mle_star_run::runtime::block_on;
use mle_star_run::settings::process_environment;
use tokio::signal::unix::{SignalKind, signal};

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
    let folder = args.run.find()?;
    if args.news {
        return news::print(&folder, args);
    }
    let mut follow = Follow::new(&folder);
    let mut past = read(&mut follow, &folder)?;
    let missed = past.split_off(args.since.unwrap_or(usize::MAX).min(past.len()));
    let ended = block_on(async {
        // Installed before anything is printed.
        let mut interrupts = signal(SignalKind::interrupt()).ok();
        let interrupted = async {
            match interrupts.as_mut() {
                Some(interrupts) => drop(interrupts.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            ended = show(&folder, follow, past, missed, args.json) => ended.map(|()| true),
            () = interrupted => Ok(false),
        }
    })??;
    if !ended {
        output::talk(&format!("stopped watching; the run continues: {}", args.run.run));
        return Ok(Exit::Done);
    }
    let exit = outcome(&folder)?;
    let name = runs::name(&folder).unwrap_or_default();
    output::talk(&format!("run {name} has finished; see `mle-star show {}`", shell::word(&args.run.run)));
    Ok(exit)
}

/// Shows the events that were missed and those to come, until no process works on the run. What is past is only counted.
async fn show(
    folder: &Path,
    mut follow: Follow,
    past: Vec<FollowedLine>,
    mut missed: Vec<FollowedLine>,
    as_json: bool,
) -> Result<(), Failure> {
    let what = if as_json { Show::Frame } else { Show::Everything };
    let json = as_json.then(JsonLines::new);
    let mut progress = Progress::default();
    for line in past.iter().filter_map(|read| read.line.as_ref()) {
        progress.take(line);
    }
    let terminal = Terminal::new(what, TerminalStyle::of(&process_environment), progress);
    if run_view::is_running(folder) {
        terminal.line(&format!("watching {}; Ctrl-C stops watching, the run continues", folder.display()));
    }
    loop {
        // Checked before reading, so that the last lines of a process that ends now are read, too.
        let is_running = run_view::is_running(folder);
        missed.extend(read(&mut follow, folder)?);
        for FollowedLine { text, line } in missed.drain(..) {
            line.iter().for_each(|line| terminal.see(line));
            json.iter().for_each(|json| json.print(text.clone()));
        }
        if !is_running {
            break;
        }
        tokio::time::sleep(INTERVAL).await;
    }
    terminal.finish();
    json.iter().for_each(JsonLines::finish);
    Ok(())
}

/// The outcome of a run on which no process works, as its last process recorded it.
///
/// # Errors
/// It ended without a result.
fn outcome(folder: &Path) -> Result<Exit, Failure> {
    let lines = Follow::new(folder).new_lines().unwrap_or_default().into_iter();
    let mut events = lines.filter_map(|read| Some(read.line?.event)).rev();
    let last = events.find(|event| matches!(event, Event::RunStarted(_) | Event::RunEnded { .. }));
    let result = run_view::read_result(folder).filter(|_| run_view::is_finished(folder));
    match (last, result) {
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

fn read(follow: &mut Follow, folder: &Path) -> Result<Vec<FollowedLine>, Failure> {
    follow.new_lines().map_err(|error| unreadable(folder, &error))
}

/// Events that cannot be read.
fn unreadable(folder: &Path, error: &std::io::Error) -> Failure {
    let events = folder.join(layout::LOGS).join(layout::EVENTS);
    let message = format!("cannot read {}: {error}", events.display());
    Failure::failed(Trouble::new(message, "fix its permissions; `mle-star show` reads the journal instead"))
}

//! The end of the output of running scripts, and of the program's log.

use std::fs::File;
use std::path::Path;

use mle_star::journal::{EffectState, Kind};
use mle_star_domain::layout::{LOG, LOGS, STARTED_LOG};
use mle_star_domain::place::Place;
use mle_star_report::files;
use mle_star_report::run_view::RunView;
use mle_star_report::words::place_name;
use serde::Serialize;

/// Bytes of the end of a stream that are shown.
const SHOWN: u64 = 16 * 1024;
/// The suffixes of a script's output files.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// The end of one file.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Log {
    /// The place or the name of the log.
    title: String,
    /// Its name in `logs/`.
    file: String,
    text: String,
    /// Whether the file has more before it.
    is_cut: bool,
}

/// The running scripts with their start times, RFC 3339.
pub fn running(view: &RunView) -> Vec<(Place, String)> {
    let is_running = |effect: &&mle_star::journal::EffectRecord| {
        effect.kind == Kind::Script && effect.state == EffectState::Begun
    };
    let begun = view.snapshot.effects.iter().filter(is_running);
    begun.map(|effect| (effect.place.clone(), effect.begun_at.clone())).collect()
}

/// Changes when one of them has printed something.
pub fn stamp(folder: &Path, running: &[(Place, String)]) -> String {
    let stamps = files_of(running).map(|(_, _, file)| files::stamp(folder, &in_logs(&file)));
    format!("{:?}", stamps.collect::<Vec<_>>())
}

/// The output of each running script.
pub fn of_scripts(folder: &Path, running: &[(Place, String)]) -> Vec<Log> {
    let log = |((place, begun), stream, name): (&(Place, String), &str, String)| {
        let file = files::open(folder, &in_logs(&name)).ok().filter(|file| is_of_now(file, begun))?;
        log(format!("{}, {stream}", place_name(place)), name, file)
    };
    files_of(running).filter_map(log).collect()
}

/// The end of the program's log.
pub fn of_program(folder: &Path) -> Vec<Log> {
    let log = |name: &str| {
        let file = files::open(folder, &in_logs(name)).ok()?;
        log("The program's notes".to_owned(), name.to_owned(), file)
    };
    [LOG, STARTED_LOG].into_iter().filter_map(log).take(1).collect()
}

fn in_logs(name: &str) -> String {
    format!("{LOGS}/{name}")
}

/// Opens a file of `logs/`.
pub fn open_named(folder: &Path, name: &str) -> Option<File> {
    if name.contains('/') { None } else { files::open(folder, &in_logs(name)).ok() }
}

/// The output files of scripts, by stream.
fn files_of(running: &[(Place, String)]) -> impl Iterator<Item = (&(Place, String), &'static str, String)> {
    let of_script = |script: &'_ (Place, String)| {
        let stem = script.0.file_stem();
        STREAMS.map(|stream| (stream, format!("{stem}.{stream}")))
    };
    running.iter().flat_map(move |script| {
        of_script(script).into_iter().map(move |(stream, name)| (script, stream, name))
    })
}

/// Whether it was written after the script began. An interrupted attempt leaves a file with the same name.
fn is_of_now(file: &File, begun: &str) -> bool {
    let written = file.metadata().and_then(|meta| meta.modified()).ok();
    let begun = begun.parse::<jiff::Timestamp>().map(std::time::SystemTime::from).ok();
    written.zip(begun).is_some_and(|(written, begun)| written >= begun)
}

fn log(title: String, name: String, file: File) -> Option<Log> {
    let (text, is_cut) = files::tail(file, SHOWN).ok().filter(|(text, _)| !text.is_empty())?;
    // The first line is incomplete. A progress bar may have no line end.
    let text = if is_cut { text.split_once('\n').map_or(text.as_str(), |(_, rest)| rest) } else { &text };
    let text: String = text.split('\n').map(last_state).collect::<Vec<_>>().join("\n");
    Some(Log { title, file: name, text, is_cut })
}

/// The text that a terminal shows for a line with carriage returns.
fn last_state(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit_once('\r').map_or(line, |(_, last)| last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_file_is_shown_as_a_terminal_would() {
        let check = |written: &str, shown: &str, is_cut: bool| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), written).unwrap();
            let log = log("x".to_owned(), String::new(), file.reopen().unwrap()).unwrap();
            assert_eq!((log.text.as_str(), log.is_cut), (shown, is_cut));
        };
        check("a\nb\n", "a\nb\n", false);
        check("1%\r50%\r100%\r\ndone\n", "100%\ndone\n", false);
        let long = format!("{}\nend\n", "x".repeat(20_000));
        check(&long, "end\n", true);
    }
}

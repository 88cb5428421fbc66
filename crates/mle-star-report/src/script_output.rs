//! The end of what scripts print, from the files in `logs/`.

use std::fs::File;
use std::path::Path;

use mle_star_domain::layout::LOGS;
use mle_star_domain::place::Place;
use serde::Serialize;

use crate::files;

/// Bytes of the end of a stream that are shown.
const SHOWN: u64 = 16 * 1024;
/// The suffixes of a script's output files.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// The end of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// The file's name in `logs/`.
    pub file: String,
    /// The end of the file, as a terminal would show it.
    pub text: String,
    /// Whether the file has more before it.
    pub is_cut: bool,
}

/// The end of each stream that a script has printed to since it began (RFC 3339).
pub fn script_outputs(folder: &Path, place: &Place, begun: &str) -> Vec<Output> {
    let output = |name: String| {
        let file = files::open(folder, &in_logs(&name)).ok().filter(|file| is_of_now(file, begun))?;
        end_of(name, file)
    };
    names(place).into_iter().filter_map(output).collect()
}

/// The end of a file with this name in `logs/`; `None` if it is empty.
pub fn end_of(name: String, file: File) -> Option<Output> {
    let (text, is_cut) = files::tail(file, SHOWN).ok().filter(|(text, _)| !text.is_empty())?;
    // The first line is incomplete, unless a carriage return begins it anew. A progress bar may have no line end.
    let is_begun_anew = |line: &str| line.trim_end_matches('\r').contains('\r');
    let text = match text.split_once('\n') {
        Some((first, rest)) if is_cut && !is_begun_anew(first) => rest,
        _ => &text,
    };
    let text: String = text.split('\n').map(last_state).collect::<Vec<_>>().join("\n");
    Some(Output { file: name, text, is_cut })
}

fn names(place: &Place) -> [String; 2] {
    STREAMS.map(|stream| format!("{}.{stream}", place.file_stem()))
}

fn in_logs(name: &str) -> String {
    format!("{LOGS}/{name}")
}

/// Whether it was written after the script began. An interrupted attempt leaves a file with the same name.
fn is_of_now(file: &File, begun: &str) -> bool {
    let written = file.metadata().and_then(|meta| meta.modified()).ok();
    let begun = begun.parse::<jiff::Timestamp>().map(std::time::SystemTime::from).ok();
    written.zip(begun).is_some_and(|(written, begun)| written >= begun)
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
            let output = end_of(String::new(), file.reopen().unwrap()).unwrap();
            assert_eq!((output.text.as_str(), output.is_cut), (shown, is_cut));
        };
        check("a\nb\n", "a\nb\n", false);
        check("1%\r50%\r100%\r\ndone\n", "100%\ndone\n", false);
        let long = format!("{}\nend\n", "x".repeat(20_000));
        check(&long, "end\n", true);
    }
}

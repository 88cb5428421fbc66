//! Compares the status at moments of recorded streams with `tests/streams/views.txt`, which `INSTA_UPDATE=always`
//! updates, and checks how a terminal interprets the bytes.

use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use mle_star::event::Line;
use mle_star_report::progress::Progress;

use super::super::status::Frame;
use super::{Screen, Show, TerminalStyle};
use crate::output::{DrawnLine, replaced};

/// A real run of `examples/flight-delays` with two paths.
const REAL: &str = include_str!("../../../tests/streams/flight-delays.jsonl");
/// The beginning of a resumed run with a language model and three paths, written by hand.
const MODEL: &str = include_str!("../../../tests/streams/model.jsonl");
/// The beginning of a real run whose scripts run on runners. One of them is killed, and one cannot be reached.
const RUNNERS: &str = include_str!("../../../tests/streams/runners.jsonl");

fn lines(stream: &str) -> Vec<Line> {
    stream.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn screen(colour: bool) -> Screen {
    Screen::new(Show::Everything, TerminalStyle { live: true, colour }, Progress::default())
}

/// Gives a screen the first `count` lines of a stream. Returns the time of the last line.
fn shown(screen: &mut Screen, stream: &str, count: usize) -> Timestamp {
    let lines = lines(stream);
    for line in &lines[..count] {
        screen.progress.take(line);
    }
    lines[count - 1].time
}

fn frame(last: Timestamp, columns: usize, rows: usize) -> Frame {
    let now = last + SignedDuration::from_secs(7);
    // A time zone without daylight saving time, one hour from UTC.
    Frame { now, zone: TimeZone::fixed(jiff::tz::offset(1)), columns, rows }
}

fn written(title: &str, lines: &[DrawnLine], columns: usize) -> String {
    assert!(lines.iter().all(|line| line.width <= columns), "{title}: {lines:?}");
    let lines: String = lines.iter().map(|line| format!("{}\n", line.text.replace('\u{1b}', "␛"))).collect();
    format!("--- {title}\n{lines}\n")
}

fn one(name: &str, stream: &str, count: usize, (columns, rows): (usize, usize), colour: bool) -> String {
    let mut screen = screen(colour);
    let last = shown(&mut screen, stream, count);
    let colours = if colour { ", colours" } else { "" };
    let title = format!("{name} after {count} lines, {columns} x {rows}{colours}");
    written(&title, &screen.standing(&frame(last, columns, rows)), columns)
}

#[test]
fn views_are_as_written_down() {
    let mut text = String::new();
    for count in [1, 8, 31, 49, 61, 76, 138, 190, 209, 221, 225] {
        text += &one("real", REAL, count, (79, 24), false);
    }
    for count in [31, 138, 209] {
        text += &one("real", REAL, count, (39, 24), false);
        text += &one("real", REAL, count, (159, 48), false);
    }
    text += &one("real", REAL, 138, (79, 24), true);
    for rows in [2, 4, 5] {
        text += &one("real", REAL, 138, (79, rows), false);
    }
    for columns in [39, 79, 159] {
        text += &one("model", MODEL, 17, (columns, 24), false);
    }
    text += &one("model", MODEL, 20, (79, 24), true);
    for count in [2, 3, 16, 47, 52] {
        text += &one("runners", RUNNERS, count, (79, 24), false);
    }
    text += &one("runners", RUNNERS, 47, (39, 24), true);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams/views.txt");
    mle_star_needs::assert_file(&file, &text);
}

/// The rows of a terminal, without trailing blanks and without empty rows at the bottom.
fn rows(terminal: &vt100::Parser, columns: u16) -> Vec<String> {
    let mut rows: Vec<String> =
        terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

#[test]
fn on_a_terminal_steps_scroll_and_the_rest_stands_below_them() {
    let check = |stream: &str, columns: u16, height: u16| {
        let mut terminal = vt100::Parser::new(height.try_into().unwrap(), columns.try_into().unwrap(), 0);
        let mut screen = screen(true);
        let (mut scrolled, mut standing) = (Vec::<String>::new(), Vec::<DrawnLine>::new());
        // Rows that have left the screen cannot be updated.
        let mut hidden = 0;
        for line in lines(stream) {
            let mut write = |terminal: &mut vt100::Parser, bytes: &str, written: usize| {
                // A terminal treats a line feed as a new line, and the cursor needs its own row.
                terminal.process(bytes.replace('\n', "\r\n").as_bytes());
                hidden = hidden.max((written + 1).saturating_sub(height.into()));
            };
            let ended = screen.progress.take(&line);
            if let Some(text) = screen.text_of(&line.event, ended) {
                let text = text.drawn(usize::from(columns) - 1, true).text;
                scrolled.push(readable(&text));
                let bytes = replaced(&standing, Some(&text), &standing, columns.into());
                write(&mut terminal, &bytes, scrolled.len() + standing.len());
            }
            let next = screen.standing(&frame(line.time, usize::from(columns) - 1, height.into()));
            let bytes = replaced(&standing, None, &next, columns.into());
            write(&mut terminal, &bytes, scrolled.len() + next.len());
            standing = next;
            let below = standing.iter().map(|line| readable(&line.text));
            let expected: Vec<String> = scrolled.iter().cloned().chain(below).collect();
            assert_eq!(rows(&terminal, columns), expected[hidden..], "{line:?} on {columns} x {height}");
        }
    };
    for (columns, height) in [(80, 24), (40, 12), (160, 50), (30, 6)] {
        check(REAL, columns, height);
        check(MODEL, columns, height);
        check(RUNNERS, columns, height);
    }
}

/// The text of a line with colours.
fn readable(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    // The emulated terminal drops the replacement character.
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.filter_map(|piece| Some(piece.split_once('m')?.1));
    rest.fold(first, |text, piece| text + piece).replace('\u{fffd}', "").trim_end().to_owned()
}

//! The findings for people, as compilers show them.

use std::io::{self, IsTerminal};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, Title};
use mle_star_leakage::Finding;
use mle_star_report::figures::count;
use mle_star_report::sanitize::one_line;
use mle_star_run::settings::Environment;

use super::excerpt::Excerpt;
use super::{CheckedFile, Counts, Findings, rules};
use crate::output::wrapped;

/// The columns of an output that is no terminal.
const COLUMNS: usize = 120;
/// The fewest columns to which text is wrapped.
const MIN_COLUMNS: usize = 40;

/// How many files are named in the summary.
const MAX_NAMED_FILES: usize = 3;

/// What the output can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputStyle {
    /// There are colours.
    pub colour: bool,
    /// The width in columns.
    pub columns: usize,
}

impl OutputStyle {
    /// What the terminal behind stdout can show; `NO_COLOR` and `TERM=dumb` turn colours off.
    pub fn of(environment: &Environment<'_>) -> Self {
        let is_dumb = environment("TERM").is_none_or(|term| term == "dumb");
        let colour = io::stdout().is_terminal() && !is_dumb && environment("NO_COLOR").is_none();
        let size = terminal_size::terminal_size_of(io::stdout());
        let columns = size.map_or(COLUMNS, |(columns, _)| usize::from(columns.0));
        Self { colour, columns: columns.max(MIN_COLUMNS) }
    }
}

/// The findings of a file, each followed by an empty line.
pub fn findings(name: &str, findings: &Findings, style: OutputStyle) -> String {
    findings.found.iter().map(|found| format!("{}\n\n", finding(name, findings, found, style))).collect()
}

/// How much was found, and which files have no score.
pub fn summary(all: &[CheckedFile], style: OutputStyle) -> String {
    let without = all.iter().filter(|checked| checked.is_without_score());
    let without: Vec<&str> = without.map(|checked| checked.name.as_str()).collect();
    let counts = Counts::of(all);
    let found = summary_line(counts, style);
    let (named, more) = without.split_at(without.len().min(MAX_NAMED_FILES));
    let named = match (named, more.len()) {
        ([], _) => return found,
        (named, 0) => named.join(", "),
        (named, more) => format!("{} and {more} more", named.join(", ")),
    };
    let nothing = format!("no score found in {}: nothing to check there\n", one_line(&named));
    // That there are no leaks would say no more.
    let is_all = counts == Counts { files: without.len(), ..Counts::default() };
    if is_all { nothing } else { found + &nothing }
}

fn summary_line(counts: Counts, style: OutputStyle) -> String {
    let found = [(counts.leaks, "leak", "91"), (counts.warnings, "warning", "33")];
    let found = found.into_iter().filter(|(number, ..)| *number > 0);
    let found: Vec<String> =
        found.map(|(number, word, code)| styled(&count(number as u64, word), code, style)).collect();
    let found = if found.is_empty() { styled("no leaks", "32", style) } else { found.join(", ") };
    let hidden = [(counts.known, "known"), (counts.allowed, "allowed")];
    let hidden = hidden.into_iter().filter(|(number, _)| *number > 0);
    let left_out = (counts.left_out > 0).then(|| count(counts.left_out as u64, "cell") + " left out");
    let hidden: Vec<String> =
        hidden.map(|(number, word)| format!("{number} {word}")).chain(left_out).collect();
    let hidden = if hidden.is_empty() { String::new() } else { format!(" ({})", hidden.join(", ")) };
    let found = format!("{found} in {}{hidden}", count(counts.files as u64, "file"));
    match (counts.files, counts.unreadable) {
        (0, unreadable @ 1..) => format!("{} could not be checked\n", count(unreadable as u64, "file")),
        (_, 0) => format!("{found}\n"),
        (_, more) => format!("{found}; {more} more could not be checked\n"),
    }
}

fn styled(text: &str, code: &str, style: OutputStyle) -> String {
    if style.colour { format!("\x1b[1;{code}m{text}\x1b[0m") } else { text.to_owned() }
}

fn finding(name: &str, findings: &Findings, found: &Finding, style: OutputStyle) -> String {
    let excerpt = Excerpt::of(&findings.code, found);
    let level = if found.rule.blocks() { Level::ERROR } else { Level::WARNING };
    let text = findings.code.in_cells(&found.text);
    let renderer = renderer(style);
    let title = renderer.render(&[Group::with_title(title(level.clone(), found, style))]);
    let lines = renderer.render(&[body(level, &excerpt, [&text, &found.instead], style)]);
    // The library writes `FILE:LINE:COLUMN` only.
    let arrow = styled("-->", "94", style);
    format!(
        "{title}\n{:indent$}{arrow} {}\n{lines}",
        "",
        place(name, findings, found),
        indent = excerpt.digits()
    )
}

fn title<'a>(level: Level<'a>, found: &Finding, style: OutputStyle) -> Title<'a> {
    let (word, id) = (rules::word(found.rule), found.rule.id());
    // The library puts further lines of a title below its first, which comes after `leak[ID]: `.
    let title = wrapped(&rules::title(found.rule), style.columns, word.len() + id.len() + 4);
    level.with_name(word).primary_title(title).id(id)
}

/// The lines of the source, with the reason and what is right below them.
fn body<'a>(
    level: Level<'a>,
    excerpt: &'a Excerpt,
    [why, instead]: [&str; 2],
    style: OutputStyle,
) -> Group<'a> {
    let note =
        |label: &str, text: &str| wrapped(&one_line(text), style.columns, excerpt.digits() + label.len() + 5);
    let lines = Snippet::source(excerpt.text.as_str())
        .line_start(excerpt.first as usize)
        .annotation(AnnotationKind::Primary.span(excerpt.marked.clone()))
        .annotations(excerpt.visible.iter().cloned().map(|line| AnnotationKind::Visible.span(line)));
    Group::with_level(level)
        .element(lines)
        .element(Level::NOTE.with_name("why").message(note("why", why)))
        .element(Level::HELP.with_name("instead").message(note("instead", instead)))
}

fn place(name: &str, findings: &Findings, found: &Finding) -> String {
    let (name, span) = (one_line(name), findings.code.span(found));
    match span.cell {
        Some(cell) => format!("{name}, cell {cell}, line {}", span.line),
        None => format!("{name}:{}:{}", span.line, found.column),
    }
}

fn renderer(style: OutputStyle) -> Renderer {
    let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(style.columns).decor_style(DecorStyle::Ascii)
}

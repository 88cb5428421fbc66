//! A model card: what a solution is for, its data, its scores, how it was checked, and its limits.

use std::fmt::Write as _;

use mle_star::result::FinalResult;
use mle_star_domain::config::{Acceptance, Config, HoldoutShare, Preset};
use mle_star_domain::metric::Direction;
use mle_star_domain::task::{Targets, TaskType};

use crate::run_report::RunReport;
use crate::sanitize::first_line;

/// The longest text in a table, in characters.
const LONGEST_CELL: usize = 200;

/// The card of a finished run, as Markdown. Scores and notes are those of the terminal, statements those of the disclosure.
pub fn model_card(report: &RunReport, result: &FinalResult) -> String {
    let mut card = format!("# {}\n\n{}\n", result.task.competition_id, purpose(report, result));
    section(&mut card, "Scores", &report.score_lines());
    section(&mut card, "Read first", &report.notes());
    let split = result.trust.as_ref().and_then(|trust| trust.split.as_ref());
    let split = split.map(|split| split_words(result, &split.why));
    section(&mut card, "Data", &split.into_iter().collect::<Vec<_>>());
    card.push_str(&columns(result));
    let statements = report.checks.disclosure.as_deref().unwrap_or_default();
    section(
        &mut card,
        "How it was made and checked",
        &statements.lines().map(str::to_owned).collect::<Vec<_>>(),
    );
    section(&mut card, "Limits", &limits(result));
    section(&mut card, "Files", &files(report));
    card
}

fn section(card: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() || title == "Data" {
        let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
        let _ = write!(card, "\n## {title}\n\n{lines}");
    }
}

/// How validation rows were chosen.
fn split_words(result: &FinalResult, why: &str) -> String {
    match &result.task.folds {
        Some(folds) => format!("Validation rows are those of the folds in {}.", code(folds)),
        None if as_in_paper(&result.config) => {
            format!("Agents chose the validation rows. About the test rows: {why}.")
        }
        None => format!("Validation rows were chosen by the kind of the test rows: {why}."),
    }
}

fn as_in_paper(config: &Config) -> bool {
    config.preset == Preset::Paper
        && config.holdout == HoldoutShare::Off
        && config.acceptance == Acceptance::Paper
}

/// A name as code that Markdown leaves alone: its first line, between more backticks than it has.
fn code(name: &str) -> String {
    let line = first_line(name, LONGEST_CELL);
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let gap = if line.starts_with('`') || line.ends_with('`') || line.is_empty() { " " } else { "" };
    format!("{fence}{gap}{line}{gap}{fence}")
}

fn purpose(report: &RunReport, result: &FinalResult) -> String {
    let (task, run) = (&result.task, &report.run.run_id);
    let names = task.target_column.as_ref().map_or(&[][..], Targets::all);
    let target = match names {
        [] => "the target".to_owned(),
        names => names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", "),
    };
    let kind = match task.task_type {
        TaskType::Regression => "a number",
        TaskType::SequenceToSequence | TaskType::ImageToImage | TaskType::Tabular => {
            "as the metric asks for it"
        }
        TaskType::Classification
        | TaskType::ImageClassification
        | TaskType::TextClassification
        | TaskType::AudioClassification => "a class or its probability",
    };
    let better = match task.metric_direction {
        Direction::Maximize => "higher",
        Direction::Minimize => "lower",
    };
    let metric = &task.evaluation_metric;
    format!(
        "Predicts {target}, {kind}, for rows like those of the test table. It is scored by {metric} ({better} is better) and was \
         made by mle-star in the run `{run}`."
    )
}

/// The columns, with what the run took them for.
fn columns(result: &FinalResult) -> String {
    let columns = &result.task.columns;
    let rows: String = columns
        .iter()
        .map(|row| {
            let text = |cell: &String| first_line(cell, LONGEST_CELL);
            let cells = [code(&row.column), text(&row.role), text(&row.kind), text(&row.why)];
            format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n| column | role | type | why |\n|---|---|---|---|\n{rows}")
}

fn limits(result: &FinalResult) -> Vec<String> {
    let mut limits = vec![
        "Scores are for rows like those of the test table. An interval covers chance, not data that changes.".to_owned(),
        "The model was chosen by its score alone. Whether it treats groups of people alike was not looked at.".to_owned(),
    ];
    let shift = result.trust.as_ref().and_then(|trust| trust.shift.as_ref());
    if let Some(shift) = shift.filter(|shift| !shift.columns.is_empty()) {
        let names: Vec<String> = shift.columns.iter().take(5).map(|column| code(&column.column)).collect();
        limits.push(format!("The test rows differ from the training rows, most in {}.", names.join(", ")));
    }
    limits
}

fn files(report: &RunReport) -> Vec<String> {
    let folder = report.folder.display();
    let submission = report.answer.submission.as_deref().unwrap_or("none");
    vec![
        format!("solution: `{folder}/final/solution.py`, with `requirements.txt` beside it"),
        format!("predictions for the test rows: `{submission}`"),
        format!("report: `{folder}/report.html`; every step: `{folder}/journal.db`"),
    ]
}

//! The evaluation protocol in lines for people.

use mle_star_domain::config::{Acceptance, Config, FinalChoice};
use mle_star_domain::protocol::{Holdout, Period, Periods, Protocol, Split};

/// What was decided, in lines for a task file.
pub fn lines(protocol: &Protocol, config: &Config) -> Vec<String> {
    details(protocol).into_iter().chain(opening(protocol, config)).collect()
}

/// How rows are split, in lines.
pub fn details(protocol: &Protocol) -> Vec<String> {
    let split = protocol.split.as_ref().map(|split| format!("split: {} ({})", split.words(), split.why));
    let given = protocol.own_folds.as_ref();
    let given = given.map(|folds| format!("folds: {}, as given in `{}`", folds.count, folds.from));
    let has_own_ends = protocol.split.as_ref().is_some_and(Split::has_own_ends);
    let periods = protocol.periods.iter().flat_map(|periods| period_lines(periods, has_own_ends));
    split.into_iter().chain(given).chain(periods).collect()
}

/// Which rows are kept from scripts, and which settings have no effect, in lines.
pub fn opening(protocol: &Protocol, config: &Config) -> Vec<String> {
    let holdout = match &protocol.holdout {
        Holdout::On { rows, of, .. } => {
            format!("holdout: {rows} of {of} labelled rows are kept from all scripts until the final choice")
        }
        Holdout::Test { rows, of, .. } => {
            format!(
                "holdout: the {rows} rows of the test table, taken from {of} labelled rows; no script sees their labels"
            )
        }
        Holdout::Off { why } => format!("holdout: off ({why})"),
    };
    let off = match &protocol.holdout {
        Holdout::Off { why } => why.as_str(),
        Holdout::On { .. } | Holdout::Test { .. } => "",
    };
    // It is not said twice.
    let scores = protocol.unverified.as_ref().filter(|why| *why != off);
    let scores = scores.map(|why| format!("scores: as scripts print them ({why})"));
    [holdout].into_iter().chain(scores).chain(without_effect(protocol, config)).collect()
}

/// The periods, a line each, the latest last.
fn period_lines(periods: &Periods, has_own_ends: bool) -> Vec<String> {
    let gap = match periods.gap.as_str() {
        "" => String::new(),
        gap => format!(", after a gap of {gap}"),
    };
    let line =
        |name: &str, Period { from, to, rows, .. }: &Period| format!("{name}: {from} to {to}, {rows} rows");
    let each = if has_own_ends { "of each series" } else { "each" };
    let start = format!("periods: {} {each}, as in the test table{gap}", periods.length);
    let folds = periods.folds.iter().enumerate().map(|(fold, period)| line(&format!("fold {fold}"), period));
    let held_out = periods.held_out.iter().map(|period| line("held out", period));
    let test = line("test table", &periods.test);
    let new_series = periods.new_series.iter().map(|found| format!("new series: {}", found.words()));
    [start].into_iter().chain(folds).chain(held_out).chain([test]).chain(new_series).collect()
}

/// The settings that need rows which this task does not have.
fn without_effect(protocol: &Protocol, config: &Config) -> impl Iterator<Item = String> {
    let by_error = config.acceptance == Acceptance::OneSigma && !protocol.verifies;
    let by_holdout = config.final_choice == FinalChoice::Holdout && !protocol.holdout.is_on();
    let acceptance = "note: `acceptance: one_sigma` works like `paper` here: the program cannot compute scores itself, so standard errors are unknown";
    let choice = "note: `final_choice: holdout` works like `validation` here: no rows are held out";
    let notes = [(by_error, acceptance), (by_holdout, choice)].into_iter();
    notes.filter(|(applies, _)| *applies).map(|(_, note)| note.to_owned())
}

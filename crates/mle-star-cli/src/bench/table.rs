//! The results of a bench as a table for people.

use mle_star_report::figures::{duration, number, rounded};
use mle_star_report::money;
use mle_star_report::sanitize::{first_line, one_line};

use super::results::{Results, RunRow, State, Summary};
use crate::output::wrapped;
use crate::table::Table;

/// The longest error in a row, in characters.
const MAX_ERROR_CHARS: usize = 100;

/// The table of runs, the table of tasks and a line about all, for a terminal of this width; `None` for any width.
pub fn lines(results: &Results, columns: Option<usize>) -> Vec<String> {
    let mut lines = runs(&results.runs).lines(columns);
    lines.push(String::new());
    lines.extend(tasks(&results.summaries).lines(columns));
    lines.push(String::new());
    lines.extend(whole(results, columns).lines().map(str::to_owned));
    lines
}

fn runs(rows: &[RunRow]) -> Table<'_, RunRow> {
    Table::of(rows)
        .text("task", 0, |row| Some(one_line(&row.task)))
        .number("budget", 0, |row| row.budget_seconds.map(|budget| format!("{budget} s")))
        .number("seed", 0, |row| Some(row.seed.to_string()))
        .text("valid", 1, |row| Some(validity(row).to_owned()))
        .number("score", 0, |row| row.score.map(number))
        .text("suspect", 1, |row| row.doubt().map(|_| "yes".to_owned()))
        .text("of", 4, |row| row.score_of.map(|of| of.words().to_owned()))
        .text("metric", 5, |row| row.metric().map(one_line))
        .number("time", 3, |row| row.seconds().map(duration))
        .number("cost", 2, RunRow::cost)
        .text("", 6, |row| row.error.as_deref().map(|error| first_line(error, MAX_ERROR_CHARS)))
}

fn validity(row: &RunRow) -> &'static str {
    match row.state {
        State::Finished if row.valid => "yes",
        State::Finished | State::Failed => "no",
        State::Unfinished => "unfinished",
        State::Pending => "-",
    }
}

fn tasks(summaries: &[Summary]) -> Table<'_, Summary> {
    // A range of scores.
    let range = |iqr: f64| if iqr == 0.0 { "0".to_owned() } else { rounded(iqr) };
    Table::of(summaries)
        .text("task", 0, |summary| Some(one_line(&summary.task)))
        .number("budget", 0, |summary| summary.budget_seconds.map(|budget| format!("{budget} s")))
        .number("valid", 0, |summary| Some(format!("{}/{}", summary.valid, summary.runs)))
        .number("mean", 0, |summary| summary.mean.map(number))
        .number("median", 3, |summary| summary.median.map(number))
        .number("IQR", 2, |summary| summary.iqr.map(range))
        .number("time", 4, |summary| summary.seconds_mean.map(duration))
}

/// All runs together. Narrow terminals get several lines.
fn whole(results: &Results, columns: Option<usize>) -> String {
    let total = &results.total;
    let mut parts = vec![format!("{} of {} runs are valid", total.valid, total.runs)];
    let suspect = results.runs.iter().filter(|row| row.doubt().is_some()).count();
    if suspect > 0 {
        parts.push(format!("{suspect} suspect"));
    }
    parts.push(duration(total.seconds));
    if results.runs.iter().any(|row| row.cost().is_some()) {
        parts.push(money::cost(total.cost_usd, total.estimated_usd));
    }
    wrapped(&parts.join(", "), columns.unwrap_or(usize::MAX), 0)
}

#[cfg(test)]
mod tests {
    use mle_star_report::sanitize::width;

    use super::*;
    use crate::bench::results::tests::{report, results_of, row_of};

    fn results() -> Results {
        let mut rows = vec![row_of(1, Some(12.5)), row_of(2, None), row_of(3, None)];
        (rows[1].error, rows[1].report) =
            (Some("the answers do not fit".to_owned()), Some(report(240.0, None)));
        (rows[2].state, rows[2].report) = (State::Pending, None);
        for row in &mut rows {
            (row.budget_seconds, row.task) = (Some(240), "house-prices".to_owned());
        }
        let mut paid = report(60.0, None);
        (paid.summary.spent.cost_usd, paid.summary.tokens) = (Some(0.25), 10);
        rows[0].report = Some(paid);
        results_of(rows)
    }

    #[test]
    fn tables_fit_the_terminal() {
        let text = |columns: Option<usize>| lines(&results(), columns).join("\n");
        insta::assert_snapshot!(
            "table",
            format!("{}\n---\n{}\n---\n{}\n", text(None), text(Some(60)), text(Some(40)))
        );
        for columns in [40, 60, 80, 100] {
            assert!(lines(&results(), Some(columns)).iter().all(|line| width(line) <= columns), "{columns}");
        }
    }
}

//! The results as a table for people.

use mle_star_report::figures::{duration, number, rounded};
use mle_star_report::money;
use mle_star_report::sanitize::{first_line, one_line, shortened};
use unicode_width::UnicodeWidthStr as _;

use super::results::{Results, RunRow, State, Summary};

/// The shortest form of a name in a narrow terminal.
const SHORTEST_NAME: usize = 8;
/// The longest error in a row, in characters.
const LONGEST_ERROR: usize = 100;

/// A column of a table.
struct Column {
    heading: &'static str,
    cells: Vec<String>,
    /// Numbers are aligned to the right.
    is_number: bool,
    /// The order in which columns are left out of a narrow terminal, highest first; 0 stays.
    dispensable: u8,
}

/// The table of runs, the table of tasks and a line about all, for a terminal of this width; `None` for any width.
pub fn lines(results: &Results, columns: Option<usize>) -> Vec<String> {
    let mut lines = drawn(runs(&results.runs), columns);
    lines.push(String::new());
    lines.extend(drawn(tasks(&results.summaries), columns));
    lines.push(String::new());
    lines.extend(whole(results, columns));
    lines
}

fn runs(rows: &[RunRow]) -> Vec<Column> {
    let text = |heading, dispensable, cell: &dyn Fn(&RunRow) -> String| Column {
        heading,
        cells: rows.iter().map(cell).collect(),
        is_number: false,
        dispensable,
    };
    let figure = |heading, dispensable, cell: &dyn Fn(&RunRow) -> String| Column {
        is_number: true,
        ..text(heading, dispensable, cell)
    };
    let mut columns = vec![text("task", 0, &|row| one_line(&row.task))];
    if rows.iter().any(|row| row.budget_seconds.is_some()) {
        columns.push(figure("budget", 0, &|row| {
            or_dash(row.budget_seconds.map(|budget| format!("{budget} s")))
        }));
    }
    columns.push(figure("seed", 0, &|row| row.seed.to_string()));
    columns.push(text("valid", 1, &|row| validity(row).to_owned()));
    columns.push(figure("score", 0, &|row| or_dash(row.score.map(number))));
    if rows.iter().any(|row| row.suspect.is_some()) {
        columns.push(text("suspect", 1, &|row| row.suspect.as_ref().map_or_else(dash, |_| "yes".to_owned())));
    }
    columns.push(text("of", 4, &|row| or_dash(row.score_of.map(|of| of.words().to_owned()))));
    columns.push(text("metric", 5, &|row| or_dash(row.metric.as_deref().map(one_line))));
    if rows.iter().any(|row| row.has_medals) {
        columns.push(text("medal", 0, &|row| or_dash(row.medal.map(|medal| medal.name().to_owned()))));
    }
    if rows.iter().any(|row| row.units.is_some()) {
        columns.push(figure("units", 2, &|row| or_dash(row.units.map(|units| format!("{units:.3}")))));
    }
    columns.push(figure("time", 3, &|row| or_dash(row.seconds.map(duration))));
    if rows.iter().any(RunRow::has_cost) {
        columns.push(figure("cost", 2, &|row| {
            if row.has_cost() { money::cost(row.cost_usd, row.estimated_usd) } else { dash() }
        }));
    }
    if rows.iter().any(|row| row.error.is_some()) {
        columns.push(text("", 6, &|row| first_line(row.error.as_deref().unwrap_or_default(), LONGEST_ERROR)));
    }
    columns
}

fn validity(row: &RunRow) -> &'static str {
    match row.state {
        State::Finished if row.valid => "yes",
        State::Finished | State::Failed => "no",
        State::Unfinished => "unfinished",
        State::Pending => "-",
    }
}

fn tasks(summaries: &[Summary]) -> Vec<Column> {
    let text = |heading, dispensable, cell: &dyn Fn(&Summary) -> String| Column {
        heading,
        cells: summaries.iter().map(cell).collect(),
        is_number: false,
        dispensable,
    };
    let figure = |heading, dispensable, cell: &dyn Fn(&Summary) -> String| Column {
        is_number: true,
        ..text(heading, dispensable, cell)
    };
    let mut columns = vec![text("task", 0, &|summary| one_line(&summary.task))];
    if summaries.iter().any(|summary| summary.budget_seconds.is_some()) {
        columns.push(figure("budget", 0, &|summary| {
            or_dash(summary.budget_seconds.map(|budget| format!("{budget} s")))
        }));
    }
    columns.push(figure("valid", 0, &|summary| format!("{}/{}", summary.valid, summary.runs)));
    columns.push(figure("mean", 0, &|summary| or_dash(summary.mean.map(number))));
    columns.push(figure("median", 3, &|summary| or_dash(summary.median.map(number))));
    columns.push(figure("IQR", 2, &|summary| or_dash(summary.iqr.map(width))));
    if summaries.iter().any(|summary| summary.medals.is_some()) {
        columns.push(text("medals", 1, &|summary| {
            or_dash(summary.medals.map(|medals| {
                format!("{:.0} % ({}/{}/{})", 100.0 * medals.rate, medals.gold, medals.silver, medals.bronze)
            }))
        }));
    }
    if summaries.iter().any(|summary| summary.units_mean.is_some()) {
        columns.push(figure("units", 0, &|summary| {
            or_dash(summary.units_mean.map(|units| format!("{units:.3}")))
        }));
    }
    columns.push(figure("time", 4, &|summary| or_dash(summary.seconds_mean.map(duration))));
    columns
}

/// A range of scores.
fn width(iqr: f64) -> String {
    if iqr == 0.0 { "0".to_owned() } else { rounded(iqr) }
}

/// All runs together. Narrow terminals get several lines.
fn whole(results: &Results, columns: Option<usize>) -> Vec<String> {
    let total = &results.total;
    let mut parts = vec![format!("{} of {} runs are valid", total.valid, total.runs)];
    let suspect = results.runs.iter().filter(|row| row.suspect.is_some()).count();
    if suspect > 0 {
        parts.push(format!("{suspect} suspect"));
    }
    if let Some(rate) = total.medal_rate {
        let error =
            total.medal_rate_error.map(|error| format!(" ± {:.1}", 100.0 * error)).unwrap_or_default();
        parts.push(format!("medals in {:.1}{error} %", 100.0 * rate));
    }
    parts.extend(total.units_mean.map(|units| format!("{units:.3} units")));
    parts.push(duration(total.seconds));
    if results.runs.iter().any(RunRow::has_cost) {
        parts.push(money::cost(total.cost_usd, total.estimated_usd));
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if columns.is_none_or(|most| line.width() + 2 + part.width() <= most) => {
                line.push_str(", ");
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines
}

fn dash() -> String {
    "-".to_owned()
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(dash)
}

/// The columns as lines. In a narrow terminal, columns are left out, then names are shortened.
fn drawn(mut columns: Vec<Column>, most: Option<usize>) -> Vec<String> {
    let fits = |columns: &[Column]| most.is_none_or(|most| total_width(columns) <= most);
    while !fits(&columns) {
        let next = columns.iter().enumerate().filter(|(_, column)| column.dispensable > 0);
        let Some((at, _)) = next.max_by_key(|(_, column)| column.dispensable) else { break };
        columns.remove(at);
    }
    if let Some(most) = most.filter(|_| !fits(&columns)) {
        let others = total_width(&columns) - columns[0].width();
        let left = most.saturating_sub(others).max(SHORTEST_NAME);
        columns[0].cells.iter_mut().for_each(|name| *name = shortened(name, left));
    }
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let line = |cell: &dyn Fn(&Column) -> String| {
        let cells: Vec<String> = columns.iter().map(|column| column.padded(&cell(column))).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let heading = line(&|column| column.heading.to_owned());
    std::iter::once(heading).chain((0..rows).map(|row| line(&|column| column.cells[row].clone()))).collect()
}

fn total_width(columns: &[Column]) -> usize {
    let widths: usize = columns.iter().map(Column::width).sum();
    widths + 2 * columns.len().saturating_sub(1)
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.width()).chain([self.heading.len()]).max().unwrap_or_default()
    }

    fn padded(&self, text: &str) -> String {
        let blanks = " ".repeat(self.width().saturating_sub(text.width()));
        if self.is_number { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::tests::{results_of, row_of};
    use crate::bench::scale::Medal;

    fn results() -> Results {
        let mut rows = vec![row_of(1, Some(12.5)), row_of(2, None), row_of(3, None)];
        rows[0].medal = Some(Medal::Silver);
        (rows[1].error, rows[1].seconds) = (Some("the answers do not fit".to_owned()), Some(240.0));
        rows[2].state = State::Pending;
        (rows[2].seconds, rows[2].metric) = (None, None);
        for row in &mut rows {
            (row.has_medals, row.budget_seconds, row.task) = (true, Some(240), "house-prices".to_owned());
        }
        rows[0].cost_usd = Some(0.25);
        rows[0].tokens_in = 10;
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
            assert!(lines(&results(), Some(columns)).iter().all(|line| line.width() <= columns), "{columns}");
        }
    }
}

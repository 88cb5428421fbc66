//! Tables of aligned columns, for people.

use mle_star_report::sanitize::{shortened, width};

/// The shortest form of a name in a narrow terminal.
const MIN_NAME_WIDTH: usize = 8;

/// A table with a line for each of these rows.
pub struct Table<'a, T> {
    rows: &'a [T],
    columns: Vec<Column>,
}

struct Column {
    heading: &'static str,
    cells: Vec<String>,
    /// Numbers are aligned to the right.
    is_number: bool,
    /// The order in which columns are left out of a narrow terminal, highest first; 0 stays.
    dispensable: u8,
}

impl<'a, T> Table<'a, T> {
    /// A table without columns.
    pub fn of(rows: &'a [T]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Adds a column of texts, unless no row has any.
    #[must_use]
    pub fn text(self, heading: &'static str, dispensable: u8, cell: impl Fn(&T) -> Option<String>) -> Self {
        self.column(heading, false, dispensable, cell)
    }

    /// Adds a column of numbers, unless no row has any.
    #[must_use]
    pub fn number(self, heading: &'static str, dispensable: u8, cell: impl Fn(&T) -> Option<String>) -> Self {
        self.column(heading, true, dispensable, cell)
    }

    fn column(
        mut self,
        heading: &'static str,
        is_number: bool,
        dispensable: u8,
        cell: impl Fn(&T) -> Option<String>,
    ) -> Self {
        let cells: Vec<Option<String>> = self.rows.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            let missing = if heading.is_empty() { "" } else { "-" };
            let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| missing.to_owned())).collect();
            self.columns.push(Column { heading, cells, is_number, dispensable });
        }
        self
    }

    /// The lines for a terminal of this width, `None` for any width. In a narrow one, columns are left out, then the names
    /// in the first column are shortened.
    pub fn lines(mut self, most: Option<usize>) -> Vec<String> {
        let most = most.unwrap_or(usize::MAX);
        while self.width() > most {
            let next = self.columns.iter().enumerate().filter(|(_, column)| column.dispensable > 0);
            let Some((at, _)) = next.max_by_key(|(_, column)| column.dispensable) else { break };
            self.columns.remove(at);
        }
        let excess = self.width().saturating_sub(most);
        if let Some(names) = self.columns.first_mut().filter(|_| excess > 0) {
            let left = names.width().saturating_sub(excess).max(MIN_NAME_WIDTH);
            names.cells.iter_mut().for_each(|name| *name = shortened(name, left));
        }
        let columns: Vec<_> = self.columns.iter().map(|column| (column, column.width())).collect();
        let line = |cell: &dyn Fn(&Column) -> String| {
            let padded = columns.iter().map(|(column, width)| column.padded(&cell(column), *width));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let rows = (0..self.rows.len()).map(|row| line(&|column| column.cells[row].clone()));
        std::iter::once(line(&|column| column.heading.to_owned())).chain(rows).collect()
    }

    fn width(&self) -> usize {
        let widths: usize = self.columns.iter().map(Column::width).sum();
        widths + 2 * self.columns.len().saturating_sub(1)
    }
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| width(cell)).fold(self.heading.len(), usize::max)
    }

    fn padded(&self, text: &str, wide: usize) -> String {
        let blanks = " ".repeat(wide.saturating_sub(width(text)));
        if self.is_number { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
    }
}

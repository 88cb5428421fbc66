//! Styled text for a screen, measured in columns and truncated to the screen's width.

use mle_star_report::sanitize::{one_line, prefix_of_width, width};

use crate::output::{DrawnLine, paragraph};

/// The style of a piece of text on terminals with colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Normal.
    Plain,
    /// Emphasized.
    Bold,
    /// Dimmed.
    Dim,
    /// Good news.
    Good,
    /// A warning.
    Bad,
}

/// One line of styled pieces, without anything that could move the cursor or change the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    pieces: Vec<(Style, String)>,
}

impl Text {
    /// A line with one piece.
    pub fn of(style: Style, text: impl Into<String>) -> Self {
        Self::default().and(style, text)
    }

    /// The line with another piece.
    #[must_use]
    pub fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        self.pieces.push((style, one_line(&text.into())));
        self
    }

    /// The line followed by another.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// The line padded with blanks to a width in columns.
    #[must_use]
    pub fn padded(self, columns: usize) -> Self {
        let missing = columns.saturating_sub(self.width());
        if missing == 0 { self } else { self.and(Style::Plain, " ".repeat(missing)) }
    }

    /// Its width in columns.
    pub fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| width(text)).sum()
    }

    /// Whether it has no text.
    pub fn is_empty(&self) -> bool {
        self.width() == 0
    }

    /// The line in at most `columns` columns, with colours where wanted.
    pub fn drawn(&self, columns: usize, colour: bool) -> DrawnLine {
        let (mut left, whole) = (columns, self.width() <= columns);
        let (mut text, mut taken) = (String::new(), 0);
        for (style, piece) in &self.pieces {
            let kept = if whole { piece.clone() } else { prefix_of_width(piece, left.saturating_sub(1)) };
            left -= width(&kept).min(left);
            taken += width(&kept);
            text.push_str(&styled(*style, &kept, colour));
        }
        if !whole && columns > 0 {
            text.push('…');
            taken += 1;
        }
        DrawnLine { text, width: taken }
    }

    /// The whole line, in as many of at most `columns` columns as it needs.
    pub fn wrapped(&self, columns: usize, colour: bool) -> DrawnLine {
        let styled = |(style, piece): &(Style, String)| styled(*style, &paragraph(piece, columns), colour);
        DrawnLine { text: self.pieces.iter().map(styled).collect(), width: self.width().min(columns) }
    }
}

fn styled(style: Style, text: &str, colour: bool) -> String {
    let code = match style {
        _ if !colour || text.is_empty() => return text.to_owned(),
        Style::Plain => return text.to_owned(),
        Style::Bold => "1",
        Style::Dim => "2",
        Style::Good => "32",
        Style::Bad => "33",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

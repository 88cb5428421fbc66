//! The cells of a column, as they are in the file and in little memory.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

use super::notation::Notation;
use super::packed::Packed;

/// A column with more different texts has no list of them.
const MOST_TEXTS: usize = 1 << 16;
/// Further texts are numbers with a point if this many are.
const MOST_DECIMALS: usize = 1 << 12;
/// Bytes of these texts.
const MOST_BYTES: usize = 8 << 20;

/// The cells of a column.
#[derive(Debug)]
pub(super) enum Cells {
    /// Each is one of a list of texts.
    Listed { texts: Vec<Arc<[u8]>>, codes: Packed },
    /// Numbers stand for them; a gap is an empty cell.
    Numbered { notation: Notation, numbers: Packed },
    /// Texts of their own: where each ends, and all texts.
    Texts { ends: Packed, bytes: Vec<u8> },
    /// They are not in memory: they are many different texts, or numbers with a point.
    InFile,
}

/// The cells of a column while its table is read.
#[derive(Debug)]
pub(super) struct Builder {
    cells: Cells,
    /// The code of each listed text.
    codes: HashMap<Arc<[u8]>, i64, FxBuildHasher>,
    listed_bytes: usize,
    /// Whether cells that cannot be shortened are in memory, too.
    is_kept: bool,
}

impl Cells {
    pub(super) fn is_in_memory(&self) -> bool {
        !matches!(self, Self::InFile)
    }

    /// The text of a row. `written` is room for the text of a number.
    pub(super) fn text<'a>(&'a self, row: usize, written: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Listed { texts, codes } => {
                let code = codes.get(row).and_then(|code| usize::try_from(code).ok());
                code.and_then(|code| texts.get(code)).map_or(&[], |text| text)
            }
            Self::Numbered { .. } => written,
            Self::Texts { ends, bytes } => {
                let end = |row: usize| ends.get(row).and_then(|end| usize::try_from(end).ok());
                let start = row.checked_sub(1).and_then(end).unwrap_or_default();
                end(row).and_then(|end| bytes.get(start..end)).unwrap_or_default()
            }
            Self::InFile => &[],
        }
    }

    /// Writes the text of a row, if a number stands for it.
    pub(super) fn write(&self, row: usize, into: &mut Vec<u8>) {
        if let Self::Numbered { notation, numbers } = self {
            match numbers.get(row) {
                Some(number) => notation.write(number, into),
                None => into.clear(),
            }
        }
    }

    /// The memory that grows with the rows, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Listed { codes, .. } => codes.bytes(),
            Self::Numbered { numbers, .. } => numbers.bytes(),
            Self::Texts { ends, bytes } => ends.bytes() + bytes.len(),
            Self::InFile => 0,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Listed { codes, .. } => codes.len(),
            Self::Numbered { numbers, .. } => numbers.len(),
            Self::Texts { ends, .. } => ends.len(),
            Self::InFile => 0,
        }
    }

    fn texts(&self, mut take: impl FnMut(&[u8])) {
        let mut written = Vec::new();
        for row in 0..self.len() {
            self.write(row, &mut written);
            take(self.text(row, &written));
        }
    }
}

impl Builder {
    /// No cells so far. Cells that are `kept` are in memory whatever they are.
    pub(super) fn new(is_kept: bool) -> Self {
        let cells = Cells::Listed { texts: Vec::new(), codes: Packed::default() };
        Self { cells, codes: HashMap::default(), listed_bytes: 0, is_kept }
    }

    /// Adds a cell.
    pub(super) fn push(&mut self, text: &[u8]) {
        match &mut self.cells {
            Cells::InFile => {}
            Cells::Listed { texts, codes } => {
                if let Some(code) = self.codes.get(text) {
                    codes.push(Some(*code));
                } else if texts.len() >= MOST_DECIMALS && !self.is_kept && is_decimal(text) {
                    self.leave_in_file();
                } else if texts.len() < MOST_TEXTS && self.listed_bytes + text.len() <= MOST_BYTES {
                    let text: Arc<[u8]> = text.into();
                    self.listed_bytes += text.len();
                    codes.push(i64::try_from(texts.len()).ok());
                    self.codes.insert(text.clone(), texts.len() as i64);
                    texts.push(text);
                } else {
                    self.number(text);
                }
            }
            Cells::Numbered { notation, numbers } => match notation.read(text) {
                number if number.is_some() || text.is_empty() => numbers.push(number),
                _ => self.spell_out(text),
            },
            Cells::Texts { ends, bytes } => add(text, ends, bytes),
        }
    }

    /// Replaces the list by numbers, if they can stand for all texts and this one.
    fn number(&mut self, next: &[u8]) {
        let notation = Notation::of(next);
        // Hardly anybody asks for so many different numbers, which take the most memory.
        if notation == Notation::Integer && !self.is_kept {
            return self.spell_out(next);
        }
        let Cells::Listed { texts, codes } = &self.cells else { return };
        let of_text: Vec<Option<i64>> = texts.iter().map(|text| notation.read(text)).collect();
        if texts.iter().zip(&of_text).any(|(text, number)| number.is_none() && !text.is_empty()) {
            return self.spell_out(next);
        }
        let mut numbers = Packed::default();
        for row in 0..codes.len() {
            let code = codes.get(row).and_then(|code| usize::try_from(code).ok());
            numbers.push(code.and_then(|code| of_text.get(code).copied().flatten()));
        }
        self.cells = Cells::Numbered { notation, numbers };
        self.codes = HashMap::default();
        self.push(next);
    }

    /// Keeps all texts as they are, or none.
    fn spell_out(&mut self, next: &[u8]) {
        let (mut ends, mut bytes) = (Packed::default(), Vec::new());
        self.codes = HashMap::default();
        if !self.is_kept {
            self.cells = Cells::InFile;
            return;
        }
        self.cells.texts(|text| add(text, &mut ends, &mut bytes));
        add(next, &mut ends, &mut bytes);
        self.cells = Cells::Texts { ends, bytes };
    }

    /// Leaves the cells in the file, unless they are kept.
    pub(super) fn leave_in_file(&mut self) {
        if !self.is_kept {
            self.cells = Cells::InFile;
            self.codes = HashMap::default();
        }
    }

    /// The memory that can be saved, in bytes.
    pub(super) fn savable(&self) -> usize {
        if self.is_kept { 0 } else { self.cells.bytes() }
    }

    pub(super) fn finish(self) -> Cells {
        self.cells
    }
}

/// Whether a text is a number with a point.
fn is_decimal(text: &[u8]) -> bool {
    text.contains(&b'.') && text.iter().all(|letter| letter.is_ascii_digit() || b"+-.eE".contains(letter))
}

fn add(text: &[u8], ends: &mut Packed, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(text);
    ends.push(i64::try_from(bytes.len()).ok());
}

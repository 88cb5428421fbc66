//! The source of a script: limits, parsing, and positions.

use ruff_python_ast::ModModule;
use ruff_python_parser::{ParseError, Parsed, parse_module};
use ruff_text_size::{Ranged, TextRange};

use crate::unreadable::Unreadable;

/// The largest source that is checked.
const LARGEST: usize = 4 << 20;
/// The deepest nesting that is checked. Syntax trees are dropped recursively.
const DEEPEST: usize = 1000;

/// The syntax tree of a script.
pub(crate) fn parse(source: &str) -> Result<Parsed<ModModule>, Unreadable> {
    if source.len() > LARGEST {
        return Err(Unreadable::TooLarge { bytes: source.len(), limit: LARGEST });
    }
    if let Some(offset) = too_deep(source) {
        return Err(Unreadable::TooDeep { line: Lines::new(source).position(offset).0 });
    }
    parse_module(source).map_err(|error| unreadable(source, &error))
}

/// Where lines begin.
pub(crate) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a source.
    pub(crate) fn new(source: &'a str) -> Self {
        let bytes = source.as_bytes();
        let ends = bytes
            .iter()
            .enumerate()
            .filter(|&(at, &byte)| byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')));
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { source, starts }
    }

    /// Line and column of a byte, both from 1; columns count characters.
    pub(crate) fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1];
        let before = self.source.get(start..offset).unwrap_or_default();
        let column = before.trim_start_matches('\u{feff}').chars().count() + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }

    /// The line of the start of a range.
    pub(crate) fn line(&self, range: TextRange) -> u32 {
        self.position(range.start().to_usize()).0
    }
}

fn unreadable(source: &str, error: &ParseError) -> Unreadable {
    let offset = error.range().start().to_usize();
    let (line, column) = Lines::new(source).position(offset);
    let text = source.lines().nth(line as usize - 1).unwrap_or_default();
    if is_python_2(text) {
        return Unreadable::Python2 { line, column };
    }
    Unreadable::Syntax { line, column, message: error.error.to_string() }
}

/// Whether a line that does not parse is a statement of Python 2.
fn is_python_2(line: &str) -> bool {
    let code = line.trim_start();
    let statement = |keyword: &str| {
        code.strip_prefix(keyword).is_some_and(|rest| {
            rest.starts_with([' ', '"', '\'']) && !rest.trim_start().starts_with(['=', '(', '.', ','])
        })
    };
    let except =
        code.strip_prefix("except ").is_some_and(|rest| rest.contains(',') && !rest.contains(" as "));
    let raise = code.strip_prefix("raise ").is_some_and(|rest| rest.contains(", ") && !rest.contains('('));
    statement("print")
        || code.starts_with("print >>")
        || statement("exec")
        || except
        || raise
        || code.contains(" <> ")
}

/// Where brackets, blocks and chains of operators are nested too deeply.
///
/// It is an upper bound of the depth of the syntax tree: every operator since the last comma counts.
fn too_deep(source: &str) -> Option<usize> {
    let mut scan = Scan { bytes: source.as_bytes(), at: 0, operators: vec![0], open: 0, indents: Vec::new() };
    scan.run()
}

/// A cheap scan over the source, without a tree.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Operators since the last comma, for each open bracket.
    operators: Vec<usize>,
    /// The sum of `operators`.
    open: usize,
    /// The indentations of the open blocks.
    indents: Vec<usize>,
}

impl Scan<'_> {
    fn run(&mut self) -> Option<usize> {
        self.indent();
        while let Some(&byte) = self.bytes.get(self.at) {
            self.step(byte);
            if self.open + self.operators.len() + self.indents.len() > DEEPEST {
                return Some(self.at.min(self.bytes.len()));
            }
        }
        None
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b'#' => return self.skip_comment(),
            b'"' | b'\'' => return self.skip_string(byte),
            b'(' | b'[' | b'{' => {
                self.count(1);
                self.operators.push(0);
            }
            b')' | b']' | b'}' if self.operators.len() > 1 => {
                self.open -= self.operators.pop().unwrap_or_default();
            }
            b',' | b';' => self.reset(),
            b'\n' | b'\r' if self.operators.len() == 1 => return self.end_line(),
            b'\\' => self.at += 1,
            b'.' if self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) => {}
            b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<' | b'>' | b'.'
            | b':' | b'=' => {
                self.count(1);
            }
            // Keywords are operators: `not`, `if`, `else`, `lambda`, `await`, `and`, `or`, `for`.
            b' ' | b'\t' if self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_lowercase) => self.count(1),
            _ => {}
        }
        self.at += 1;
    }

    fn count(&mut self, number: usize) {
        self.open += number;
        if let Some(last) = self.operators.last_mut() {
            *last += number;
        }
    }

    fn reset(&mut self) {
        if let Some(last) = self.operators.last_mut() {
            self.open -= std::mem::take(last);
        }
    }

    fn end_line(&mut self) {
        self.reset();
        self.at += 1;
        self.indent();
    }

    /// Opens or closes blocks by the indentation of a line.
    fn indent(&mut self) {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\x0c')) {
            self.at += 1;
        }
        let width = self.at - start;
        if self.bytes.get(self.at).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'#')) {
            return;
        }
        while self.indents.last().is_some_and(|last| *last > width) {
            self.indents.pop();
        }
        if width > self.indents.last().copied().unwrap_or_default() {
            self.indents.push(width);
        }
    }

    fn skip_comment(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips a string. Expressions in f-strings count by their brackets and operators.
    fn skip_string(&mut self, quote: u8) {
        let triple = self.bytes[self.at..].starts_with(&[quote; 3]);
        let formatted = self.prefix().any(|byte| matches!(byte, b'f' | b'F' | b't' | b'T'));
        self.at += if triple { 3 } else { 1 };
        let before = self.operators.last().copied().unwrap_or_default();
        let mut braces = 0_usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'\n' | b'\r' if !triple => break,
                b'{' if formatted => braces += 1,
                b'}' if formatted => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 && self.open < DEEPEST {
                        self.reset();
                        self.count(before);
                    }
                }
                _ => {}
            }
            if braces > 0 && !byte.is_ascii_alphanumeric() {
                self.count(1);
            }
            if byte == quote && (!triple || self.bytes[self.at..].starts_with(&[quote; 3])) {
                self.at += if triple { 3 } else { 1 };
                break;
            }
            self.at += 1;
        }
        // A string is one operand; strings in a row are one, too.
        if self.open < DEEPEST {
            self.reset();
            self.count(before);
        }
    }

    /// The letters before a string.
    fn prefix(&self) -> impl Iterator<Item = u8> {
        self.bytes[..self.at].iter().rev().take(3).copied().take_while(u8::is_ascii_alphabetic)
    }
}

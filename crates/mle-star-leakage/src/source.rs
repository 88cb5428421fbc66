//! The source of a script: limits, parsing, and positions.

use ruff_python_ast::ModModule;
use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, ParseError, ParseOptions, Parsed};
use ruff_text_size::{Ranged, TextRange};

use crate::caught;
use crate::unreadable::Unreadable;

/// The largest source that is checked.
const LARGEST: usize = 4 << 20;
/// The deepest nesting that is checked. Syntax trees are dropped recursively.
const DEEPEST: usize = 1000;

/// Magics that run the statement behind them.
const WATCHES: [&str; 9] =
    ["debug", "lprun", "memit", "mprun", "prun", "pyinstrument", "snakeviz", "time", "timeit"];
/// How many words may be options of such a magic.
const OPTIONS: usize = 12;

/// The syntax tree of a script, which may have commands of IPython.
pub(crate) fn parse(source: &str) -> Result<Parsed<ModModule>, Unreadable> {
    if source.len() > LARGEST {
        return Err(Unreadable::TooLarge { bytes: source.len(), limit: LARGEST });
    }
    let parsed = tree(source)?;
    let watched = with_watched(source, parsed.tokens());
    if watched == source { Ok(parsed) } else { tree(&watched).or(Ok(parsed)) }
}

fn tree(source: &str) -> Result<Parsed<ModModule>, Unreadable> {
    if is_too_deep(source) {
        return Err(Unreadable::TooDeep);
    }
    let parsed = |mode: Mode| ruff_python_parser::parse(source, ParseOptions::from(mode));
    // In the mode of IPython, the parser panics on some texts that are no Python either.
    let parsed = caught(|| Ok(parsed(Mode::Ipython))).unwrap_or_else(|_| parsed(Mode::Module));
    parsed.map_err(|error| unreadable(source, &error))?.try_into_module().ok_or(Unreadable::Defect)
}

/// The source without the magics before statements: `%time fit()` runs `fit()`. What is left keeps its place.
fn with_watched(source: &str, tokens: &Tokens) -> String {
    let (mut text, mut done) = (String::new(), 0);
    for token in tokens.iter().filter(|token| token.kind() == TokenKind::IpyEscapeCommand) {
        let command = token.range().to_std_range();
        let line = source[..command.start].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let before = &source[line..command.start];
        let Some(length) = before_statement(before.trim_start(), &source[command]) else { continue };
        // A form feed begins the indentation anew.
        let blank = if before.trim().is_empty() {
            format!("{}\x0c{before}", " ".repeat(length - 1))
        } else {
            format!("{before}{}", " ".repeat(length))
        };
        text.extend([&source[done..line], &blank]);
        done = line + blank.len();
    }
    text + &source[done..]
}

/// How long a magic and its options are, before the statement that it runs.
fn before_statement(assigned: &str, command: &str) -> Option<usize> {
    let mut words = command.split(|letter: char| letter.is_ascii_whitespace());
    let name = words.next()?.strip_prefix('%')?;
    let mut length = name.len() + 2;
    for word in words.take(OPTIONS).filter(|_| WATCHES.contains(&name)) {
        let is_option = word.is_empty() || word.starts_with('-');
        if !is_option && tree(&format!("{assigned}{}", &command[length..])).is_ok() {
            return Some(length);
        }
        length += word.len() + 1;
    }
    None
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

/// Whether brackets, blocks and chains of operators are nested too deeply.
///
/// It counts an upper bound of the depth of the syntax tree: every operator since the last comma.
fn is_too_deep(source: &str) -> bool {
    let mut lexer = lex(source, Mode::Ipython);
    // Operators since the last comma, for each open bracket.
    let (mut open, mut here) = (Vec::new(), 0);
    let (mut depth, mut blocks) = (0, 0_usize);
    while depth + here + open.len() + blocks <= DEEPEST {
        match lexer.next_token() {
            TokenKind::EndOfFile => return false,
            TokenKind::Indent => blocks += 1,
            TokenKind::Dedent => blocks = blocks.saturating_sub(1),
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                depth += here + 1;
                open.push(std::mem::take(&mut here) + 1);
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                here = open.pop().unwrap_or(here);
                depth = depth.saturating_sub(here);
            }
            TokenKind::Comma | TokenKind::Semi | TokenKind::Newline => here = 0,
            kind => here += usize::from(kind.is_operator() || kind.is_keyword()),
        }
    }
    true
}

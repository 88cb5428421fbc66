//! Python code as markup: a line each, with the colours of keywords, strings, numbers and comments.
//!
//! The scanner is our own because a page shows untrusted scripts: it needs no stack, where a parser's tree of a deep
//! expression would overflow it, and colours what does not parse. The lexer of `ruff_python_parser` hides where its
//! tokens are.

use crate::markup::escaped_code;

/// The keywords, sorted.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The meaning of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Keyword,
    Text,
    Number,
    Comment,
}

/// The code as markup: every line in a `span`, in which short elements have the colours. Its text is the code.
pub fn lines(code: &str) -> String {
    let mut html = String::with_capacity(2 * code.len());
    html.push_str("<span>");
    for (kind, piece) in pieces(code) {
        for (index, part) in piece.split('\n').enumerate() {
            if index > 0 {
                html.push_str("</span>\n<span>");
            }
            write_piece(&mut html, kind, part);
        }
    }
    html.push_str("</span>");
    html
}

/// For each line of the code, whether a statement may begin there: it is in no string and in no brackets.
pub fn open_lines(code: &str) -> Vec<bool> {
    let (mut open, mut depth) = (vec![true], 0_usize);
    for (kind, piece) in pieces(code) {
        for c in piece.chars() {
            match c {
                '\n' => open.push(kind != Kind::Text && depth == 0),
                '(' | '[' | '{' if kind == Kind::Plain => depth += 1,
                ')' | ']' | '}' if kind == Kind::Plain => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    open
}

fn write_piece(html: &mut String, kind: Kind, text: &str) {
    let tag = match kind {
        Kind::Plain => "",
        Kind::Keyword => "b",
        Kind::Text => "u",
        Kind::Number => "var",
        Kind::Comment => "i",
    };
    let is_marked = !tag.is_empty() && !text.is_empty();
    if is_marked {
        html.extend(["<", tag, ">"]);
    }
    html.push_str(&escaped_code(text));
    if is_marked {
        html.extend(["</", tag, ">"]);
    }
}

/// The code in pieces.
fn pieces(code: &str) -> Vec<(Kind, &str)> {
    let mut pieces = Vec::new();
    let (mut rest, mut plain) = (code, 0);
    while !rest.is_empty() {
        let (kind, length) = first(rest);
        if kind != Kind::Plain {
            let begin = code.len() - rest.len();
            pieces.push((Kind::Plain, &code[plain..begin]));
            pieces.push((kind, &rest[..length]));
            plain = begin + length;
        }
        rest = &rest[length..];
    }
    pieces.push((Kind::Plain, &code[plain..]));
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

/// The kind and the length in bytes of the first token.
fn first(code: &str) -> (Kind, usize) {
    let Some(c) = code.chars().next() else { return (Kind::Plain, 0) };
    let after_point = code[c.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
    match c {
        '#' => (Kind::Comment, code.find('\n').unwrap_or(code.len())),
        '"' | '\'' => (Kind::Text, string(code)),
        c if c.is_ascii_digit() || c == '.' && after_point => (Kind::Number, number(code)),
        c if c.is_alphabetic() || c == '_' => word(code),
        c => (Kind::Plain, c.len_utf8()),
    }
}

fn word(code: &str) -> (Kind, usize) {
    let length = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
    let (word, rest) = code.split_at(length);
    let is_prefix = length <= 2 && word.chars().all(|c| "rbuftRBUFT".contains(c));
    if is_prefix && rest.starts_with(['"', '\'']) {
        return (Kind::Text, length + string(rest));
    }
    (if KEYWORDS.binary_search(&word).is_ok() { Kind::Keyword } else { Kind::Plain }, length)
}

fn number(code: &str) -> usize {
    let is_decimal = !code.starts_with("0x") && !code.starts_with("0X");
    let mut before = '0';
    for (at, c) in code.char_indices() {
        let is_sign = is_decimal && "+-".contains(c) && "eE".contains(before);
        if !c.is_ascii_alphanumeric() && !"._".contains(c) && !is_sign {
            return at;
        }
        before = c;
    }
    code.len()
}

/// The length of a string that begins with its quotes. One that is not closed ends with its line, or with the code.
fn string(code: &str) -> usize {
    let quote = &code[..1];
    let triple = quote.repeat(3);
    let (quotes, is_long) = if code.starts_with(&triple) { (triple.as_str(), true) } else { (quote, false) };
    let mut at = quotes.len();
    while let Some(c) = code[at..].chars().next() {
        if code[at..].starts_with(quotes) {
            return at + quotes.len();
        }
        if c == '\n' && !is_long {
            return at;
        }
        at += c.len_utf8();
        // What follows a backslash closes nothing.
        if c == '\\' {
            at += code[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    code.len()
}

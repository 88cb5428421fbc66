//! Why a source cannot be checked.

use std::error::Error;
use std::fmt;

/// Why a source cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The source is no Python.
    Syntax {
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
        /// What the parser says.
        message: String,
    },
    /// The source is Python 2.
    Python2 {
        /// The line that shows it, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
    },
    /// Brackets, blocks or operators are nested too deeply.
    TooDeep,
    /// The source is too large.
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest size that is checked.
        limit: usize,
    },
    /// The checker itself has a defect.
    Defect,
    /// The file is no notebook with cells of Python.
    Notebook {
        /// What is wrong with it.
        message: String,
    },
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, column, message } => {
                write!(formatter, "syntax error in line {line}, column {column}: {message}")
            }
            Self::Python2 { line, column } => {
                write!(formatter, "line {line}, column {column} is Python 2; only Python 3 can be checked")
            }
            Self::TooDeep => formatter.write_str("the source is nested too deeply"),
            Self::TooLarge { bytes, limit } => {
                write!(formatter, "the source has {bytes} bytes; at most {limit} can be checked")
            }
            Self::Defect => formatter.write_str("the checker failed"),
            Self::Notebook { message } => write!(formatter, "the notebook cannot be read: {message}"),
        }
    }
}

impl Error for Unreadable {}

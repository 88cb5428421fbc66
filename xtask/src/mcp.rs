//! The official Python client of the Model Context Protocol, with which a test drives `mle-star mcp`.

use std::path::PathBuf;

use crate::environments;

/// The release that the test is written against.
const PACKAGE: &str = "mcp==2.3.0";

/// An interpreter that has it.
///
/// # Errors
/// It cannot be had; in words.
pub fn prepare() -> Result<PathBuf, String> {
    environments::with("mcp-client", &[PACKAGE])
}

//! `mcp`: serves runs as tools to other agents.

use std::io::IsTerminal as _;

use super::protocol;
use crate::args::McpArgs;
use crate::commands::runs_dir;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::runtime::listen_for;

/// Serves until stdin ends.
///
/// # Errors
/// The client does not speak the protocol.
pub fn mcp(args: &McpArgs) -> Result<Exit, Failure> {
    let runs_dir = runs_dir(args.runs_dir.clone());
    if std::io::stdin().is_terminal() {
        output::talk("waiting for an MCP client on stdin; Ctrl-D ends the server, runs continue");
    }
    listen_for(protocol::serve(&std::path::absolute(&runs_dir).unwrap_or(runs_dir)))??;
    Ok(Exit::Done)
}

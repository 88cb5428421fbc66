//! Runs as tools of other agents: a server of the Model Context Protocol on stdin and stdout.
//!
//! [`tools`] lists the tools, each with its input and output; the other modules perform them. Runs are separate processes
//! ([`crate::processes`]), so they go on when a client leaves. The official SDK, `rmcp`, speaks the protocol, and knows
//! its versions with and without `initialize`.

mod answer;
mod caller;
mod check;
pub mod command;
mod doctor;
mod preview;
mod results;
mod start;
mod stdin;
mod steer;
mod stop;
mod tools;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mle_star_report::sanitize::first_line;
use mle_star_run::runs;

use mle_star_domain::trouble::Trouble;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ServerHandler, ServiceExt};

use crate::processes::{Interrupted, Late};
use caller::Caller;
use stdin::{InputEnd, Stdin};
use tools::Tool;

/// What clients tell their model about the server.
const INSTRUCTIONS: &str = "mle-star turns a machine-learning task on tables (train.csv, test.csv, sample_submission.csv, a \
description) into a checked submission and the script that makes it. Call `preview` to see what it infers and may cost, \
`run` to start, `watch` with until=\"end\" to wait, `result` for scores and files. A run takes minutes to hours in its own \
process and goes on when you leave; `list` finds it again, `resume` continues it. Report the held-out score if there is \
one, never a suspect one without saying so. `check` finds leaks of validation data in any Python script.";

/// Serves the runs of a directory until the client closes stdin.
///
/// # Errors
/// The client does not speak the protocol.
pub async fn serve(runs_dir: &Path) -> Result<(), Trouble> {
    let (stdin, ended) = Stdin::new();
    let server = Server { hub: Arc::new(Hub::new(runs_dir)), tools: tools::all(), ended };
    let running = match server.serve((stdin, tokio::io::stdout())).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            let message = format!("the client does not speak MCP: {}", first_line(&error.to_string(), 300));
            return Err(Trouble::new(message, "start this command from an MCP client"));
        }
    };
    running.waiting().await.map(drop).map_err(|error| {
        let hint = "this is a bug in mle-star, please report it";
        Trouble::new(format!("the server ended: {error}"), hint)
    })
}

/// What all tools share.
struct Hub {
    /// Where runs are found and started; absolute.
    runs_dir: PathBuf,
    /// Processes that were asked to stop.
    interrupted: Interrupted,
    /// Starts that are in progress.
    late: Late,
}

impl Hub {
    fn new(runs_dir: &Path) -> Self {
        Self {
            runs_dir: std::path::absolute(runs_dir).unwrap_or_else(|_| runs_dir.to_owned()),
            interrupted: Interrupted::default(),
            late: Late::default(),
        }
    }

    /// The folder of a run, by ID or path.
    ///
    /// # Errors
    /// There is no such run, or it could not be started.
    fn find(&self, run: &str) -> Result<PathBuf, Trouble> {
        let wanted = self.runs_dir.join(run);
        if let Some(trouble) = self.late.failed(&wanted).filter(|_| !runs::is_run(&wanted)) {
            return Err(trouble);
        }
        let folder = runs::find(run, &self.runs_dir)?;
        Ok(std::path::absolute(&folder).unwrap_or(folder))
    }
}

struct Server {
    hub: Arc<Hub>,
    tools: Vec<Tool>,
    ended: InputEnd,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("mle-star", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(|tool| tool.definition.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tools.iter().find(|tool| tool.definition.name == request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool: {}", request.name), None));
        };
        let caller = Caller::new(context, self.ended.clone());
        let arguments = request.arguments.unwrap_or_default();
        Ok(tool.call(Arc::clone(&self.hub), arguments, caller).await.into())
    }
}

//! Runs the command of a tool, and answers what it prints.

use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mle_star_domain::trouble::Trouble;
use mle_star_report::sanitize::escape;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use super::caller::Client;
use super::shorten::shorten;
use super::tools::{CommandLine, Tool};
use crate::processes::detached::{error_in, program};

/// How often a client that listens hears from a command that says nothing.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// What a command printed.
struct ToolOutput {
    /// Its JSON, if it is any.
    data: Option<Value>,
    /// What it messages.
    messages: Vec<String>,
    is_success: bool,
}

/// The result of a call. Every error is one of the tool, which the model reads.
pub async fn call(tool: &Tool, arguments: Value, runs_dir: String, caller: Client) -> Value {
    let line = match tool.line(arguments.as_object().unwrap_or(&serde_json::Map::new()), &runs_dir) {
        Ok(line) => line,
        Err(trouble) => return failure(&trouble, None),
    };
    let printed = tokio::select! {
        printed = run(&line, &caller) => printed,
        () = caller.wait_for_disconnect() => Err(io::Error::other("the client has left")),
    };
    match printed {
        Ok(ToolOutput { data: Some(data), is_success, .. }) if is_success || data["questions"].is_null() => {
            success(tool, data)
        }
        Ok(ToolOutput { data, messages, .. }) => {
            let messages = messages.join("\n");
            failure(&error_in(&messages).unwrap_or_else(|| Trouble::new(messages, "")), data)
        }
        Err(error) => failure(&Trouble::new(format!("cannot run mle-star: {error}"), "try again"), None),
    }
}

async fn run(line: &CommandLine, caller: &Client) -> io::Result<ToolOutput> {
    let mut command = Command::new(program()?);
    command.args(&line.words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn()?;
    let began = Instant::now();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A command that does not want it has ended.
            let _ = stdin.write_all(line.stdin.as_bytes()).await;
        }
    };
    let reading = async {
        let mut printed = Vec::new();
        match stdout {
            Some(mut stdout) => stdout.read_to_end(&mut printed).await.map(|_| printed),
            None => Ok(printed),
        }
    };
    let listening = async {
        let mut messages: Vec<String> = Vec::new();
        let Some(stderr) = stderr else { return messages };
        let mut lines = BufReader::new(stderr).lines();
        loop {
            match timeout(PROGRESS_INTERVAL, lines.next_line()).await {
                Ok(Ok(Some(line))) => messages.push(line),
                Ok(_) => return messages,
                Err(_) => {}
            }
            caller.notify(began.elapsed().as_secs_f64(), messages.last().map_or("working", |last| last));
        }
    };
    let ((), printed, messages) = tokio::join!(writing, reading, listening);
    let is_success = child.wait().await?.success();
    Ok(ToolOutput { data: serde_json::from_slice(&printed?).ok(), messages, is_success })
}

/// The JSON of a command as data, and the same as text.
fn success(tool: &Tool, data: Value) -> Value {
    // Data is an object.
    let mut data = if data.is_object() { data } else { json!({ tool.name: data }) };
    data.as_object_mut()
        .into_iter()
        .for_each(|parts| parts.retain(|name, _| !tool.left_out.contains(&&**name)));
    shorten(&mut data);
    json!({"content": content(&data.to_string()), "structuredContent": data, "isError": false})
}

/// An error as the program prints it, with the questions that only the user can answer.
fn failure(trouble: &Trouble, data: Option<Value>) -> Value {
    let hint = if trouble.hint.is_empty() { String::new() } else { format!("\nhint: {}", trouble.hint) };
    let text = escape(&format!("error: {}{hint}", trouble.message));
    let mut result = json!({"content": content(&text), "isError": true});
    if let Some(data) = data {
        result["structuredContent"] = data;
    }
    result
}

fn content(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

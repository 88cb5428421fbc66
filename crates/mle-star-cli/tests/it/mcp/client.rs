//! A client that writes and reads lines of JSON-RPC.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::exits::{SCORE, SLOW, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::Sealed;

/// `mle-star mcp` with a client.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// Notifications of the server, in order.
    pub heard: Vec<Value>,
}

impl Client {
    /// Starts the server, and does what clients do first.
    pub fn of(sealed: &Sealed) -> Self {
        Self::greeted(sealed.command("mcp"))
    }

    /// The same, and the scripts of its runs never end.
    pub fn slow(sealed: &Sealed) -> Self {
        let mut command = sealed.command("mcp");
        command.envs([SLOW]);
        Self::greeted(command)
    }

    fn greeted(command: Command) -> Self {
        let mut client = Self::started(command);
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let answer = client.ask("initialize", &params);
        assert_eq!(answer["result"]["serverInfo"]["name"], "mle-star", "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub fn started(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, asked: 0, heard: Vec::new() }
    }

    pub fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n"));
    }

    /// Writes bytes, whatever they are.
    pub fn write(&mut self, text: &str) {
        let mut input = self.input.as_ref().unwrap();
        input.write_all(text.as_bytes()).unwrap();
    }

    /// Asks, and returns the answer with result or error.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Asks without waiting for the answer; returns the ID of the question.
    pub fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}));
        self.asked
    }

    /// The answer to a question.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// The next message, which is one line of JSON.
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Calls a tool and returns its result, an error included.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{tool} {arguments}: {answer}");
        answer["result"].clone()
    }

    /// The data that a tool answers.
    pub fn data(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        assert!(!text(&result).is_empty(), "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// The error that a tool answers, with its hint.
    pub fn error(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        text(&result).to_owned()
    }

    /// Watches a run until no process works on it.
    pub fn watch_to_the_end(&mut self, run: &Value) -> Value {
        loop {
            let seen = self.data("watch", &json!({"run": run, "until": "end", "wait": 60}));
            if seen["state"] != "running" {
                return seen;
            }
        }
    }

    /// Closes stdin; returns how the server ended, what it had not been asked for, and what it said.
    pub fn leave(mut self) -> (ExitStatus, String, String) {
        drop(self.input.take());
        let (mut rest, mut said) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap(), rest, said)
    }

    /// Ends the server as a client does that has no patience.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The text of a tool's result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// The smallest run.
pub fn small_run(sealed: &Sealed) -> Value {
    let python = interpreter(sealed, &format!("{WHILE_SLOW}; {SUBMIT}; {SCORE}"));
    json!({"task": "data", "run_id": "r", "agents": "offline", "set": {
        "python": python, "preset": "paper", "num_retrieved_models": 2, "outer_loop_steps": 1,
        "inner_loop_steps": 1, "max_debug_attempts": 1,
    }})
}

//! The program's own tools, offered to agents in-process over the Model Context Protocol: parsing a score,
//! listing the data. Off by default: each start of `claude` takes three more round trips for tools that
//! agents seldom call, since prompts already say how scores are printed and what the data is.

use std::path::Path;

use serde_json::{Value, json};

use mle_star_data::walk::walk;

/// The answer to one JSON-RPC message; notifications get an empty one.
pub(crate) fn answer(message: &Value, data_dir: &Path) -> Value {
    let id = message.get("id").cloned().unwrap_or(json!(0));
    let parameters = message.get("params").cloned().unwrap_or_default();
    let result = match message.get("method").and_then(Value::as_str).unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": parameters.get("protocolVersion").cloned().unwrap_or(json!("2025-06-18")),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": crate::command::OWN_SERVER, "version": env!("CARGO_PKG_VERSION")},
        }),
        "tools/list" => json!({"tools": tools()}),
        "tools/call" => call(&parameters, data_dir),
        method if method.starts_with("notifications/") || method == "ping" => json!({}),
        method => {
            let error = json!({"code": -32601, "message": format!("no method {method}")});
            return json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// The tools' full names, as permissions know them.
pub(crate) fn names() -> String {
    let server = crate::command::OWN_SERVER;
    format!("mcp__{server}__parse_score,mcp__{server}__list_data")
}

fn tools() -> Value {
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    json!([
        {
            "name": "parse_score",
            "description": "The validation score in what a script printed, as the program will read it",
            "inputSchema": text,
        },
        {
            "name": "list_data",
            "description": "The files of the data folder, relative to ./input, one a line with its size in bytes",
            "inputSchema": {"type": "object", "properties": {}},
        },
    ])
}

fn call(parameters: &Value, data_dir: &Path) -> Value {
    let argument = |name: &str| parameters.pointer(&format!("/arguments/{name}")).and_then(Value::as_str);
    let (text, is_error) = match parameters.get("name").and_then(Value::as_str) {
        Some("parse_score") => match mle_star::score::parse_score(argument("text").unwrap_or_default()) {
            Some(score) => (score.to_string(), false),
            None => ("there is no line `Final Validation Performance: <number>`".to_owned(), true),
        },
        Some("list_data") => match walk(data_dir) {
            Ok(found) => (found.files.iter().map(|file| line(data_dir, file)).collect(), false),
            Err(error) => (error.to_string(), true),
        },
        _ => ("there is no such tool".to_owned(), true),
    };
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

fn line(data_dir: &Path, file: &Path) -> String {
    let bytes = std::fs::metadata(data_dir.join(file)).map_or(0, |meta| meta.len());
    format!("{} {bytes}\n", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_is_spoken_and_the_tools_work() {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join("train.csv"), "abc").unwrap();
        let check = |message: Value, pointer: &str, expected: Value| {
            let answer = answer(&message, data.path());
            assert_eq!(answer.pointer(pointer), Some(&expected), "{message}: {answer}");
        };
        let call = |name: &str, arguments: Value| json!({"id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
        check(
            json!({"id": 1, "method": "initialize", "params": {"protocolVersion": "x"}}),
            "/result/protocolVersion",
            json!("x"),
        );
        check(json!({"id": 1, "method": "tools/list"}), "/result/tools/0/name", json!("parse_score"));
        check(json!({"id": 1, "method": "resources/list"}), "/error/code", json!(-32601));
        let printed = json!({"text": "a\nFinal Validation Performance: 0.25\n"});
        check(call("parse_score", printed), "/result/content/0/text", json!("0.25"));
        check(call("parse_score", json!({"text": "nothing"})), "/result/isError", json!(true));
        check(call("list_data", json!({})), "/result/content/0/text", json!("train.csv 3\n"));
        check(call("list_data", json!({})), "/id", json!(7));
        check(call("other", json!({})), "/result/isError", json!(true));
    }
}

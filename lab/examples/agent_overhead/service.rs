//! A Messages API on loopback that gives the same short answer to every request, at once.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Starts it; returns its address.
pub async fn answer_at_once() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    Ok(address)
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut asked = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        let length = stream.read(&mut buffer).await?;
        asked.extend_from_slice(&buffer[..length]);
        if length == 0 || is_whole(&asked) {
            break;
        }
    }
    let events =
        events().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("")));
    let body = events.concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    stream.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await?;
    stream.shutdown().await
}

/// Reads the head and the body of a request.
fn is_whole(asked: &[u8]) -> bool {
    let text = String::from_utf8_lossy(asked);
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return false };
    let announced = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    asked.len() >= head.len() + 4 + announced.unwrap_or(0)
}

fn events() -> [Value; 6] {
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    [
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
        }}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "done"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": usage,
        }),
        json!({"type": "message_stop"}),
    ]
}

//! The responses format.

use mle_star::tokens::Tokens;
use serde_json::{Value, json};

use crate::answer::{End, PartialAnswer};
use crate::question::{Question, QuestionParts};

/// The service below the base address.
pub(crate) const SERVICE: &str = "responses";

/// The body of a request.
pub(crate) fn body(question: &Question<'_>, asked: &QuestionParts) -> Value {
    let Question { model, system, .. } = question;
    let prompt = question.prompt(asked);
    let mut body = json!({"model": model, "store": false});
    if asked.system {
        body["instructions"] = json!(system);
        body["input"] = json!(prompt);
    } else {
        body["input"] = json!(format!("{system}\n\n{prompt}"));
    }
    if asked.stream {
        body["stream"] = json!(true);
    }
    if let Some(schema) = question.served_schema(asked) {
        let format = json!({"type": "json_schema", "name": question.name, "schema": schema, "strict": true});
        body["text"] = json!({"format": format});
    }
    if let Some(most) = question.max_tokens {
        body["max_output_tokens"] = json!(most);
    }
    body
}

/// Takes one event of a stream.
pub(crate) fn event(collected: &mut PartialAnswer, event: &Value) {
    match event["type"].as_str().unwrap_or_default() {
        "response.output_text.delta" => {
            collected.text.push_str(event["delta"].as_str().unwrap_or_default());
        }
        "response.refusal.delta" => collected.refusal.push_str(event["delta"].as_str().unwrap_or_default()),
        "response.completed" | "response.incomplete" | "response.failed" => {
            document(collected, &event["response"]);
        }
        kind if kind.starts_with("response.reasoning") => collected.has_reasoned = true,
        _ => {}
    }
}

/// Takes a whole answer, or the end of a stream, which repeats its text.
pub(crate) fn document(collected: &mut PartialAnswer, response: &Value) {
    let usage = &response["usage"];
    if let Some(input) = usage["input_tokens"].as_u64() {
        collected.tokens = Some(Tokens {
            input,
            cached: usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
            output: usage["output_tokens"].as_u64().unwrap_or(0),
        });
    }
    let parts = |kind: &str, key: &str| -> String {
        let items = response["output"].as_array().into_iter().flatten();
        let parts = items.flat_map(|item| item["content"].as_array().into_iter().flatten());
        parts.filter(|part| part["type"] == kind).filter_map(|part| part[key].as_str()).collect()
    };
    if collected.text.is_empty() {
        collected.text = parts("output_text", "text");
    }
    if collected.refusal.is_empty() {
        collected.refusal = parts("refusal", "refusal");
    }
    let why = response["incomplete_details"]["reason"].as_str().unwrap_or_default();
    collected.end = match (response["status"].as_str().unwrap_or_default(), why) {
        ("completed", _) => Some(End::Complete),
        ("incomplete", "max_output_tokens") => Some(End::Length),
        ("incomplete", "content_filter") => Some(End::Filter),
        ("" | "in_progress" | "queued", _) => None,
        (status @ ("incomplete" | "failed" | "cancelled"), why) => {
            Some(End::Broken([status, why].join(" ").trim().to_owned()))
        }
        (status, _) => Some(End::Other(status.to_owned())),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Value {
        json!([{"type": "reasoning", "summary": []},
               {"type": "message", "content": [{"type": "output_text", "text": text}]}])
    }

    #[test]
    fn events_are_collected_and_the_end_repeats_nothing() {
        let ended = |status: &str, why: &str| {
            let response = json!({
                "status": status, "incomplete_details": {"reason": why}, "output": message("ab"),
                "usage": {"input_tokens": 9, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2}},
            });
            json!({"type": format!("response.{status}"), "response": response})
        };
        let check = |last: Value, end: Option<End>| {
            let mut collected = PartialAnswer::default();
            let says = |text: &str| json!({"type": "response.output_text.delta", "delta": text});
            for value in [json!({"type": "response.created"}), says("a"), says("b"), last] {
                event(&mut collected, &value);
            }
            assert_eq!((collected.text.as_str(), collected.end), ("ab", end));
            collected.tokens
        };
        let tokens = check(ended("completed", ""), Some(End::Complete));
        assert_eq!(tokens, Some(Tokens { input: 9, cached: 2, output: 3 }));
        check(ended("incomplete", "max_output_tokens"), Some(End::Length));
        check(ended("incomplete", "content_filter"), Some(End::Filter));
        check(ended("failed", ""), Some(End::Broken("failed".to_owned())));
        assert_eq!(check(json!({"type": "response.in_progress"}), None), None);
    }
}

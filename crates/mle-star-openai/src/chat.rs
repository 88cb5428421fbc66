//! The chat-completions format.

use mle_star::tokens::Tokens;
use serde_json::{Value, json};

use crate::answer::{End, PartialAnswer};
use crate::question::{Question, QuestionParts};

/// The service below the base address.
pub(crate) const SERVICE: &str = "chat/completions";

/// The body of a request.
pub(crate) fn body(question: &Question<'_>, asked: &QuestionParts) -> Value {
    let Question { model, system, .. } = question;
    let prompt = question.prompt(asked);
    let messages = match asked.system {
        true => json!([{"role": "system", "content": system}, {"role": "user", "content": prompt}]),
        false => json!([{"role": "user", "content": format!("{system}\n\n{prompt}")}]),
    };
    let mut body = json!({"model": model, "messages": messages});
    if asked.stream {
        body["stream"] = json!(true);
    }
    if asked.stream && asked.usage {
        body["stream_options"] = json!({"include_usage": true});
    }
    if let Some(schema) = question.served_schema(asked) {
        let schema = json!({"name": question.name, "schema": schema, "strict": true});
        body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
    }
    if let Some(most) = question.max_tokens {
        let key = if asked.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[key] = json!(most);
    }
    body
}

/// Takes one event of a stream.
pub(crate) fn event(collected: &mut PartialAnswer, event: &Value) {
    take(collected, event, "delta");
}

/// Takes a whole answer.
pub(crate) fn document(collected: &mut PartialAnswer, document: &Value) {
    take(collected, document, "message");
    // Not every server tells the end.
    if collected.end.is_none() && document["choices"].get(0).is_some() {
        collected.end = Some(End::Complete);
    }
}

fn take(collected: &mut PartialAnswer, value: &Value, part: &str) {
    if let Some(tokens) = tokens(&value["usage"]) {
        collected.tokens = Some(tokens);
    }
    let Some(choice) = value["choices"].get(0) else { return };
    let said = &choice[part];
    collected.text.push_str(&text(&said["content"]));
    collected.refusal.push_str(said["refusal"].as_str().unwrap_or_default());
    let thought = ["reasoning_content", "reasoning"]
        .iter()
        .any(|key| said[*key].as_str().is_some_and(|text| !text.is_empty()));
    collected.has_reasoned |= thought;
    if let Some(reason) = choice["finish_reason"].as_str() {
        collected.end = Some(match reason {
            "stop" => End::Complete,
            "length" | "model_length" | "max_tokens" => End::Length,
            "error" => End::Broken(reason.to_owned()),
            "content_filter" => End::Filter,
            other => End::Other(other.to_owned()),
        });
    }
}

/// A text, or the texts in a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text");
            texts.filter_map(|part| part["text"].as_str()).collect()
        }
        _ => String::new(),
    }
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64();
    Some(Tokens {
        input: usage["prompt_tokens"].as_u64()?,
        // DeepSeek has a name of its own.
        cached: cached.or(usage["prompt_cache_hit_tokens"].as_u64()).unwrap_or(0),
        output: usage["completion_tokens"].as_u64().unwrap_or(0),
    })
}

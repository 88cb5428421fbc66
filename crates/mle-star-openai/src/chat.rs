//! The chat-completions format.

use mle_star::tokens::Tokens;
use serde_json::{Value, json};

use crate::answer::{Collected, End};
use crate::question::{Asked, Question};

/// The service below the base address.
pub(crate) const SERVICE: &str = "chat/completions";

/// The body of a request.
pub(crate) fn body(question: &Question<'_>, asked: &Asked) -> Value {
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
pub(crate) fn event(collected: &mut Collected, event: &Value) {
    take(collected, event, "delta");
}

/// Takes a whole answer.
pub(crate) fn document(collected: &mut Collected, document: &Value) {
    take(collected, document, "message");
    // Not every server tells the end.
    if collected.end.is_none() && document["choices"].get(0).is_some() {
        collected.end = Some(End::Complete);
    }
}

fn take(collected: &mut Collected, value: &Value, part: &str) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(events: &[Value]) -> Collected {
        let mut all = Collected::default();
        events.iter().for_each(|value| event(&mut all, value));
        all
    }

    fn delta(delta: &Value, finish: Option<&str>) -> Value {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": null})
    }

    #[test]
    fn events_are_collected() {
        let check = |events: &[Value], text: &str, end: Option<End>| {
            let collected = collected(events);
            assert_eq!((collected.text.as_str(), collected.end), (text, end), "{events:?}");
        };
        let says = |text: &str| delta(&json!({"content": text}), None);
        let ends = |why: &str| delta(&json!({}), Some(why));
        check(
            &[
                delta(&json!({"role": "assistant", "content": null}), None),
                says("a"),
                says("b"),
                ends("stop"),
            ],
            "ab",
            Some(End::Complete),
        );
        check(&[says("a"), json!({"choices": []})], "a", None);
        check(&[says("a"), ends("length")], "a", Some(End::Length));
        check(&[says("a"), ends("model_length")], "a", Some(End::Length));
        check(&[says("a"), ends("error")], "a", Some(End::Broken("error".to_owned())));
        check(&[ends("content_filter")], "", Some(End::Filter));
        check(&[ends("tool_calls")], "", Some(End::Other("tool_calls".to_owned())));
        let parts = json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]);
        check(&[delta(&json!({"content": parts}), Some("stop"))], "a", Some(End::Complete));
        assert_eq!(collected(&[delta(&json!({"refusal": "no"}), None)]).refusal, "no");
        assert!(collected(&[delta(&json!({"reasoning_content": "hm"}), None)]).has_reasoned);
    }

    #[test]
    fn documents_are_collected() {
        let check = |document: Value, text: &str, end: Option<End>| {
            let mut collected = Collected::default();
            super::document(&mut collected, &document);
            assert_eq!((collected.text.as_str(), collected.end), (text, end), "{document}");
        };
        check(
            json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}),
            "a",
            Some(End::Complete),
        );
        check(json!({"choices": [{"message": {"content": "a"}}]}), "a", Some(End::Complete));
        check(json!({"choices": []}), "", None);
    }

    #[test]
    fn tokens_are_read_or_unknown() {
        let check = |usage: Value, expected: Option<(u64, u64, u64)>| {
            let found = tokens(&usage).map(|tokens| (tokens.input, tokens.cached, tokens.output));
            assert_eq!(found, expected, "{usage}");
        };
        check(json!({"prompt_tokens": 5, "completion_tokens": 2}), Some((5, 0, 2)));
        check(
            json!({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}),
            Some((5, 4, 2)),
        );
        check(
            json!({"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 3}),
            Some((5, 3, 2)),
        );
        check(json!(null), None);
        check(json!({}), None);
    }
}

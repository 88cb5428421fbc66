//! What the service's cache holds of a run's prompts, and which part of a prompt is marked for it.
//!
//! The service caches what ends with a marked block, for five minutes after each use. It looks at the blocks before a mark
//! for what earlier calls have marked. It takes four marks, and `claude` itself sets three.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use blake3::Hash;
use mle_star::effects::AgentRequest;
use serde_json::{Value, json};

/// The least length in bytes of a beginning, with tools and system prompt, that is marked. Services keep none that is
/// shorter than a thousand tokens.
const LEAST: usize = 4000;
/// What `claude` says about tools before the system prompt has at least this length in bytes.
const TOOLS: usize = 2000;
/// How long a beginning is kept after each use.
const KEPT: Duration = Duration::from_secs(300);

/// The beginnings that the service holds, by digest, and when they were last used.
#[derive(Default)]
pub(crate) struct Cache(Mutex<HashMap<Hash, Instant>>);

impl Cache {
    /// The prompt as content of a message: a text, or blocks of which one is marked. That is the shortest part that the
    /// service does not hold, so that the next call can begin with it; if it holds all, the longest.
    pub(crate) fn content(&self, request: &AgentRequest, now: Instant) -> Value {
        let AgentRequest { system, prompt, shared, tools, .. } = request;
        let before = system.len() + if tools.is_empty() { 0 } else { TOOLS };
        let ends = shared.iter().copied().filter(|end| before + end >= LEAST);
        let parts: Vec<(usize, Hash)> = ends.map(|end| (end, digest(request, end))).collect();
        let Some(longest) = parts.last() else { return json!(prompt) };
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, at| now.saturating_duration_since(*at) < KEPT);
        let marked = parts.iter().find(|(_, part)| !used.contains_key(part)).unwrap_or(longest);
        let read = parts.iter().rfind(|(_, part)| used.contains_key(part));
        used.extend([Some(marked), read].into_iter().flatten().map(|(_, part)| (*part, now)));
        blocks(prompt, shared, marked.0)
    }
}

/// Everything that a part of the prompt and what comes before it consist of.
fn digest(request: &AgentRequest, end: usize) -> Hash {
    let AgentRequest { model, tools, schema, system, prompt, .. } = request;
    let schema = schema.as_deref();
    blake3::hash(json!([model, tools, schema, system, prompt.get(..end)]).to_string().as_bytes())
}

/// The parts of a prompt, and the rest of it, as blocks.
fn blocks(prompt: &str, shared: &[usize], marked: usize) -> Value {
    let starts = [0].iter().chain(shared).copied();
    let ends = shared.iter().copied().chain([prompt.len()]);
    let block = |(start, end): (usize, usize)| {
        let text = prompt.get(start..end).filter(|text| !text.is_empty())?;
        Some(match end == marked {
            true => json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}),
            false => json!({"type": "text", "text": text}),
        })
    };
    starts.zip(ends).filter_map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::tests::request;
    use mle_star::role::AgentType;

    /// The length of the parts, and the number of the marked one.
    fn asked(cache: &Cache, now: Instant, shared: &[usize]) -> (Vec<usize>, Option<usize>) {
        let prompt = format!("{}@own", "s".repeat(shared.last().copied().unwrap_or_default()));
        let request = AgentRequest { prompt, shared: shared.to_vec(), ..request(AgentType::Coder, &[]) };
        let content = cache.content(&request, now);
        let Some(blocks) = content.as_array() else {
            assert_eq!(content, request.prompt);
            return (Vec::new(), None);
        };
        let text = |block: &Value| block["text"].as_str().unwrap().to_owned();
        assert_eq!(blocks.iter().map(text).collect::<String>(), request.prompt);
        let marked = blocks.iter().position(|block| block["cache_control"] == json!({"type": "ephemeral"}));
        (blocks.iter().map(|block| text(block).len()).collect(), marked)
    }

    #[test]
    fn the_shortest_part_that_is_not_held_is_marked() {
        let (cache, start) = (Cache::default(), Instant::now());
        let check = |seconds, shared: &[usize], marked| {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(asked(&cache, now, shared).1, Some(marked), "{shared:?} after {seconds} s");
        };
        check(0, &[5000], 0);
        check(200, &[5000, 6000], 1);
        check(400, &[5000, 6000, 7000], 2);
        // It was read 300 s ago.
        check(500, &[5000, 6000], 0);
        check(501, &[5000], 0);
        check(600, &[5000, 6000, 7000], 2);
    }

    #[test]
    fn a_short_beginning_is_not_marked() {
        let least = LEAST - "system".len();
        let first = |shared: &[usize]| asked(&Cache::default(), Instant::now(), shared);
        assert_eq!(first(&[]), (vec![], None));
        assert_eq!(first(&[least - 1]), (vec![], None));
        assert_eq!(first(&[least]), (vec![least, 4], Some(0)));
        assert_eq!(first(&[5, least]), (vec![5, least - 5, 4], Some(1)));
    }
}

//! What the service's cache holds of a run's prompts, and which part of a prompt is marked for it.
//!
//! The service caches what ends with a marked block, for five minutes or an hour after each use. It looks at the blocks
//! before a mark for what earlier calls have marked. It takes four marks, and `claude` itself sets three. All marks of a call
//! last equally long, since the service refuses a mark for a longer time after one for a shorter.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use blake3::Hash;
use mle_star_domain::effects::AgentRequest;
use serde_json::{Value, json};

/// Prefixes of a prompt (system prompt and tools included) that are shorter than this, in bytes, are not marked:
/// services cache none below about a thousand tokens.
const MIN_CACHED_PREFIX: usize = 4000;
/// What `claude` says about tools before the system prompt has at least this length in bytes.
const MIN_TOOL_TEXT: usize = 2000;
/// Prices per input token, as multiples of the uncached price: written for five minutes, written for an hour, read from
/// the cache.
const PRICES: [f64; 3] = [1.25, 2.0, 0.1];
/// Variables of users who decide about the cache themselves, or whose service may not keep anything for an hour.
const OWN_CHOICE: [&str; 7] = [
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
    "DISABLE_PROMPT_CACHING",
    "ENABLE_PROMPT_CACHING_1H",
    "FORCE_PROMPT_CACHING_5M",
];

/// How long the service keeps a prefix of a prompt after each use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheLifetime {
    FiveMinutes,
    Hour,
}

impl CacheLifetime {
    fn duration(self) -> Duration {
        match self {
            Self::FiveMinutes => Duration::from_secs(300),
            Self::Hour => Duration::from_secs(3600),
        }
    }

    fn mark(self) -> Value {
        match self {
            Self::FiveMinutes => json!({"type": "ephemeral"}),
            Self::Hour => json!({"type": "ephemeral", "ttl": "1h"}),
        }
    }
}

/// What the service holds of a run's prompts.
pub(crate) struct PromptCache {
    hour_is_allowed: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The prefixes that were marked or read from the cache in the last hour, by digest.
    used: HashMap<Hash, Use>,
    /// Bytes of prompts of calls without tools that were not in any prompt of the hour before, so that even an
    /// hour-long cache would not have held them.
    new_bytes: usize,
    /// Bytes of prefixes that were sent in the hour before but not in the last five minutes: only an hour-long
    /// cache holds them.
    late_bytes: usize,
}

/// The last use of a prefix.
#[derive(Clone, Copy)]
struct Use {
    at: Instant,
    lifetime: CacheLifetime,
}

impl Use {
    fn is_within(self, lifetime: CacheLifetime, now: Instant) -> bool {
        now.saturating_duration_since(self.at) < lifetime.duration()
    }
}

impl State {
    /// The lifetime that would have cost less so far. An hour-long cache makes `late_bytes` cheap to read, but every
    /// new byte costs more to store.
    fn cheaper(&self) -> CacheLifetime {
        #[expect(clippy::cast_precision_loss, reason = "lengths of texts")]
        let [new_bytes, late_bytes] = [self.new_bytes as f64, self.late_bytes as f64];
        let [short, long, read] = PRICES;
        if new_bytes * long + late_bytes * read < (new_bytes + late_bytes) * short {
            CacheLifetime::Hour
        } else {
            CacheLifetime::FiveMinutes
        }
    }
}

impl PromptCache {
    pub(crate) fn new(hour_is_allowed: bool) -> Self {
        Self { hour_is_allowed, state: Mutex::default() }
    }

    /// One that may keep prefixes for an hour, unless the user's environment speaks against it.
    pub(crate) fn of_environment() -> Self {
        Self::new(OWN_CHOICE.iter().all(|name| std::env::var_os(name).is_none()))
    }

    /// How long the service is to keep the prefixes of a call.
    ///
    /// Long scripts pass between two calls of planner and coder, which have no tools and share most of their prompts.
    /// Agents with tools share little.
    pub(crate) fn lifetime_for(&self, tools: &[&str]) -> CacheLifetime {
        if self.hour_is_allowed && tools.is_empty() {
            self.state().cheaper()
        } else {
            CacheLifetime::FiveMinutes
        }
    }

    /// The prompt as content of a message: plain text if it is too short to cache, otherwise blocks, one of which has
    /// `cache_control`. The marked block ends the shortest shared prefix that is not in the cache yet, or the longest
    /// shared prefix if all are.
    pub(crate) fn content(&self, request: &AgentRequest, lifetime: CacheLifetime, now: Instant) -> Value {
        let AgentRequest { system, prompt, shared, tools, .. } = request;
        let before = system.len() + if tools.is_empty() { 0 } else { MIN_TOOL_TEXT };
        let ends = shared.iter().copied().filter(|end| before + end >= MIN_CACHED_PREFIX);
        let prefixes: Vec<(usize, Hash)> = ends.map(|end| (end, digest(request, end))).collect();
        let mut state = self.state();
        state.used.retain(|_, used| used.is_within(CacheLifetime::Hour, now));
        if tools.is_empty() {
            let sent = |lifetime| {
                let is_known = |(_, prefix): &&(usize, Hash)| {
                    state.used.get(prefix).is_some_and(|used| used.is_within(lifetime, now))
                };
                prefixes.iter().rfind(is_known).map_or(0, |(end, _)| before + end)
            };
            let [recently, in_the_hour] = [CacheLifetime::FiveMinutes, CacheLifetime::Hour].map(sent);
            state.late_bytes += in_the_hour - recently;
            state.new_bytes += before + prompt.len() - in_the_hour;
        }
        let Some(longest) = prefixes.last() else { return json!(prompt) };
        let is_held = |(_, prefix): &&(usize, Hash)| {
            state.used.get(prefix).is_some_and(|used| used.is_within(used.lifetime, now))
        };
        let marked = prefixes.iter().find(|prefix| !is_held(prefix)).unwrap_or(longest);
        let read = prefixes.iter().rfind(is_held);
        let used = [Some(marked), read]
            .into_iter()
            .flatten()
            .map(|(_, prefix)| (*prefix, Use { at: now, lifetime }));
        state.used.extend(used.collect::<Vec<_>>());
        blocks(prompt, shared, marked.0, lifetime)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Digest of everything that the service compares for a cached prefix: model, tools, schema, system prompt, and the
/// prompt up to byte `end`.
fn digest(request: &AgentRequest, end: usize) -> Hash {
    let AgentRequest { model, tools, schema, system, prompt, .. } = request;
    let schema = schema.as_deref();
    blake3::hash(json!([model, tools, schema, system, prompt.get(..end)]).to_string().as_bytes())
}

/// A prompt in blocks that end where shared prefixes end, and a block with the rest.
fn blocks(prompt: &str, shared: &[usize], marked: usize, lifetime: CacheLifetime) -> Value {
    let starts = [0].iter().chain(shared).copied();
    let ends = shared.iter().copied().chain([prompt.len()]);
    let block = |(start, end): (usize, usize)| {
        let text = prompt.get(start..end).filter(|text| !text.is_empty())?;
        Some(match end == marked {
            true => json!({"type": "text", "text": text, "cache_control": lifetime.mark()}),
            false => json!({"type": "text", "text": text}),
        })
    };
    starts.zip(ends).filter_map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::tests::request;
    use mle_star_domain::role::AgentType;

    /// The lengths of the blocks, and the number of the marked one.
    fn asked(cache: &PromptCache, now: Instant, shared: &[usize]) -> (Vec<usize>, Option<usize>) {
        let prompt = format!("{}@own", "s".repeat(shared.last().copied().unwrap_or_default()));
        let request = AgentRequest { prompt, shared: shared.to_vec(), ..request(AgentType::Coder, &[]) };
        let lifetime = cache.lifetime_for(&[]);
        let content = cache.content(&request, lifetime, now);
        let Some(blocks) = content.as_array() else {
            assert_eq!(content, request.prompt);
            return (Vec::new(), None);
        };
        let text = |block: &Value| block["text"].as_str().unwrap().to_owned();
        assert_eq!(blocks.iter().map(text).collect::<String>(), request.prompt);
        let marked = blocks.iter().position(|block| block["cache_control"] == lifetime.mark());
        (blocks.iter().map(|block| text(block).len()).collect(), marked)
    }

    #[test]
    fn the_shortest_prefix_that_is_not_held_is_marked() {
        let (cache, start) = (PromptCache::new(false), Instant::now());
        let check = |seconds, shared: &[usize], marked| {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(asked(&cache, now, shared).1, Some(marked), "{shared:?} after {seconds} s");
        };
        // A prefix that is too short for the service is not marked.
        let least = MIN_CACHED_PREFIX - "system".len();
        assert_eq!(asked(&cache, start, &[least - 1]), (vec![], None));
        assert_eq!(asked(&PromptCache::new(false), start, &[5, least]), (vec![5, least - 5, 4], Some(1)));
        check(0, &[5000], 0);
        check(200, &[5000, 6000], 1);
        check(400, &[5000, 6000, 7000], 2);
        // The first prefix was read 300 s ago; to read a longer one does not count.
        check(500, &[5000, 6000], 0);
        check(501, &[5000], 0);
        check(600, &[5000, 6000, 7000], 2);
    }

    #[test]
    fn prefixes_are_kept_for_an_hour_where_scripts_take_long() {
        let kept = |hour_is_allowed, seconds: u64| {
            let (cache, start) = (PromptCache::new(hour_is_allowed), Instant::now());
            for call in 0..8 {
                asked(&cache, start + Duration::from_secs(call * seconds), &[5000]);
            }
            cache.lifetime_for(&[])
        };
        assert_eq!(kept(true, 30), CacheLifetime::FiveMinutes);
        assert_eq!(kept(true, 600), CacheLifetime::Hour);
        // Then an hour is too short as well.
        assert_eq!(kept(true, 4000), CacheLifetime::FiveMinutes);
        assert_eq!(kept(false, 600), CacheLifetime::FiveMinutes);
    }
}

//! The `codex` client: the real command line against the responses format on loopback, and scripts in its place.

#[cfg(test)]
#[path = "../../../mle-star-openai/tests/it/api.rs"]
#[expect(dead_code, reason = "its other users make more of it")]
mod api;
#[cfg(test)]
#[path = "../../../mle-star-claude/tests/it/closed.rs"]
#[expect(dead_code, reason = "its other users make more of it")]
mod closed;
#[cfg(test)]
#[path = "../../../mle-star-claude/tests/it/isolated.rs"]
mod isolated;
#[cfg(test)]
mod real_codex;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod stand_in;
#[cfg(test)]
mod world;

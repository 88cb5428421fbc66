//! Whole runs whose agents are the real `claude`, asked over its standard streams and answered by a Messages API
//! on loopback that writes real scripts.

mod answers;
#[path = "../../../mle-star-claude/tests/it/api.rs"]
#[expect(dead_code, reason = "its other users make more of it")]
mod api;
#[path = "../../../mle-star-claude/tests/it/closed.rs"]
pub(crate) mod closed;
mod network;
mod real_claude;
mod roles;
mod scripts;
mod trouble;
mod world;

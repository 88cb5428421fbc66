//! `mle-star mcp`: runs as tools of other agents.

pub mod client;
mod protocol;
mod real_claude;
mod real_client;
mod tools;

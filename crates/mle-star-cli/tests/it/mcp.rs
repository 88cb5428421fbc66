//! `mle-star mcp`: runs as tools of other agents.

mod client;
mod protocol;
mod real_claude;
mod real_client;
mod tools;

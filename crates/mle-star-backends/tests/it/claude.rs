//! Agents behind the `claude` command line: the real one against a Messages API on loopback, and one that
//! replays what the real one said.

mod api;
mod closed;
mod real_claude;
mod scenarios;
mod table;
mod world;

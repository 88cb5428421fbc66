//! Agents behind the `claude` command line: the real one against a Messages API on loopback, and one that
//! replays what the real one said.

mod api;
mod closed;
mod fake_claude;
mod real_claude;
mod recordings;
mod scenarios;
mod table;
mod world;

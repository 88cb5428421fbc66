//! The library as its users see it.
#![expect(clippy::unwrap_used, reason = "tests")]

#[expect(dead_code, reason = "tests call what `main` calls")]
#[path = "../../examples/embed.rs"]
mod embed;
mod observed;
mod prepared;
mod world;

//! The real binary in a sealed environment.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod agents;
mod bench;
mod browser;
mod by_files;
mod check;
mod claude;
mod codex;
mod commands;
mod corpus;
mod delivered;
mod endpoint;
mod events;
mod exits;
mod export;
mod gpus;
mod held_out;
mod help;
mod importance;
mod inputs;
mod kept_models;
mod killed;
mod layouts;
mod locks;
mod machine;
mod mcp;
mod mle_bench;
mod mlflow;

mod own_metric;
mod predict;
mod real_runs;
mod recorded;
mod retrieval;
mod runners;
mod runs;
mod same_figures;
mod sealed;
mod single_table;
mod skill;
mod steer;
mod ui;
mod views;
mod watching;

//! The provider of agents: the `claude` or the `codex` command line, an endpoint, rules built into the program, or files.
//!
//! [`choice`] chooses it and gives the reason, [`credentials`] finds logins, [`executable`] finds command
//! lines, [`codex`] the login of `codex`, [`openai`] the endpoint.

pub mod choice;
pub mod codex;
pub mod credentials;
pub mod executable;
pub mod openai;

pub use choice::{
    Choice, Provider, Workplace, ask_claude, baseline_agents, choose, claude, name, presume, rules,
};
pub use codex::ask_codex;
pub use openai::ask_openai;

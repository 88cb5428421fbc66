//! The provider of agents: the `claude` command line, rules built into the program, or files.
//!
//! [`choice`] chooses it and gives the reason, [`credentials`] finds logins, [`executable`] finds `claude`.

pub mod choice;
pub mod credentials;
pub mod executable;

pub use choice::{Choice, Chosen, Workplace, ask_claude, choose, claude, name, presume, rules};

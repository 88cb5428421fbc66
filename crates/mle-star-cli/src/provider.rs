//! Who answers the agents' calls: the `claude` command line or rules built into the program.
//!
//! [`choice`] decides and says why, [`credentials`] finds logins, [`executable`] finds `claude`.

pub mod choice;
pub mod credentials;
pub mod executable;

pub use choice::{Choice, Chosen, Workplace, ask_claude, choose, claude, name, presume, rules};

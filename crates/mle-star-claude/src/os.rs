//! Child processes and their environment. Everything that the client takes from another crate for them is named here.

pub(crate) use mle_star_process::variables::is_secret;
pub(crate) use mle_star_process::{Ending, Talk};

//! Child processes and their environment. Everything that the client takes from another crate for them is named here.

pub(crate) use mle_star_backends::process::{Ending, Streams, Tree};
pub(crate) use mle_star_backends::script::variables::is_secret;

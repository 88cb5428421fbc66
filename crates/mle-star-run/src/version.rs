//! The version of the program.

/// The version, with the commit of the source where it is known: `0.1.0+0123456789ab`, and `-dirty` after it if the source
/// had changes that are not in the commit.
pub const VERSION: &str = env!("MLE_STAR_VERSION");

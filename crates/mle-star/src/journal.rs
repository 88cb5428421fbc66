//! The run's memory.
/// What is wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Placeholder.
    #[error("x")]
    X,
}

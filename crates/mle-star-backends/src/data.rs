//! Data folders: what is in them, and what they say about the task.

pub mod profile;

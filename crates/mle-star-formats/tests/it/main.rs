//! Tables in all formats, as files on disk.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod delimited;
mod files;

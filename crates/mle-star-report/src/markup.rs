//! Escapes text for markup.
//!
//! Text from models, scripts and users is untrusted: characters that mean something in markup are escaped, and those
//! that would hide or reorder text are made visible.

use crate::sanitize::escape;

/// Escapes a text for markup and for quoted attributes.
pub fn escaped(text: &str) -> String {
    escaped_code(text).replace('"', "&quot;").replace('\'', "&#39;")
}

/// Escapes a text between tags, where quotes mean nothing: code is full of them.
pub fn escaped_code(text: &str) -> String {
    escape(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

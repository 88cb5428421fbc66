//! Seals: each record carries a digest of itself, so that a byte that changed on the disk is noticed.
//!
//! SQLite checks the structure of its file and not what the fields say. [`provide`] gives SQL a function `seal`,
//! which the statements that write records and the one that checks them share.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

/// What a record is sealed with when it begins. The statements of `Store` that write records name their values in
/// this order, too.
pub(super) const BEGUN: &str = "seal(seq, place, kind, digest, request, begun_at, elapsed_begun)";
/// What a record is sealed with when it ends; likewise.
pub(super) const ENDED: &str = "seal(seq, place, outcome, limit_hit, cost_usd, tokens_input, tokens_output,
    tokens_cache_read, tokens_cache_write, ended_at, elapsed_ended)";
/// What an entry of `meta` is sealed with.
pub(super) const META: &str = "seal(key, value)";

/// Characters of a seal: 128 bits, in hexadecimal.
const LENGTH: usize = 32;

/// True for a record that is as it was written; needs [`provide`].
pub(super) fn is_whole() -> String {
    format!(
        "(begun_seal IS {BEGUN} AND CASE WHEN ended_seal IS NULL
            THEN state IN ('begun', 'void') AND outcome IS NULL
            ELSE state IN ('ended', 'void', 'aside') AND ended_seal IS {ENDED} END)"
    )
}

/// Gives a connection the function `seal`.
///
/// # Errors
/// SQLite is out of memory.
pub(super) fn provide(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("seal", -1, flags, |values| Ok(seal(values)))
}

fn seal(values: &Context<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    for index in 0..values.len() {
        // Kind and length first: no two lists of values read the same.
        let (kind, bytes): (u8, &[u8]) = match values.get_raw(index) {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(number) => (1, &number.to_le_bytes()),
            ValueRef::Real(number) => (2, &number.to_le_bytes()),
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(blob) => (4, blob),
        };
        hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    let mut seal = hasher.finalize().to_hex().to_string();
    seal.truncate(LENGTH);
    seal
}

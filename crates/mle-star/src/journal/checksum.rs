//! Checksums: each record carries a digest of itself, so that a byte that changed on the disk is noticed.
//!
//! SQLite checks the structure of its file, but not the contents of its fields. [`provide`] defines the SQL
//! function `seal`, which the statements that write and check records share. Journals have columns of this name.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

/// The fields in the checksum of a new record. The statements of `Store` that write records use the same order.
pub(super) const BEGUN: &str = "seal(seq, place, kind, digest, request, begun_at, elapsed_begun)";
/// The fields in the checksum of a completed record, in the order of the statements of `Store`.
pub(super) const ENDED: &str = "seal(seq, place, outcome, limit_hit, cost_usd, tokens_input, tokens_output,
    tokens_cache_read, tokens_cache_write, ended_at, elapsed_ended)";
/// The fields in the checksum of an entry of `meta`.
pub(super) const META: &str = "seal(key, value)";

/// Length of a checksum in characters: 128 bits in hexadecimal.
const LENGTH: usize = 32;

/// An SQL condition that holds for undamaged records. It requires [`provide`].
pub(super) fn is_whole() -> String {
    format!(
        "(begun_seal IS {BEGUN} AND CASE WHEN ended_seal IS NULL
            THEN state IN ('begun', 'void') AND outcome IS NULL
            ELSE state IN ('ended', 'void', 'aside') AND ended_seal IS {ENDED} END)"
    )
}

/// Defines the SQL function `seal` on a connection.
///
/// # Errors
/// SQLite is out of memory.
pub(super) fn provide(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("seal", -1, flags, |values| Ok(checksum(values)))
}

fn checksum(values: &Context<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    for index in 0..values.len() {
        // The type and length come first, so different lists of values never produce the same bytes.
        let (kind, bytes): (u8, &[u8]) = match values.get_raw(index) {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(number) => (1, &number.to_le_bytes()),
            ValueRef::Real(number) => (2, &number.to_le_bytes()),
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(blob) => (4, blob),
        };
        hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    let mut checksum = hasher.finalize().to_hex().to_string();
    checksum.truncate(LENGTH);
    checksum
}

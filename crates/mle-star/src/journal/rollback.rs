//! SQLite's rollback journal, read without SQLite.
//!
//! Before a transaction overwrites pages of the database, their content is written to this file; the transaction has
//! happened when the file is empty again. So the pages in it undo one that is in progress or whose process died. The
//! format is described at <https://www.sqlite.org/fileformat2.html#the_rollback_journal>.

use super::wal::word;

const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// The number of pages of a header that was written without syncing.
const UP_TO_THE_END: u32 = u32::MAX;
/// Only one byte of so many counts for the checksum of a page.
const STEP: usize = 200;

/// Undoes in `database` what the transaction of a rollback journal has changed, as SQLite would.
pub(super) fn apply(journal: &[u8], database: &mut Vec<u8>) {
    let (mut at, mut pages) = (0, None);
    while let Some(header) = journal.get(at..).filter(|rest| rest.starts_with(&MAGIC)) {
        let [count, nonce, before, sector, page] = [8, 12, 16, 20, 24].map(|offset| word(header, offset));
        let (sector, page) = (sector as usize, page as usize);
        if sector < 32 || page < 512 {
            break;
        }
        pages.get_or_insert((before as usize).saturating_mul(page));
        let records = header.get(sector..).unwrap_or_default().chunks_exact(page + 8);
        let most = if count == UP_TO_THE_END { usize::MAX } else { count as usize };
        let whole = records.take(most).take_while(|record| is_whole(record, nonce));
        let mut restored = 0;
        for record in whole {
            restored += 1;
            let end = (word(record, 0) as usize).saturating_mul(page);
            // A page past the end was added by the transaction.
            if let Some(place) = end.checked_sub(page).and_then(|start| database.get_mut(start..end)) {
                place.copy_from_slice(&record[4..4 + page]);
            }
        }
        if restored < most {
            break;
        }
        at += (sector + restored * (page + 8)).next_multiple_of(sector);
    }
    if let Some(length) = pages.filter(|length| *length < database.len()) {
        database.truncate(length);
    }
}

fn is_whole(record: &[u8], nonce: u32) -> bool {
    let page = &record[4..record.len() - 4];
    let counted = page.iter().rev().skip(STEP - 1).step_by(STEP);
    let sum = counted.fold(nonce, |sum, byte| sum.wrapping_add(u32::from(*byte)));
    sum == word(record, record.len() - 4)
}

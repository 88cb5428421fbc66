//! Copies of a data folder with a change that reveals leaks: after [`shuffle_targets`], a script without a leak scores
//! no better than chance; after [`replace_test_rows`], its validation score is unchanged.
//!
//! [`shuffle_targets`] permutes the labels of the training table, so that nothing can be learnt from it about
//! single rows.
//! [`replace_test_rows`] replaces half of the test rows, on which no validation score depends.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use mle_star_domain::protocol::Split;
use mle_star_domain::trouble::Trouble;

use crate::folder::{self, Source};
use crate::missing::{Words, is_missing};
use crate::records::{self, Records, add_row, value};
use crate::seeded::Seeded;
use crate::walk;

mod blocks;

const HINT: &str = "check that the disk is not full and that the data folder did not change";

/// A training table with permuted labels.
#[derive(Debug)]
pub struct Shuffled {
    /// The file.
    pub table: PathBuf,
    /// The block of each of its rows, among whose labelled rows the labels were permuted.
    pub blocks: Vec<u32>,
}

/// Makes `into` a copy of a data folder, in whose training table the cells of the target columns are permuted together among
/// the rows that have labels (`words` look missing but are labels): within groups or blocks of time if the split is by them.
/// Everything else is linked.
///
/// # Errors
/// The training table cannot be read, or the folder cannot be written.
pub fn shuffle_targets(
    data_dir: &Path,
    (targets, words): (&[String], Words),
    split: Option<&Split>,
    seed: u64,
    into: &Path,
) -> Result<Shuffled, Trouble> {
    let train = folder::list(data_dir)?.train;
    let mut blocks = Vec::new();
    let table = altered(data_dir, train.as_ref(), into, |train, out| {
        blocks = shuffle(data_dir, train, (targets, words, split), seed, out)?;
        Ok(())
    })?;
    Ok(Shuffled { table, blocks })
}

/// Makes `into` a copy of a data folder, with half of the rows of the test table replaced by the others, except for the
/// column that names rows. Everything else is linked. Returns the new table.
///
/// # Errors
/// The test table cannot be read, or the folder cannot be written.
pub fn replace_test_rows(
    data_dir: &Path,
    id: Option<&str>,
    seed: u64,
    into: &Path,
) -> Result<PathBuf, Trouble> {
    let test = folder::list(data_dir)?.test;
    altered(data_dir, test.as_ref(), into, |test, out| replace(data_dir, test, id, seed, out))
}

fn altered(
    data_dir: &Path,
    table: Option<&Source>,
    into: &Path,
    write: impl FnOnce(&Source, &mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, Trouble> {
    let trouble = |error: io::Error| Trouble::new(format!("cannot write changed data: {error}"), HINT);
    let Some(table) = table else { return Err(Trouble::new("the data has no table to change", "")) };
    let fill = || {
        fs::create_dir_all(into)?;
        walk::link(data_dir, into, |name| *name == *table.file)?;
        let file = into.join(&table.file);
        let mut out = BufWriter::new(File::create(&file)?);
        write(table, &mut out)?;
        out.flush().map(|()| file)
    };
    fill().map_err(trouble)
}

fn shuffle(
    data_dir: &Path,
    train: &Source,
    (targets, words, split): (&[String], Words, Option<&Split>),
    seed: u64,
    out: &mut dyn Write,
) -> io::Result<Vec<u32>> {
    let columns = |rows: &Records<'_>| -> io::Result<Vec<usize>> {
        targets.iter().map(|name| rows.position(name)).collect()
    };
    let mut labels: Vec<Vec<Vec<u8>>> = Vec::new();
    let (mut values, mut numbers) = (Vec::new(), Vec::new());
    records::read(data_dir, train, |mut rows| {
        let columns = columns(&rows)?;
        let of_split = split.and_then(|split| rows.find(split.column.as_deref()?));
        while rows.next()? {
            if is_labelled(&rows, &columns, words) {
                labels.push(columns.iter().map(|column| rows.row()[*column].to_vec()).collect());
                values.push(
                    of_split
                        .and_then(|column| value(rows.row(), column, Words::default()))
                        .map(str::to_owned),
                );
                numbers.push(rows.number());
            }
        }
        Ok(())
    })?;
    let blocks = blocks::blocks(split, &values, &labels);
    permute(&mut labels, &blocks, seed);
    records::read(data_dir, train, |mut rows| {
        let columns = columns(&rows)?;
        let mut next = labels.iter();
        rewrite(&mut rows, out, |rows, line| {
            let label = if is_labelled(rows, &columns, words) { next.next() } else { None };
            let cells = rows.row().iter().enumerate().map(|(at, cell)| {
                let place = columns.iter().position(|column| *column == at);
                place.zip(label).map_or(cell, |(place, label)| label[place].as_slice())
            });
            add_row(cells, line)
        })
    })?;
    Ok(of_all_rows(&blocks, &numbers))
}

/// The block of each row of the table, whose labelled rows have these numbers.
fn of_all_rows(blocks: &[u32], numbers: &[u64]) -> Vec<u32> {
    let mut all = Vec::new();
    for (block, number) in blocks.iter().zip(numbers) {
        all.resize(usize::try_from(*number).unwrap_or(all.len()), 0);
        all.push(*block);
    }
    all
}

fn replace(
    data_dir: &Path,
    test: &Source,
    id: Option<&str>,
    seed: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let seeded = Seeded::new(seed, "replaced rows");
    let is_replaced = |row: u64| seeded.below(2, row) == 0;
    let mut kept: Vec<Vec<Vec<u8>>> = Vec::new();
    records::read(data_dir, test, |mut rows| {
        while rows.next()? {
            if !is_replaced(rows.number()) {
                kept.push(rows.row().iter().map(<[u8]>::to_vec).collect());
            }
        }
        Ok(())
    })?;
    let drawn = Seeded::new(seed, "drawn rows");
    records::read(data_dir, test, |mut rows| {
        let id = id.and_then(|id| rows.find(id));
        rewrite(&mut rows, out, |rows, line| {
            let place = usize::try_from(drawn.below(kept.len() as u64, rows.number())).unwrap_or_default();
            let other = kept.get(place).filter(|_| is_replaced(rows.number()));
            let cells =
                rows.row().iter().enumerate().map(|(at, cell)| match other.and_then(|other| other.get(at)) {
                    Some(other) if Some(at) != id => other.as_slice(),
                    _ => cell,
                });
            add_row(cells, line)
        })
    })
}

/// Writes a table row by row.
fn rewrite<'a>(
    rows: &mut Records<'a>,
    out: &mut dyn Write,
    mut line_of: impl FnMut(&Records<'a>, &mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(rows.header_text())?;
    out.write_all(rows.line_end())?;
    let mut line = Vec::new();
    while rows.next()? {
        line.clear();
        line_of(rows, &mut line)?;
        out.write_all(&line)?;
        out.write_all(rows.line_end())?;
    }
    Ok(())
}

fn is_labelled(rows: &Records<'_>, columns: &[usize], words: Words) -> bool {
    let is_there = |cell: &[u8]| !is_missing(String::from_utf8_lossy(cell).trim(), words);
    columns.iter().all(|column| rows.row().get(*column).is_some_and(is_there))
}

/// Permutes the values of each block.
fn permute<T>(values: &mut [T], blocks: &[u32], seed: u64) {
    let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, block) in blocks.iter().enumerate() {
        places.entry(*block).or_default().push(place);
    }
    for (block, places) in places {
        let seeded = Seeded::new(seed, &format!("shuffled targets {block}"));
        // Fisher-Yates.
        for last in (1..places.len()).rev() {
            let other = seeded.below(last as u64 + 1, last as u64);
            values.swap(places[last], places[usize::try_from(other).unwrap_or(last)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let train: String = (0..200).map(|row| format!("{row},\"a, {row}\",{}\r\n", row % 7)).collect();
        fs::write(dir.path().join("train.csv"), format!("id,x,y\r\n{train}201,d, NA\r\n200,b,\r\n")).unwrap();
        let test: String = (300..400).map(|row| format!("{row},c {row}\n")).collect();
        fs::write(dir.path().join("test.csv"), format!("id,x\n{test}")).unwrap();
        fs::write(dir.path().join("sample_submission.csv"), "id,y\n300,0\n").unwrap();
        dir
    }

    fn cells(text: &str, column: usize) -> Vec<String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.records().map(|row| row.unwrap()[column].to_owned()).collect()
    }

    #[test]
    fn targets_are_permuted_and_nothing_else_changes() {
        let (dir, into) = (folder(), tempfile::tempdir().unwrap());
        let into = into.path().join("shuffled");
        let Shuffled { table, blocks } =
            shuffle_targets(dir.path(), (&["y".to_owned()], Words::default()), None, 7, &into).unwrap();
        assert_eq!(blocks, [0; 200]);
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        let (before, after) = (read(&dir.path().join("train.csv")), read(&table));
        assert!(after.starts_with("id,x,y\r\n") && after.ends_with("201,d, NA\r\n200,b,\r\n"), "{after}");
        assert_eq!((cells(&before, 0), cells(&before, 1)), (cells(&after, 0), cells(&after, 1)));
        let (mut old, mut new) = (cells(&before, 2), cells(&after, 2));
        let moved = old.iter().zip(&new).filter(|(old, new)| old != new).count();
        assert!((120..200).contains(&moved), "{moved}");
        old.sort();
        new.sort();
        assert_eq!(old, new);
        assert_eq!(read(&into.join("test.csv")), read(&dir.path().join("test.csv")));
    }

    #[test]
    fn half_of_the_test_rows_become_others_and_keep_their_ids() {
        let (dir, into) = (folder(), tempfile::tempdir().unwrap());
        let into = into.path().join("replaced");
        let table = replace_test_rows(dir.path(), Some("id"), 7, &into).unwrap();
        let before = fs::read_to_string(dir.path().join("test.csv")).unwrap();
        let after = fs::read_to_string(table).unwrap();
        assert_eq!(cells(&before, 0), cells(&after, 0));
        let (old, new) = (cells(&before, 1), cells(&after, 1));
        let changed = old.iter().zip(&new).filter(|(old, new)| old != new).count();
        assert!((35..65).contains(&changed), "{changed}");
        assert!(new.iter().all(|cell| old.contains(cell)), "{new:?}");
    }
}

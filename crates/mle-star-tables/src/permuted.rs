//! A data folder whose test table is copies of labelled rows: one as they are, then one for each column and repetition, in
//! which that column is permuted.
//!
//! One run of a script on it predicts all copies, so that the importance of every column takes one fit. The same folder
//! gives the same copies.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use serde::Serialize;

use crate::folder::{self, Listing, Source};
use crate::missing::Words;
use crate::records::{self, Records, add_row, value, write_row};
use crate::seeded::Seeded;
use crate::walk;

/// How often a column is permuted at most.
const REPETITIONS: usize = 5;
/// The most rows of all copies together, and the most cells.
const MOST_ROWS: usize = 200_000;
const MOST_CELLS: usize = 20_000_000;
/// Fewer rows than this tell nothing, if there are more.
const FEWEST_ROWS: usize = 100;
/// Every run permutes the same way.
const SEED: u64 = 1;
const HINT: &str = "check that the disk is not full and that the data folder did not change";

/// The rows to copy.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    /// A table with the IDs of the rows.
    pub file: &'a Path,
    /// The column with the IDs, in this table, the test table and the sample submission.
    pub id: &'a str,
    /// The columns that are not permuted beside it: a group, a time, weights.
    pub kept: &'a [String],
}

/// Copies of labelled rows of a test table.
#[derive(Debug, Serialize)]
pub struct Copies {
    /// The IDs of the rows in their order, the same in each copy.
    pub ids: Vec<String>,
    /// The columns that are permuted, in the order of the table.
    pub columns: Vec<String>,
    /// How often each of them is. After the copy as it is, there are so many copies for the first column, then for the next.
    pub repetitions: usize,
    /// The cells of the rows.
    #[serde(skip)]
    rows: Vec<Vec<Vec<u8>>>,
    #[serde(skip)]
    header: Vec<String>,
    #[serde(skip)]
    id_at: usize,
    #[serde(skip)]
    test: Source,
    #[serde(skip)]
    sample: Source,
    /// The first of the new IDs; `None` if the copies keep theirs.
    #[serde(skip)]
    new_ids: Option<u64>,
}

impl Copies {
    /// The copies of these rows of the test table of `data_dir`.
    ///
    /// # Errors
    /// A table cannot be read, or there is nothing to permute. The text is one clause that tells why.
    pub fn of(data_dir: &Path, labelled: &Labelled<'_>) -> Result<Self, Trouble> {
        Self::read(data_dir, labelled).map_err(|error| Trouble::new(error.to_string(), HINT))
    }

    fn read(data_dir: &Path, labelled: &Labelled<'_>) -> io::Result<Self> {
        let listing = folder::list(data_dir).map_err(|trouble| io::Error::other(trouble.message))?;
        let (Some(test), Some(sample)) = (listing.test.clone(), listing.sample.clone()) else {
            return Err(io::Error::other("the data has no test table with a sample submission"));
        };
        let wanted = ids(labelled)?;
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        let (header, id_at) = records::read(data_dir, &test, |mut table| {
            let at = table.position(labelled.id)?;
            while table.next()? {
                if let Some(id) = value(table.row(), at, Words::ALL).filter(|id| wanted.contains(*id)) {
                    ids.push(id.to_owned());
                    rows.push(table.row().iter().map(<[u8]>::to_vec).collect::<Vec<_>>());
                }
            }
            Ok((table.names(), at))
        })?;
        let is_kept = |name: &String| labelled.kept.contains(name);
        let columns: Vec<String> = (0..)
            .zip(&header)
            .filter(|(at, name)| *at != id_at && !is_kept(name))
            .map(|(_, name)| name.clone())
            .collect();
        let (most, repetitions) = fitting(rows.len(), columns.len(), header.len())?;
        let chosen = first_by(most, rows.len());
        let taken = |at: usize| chosen.contains(&at);
        let mut place = 0..;
        rows.retain(|_| place.next().is_some_and(taken));
        let mut place = 0..;
        ids.retain(|_| place.next().is_some_and(taken));
        let new_ids = new_ids(data_dir, &listing, labelled.id)?;
        Ok(Self { ids, columns, repetitions, rows, header, id_at, test, sample, new_ids })
    }

    /// The number of copies.
    pub fn count(&self) -> usize {
        1 + self.columns.len() * self.repetitions
    }

    /// Makes `into` a copy of `data_dir` with these copies in place of the test table, and a sample submission for them.
    /// Everything else is linked. Returns the name of the sample submission.
    ///
    /// # Errors
    /// The data cannot be read, or the folder cannot be written.
    pub fn write(&self, data_dir: &Path, into: &Path) -> Result<PathBuf, Trouble> {
        let trouble = |error: io::Error| Trouble::new(format!("cannot write copies of rows: {error}"), HINT);
        self.fill(data_dir, into).map_err(trouble)?;
        Ok(into.join(&self.sample.file))
    }

    fn fill(&self, data_dir: &Path, into: &Path) -> io::Result<()> {
        fs::create_dir_all(into)?;
        let (test, sample) = (&self.test.file, &self.sample.file);
        walk::link(data_dir, into, |name| *name == **test || *name == **sample)?;
        let mut line = Vec::new();
        let mut out = BufWriter::new(File::create(into.join(test))?);
        write_row(&mut line, &mut out, self.header.iter().map(String::as_bytes))?;
        let order: Vec<usize> = (0..self.rows.len()).collect();
        self.write_copy(&mut out, 0, None, &order)?;
        for (nth, name) in self.columns.iter().enumerate() {
            let column = self.header.iter().position(|one| one == name);
            for again in 0..self.repetitions {
                let order = permuted(self.rows.len(), &format!("{name} {again}"));
                self.write_copy(&mut out, 1 + nth * self.repetitions + again, column, &order)?;
            }
        }
        out.flush()?;
        self.write_sample(data_dir, &into.join(sample))
    }

    /// The cells of a copy in which this column has the cells of other rows.
    fn write_copy(
        &self,
        out: &mut impl Write,
        copy: usize,
        column: Option<usize>,
        order: &[usize],
    ) -> io::Result<()> {
        let mut line = Vec::new();
        for (row, cells) in self.rows.iter().enumerate() {
            let id = self.new_id(copy, row);
            let cells = cells.iter().enumerate().map(|(at, cell)| match &id {
                Some(id) if at == self.id_at => id.as_bytes(),
                _ if Some(at) == column => self.rows[order[row]].get(at).unwrap_or(cell),
                _ => cell,
            });
            write_row(&mut line, out, cells)?;
        }
        Ok(())
    }

    fn new_id(&self, copy: usize, row: usize) -> Option<String> {
        self.new_ids.map(|first| (first + (copy * self.rows.len() + row) as u64).to_string())
    }

    fn write_sample(&self, data_dir: &Path, file: &Path) -> io::Result<()> {
        let id = &self.header[self.id_at];
        let mut of_id: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
        let (header, at) = records::read(data_dir, &self.sample, |mut table| {
            let at = table.position(id)?;
            while table.next()? {
                let cells = table.row().iter().map(<[u8]>::to_vec).collect();
                if let Some(id) = value(table.row(), at, Words::ALL) {
                    of_id.insert(id.to_owned(), cells);
                }
            }
            Ok((table.header_text().to_vec(), at))
        })?;
        let mut out = BufWriter::new(File::create(file)?);
        out.write_all(&header)?;
        out.write_all(b"\n")?;
        let mut line = Vec::new();
        for copy in 0..self.count() {
            for (row, own) in self.ids.iter().enumerate() {
                let cells =
                    of_id.get(own).ok_or_else(|| io::Error::other(format!("the sample lacks row {own}")))?;
                let new = self.new_id(copy, row);
                line.clear();
                let cells = cells.iter().enumerate().map(|(column, cell)| match &new {
                    Some(new) if column == at => new.as_bytes(),
                    _ => cell.as_slice(),
                });
                add_row(cells, &mut line)?;
                line.push(b'\n');
                out.write_all(&line)?;
            }
        }
        out.flush()
    }
}

/// The IDs of a table.
fn ids(labelled: &Labelled<'_>) -> io::Result<HashSet<String>> {
    let mut file = File::open(labelled.file)?;
    let mut table = Records::new(&mut file)?;
    let at = table.position(labelled.id)?;
    let mut ids = HashSet::new();
    while table.next()? {
        ids.extend(value(table.row(), at, Words::ALL).map(str::to_owned));
    }
    Ok(ids)
}

/// How many of these rows are copied, and how often a column is permuted, so that the copies stay small.
fn fitting(rows: usize, columns: usize, width: usize) -> io::Result<(usize, usize)> {
    if rows == 0 || columns == 0 {
        return Err(io::Error::other("the test table has no row or no column to permute"));
    }
    let budget = MOST_ROWS.min(MOST_CELLS / width.max(1));
    let most = budget / (1 + columns);
    if most < rows.min(FEWEST_ROWS) {
        return Err(io::Error::other(format!(
            "the table has {columns} columns, too many to permute each of them for {} rows",
            rows.min(FEWEST_ROWS)
        )));
    }
    let rows = rows.min(most);
    Ok((rows, ((budget / rows - 1) / columns).clamp(1, REPETITIONS)))
}

/// So many of these rows, drawn at random.
fn first_by(most: usize, rows: usize) -> HashSet<usize> {
    permuted(rows, "rows").into_iter().take(most).collect()
}

/// The numbers below this one in random order.
fn permuted(count: usize, usage: &str) -> Vec<usize> {
    let seeded = Seeded::new(SEED, usage);
    let mut order: Vec<usize> = (0..count).collect();
    // Fisher-Yates.
    for last in (1..count).rev() {
        let other = seeded.below(last as u64 + 1, last as u64);
        order.swap(last, usize::try_from(other).unwrap_or(last));
    }
    order
}

/// The first new ID, if all IDs are whole numbers that no further table may refer to. Other IDs are repeated: they may tell
/// something.
fn new_ids(data_dir: &Path, listing: &Listing, id: &str) -> io::Result<Option<u64>> {
    let is_own = |source: &Source| source.file.as_path() == Path::new(layout::FOLDS);
    if listing.auxiliary.iter().any(|source| !is_own(source)) || !listing.other.is_empty() {
        return Ok(None);
    }
    let mut largest = 0;
    for source in [&listing.train, &listing.test].into_iter().flatten() {
        let is_numbered = records::read(data_dir, source, |mut table| {
            let Some(at) = table.find(id) else { return Ok(true) };
            while table.next()? {
                let Some(number) = value(table.row(), at, Words::default()).and_then(plain_number) else {
                    return Ok(false);
                };
                largest = largest.max(number);
            }
            Ok(true)
        })?;
        if !is_numbered {
            return Ok(None);
        }
    }
    Ok(Some(largest + 1).filter(|first| *first < u64::from(u32::MAX / 2)))
}

/// A whole number as it is usually written.
fn plain_number(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().filter(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(file: &Path) -> Vec<Vec<String>> {
        let mut reader = csv::Reader::from_path(file).unwrap();
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
    }

    /// Rows 10 to 29 of the test table are labelled.
    fn check(id: impl Fn(usize) -> String, further: bool, first_new: Option<&str>) {
        let (dir, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: String| fs::write(dir.path().join(name), text).unwrap();
        let lines = |rows: std::ops::Range<usize>, line: &dyn Fn(usize) -> String| -> String {
            rows.map(|row| format!("{},{}\n", id(row), line(row))).collect()
        };
        write("train.csv", format!("id,a,b,g,y\n{}", lines(100..200, &|row| format!("{row},x,1,0"))));
        write("test.csv", format!("id,a,b,g\n{}", lines(0..30, &|row| format!("{row},\"b, {row}\",{row}"))));
        write("sample_submission.csv", format!("id,y\n{}", lines(0..30, &|_| "0.5".to_owned())));
        write("labels.csv", format!("id,y\n{}", lines(10..30, &|_| "1".to_owned())));
        let labels = dir.path().join("labels.csv");
        let elsewhere = into.path().join("labels.csv");
        fs::rename(labels, &elsewhere).unwrap();
        if further {
            write("orders.csv", "id,n\n1,2\n".to_owned());
        }
        let kept = ["g".to_owned()];
        let labelled = Labelled { file: &elsewhere, id: "id", kept: &kept };
        let copies = Copies::of(dir.path(), &labelled).unwrap();
        assert_eq!(
            (copies.columns.as_slice(), copies.repetitions),
            (["a".to_owned(), "b".to_owned()].as_slice(), 5)
        );
        assert_eq!((copies.ids.len(), copies.count()), (20, 11));
        let folder = into.path().join("data");
        let sample = cells(&copies.write(dir.path(), &folder).unwrap());
        let test = cells(&folder.join("test.csv"));
        assert_eq!((test.len(), sample.len()), (220, 220));
        assert_eq!(test[0][0], first_new.map_or_else(|| id(10), str::to_owned));
        for (row, (found, wanted)) in test.iter().zip(&sample).enumerate() {
            assert_eq!(found[0], wanted[0]);
            assert_eq!(found[3], (10 + row % 20).to_string());
        }
        for copy in 0..11 {
            let of = |column: usize| -> Vec<&String> {
                test[20 * copy..20 * copy + 20].iter().map(|row| &row[column]).collect()
            };
            let moved = |column: usize| {
                of(column).iter().zip(0..20).filter(|(cell, row)| **cell != &test[*row][column]).count()
            };
            assert_eq!((moved(1) > 10, moved(2) > 10), ((1..6).contains(&copy), copy > 5), "{copy}");
            let mut sorted = of(1);
            sorted.sort();
            assert_eq!(sorted.len(), 20);
            assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]));
        }
        assert!(folder.join("train.csv").exists());
    }

    #[test]
    fn each_copy_permutes_one_column_and_keeps_the_others() {
        check(|row| row.to_string(), false, Some("200"));
        check(|row| row.to_string(), true, None);
        check(|row| format!("p{row}_x"), false, None);
        check(|row| format!("{row:05}"), false, None);
    }
}

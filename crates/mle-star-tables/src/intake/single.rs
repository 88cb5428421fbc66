//! Takes the test rows of a single table.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use mle_star_domain::protocol::{Holdout, Split};
use mle_star_domain::trouble::Trouble;

use super::row_ids::free_name;
use super::sample::Sample;
use crate::holdout::choice::{Chosen, choose};
use crate::holdout::{Off, Share};
use crate::labelled::Labelled;
use crate::profile::Profile;
use crate::records::{self, value, write_row};
use crate::table::Table;

/// By which rules test rows are taken from a single table.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// The table as the user calls it.
    pub name: &'a str,
    /// The columns to predict.
    pub targets: &'a [&'a str],
    /// The column with the row IDs; `None`: rows have their numbers.
    pub id: Option<&'a str>,
    /// The name of the metric.
    pub metric: &'a str,
    /// The column with the weights of rows.
    pub weight: Option<&'a str>,
    /// How the test rows shall differ from the training rows.
    pub split: &'a Split,
    /// The share of the labelled rows, between 0 and 1.
    pub share: f64,
    /// What chooses the rows.
    pub seed: u64,
}

/// The test rows of a single table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// How they differ from the training rows.
    pub split: Split,
    /// How many they are.
    pub holdout: Holdout,
    /// The column with the row IDs.
    pub id: String,
    /// The rows without a label, which are in neither table.
    pub unlabelled: u64,
    /// The words that stand for a missing label in them.
    pub words: BTreeSet<String>,
}

/// The files that are written.
struct Files {
    train: BufWriter<File>,
    test: BufWriter<File>,
    sample: BufWriter<File>,
    labels: BufWriter<File>,
    line: Vec<u8>,
}

/// Divides the training table in `folder` into a training table, a test table and a sample submission there, and writes the
/// labels of the test rows to `labels`, which only this user may read. Rows without a label are in neither table.
///
/// # Errors
/// Too few rows, groups or times for two tables; two rows with the same ID; files that cannot be written.
pub fn draw(profile: &Profile, draw: &Draw<'_>, folder: &Path, labels: &Path) -> Result<Drawn, Trouble> {
    let train = profile.tables.train().map_err(|error| unwritable(folder, &error))?;
    let is_number = |name: &str| profile.train.column(name).is_some_and(|column| column.kind.is_number());
    let targets = draw.targets.iter().map(|name| (*name, is_number(name))).collect();
    let of = Labelled { train, targets, id: draw.id };
    check_ids(train, draw)?;
    let share = Share::Of(draw.share, u64::MAX);
    let chosen = choose(profile, &of, draw.split, share, draw.seed).map_err(|off| too_few(draw, off))?;
    let id = draw.id.map_or_else(|| free_name(&[train]), str::to_owned);
    let sample =
        Sample::of(profile, draw.targets, draw.metric).map_err(|error| unwritable(folder, &error))?;
    let unlabelled = write(train, draw, &chosen, &id, &sample, (folder, labels));
    let (unlabelled, words) = unlabelled.map_err(|error| unwritable(folder, &error))?;
    let Chosen { rows, labelled, digest, .. } = chosen;
    let why = format!(
        "{rows} of the {labelled} labelled rows of {} are the test table: {}",
        draw.name,
        draw.split.words()
    );
    Ok(Drawn {
        split: Split { why, ..draw.split.clone() },
        holdout: Holdout::Test { rows, of: labelled, seed: draw.seed, digest },
        id,
        unlabelled,
        words,
    })
}

fn check_ids(train: &Table, draw: &Draw<'_>) -> Result<(), Trouble> {
    let Some(id) = draw.id else { return Ok(()) };
    let digests = train.digests(id, |row| records::digest(row.cell(0)));
    let digests = digests.map_err(|error| unwritable(Path::new(draw.name), &error))?;
    if digests.windows(2).all(|pair| pair[0] != pair[1]) {
        return Ok(());
    }
    let message = format!("a value of `{id}` occurs twice in {}, so it does not name rows", draw.name);
    Err(Trouble::new(message, "leave --id-column out: rows are then named by their numbers"))
}

fn too_few(draw: &Draw<'_>, Off(why): Off) -> Trouble {
    let name = draw.name;
    let message = format!("no test rows can be taken from {name}: {why}");
    Trouble::new(
        message,
        "give more rows, another --test-share, or a test table: a folder with train and test",
    )
}

/// Writes all files; returns the number of rows without a label, and the words that they have instead.
fn write(
    train: &Table,
    draw: &Draw<'_>,
    chosen: &Chosen,
    id: &str,
    sample: &Sample,
    (folder, labels): (&Path, &Path),
) -> io::Result<(u64, BTreeSet<String>)> {
    let plain = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
    let secret = OpenOptions::new().write(true).create_new(true).mode(0o600).open(labels)?;
    let mut files = Files {
        train: plain(PARTIAL)?,
        test: plain("test.csv")?,
        sample: plain("sample_submission.csv")?,
        labels: BufWriter::new(secret),
        line: Vec::new(),
    };
    let targets = train.positions(draw.targets.iter().copied())?;
    let of_labels: Vec<usize> = {
        let further = train.positions(draw.split.cluster().into_iter().chain(draw.weight))?;
        targets.iter().copied().chain(further).collect()
    };
    let own_id = draw.id.map(|id| train.position(id)).transpose()?;
    let (folder_of, source) = (train.folder(), train.source());
    let unlabelled = records::read(folder_of, source, |mut rows| {
        let header = rows.header().clone();
        files.header(&header, own_id.is_none().then_some(id), (&targets, &of_labels), (id, sample))?;
        let (mut unlabelled, mut words) = (0, BTreeSet::new());
        while rows.next()? {
            let (row, number) = (rows.row(), rows.number().to_string());
            let made = own_id.is_none().then_some(number.as_bytes());
            let named = own_id.map_or(number.as_bytes(), |id| &row[id]);
            if chosen.held.contains(rows.number()) {
                files.test_row(row, made, (&targets, &of_labels), (named, sample))?;
            } else if targets.iter().any(|target| value(row, *target, train.kept(*target)).is_some()) {
                files.train_row(row, made)?;
            } else {
                unlabelled += 1;
                let cells =
                    targets.iter().map(|target| String::from_utf8_lossy(&row[*target]).trim().to_owned());
                words.extend(cells.filter(|cell| !cell.is_empty()));
            }
        }
        Ok((unlabelled, words))
    })?;
    files.flush()?;
    fs::rename(folder.join(PARTIAL), folder.join("train.csv"))?;
    Ok(unlabelled)
}

/// The name of the training table before it is complete: hidden files are no data.
const PARTIAL: &str = ".train.csv.part";

impl Files {
    fn header(
        &mut self,
        header: &csv::ByteRecord,
        made: Option<&str>,
        (targets, of_labels): (&[usize], &[usize]),
        (id, sample): (&str, &Sample),
    ) -> io::Result<()> {
        self.train_row(header, made.map(str::as_bytes))?;
        let id = id.as_bytes();
        write_row(
            &mut self.line,
            &mut self.test,
            made.map(str::as_bytes).into_iter().chain(without(header, targets)),
        )?;
        write_row(&mut self.line, &mut self.sample, [id].into_iter().chain(sample.names()))?;
        write_row(
            &mut self.line,
            &mut self.labels,
            [id].into_iter().chain(of_labels.iter().map(|at| &header[*at])),
        )
    }

    fn train_row(&mut self, row: &csv::ByteRecord, made: Option<&[u8]>) -> io::Result<()> {
        write_row(&mut self.line, &mut self.train, made.into_iter().chain(row))
    }

    fn test_row(
        &mut self,
        row: &csv::ByteRecord,
        made: Option<&[u8]>,
        (targets, of_labels): (&[usize], &[usize]),
        (id, sample): (&[u8], &Sample),
    ) -> io::Result<()> {
        write_row(&mut self.line, &mut self.test, made.into_iter().chain(without(row, targets)))?;
        write_row(&mut self.line, &mut self.sample, [id].into_iter().chain(sample.values()))?;
        write_row(
            &mut self.line,
            &mut self.labels,
            [id].into_iter().chain(of_labels.iter().map(|at| &row[*at])),
        )
    }

    fn flush(&mut self) -> io::Result<()> {
        [&mut self.train, &mut self.test, &mut self.sample, &mut self.labels]
            .into_iter()
            .try_for_each(Write::flush)
    }
}

fn without<'a>(row: &'a csv::ByteRecord, targets: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    row.iter().enumerate().filter(|(at, _)| !targets.contains(at)).map(|(_, cell)| cell)
}

fn unwritable(folder: &Path, error: &io::Error) -> Trouble {
    Trouble::new(
        format!("cannot write the tables in {}: {error}", folder.display()),
        "check that the disk is not full and that the table did not change",
    )
}

//! Makes the sample submission of a task that has none.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::metrics::{Kind, Metric};
use mle_star_domain::trouble::Trouble;

use super::row_ids::free_name;
use crate::profile::{Column, Profile, ROWS_LOOKED_AT};
use crate::records::{self, write_row};
use crate::table::Table;

/// The columns of a sample submission after the row ID, each with the value of all rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample(Vec<(String, String)>);

impl Sample {
    /// The columns that the metric asks for: the targets, the bounds of one for a metric of intervals, or its classes if the metric
    /// is about their probabilities and they are more than two.
    pub(super) fn of(profile: &Profile, targets: &[&str], metric: &str) -> io::Result<Self> {
        let metric = Metric::parse(metric);
        let wants_probabilities = metric.is_some_and(Metric::wants_probabilities);
        let column = |name: &str| profile.train.column(name);
        if let ([only], Some(Kind::Intervals)) = (targets, metric.map(Metric::kind)) {
            let bound = |name: &str| (format!("{only}_{name}"), "0".to_owned());
            return Ok(Self(["lower", "upper"].map(bound).into()));
        }
        // Of large tables, only some rows were looked at.
        let may_be_several = |column: &Column| column.distinct > 2 || profile.train.rows > ROWS_LOOKED_AT;
        let classes = match targets {
            [only] if wants_probabilities && column(only).is_some_and(may_be_several) => {
                classes(profile.tables.train()?, only)?
            }
            _ => BTreeSet::new(),
        };
        if classes.len() > 2 {
            let share = format!("{:.6}", 1.0 / classes.len() as f64);
            return Ok(Self(classes.into_iter().map(|class| (class, share.clone())).collect()));
        }
        let value = |column: Option<&Column>| {
            let usual = || {
                let labels =
                    || column.into_iter().flat_map(|column| &column.top_values).map(|(value, _)| value);
                // Among labels such as `007`, one that is no number says that they are text.
                labels().find(|label| label.parse::<f64>().is_err()).or_else(|| labels().next()).cloned()
            };
            let is_number = column.is_some_and(|column| column.kind.is_number());
            match metric.map(Metric::kind) {
                _ if wants_probabilities => "0.5".to_owned(),
                Some(Kind::Labels) => usual().unwrap_or_default(),
                None if !is_number => usual().unwrap_or_default(),
                _ => "0".to_owned(),
            }
        };
        Ok(Self(targets.iter().map(|name| ((*name).to_owned(), value(column(name)))).collect()))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|(name, _)| name.as_bytes())
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|(_, value)| value.as_bytes())
    }
}

fn classes(train: &Table, target: &str) -> io::Result<BTreeSet<String>> {
    let mut classes = BTreeSet::new();
    train.each(&[train.position(target)?], |row| {
        classes.extend(row.value(0).map(str::to_owned));
        true
    })?;
    Ok(classes)
}

/// What was made for a test table without a sample submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The column with the row IDs.
    pub id: String,
    /// Whether it was made, too: the tables had none.
    pub has_made_ids: bool,
}

/// Writes the sample submission of a task with a training and a test table into `folder`. Where they have no ID column, both
/// get one, there: the row number of the test table, which the training table goes on counting from.
///
/// # Errors
/// A table cannot be read, or a file cannot be written.
pub fn make_sample(
    profile: &Profile,
    targets: &[&str],
    id: Option<&str>,
    metric: &str,
    folder: &Path,
) -> Result<Made, Trouble> {
    let make = || -> io::Result<Made> {
        let (train, test) = (profile.tables.train()?, profile.tables.test()?);
        let sample = Sample::of(profile, targets, metric)?;
        let name = id.map_or_else(|| free_name(&[train, test]), str::to_owned);
        let (mut file, mut line) =
            (BufWriter::new(File::create(folder.join("sample_submission.csv"))?), Vec::new());
        write_row(&mut line, &mut file, [name.as_bytes()].into_iter().chain(sample.names()))?;
        let column = id.map(|id| test.position(id)).transpose()?;
        records::read(test.folder(), test.source(), |mut rows| {
            while rows.next()? {
                let number = rows.number().to_string();
                let id = column.map_or(number.as_bytes(), |column| &rows.row()[column]);
                write_row(&mut line, &mut file, [id].into_iter().chain(sample.values()))?;
            }
            Ok(())
        })?;
        file.flush()?;
        if id.is_none() {
            number_rows(test, &name, 0, folder)?;
            number_rows(train, &name, test.rows(), folder)?;
        }
        Ok(Made { id: name, has_made_ids: id.is_none() })
    };
    make().map_err(|error| {
        let message = format!("cannot make a sample submission: {error}");
        Trouble::new(message, "check that the disk is not full and that the tables did not change")
    })
}

/// Writes a table into `folder` with a first column that counts its rows from `first`.
fn number_rows(table: &Table, name: &str, first: u64, folder: &Path) -> io::Result<()> {
    let (plain, partial) = (table.source().file.as_path(), folder.join(".numbered.part"));
    let (mut file, mut line) = (BufWriter::new(File::create(&partial)?), Vec::new());
    records::read(table.folder(), table.source(), |mut rows| {
        write_row(&mut line, &mut file, [name.as_bytes()].into_iter().chain(rows.header()))?;
        while rows.next()? {
            let number = (first + rows.number()).to_string();
            write_row(&mut line, &mut file, [number.as_bytes()].into_iter().chain(rows.row()))?;
        }
        file.flush()
    })?;
    std::fs::rename(partial, folder.join(plain))
}

//! Known rows and their predictions as text, for a metric that another program computes.

use std::collections::HashMap;
use std::io::Read;

use csv::StringRecord;

use super::evaluate::MOST_UNKNOWN;
use super::layout::{Columns, Layout, Others};
use super::rows::row_key;
use crate::bootstrap::{self, Rows};
use crate::intervals::Folds;
use crate::score::Unscorable;
use crate::table::{Table, key, listed, shown};

/// The labelled rows of a table, as text.
#[derive(Clone, Debug)]
pub struct KnownRows {
    /// The columns of the table.
    pub header: Vec<String>,
    /// The position of the column that names the rows; `None` if the row's number does, from 0.
    pub id: Option<usize>,
    /// The cells of each row.
    pub rows: Vec<StringRecord>,
    keys: Vec<u64>,
    units: Vec<u64>,
    places: HashMap<u64, usize>,
}

/// The rows of a file of predictions that are known, in the order of the known ones.
#[derive(Clone, Debug)]
pub struct PairedRows {
    /// The places of the known rows.
    pub places: Vec<usize>,
    /// Their predictions: the cells of the layout's columns.
    pub predictions: Vec<StringRecord>,
    keys: Vec<u64>,
    units: Vec<u64>,
}

impl KnownRows {
    /// The rows of a CSV table that have a label of each target.
    ///
    /// # Errors
    /// The table cannot be read or lacks a column, or an ID is missing or occurs twice.
    pub fn read(table: impl Read, columns: &Columns) -> Result<Self, Unscorable> {
        Self::read_text(table, columns).map_err(Unscorable::new)
    }

    fn read_text(table: impl Read, columns: &Columns) -> Result<Self, String> {
        let mut table = Table::open(table)?;
        let names: Vec<&str> =
            std::iter::once(&columns.target).chain(&columns.further).map(String::as_str).collect();
        let targets = table.columns(&names)?;
        let place = |name: &Option<String>| match name {
            Some(name) => table.columns(&[name]).map(|found| found.first().copied()),
            None => Ok(None),
        };
        let (id, cluster) = (place(&columns.id)?, place(&columns.cluster)?);
        let header = table.header().map(str::to_owned).collect();
        let (rows, keys, units) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = Self { header, id, rows, keys, units, places: HashMap::new() };
        let (mut row, mut number) = (StringRecord::new(), 0_u64);
        while table.read(&mut row)? {
            if !targets.iter().any(|target| columns.lacks(row.get(*target).unwrap_or_default())) {
                let row_key = row_key(&row, id, number)?;
                if known.places.insert(row_key, known.keys.len()).is_some() {
                    return Err(format!("IDs must be unique, but that of row {} occurs twice", number + 1));
                }
                known.keys.push(row_key);
                known.units.push(cluster.map_or(row_key, |at| key(row.get(at).unwrap_or_default())));
                // Without a column that names them, the number does.
                let mut row = row.clone();
                if id.is_none() {
                    row.push_field(&number.to_string());
                }
                known.rows.push(row);
            }
            number += 1;
        }
        if known.keys.is_empty() {
            return Err(format!("no row has a label in column {}", shown(&columns.target)));
        }
        Ok(known)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Which rows are in the first of two halves, those of [`Labels::halves`](super::Labels::halves).
    pub fn first_half(&self) -> Vec<bool> {
        let rows = Rows { keys: &self.keys, units: &self.units, weights: None, folds: None };
        let of = |units: &[u64]| -> Option<Vec<bool>> {
            let first = bootstrap::first_half(units)?;
            Some(units.iter().map(|unit| first.contains(unit)).collect())
        };
        of(rows.drawn()).or_else(|| of(rows.keys)).unwrap_or_else(|| vec![true; self.len()])
    }

    /// A digest of the IDs of the rows in these folds.
    pub fn digest_in(&self, folds: &Folds) -> String {
        bootstrap::digest(self.keys.iter().copied().filter(|key| folds.has(*key)).collect())
    }

    /// The first rows, at most so many, without predictions for `width` columns.
    pub fn first(&self, most: usize, width: usize) -> PairedRows {
        let count = self.len().min(most);
        let empty: StringRecord = std::iter::repeat_n("", width).collect();
        PairedRows {
            places: (0..count).collect(),
            predictions: vec![empty; count],
            keys: self.keys[..count].to_vec(),
            units: self.units[..count].to_vec(),
        }
    }

    /// The ID of a row.
    pub fn id_of(&self, place: usize) -> &str {
        let row = &self.rows[place];
        row.get(self.id.unwrap_or(row.len().saturating_sub(1))).unwrap_or_default()
    }

    /// The known rows that a CSV file of predictions has, which may have `wanted` places alone.
    ///
    /// # Errors
    /// The file cannot be read or lacks a column, an ID occurs twice or is not known, or, with [`Others::Ignore`], a wanted row has no prediction.
    pub fn paired(
        &self,
        predictions: impl Read,
        layout: &Layout<'_>,
        others: Others,
        wanted: Option<&[bool]>,
    ) -> Result<PairedRows, Unscorable> {
        self.paired_text(predictions, layout, others, wanted).map_err(Unscorable::new)
    }

    fn paired_text(
        &self,
        predictions: impl Read,
        layout: &Layout<'_>,
        others: Others,
        wanted: Option<&[bool]>,
    ) -> Result<PairedRows, String> {
        let mut table = Table::open(predictions)?;
        let names: Vec<&str> = layout.header.iter().map(String::as_str).collect();
        let columns = table.columns(&names)?;
        let id = layout
            .id_column
            .map(|id| table.columns(&[id]))
            .transpose()?
            .and_then(|found| found.first().copied());
        let mut found: Vec<Option<StringRecord>> = vec![None; self.len()];
        let (mut unknown, mut unknown_count): (Vec<String>, usize) = (Vec::new(), 0);
        let (mut row, mut number) = (StringRecord::new(), 0_u64);
        while table.read(&mut row)? {
            let name =
                id.map_or_else(|| number.to_string(), |id| row.get(id).unwrap_or_default().trim().to_owned());
            number += 1;
            let Some(place) = self.places.get(&key(&name)) else {
                unknown_count += 1;
                if unknown.len() < MOST_UNKNOWN {
                    unknown.push(name);
                }
                continue;
            };
            let cells = columns.iter().map(|column| row.get(*column).unwrap_or_default()).collect();
            if found[*place].replace(cells).is_some() {
                return Err(format!("the ID {} occurs more than once", shown(&name)));
            }
        }
        if number == 0 {
            return Err("the file has no rows".to_owned());
        }
        if others == Others::Reject && unknown_count > 0 {
            return Err(format!(
                "{unknown_count} rows have an ID that is not expected, for example {}",
                listed(&unknown)
            ));
        }
        let is_wanted = |place: usize| wanted.is_none_or(|wanted| wanted[place]);
        let rows = (0..self.len()).filter(|place| is_wanted(*place)).count();
        let present =
            |(place, row): (usize, Option<StringRecord>)| Some((place, row.filter(|_| is_wanted(place))?));
        let (places, predictions): (Vec<usize>, Vec<StringRecord>) =
            found.into_iter().enumerate().filter_map(present).unzip();
        if places.is_empty() {
            return Err(format!(
                "no row has the ID of a labelled row; the IDs in the file are {}",
                listed(&unknown)
            ));
        }
        if others == Others::Ignore && places.len() < rows {
            return Err(format!("{} of {rows} rows that need a prediction have none", rows - places.len()));
        }
        let pick = |all: &[u64]| places.iter().map(|place| all[*place]).collect();
        Ok(PairedRows { keys: pick(&self.keys), units: pick(&self.units), places, predictions })
    }
}

impl PairedRows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The keys of the rows, and what draws them.
    pub fn drawn(&self) -> Rows<'_> {
        Rows { keys: &self.keys, units: &self.units, weights: None, folds: None }
    }
}

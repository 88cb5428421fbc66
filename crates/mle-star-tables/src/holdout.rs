//! Labelled rows that no script sees before the final choice.
//!
//! [`plan`] chooses the rows of the training table. [`write()`] makes the data folder that scripts see: there these rows
//! are in the test table and in the sample submission, without their labels, which [`labels`] writes elsewhere.
//! [`trim()`] takes their predictions out of a submission again.

mod checks;
pub(crate) mod choice;
mod copies;
mod last_fold;
mod off;
mod period;
mod places;
mod tables;
mod trim;
pub(crate) mod write;

use mle_star_domain::protocol::{Holdout, Split, SplitKind};

use super::periods::Timeline;
use super::profile::Profile;
use super::seeded::RowSet;
use choice::Chosen;

pub use choice::Share;
pub use last_fold::plan_last_fold;
pub use off::Off;
pub use tables::Roles;
pub use trim::trim;
pub use write::{labels, write, write_with};

/// The usual greatest number of rows that are held out.
pub const MOST: u64 = 20_000;

/// The rows that are held out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    targets: Vec<String>,
    id: String,
    /// The column whose equal values make rows dependent.
    by: Option<String>,
    /// The column with the weights of rows.
    weight: Option<String>,
    rows: u64,
    labelled: u64,
    seed: u64,
    digest: String,
    held: RowSet,
    /// Rows that are in no table of the search.
    left_out: RowSet,
    /// Held-out rows are earlier than all test rows.
    come_first: bool,
    /// The held-out rows are the whole test table of the search.
    is_period: bool,
    test_rows: u64,
}

/// Chooses the labelled rows that are held out: they differ from the rows that remain as `split` says that test rows
/// differ from training rows. The same tables, split, share and seed give the same rows on every machine.
///
/// # Errors
/// No rows can be held out, or the training table has too few labelled rows.
pub fn plan(
    profile: &Profile,
    roles: &Roles<'_>,
    split: &Split,
    share: Share,
    seed: u64,
) -> Result<Plan, Off> {
    let tables = checked(profile, roles)?;
    let chosen = choice::choose(profile, &tables.labelled(), split, share, seed)?;
    Ok(Plan::new(&tables, chosen, (roles, split), seed))
}

/// Chooses the rows of the last period of the training time, which become the whole test table of the search. The share only
/// says whether rows are held out.
///
/// # Errors
/// No rows can be held out, or the training table has too few labelled rows.
pub fn plan_period(
    profile: &Profile,
    roles: &Roles<'_>,
    (split, timeline): (&Split, &Timeline),
    share: Share,
    seed: u64,
) -> Result<Plan, Off> {
    let tables = checked(profile, roles)?;
    let chosen = period::choose(&tables.labelled(), timeline, share, (seed, tables.test_rows))?;
    let by = split.cluster_of(timeline.folds(true).len() + 1).map(str::to_owned);
    Ok(Plan { is_period: true, by, ..Plan::new(&tables, chosen, (roles, split), seed) })
}

/// The tables, if their rows can be held out.
fn checked<'a>(profile: &'a Profile, roles: &Roles<'a>) -> Result<tables::Tables<'a>, Off> {
    let tables = tables::tables(profile, roles)?;
    checks::files(&profile.tables, &tables)?;
    checks::ids(&tables)?;
    places::check(profile, &tables)?;
    Ok(tables)
}

impl Plan {
    fn new(
        tables: &tables::Tables<'_>,
        chosen: Chosen,
        (roles, split): (&Roles<'_>, &Split),
        seed: u64,
    ) -> Self {
        Self {
            targets: tables.targets.iter().map(|(name, _)| (*name).to_owned()).collect(),
            id: tables.id.to_owned(),
            by: split.cluster_of(0).map(str::to_owned),
            weight: roles.weight.map(str::to_owned),
            rows: chosen.rows,
            labelled: chosen.labelled,
            seed,
            digest: chosen.digest,
            held: chosen.held,
            left_out: chosen.left_out,
            come_first: split.kind == SplitKind::Time,
            is_period: false,
            test_rows: tables.test_rows,
        }
    }

    /// The number of rows that are held out.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of labelled rows in the training table.
    pub fn labelled(&self) -> u64 {
        self.labelled
    }

    /// The seed that chose the rows.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A digest of the IDs of the rows.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The numbers of the rows, from 0.
    fn held_rows(&self) -> Vec<u64> {
        self.held.rows().collect()
    }

    /// The number of rows that the training table of the search lacks.
    pub fn removed(&self) -> u64 {
        self.rows + self.left_out.rows().count() as u64
    }

    /// Whether the held-out rows are the whole test table of the search.
    pub fn is_period(&self) -> bool {
        self.is_period
    }

    /// Whether scripts of the search have the row with this number, from 0, in their training table.
    pub(crate) fn leaves(&self, row: u64) -> bool {
        !self.held.contains(row) && !self.left_out.contains(row)
    }

    /// The rows as the evaluation protocol names them.
    pub fn holdout(&self) -> Holdout {
        Holdout::On {
            rows: self.rows,
            of: self.labelled,
            seed: self.seed,
            digest: self.digest.clone(),
            period: self.is_period,
        }
    }
}

impl From<Off> for Holdout {
    fn from(Off(why): Off) -> Self {
        Self::Off { why }
    }
}

#[cfg(test)]
mod tests;

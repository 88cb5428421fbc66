//! The rows of the last validation fold, held out after the search.

use std::collections::HashSet;

use blake3::Hasher;
use mle_star_domain::protocol::SplitKind;

use super::choice::{Chosen, Share};
use super::off::{Off, off, unreadable};
use super::tables::{Roles, Tables};
use super::{Plan, checked, plan_period};
use crate::folds::{self, FoldBasis};
use crate::labelled::Parts;
use crate::own_folds::OwnFolds;
use crate::profile::Profile;
use crate::records::digest;
use crate::seeded::RowSet;

/// Fewer rows tell nothing.
const FEWEST: u64 = 10;
/// With fewer folds of the user's, too few are left to validate with.
const FEWEST_GIVEN: u8 = 3;

/// The plan that holds out the rows of the last fold: the last period, if the split is by time.
///
/// Nothing depends on them but what is told of a script that is final, so they may be fewer than rows that decide.
///
/// # Errors
/// They cannot be held out.
pub fn plan_last_fold(profile: &Profile, weight: Option<&str>, by: &FoldBasis<'_>) -> Result<Plan, Off> {
    let roles = Roles { target: Some(by.target), id: by.id, weight };
    if let (SplitKind::Time, Some(timeline), None) = (by.split.kind, by.timeline, by.own) {
        return plan_period(profile, &roles, (by.split, timeline), Share::Of(0.5, u64::MAX), by.seed);
    }
    if let Some(count) = by.own.map(OwnFolds::count).filter(|count| *count < FEWEST_GIVEN) {
        return off(format!("only {count} folds are given; {FEWEST_GIVEN} are needed"));
    }
    let tables = checked(profile, &roles)?;
    let chosen = choose(profile, &tables, by)?;
    Ok(Plan::new(&tables, chosen, (&roles, by.split), by.seed))
}

fn choose(profile: &Profile, tables: &Tables<'_>, by: &FoldBasis<'_>) -> Result<Chosen, Off> {
    let cannot = |error: &_| unreadable(tables.train, error);
    let folds = folds::of_all_rows(profile, by).map_err(|error| cannot(&error))?;
    let last = folds.iter().flatten().max().copied();
    let is_last = |row: u64| {
        let fold = usize::try_from(row).ok().and_then(|row| folds.get(row).copied().flatten());
        fold.is_some() && fold == last
    };
    let labelled = tables.labelled();
    let mut remaining = HashSet::new();
    let by_class = by.split.kind == SplitKind::Stratified;
    let each = labelled.each(&Parts::default(), |row| {
        if by_class && !is_last(row.number) {
            remaining.insert(digest(row.label));
        }
    });
    let all = each.map_err(|error| cannot(&error))?;
    let (mut rows, mut held, mut hasher) = (0, RowSet::default(), Hasher::new());
    let each = labelled.each(&Parts::default(), |row| {
        // A script cannot learn a class that it does not see.
        if is_last(row.number) && (!by_class || remaining.contains(&digest(row.label))) {
            rows += 1;
            held.insert(row.number);
            hasher.update(row.id.as_bytes()).update(b"\n");
        }
    });
    each.map_err(|error| cannot(&error))?;
    if rows < FEWEST {
        return off(format!("the last fold has only {rows} rows; {FEWEST} are needed"));
    }
    let digest = hasher.finalize().to_hex().to_string();
    Ok(Chosen { rows, labelled: all, digest, held, left_out: RowSet::default() })
}

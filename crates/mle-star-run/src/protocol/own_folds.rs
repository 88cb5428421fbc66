//! Folds that the user gives.

use mle_star_domain::config::{Config, Preset};
use mle_star_domain::protocol::{GivenFolds, Split, SplitKind};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::own_folds::OwnFolds;
use mle_star_tables::profile::Profile;

use super::evaluated::Evaluated;

/// The folds that the user gives, checked against the labelled rows; `None` if the user gives none.
///
/// # Errors
/// They do not fit the labelled rows, or another setting contradicts them.
pub(super) fn own_folds(
    task: Evaluated<'_>,
    config: &Config,
    profile: Option<&Profile>,
) -> Result<Option<GivenFolds>, Trouble> {
    let Some(from) = task.folds else { return Ok(None) };
    if task.time.is_some() {
        let message = "`folds` and `time_column` both say which rows are validated";
        return Err(Trouble::new(message, "leave out one of them (--folds, --time-column)"));
    }
    if config.preset == Preset::Paper {
        let message =
            "`preset: paper` leaves the choice of validation rows to agents, so `folds` has no effect";
        return Err(Trouble::new(message, "leave out one of them (--folds, preset)"));
    }
    let (Some(profile), Some(target)) = (profile, task.target) else {
        let message = "`folds` needs a training table, and the column to predict";
        return Err(Trouble::new(message, "name the column with --target, or leave `folds` (--folds) out"));
    };
    let own = OwnFolds::read(profile, target, task.id, from)?;
    Ok(Some(GivenFolds { from: from.to_owned(), count: own.count() }))
}

/// How test rows differ, if that they are later does not decide on the folds.
pub(super) fn without_time(split: Split, classification: bool) -> Split {
    if split.kind != SplitKind::Time {
        return split;
    }
    let column = split.column.unwrap_or_default();
    let kind = if classification { SplitKind::Stratified } else { SplitKind::Rows };
    let why = format!(
        "the folds are given, so that test rows may be later in `{column}` is not taken into account"
    );
    Split { kind, why, ..Split::default() }
}

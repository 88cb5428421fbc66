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

#[cfg(test)]
mod tests {
    use std::fs;

    use mle_star_tables::profile;

    use super::*;
    use crate::protocol::decide_for;

    /// What is said of a task with later test rows and folds of its own.
    fn decided(change: impl Fn(&mut Evaluated<'_>, &mut Config)) -> Result<(SplitKind, Vec<String>), String> {
        let dir = tempfile::tempdir().unwrap();
        let row = |id: usize| format!("{id},{id},{},7", id % 4);
        let train =
            (0..300).fold("id,week,mine,x,y\n".to_owned(), |all, id| format!("{all}{},{id}\n", row(id)));
        let test = (300..340).fold("id,week,mine,x\n".to_owned(), |all, id| format!("{all}{}\n", row(id)));
        fs::write(dir.path().join("train.csv"), train).unwrap();
        fs::write(dir.path().join("test.csv"), test).unwrap();
        let profile = profile::read(dir.path()).unwrap();
        let mut task = Evaluated { metric: "MAE", target: Some("y"), id: Some("id"), ..Evaluated::default() };
        let mut config = Config::default();
        change(&mut task, &mut config);
        let decided = decide_for(task, &config, Some(&profile), None).map_err(|trouble| trouble.message)?;
        let protocol = decided.unwrap().protocol;
        assert!(protocol.has_folds_file);
        assert_eq!(protocol.periods.is_some(), task.folds.is_none());
        Ok((protocol.split.as_ref().unwrap().kind, crate::protocol::lines(&protocol, &config)))
    }

    #[test]
    fn given_folds_stand_instead_of_periods() {
        let (kind, _) = decided(|_, _| ()).unwrap();
        assert_eq!(kind, SplitKind::Time);
        let (kind, lines) = decided(|task, _| task.folds = Some("mine")).unwrap();
        assert_eq!(kind, SplitKind::Rows);
        assert!(lines[0].contains("may be later in `week` is not taken into account"), "{lines:?}");
        assert_eq!(lines[1], "folds: 4, as given in `mine`");
    }

    #[test]
    fn what_contradicts_folds_is_refused() {
        let refused = |change: fn(&mut Evaluated<'_>, &mut Config), part: &str| {
            let refused = decided(|task, config| {
                task.folds = Some("mine");
                change(task, config);
            });
            assert!(refused.as_ref().is_err_and(|message| message.contains(part)), "{part}: {refused:?}");
        };
        refused(|task, _| task.time = Some("week"), "`folds` and `time_column` both say");
        refused(|_, config| config.preset = Preset::Paper, "`preset: paper`");
        refused(|task, _| task.target = None, "the column to predict");
        refused(|task, _| task.folds = Some("x"), "has one fold for all labelled rows");
    }
}

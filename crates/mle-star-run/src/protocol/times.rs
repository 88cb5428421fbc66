//! The times of a task that is split by time, and the new series of its test table.

use mle_star_domain::config::{Config, Preset};
use mle_star_domain::protocol::{NewSeries, Protocol, Split, SplitKind};
use mle_star_tables::holdout::{Off, Plan};
use mle_star_tables::new_series;
use mle_star_tables::periods::Timeline;
use mle_star_tables::profile::Profile;

use super::evaluated::Evaluated;

/// A split, and the times of a split by time. The reason why the times have no periods, or a note on the periods, is
/// added to the reason of the split.
pub(super) fn with_timeline(
    task: Evaluated<'_>,
    profile: &Profile,
    split: Option<Split>,
) -> (Option<Split>, Option<Timeline>) {
    match timeline(task, profile, split.as_ref()) {
        None => (split, None),
        Some(Ok(timeline)) => (with_note(split, timeline.note()), Some(timeline)),
        Some(Err(why)) => (with_note(split, Some(why)), None),
    }
}

fn with_note(split: Option<Split>, note: Option<String>) -> Option<Split> {
    let Some(note) = note else { return split };
    split.map(|split| Split { why: format!("{}; {note}", split.why), ..split })
}

/// The times of a run that is split by time, with the series that its periods leave out; `None` for other splits, or if the times can
/// no longer be read.
pub fn timeline_again<'a>(
    task: impl Into<Evaluated<'a>>,
    seed: u64,
    protocol: &Protocol,
    profile: &Profile,
) -> Option<Timeline> {
    let mut timeline = timeline(task, profile, protocol.split.as_ref())?.ok()?;
    let found = protocol.periods.as_ref().and_then(|periods| periods.new_series.as_ref());
    if let Some(found) = found.filter(|found| found.search.is_some()) {
        new_series::leave_out(profile, &mut timeline, found, seed).ok()?;
    }
    Some(timeline)
}

/// The times of a task that is split by time, or why they have no periods; `None` for other splits.
pub(super) fn timeline<'a>(
    task: impl Into<Evaluated<'a>>,
    profile: &Profile,
    split: Option<&Split>,
) -> Option<Result<Timeline, String>> {
    let task = task.into();
    let split = split.filter(|split| split.kind == SplitKind::Time)?;
    let target = task.target.filter(|target| profile.train.column(target).is_some())?;
    Some(Timeline::read(profile, target, task.id, split))
}

/// The series of the test table that the training table lacks, if earlier periods have clearly fewer new ones.
fn new_series(task: Evaluated<'_>, profile: &Profile, timeline: Option<&Timeline>) -> Option<NewSeries> {
    let known = task.known();
    let taken =
        |name: &str| known.has_other_role(profile, name) || task.ignored.iter().any(|one| one == name);
    // A table that can no longer be read tells nothing.
    new_series::find(profile, timeline?, task.group, taken).ok().flatten()
}

/// The held-out rows, with the times by which they are chosen and what is known of new series. Series are left out of the history of
/// a held-out period and of those before it, so that they are new as often as in the test table.
pub(super) fn with_new_series(
    (task, config, profile): (Evaluated<'_>, &Config, &Profile),
    timeline: Option<Timeline>,
    plan: impl Fn(Option<&Timeline>) -> Result<Plan, Off>,
) -> (Result<Plan, Off>, Option<Timeline>, Option<NewSeries>) {
    let seed = u64::from(config.seed);
    let found =
        (config.preset != Preset::Paper).then(|| new_series(task, profile, timeline.as_ref())).flatten();
    let Some(found) = found else { return (plan(timeline.as_ref()), timeline, None) };
    if let Some(mut alike) = timeline.clone().filter(|_| found.why.is_empty())
        && let Ok(found) = new_series::leave_out(profile, &mut alike, &found, seed)
        && let Ok(planned) = plan(Some(&alike))
    {
        return (Ok(planned), Some(alike), Some(found));
    }
    let planned = plan(timeline.as_ref());
    let why = match (found.why.as_str(), &planned) {
        ("", Err(_)) => "no rows are held out".to_owned(),
        ("", Ok(_)) => "too few rows are left without the history of some of them".to_owned(),
        (why, _) => why.to_owned(),
    };
    (planned, timeline, Some(NewSeries { why, ..found }))
}

//! What the intervals of scores are for.

use mle_star_domain::measure::interval::{FEWEST_PERIODS, Grouped};
use mle_star_domain::protocol::{Periods, Split, SplitKind};
use mle_star_metrics::intervals::IntervalFor;

/// What intervals tell: how the score differs on one more period, on other groups, or on other rows. Series that end at different
/// times count as groups if there are too few periods for an interval. `groups` are the numbers of test rows of each group,
/// `test_rows` is that of all; `None` if not known.
pub(super) fn interval_for(
    split: Option<&Split>,
    periods: Option<&Periods>,
    groups: &[u64],
    test_rows: Option<u64>,
) -> IntervalFor {
    let has_few = periods.map_or(0, Periods::count) < FEWEST_PERIODS;
    let are_groups = has_few && split.is_some_and(Split::has_own_ends) && !groups.is_empty();
    match split.map(|split| split.kind) {
        Some(SplitKind::Time) if !are_groups => IntervalFor::Period,
        Some(SplitKind::Groups | SplitKind::Time) => {
            IntervalFor::Groups { groups: Some(Grouped::of(groups.iter().copied())), rows: test_rows }
        }
        Some(SplitKind::Rows | SplitKind::Stratified) | None => IntervalFor::Rows(test_rows),
    }
}

#[cfg(test)]
mod tests {
    use mle_star_domain::protocol::Period;

    use super::*;

    #[test]
    fn few_periods_of_series_that_end_at_times_of_their_own_give_intervals_by_series() {
        let check = |series: &[&str], folds: usize, held_out: bool, groups: &[u64], expected: bool| {
            let split = Split {
                kind: SplitKind::Time,
                series: series.iter().map(ToString::to_string).collect(),
                ..Split::default()
            };
            let held_out = held_out.then(Period::default);
            let periods = Periods { folds: vec![Period::default(); folds], held_out, ..Periods::default() };
            let found = interval_for(Some(&split), Some(&periods), groups, None);
            assert_eq!(
                matches!(found, IntervalFor::Groups { .. }),
                expected,
                "{series:?} {folds} {groups:?}"
            );
        };
        check(&["shop"], 1, true, &[3, 4], true);
        check(&["shop"], 2, true, &[3, 4], false);
        // Series named by two columns have no group number.
        check(&["shop", "item"], 1, true, &[], false);
        check(&[], 1, true, &[3, 4], false);
    }
}

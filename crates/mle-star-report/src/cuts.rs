//! Limits of a run in words: what it used of them, the steps that they cut off, and what a larger one goes on with.

use std::collections::BTreeMap;

use mle_star::result::{Cut, FinalResult, StoppedBy};
use mle_star_domain::config::Config;
use mle_star_domain::effects::Limit;
use mle_star_domain::place::{Phase, Step, StepRow};

use crate::{figures, money};

/// What a finished run used of its limit, if that left steps undone: `used its 40 s (5 of 12 steps)`.
pub fn used(result: &FinalResult) -> Option<String> {
    let FinalResult { config, cuts, stopped_by, .. } = result;
    let steps = steps(result);
    // Where the baseline is all that a run has, no step of the search was taken.
    let has_none = result.phase2_results.is_empty();
    let is_left = |step: &&Step| {
        has_none && **step != Step::Finalization || cuts.iter().any(|cut| step.place().is_within(&cut.place))
    };
    let left = steps.iter().filter(is_left).count();
    let used = match stopped_by {
        Some(limit) => used_up(*limit, config),
        None if left == 0 => return None,
        None => {
            let used = figures::duration(result.total_duration_seconds);
            format!("used {used} of its {}", time_limit(config))
        }
    };
    Some(format!("{used} ({} of {} steps)", steps.len() - left, steps.len()))
}

/// The note on a limit that a run used: `used its $2.00`.
pub fn used_up(limit: StoppedBy, config: &Config) -> String {
    match (limit, config.max_budget_usd) {
        (StoppedBy::Budget, Some(budget)) => format!("used its {}", money::usd(budget)),
        _ => format!("used its {}", time_limit(config)),
    }
}

fn time_limit(config: &Config) -> String {
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run are far below 2^52")]
    figures::duration(config.time_limit_seconds as f64)
}

/// The steps of the algorithms with this configuration and the models that were found.
fn steps(result: &FinalResult) -> Vec<Step> {
    let Config { num_parallel_solutions: paths, outer_loop_steps, inner_loop_steps, .. } = result.config;
    let models = match result.phase1.retrieved_models.len() {
        0 => result.config.num_retrieved_models,
        found => u32::try_from(found).unwrap_or(u32::MAX),
    };
    let rounds = if paths > 1 { result.config.ensemble_rounds } else { 0 };
    let outer = (0..paths).flat_map(|path| (0..outer_loop_steps).map(move |outer| (path, outer)));
    let of_path = outer.flat_map(|(path, outer)| {
        let attempts = (0..inner_loop_steps).map(move |inner| Step::Attempt { path, outer, inner });
        std::iter::once(Step::Outer { path, outer }).chain(attempts)
    });
    let first = (0..models).map(Step::Candidate).chain((1..models).map(Step::Merge));
    let checks = [Step::DataCheck, Step::LeakageCheck];
    let last = (0..rounds).map(Step::Round).chain([Step::Finalization]);
    first.chain(checks).chain(of_path).chain(last).collect()
}

/// The cuts that more time or more money would go on with.
pub fn of(cuts: &[Cut], more: More) -> Vec<Cut> {
    let goes_on = |cut: &&Cut| match cut.limit {
        Limit::Time | Limit::Share => more.time,
        Limit::Budget => more.money,
    };
    cuts.iter().filter(goes_on).cloned().collect()
}

/// Which limits are larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct More {
    /// `time_limit_seconds`.
    pub time: bool,
    /// `max_budget_usd`.
    pub money: bool,
}

/// What a larger limit goes on with: `2 candidates, path 1 from t1, path 2 from t0/k2, finalization`.
pub fn in_words(cuts: &[Cut]) -> String {
    let mut counts: Vec<(Phase, &str, u64)> = Vec::new();
    let (mut paths, mut finalization) = (BTreeMap::new(), false);
    for cut in cuts.iter().filter(|cut| cut.open) {
        match cut.place.step() {
            Some(Step::Outer { path, outer }) => {
                paths.entry(path).or_insert((outer, None));
            }
            Some(Step::Attempt { path, outer, inner }) => {
                paths.entry(path).or_insert((outer, Some(inner)));
            }
            Some(step) => match step.row() {
                StepRow { noun: Some(noun), phase, .. } => {
                    match counts.iter_mut().find(|(_, known, _)| *known == noun) {
                        Some((.., count)) => *count += 1,
                        None => counts.push((phase, noun, 1)),
                    }
                }
                _ => finalization = true,
            },
            None => finalization |= cut.place.phase() == Some(Phase::Finalization),
        }
    }
    let (early, late) = counts.split_at(counts.partition_point(|(phase, ..)| *phase < Phase::Phase2));
    let count = |(_, noun, count): &(Phase, &str, u64)| figures::count(*count, noun);
    let path = |(path, (outer, inner)): (u32, (u32, Option<u32>))| match inner {
        None => format!("path {} from t{outer}", path + 1),
        Some(inner) => format!("path {} from t{outer}/k{inner}", path + 1),
    };
    let parts = early.iter().map(count).chain(paths.into_iter().map(path)).chain(late.iter().map(count));
    let parts: Vec<String> = parts.chain(finalization.then(|| "finalization".to_owned())).collect();
    match parts.is_empty() {
        true => "nothing: later work was built on what there was".to_owned(),
        false => parts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_told_in_the_order_of_the_algorithms() {
        let check = |steps: &[(Step, bool)], expected: &str| {
            let cut =
                |(step, open): &(Step, bool)| Cut { place: step.place(), limit: Limit::Time, open: *open };
            assert_eq!(in_words(&steps.iter().map(cut).collect::<Vec<_>>()), expected);
        };
        let attempt = |path, outer, inner| Step::Attempt { path, outer, inner };
        check(&[], "nothing: later work was built on what there was");
        check(&[(Step::Merge(1), false)], "nothing: later work was built on what there was");
        let steps = [
            (Step::Candidate(2), true),
            (Step::Candidate(3), true),
            (Step::Merge(2), true),
            (attempt(0, 0, 1), false),
            (attempt(0, 1, 2), true),
            (Step::Outer { path: 0, outer: 2 }, true),
            (Step::Outer { path: 1, outer: 0 }, true),
            (Step::Round(0), true),
            (Step::Finalization, true),
        ];
        check(&steps, "2 candidates, 1 merge, path 1 from t1/k2, path 2 from t0, 1 ensemble, finalization");
    }
}

//! How long a script should take, so that all that is planned for its phase fits.

use mle_star_domain::config::Config;
use mle_star_domain::place::{Place, Step};

use super::Limits;

/// What an ablation study takes, relative to a script: the solution and a few variants.
const STUDY: f64 = 3.0;
/// The part of its own limit that a script should use at most.
const MAX_SHARE: f64 = 0.8;
/// The part of the phase's time that a script may use in any case: of very many steps, some are left out.
const MIN_SHARE: f64 = 0.1;

impl Limits {
    /// The seconds that a script at this place should not exceed now, which may take `limit` and shares so many slots; `None`
    /// where nothing is planned, or where no time is left.
    pub fn aim(&self, place: &Place, config: &Config, slots: usize, limit: f64, now: f64) -> Option<f64> {
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        let scripts = scripts_left(place.step()?, config, slots)?;
        let planned = self.phase_seconds_left(now);
        (planned >= 1.0).then(|| rounded((planned / scripts).max(planned * MIN_SHARE).min(limit * MAX_SHARE)))
    }
}

/// The scripts of a phase from this step on that run one after the other, if nothing fails; `None` for a step that is planned
/// on its own.
fn scripts_left(step: Step, config: &Config, slots: u32) -> Option<f64> {
    let Config { num_retrieved_models: models, outer_loop_steps: steps, inner_loop_steps: attempts, .. } =
        *config;
    let of_step = STUDY + f64::from(attempts);
    let in_path = |outer: u32| f64::from(steps.saturating_sub(outer + 1)) * of_step;
    let paths = f64::from(config.num_parallel_solutions);
    let at_once = paths.min(f64::from(slots.max(1)));
    let left = match step {
        // The merges, and the script with all of the data.
        Step::Candidate(number) => f64::from(models.saturating_sub(number)) + f64::from(models),
        Step::Merge(number) => f64::from(models.saturating_sub(number)) + 1.0,
        Step::DataCheck => 1.0,
        Step::Outer { outer, .. } => (in_path(outer) + of_step) * paths / at_once,
        Step::Attempt { outer, inner, .. } => {
            (in_path(outer) + f64::from(attempts.saturating_sub(inner))) * paths / at_once
        }
        Step::Round(round) => f64::from(config.ensemble_rounds.saturating_sub(round)),
        _ => return None,
    };
    Some(left.max(1.0))
}

/// Whole seconds with two digits, at least one second.
fn rounded(seconds: f64) -> f64 {
    let size = 10_f64.powf((seconds.max(1.0).log10().floor() - 1.0).max(0.0));
    ((seconds / size).floor() * size).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_a_phase_share_its_time() {
        let config = Config {
            num_retrieved_models: 4,
            outer_loop_steps: 3,
            inner_loop_steps: 4,
            num_parallel_solutions: 2,
            ensemble_rounds: 5,
            ..Config::default()
        };
        let check =
            |step, slots, expected| assert_eq!(scripts_left(step, &config, slots), expected, "{step:?}");
        check(Step::Candidate(0), 1, Some(8.0));
        check(Step::Candidate(3), 1, Some(5.0));
        check(Step::Merge(3), 1, Some(2.0));
        check(Step::Outer { path: 0, outer: 0 }, 1, Some(42.0));
        check(Step::Outer { path: 0, outer: 0 }, 2, Some(21.0));
        check(Step::Outer { path: 0, outer: 0 }, 8, Some(21.0));
        check(Step::Attempt { path: 1, outer: 2, inner: 3 }, 2, Some(1.0));
        check(Step::Round(3), 1, Some(2.0));
        check(Step::Round(7), 1, Some(1.0));
        check(Step::Finalization, 1, None);
        let endless = Config { outer_loop_steps: u32::MAX, inner_loop_steps: u32::MAX, ..config.clone() };
        assert!(scripts_left(Step::Outer { path: 0, outer: 0 }, &endless, 1).is_some_and(|left| left > 1e18));
    }
}

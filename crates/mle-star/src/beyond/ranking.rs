//! Ranks solutions that were compared on held-out rows.
//!
//! Half of the held-out rows are few, and the best of many solutions on few rows is best partly by luck. So solutions
//! within one standard error of the best stay in the order of validation, which has more rows (the one-standard-error
//! rule). What a leak did to a validation score shows in its distance to the held-out one: compared with that of others,
//! since later rows may be harder for all.

use mle_star_domain::measure::{Measurement, standard_deviation};
use mle_star_domain::metric::{Score, sort_best_first};

/// The gap of a solution, by which its validation score is above its held-out one, is suspicious if it is above the reference gap by
/// more than this many standard errors.
const GAP_OUTLIER_ERRORS: f64 = 2.0;
/// The reference gap is the lower quartile: one solution in this many has a smaller gap. It is not the median, since half of the
/// solutions may have the same leak.
const REFERENCE_GAP_DIVISOR: usize = 4;
/// The fewest periods whose differences tell how far that of another period may be from them.
const MIN_PERIODS: usize = 3;

/// A solution with its scores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked<'a> {
    /// The validation score.
    pub validation: Score,
    /// The validation score with its uncertainty, if the predictions are known.
    pub validated: Option<&'a Measurement>,
    /// The score on the choosing half of the held-out rows, if there is one.
    pub held_out: Option<&'a Measurement>,
}

/// The places of solutions, the best first. Those within one standard error of the difference to the best held-out score are
/// first, by validation score; among them, those with a suspicious gap are last. The others follow, by held-out
/// score; those without one are last.
pub(super) fn ranking(all: &[Ranked<'_>]) -> Vec<usize> {
    let held_out = |place: usize| Some((place, all[place].held_out_score()?));
    let mut scored: Vec<(usize, Score)> = (0..all.len()).filter_map(held_out).collect();
    sort_best_first(&mut scored, |(_, score)| *score);
    let best = scored.first().map(|(place, _)| all[*place]);
    let is_close = |place: &usize| best.is_some_and(|best| all[*place].is_close_to(&best));
    let (mut close, far): (Vec<usize>, Vec<usize>) =
        scored.into_iter().map(|(place, _)| place).partition(is_close);
    sort_best_first(&mut close, |place| all[*place].validation);
    let usual = reference_gap(all);
    let is_odd = |place: &usize| usual.is_some_and(|usual| all[*place].has_suspicious_gap(&usual));
    let (odd, close): (Vec<usize>, Vec<usize>) = close.into_iter().partition(is_odd);
    let without = (0..all.len()).filter(|place| all[*place].held_out.is_none());
    close.into_iter().chain(odd).chain(far).chain(without).collect()
}

/// The solution with the reference gap.
fn reference_gap<'a>(all: &[Ranked<'a>]) -> Option<Ranked<'a>> {
    let mut gaps: Vec<(Ranked<'a>, f64)> = all.iter().filter_map(|one| Some((*one, one.gap()?))).collect();
    gaps.sort_by(|one, two| one.1.total_cmp(&two.1));
    gaps.get(gaps.len().saturating_sub(1) / REFERENCE_GAP_DIVISOR).map(|(one, _)| *one)
}

impl Ranked<'_> {
    fn held_out_score(&self) -> Option<Score> {
        Some(self.validation.of_value(self.held_out?.score))
    }

    /// How much better the validation score is than the held-out one.
    fn gap(&self) -> Option<f64> {
        Some(self.validation.of_value(self.validated?.score).gain_over(self.held_out_score()?))
    }

    fn is_close_to(&self, best: &Self) -> bool {
        let scores = best.held_out_score().zip(self.held_out_score());
        scores.is_some_and(|(first, own)| first.gain_over(own) <= self.error(best).unwrap_or_default())
    }

    /// Whether the gap is above that of `reference` by more than chance explains.
    fn has_suspicious_gap(&self, reference: &Self) -> bool {
        let error = || Some(self.error(reference)?.hypot(error_of(self.validated?, reference.validated?)?));
        let further = self.gap().zip(reference.gap()).map(|(own, usual)| own - usual);
        further.zip(error()).is_some_and(|(further, error)| further > GAP_OUTLIER_ERRORS * error)
    }

    /// The standard error of the difference on held-out rows. Where these are one period, the validated periods tell how far
    /// the difference of one period may be from that of others.
    fn error(&self, other: &Self) -> Option<f64> {
        let by_periods = self.validated.zip(other.validated).and_then(|(one, two)| period_spread(one, two));
        let by_rows = self.held_out.zip(other.held_out).and_then(|(one, two)| error_of(one, two));
        by_rows.into_iter().chain(by_periods).reduce(f64::max)
    }
}

fn error_of(one: &Measurement, other: &Measurement) -> Option<f64> {
    Some(one.difference(other)?.standard_error)
}

/// The standard deviation of the difference of two scores over the periods that both have, if they are enough.
fn period_spread(one: &Measurement, other: &Measurement) -> Option<f64> {
    let score =
        |fold: u32| other.periods.iter().find(|period| period.fold == fold).map(|period| period.score);
    let differences: Vec<f64> =
        one.periods.iter().filter_map(|period| Some(period.score - score(period.fold)?)).collect();
    standard_deviation(&differences).filter(|_| differences.len() >= MIN_PERIODS)
}

#[cfg(test)]
mod tests {
    use mle_star_domain::measure::FoldScore;
    use mle_star_domain::metric::Direction;

    use super::*;

    /// Scores in so many steps of bootstrap noise of this solution's own, so that paired differences have this size.
    fn measured(score: f64, own: f64, periods: &[f64]) -> Measurement {
        let replicates = [score - own, score + own, score - own, score + own].to_vec();
        let period = |(fold, by): (u32, &f64)| FoldScore { fold, rows: 10, score: score + by };
        let periods = (0..).zip(periods).map(period).collect();
        Measurement { replicates, periods, ..Measurement::of(score, String::new()) }
    }

    /// Solutions as validation score, held-out score, and the size of the noise on held-out rows.
    struct Case {
        of: &'static [(f64, f64, f64)],
        periods: &'static [&'static [f64]],
    }

    fn check(case: &Case, expected: &[usize]) {
        for direction in [Direction::Maximize, Direction::Minimize] {
            let sign = if direction == Direction::Maximize { 1.0 } else { -1.0 };
            let periods = |at: usize| case.periods.get(at).copied().unwrap_or_default();
            let of = |(at, (validation, held_out, own)): (usize, &(f64, f64, f64))| {
                let validated = measured(sign * validation, own / 4.0, periods(at));
                (validated, held_out.is_finite().then(|| measured(sign * held_out, *own, &[])))
            };
            let scores: Vec<_> = case.of.iter().enumerate().map(of).collect();
            let compared = |(validated, held_out): &'_ (Measurement, Option<Measurement>)| {
                (Score::new(validated.score, direction).unwrap(), validated.clone(), held_out.clone())
            };
            let owned: Vec<_> = scores.iter().map(compared).collect();
            let all: Vec<Ranked<'_>> = owned
                .iter()
                .map(|(validation, validated, held_out)| Ranked {
                    validation: *validation,
                    validated: Some(validated),
                    held_out: held_out.as_ref(),
                })
                .collect();
            assert_eq!(ranking(&all), expected, "{direction:?} {:?}", case.of);
        }
    }

    #[test]
    fn what_held_out_rows_cannot_tell_apart_stays_in_the_order_of_validation() {
        let rows = |of| Case { of, periods: &[] };
        // All are worse on the held-out rows: the last is the best there by luck.
        let later: &[(f64, f64, f64)] = &[(0.90, 0.70, 0.00), (0.88, 0.69, 0.03), (0.85, 0.72, -0.03)];
        check(&rows(later), &[0, 1, 2]);
        // It is better by more than one standard error.
        let better: &[(f64, f64, f64)] = &[(0.90, 0.70, 0.00), (0.88, 0.69, 0.03), (0.85, 0.80, -0.03)];
        check(&rows(better), &[2, 0, 1]);
        // The first leaks. Of the others, the luckiest on few rows is not taken.
        let leaking: &[(f64, f64, f64)] =
            &[(0.99, 0.60, 0.00), (0.88, 0.84, 0.03), (0.87, 0.85, 0.00), (0.86, 0.86, -0.03)];
        check(&rows(leaking), &[1, 2, 3, 0]);
        // Within the error, but with a validation score that is odd beside those of the others.
        let odd: &[(f64, f64, f64)] =
            &[(0.99, 0.82, 0.03), (0.88, 0.83, 0.00), (0.87, 0.85, -0.03), (0.86, 0.81, 0.03)];
        check(&rows(odd), &[1, 2, 3, 0]);
        // One without predictions for the held-out rows is last.
        check(&rows(&[(0.9, f64::NAN, 0.0), (0.8, 0.7, 0.03)]), &[1, 0]);
        check(&rows(&[]), &[]);
    }

    #[test]
    fn one_period_counts_with_the_spread_of_the_differences_of_periods() {
        let of: &[(f64, f64, f64)] = &[(0.90, 0.70, 0.00), (0.85, 0.75, 0.01)];
        check(&Case { of, periods: &[] }, &[1, 0]);
        // The first was better by 0.15, 0.05 and -0.05 in three periods.
        check(&Case { of, periods: &[&[0.1, 0.0, -0.1], &[0.0, 0.0, 0.0]] }, &[0, 1]);
        // It was better by as much in all of them, or only two are known.
        check(&Case { of, periods: &[&[0.1, 0.0, -0.1], &[0.1, 0.0, -0.1]] }, &[1, 0]);
        check(&Case { of, periods: &[&[0.1, -0.1], &[0.0, 0.0]] }, &[1, 0]);
    }
}

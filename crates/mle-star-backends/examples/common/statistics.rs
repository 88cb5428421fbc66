//! Statistics of reported and hidden scores, and their tables.

use std::collections::BTreeMap;

use mle_star_domain::metric::Direction;

/// The resamples of a bootstrap interval.
const RESAMPLES: usize = 2_000;
/// The quantile of the normal distribution for 95 % intervals.
const Z: f64 = 1.96;

/// A task's name and a seed.
pub type Case = (&'static str, u64);

/// A score that was reported for a solution, and its score on hidden rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The reported score.
    pub reported: f64,
    /// The hidden score.
    pub hidden: f64,
}

/// A share of cases with its 95 % interval: Wilson's, or that of a bootstrap that draws tasks first, then seeds, where
/// this one is wider. Cases of one task resemble each other, and a bootstrap of equal cases has no width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The number of cases that count.
    pub hits: usize,
    /// The number of all cases.
    pub of: usize,
    /// Low and high.
    pub interval: [f64; 2],
}

/// The mean of the tasks' means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The number of tasks.
    pub tasks: usize,
    /// The number of cases.
    pub cases: usize,
    /// The mean.
    pub mean: f64,
    /// Its 95 % bootstrap interval: low, high. Tasks are drawn first, then seeds in each task.
    pub interval: [f64; 2],
}

/// How much larger the values of one rule are than those of another in the same cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The number of tasks.
    pub tasks: usize,
    /// The number of cases that both have.
    pub cases: usize,
    /// The mean of the tasks' mean differences.
    pub by: f64,
    /// The 95 % bootstrap interval of the mean: low, high. Tasks are drawn first, then seeds in each task.
    pub interval: [f64; 2],
    /// The cases in which the first is larger.
    pub larger: usize,
    /// The cases in which the first is smaller.
    pub smaller: usize,
}

/// The ranks of values from 1; equal values share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, two| values[*one].total_cmp(&values[*two]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 1.0;
    for tied in order.chunk_by(|one, two| values[*one] == values[*two]) {
        let count = tied.len() as f64;
        tied.iter().for_each(|position| ranks[*position] = first + (count - 1.0) / 2.0);
        first += count;
    }
    ranks
}

/// Spearman's rank correlation of reported and hidden scores; `None` for less than two pairs, or if all reported or
/// all hidden scores are equal.
pub fn spearman(pairs: &[Pair]) -> Option<f64> {
    let centred = |value: fn(&Pair) -> f64| {
        let mean = (pairs.len() as f64 + 1.0) / 2.0;
        ranks(&pairs.iter().map(value).collect::<Vec<_>>())
            .into_iter()
            .map(|rank| rank - mean)
            .collect::<Vec<_>>()
    };
    let (reported, hidden) = (centred(|pair| pair.reported), centred(|pair| pair.hidden));
    let product = |one: &[f64], two: &[f64]| one.iter().zip(two).map(|(one, two)| one * two).sum::<f64>();
    let scale = (product(&reported, &reported) * product(&hidden, &hidden)).sqrt();
    (scale > 0.0).then(|| product(&reported, &hidden) / scale)
}

/// How much better the reported score is than the hidden one; positive if it is too good.
pub fn optimism(pair: Pair, direction: Direction) -> f64 {
    gain(pair.reported, pair.hidden, direction)
}

/// How much better a score is than another.
pub fn gain(score: f64, other: f64, direction: Direction) -> f64 {
    match direction {
        Direction::Maximize => score - other,
        Direction::Minimize => other - score,
    }
}

/// How much worse the chosen hidden score is than the best one; 0 without others.
pub fn regret(chosen: f64, hidden: &[f64], direction: Direction) -> f64 {
    hidden.iter().map(|other| gain(*other, chosen, direction)).fold(0.0, f64::max)
}

/// A difference of scores as a share of what there is to gain: the distance from a constant prediction to the best
/// possible one. So tasks with different metrics can be averaged.
pub fn share_of_range(difference: f64, constant: f64, best: f64) -> f64 {
    difference / (best - constant).abs()
}

/// How many intervals contain their hidden score.
pub fn coverage(cases: impl Iterator<Item = (Case, [f64; 2], f64)>) -> Share {
    let is_hit = |[low, high]: [f64; 2], hidden| (low..=high).contains(&hidden);
    let found: BTreeMap<Case, f64> =
        cases.map(|(case, interval, hidden)| (case, f64::from(u8::from(is_hit(interval, hidden))))).collect();
    let hits = found.values().filter(|hit| **hit > 0.0).count();
    let [low, high] = wilson(hits, found.len());
    let drawn = mean_of_tasks(&found).map_or([low, high], |mean| mean.interval);
    Share { hits, of: found.len(), interval: [low.min(drawn[0]), high.max(drawn[1])] }
}

/// Wilson's 95 % interval of a share: low, high; from 0 to 1 without cases.
fn wilson(hits: usize, of: usize) -> [f64; 2] {
    if of == 0 {
        return [0.0, 1.0];
    }
    let (count, square) = (of as f64, Z * Z);
    let share = hits as f64 / count;
    let centre = share + square / (2.0 * count);
    let half = Z * (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    let scale = 1.0 + square / count;
    [((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0)]
}

/// Compares two rules over the cases that both have; `None` if there are none. Values should have the same unit in
/// all tasks ([`share_of_range`]). The interval is the same in each call.
pub fn compare(one: &BTreeMap<Case, f64>, two: &BTreeMap<Case, f64>) -> Option<Comparison> {
    let difference = |(case, value): (&Case, &f64)| Some((*case, value - two.get(case)?));
    let differences: BTreeMap<Case, f64> = one.iter().filter_map(difference).collect();
    let Mean { tasks, cases, mean: by, interval } = mean_of_tasks(&differences)?;
    let larger = differences.values().filter(|by| **by > 0.0).count();
    let smaller = differences.values().filter(|by| **by < 0.0).count();
    Some(Comparison { tasks, cases, by, interval, larger, smaller })
}

/// The mean of the tasks' means; `None` without cases. The interval is the same in each call.
pub fn mean_of_tasks(values: &BTreeMap<Case, f64>) -> Option<Mean> {
    let mut tasks = BTreeMap::<&str, Vec<f64>>::new();
    for (case, value) in values {
        tasks.entry(case.0).or_default().push(*value);
    }
    let tasks: Vec<Vec<f64>> = tasks.into_values().collect();
    let mean = mean(tasks.iter().filter_map(|task| mean(task.iter().copied())))?;
    Some(Mean { tasks: tasks.len(), cases: values.len(), mean, interval: bootstrap(&tasks) })
}

/// A Markdown table; columns after the first are aligned to the right.
pub fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    let line =
        |cells: &mut dyn Iterator<Item = &str>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let rule = format!("|---|{}\n", "---:|".repeat(header.len().saturating_sub(1)));
    let rows = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    [line(&mut header.iter().copied()), rule].into_iter().chain(rows).collect()
}

/// A percentage; `-` without a value.
pub fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2} %"))
}

/// A number with so many decimals; `-` without a value.
pub fn shown(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// The mean; `None` without values.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    (count > 0.0).then(|| sum / count)
}

fn bootstrap(tasks: &[Vec<f64>]) -> [f64; 2] {
    let mut random = fastrand::Rng::with_seed(0);
    let mut resample = || {
        let mut sum = 0.0;
        for _ in tasks {
            let task = &tasks[random.usize(..tasks.len())];
            let drawn: f64 = task.iter().map(|_| task[random.usize(..task.len())]).sum();
            sum += drawn / task.len() as f64;
        }
        sum / tasks.len() as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resample()).collect();
    means.sort_by(f64::total_cmp);
    [means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(values: &[(f64, f64)]) -> Vec<Pair> {
        values.iter().map(|(reported, hidden)| Pair { reported: *reported, hidden: *hidden }).collect()
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn spearman_compares_orders() {
        let check = |values: &[(f64, f64)], expected: Option<f64>| {
            let found = spearman(&pairs(values));
            let equal = found.zip(expected).is_some_and(|(one, two)| (one - two).abs() < 1e-12);
            assert!(equal || found == expected, "{found:?}");
        };
        check(&[(1.0, 10.0), (2.0, 20.0), (3.0, 90.0)], Some(1.0));
        check(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], Some(-1.0));
        check(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)], Some(0.5));
        // The value of SciPy with ties.
        check(&[(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (3.0, 3.0)], Some(5.0 / 6.0));
        check(&[(1.0, 1.0), (1.0, 2.0)], None);
        check(&[(1.0, 1.0)], None);
        check(&[], None);
    }

    #[test]
    fn optimism_is_positive_if_the_report_is_too_good() {
        let check = |reported, hidden, direction, expected: f64| {
            assert!((optimism(Pair { reported, hidden }, direction) - expected).abs() < 1e-12);
        };
        check(0.9, 0.8, Direction::Maximize, 0.1);
        check(0.9, 0.8, Direction::Minimize, -0.1);
        check(3.0, 5.0, Direction::Minimize, 2.0);
    }

    #[test]
    fn regret_is_the_distance_to_the_best() {
        assert_eq!(regret(2.0, &[1.0, 2.0, 5.0], Direction::Maximize), 3.0);
        assert_eq!(regret(2.0, &[1.0, 2.0, 5.0], Direction::Minimize), 1.0);
        assert_eq!(regret(1.0, &[1.0, 2.0], Direction::Minimize), 0.0);
        assert_eq!(regret(1.0, &[], Direction::Maximize), 0.0);
    }

    #[test]
    fn shares_do_not_depend_on_the_direction() {
        assert_eq!(share_of_range(0.1, 0.5, 0.7), 0.1 / (0.7 - 0.5));
        assert_eq!(share_of_range(1.0, 9.0, 5.0), 0.25);
    }

    #[test]
    fn coverage_counts_intervals_with_their_ends() {
        let cases = |hidden: &[(&'static str, u64, f64)]| {
            coverage(hidden.iter().map(|(task, seed, hidden)| ((*task, *seed), [0.0, 1.0], *hidden)))
        };
        let found = cases(&[("a", 1, 1.0), ("a", 2, 1.1), ("a", 3, 0.5)]);
        assert_eq!((found.hits, found.of), (2, 3));
        assert_eq!(cases(&[]).interval, [0.0, 1.0]);
        // Equal cases have Wilson's interval. Of two tasks, one is often drawn twice.
        assert_eq!(cases(&[("a", 1, 0.5), ("b", 1, 0.5)]).interval, wilson(2, 2));
        let one_misses: Vec<_> = (1..=50).flat_map(|seed| [("a", seed, 0.5), ("b", seed, 2.0)]).collect();
        assert_eq!(cases(&one_misses).interval, [0.0, 1.0]);
    }

    #[test]
    fn wilson_intervals_are_those_of_the_formula() {
        let check = |hits, of, low: f64, high: f64| {
            let found = wilson(hits, of);
            assert!((found[0] - low).abs() < 1e-3 && (found[1] - high).abs() < 1e-3, "{found:?}");
        };
        check(5, 10, 0.2366, 0.7634);
        check(10, 10, 0.7225, 1.0);
        check(0, 10, 0.0, 0.2775);
        check(95, 100, 0.8882, 0.9785);
    }

    #[test]
    fn rules_are_compared_case_by_case() {
        let cases = |values: &[(&'static str, u64, f64)]| -> BTreeMap<Case, f64> {
            values.iter().map(|(task, seed, value)| ((*task, *seed), *value)).collect()
        };
        let one = cases(&[("a", 1, 3.0), ("a", 2, 4.0), ("b", 1, 1.0), ("c", 1, 9.0)]);
        let two = cases(&[("a", 1, 1.0), ("a", 2, 4.0), ("b", 1, 2.0), ("d", 1, 9.0)]);
        let found = compare(&one, &two).unwrap();
        assert_eq!((found.tasks, found.cases, found.larger, found.smaller), (2, 3, 1, 1));
        // Task a gains 2 and 0, task b loses 1: the mean of 1 and -1.
        assert_eq!(found.by, 0.0);
        // A mean of 2 needs a chance of 1 in 64, one of 1.5 or more 5 in 64.
        assert_eq!(found.interval, [-1.0, 1.5]);
        assert_eq!(compare(&one, &cases(&[("e", 1, 1.0)])), None);
        let shifted: BTreeMap<Case, f64> = one.iter().map(|(case, value)| (*case, value - 1.0)).collect();
        assert_eq!(compare(&one, &shifted).unwrap().interval, [1.0, 1.0]);
    }

    #[test]
    fn tables_have_a_header_and_a_line_for_each_row() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["b".to_owned(), "2".to_owned()]];
        assert_eq!(markdown(&["task", "n"], &rows), "| task | n |\n|---|---:|\n| a | 1 |\n| b | 2 |\n");
    }
}

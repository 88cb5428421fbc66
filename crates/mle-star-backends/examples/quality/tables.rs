//! Tables of hidden scores of runs and of other programs.
//!
//! A *normalised* score is 0 for a constant and 1 for the best of the other programs on the same task and seed. So
//! tasks with different metrics can be averaged.

use std::collections::{BTreeMap, BTreeSet};

use mle_star_domain::metric::Direction;
use serde::{Deserialize, Serialize};

use crate::anchors::{KINDS, Kind};
use crate::common::statistics::{
    Case, Mean, compare, gain, markdown, mean, mean_of_tasks, percent, share_of_range, shown,
};
use crate::common::tasks::{Made, Task};

/// What the best of the other programs gains counts as at least this share of what is possible. Otherwise tasks on
/// which they gain nothing would have no scale.
const SMALLEST_GAIN: f64 = 0.01;
/// Normalised scores end here, so that no single task decides a mean.
const LIMITS: [f64; 2] = [-1.0, 2.0];

/// Who made a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contestant {
    /// Another program.
    Anchor { kind: &'static Kind, seconds: u64 },
    /// A run of a build.
    Run { order: usize, label: String, seconds: u64 },
}

/// A submission, or a run without one.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Who made it.
    pub contestant: Contestant,
    /// For which task and seed.
    pub case: Case,
    /// What can be gained there.
    pub range: Range,
    /// The hidden score; `None` without a valid submission, which counts as a constant.
    pub hidden: Option<f64>,
    /// How long it took.
    pub seconds: f64,
    /// The number of scripts with a validation score, if it is a run.
    pub scripts: Option<usize>,
    /// The build that made it, if it is known.
    pub build: Option<String>,
}

/// The hidden scores of a constant and of somebody who knows the process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    constant: f64,
    best: f64,
    direction: Direction,
}

/// A value for each task and seed.
type Values = BTreeMap<Case, f64>;

impl Range {
    /// The range of a task.
    pub fn of(made: &Made) -> Self {
        Self { constant: made.constant, best: made.best, direction: made.task.metric.direction() }
    }

    /// How much better a score is than the constant, as a share of what is possible.
    fn gained(&self, hidden: Option<f64>) -> f64 {
        let gained = hidden.map_or(0.0, |hidden| gain(hidden, self.constant, self.direction));
        share_of_range(gained, self.constant, self.best)
    }
}

impl Contestant {
    /// Its name in tables.
    fn name(&self) -> String {
        match self {
            Self::Anchor { kind, seconds: 0 } => kind.title.to_owned(),
            Self::Anchor { kind, seconds } => format!("{} {seconds} s", kind.title),
            Self::Run { label, seconds, .. } => format!("{label} {seconds} s"),
        }
    }

    fn seconds(&self) -> u64 {
        match self {
            Self::Anchor { seconds, .. } | Self::Run { seconds, .. } => *seconds,
        }
    }

    fn is_of(&self, wanted: &Kind) -> bool {
        matches!(self, Self::Anchor { kind, .. } if *kind == wanted)
    }

    /// The place in tables: other programs first, then runs.
    pub fn place(&self) -> (usize, usize, &str, u64) {
        match self {
            Self::Anchor { kind, seconds } => {
                (0, KINDS.iter().position(|one| one == *kind).unwrap_or_default(), "", *seconds)
            }
            Self::Run { order, label, seconds } => (1, *order, label, *seconds),
        }
    }
}

/// All tables.
pub fn tables(tasks: &[&'static Task], outcomes: &[Outcome]) -> Result<String, String> {
    let contestants = contestants(outcomes);
    if contestants.is_empty() {
        return Err("there are no results".to_owned());
    }
    let best = best_of_others(outcomes, &contestants);
    let mut sections = vec![format!("Hidden scores:\n\n{}", hidden_scores(tasks, outcomes, &contestants))];
    if !best.is_empty() {
        sections.push(format!(
            "Normalised scores (0: constant, 1: best of the other programs):\n\n{}",
            per_task(tasks, outcomes, &contestants, &best)
        ));
    }
    sections.push(format!("All tasks:\n\n{}", summary(outcomes, &contestants, &best)));
    sections.extend(mixed_builds(outcomes, &contestants));
    sections.extend(between_builds(outcomes, &contestants));
    sections.extend(between_limits(outcomes, &contestants));
    Ok(sections.join("\n"))
}

/// Whose results are of several builds.
fn mixed_builds(outcomes: &[Outcome], contestants: &[Contestant]) -> Option<String> {
    let of_several = |contestant: &&Contestant| {
        of(outcomes, contestant).map(|outcome| outcome.build.as_deref()).collect::<BTreeSet<_>>().len() > 1
    };
    let names: Vec<String> = contestants.iter().filter(of_several).map(Contestant::name).collect();
    (!names.is_empty()).then(|| format!("Results of several builds: {}.\n", names.join(", ")))
}

/// Who made submissions, in the order of tables.
fn contestants(outcomes: &[Outcome]) -> Vec<Contestant> {
    let mut found: Vec<Contestant> = outcomes.iter().map(|outcome| outcome.contestant.clone()).collect();
    found.sort_by(|one, two| one.place().cmp(&two.place()));
    found.dedup();
    found
}

fn of<'a>(outcomes: &'a [Outcome], contestant: &Contestant) -> impl Iterator<Item = &'a Outcome> {
    outcomes.iter().filter(move |outcome| outcome.contestant == *contestant)
}

/// What a contestant gained, as shares of what is possible.
fn gains(outcomes: &[Outcome], contestant: &Contestant) -> Values {
    of(outcomes, contestant).map(|outcome| (outcome.case, outcome.range.gained(outcome.hidden))).collect()
}

/// What the best of the other programs gained in each case that all of them have.
fn best_of_others(outcomes: &[Outcome], contestants: &[Contestant]) -> Values {
    let others: Vec<Values> = contestants
        .iter()
        .filter(|contestant| matches!(contestant, Contestant::Anchor { .. }))
        .map(|contestant| gains(outcomes, contestant))
        .collect();
    best(&others).into_iter().filter(|(case, _)| others.iter().all(|one| one.contains_key(case))).collect()
}

/// What the best gained of the submissions of one program, which may have several time limits.
fn best_of_kind(outcomes: &[Outcome], contestants: &[Contestant], kind: &Kind) -> Values {
    let own = contestants.iter().filter(|contestant| contestant.is_of(kind));
    best(&own.map(|contestant| gains(outcomes, contestant)).collect::<Vec<_>>())
}

fn best(all: &[Values]) -> Values {
    let mut best = Values::new();
    for (case, gained) in all.iter().flatten() {
        let value = best.entry(*case).or_insert(*gained);
        *value = gained.max(*value);
    }
    best
}

fn normalised(gains: &Values, best: &Values) -> Values {
    let [low, high] = LIMITS;
    let share = |(case, gained): (&Case, &f64)| {
        Some((*case, (gained / best.get(case)?.max(SMALLEST_GAIN)).clamp(low, high)))
    };
    gains.iter().filter_map(share).collect()
}

/// Means over seeds, in the units of the metrics.
fn hidden_scores(tasks: &[&'static Task], outcomes: &[Outcome], contestants: &[Contestant]) -> String {
    let names = contestants.iter().map(Contestant::name);
    let header: Vec<String> = ["task", "metric", "best possible", "constant"].map(str::to_owned).into();
    let header: Vec<String> = header.into_iter().chain(names).collect();
    let row = |task: &&Task| {
        let here: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.case.0 == task.name).collect();
        let ranges: BTreeMap<u64, Range> =
            here.iter().map(|outcome| (outcome.case.1, outcome.range)).collect();
        let cell = |contestant: &Contestant| {
            let scores = here.iter().filter(|outcome| outcome.contestant == *contestant);
            let scores: Vec<f64> = scores.filter_map(|outcome| outcome.hidden).collect();
            let average = shown(mean(scores.iter().copied()), 4);
            match scores.len() {
                0 => average,
                count if count == ranges.len() => average,
                count => format!("{average} ({count} of {})", ranges.len()),
            }
        };
        let start = [
            task.name.to_owned(),
            format!("{} ({})", task.metric, task.metric.direction().name()),
            shown(mean(ranges.values().map(|range| range.best)), 4),
            shown(mean(ranges.values().map(|range| range.constant)), 4),
        ];
        (!here.is_empty()).then(|| start.into_iter().chain(contestants.iter().map(cell)).collect())
    };
    markdown(
        &header.iter().map(String::as_str).collect::<Vec<_>>(),
        &tasks.iter().filter_map(row).collect::<Vec<_>>(),
    )
}

/// Means over seeds of normalised scores.
fn per_task(
    tasks: &[&'static Task],
    outcomes: &[Outcome],
    contestants: &[Contestant],
    best: &Values,
) -> String {
    let columns: Vec<Values> =
        contestants.iter().map(|contestant| normalised(&gains(outcomes, contestant), best)).collect();
    let header: Vec<String> =
        ["task".to_owned()].into_iter().chain(contestants.iter().map(Contestant::name)).collect();
    let row = |task: &&Task| {
        let cell = |values: &Values| {
            shown(mean(values.iter().filter(|(case, _)| case.0 == task.name).map(|(_, value)| *value)), 3)
        };
        let is_known = best.keys().any(|case| case.0 == task.name);
        is_known.then(|| [task.name.to_owned()].into_iter().chain(columns.iter().map(cell)).collect())
    };
    markdown(
        &header.iter().map(String::as_str).collect::<Vec<_>>(),
        &tasks.iter().filter_map(row).collect::<Vec<_>>(),
    )
}

/// Means over all tasks, and how often a contestant is at least as good as others.
fn summary(outcomes: &[Outcome], contestants: &[Contestant], best: &Values) -> String {
    let known: Vec<&Kind> =
        KINDS.iter().filter(|kind| contestants.iter().any(|one| one.is_of(kind))).collect();
    let references = known.iter().map(|kind| best_of_kind(outcomes, contestants, kind));
    let references: Vec<Values> = [best.clone()].into_iter().chain(references).collect();
    let mut header = vec!["", "tasks", "cases", "normalised", "share of the possible gain"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    header.push("tasks at or above the best of the others".to_owned());
    header.extend(known.iter().map(|kind| format!("at or above {}", kind.title)));
    header.extend(["without a submission", "share of the time", "scripts"].map(str::to_owned));
    let row = |contestant: &Contestant| {
        let gains = gains(outcomes, contestant);
        let own: Vec<&Outcome> = of(outcomes, contestant).collect();
        let possible = mean_of_tasks(&gains);
        let count = |value: Option<usize>| value.unwrap_or_default().to_string();
        let mut row = vec![
            contestant.name(),
            count(possible.map(|mean| mean.tasks)),
            count(possible.map(|mean| mean.cases)),
            with_interval(mean_of_tasks(&normalised(&gains, best)), gains.len()),
            percent(possible.map(|mean| 100.0 * mean.mean)),
        ];
        row.extend(references.iter().map(|reference| at_or_above(&gains, reference)));
        row.push(own.iter().filter(|outcome| outcome.hidden.is_none()).count().to_string());
        let limit = contestant.seconds() as f64;
        let used = own.iter().filter(|_| limit > 0.0).map(|outcome| 100.0 * outcome.seconds / limit);
        row.push(mean(used).map_or_else(|| "-".to_owned(), |used| format!("{used:.0} %")));
        row.push(shown(mean(own.iter().filter_map(|outcome| Some(outcome.scripts? as f64))), 1));
        row
    };
    let rows: Vec<Vec<String>> = contestants.iter().map(row).collect();
    markdown(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
}

/// A mean with its interval, and with its number of cases where this is not that of the row.
fn with_interval(mean: Option<Mean>, of: usize) -> String {
    let Some(Mean { mean, interval: [low, high], cases, .. }) = mean else { return "-".to_owned() };
    let count = if cases == of { String::new() } else { format!("; {cases} cases") };
    format!("{mean:.3} ({low:.3} to {high:.3}{count})")
}

/// The number of tasks on which the mean over the common seeds is at least that of the reference.
fn at_or_above(gains: &Values, reference: &Values) -> String {
    let mut tasks = BTreeMap::<&str, Vec<f64>>::new();
    for (case, gained) in gains {
        if let Some(other) = reference.get(case) {
            tasks.entry(case.0).or_default().push(gained - other);
        }
    }
    let above = tasks.values().filter(|by| by.iter().sum::<f64>() >= 0.0).count();
    if tasks.is_empty() { "-".to_owned() } else { format!("{above} of {}", tasks.len()) }
}

/// Each build compared with the first one that has the same time limit.
fn between_builds(outcomes: &[Outcome], contestants: &[Contestant]) -> Option<String> {
    let first =
        |run: &Contestant, runs: &[&Contestant]| runs.iter().position(|one| one.seconds() == run.seconds());
    let rows = differences(outcomes, contestants, first)?;
    Some(format!("Builds with the same time, as shares of the possible gain:\n\n{rows}"))
}

/// Each time limit of a build compared with the next shorter one.
fn between_limits(outcomes: &[Outcome], contestants: &[Contestant]) -> Option<String> {
    let shorter = |run: &Contestant, runs: &[&Contestant]| {
        let (.., label, seconds) = run.place();
        runs.iter().rposition(|one| one.place().2 == label && one.seconds() < seconds)
    };
    let rows = differences(outcomes, contestants, shorter)?;
    Some(format!("Builds with more time, as shares of the possible gain:\n\n{rows}"))
}

/// Each run compared with the one at the place that `reference` names; `None` without such pairs.
fn differences(
    outcomes: &[Outcome],
    contestants: &[Contestant],
    reference: impl Fn(&Contestant, &[&Contestant]) -> Option<usize>,
) -> Option<String> {
    let runs: Vec<&Contestant> =
        contestants.iter().filter(|contestant| matches!(contestant, Contestant::Run { .. })).collect();
    let row = |&contestant: &&Contestant| {
        let other = runs[reference(contestant, &runs)?];
        if other == contestant {
            return None;
        }
        let found = compare(&gains(outcomes, contestant), &gains(outcomes, other))?;
        let [low, high] = found.interval.map(|value| 100.0 * value);
        Some(vec![
            format!("{} minus {}", contestant.name(), other.name()),
            found.tasks.to_string(),
            found.cases.to_string(),
            format!("{:+.2} % ({low:+.2} to {high:+.2} %)", 100.0 * found.by),
            found.larger.to_string(),
            found.smaller.to_string(),
        ])
    };
    let rows: Vec<Vec<String>> = runs.iter().filter_map(row).collect();
    let header = ["", "tasks", "cases", "hidden score", "better", "worse"];
    (!rows.is_empty()).then(|| markdown(&header, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::tasks::TASKS;

    fn anchor(kind: usize, seconds: u64) -> Contestant {
        Contestant::Anchor { kind: &KINDS[kind], seconds }
    }

    fn run(order: usize, label: &str) -> Contestant {
        Contestant::Run { order, label: label.to_owned(), seconds: 60 }
    }

    /// Hidden scores between the constant 9 and the best 5.
    fn outcome(contestant: &Contestant, case: Case, hidden: Option<f64>) -> Outcome {
        let is_run = matches!(contestant, Contestant::Run { .. });
        Outcome {
            contestant: contestant.clone(),
            case,
            range: Range { constant: 9.0, best: 5.0, direction: Direction::Minimize },
            hidden,
            seconds: 45.0,
            scripts: is_run.then_some(7),
            build: is_run.then(|| format!("build of seed {}", case.1)),
        }
    }

    fn example() -> Vec<Outcome> {
        let (light, auto, old, new) = (anchor(0, 0), anchor(2, 60), run(0, "old"), run(1, "new"));
        vec![
            outcome(&new, ("loyalty", 1), Some(6.0)),
            outcome(&new, ("loyalty", 2), Some(7.0)),
            outcome(&new, ("clinic", 1), None),
            outcome(&old, ("loyalty", 1), Some(7.0)),
            outcome(&auto, ("loyalty", 1), Some(7.0)),
            outcome(&auto, ("loyalty", 2), Some(8.0)),
            outcome(&auto, ("clinic", 1), Some(9.0)),
            outcome(&light, ("loyalty", 1), Some(8.0)),
            outcome(&light, ("clinic", 1), Some(10.0)),
        ]
    }

    #[test]
    fn other_programs_come_before_runs_and_labels_as_given() {
        let names: Vec<String> = contestants(&example()).iter().map(Contestant::name).collect();
        assert_eq!(names, ["LightGBM", "AutoGluon 60 s", "old 60 s", "new 60 s"]);
    }

    #[test]
    fn the_best_of_the_others_needs_all_of_them() {
        let outcomes = example();
        let best = best_of_others(&outcomes, &contestants(&outcomes));
        assert_eq!(best, Values::from([(("loyalty", 1), 0.5), (("clinic", 1), 0.0)]));
    }

    #[test]
    fn normalised_scores_have_limits() {
        let check = |gained: f64, best: f64, expected: f64| {
            let values = |value| Values::from([(("loyalty", 1), value)]);
            let found = normalised(&values(gained), &values(best))[&("loyalty", 1)];
            assert!((found - expected).abs() < 1e-12, "{found}");
        };
        check(0.5, 0.5, 1.0);
        check(0.25, 0.5, 0.5);
        check(0.9, 0.1, 2.0);
        check(-0.9, 0.1, -1.0);
        // Where the others gain nothing, a hundredth of the possible gain is the unit.
        check(0.005, -0.3, 0.5);
        check(0.0, 0.0, 0.0);
    }

    #[test]
    fn tables_average_seeds_and_tasks() {
        let outcomes = example();
        let tasks: Vec<&Task> = TASKS.iter().collect();
        let found = tables(&tasks, &outcomes).unwrap();
        let check = |expected: &str| assert!(found.contains(expected), "{found}");
        check(
            "| loyalty | accuracy (maximize) | 5.0000 | 9.0000 | 8.0000 (1 of 2) | 7.5000 | 7.0000 (1 of 2) | 6.5000 |\n",
        );
        check("| clinic | ROC-AUC (maximize) | 5.0000 | 9.0000 | 10.0000 | 9.0000 | - | - |\n");
        check("| loyalty | 0.500 | 1.000 | 1.000 | 1.500 |\n");
        check("| clinic | -1.000 | 0.000 | - | 0.000 |\n");
        check(
            "| new 60 s | 2 | 3 | 0.750 (0.000 to 1.500; 2 cases) | 31.25 % | 2 of 2 | 2 of 2 | 2 of 2 | 1 | 75 % | 7.0 |\n",
        );
        check(
            "| LightGBM | 2 | 2 | -0.250 (-1.000 to 0.500) | 0.00 % | 0 of 2 | 2 of 2 | 0 of 2 | 0 | - | - |\n",
        );
        check("| new 60 s minus old 60 s | 1 | 1 | +25.00 % (+25.00 to +25.00 %) | 1 | 0 |\n");
        check("\nResults of several builds: new 60 s.\n");
        assert!(tables(&tasks, &[]).is_err());
    }

    #[test]
    fn time_limits_are_compared_with_the_next_shorter_one() {
        let check = |expected: &[&str], limits: &[(&str, u64, f64)]| {
            let outcomes: Vec<Outcome> = limits
                .iter()
                .map(|&(label, seconds, hidden)| {
                    let run = Contestant::Run { order: 0, label: label.to_owned(), seconds };
                    outcome(&run, ("loyalty", 1), Some(hidden))
                })
                .collect();
            let found = between_limits(&outcomes, &contestants(&outcomes)).unwrap_or_default();
            let rows: Vec<&str> = found.lines().filter(|line| line.contains("minus")).collect();
            assert_eq!(rows, expected);
        };
        check(
            &[
                "| new 120 s minus new 60 s | 1 | 1 | +25.00 % (+25.00 to +25.00 %) | 1 | 0 |",
                "| new 600 s minus new 120 s | 1 | 1 | -50.00 % (-50.00 to -50.00 %) | 0 | 1 |",
            ],
            &[("new", 600, 8.0), ("new", 60, 7.0), ("old", 90, 6.0), ("new", 120, 6.0)],
        );
        check(&[], &[("new", 60, 7.0), ("old", 120, 6.0)]);
    }

    #[test]
    fn without_other_programs_there_is_no_normalised_score() {
        let found = tables(&[&TASKS[0]], &[outcome(&run(0, "new"), ("loyalty", 1), Some(7.0))]).unwrap();
        assert!(found.contains("| new 60 s | 1 | 1 | - | 50.00 % | - | 0 | 75 % | 7.0 |\n"), "{found}");
    }
}

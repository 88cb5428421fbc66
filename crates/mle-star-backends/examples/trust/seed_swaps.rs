//! What accepting by the validation score does when there is nothing to find.
//!
//! The "edits" of one boosted model are other random seeds, as in the replay without an agent of Auto-Overfit
//! (github.com/travispchen/autoresearch-overfit). `seed_swaps.py` scores all seeds; the rules of accepting are applied
//! here.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mle_star::measure::{Measurement, standard_deviation};
use mle_star::metric::Direction;
use serde::Deserialize;
use serde_json::json;

use crate::common::statistics::{
    Case, Pair, compare, coverage, markdown, mean, mean_optimism, optimism, regret, share_of_range, spearman,
};
use crate::common::tasks::{self, Made, Task};

const SCRIPT: &str = include_str!("seed_swaps.py");
/// The seeds tried after the first.
const SWAPS: usize = 25;
/// The bootstrap replicates of each validation score.
const REPLICATES: usize = 100;

/// What to replay.
pub struct Replay {
    /// The interpreter, with LightGBM and scikit-learn.
    pub python: PathBuf,
    /// The tasks.
    pub tasks: Vec<&'static Task>,
    /// The seeds of each task.
    pub seeds: RangeInclusive<u64>,
}

/// When a candidate replaces the best so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    BetterOrEqual,
    /// Better by more than one standard error of the paired difference.
    OneStandardError,
}

/// What `seed_swaps.py` prints: a validation score, a hidden score and replicates for each seed of the model.
#[derive(Deserialize)]
struct Scored {
    validation: Vec<f64>,
    hidden: Vec<f64>,
    replicates: Vec<Vec<f64>>,
}

/// A model with its scores.
struct Candidate {
    validation: Measurement,
    hidden: f64,
}

/// What a rule did in a case. Gains are positive if the chosen candidate is better than the first.
struct Outcome {
    case: Case,
    rule: Rule,
    direction: Direction,
    /// The distance from the constant to the best possible score: both.
    range: [f64; 2],
    accepted: usize,
    validation_gain: f64,
    hidden_gain: f64,
    regret: f64,
    chosen: Pair,
    interval: [f64; 2],
    /// Rank correlation of validation and hidden scores of all candidates.
    correlation: Option<f64>,
}

/// Replays every case and returns the tables.
///
/// # Errors
/// A task cannot be written, or the script fails.
pub fn replay(replay: &Replay) -> Result<String, Box<dyn Error>> {
    let mut outcomes = Vec::new();
    for task in &replay.tasks {
        for seed in replay.seeds.clone() {
            let folder = tempfile::tempdir()?;
            let made = tasks::write(task, seed, folder.path())?;
            let candidates = candidates(&replay.python, &made, seed)?;
            outcomes.extend(Rule::ALL.map(|rule| outcome(rule, &made, (task.name, seed), &candidates)));
        }
    }
    let sections = [per_task(&replay.tasks, &outcomes), per_rule(&outcomes), difference(&outcomes)];
    Ok(sections.join("\n"))
}

impl Rule {
    const ALL: [Self; 2] = [Self::BetterOrEqual, Self::OneStandardError];

    fn name(self) -> &'static str {
        match self {
            Self::BetterOrEqual => "better or equal",
            Self::OneStandardError => "one standard error",
        }
    }

    fn accepts(self, candidate: &Measurement, best: &Measurement, direction: Direction) -> bool {
        let Some(difference) = candidate.difference(best) else { return false };
        let gain = optimism(Pair { reported: candidate.score, hidden: best.score }, direction);
        match self {
            Self::BetterOrEqual => gain >= 0.0,
            Self::OneStandardError => gain > difference.standard_error,
        }
    }
}

fn candidates(python: &Path, made: &Made, seed: u64) -> Result<Vec<Candidate>, Box<dyn Error>> {
    let order = json!({
        "data": made.data, "answers": made.answers_file, "metric": made.task.metric.name(),
        "split": made.task.split.name(), "column": made.task.column, "split_seed": seed,
        "seeds": SWAPS + 1, "replicates": REPLICATES,
    });
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .env("OMP_NUM_THREADS", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", python.display()))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(order.to_string().as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", made.task.name, String::from_utf8_lossy(&output.stderr)).into());
    }
    let scored: Scored = serde_json::from_slice(&output.stdout)?;
    if [scored.validation.len(), scored.hidden.len(), scored.replicates.len()] != [SWAPS + 1; 3] {
        return Err(format!("{}: the script printed too few scores", made.task.name).into());
    }
    let scores = scored.validation.into_iter().zip(scored.hidden).zip(scored.replicates);
    Ok(scores.map(|((score, hidden), replicates)| candidate(score, hidden, replicates)).collect())
}

fn candidate(score: f64, hidden: f64, replicates: Vec<f64>) -> Candidate {
    let standard_error = standard_deviation(&replicates).unwrap_or_default();
    let interval = [score - 1.96 * standard_error, score + 1.96 * standard_error];
    let (rows, rows_digest) = (0, String::new());
    Candidate {
        validation: Measurement {
            score,
            rows,
            clusters: None,
            rows_digest,
            standard_error,
            interval,
            replicates,
        },
        hidden,
    }
}

fn outcome(rule: Rule, made: &Made, case: Case, candidates: &[Candidate]) -> Outcome {
    let direction = made.task.metric.direction();
    let (accepted, best) = choose(rule, candidates, direction);
    let (first, chosen) = (&candidates[0], &candidates[best]);
    let gain = |to: f64, from: f64| optimism(Pair { reported: to, hidden: from }, direction);
    let hidden: Vec<f64> = candidates.iter().map(|candidate| candidate.hidden).collect();
    let pairs: Vec<Pair> = candidates.iter().map(Candidate::pair).collect();
    Outcome {
        case,
        rule,
        direction,
        range: [made.constant, made.best],
        accepted,
        validation_gain: gain(chosen.validation.score, first.validation.score),
        hidden_gain: gain(chosen.hidden, first.hidden),
        regret: regret(chosen.hidden, &hidden, direction),
        chosen: chosen.pair(),
        interval: chosen.validation.interval,
        correlation: spearman(&pairs),
    }
}

/// The number of accepted candidates after the first, and the position of the last one.
fn choose(rule: Rule, candidates: &[Candidate], direction: Direction) -> (usize, usize) {
    let (mut accepted, mut best) = (0, 0);
    for (position, candidate) in candidates.iter().enumerate().skip(1) {
        if rule.accepts(&candidate.validation, &candidates[best].validation, direction) {
            (accepted, best) = (accepted + 1, position);
        }
    }
    (accepted, best)
}

impl Candidate {
    fn pair(&self) -> Pair {
        Pair { reported: self.validation.score, hidden: self.hidden }
    }
}

impl Outcome {
    fn share(&self, difference: f64) -> f64 {
        share_of_range(difference, self.range[0], self.range[1])
    }
}

/// Means over the seeds of each task, in the metric's unit.
fn per_task(tasks: &[&Task], outcomes: &[Outcome]) -> String {
    let mut header = vec!["task", "metric", "rank correlation"];
    for _ in Rule::ALL {
        header.extend(["accepted", "gain, validation", "gain, hidden", "optimism"]);
    }
    let row = |task: &&Task| {
        let of_task: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.case.0 == task.name).collect();
        let correlation = mean(of_task.iter().filter_map(|outcome| outcome.correlation));
        let mut cells = vec![task.name.to_owned(), task.metric.to_string(), shown(correlation, 2)];
        for rule in Rule::ALL {
            let of_rule: Vec<&&Outcome> = of_task.iter().filter(|outcome| outcome.rule == rule).collect();
            let pairs: Vec<Pair> = of_rule.iter().map(|outcome| outcome.chosen).collect();
            let decimals = if task.metric.is_for_regression() { 3 } else { 4 };
            cells.extend([
                shown(mean(of_rule.iter().map(|outcome| outcome.accepted as f64)), 1),
                signed(mean(of_rule.iter().map(|outcome| outcome.validation_gain)), decimals),
                signed(mean(of_rule.iter().map(|outcome| outcome.hidden_gain)), decimals),
                signed(mean_optimism(&pairs, task.metric.direction()), decimals),
            ]);
        }
        cells
    };
    let rules = Rule::ALL.map(Rule::name).join("\", then \"");
    let rows: Vec<Vec<String>> = tasks.iter().map(row).collect();
    format!("{SWAPS} seed swaps per case; the rule \"{rules}\".\n\n{}", markdown(&header, &rows))
}

/// Means over all cases, as percentages of the distance from the constant to the best possible score.
fn per_rule(outcomes: &[Outcome]) -> String {
    let header = [
        "rule",
        "accepted",
        "cases with any",
        "gain, validation",
        "gain, hidden",
        "validation up, hidden down",
        "optimism",
        "regret",
        "interval covers the hidden score",
    ];
    let row = |rule: Rule| {
        let cases: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.rule == rule).collect();
        let percent = |value: fn(&Outcome) -> f64| {
            let shares = cases.iter().map(|outcome| 100.0 * outcome.share(value(outcome)));
            format!("{} %", signed(mean(shares), 2))
        };
        let count = |holds: fn(&Outcome) -> bool| cases.iter().filter(|outcome| holds(outcome)).count();
        let intervals = cases.iter().map(|outcome| (outcome.case, outcome.interval, outcome.chosen.hidden));
        let covered = coverage(intervals);
        let [low, high] = covered.interval.map(|share| 100.0 * share);
        vec![
            rule.name().to_owned(),
            format!(
                "{} of {}",
                cases.iter().map(|outcome| outcome.accepted).sum::<usize>(),
                cases.len() * SWAPS
            ),
            format!("{} of {}", count(|outcome| outcome.accepted > 0), cases.len()),
            percent(|outcome| outcome.validation_gain),
            percent(|outcome| outcome.hidden_gain),
            count(|outcome| outcome.validation_gain > 0.0 && outcome.hidden_gain < 0.0).to_string(),
            percent(|outcome| optimism(outcome.chosen, outcome.direction)),
            percent(|outcome| outcome.regret),
            format!("{} of {} ({low:.0} to {high:.0} %)", covered.hits, covered.of),
        ]
    };
    markdown(&header, &Rule::ALL.map(row))
}

/// The comparison of the rules by what they gain on hidden rows, and by what they gain on validation rows beyond that.
fn difference(outcomes: &[Outcome]) -> String {
    let compared = |value: fn(&Outcome) -> f64| {
        let cases = |rule: Rule| -> BTreeMap<Case, f64> {
            let of_rule = outcomes.iter().filter(|outcome| outcome.rule == rule);
            of_rule.map(|outcome| (outcome.case, 100.0 * outcome.share(value(outcome)))).collect()
        };
        let found = compare(&cases(Rule::OneStandardError), &cases(Rule::BetterOrEqual))?;
        let [low, high] = found.interval;
        let (by, larger, smaller) = (found.by, found.larger, found.smaller);
        Some(format!(
            "{by:+.2} % ({low:+.2} to {high:+.2} %; larger in {larger}, smaller in {smaller} cases)"
        ))
    };
    let line = |what: &str, value| {
        format!("- {what}: {}\n", compared(value).unwrap_or_else(|| "no cases".to_owned()))
    };
    [
        "One standard error minus better or equal, mean over the tasks with a 95 % bootstrap interval:\n\n"
            .to_owned(),
        line("gain on hidden rows", |outcome| outcome.hidden_gain),
        line("gain on validation rows beyond that on hidden rows", |outcome| {
            outcome.validation_gain - outcome.hidden_gain
        }),
    ]
    .concat()
}

fn shown(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

fn signed(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:+.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_accept_what_they_say() {
        let check = |rule, direction, scores: &[(f64, f64)], expected: (usize, usize)| {
            // Replicates that differ by twice `spread` between candidates.
            let made = |(score, spread): &(f64, f64)| {
                candidate(*score, 0.0, vec![score - spread, *score, score + spread])
            };
            let candidates: Vec<Candidate> = scores.iter().map(made).collect();
            assert_eq!(choose(rule, &candidates, direction), expected, "{rule:?} {scores:?}");
        };
        let (plain, strict) = (Rule::BetterOrEqual, Rule::OneStandardError);
        let noisy = [(0.5, 0.0), (0.6, 0.2), (0.6, 0.2), (0.9, 0.2), (0.4, 0.0)];
        check(plain, Direction::Maximize, &noisy, (3, 3));
        check(strict, Direction::Maximize, &noisy, (1, 3));
        check(plain, Direction::Minimize, &noisy, (1, 4));
        check(strict, Direction::Minimize, &noisy, (1, 4));
        check(strict, Direction::Maximize, &[(0.5, 0.0), (0.5, 0.0)], (0, 0));
        check(plain, Direction::Maximize, &[(0.5, 0.0), (0.5, 0.0)], (1, 1));
    }
}

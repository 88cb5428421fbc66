//! What rules of accepting, choosing and reporting do to searches without agents.
//!
//! The "edits" of one boosted model are other random seeds, as in the replay without an agent of Auto-Overfit
//! (github.com/travispchen/autoresearch-overfit), or other settings, which may also learn from validation rows.
//! `replay.py` scores all candidates; the rules are applied here. As in a run, columns that know the answer in the training
//! table only are looked for first and left out.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::RangeInclusive;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use mle_star_data::{comparison, profile};
use mle_star_domain::measure::{Measurement, standard_deviation};
use mle_star_domain::metric::Direction;
use mle_star_domain::protocol::{Shift, Split};
use serde::Deserialize;
use serde_json::json;

use crate::common::Failure;
use crate::common::statistics::{
    Case, Pair, compare, coverage, gain, markdown, mean, mean_of_tasks, optimism, regret, share_of_range,
    shown, spearman,
};
use crate::common::tasks::{self, Made, Task};

const SCRIPT: &str = include_str!("replay.py");
/// The candidates tried after the first.
const EDITS: usize = 25;
/// The bootstrap replicates of each score.
const REPLICATES: usize = 100;
/// The best candidates by validation, which *holdout chooses* compares. The program compares as many.
const FINALISTS: usize = 4;
/// As many standard errors of the difference contradict a validation score. The program has the same limit.
const CONTRADICTED: f64 = 2.0;
/// The program holds no rows out of fewer training rows.
const FEWEST_ROWS: usize = 2_000;

/// What to replay.
pub struct Replay {
    /// The interpreter, with LightGBM and scikit-learn.
    pub python: PathBuf,
    /// The tasks.
    pub tasks: Vec<&'static Task>,
    /// The seeds of each task.
    pub seeds: RangeInclusive<u64>,
    /// The searches.
    pub searches: Vec<&'static Search>,
}

/// A way to make candidates.
pub struct Search {
    /// The name on the command line.
    pub name: &'static str,
    about: &'static str,
}

/// Every search.
pub static SEARCHES: [Search; 4] = [
    Search { name: "seeds", about: "candidates differ in their random seed only" },
    Search { name: "careful", about: "candidates differ in settings and columns" },
    Search {
        name: "careless",
        about: "half of the candidates also use validation rows to choose trees, seeds or weights",
    },
    Search { name: "leaking", about: "half of the candidates have seen targets of validation rows" },
];

/// How a candidate is chosen, and what is reported for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// A candidate replaces the best so far if it is better or equal.
    Paper,
    /// It replaces the best so far if it is better by more than one standard error of the paired difference.
    OneStandardError,
    /// As in the paper, without the held-out rows, which report.
    HoldoutReports,
    /// As before, but one half of the held-out rows chooses among all if it contradicts the validation score.
    HoldoutChecks,
    /// One half of the held-out rows chooses among the best, the other reports.
    HoldoutChooses,
}

/// What `replay.py` prints.
#[derive(Deserialize)]
struct Scored {
    hidden: Vec<f64>,
    validation: Vec<Replicated>,
    /// If rows are held out: the same candidates without these rows, the best by validation first.
    finalists: Option<Vec<Finalist>>,
}

#[derive(Deserialize)]
struct Finalist {
    candidate: usize,
    validation: Replicated,
    held_out: Replicated,
    choosing: Replicated,
    reporting: Replicated,
}

#[derive(Clone, Deserialize)]
struct Replicated {
    score: f64,
    replicates: Vec<f64>,
}

/// A candidate and what is reported for it.
struct Chosen {
    candidate: usize,
    reported: Measurement,
}

/// What a rule did in a case, as shares of the distance from the constant to the best possible score.
struct Outcome {
    case: Case,
    rule: Rule,
    /// The gain of the chosen candidate over the first, on hidden rows.
    hidden_gain: f64,
    optimism: f64,
    regret: f64,
    interval: [f64; 2],
    hidden: f64,
    /// Rank correlation of validation and hidden scores of all candidates.
    correlation: Option<f64>,
}

/// Replays every case and returns the tables.
///
/// # Errors
/// A task cannot be written, or the script fails.
pub fn replay(replay: &Replay) -> Result<String, Failure> {
    let mut sections = Vec::new();
    for search in &replay.searches {
        let mut outcomes = Vec::new();
        for task in &replay.tasks {
            for seed in replay.seeds.clone() {
                let folder = tempfile::tempdir()?;
                let made = tasks::write(task, seed, folder.path())?;
                let scored = replay.scored(search, &made, seed)?;
                outcomes.extend(Rule::ALL.map(|rule| outcome(rule, &made, (task.name, seed), &scored)));
            }
        }
        let cases = outcomes.len() / Rule::ALL.len();
        sections.extend([
            format!("## {}\n", search.name),
            format!("{}: {}; {cases} cases, {EDITS} edits each\n", search.name, search.about),
            per_rule(&outcomes),
            differences(&outcomes),
            per_task(&replay.tasks, &outcomes),
        ]);
    }
    Ok(sections.join("\n"))
}

impl Replay {
    fn scored(&self, search: &Search, made: &Made, seed: u64) -> Result<Scored, Failure> {
        let holds_out = made.task.rows[0] >= FEWEST_ROWS;
        let order = json!({
            "data": "input", "answers": made.answers_file, "metric": made.task.metric.name(),
            "split": made.task.split.name(), "column": made.task.column, "split_seed": seed,
            "search": search.name, "candidates": EDITS + 1, "replicates": REPLICATES, "holds_out": holds_out,
            "left_out": self.suspicious(made)?,
        });
        let scored: Scored = serde_json::from_str(&self.run(made, SCRIPT, &order.to_string())?)?;
        let finalists = scored.finalists.as_ref().map(Vec::len);
        let is_whole = [scored.validation.len(), scored.hidden.len()] == [EDITS + 1; 2]
            && finalists == holds_out.then_some(EDITS + 1);
        if !is_whole {
            return Err(format!("{}: the script printed too few scores", made.task.name).into());
        }
        Ok(scored)
    }

    /// The columns that a run would leave out, since they know the answer in the training table only.
    fn suspicious(&self, made: &Made) -> Result<Vec<String>, Failure> {
        let column = made.task.column.map(str::to_owned);
        let split = Split { kind: made.task.split, column, why: String::new() };
        let is_for_classes = !made.task.metric.is_for_regression();
        let tables = profile::read(&made.data)?;
        let script = comparison::script(&tables, tasks::TARGET, Some(tasks::ID), &split, is_for_classes);
        let Some(script) = script else { return Ok(Vec::new()) };
        let printed = self.run(made, &script, "")?;
        let found = Shift::parse(&printed).ok_or_else(|| format!("{}: {printed}", made.task.name))?;
        Ok(found.suspicious.into_iter().map(|suspicious| suspicious.column).collect())
    }

    /// What a script prints. It finds the data in `input`.
    fn run(&self, made: &Made, script: &str, input: &str) -> Result<String, Failure> {
        let folder = tempfile::tempdir()?;
        symlink(&made.data, folder.path().join("input"))?;
        let mut child = Command::new(&self.python)
            .args(["-c", script])
            .current_dir(&folder)
            .env("OMP_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.python.display()))?;
        let written = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("{}: {}", made.task.name, String::from_utf8_lossy(&output.stderr)).into());
        }
        written.transpose()?;
        Ok(String::from_utf8(output.stdout)?)
    }
}

impl Rule {
    const ALL: [Self; 5] = [
        Self::Paper,
        Self::OneStandardError,
        Self::HoldoutReports,
        Self::HoldoutChecks,
        Self::HoldoutChooses,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::OneStandardError => "one standard error",
            Self::HoldoutReports => "holdout reports",
            Self::HoldoutChecks => "holdout checks (default)",
            Self::HoldoutChooses => "holdout chooses",
        }
    }

    /// The candidate that the rule ends with. Without held-out rows, the validation score chooses and reports.
    fn choose(self, scored: &Scored, direction: Direction) -> Chosen {
        match (self, scored.finalists.as_deref()) {
            (Self::OneStandardError, _) => {
                scored.by_validation(|next, best| is_beyond_chance(next, best, direction))
            }
            (Self::HoldoutChooses, Some(finalists)) => {
                let (measured, best) = best_choosing(&finalists[..FINALISTS], direction);
                let is_close = |one: &Measurement| !is_beyond_chance(&measured[best], one, direction);
                finalists[measured.iter().position(is_close).unwrap_or(best)].chosen()
            }
            (Self::HoldoutChecks, Some(finalists @ [first, ..])) if first.is_contradicted(direction) => {
                finalists[best_choosing(finalists, direction).1].chosen()
            }
            (Self::HoldoutReports | Self::HoldoutChecks, Some([first, ..])) => {
                Chosen { candidate: first.candidate, reported: first.held_out.measured() }
            }
            _ => scored.by_validation(|next, best| is_as_good(next, best, direction)),
        }
    }
}

impl Scored {
    /// The last candidate that is accepted in place of the best so far.
    fn by_validation(&self, accepts: impl Fn(&Measurement, &Measurement) -> bool) -> Chosen {
        let measured: Vec<Measurement> = self.validation.iter().map(Replicated::measured).collect();
        let better =
            |best: usize, next: usize| if accepts(&measured[next], &measured[best]) { next } else { best };
        let candidate = (1..measured.len()).fold(0, better);
        Chosen { candidate, reported: measured[candidate].clone() }
    }
}

/// The scores on the choosing half, and the place of the best.
fn best_choosing(finalists: &[Finalist], direction: Direction) -> (Vec<Measurement>, usize) {
    let measured: Vec<Measurement> = finalists.iter().map(|one| one.choosing.measured()).collect();
    let better =
        |best, next| if is_as_good(&measured[best], &measured[next], direction) { best } else { next };
    let best = (1..measured.len()).fold(0, better);
    (measured, best)
}

fn is_as_good(one: &Measurement, other: &Measurement, direction: Direction) -> bool {
    gain(one.score, other.score, direction) >= 0.0
}

/// Whether the first is better by more than one standard error of the paired difference.
fn is_beyond_chance(one: &Measurement, other: &Measurement, direction: Direction) -> bool {
    let error = one.difference(other).map(|difference| difference.standard_error);
    error.is_some_and(|error| gain(one.score, other.score, direction) > error)
}

impl Finalist {
    /// It is chosen by one half, so the other half reports.
    fn chosen(&self) -> Chosen {
        Chosen { candidate: self.candidate, reported: self.reporting.measured() }
    }

    /// Whether the choosing half is worse than the validation score by more than the program allows.
    fn is_contradicted(&self, direction: Direction) -> bool {
        let (validated, held_out) = (self.validation.measured(), self.choosing.measured());
        let error = validated.standard_error.hypot(held_out.standard_error);
        gain(validated.score, held_out.score, direction) > CONTRADICTED * error
    }
}

impl Replicated {
    fn measured(&self) -> Measurement {
        let (score, replicates) = (self.score, self.replicates.clone());
        let standard_error = standard_deviation(&replicates).unwrap_or_default();
        let interval = [score - 1.96 * standard_error, score + 1.96 * standard_error];
        let (rows, rows_digest) = (0, String::new());
        Measurement { score, rows, clusters: None, rows_digest, standard_error, interval, replicates }
    }
}

fn outcome(rule: Rule, made: &Made, case: Case, scored: &Scored) -> Outcome {
    let direction = made.task.metric.direction();
    let share = |difference: f64| share_of_range(difference, made.constant, made.best);
    let Chosen { candidate, reported } = rule.choose(scored, direction);
    let hidden = scored.hidden[candidate];
    let pair =
        |(validation, hidden): (&Replicated, &f64)| Pair { reported: validation.score, hidden: *hidden };
    let pairs: Vec<Pair> = scored.validation.iter().zip(&scored.hidden).map(pair).collect();
    Outcome {
        case,
        rule,
        hidden_gain: share(gain(hidden, scored.hidden[0], direction)),
        optimism: share(optimism(Pair { reported: reported.score, hidden }, direction)),
        regret: share(regret(hidden, &scored.hidden, direction)),
        interval: reported.interval,
        hidden,
        correlation: spearman(&pairs),
    }
}

/// Means of the tasks' means.
fn per_rule(outcomes: &[Outcome]) -> String {
    let header = [
        "rule",
        "gain, hidden",
        "regret",
        "optimism",
        "size of optimism",
        "interval covers the hidden score",
    ];
    let row = |rule: Rule| {
        let cases: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.rule == rule).collect();
        let percent = |value: fn(&Outcome) -> f64| {
            let values = cases.iter().map(|outcome| (outcome.case, 100.0 * value(outcome))).collect();
            mean_of_tasks(&values).map_or_else(|| "-".to_owned(), |found| format!("{:+.2} %", found.mean))
        };
        let covered = coverage(cases.iter().map(|outcome| (outcome.case, outcome.interval, outcome.hidden)));
        let [low, high] = covered.interval.map(|share| 100.0 * share);
        vec![
            rule.name().to_owned(),
            percent(|outcome| outcome.hidden_gain),
            percent(|outcome| outcome.regret),
            percent(|outcome| outcome.optimism),
            percent(|outcome| outcome.optimism.abs()),
            format!("{} of {} ({low:.0} to {high:.0} %)", covered.hits, covered.of),
        ]
    };
    markdown(&header, &Rule::ALL.map(row))
}

/// Each rule compared with the paper's.
fn differences(outcomes: &[Outcome]) -> String {
    let compared = |rule: Rule, value: fn(&Outcome) -> f64| {
        let cases = |rule: Rule| -> BTreeMap<Case, f64> {
            let of_rule = outcomes.iter().filter(|outcome| outcome.rule == rule);
            of_rule.map(|outcome| (outcome.case, 100.0 * value(outcome))).collect()
        };
        let Some(found) = compare(&cases(rule), &cases(Rule::Paper)) else { return "-".to_owned() };
        let ([low, high], by) = (found.interval, found.by);
        format!("{by:+.2} % ({low:+.2} to {high:+.2} %; {} larger, {} smaller)", found.larger, found.smaller)
    };
    let row = |rule: &Rule| {
        let hidden = compared(*rule, |outcome| outcome.hidden_gain);
        vec![rule.name().to_owned(), hidden, compared(*rule, |outcome| outcome.optimism)]
    };
    let rows: Vec<Vec<String>> = Rule::ALL[1..].iter().map(row).collect();
    markdown(&["minus paper", "gain, hidden", "optimism"], &rows)
}

/// Means over the seeds of each task.
fn per_task(tasks: &[&Task], outcomes: &[Outcome]) -> String {
    let names = Rule::ALL.map(|rule| [format!("{}: gain, hidden", rule.name()), "optimism".to_owned()]);
    let mut header = vec!["task", "rank correlation"];
    header.extend(names.iter().flatten().map(String::as_str));
    let row = |task: &&Task| {
        let of_task: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.case.0 == task.name).collect();
        let correlation = mean(of_task.iter().filter_map(|outcome| outcome.correlation));
        let mut cells = vec![task.name.to_owned(), shown(correlation, 2)];
        for rule in Rule::ALL {
            let of_rule = of_task.iter().filter(|outcome| outcome.rule == rule);
            let percent = |value: fn(&Outcome) -> f64| {
                format!("{} %", shown(mean(of_rule.clone().map(|outcome| 100.0 * value(outcome))), 1))
            };
            cells.extend([percent(|outcome| outcome.hidden_gain), percent(|outcome| outcome.optimism)]);
        }
        cells
    };
    markdown(&header, &tasks.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replicates that differ by twice `spread` between candidates.
    fn replicated((score, spread): (f64, f64)) -> Replicated {
        Replicated { score, replicates: vec![score - spread, score, score + spread] }
    }

    fn scored(validation: &[(f64, f64)], finalists: &[(usize, f64, f64)]) -> Scored {
        let finalist = |&(candidate, score, spread): &(usize, f64, f64)| Finalist {
            candidate,
            validation: replicated((0.7, 0.1)),
            held_out: replicated((0.1, 0.0)),
            choosing: replicated((score, spread)),
            reporting: replicated((0.2, 0.0)),
        };
        Scored {
            hidden: Vec::new(),
            validation: validation.iter().copied().map(replicated).collect(),
            finalists: (!finalists.is_empty()).then(|| finalists.iter().map(finalist).collect()),
        }
    }

    #[test]
    fn rules_accept_what_they_say() {
        let check = |rule: Rule, direction, scores: &[(f64, f64)], expected: usize| {
            let chosen = rule.choose(&scored(scores, &[]), direction);
            assert_eq!(chosen.candidate, expected, "{rule:?} {scores:?}");
            assert_eq!(chosen.reported.score, scores[expected].0);
        };
        let noisy = [(0.5, 0.0), (0.6, 0.2), (0.6, 0.2), (0.9, 0.2), (0.4, 0.0)];
        check(Rule::Paper, Direction::Maximize, &noisy, 3);
        check(Rule::OneStandardError, Direction::Maximize, &noisy, 3);
        check(Rule::OneStandardError, Direction::Maximize, &noisy[..3], 0);
        check(Rule::Paper, Direction::Minimize, &noisy, 4);
        check(Rule::OneStandardError, Direction::Minimize, &noisy, 4);
        check(Rule::Paper, Direction::Maximize, &[(0.5, 0.0), (0.5, 0.0)], 1);
        check(Rule::OneStandardError, Direction::Maximize, &[(0.5, 0.0), (0.5, 0.0)], 0);
        // Without held-out rows.
        check(Rule::HoldoutReports, Direction::Maximize, &noisy, 3);
        check(Rule::HoldoutChooses, Direction::Maximize, &noisy, 3);
    }

    #[test]
    fn held_out_rows_report_and_choose() {
        let check = |rule: Rule, finalists: &[(usize, f64, f64)], expected: (usize, f64)| {
            let chosen = rule.choose(&scored(&[(0.5, 0.0); 9], finalists), Direction::Maximize);
            assert_eq!((chosen.candidate, chosen.reported.score), expected, "{rule:?} {finalists:?}");
        };
        let clear = [(7, 0.5, 0.0), (3, 0.6, 0.0), (5, 0.4, 0.0), (6, 0.4, 0.0), (1, 0.8, 0.0)];
        check(Rule::HoldoutReports, &clear, (7, 0.1));
        // Among four.
        check(Rule::HoldoutChooses, &clear, (3, 0.2));
        // Of a validation score of 0.7 with a standard error of 0.1, a half with 0.5 says nothing, and one with 0.4 the contrary.
        let others = [(3, 0.6, 0.0), (5, 0.5, 0.0), (6, 0.5, 0.0), (1, 0.7, 0.3)];
        check(Rule::HoldoutChecks, &[&[(7, 0.5, 0.1)], &others[..]].concat(), (7, 0.1));
        check(Rule::HoldoutChecks, &[&[(7, 0.4, 0.1)], &others[..]].concat(), (1, 0.2));
        // The best one is within one standard error of the first.
        let uncertain = [(7, 0.5, 0.0), (3, 0.6, 0.2), (5, 0.4, 0.0), (6, 0.4, 0.0)];
        check(Rule::HoldoutChooses, &uncertain, (7, 0.2));
    }
}

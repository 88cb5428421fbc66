//! Tables of what each rule of accepting, choosing and reporting does to hidden scores.

use std::collections::BTreeMap;
use std::path::Path;

use mle_star::metric::Direction;
use serde::{Deserialize, Serialize};

use crate::common::Failure;
use crate::common::record::{self, Record};
use crate::common::results;
use crate::common::runs::Drawn;
use crate::common::statistics::{
    Case, Pair, compare, coverage, markdown, mean, optimism, percent, regret, share_of_range, shown, spearman,
};
use crate::common::tasks::{self, Made, Task};
use crate::grid::{CONFIGURATIONS, Cell, Grid, PAPER};

/// The rule that needs no runs of its own: the average of the best submissions of the paper's runs.
const AVERAGE: &str = "paper, three best averaged";

/// What a rule did in a case.
#[derive(Clone, Serialize, Deserialize)]
struct Outcome {
    /// A [`Case`].
    #[serde(borrow)]
    case: (&'static str, u64),
    seconds: u64,
    rule: &'static str,
    direction: Direction,
    /// The hidden scores of a constant and of somebody who knows the process.
    range: [f64; 2],
    /// The hidden score of the submission; `None` without a valid submission.
    hidden: Option<f64>,
    /// The best hidden score of any submission of the run is better by this much.
    regret: Option<f64>,
    validation: Option<Report>,
    holdout: Option<Report>,
    /// Whether another solution than the best one by validation was chosen.
    chose_another: bool,
    /// The number of scripts with a validation score; 0 for a rule without runs of its own.
    scripts: usize,
    /// Rank correlation of validation and hidden scores of the run's scripts.
    correlation: Option<f64>,
    /// Seconds of the run.
    run_seconds: Option<f64>,
    /// The share of them that the held-out rows took.
    holdout_share: Option<f64>,
}

/// What a run says about its score.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Report {
    score: f64,
    interval: Option<[f64; 2]>,
}

/// The tables of all finished runs of a grid. With a file of results, they are added to it, and the tables show all that it
/// has.
///
/// # Errors
/// A task cannot be drawn again, or files of a run or of results cannot be read or written.
pub fn tables(grid: &Grid, collected: Option<&Path>) -> Result<String, Failure> {
    let mut outcomes = outcomes(grid)?;
    if let Some(file) = collected {
        outcomes = with_earlier(outcomes, results::read(file)?);
        results::write(file, &outcomes)?;
    }
    let mut sections = Vec::new();
    for seconds in &grid.seconds {
        let chosen: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.seconds == *seconds).collect();
        if !chosen.is_empty() {
            sections.extend([format!("## {seconds} s a run\n"), per_rule(&chosen)]);
            sections.extend([differences(&chosen), reports(&chosen)]);
            sections.extend(PerTask::ALL.map(|table| table.markdown(&grid.tasks, &chosen)));
        }
    }
    if sections.is_empty() { Err("no run is finished".into()) } else { Ok(sections.join("\n")) }
}

fn outcomes(grid: &Grid) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    let mut cells: Vec<Cell> = grid.cells();
    // Each task is drawn once: into another folder, since runs notice that their data was written again.
    cells.sort_by_key(|cell| cell.run.drawn.case());
    for same in cells.chunk_by(|one, two| one.run.drawn.case() == two.run.drawn.case()) {
        let scratch = tempfile::tempdir()?;
        let Drawn { task, seed } = same[0].run.drawn;
        let made = tasks::write(task, seed, scratch.path())?;
        for cell in same {
            outcomes.extend(of_cell(cell, &made, &grid.folder)?);
        }
    }
    Ok(outcomes)
}

/// New outcomes, and the earlier ones that they do not replace, in the order of time limits, tasks, seeds and rules.
fn with_earlier(outcomes: Vec<Outcome>, earlier: Vec<Outcome>) -> Vec<Outcome> {
    let key = |outcome: &Outcome| {
        let task = tasks::TASKS.iter().position(|task| task.name == outcome.case.0);
        let rule = CONFIGURATIONS.iter().position(|rule| rule.title == outcome.rule);
        // The rule without runs of its own follows the paper's, which comes first.
        (outcome.seconds, task, outcome.case.1, rule.map_or(1, |rule| 2 * rule))
    };
    let all = earlier.into_iter().chain(outcomes).map(|outcome| (key(&outcome), outcome));
    all.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// The outcomes of the rules that a run shows; none if the run is not finished.
fn of_cell(cell: &Cell, made: &Made, folder: &Path) -> Result<Vec<Outcome>, Failure> {
    if !cell.run.is_done(folder) {
        return Ok(Vec::new());
    }
    let folder = cell.run.folder(folder);
    let record =
        record::read(&folder, made).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let own = Outcome::of(cell, made, &record);
    let averaged = (cell.configuration.name == PAPER).then(|| own.averaged(&record));
    Ok([own].into_iter().chain(averaged).collect())
}

impl Outcome {
    fn of(cell: &Cell, made: &Made, record: &Record) -> Self {
        let trust = &record.trust;
        let report = |score: Option<f64>, interval| Some(Report { score: score?, interval });
        let outcome = Self {
            case: cell.run.drawn.case(),
            seconds: cell.run.seconds,
            rule: cell.configuration.title,
            direction: cell.run.drawn.task.metric.direction(),
            range: [made.constant, made.best],
            hidden: None,
            regret: None,
            validation: report(trust.validation_score, trust.validation_interval),
            holdout: report(trust.holdout_score, trust.holdout_interval),
            chose_another: record.chose_another,
            scripts: record.scripts.len(),
            correlation: spearman(&record.pairs()),
            run_seconds: Some(record.seconds),
            holdout_share: Some(record.holdout_seconds / record.seconds),
        };
        outcome.with_hidden(record.hidden, record)
    }

    /// The outcome of the average of the run's best submissions.
    fn averaged(&self, record: &Record) -> Self {
        let outcome = Self {
            rule: AVERAGE,
            validation: None,
            holdout: None,
            chose_another: false,
            scripts: 0,
            correlation: None,
            run_seconds: None,
            holdout_share: None,
            ..*self
        };
        outcome.with_hidden(record.averaged, record)
    }

    fn with_hidden(self, hidden: Option<f64>, record: &Record) -> Self {
        let regret = hidden.map(|hidden| self.share(regret(hidden, &record.others, self.direction)));
        Self { hidden, regret, ..self }
    }

    fn share(&self, difference: f64) -> f64 {
        100.0 * share_of_range(difference, self.range[0], self.range[1])
    }

    /// The hidden score in percent of the way from the constant to the best possible score.
    fn gained(&self) -> Option<f64> {
        let pair = Pair { reported: self.hidden?, hidden: self.range[0] };
        Some(self.share(optimism(pair, self.direction)))
    }

    /// The score that the run reports. Where no rows are held out, it is the validation score.
    fn reported(&self) -> Option<Report> {
        self.holdout.or(self.validation)
    }

    /// How much better a report is than the hidden score.
    fn optimism(&self, report: Option<Report>) -> Option<f64> {
        let pair = Pair { reported: report?.score, hidden: self.hidden? };
        Some(self.share(optimism(pair, self.direction)))
    }

    fn error(&self) -> Option<f64> {
        self.optimism(self.reported()).map(f64::abs)
    }
}

/// The rules in the order in which they first occur in any case.
fn rules(outcomes: &[&Outcome]) -> Vec<&'static str> {
    let mut rules = Vec::new();
    for outcome in outcomes {
        if !rules.contains(&outcome.rule) {
            rules.push(outcome.rule);
        }
    }
    rules
}

/// Means over all cases: what is submitted.
fn per_rule(outcomes: &[&Outcome]) -> String {
    let header = [
        "rule",
        "runs",
        "without a submission",
        "hidden score",
        "regret",
        "not the best by validation",
        "rank correlation",
        "scripts",
        "seconds",
        "time for the holdout",
    ];
    let row = |rule: &str| {
        let cases: Vec<&Outcome> = outcomes.iter().filter(|case| case.rule == rule).copied().collect();
        let average = |value: fn(&Outcome) -> Option<f64>| mean(cases.iter().filter_map(|case| value(case)));
        vec![
            rule.to_owned(),
            cases.len().to_string(),
            cases.iter().filter(|case| case.hidden.is_none()).count().to_string(),
            percent(average(Outcome::gained)),
            percent(average(|case| case.regret)),
            cases.iter().filter(|case| case.chose_another).count().to_string(),
            shown(average(|case| case.correlation), 2),
            shown(average(has_scripts), 1),
            shown(average(|case| case.run_seconds), 0),
            percent(average(|case| case.holdout_share.map(|share| 100.0 * share))),
        ]
    };
    markdown(&header, &rules(outcomes).into_iter().map(row).collect::<Vec<_>>())
}

/// Means over all cases: how far the reports can be believed.
fn reports(outcomes: &[&Outcome]) -> String {
    let header = [
        "report",
        "cases",
        "optimism",
        "size of optimism",
        "width of the interval",
        "interval covers the hidden score",
    ];
    let row = |rule: &str, kind: &str, report: fn(&Outcome) -> Option<Report>| {
        let has_report = |case: &&&Outcome| case.rule == rule && report(case).is_some();
        let cases: Vec<&Outcome> = outcomes.iter().filter(has_report).copied().collect();
        let found = || cases.iter().filter_map(|case| case.optimism(report(case)));
        let intervals = || cases.iter().filter_map(|case| Some((*case, report(case)?.interval?)));
        let widths = intervals().map(|(case, [low, high])| case.share(high - low));
        let covered = intervals().filter_map(|(case, interval)| Some((interval, case.hidden?)));
        let covered = coverage(&covered.collect::<Vec<_>>());
        let [low, high] = covered.interval.map(|share| 100.0 * share);
        (!cases.is_empty()).then(|| {
            vec![
                format!("{rule}: {kind}"),
                cases.len().to_string(),
                percent(mean(found())),
                percent(mean(found().map(f64::abs))),
                percent(mean(widths)),
                format!("{} of {} ({low:.0} to {high:.0} %)", covered.hits, covered.of),
            ]
        })
    };
    let rows = rules(outcomes).into_iter().flat_map(|rule| {
        let validation = row(rule, "validation", |case| case.validation);
        validation.into_iter().chain(row(rule, "holdout", |case| case.holdout))
    });
    markdown(&header, &rows.collect::<Vec<_>>())
}

fn has_scripts(outcome: &Outcome) -> Option<f64> {
    outcome.run_seconds.map(|_| outcome.scripts as f64)
}

/// The comparison of each rule with the paper's in the same cases.
fn differences(outcomes: &[&Outcome]) -> String {
    let header = ["minus paper", "tasks", "cases", "hidden score", "better", "worse", "size of optimism"];
    let (baseline, others) = match rules(outcomes).split_first() {
        Some((first, others)) => (*first, others.to_vec()),
        None => return String::new(),
    };
    let row = |rule: &str| {
        let cases = |rule: &str, value: fn(&Outcome) -> Option<f64>| -> BTreeMap<Case, f64> {
            let of_rule = outcomes.iter().filter(|outcome| outcome.rule == rule);
            of_rule.filter_map(|outcome| Some((outcome.case, value(outcome)?))).collect()
        };
        let compared = |value| compare(&cases(rule, value), &cases(baseline, value));
        let words = |value| match compared(value) {
            Some(found) => {
                let [low, high] = found.interval;
                format!("{:+.2} % ({low:+.2} to {high:+.2} %)", found.by)
            }
            None => "-".to_owned(),
        };
        let hidden = compared(Outcome::gained);
        let count = |value: Option<usize>| value.unwrap_or_default().to_string();
        vec![
            rule.to_owned(),
            count(hidden.map(|found| found.tasks)),
            count(hidden.map(|found| found.cases)),
            words(Outcome::gained),
            count(hidden.map(|found| found.larger)),
            count(hidden.map(|found| found.smaller)),
            words(Outcome::error),
        ]
    };
    markdown(&header, &others.into_iter().map(row).collect::<Vec<_>>())
}

/// A table with a row for each task and a column for each rule.
#[derive(Clone, Copy)]
enum PerTask {
    Hidden,
    Optimism,
    Coverage,
}

impl PerTask {
    const ALL: [Self; 3] = [Self::Hidden, Self::Optimism, Self::Coverage];

    fn title(self) -> &'static str {
        match self {
            Self::Hidden => "Hidden score",
            Self::Optimism => "Optimism of the reported score",
            Self::Coverage => "Intervals that cover the hidden score",
        }
    }

    fn markdown(self, tasks: &[&'static Task], outcomes: &[&Outcome]) -> String {
        let rules = rules(outcomes);
        let header: Vec<&str> = ["task", "metric"].into_iter().chain(rules.iter().copied()).collect();
        let row = |task: &&Task| {
            let cell = |rule: &&str| {
                let here = |outcome: &&&Outcome| outcome.case.0 == task.name && outcome.rule == *rule;
                self.cell(&outcomes.iter().filter(here).copied().collect::<Vec<_>>())
            };
            let start = [task.name.to_owned(), task.metric.to_string()];
            start.into_iter().chain(rules.iter().map(cell)).collect()
        };
        let is_known = |task: &&&Task| outcomes.iter().any(|outcome| outcome.case.0 == task.name);
        let rows: Vec<Vec<String>> = tasks.iter().filter(is_known).map(row).collect();
        format!("{}:\n\n{}", self.title(), markdown(&header, &rows))
    }

    fn cell(self, outcomes: &[&Outcome]) -> String {
        let average = |value: fn(&Outcome) -> Option<f64>| {
            percent(mean(outcomes.iter().filter_map(|outcome| value(outcome))))
        };
        match self {
            Self::Hidden => average(Outcome::gained),
            Self::Optimism => average(|outcome| outcome.optimism(outcome.reported())),
            Self::Coverage => {
                let covers = |outcome: &&Outcome| outcome.reported()?.interval.zip(outcome.hidden);
                let found = coverage(&outcomes.iter().filter_map(covers).collect::<Vec<_>>());
                if found.of == 0 { "-".to_owned() } else { format!("{} of {}", found.hits, found.of) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(rule: &'static str, seed: u64, hidden: Option<f64>, validation: f64) -> Outcome {
        Outcome {
            case: ("loyalty", seed),
            seconds: 60,
            rule,
            direction: Direction::Minimize,
            range: [9.0, 5.0],
            hidden,
            regret: hidden.map(|_| 2.0),
            validation: Some(Report {
                score: validation,
                interval: Some([validation - 1.0, validation + 1.0]),
            }),
            holdout: None,
            chose_another: seed == 1,
            scripts: 4,
            correlation: None,
            run_seconds: Some(30.0),
            holdout_share: Some(0.1),
        }
    }

    #[test]
    fn scores_are_shares_of_the_way_from_the_constant_to_the_best() {
        let found = outcome("paper", 1, Some(6.0), 5.0);
        assert_eq!(found.gained(), Some(75.0));
        assert_eq!(found.optimism(found.reported()), Some(25.0));
        assert_eq!(outcome("paper", 1, None, 5.0).error(), None);
        let report = Report { score: 7.0, interval: None };
        let held_out = Outcome { holdout: Some(report), ..found };
        assert_eq!(held_out.optimism(held_out.reported()), Some(-25.0));
    }

    #[test]
    fn tables_average_cases_and_compare_them_with_the_first_rule() {
        let outcomes = [
            outcome("paper", 1, Some(6.0), 5.0),
            outcome("paper", 2, None, 5.0),
            outcome("other", 1, Some(7.0), 7.5),
        ];
        let outcomes: Vec<&Outcome> = outcomes.iter().collect();
        let check = |table: String, expected: &str| assert!(table.contains(expected), "{table}");
        check(per_rule(&outcomes), "| paper | 2 | 1 | 75.00 % | 2.00 % | 1 | - | 4.0 | 30 | 10.00 % |\n");
        check(
            reports(&outcomes),
            "| paper: validation | 2 | 25.00 % | 25.00 % | 50.00 % | 1 of 1 (21 to 100 %) |\n",
        );
        let compared =
            "| other | 1 | 1 | -25.00 % (-25.00 to -25.00 %) | 0 | 1 | -12.50 % (-12.50 to -12.50 %) |\n";
        check(differences(&outcomes), compared);
        let tasks = tasks::TASKS.iter().collect::<Vec<_>>();
        check(PerTask::Hidden.markdown(&tasks, &outcomes), "| loyalty | accuracy | 75.00 % | 50.00 % |\n");
    }

    #[test]
    fn results_are_kept_and_replaced_by_newer_ones() {
        let earlier = vec![
            outcome("holdout reports", 1, Some(6.0), 5.0),
            outcome("paper", 2, None, 5.0),
            outcome(AVERAGE, 1, Some(6.5), 5.0),
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.jsonl");
        assert!(results::read::<Outcome>(&file).unwrap().is_empty());
        results::write(&file, &earlier).unwrap();
        let newer = vec![outcome("paper", 1, Some(7.0), 5.0), outcome("paper", 2, Some(8.0), 5.0)];
        let all = with_earlier(newer, results::read(&file).unwrap());
        let found: Vec<_> = all.iter().map(|one| (one.case.1, one.rule, one.hidden)).collect();
        let expected = [
            (1, "paper", Some(7.0)),
            (1, AVERAGE, Some(6.5)),
            (1, "holdout reports", Some(6.0)),
            (2, "paper", Some(8.0)),
        ];
        assert_eq!(found, expected);
        assert_eq!(all[0].validation.unwrap().interval, Some([4.0, 6.0]));
    }
}

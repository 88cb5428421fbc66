//! Tables of what each rule of accepting, choosing and reporting does to hidden scores.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mle_star_domain::metric::Direction;
use serde::{Deserialize, Serialize};

use crate::common::Failure;
use crate::common::record::{self, Record};
use crate::common::results;
use crate::common::runs::End;
use crate::common::statistics::{
    Case, Pair, compare, coverage, markdown, mean, mean_of_tasks, optimism, percent, regret, share_of_range,
    shown, spearman,
};
use crate::common::tasks::{self, Made, Task};
use crate::grid::{CONFIGURATIONS, Cell, Grid, PAPER, PAPER_TITLE};

/// The rule that needs no runs of its own: the average of the best submissions of the paper's runs.
const AVERAGE: &str = "paper, three best averaged";

/// What a rule did in a case.
#[derive(Clone, Serialize, Deserialize)]
pub struct Outcome {
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
    /// The best hidden score of the search's submissions is better than that of the chosen solution, as it was then,
    /// by this much.
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
    /// The share of them that the held-out rows took, if there are any.
    holdout_share: Option<f64>,
    /// The build that made the run, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    build: Option<String>,
}

/// What a run says about its score.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Report {
    score: f64,
    interval: Option<[f64; 2]>,
}

/// Adds outcomes to a file of results.
///
/// # Errors
/// The file cannot be read or written.
pub fn collect(outcomes: &[Outcome], file: &Path) -> Result<(), Failure> {
    results::write(file, &with_earlier(outcomes.to_vec(), results::read(file)?))
}

/// The tables of outcomes. With a file of results, they also show those of the same tasks, seeds and rules that it has.
///
/// # Errors
/// The file cannot be read.
pub fn tables(grid: &Grid, mut outcomes: Vec<Outcome>, collected: Option<&Path>) -> Result<String, Failure> {
    if let Some(file) = collected {
        let earlier = results::read(file)?.into_iter().filter(|outcome| is_in(grid, outcome));
        outcomes = with_earlier(outcomes, earlier.collect());
    }
    let mut sections = Vec::new();
    for seconds in &grid.seconds {
        let all: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.seconds == *seconds).collect();
        let chosen = common_cases(&all);
        if chosen.is_empty() && !all.is_empty() {
            sections.push(format!("With {seconds} s, no task and seed has a run of each rule.\n"));
        }
        if !chosen.is_empty() {
            sections.extend([format!("## {seconds} s a run\n"), per_rule(&chosen)]);
            sections.extend(notes(&all, &chosen));
            sections.extend([differences(&chosen), reports(&chosen)]);
            sections.extend(PerTask::ALL.map(|table| table.markdown(&grid.tasks, &chosen)));
        }
    }
    if sections.is_empty() {
        return Err("no run has ended".into());
    }
    Ok(sections.join("\n"))
}

fn is_in(grid: &Grid, outcome: &Outcome) -> bool {
    let has_rule = |rule: &str| grid.configurations.iter().any(|one| one.title == rule);
    grid.tasks.iter().any(|task| task.name == outcome.case.0)
        && grid.seeds.contains(&outcome.case.1)
        && has_rule(if outcome.rule == AVERAGE { PAPER_TITLE } else { outcome.rule })
}

/// The outcomes of the cases that all rules have from one build: others cannot be compared.
fn common_cases<'a>(outcomes: &[&'a Outcome]) -> Vec<&'a Outcome> {
    let rules = rules(outcomes);
    let is_alike = |one: &Outcome, two: &Outcome| (one.case, &one.build) == (two.case, &two.build);
    let has = |outcome: &Outcome, rule: &str| {
        outcomes.iter().any(|other| other.rule == rule && is_alike(other, outcome))
    };
    let is_common = |outcome: &&&Outcome| rules.iter().all(|rule| has(outcome, rule));
    outcomes.iter().filter(is_common).copied().collect()
}

/// What the tables leave out, and whether their runs are of several builds.
fn notes(all: &[&Outcome], shown: &[&Outcome]) -> Option<String> {
    let left_out = (all.len() > shown.len()).then(|| {
        let count = all.len() - shown.len();
        format!(
            "Results left out, since some rules lack these tasks and seeds, or have them from another build: {count}. \
             `--rules` chooses rules.\n"
        )
    });
    let builds: BTreeSet<Option<&str>> = shown.iter().map(|outcome| outcome.build.as_deref()).collect();
    let mixed = (builds.len() > 1).then(|| {
        format!("The runs are of {} builds; all rules of a task and seed are of one.\n", builds.len())
    });
    let notes: String = left_out.into_iter().chain(mixed).collect();
    (!notes.is_empty()).then_some(notes)
}

/// What the runs of a grid did that have ended.
///
/// # Errors
/// A task cannot be drawn again, or files of a run cannot be read.
pub fn outcomes(grid: &Grid) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    let mut cells: Vec<Cell> = grid.cells();
    cells.retain(|cell| cell.run.end(&grid.folder).is_some());
    // Each task is drawn once: into another folder, since runs notice that their data was written again.
    cells.sort_by_key(|cell| cell.run.drawn.case());
    for same in cells.chunk_by(|one, two| one.run.drawn.case() == two.run.drawn.case()) {
        let (_scratch, made) = same[0].run.drawn.redrawn(&grid.folder)?;
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
        (outcome.seconds, task, outcome.case, rule.map_or(1, |rule| 2 * rule), outcome.rule)
    };
    let all = earlier.into_iter().chain(outcomes).map(|outcome| (key(&outcome), outcome));
    all.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// The outcomes of the rules that a run shows; none if it has not ended.
fn of_cell(cell: &Cell, made: &Made, folder: &Path) -> Result<Vec<Outcome>, Failure> {
    let Some((end, record)) = record::of(&cell.run, folder, made)? else { return Ok(Vec::new()) };
    let nothing = Outcome::without_submission(cell, made, end);
    let own = record.as_ref().map_or_else(|| nothing.clone(), |record| nothing.of_run(record));
    let averaged = (cell.configuration.name == PAPER).then(|| nothing.of_average(record.as_ref()));
    Ok([own].into_iter().chain(averaged).collect())
}

impl Outcome {
    fn without_submission(cell: &Cell, made: &Made, end: End) -> Self {
        Self {
            case: cell.run.drawn.case(),
            seconds: cell.run.seconds,
            rule: cell.configuration.title,
            direction: cell.run.drawn.task.metric.direction(),
            range: [made.constant, made.best],
            hidden: None,
            regret: None,
            validation: None,
            holdout: None,
            chose_another: false,
            scripts: 0,
            correlation: None,
            run_seconds: Some(end.seconds),
            holdout_share: None,
            build: Some(end.build),
        }
    }

    fn of_run(&self, record: &Record) -> Self {
        let trust = &record.trust;
        let report = |score: Option<f64>, interval| Some(Report { score: score?, interval });
        let holdout_share = trust.holdout_rows.is_some().then(|| record.holdout_seconds / record.seconds);
        Self {
            hidden: record.hidden,
            regret: self.regret(record.chosen, record),
            validation: report(trust.validation_score, trust.validation_interval),
            holdout: report(trust.holdout_score, trust.holdout_interval),
            chose_another: record.chose_another,
            scripts: record.scripts.len(),
            correlation: spearman(&record.pairs()),
            holdout_share,
            ..self.clone()
        }
    }

    /// The outcome of the average of the run's best submissions.
    fn of_average(&self, record: Option<&Record>) -> Self {
        let hidden = record.and_then(|record| record.averaged);
        let regret = record.and_then(|record| self.regret(hidden, record));
        Self { rule: AVERAGE, hidden, regret, run_seconds: None, ..self.clone() }
    }

    fn regret(&self, hidden: Option<f64>, record: &Record) -> Option<f64> {
        hidden.map(|hidden| self.share(regret(hidden, &record.searched, self.direction)))
    }

    fn share(&self, difference: f64) -> f64 {
        100.0 * share_of_range(difference, self.range[0], self.range[1])
    }

    /// The hidden score in percent of the way from the constant, which a run without a submission counts as, to the best
    /// possible score.
    fn gained(&self) -> Option<f64> {
        let pair = Pair { reported: self.hidden.unwrap_or(self.range[0]), hidden: self.range[0] };
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

/// Means of the tasks' means: what is submitted.
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
        let average = |value: fn(&Outcome) -> Option<f64>| average(&cases, value);
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

/// The mean of the tasks' means of a value that some of the cases have.
fn average(cases: &[&Outcome], value: impl Fn(&Outcome) -> Option<f64>) -> Option<f64> {
    let values = cases.iter().filter_map(|outcome| Some((outcome.case, value(outcome)?)));
    mean_of_tasks(&values.collect()).map(|mean| mean.mean)
}

/// Means of the tasks' means: how far the reports can be believed.
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
        let interval = |case: &Outcome| report(case)?.interval;
        let width = |case: &Outcome| interval(case).map(|[low, high]| case.share(high - low));
        let covers = |case: &&Outcome| Some((case.case, interval(case)?, case.hidden?));
        let covered = coverage(cases.iter().filter_map(covers));
        let [low, high] = covered.interval.map(|share| 100.0 * share);
        (!cases.is_empty()).then(|| {
            vec![
                format!("{rule}: {kind}"),
                cases.len().to_string(),
                percent(average(&cases, |case| case.optimism(report(case)))),
                percent(average(&cases, |case| case.optimism(report(case)).map(f64::abs))),
                percent(average(&cases, width)),
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
    let (paper, others): (Vec<_>, Vec<_>) =
        rules(outcomes).into_iter().partition(|rule| *rule == PAPER_TITLE);
    if paper.is_empty() || others.is_empty() {
        return String::new();
    }
    let row = |rule: &str| {
        let cases = |rule: &str, value: fn(&Outcome) -> Option<f64>| -> BTreeMap<Case, f64> {
            let of_rule = outcomes.iter().filter(|outcome| outcome.rule == rule);
            of_rule.filter_map(|outcome| Some((outcome.case, value(outcome)?))).collect()
        };
        let compared = |value| compare(&cases(rule, value), &cases(PAPER_TITLE, value));
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
                let covers =
                    |outcome: &&Outcome| Some((outcome.case, outcome.reported()?.interval?, outcome.hidden?));
                let found = coverage(outcomes.iter().filter_map(covers));
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
            build: Some("b1".to_owned()),
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
        // Without a submission, the second run counts as the constant.
        check(per_rule(&outcomes), "| paper | 2 | 1 | 37.50 % | 2.00 % | 1 | - | 4.0 | 30 | 10.00 % |\n");
        check(
            reports(&outcomes),
            "| paper: validation | 2 | 25.00 % | 25.00 % | 50.00 % | 1 of 1 (21 to 100 %) |\n",
        );
        let compared =
            "| other | 1 | 1 | -25.00 % (-25.00 to -25.00 %) | 0 | 1 | -12.50 % (-12.50 to -12.50 %) |\n";
        check(differences(&outcomes), compared);
        let tasks = tasks::TASKS.iter().collect::<Vec<_>>();
        check(PerTask::Hidden.markdown(&tasks, &outcomes), "| loyalty | accuracy | 37.50 % | 50.00 % |\n");
        assert_eq!(differences(&outcomes[2..]), "");
    }

    #[test]
    fn only_cases_of_all_rules_by_one_build_are_shown() {
        let of_build = |build: &str, outcome| Outcome { build: Some(build.to_owned()), ..outcome };
        let paper = |seed| outcome("paper", seed, Some(6.0), 5.0);
        let other = |seed| outcome("other", seed, Some(7.0), 7.5);
        let all = [paper(1), other(1), of_build("b2", paper(2)), of_build("b2", other(2))];
        let left_out = [paper(3), paper(4), of_build("b2", other(4))];
        let all: Vec<&Outcome> = all.iter().chain(&left_out).collect();
        let shown = common_cases(&all);
        let cases: Vec<_> = shown.iter().map(|one| (one.case.1, one.rule)).collect();
        assert_eq!(cases, [(1, "paper"), (1, "other"), (2, "paper"), (2, "other")]);
        let told = notes(&all, &shown).unwrap();
        assert!(told.contains("from another build: 3. `--rules`"), "{told}");
        assert!(
            told.ends_with("The runs are of 2 builds; all rules of a task and seed are of one.\n"),
            "{told}"
        );
        assert_eq!(notes(&all[..2], &all[..2]), None);
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

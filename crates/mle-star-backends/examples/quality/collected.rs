//! A file that collects results of several folders.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::anchors::KINDS;
use crate::common::Failure;
use crate::common::results;
use crate::common::tasks::TASKS;
use crate::measurement::Filter;
use crate::tables::{Contestant, Outcome, Range};

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    /// Another program, or else the name of a build.
    program: String,
    /// The time limit in seconds; 0 for none.
    limit: u64,
    /// A [`Case`](crate::common::statistics::Case).
    #[serde(borrow)]
    case: (&'static str, u64),
    range: Range,
    hidden: Option<f64>,
    seconds: f64,
    scripts: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    build: Option<String>,
}

/// Adds outcomes to a file, and returns all that it then has and that the filter lets through.
///
/// # Errors
/// The file cannot be read or written.
pub fn with_earlier(outcomes: &[Outcome], filter: &Filter, file: &Path) -> Result<Vec<Outcome>, Failure> {
    results::write(file, &merged(results::read(file)?, outcomes.iter().map(Line::of)))?;
    shown(outcomes, filter, file)
}

/// Outcomes and those of a file that they do not replace and that the filter lets through.
///
/// # Errors
/// The file cannot be read.
pub fn shown(outcomes: &[Outcome], filter: &Filter, file: &Path) -> Result<Vec<Outcome>, Failure> {
    let lines = merged(results::read(file)?, outcomes.iter().map(Line::of));
    Ok(lines.into_iter().filter_map(|line| line.outcome(filter)).collect())
}

/// Earlier lines and the newer ones, which replace those of the same program, limit and case; in the order of tasks, seeds
/// and programs.
fn merged(earlier: Vec<Line>, newer: impl Iterator<Item = Line>) -> Vec<Line> {
    let key = |line: &Line| {
        let task = TASKS.iter().position(|task| task.name == line.case.0);
        let kind = KINDS.iter().position(|kind| kind.name == line.program);
        (task, line.case, kind.unwrap_or(KINDS.len()), line.program.clone(), line.limit)
    };
    let all = earlier.into_iter().chain(newer).map(|line| (key(&line), line));
    all.collect::<BTreeMap<_, _>>().into_values().collect()
}

impl Line {
    fn of(outcome: &Outcome) -> Self {
        let (program, limit) = match &outcome.contestant {
            Contestant::Anchor { kind, seconds } => (kind.name.to_owned(), *seconds),
            Contestant::Run { label, seconds, .. } => (label.clone(), *seconds),
        };
        let Outcome { case, range, hidden, seconds, scripts, .. } = *outcome;
        Self { program, limit, case, range, hidden, seconds, scripts, build: outcome.build.clone() }
    }

    /// `None` if the filter does not show it.
    fn outcome(self, filter: &Filter) -> Option<Outcome> {
        let Self { program, limit, case, range, hidden, seconds, scripts, build } = self;
        let contestant = match KINDS.iter().find(|kind| kind.name == program) {
            Some(kind) => filter.shows(kind, limit).then_some(Contestant::Anchor { kind, seconds: limit }),
            None => {
                let order = filter.order(&program, limit);
                order.map(|order| Contestant::Run { order, label: program, seconds: limit })
            }
        };
        let is_shown = filter.tasks.iter().any(|task| task.name == case.0) && filter.has(case.1);
        let contestant = contestant.filter(|_| is_shown)?;
        Some(Outcome { contestant, case, range, hidden, seconds, scripts, build })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::statistics::Case;

    fn line(program: &str, limit: u64, case: Case, hidden: f64) -> String {
        format!(
            "{{\"program\":\"{program}\",\"limit\":{limit},\"case\":[\"{}\",{}],\"range\":{{\"constant\":0.5,\"best\":0.9,\
             \"direction\":\"maximize\"}},\"hidden\":{hidden},\"seconds\":1.0,\"scripts\":null}}\n",
            case.0, case.1
        )
    }

    fn filter() -> Filter {
        Filter {
            tasks: TASKS[..2].iter().collect(),
            seeds: Some(1..=2),
            seconds: Some(vec![120]),
            labels: None,
            against: KINDS.iter().collect(),
            against_seconds: Some(vec![60]),
        }
    }

    #[test]
    fn newer_results_replace_earlier_ones_and_the_filter_chooses() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.jsonl");
        let earlier = [
            line("default", 120, ("loyalty", 1), 0.7),
            line("default", 60, ("loyalty", 1), 0.6),
            line("flaml", 60, ("loyalty", 1), 0.65),
            line("flaml", 600, ("loyalty", 1), 0.66),
            line("lightgbm", 0, ("loyalty", 3), 0.6),
            line("lightgbm", 0, ("patients", 1), 0.6),
        ];
        std::fs::write(&file, earlier.concat()).unwrap();
        let range = Line::of(&with_earlier(&[], &filter(), &file).unwrap()[0]).range;
        let newer = Outcome {
            contestant: Contestant::Run { order: 0, label: "default".to_owned(), seconds: 120 },
            case: ("loyalty", 1),
            range,
            hidden: Some(0.75),
            seconds: 110.0,
            scripts: Some(20),
            build: Some("b1".to_owned()),
        };
        let unwritten = shown(std::slice::from_ref(&newer), &filter(), &file).unwrap();
        let kept =
            |hidden: f64| results::read::<Line>(&file).unwrap().iter().any(|one| one.hidden == Some(hidden));
        assert!(kept(0.7) && !kept(0.75));
        let shown = with_earlier(std::slice::from_ref(&newer), &filter(), &file).unwrap();
        assert_eq!(shown.iter().map(|one| one.hidden).collect::<Vec<_>>(), [Some(0.65), Some(0.75)]);
        assert_eq!((&shown[1], &unwritten), (&newer, &shown));
        assert_eq!(results::read::<Line>(&file).unwrap().len(), earlier.len());
    }

    #[test]
    fn builds_of_one_column_are_joined_and_the_last_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.jsonl");
        let lines = [
            line("new", 120, ("loyalty", 1), 0.8),
            line("old", 120, ("loyalty", 1), 0.7),
            line("old", 120, ("loyalty", 2), 0.6),
            line("other", 120, ("loyalty", 1), 0.5),
            line("flaml", 60, ("loyalty", 1), 0.65),
        ];
        std::fs::write(&file, lines.concat()).unwrap();
        let check = |labels: &[&[&str]], expected: &[(&str, u64, f64)]| {
            let labels =
                labels.iter().map(|labels| labels.iter().map(|&one| one.to_owned()).collect()).collect();
            let filter = Filter { labels: Some(labels), against: Vec::new(), ..filter() };
            let joined = filter.joined(shown(&[], &filter, &file).unwrap());
            let mut found: Vec<(&str, u64, f64)> = joined
                .iter()
                .map(|one| match &one.contestant {
                    Contestant::Run { label, .. } => (label.as_str(), one.case.1, one.hidden.unwrap()),
                    Contestant::Anchor { kind, .. } => (kind.name, one.case.1, one.hidden.unwrap()),
                })
                .collect();
            found.sort_by(|one, two| (one.0, one.1).cmp(&(two.0, two.1)));
            assert_eq!(found, expected);
        };
        check(&[&["old", "new"]], &[("old+new", 1, 0.8), ("old+new", 2, 0.6)]);
        check(&[&["new", "old"]], &[("new+old", 1, 0.7), ("new+old", 2, 0.6)]);
        check(&[&["old"], &["new", "other"]], &[("new+other", 1, 0.5), ("old", 1, 0.7), ("old", 2, 0.6)]);
    }
}

//! What a run tried, and with what effect: one line each, for the agents of all paths and phases.
//!
//! The lines come from the verdicts of the steps. They are few and short, so that every prompt can afford them.

use std::cmp::Ordering;
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::verdict::{Verdict, Verdicts};
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place::Step;
use mle_star_domain::task::Task;

/// What an earlier run tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierRun {
    /// Its ID.
    pub run_id: String,
    /// Its task.
    pub task: String,
    /// Its metric, in whose unit the effects are.
    pub metric: String,
    /// One line for each solution that was tried.
    pub lines: Vec<String>,
}

/// Maximum number of lines about earlier runs, all of them together.
pub const MOST_LEARNED: usize = 24;
/// Maximum length of a diff in a prompt, in lines.
const LONGEST_DIFF: usize = 100;
/// Maximum number of lines about a run.
const MOST: usize = 12;
/// Maximum length of a plan or an error in a line, in characters.
const LONGEST: usize = 160;
/// What lines about attempts begin with; the number of the path follows.
const OF_PATH: &str = "path ";

/// What earlier runs tried, by their IDs, tasks and verdicts. If there are too many lines, the most useful ones of each run
/// remain, about as many of each; runs after the first [`MOST_LEARNED`] have none.
pub fn earlier_runs(runs: &[(String, Task, Verdicts)]) -> Vec<EarlierRun> {
    let lines = |(_, task, verdicts): &(String, Task, Verdicts), most: usize| {
        most_useful(verdicts, task.metric_direction, None, most)
    };
    let counts: Vec<usize> = runs.iter().map(|run| lines(run, MOST).len()).collect();
    let fits = |most: &usize| counts.iter().map(|count| count.min(most)).sum::<usize>() <= MOST_LEARNED;
    let most = (1..=MOST).rev().find(fits).unwrap_or(1);
    let told = |(index, run): (usize, &(String, Task, Verdicts))| {
        let (run_id, task, _) = run;
        let lines = lines(run, if index < MOST_LEARNED { most } else { 0 });
        let (task, metric) = (task.competition_id.clone(), task.evaluation_metric.clone());
        EarlierRun { run_id: run_id.clone(), task, metric, lines }
    };
    runs.iter().enumerate().map(told).collect()
}

/// One line for each solution that was tried, in the order of the algorithms. If there are too many, the most useful ones
/// remain. What the agents of step `at` are told in detail is left out.
pub fn lessons(verdicts: &Verdicts, direction: Direction, at: Option<Step>) -> Vec<String> {
    most_useful(verdicts, direction, at, MOST)
}

fn most_useful(verdicts: &Verdicts, direction: Direction, at: Option<Step>, most: usize) -> Vec<String> {
    let in_detail = |step: Step| match (at, step) {
        (Some(Step::Outer { path, .. }), step) => step.path() == Some(path),
        (Some(Step::Attempt { path, outer, .. }), Step::Attempt { path: p, outer: t, .. }) => {
            (path, outer) == (p, t)
        }
        (Some(Step::Round(_)), Step::Round(_)) => true,
        _ => false,
    };
    let others = verdicts.iter().filter(|(step, _)| !in_detail(**step));
    let mut lines: Vec<(usize, Use, String)> = others
        .filter_map(|(step, verdict)| line(verdicts, direction, *step, verdict))
        .enumerate()
        .map(|(index, (used, line))| (index, used, line))
        .collect();
    lines.sort_by(|one, two| two.1.compare(one.1));
    lines.truncate(most);
    lines.sort_by_key(|(index, ..)| *index);
    lines.into_iter().map(|(.., line)| line).collect()
}

/// How useful a line is to later agents, least first, with the size of its effect; for a first solution, how good it is.
#[derive(Clone, Copy)]
enum Use {
    Failed,
    NotKept(f64),
    First(f64),
    Kept(f64),
}

impl Use {
    fn compare(self, other: Self) -> Ordering {
        let rank = |one| match one {
            Self::Failed => (0, 0.0),
            Self::NotKept(effect) => (1, effect),
            Self::First(goodness) => (2, goodness),
            Self::Kept(effect) => (3, effect),
        };
        let (one, two): ((u8, f64), (u8, f64)) = (rank(self), rank(other));
        one.0.cmp(&two.0).then(one.1.total_cmp(&two.1))
    }
}

/// The line of a step.
fn line(verdicts: &Verdicts, direction: Direction, step: Step, verdict: &Verdict) -> Option<(Use, String)> {
    let what = match step {
        Step::Candidate(_) | Step::Extra(_) => "first solution".to_owned(),
        Step::Merge(_) | Step::DataCheck => String::new(),
        Step::Attempt { path, .. } => match verdict.part.as_str() {
            "" => format!("{OF_PATH}{}", path + 1),
            part => format!("{OF_PATH}{}, {part}", path + 1),
        },
        Step::Round(_) | Step::Selection => "ensemble".to_owned(),
        _ => return None,
    };
    if verdict.limit.is_some() || (step == Step::DataCheck && verdict.score.is_none()) {
        return None;
    }
    let score = |value: f64| Score::new(value, direction);
    let before = verdict.from.first().and_then(|step| score(verdicts.get(step)?.score?));
    let now = verdict.score.and_then(score);
    let gain = now.zip(before).map(|(now, before)| now.gain_over(before));
    let effect = match (now, gain) {
        (Some(now), Some(gain)) => {
            let error = verdict.standard_error.or(verdict.unrecorded.standard_error);
            let kept = match verdict.kept {
                true if is_replaced(verdicts, step) => "kept until a later one replaced it",
                true => "kept",
                false if gain > error.unwrap_or(0.0) => "not kept because another was better",
                false => "not kept",
            };
            format!("{}, {kept} (score {})", gained(gain, error), number(now.value()))
        }
        (Some(now), None) => format!("score {}", number(now.value())),
        (None, _) if verdict.unrecorded.failure.is_empty() => "it failed".to_owned(),
        (None, _) => format!("it failed ({})", shortened(&verdict.unrecorded.failure).trim_end_matches('.')),
    };
    let plan = shortened(&verdict.note);
    let plan = plan.trim_end_matches('.');
    let subject: Vec<&str> = [what.as_str(), plan].into_iter().filter(|part| !part.is_empty()).collect();
    let used = match (now, gain) {
        (None, _) => Use::Failed,
        (Some(now), None) => Use::First(score(0.0).map_or(0.0, |zero| now.gain_over(zero))),
        // More data is kept even if it costs something.
        (Some(_), Some(gain)) if verdict.kept && gain > 0.0 => Use::Kept(gain),
        (Some(_), Some(gain)) => Use::NotKept(gain.abs()),
    };
    Some((used, format!("{}: {effect}", subject.join(": "))))
}

/// Whether a later attempt of the same outer step, or a later round, was kept instead of this one. They all start from the
/// same solutions, so only the last one that was kept counts.
fn is_replaced(verdicts: &Verdicts, step: Step) -> bool {
    let competes = |other: &Step| match (step, *other) {
        (Step::Attempt { path, outer, .. }, Step::Attempt { path: p, outer: t, .. }) => {
            (path, outer) == (p, t)
        }
        (Step::Round(_), Step::Round(_)) => true,
        _ => false,
    };
    let later = verdicts.range((Bound::Excluded(step), Bound::Unbounded));
    later.take_while(|(other, _)| competes(other)).any(|(_, verdict)| verdict.kept)
}

/// Whether some of these lines are about attempts at blocks.
pub(crate) fn tell_attempts(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with(OF_PATH))
}

/// A plan or an error in one line, cut to its beginning if it is long.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() {
        0..=LONGEST => text,
        _ => format!("{}…", text.chars().take(LONGEST).collect::<String>().trim_end()),
    }
}

/// A gain in words: `better by 0.0031 (standard error 0.0020)`.
pub(crate) fn gained(gain: f64, standard_error: Option<f64>) -> String {
    let error =
        standard_error.map(|error| format!(" (standard error {})", rounded(error, 2))).unwrap_or_default();
    match gain {
        0.0 => format!("no difference{error}"),
        gain if gain > 0.0 => format!("better by {}{error}", rounded(gain, 3)),
        gain => format!("worse by {}{error}", rounded(-gain, 3)),
    }
}

/// Seconds in words.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { "less than 1 s".to_owned() } else { format!("{seconds:.0} s") }
}

/// A number with at most six significant digits.
pub(crate) fn number(value: f64) -> String {
    rounded(value, 6)
}

/// A number with at most this many significant digits.
pub(crate) fn rounded(value: f64, most: u8) -> String {
    let digits = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    if !(-6.0..=9.0).contains(&digits) {
        return format!("{value:.3e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 11")]
    let decimals = (f64::from(most) - 1.0 - digits).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The lines that differ, with two lines around them.
pub(crate) fn diff(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let text = diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines.iter().take(LONGEST_DIFF).copied().collect::<Vec<_>>().join("\n");
    match lines.len().saturating_sub(LONGEST_DIFF) {
        0 => kept,
        more => format!("{kept}\n[… {more} more lines …]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(score: Option<f64>, from: &[Step], note: &str) -> Verdict {
        Verdict { score, from: from.to_vec(), note: note.to_owned(), ..Verdict::default() }
    }

    fn attempt(outer: u32, inner: u32) -> Step {
        Step::Attempt { path: 1, outer, inner }
    }

    #[test]
    fn each_solution_has_a_line_with_its_effect() {
        let (first, merge) = (Step::Candidate(0), Step::Merge(1));
        let kept = |verdict| Verdict { kept: true, ..verdict };
        let part = "training: `params = {`".to_owned();
        let verdicts = Verdicts::from([
            (first, verdict(Some(0.5), &[], "LightGBM")),
            (merge, kept(verdict(Some(0.75), &[first], "merged with CatBoost"))),
            (attempt(0, 0), Verdict { part, ..verdict(Some(0.5), &[merge], "Lower\n the rate.") }),
            (attempt(0, 1), verdict(None, &[merge], "More trees.")),
            (attempt(0, 2), verdict(None, &[merge], "Stack.").failed_by("KeyError: 'x'")),
            (
                attempt(1, 0),
                Verdict { limit: Some(mle_star_domain::effects::Limit::Share), ..Verdict::default() },
            ),
            (
                Step::Round(0),
                kept(Verdict { standard_error: Some(0.125), ..verdict(Some(1.0), &[merge], "Mean.") }),
            ),
        ]);
        let expected = [
            "first solution: LightGBM: score 0.5",
            "merged with CatBoost: better by 0.25, kept (score 0.75)",
            "path 2, training: `params = {`: Lower the rate: worse by 0.25, not kept (score 0.5)",
            "path 2: More trees: it failed",
            "path 2: Stack: it failed (KeyError: 'x')",
            "ensemble: Mean: better by 0.25 (standard error 0.12), kept (score 1)",
        ];
        assert_eq!(lessons(&verdicts, Direction::Maximize, None), expected);
        let others = lessons(&verdicts, Direction::Minimize, Some(Step::Outer { path: 1, outer: 0 }));
        assert_eq!(others.len(), 3);
        assert_eq!(others[1], "merged with CatBoost: worse by 0.25, kept (score 0.75)");
    }

    #[test]
    fn only_the_last_attempt_that_was_kept_in_a_step_stays() {
        let first = Step::Candidate(0);
        let kept = |score| Verdict { kept: true, ..verdict(Some(score), &[first], "Plan.") };
        let verdicts = Verdicts::from([
            (first, verdict(Some(0.0), &[], "LightGBM")),
            (attempt(0, 0), kept(1.0)),
            (attempt(0, 1), kept(2.0)),
            (attempt(0, 2), verdict(Some(-1.0), &[first], "Plan.")),
            (attempt(1, 0), kept(3.0)),
            (Step::Round(0), kept(4.0)),
            (Step::Round(1), kept(5.0)),
        ]);
        let lines = lessons(&verdicts, Direction::Maximize, None);
        let replaced: Vec<bool> = lines.iter().map(|line| line.contains("until a later one")).collect();
        assert_eq!(replaced, [false, true, false, false, false, true, false], "{lines:?}");
        assert!(tell_attempts(&lines) && !tell_attempts(&lines[..1]) && !tell_attempts(&lines[5..]));
    }

    #[test]
    fn the_lines_are_few_and_short() {
        let first = Step::Candidate(0);
        let many = (0..100).map(|inner| {
            (attempt(0, inner), verdict(Some(f64::from(inner)), &[first], &"plan ".repeat(100)))
        });
        let verdicts: Verdicts =
            [(first, verdict(Some(0.0), &[], "LightGBM"))].into_iter().chain(many).collect();
        let lines = lessons(&verdicts, Direction::Maximize, None);
        assert_eq!(lines.len(), MOST);
        assert!(lines[0].starts_with("first solution"), "{}", lines[0]);
        assert!(lines[1].contains("better by 89"), "{}", lines[1]);
        assert!(lines.iter().all(|line| line.chars().count() < 300));
    }

    #[test]
    fn what_helped_stays_and_failures_go_first() {
        let first = Step::Candidate(0);
        let failed = (0..20).map(|inner| (attempt(0, inner), verdict(None, &[first], "Fails.")));
        let worse = (20..40).map(|inner| (attempt(0, inner), verdict(Some(-9.0), &[first], "Worse.")));
        let helped = Verdict { kept: true, ..verdict(Some(0.001), &[first], "Helps.") };
        let rest = [(first, verdict(Some(0.0), &[], "LightGBM")), (attempt(1, 0), helped)];
        let verdicts: Verdicts = failed.chain(worse).chain(rest).collect();
        let lines = lessons(&verdicts, Direction::Maximize, None);
        assert_eq!(lines.len(), MOST);
        assert!(lines[0].starts_with("first solution"), "{lines:?}");
        assert!(lines[MOST - 1].contains("Helps: better by 0.001, kept"), "{lines:?}");
        assert!(lines[1..MOST - 1].iter().all(|line| line.contains("Worse")), "{lines:?}");
    }

    #[test]
    fn earlier_runs_share_a_bounded_number_of_lines() {
        let first = Step::Candidate(0);
        let run = |id: usize, attempts: u32| {
            let tried = (0..attempts)
                .map(|inner| (attempt(0, inner), verdict(Some(f64::from(inner)), &[first], "Plan.")));
            let begun = (first, verdict(Some(0.0), &[], "LightGBM"));
            let task = crate::testing::frozen().task;
            let task = Task { metric_direction: Direction::Maximize, ..task };
            (format!("run {id}"), task, std::iter::once(begun).chain(tried).collect::<Verdicts>())
        };
        let counts = |runs: &[(String, Task, Verdicts)]| -> Vec<usize> {
            earlier_runs(runs).iter().map(|run| run.lines.len()).collect()
        };
        assert_eq!(counts(&[run(0, 50), run(1, 50)]), [12, 12]);
        assert_eq!(counts(&[run(0, 50), run(1, 0), run(2, 50), run(3, 50)]), [7, 1, 7, 7]);
        let many: Vec<_> = (0..30).map(|id| run(id, 50)).collect();
        assert_eq!(counts(&many), [vec![1; MOST_LEARNED], vec![0; 6]].concat());
        // The most useful lines remain.
        let four: Vec<_> = (0..4).map(|id| run(id, 50)).collect();
        let lines = &earlier_runs(&four)[3].lines;
        assert_eq!(lines.len(), 6);
        assert!(lines[0].starts_with("first solution") && lines[1].contains("better by 45"), "{lines:?}");
    }

    #[test]
    fn what_helped_comes_before_first_solutions_and_the_best_of_them_before_the_others() {
        let helped = [
            ("A", 0.5, None),
            ("B", 0.25, None),
            ("C", 0.125, Some(Step::Candidate(1))),
            ("D", 0.75, Some(Step::Candidate(2))),
        ];
        let verdicts = helped.into_iter().zip(0..).map(|((note, score, from), candidate)| {
            let from: Vec<Step> = from.into_iter().collect();
            let kept = !from.is_empty();
            (Step::Candidate(candidate), Verdict { kept, ..verdict(Some(score), &from, note) })
        });
        let verdicts: Verdicts = verdicts.collect();
        let most = |count| most_useful(&verdicts, Direction::Minimize, None, count);
        assert!(most(1)[0].contains(": C: better by 0.125, kept"), "{:?}", most(1));
        assert!(most(2)[0].contains(": B: score 0.25"), "{:?}", most(2));
    }

    #[test]
    fn numbers_have_six_digits_at_most() {
        let check = |value, expected: &str| assert_eq!(number(value), expected);
        check(0.0, "0");
        check(0.812_345_678, "0.812346");
        check(0.5, "0.5");
        check(-12.345_678_9, "-12.3457");
        check(123_456_789.0, "123456789");
        check(0.000_012_3, "0.0000123");
        check(1.5e-9, "1.500e-9");
        check(2.5e12, "2.500e12");
    }

    #[test]
    fn diffs_show_changed_lines_and_end() {
        assert_eq!(diff("a\nb\nc", "a\nx\nc"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c");
        assert_eq!(diff("a", "a"), "");
        let long: String = (0..200).map(|line| format!("{line}\n")).collect();
        assert_eq!(diff("", &long).lines().count(), LONGEST_DIFF + 1);
    }
}

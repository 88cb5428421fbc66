//! Lessons: the changes that a run tried, each with its effect in a line, for the agents of all paths and phases.
//!
//! The lines come from the verdicts of the steps and from ablation studies. They are few and short, so that every prompt can
//! afford them.

use std::cmp::Ordering;
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::verdict::{Verdict, Verdicts};
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place::Step;
use mle_star_domain::task::Task;

/// The lessons of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierRun {
    /// The ID of the run.
    pub run_id: String,
    /// The task of the run.
    pub task: String,
    /// The metric of the run, in whose unit the effects are.
    pub metric: String,
    /// What was tried, in lines for prompts. Attempts at one block share a line.
    pub lines: Vec<String>,
}

impl EarlierRun {
    /// The number of solutions that the lines are about: attempts at one block stand below its name.
    pub fn changes(&self) -> usize {
        self.lines.iter().map(|line| line.matches(BULLET).count().max(1)).sum()
    }
}

/// Maximum number of lines about earlier runs, all of them together.
pub const MAX_LINES_OF_EARLIER_RUNS: usize = 24;
/// Maximum length of a diff in a prompt, in lines.
const MAX_DIFF_LINES: usize = 100;
/// Maximum number of lines about a run.
pub(crate) const MAX_LINES_PER_RUN: usize = 12;
/// Maximum length of what a line tells of a plan or an error, in characters; of a plan that was kept, a quarter more.
const MAX_CHARS: usize = 280;
/// Maximum number of lines about ablation studies, and of those about one study.
const MAX_ABLATION_LINES: usize = 8;
const STUDY_LINES: usize = 4;
/// What lines about attempts begin with; the number of the path follows.
const PATH_PREFIX: &str = "path ";
/// The text before each of several attempts at one block.
const BULLET: &str = "\n  - ";

/// What earlier runs tried, by their IDs, tasks and verdicts: the most useful lines of each run, as many of each; runs after the
/// first [`MAX_LINES_OF_EARLIER_RUNS`] have none.
pub fn earlier_runs(runs: &[(String, Task, Verdicts)]) -> Vec<EarlierRun> {
    let most = (MAX_LINES_OF_EARLIER_RUNS / runs.len().max(1)).clamp(1, MAX_LINES_PER_RUN);
    let told = |(index, (run_id, task, verdicts)): (usize, &(String, Task, Verdicts))| {
        let most = if index < MAX_LINES_OF_EARLIER_RUNS { most } else { 0 };
        let lines = lessons(verdicts, task.metric_direction, None, most);
        let (task, metric) = (task.competition_id.clone(), task.evaluation_metric.clone());
        EarlierRun { run_id: run_id.clone(), task, metric, lines }
    };
    runs.iter().enumerate().map(told).collect()
}

/// One line for each solution that was tried, in the order of the algorithms. If there are more than `most`, the most useful
/// ones remain. Attempts at one block stand together, one below the other. What the agents of step `at` are told in detail
/// is left out.
pub(crate) fn lessons(
    verdicts: &Verdicts,
    direction: Direction,
    at: Option<Step>,
    most: usize,
) -> Vec<String> {
    let is_own = |step: Step| matches!(step, Step::Baseline(_));
    let others = verdicts.iter().filter(|(step, _)| !is_told_in_detail(**step, at) && !is_own(**step));
    let mut found: Vec<Line<'_>> =
        others.filter_map(|(step, verdict)| Line::of(verdicts, direction, *step, verdict)).collect();
    found.sort_by(|one, two| two.used.partial_cmp(&one.used).unwrap_or(Ordering::Equal));
    found.truncate(most);
    found.sort_by_key(|line| line.step);
    found.chunk_by(Line::is_at_same_block).map(group_text).collect()
}

/// Whether the agents of step `at` are told this step in detail.
fn is_told_in_detail(step: Step, at: Option<Step>) -> bool {
    match (at, step) {
        (Some(Step::Outer { path, .. }), step) => step.path() == Some(path),
        (Some(Step::Attempt { path, outer, .. }), Step::Outer { path: p, outer: t }) => {
            (path, outer) == (p, t)
        }
        (at, step) => at.is_some_and(|at| competes(at, step)),
    }
}

/// The results of ablation studies: the first lines of their summaries that name a number, those of the newest study first. What
/// the agents of step `at` are told in detail is left out.
pub(crate) fn ablation_lines(studies: &[(Step, String)], at: Option<Step>) -> Vec<String> {
    let of_study = |(step, summary): &'_ (Step, String)| -> Vec<String> {
        let Step::Outer { path, outer } = *step else { return Vec::new() };
        let lines = summary.lines().map(|line| line.trim_start_matches(['-', '*', '#', ' ']).trim_end());
        // Texts count from one, folders from zero.
        let told =
            |line| format!("path {} (path-{path}), study {}: {}", path + 1, outer + 1, clip(line, MAX_CHARS));
        lines.filter(|line| line.bytes().any(|b| b.is_ascii_digit())).take(STUDY_LINES).map(told).collect()
    };
    let others = studies.iter().rev().filter(|(step, _)| !is_told_in_detail(*step, at));
    others.flat_map(of_study).take(MAX_ABLATION_LINES).collect()
}

/// The text of a group of lines: attempts at one block under its name; any other line alone.
fn group_text(group: &[Line<'_>]) -> String {
    let told = group.iter().map(Line::text);
    match group {
        [one] => {
            let subject = [one.subject.clone()].into_iter().filter(|subject| !subject.is_empty());
            subject.chain(told).collect::<Vec<_>>().join(": ")
        }
        [first, ..] => told.fold(format!("{}:", first.subject), |text, line| format!("{text}{BULLET}{line}")),
        [] => String::new(),
    }
}

/// The lesson of a step.
struct Line<'a> {
    step: Step,
    verdict: &'a Verdict,
    used: Rank,
    /// What was changed: the path and the block, or the kind of step.
    subject: String,
    /// The difference that it made.
    effect: String,
}

/// The rank of a line by its use to later agents, least first, with the size of its effect; for a first solution, how good it is.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Rank {
    Failed,
    NotKept(f64),
    First(f64),
    Kept(f64),
}

impl<'a> Line<'a> {
    fn of(verdicts: &Verdicts, direction: Direction, step: Step, verdict: &'a Verdict) -> Option<Self> {
        let subject = match step {
            Step::Candidate(_) | Step::Extra(_) => "first solution".to_owned(),
            Step::Merge(_) | Step::DataCheck => String::new(),
            // Texts count paths from one, folders from zero.
            Step::Attempt { path, .. } => match split_part(&verdict.part).0 {
                "" => format!("{PATH_PREFIX}{} (path-{path})", path + 1),
                part => format!("{PATH_PREFIX}{} (path-{path}), {part}", path + 1),
            },
            Step::Round(_) | Step::Selection => "ensemble".to_owned(),
            _ => return None,
        };
        if verdict.limit.is_some() || (step == Step::DataCheck && verdict.score.is_none()) {
            return None;
        }
        let (used, effect) = effect(verdicts, direction, step, verdict);
        Some(Self { step, verdict, used, subject, effect })
    }

    /// Whether both are attempts of one outer step, and therefore at one block.
    fn is_at_same_block(&self, other: &Self) -> bool {
        competes(self.step, other.step)
            && matches!(self.step, Step::Attempt { .. })
            && self.subject == other.subject
    }

    fn text(&self) -> String {
        let most = if matches!(self.used, Rank::Kept(_)) { MAX_CHARS * 5 / 4 } else { MAX_CHARS };
        let plan = clip(&self.verdict.note, most);
        let mishaps = split_part(&self.verdict.part).1;
        let mishaps = if mishaps.is_empty() { String::new() } else { format!("; {mishaps}") };
        format!("{}: {}{mishaps}", plan.trim_end_matches('.'), self.effect)
    }
}

/// The block, and what happened at it, of the part of a verdict.
fn split_part(part: &str) -> (&str, &str) {
    part.find("`; ").map_or((part, ""), |at| (&part[..=at], &part[at + 3..]))
}

/// The difference that a step made, in words.
fn effect(verdicts: &Verdicts, direction: Direction, step: Step, verdict: &Verdict) -> (Rank, String) {
    let score = |value: f64| Score::new(value, direction);
    let before = verdict.from.first().and_then(|step| score(verdicts.get(step)?.score?));
    let Some(now) = verdict.score.and_then(score) else {
        let failure = clip(&verdict.unrecorded.failure, MAX_CHARS);
        let why =
            if failure.is_empty() { String::new() } else { format!(" ({})", failure.trim_end_matches('.')) };
        return (Rank::Failed, format!("it failed{why}"));
    };
    let Some(gain) = before.map(|before| now.gain_over(before)) else {
        let goodness = score(0.0).map_or(0.0, |zero| now.gain_over(zero));
        return (Rank::First(goodness), format!("score {}", number(now.value())));
    };
    let error = verdict.standard_error.or(verdict.unrecorded.standard_error);
    let kept = match verdict.kept {
        true if is_replaced(verdicts, step) => "kept until a later one replaced it",
        true => "kept",
        false if gain > error.unwrap_or(0.0) && competes(step, step) => "not kept because another was better",
        false => "not kept",
    };
    // More data is kept even if the score is worse, and has not helped then.
    let used = if verdict.kept && gain > 0.0 { Rank::Kept(gain) } else { Rank::NotKept(gain.abs()) };
    (used, format!("{}, {kept} (score {})", gain_text(gain, error), number(now.value())))
}

/// Whether a later attempt of the same outer step, or a later round, was kept instead of this one. They all start from the
/// same solutions, so only the last one that was kept counts.
fn is_replaced(verdicts: &Verdicts, step: Step) -> bool {
    let later = verdicts.range((Bound::Excluded(step), Bound::Unbounded));
    later.take_while(|(other, _)| competes(step, **other)).any(|(_, verdict)| verdict.kept)
}

/// Whether both are attempts of one outer step, or rounds.
fn competes(step: Step, other: Step) -> bool {
    match (step, other) {
        (Step::Attempt { path, outer, .. }, Step::Attempt { path: p, outer: t, .. }) => {
            (path, outer) == (p, t)
        }
        (Step::Round(_), Step::Round(_)) => true,
        _ => false,
    }
}

/// Whether some of these lines are about attempts at blocks.
pub(crate) fn mention_attempts(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with(PATH_PREFIX))
}

/// A gain in words: `better by 0.0031 (standard error 0.0020)`.
pub(crate) fn gain_text(gain: f64, standard_error: Option<f64>) -> String {
    let error =
        standard_error.map(|error| format!(" (standard error {})", rounded(error, 2))).unwrap_or_default();
    match gain {
        0.0 => format!("no difference{error}"),
        gain if gain > 0.0 => format!("better by {}{error}", rounded(gain, 3)),
        gain => format!("worse by {}{error}", rounded(-gain, 3)),
    }
}

/// The beginning of a text in one line, whole words in at most `most` characters and a mark.
pub(crate) fn clip(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let whole = text[..end].rfind(' ').filter(|at| *at * 2 > end).unwrap_or(end);
    format!("{}…", text[..whole].trim_end_matches([' ', ',', ';', ':']))
}

/// Seconds in words.
pub(crate) fn format_seconds(seconds: f64) -> String {
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

/// The lines that differ, with a line around them.
pub(crate) fn diff(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let text = diff.unified_diff().context_radius(1).missing_newline_hint(false).to_string();
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines.iter().take(MAX_DIFF_LINES).copied().collect::<Vec<_>>().join("\n");
    match lines.len().saturating_sub(MAX_DIFF_LINES) {
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

    /// Each line about a solution, without the names that attempts stand below.
    fn single(lines: &[String]) -> Vec<String> {
        let below = |line: &String| -> Vec<String> {
            let mut parts = line.split(BULLET).map(str::to_owned);
            let first: Vec<String> = parts.next().into_iter().collect();
            let rest: Vec<String> = parts.collect();
            if rest.is_empty() { first } else { rest }
        };
        lines.iter().flat_map(below).collect()
    }

    #[test]
    fn the_lines_are_few_and_short() {
        let first = Step::Candidate(0);
        let many = (0..100).map(|inner| {
            (attempt(0, inner), verdict(Some(f64::from(inner)), &[first], &"plan ".repeat(100)))
        });
        let verdicts: Verdicts =
            [(first, verdict(Some(0.0), &[], "LightGBM"))].into_iter().chain(many).collect();
        let lines = single(&lessons(&verdicts, Direction::Maximize, None, MAX_LINES_PER_RUN));
        assert_eq!(lines.len(), MAX_LINES_PER_RUN);
        assert!(lines[0].starts_with("first solution"), "{}", lines[0]);
        assert!(lines[1].contains("better by 89"), "{}", lines[1]);
        assert!(lines.iter().all(|line| line.chars().count() < MAX_CHARS + 100));
    }

    #[test]
    fn what_helped_stays_and_failures_go_first() {
        let first = Step::Candidate(0);
        let failed = (0..20).map(|inner| (attempt(0, inner), verdict(None, &[first], "Fails.")));
        let worse = (20..40).map(|inner| (attempt(0, inner), verdict(Some(-9.0), &[first], "Worse.")));
        let helped = Verdict { kept: true, ..verdict(Some(0.001), &[first], "Helps.") };
        let rest = [(first, verdict(Some(0.0), &[], "LightGBM")), (attempt(1, 0), helped)];
        let verdicts: Verdicts = failed.chain(worse).chain(rest).collect();
        let lines = single(&lessons(&verdicts, Direction::Maximize, None, MAX_LINES_PER_RUN));
        assert_eq!(lines.len(), MAX_LINES_PER_RUN);
        assert!(lines[0].starts_with("first solution"), "{lines:?}");
        assert!(lines[MAX_LINES_PER_RUN - 1].contains("Helps: better by 0.001, kept"), "{lines:?}");
        assert!(lines[1..MAX_LINES_PER_RUN - 1].iter().all(|line| line.contains("Worse")), "{lines:?}");
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
            earlier_runs(runs).iter().map(|run| single(&run.lines).len()).collect()
        };
        assert_eq!(counts(&[run(0, 50), run(1, 50)]), [12, 12]);
        assert_eq!(counts(&[run(0, 50), run(1, 0), run(2, 50), run(3, 50)]), [6, 1, 6, 6]);
        let many: Vec<_> = (0..30).map(|id| run(id, 50)).collect();
        assert_eq!(counts(&many), [vec![1; MAX_LINES_OF_EARLIER_RUNS], vec![0; 6]].concat());
        // The most useful lines remain.
        let four: Vec<_> = (0..4).map(|id| run(id, 50)).collect();
        let lines = single(&earlier_runs(&four)[3].lines);
        assert_eq!(lines.len(), 6);
        assert!(lines[0].starts_with("first solution") && lines[1].contains("better by 45"), "{lines:?}");
    }

    #[test]
    fn what_a_study_found_is_told_to_other_paths() {
        let study = |path, outer| Step::Outer { path, outer };
        let studies = [
            (study(0, 0), "- without weather: 0.69 (-0.03)\n\nBaseline: 0.72".to_owned()),
            (study(1, 0), "Ablation study failed for this step".to_owned()),
            (study(1, 0), "line 1\n".repeat(9)),
        ];
        let others = ablation_lines(&studies, Some(study(1, 1)));
        let lines = ["without weather: 0.69 (-0.03)", "Baseline: 0.72"];
        assert_eq!(others, lines.map(|line| format!("path 1 (path-0), study 1: {line}")));
        let counts =
            [None, Some(study(0, 1)), Some(attempt(0, 3))].map(|at| ablation_lines(&studies, at).len());
        assert_eq!(counts, [STUDY_LINES + 2, STUDY_LINES, 2]);
    }

    #[test]
    fn texts_are_cut_between_words() {
        let check = |text: &str, most: usize, expected: &str| assert_eq!(clip(text, most), expected);
        check("a  b\nc", 10, "a b c");
        check("one two, three", 10, "one two…");
        check("abcdefghijk", 4, "abcd…");
        check("äöü äöü äöü", 8, "äöü äöü…");
    }
}

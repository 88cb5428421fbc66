//! What a run tried, and with what effect: one line each, for the agents of all paths and phases.
//!
//! The lines come from the verdicts of the steps. They are few and short, so that every prompt can afford them.

use crate::agents::{gained, number};
use crate::metric::{Direction, Score};
use crate::place::Step;
use crate::verdict::{Verdict, Verdicts};

/// Maximum number of lines.
const MOST: usize = 30;
/// Maximum length of a plan in a line, in characters.
const LONGEST: usize = 200;

/// One line for each solution that was tried, in the order of the algorithms, except for those of `except`. If there
/// are too many, those with the largest effects remain.
pub fn lessons(verdicts: &Verdicts, direction: Direction, except: Option<Step>) -> Vec<String> {
    let outer = |step: Step| match step {
        Step::Attempt { path, outer, .. } => Step::Outer { path, outer },
        step => step,
    };
    let others =
        verdicts.iter().filter(|(step, _)| except.is_none_or(|except| outer(**step) != outer(except)));
    let mut lines: Vec<(usize, f64, String)> = others
        .filter_map(|(step, verdict)| line(verdicts, direction, *step, verdict))
        .enumerate()
        .map(|(index, (effect, line))| (index, effect, line))
        .collect();
    lines.sort_by(|one, two| two.1.total_cmp(&one.1));
    lines.truncate(MOST);
    lines.sort_by_key(|(index, ..)| *index);
    lines.into_iter().map(|(.., line)| line).collect()
}

/// The line of a step, with the size of its effect.
fn line(verdicts: &Verdicts, direction: Direction, step: Step, verdict: &Verdict) -> Option<(f64, String)> {
    let what = match step {
        Step::Candidate(_) => "first solution".to_owned(),
        Step::Merge(_) | Step::DataCheck => String::new(),
        Step::Attempt { path, .. } => match verdict.part.as_str() {
            "" => format!("path {path}"),
            part => format!("path {path}, {part}"),
        },
        Step::Round(_) => "ensemble".to_owned(),
        Step::LeakageCheck | Step::Outer { .. } | Step::Choice(_) | Step::Finalization => return None,
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
            let kept = if verdict.kept { "kept" } else { "not kept" };
            format!("{}, {kept} (score {})", gained(gain, verdict.standard_error), number(now.value()))
        }
        (Some(now), None) => format!("score {}", number(now.value())),
        (None, _) => "it failed".to_owned(),
    };
    let plan: String = verdict.note.split_whitespace().collect::<Vec<_>>().join(" ");
    let plan = match plan.chars().count() {
        0..=LONGEST => plan,
        _ => format!("{}…", plan.chars().take(LONGEST).collect::<String>().trim_end()),
    };
    let subject: Vec<&str> =
        [what.as_str(), plan.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    Some((gain.map_or(f64::INFINITY, f64::abs), format!("{}: {effect}", subject.join(": "))))
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
            (attempt(1, 0), Verdict { limit: Some(crate::effects::Limit::Share), ..Verdict::default() }),
            (
                Step::Round(0),
                kept(Verdict { standard_error: Some(0.125), ..verdict(Some(1.0), &[merge], "Mean.") }),
            ),
        ]);
        let expected = [
            "first solution: LightGBM: score 0.5",
            "merged with CatBoost: better by 0.25, kept (score 0.75)",
            "path 1, training: `params = {`: Lower the rate.: worse by 0.25, not kept (score 0.5)",
            "path 1: More trees.: it failed",
            "ensemble: Mean.: better by 0.25 (standard error 0.125), kept (score 1)",
        ];
        assert_eq!(lessons(&verdicts, Direction::Maximize, None), expected);
        let others = lessons(&verdicts, Direction::Minimize, Some(Step::Outer { path: 1, outer: 0 }));
        assert_eq!(others.len(), 3);
        assert_eq!(others[1], "merged with CatBoost: worse by 0.25, kept (score 0.75)");
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
        assert!(lines[1].contains("better by 71"), "{}", lines[1]);
        assert!(lines.iter().all(|line| line.chars().count() < 300));
    }
}

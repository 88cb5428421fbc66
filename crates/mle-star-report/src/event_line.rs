//! The line of text for each event of a run, as terminal and log show it.

use mle_star::diagnostics::Diagnostics;
use mle_star::event::{Event, RunnerState, RunnerStatus};
use mle_star::result::PathStatus;
use mle_star::verdict::{Best, Verdict};
use mle_star_domain::effects::ScriptEnd;
use mle_star_domain::place::{Place, Step};
use mle_star_domain::trust::Severity;

use crate::figures::{duration, number};
use crate::progress::StepSummary;
use crate::sanitize::first_line;
use crate::words::{Models, in_line, on_runner, phase_title};

/// The most characters of a reason in the line of a runner.
const MAX_REASON_CHARS: usize = 400;

/// The importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// What only a log shows: effects, the ends of phases, new best scores.
    Detail,
    /// What everybody sees: a phase begins, a step ends, the run stops.
    News,
    /// A warning.
    Warning,
}

/// An event as one line; `None` for events that only change the status. `ended` is what the progress so far knows of a step that
/// ends with it, `models` what steps try.
pub fn line(event: &Event, ended: StepSummary, models: &Models) -> Option<(Weight, String)> {
    let at = |place: &Place| format!("  {:<28}", models.place(place));
    let line = match event {
        Event::PhaseStarted { phase } => (Weight::News, format!("=== {} ===", phase_title(*phase))),
        Event::StepEnded { place, verdict } => {
            // The last lines count the steps that a limit left out.
            let is_left_out = verdict.limit.is_some() && !verdict.kept;
            let weight = if is_left_out { Weight::Detail } else { Weight::News };
            (weight, step_line(&models.step(*place), *place, verdict, ended))
        }
        Event::Skipped { place, limit } => {
            (Weight::Detail, format!("{} skipped: {}", at(place), limit.name()))
        }
        Event::Best { score, from, .. } => {
            let before = from.map_or_else(String::new, |from| format!(" (was {})", number(from)));
            (Weight::Detail, format!("  best so far {}{before}", number(*score)))
        }
        Event::PathEnded { path, status, cause, best } => {
            let cause = cause.iter().map(|cause| format!(": {}", in_line(cause))).collect::<String>();
            let weight = if *status == PathStatus::Failed { Weight::Warning } else { Weight::Detail };
            let best = models.step(best.step);
            (weight, format!("  path {} {}{cause}; its best solution: {best}", path + 1, status.name()))
        }
        Event::PhaseEnded { phase, seconds, best, .. } => {
            let best =
                best.iter().map(|best| format!(", best score {}", number(best.score))).collect::<String>();
            (Weight::Detail, format!("  {} ended after {}{best}", phase_title(*phase), duration(*seconds)))
        }
        Event::Info { place, text } => (Weight::Detail, format!("{} {}", at(place), in_line(text))),
        Event::Answer { solution, .. } => {
            let (step, score) = (models.step(solution.step), number(solution.score));
            (Weight::Detail, format!("  the answer now: {step}, score {score}"))
        }
        Event::Look { run, part, score, .. } => {
            let (at, score) = (models.place(run), score_words(*score));
            (Weight::Detail, format!("{at}: {score} on held-out rows ({})", part.name()))
        }
        Event::Finding { finding, .. } => {
            let what = if finding.severity == Severity::Block { "leak" } else { "note" };
            let at = format!("({}, line {})", models.place(&finding.place.parent()), finding.line);
            (Weight::Warning, format!("  {what}: {} {at}", in_line(&finding.text)))
        }
        Event::Warning { place, text, limit } => {
            let at = Some(place).filter(|place| !place.as_str().is_empty());
            let at = at.map_or_else(String::new, |place| format!(" ({})", models.place(place)));
            let weight = if limit.is_some() { Weight::Detail } else { Weight::Warning };
            (weight, format!("  note: {}{at}", in_line(text)))
        }
        Event::Stopped(diagnostics) => (Weight::News, stopped_line(diagnostics, models)),
        Event::Said { text, .. } => (Weight::News, text.clone()),
        Event::RunEnded { exit_code, .. } => (Weight::Detail, format!("ended with exit code {exit_code}")),
        _ => return effect_line(event, ended, models),
    };
    Some(line)
}

/// An agent call, a script or a runner as one line.
fn effect_line(event: &Event, ended: StepSummary, models: &Models) -> Option<(Weight, String)> {
    let at = |place: &Place| format!("  {:<28}", models.place(place));
    let line = match event {
        Event::AgentEnded { place, agent, failure: Some(failure), .. } => {
            let (agent, failure) = (agent.name(), in_line(failure));
            (Weight::Warning, format!("{} {agent} failed: {failure}", at(place)))
        }
        Event::AgentEnded { place, agent, seconds, replayed, .. } => {
            let how = if *replayed { "read back".to_owned() } else { duration(*seconds) };
            (Weight::Detail, format!("{} {} answered ({how})", at(place), agent.name()))
        }
        Event::AgentWaits { place, seconds, reason, .. } => {
            let (reason, wait) = (in_line(reason), duration(*seconds));
            (Weight::Warning, format!("{} waits {wait}: {reason}", at(place)))
        }
        Event::ToolUsed { place, agent, tool, about, failure, .. } => {
            let failed = failure.iter().map(|why| format!(" failed: {}", in_line(why))).collect::<String>();
            let (who, about) = (agent.name(), in_line(about));
            (Weight::Detail, format!("{} {who} used {tool}: {about}{failed}", at(place)))
        }
        // The user gave the run so much time.
        Event::ScriptEnded { place, end, seconds, .. } if *end == ScriptEnd::TimedOut.words() => {
            let took = duration(*seconds);
            (Weight::Detail, format!("{} script stopped: it used its time ({took})", at(place)))
        }
        Event::ScriptEnded { place, failure: Some(failure), runner, .. } => {
            let (on, failure) = (on_runner(runner.as_deref()), in_line(failure));
            (Weight::Warning, format!("{} script failed{on}: {failure}", at(place)))
        }
        Event::ScriptEnded { place, seconds, score, runner, replayed, .. } => {
            let how = if *replayed { "read back".to_owned() } else { duration(*seconds) };
            let score = score.iter().map(|score| format!(", score {}", number(*score))).collect::<String>();
            let on = on_runner(runner.as_deref());
            (Weight::Detail, format!("{} script ended{on} ({how}{score})", at(place)))
        }
        Event::Runner { runner } => (runner_weight(runner, ended), runner_line(runner)),
        _ => return None,
    };
    Some(line)
}

fn runner_weight(runner: &RunnerStatus, ended: StepSummary) -> Weight {
    match runner.state {
        RunnerState::Failed if ended.failure_is_known => Weight::Detail,
        RunnerState::Lost | RunnerState::Failed => Weight::Warning,
        RunnerState::Waiting | RunnerState::Ready | RunnerState::GivenBack => Weight::Detail,
    }
}

/// A runner with its state: `runner near-1 was lost: its command ended with exit code 1`.
fn runner_line(runner: &RunnerStatus) -> String {
    let RunnerStatus { runner: name, state, waited, detail, .. } = runner;
    let what = match state {
        RunnerState::Waiting if detail.is_empty() => "is waiting",
        RunnerState::Waiting => "prepares",
        RunnerState::Ready => "is ready",
        RunnerState::GivenBack => "was given back",
        RunnerState::Lost => "was lost",
        RunnerState::Failed => "cannot be used",
    };
    let after = waited.filter(|_| *state == RunnerState::Ready);
    let after = after.map_or_else(String::new, |waited| format!(" after {}", duration(waited)));
    let why =
        if detail.is_empty() { String::new() } else { format!(": {}", first_line(detail, MAX_REASON_CHARS)) };
    format!("  runner {} {what}{after}{why}", in_line(name))
}

/// The progress of a run that ended early.
fn stopped_line(diagnostics: &Diagnostics, models: &Models) -> String {
    let Diagnostics { elapsed_seconds, spent, last_success, solution, submission, .. } = diagnostics;
    let cost = match spent.cost_usd {
        Some(usd) if spent.estimated_usd > 0.0 => format!("~${usd:.2}"),
        Some(usd) => format!("${usd:.2}"),
        None => "unknown cost".to_owned(),
    };
    let last = last_success.as_ref().map_or_else(|| "nothing".to_owned(), |place| models.place(place));
    let solution_of =
        |best: &Best| format!("solution of {}, score {}", models.step(best.step), number(best.score));
    let exists = match (solution, submission) {
        (None, _) => "no solution yet".to_owned(),
        (Some(best), None) => {
            let period = diagnostics.predicts.as_ref();
            let instead = period.map(|period| format!(", its scripts predict {}", period.words()));
            format!("{}; no submission yet{}", solution_of(best), instead.unwrap_or_default())
        }
        (Some(best), Some(made)) => {
            format!("{}; submission of {}", solution_of(best), models.step(made.step))
        }
    };
    format!("stopped after {}, {cost} spent; last success: {last}; {exists}", duration(*elapsed_seconds))
}

fn score_words(score: Option<f64>) -> String {
    score.map_or_else(|| "no score".to_owned(), |score| format!("score {}", number(score)))
}

fn step_line(name: &str, step: Step, verdict: &Verdict, ended: StepSummary) -> String {
    let needs_none =
        matches!(step, Step::DataCheck | Step::LeakageCheck | Step::LikeRows(_) | Step::Provisional(_));
    let is_bare = needs_none && verdict.score.is_none();
    let score = if is_bare { String::new() } else { score_words(verdict.score) };
    let fate = match (ended.is_best, verdict.kept) {
        (true, true) => "best so far",
        (false, true) => "kept",
        (_, false) if matches!(step, Step::Provisional(_)) => "none",
        (_, false) if matches!(step, Step::DataCheck | Step::LeakageCheck) => "unchanged",
        (_, false) if verdict.limit.is_some() => "not ended",
        (_, false) => "not kept",
    };
    let time = ended.seconds.map_or_else(String::new, duration);
    let cut = verdict.limit.filter(|_| !verdict.kept).map(|limit| limit.name().to_owned());
    let note = cut.into_iter().chain([in_line(&verdict.note)]);
    let note = note.filter(|part| !part.is_empty() && *part != name).collect::<Vec<_>>().join("; ");
    format!("  {name:<28} {score:<16} {fate:<11} {time:>7}  {note}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of an event with a model, with single spaces.
    fn shown(event: &Event, ended: StepSummary, model: Option<&str>) -> String {
        let mut models = Models::default();
        model.iter().for_each(|name| {
            models.take(&Event::Model { place: Step::Candidate(0), name: (*name).to_owned() });
        });
        let (_, text) = line(event, ended, &models).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_limit_leaves_out_is_for_the_log() {
        let weight = |event: Event| line(&event, StepSummary::default(), &Models::default()).unwrap().0;
        use mle_star_domain::effects::Limit;
        let skipped = |place: &str| Event::Skipped { place: Place::from(place), limit: Limit::Share };
        assert_eq!(weight(skipped("phase2/path-0/t1")), Weight::Detail);
        let warning = |limit| Event::Warning { place: Place::root(), text: "no code".to_owned(), limit };
        assert_eq!(weight(warning(Some(Limit::Share))), Weight::Detail);
        assert_eq!(weight(warning(None)), Weight::Warning);
        let ended = |limit| {
            let verdict = Verdict { limit, ..Verdict::default() };
            Event::StepEnded { place: Step::Round(0), verdict }
        };
        assert_eq!(weight(ended(Some(Limit::Time))), Weight::Detail);
        assert_eq!(weight(ended(None)), Weight::News);
    }

    #[test]
    fn scripts_name_their_runner() {
        let of = |place: &str, end: &str, failure: Option<&str>, runner: Option<&str>, expected: &str| {
            let place = Place::from(place);
            let event = serde_json::json!({"event": "script_ended", "place": place, "seconds": 2.0, "score": 0.5,
                "end": end, "failure": failure, "runner": runner, "replayed": false});
            let event = serde_json::from_value(event).unwrap();
            assert_eq!(shown(&event, StepSummary::default(), None), expected);
        };
        let check =
            |failure, runner, expected: &str| of("phase1/candidate-0/run", "", failure, runner, expected);
        check(None, None, "candidate 1 script ended (2.0 s, score 0.50000)");
        check(None, Some("far-1"), "candidate 1 script ended on far-1 (2.0 s, score 0.50000)");
        check(Some("KeyError"), Some("far-1"), "candidate 1 script failed on far-1: KeyError");
        let probe = |end: &str, failure: &str, expected: &str| {
            of("finalization/probe-0/shuffled-target/run", end, Some(failure), None, expected);
        };
        let late = "probe with shuffled target script stopped: it used its time (2.0 s)";
        probe("time limit", "The script was stopped", late);
        probe("exit code 1", "KeyError", "probe with shuffled target script failed: KeyError");
    }

    #[test]
    fn steps_are_one_line() {
        let check = |score, kept, is_best, note: &str, expected: &str| {
            let verdict = Verdict { score, kept, note: note.to_owned(), ..Verdict::default() };
            let event = Event::StepEnded { place: Step::Candidate(0), verdict };
            let ended = StepSummary { seconds: Some(3.0), is_best, ..StepSummary::default() };
            assert_eq!(shown(&event, ended, Some("LightGBM")), expected);
        };
        check(Some(0.5), true, true, "LightGBM", "LightGBM score 0.50000 best so far 3.0 s");
        check(Some(0.5), true, false, "", "LightGBM score 0.50000 kept 3.0 s");
        check(None, false, false, "\na\nb", "LightGBM no score not kept 3.0 s a");
        let others = |place, expected: &str| {
            let verdict = Verdict { note: "0 of 2 attempts kept".to_owned(), ..Verdict::default() };
            let event = Event::StepEnded { place, verdict };
            assert_eq!(shown(&event, StepSummary::default(), None), expected);
        };
        let outer = Step::Outer { path: 0, outer: 0 };
        others(outer, "path 1, step 1 no score not kept 0 of 2 attempts kept");
        others(Step::LeakageCheck, "leakage check unchanged 0 of 2 attempts kept");
    }
}

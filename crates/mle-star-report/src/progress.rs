//! The state of a run, computed from the lines of its event log. The time comes from these lines and from the caller,
//! never from the system clock.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mle_star::event::{Done, Event, Line, Outline, RunnerState};
use mle_star_domain::effects::{ScriptEnd, Usage};
use mle_star_domain::metric::Score;
use mle_star_domain::place::{Phase, Place, Step};

use crate::done::{RunUse, done};
use crate::pace::{EndedEffect, Moment, Pace, seconds};
use crate::runners::Runners;
use crate::words::{Models, in_line};

/// The state of a run.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The outline of the run.
    pub outline: Option<Outline>,
    /// The current phase.
    pub phase: Option<Phase>,
    /// The best score.
    pub best: Option<Best>,
    /// Agent calls and scripts that have a slot.
    pub running: BTreeMap<Place, RunningCall>,
    /// Runners, those of earlier processes included.
    pub runners: Runners,
    /// The models that steps try.
    pub models: Models,
    /// Steps in progress, with the seconds of their agent calls and scripts that ended, without their wait for a slot.
    pub steps: BTreeMap<Step, f64>,
    /// Completed scripts, and how many of them failed, without those that used their time.
    pub scripts: (u64, u64),
    /// Completed agent calls.
    pub calls: u64,
    /// Cost and tokens of the whole run.
    pub spent: Option<Usage>,
    /// The exit code, once the run has ended.
    pub exit_code: Option<u8>,
    /// When this process started work on the run. Earlier time, such as for creating an environment, does not
    /// count.
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    /// The time of the last line.
    last: Option<Timestamp>,
    /// Whether a limit left steps out.
    leaves_out: bool,
    pace: Pace,
}

/// What the progress so far adds to the event that ends a step: its working time, and whether it is new.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepSummary {
    /// Seconds of the ended step's agent calls and scripts, without their wait for a slot.
    pub seconds: Option<f64>,
    /// Whether the ended step gave the best score of the run so far.
    pub is_best: bool,
    /// For the failure of a runner: whether another runner failed before for the same reason.
    pub failure_is_known: bool,
}

/// The best score so far.
#[derive(Clone, Debug)]
pub struct Best {
    /// In the metric's unit.
    pub score: f64,
    /// The score before it; `None` for the first.
    pub from: Option<f64>,
    /// The step that made it.
    pub place: Place,
    /// The time of the change.
    pub time: Timestamp,
}

/// An agent call or a script in progress.
#[derive(Clone, Debug)]
pub struct RunningCall {
    /// The agent's name, or `script`.
    pub name: &'static str,
    /// Whether it is a script.
    pub is_script: bool,
    /// When it got its slot.
    pub began: Timestamp,
    /// The timeout in seconds; 0 if unknown.
    pub timeout: f64,
    /// The tool that an agent used last, with its argument.
    pub tool: Option<String>,
    /// An agent's last wait for the service, which may be over.
    pub last_wait: Option<Wait>,
    /// The runner of a script; `None`: this machine.
    pub runner: Option<String>,
}

/// An agent's wait for the service.
#[derive(Clone, Debug)]
pub struct Wait {
    /// When it began.
    pub from: Timestamp,
    /// When the service is asked again. No event tells of that.
    pub until: Timestamp,
    /// Why it waits.
    pub why: String,
}

impl RunningCall {
    /// The wait for the service, while it lasts.
    pub fn waits(&self, now: Timestamp) -> Option<&Wait> {
        self.last_wait.as_ref().filter(|wait| now < wait.until)
    }

    /// When it began its current activity: work, or waiting for the service.
    pub fn since(&self, now: Timestamp) -> Timestamp {
        let of_wait = |wait: &Wait| if now < wait.until { wait.from } else { wait.until };
        self.last_wait.as_ref().map_or(self.began, of_wait)
    }

    /// How long the current activity may take, in seconds; 0 if unknown.
    pub fn at_most(&self, now: Timestamp) -> f64 {
        self.waits(now).map_or(self.timeout, |wait| seconds(wait.from, wait.until))
    }

    /// `coder`, `script` or `coder waits for the service`.
    pub fn words(&self, now: Timestamp) -> String {
        let waits = if self.waits(now).is_some() { " waits for the service" } else { "" };
        format!("{}{waits}", self.name)
    }
}

impl Progress {
    /// Processes a line. If it ends a step, returns what is known about the step.
    pub fn take(&mut self, line: &Line) -> StepSummary {
        let (time, failure_is_known) = (line.time, self.runners.take(line));
        self.last = Some(time);
        self.models.take(&line.event);
        match &line.event {
            Event::RunStarted(outline) => self.start(outline),
            Event::RunEnded { exit_code, .. } => self.end(*exit_code, time),
            Event::PhaseStarted { phase } => self.begin_phase(*phase, time),
            Event::StepStarted { place, .. } => {
                self.steps.insert(*place, 0.0);
            }
            Event::StepEnded { place, .. } => return self.end_step(*place),
            Event::Skipped { place, .. } => {
                self.leaves_out = true;
                self.running.remove(place);
                if let Some(step) = place.step().filter(|step| step.place() == *place) {
                    self.steps.remove(&step);
                }
            }
            Event::Best { place, score, from } => {
                self.best = Some(Best { score: *score, from: *from, place: place.clone(), time });
            }
            Event::Runner { runner } if runner.state == RunnerState::Lost => {
                // They wait for another slot.
                self.running.retain(|_, effect| effect.runner.as_ref() != Some(&runner.runner));
            }
            _ => self.take_effect(&line.event, time),
        }
        StepSummary { failure_is_known, ..StepSummary::default() }
    }

    /// Processes an event of an agent call or a script.
    fn take_effect(&mut self, event: &Event, time: Timestamp) {
        match event {
            Event::AgentStarted { place, agent, timeout, .. } => {
                self.begin(place, agent.name(), *timeout, time);
            }
            Event::AgentWaits { place, agent, seconds, reason } => {
                if !self.running.contains_key(place) {
                    self.begin(place, agent.name(), 0.0, time);
                }
                let wait = SignedDuration::try_from_secs_f64(*seconds).unwrap_or_default();
                let until = time.checked_add(wait).unwrap_or(time);
                self.running.entry(place.clone()).and_modify(|effect| {
                    effect.last_wait = Some(Wait { from: time, until, why: in_line(reason) });
                    effect.tool = None;
                });
            }
            Event::ScriptStarted { place, timeout, runner, .. } => {
                self.begin(place, script_name(place), *timeout, time);
                self.running.entry(place.clone()).and_modify(|effect| {
                    effect.is_script = true;
                    effect.runner.clone_from(runner);
                });
            }
            Event::AgentEnded { place, usage, seconds: whole, replayed, .. } => {
                // The event's seconds include the wait for a slot.
                let seconds = self.running.remove(place).map_or(*whole, |effect| seconds(effect.began, time));
                self.worked(place, seconds);
                self.calls += 1;
                if !replayed {
                    self.spent = Some(self.spent.unwrap_or_else(Usage::free) + *usage);
                }
                if let Some(phase) = place.phase() {
                    self.pace.calls.take(EndedEffect { phase, seconds, replayed: *replayed });
                }
            }
            Event::ScriptEnded { place, seconds, failure, replayed, end, .. } => {
                self.running.remove(place);
                self.worked(place, *seconds);
                self.scripts.0 += 1;
                let is_late = *end == ScriptEnd::TimedOut.words();
                self.scripts.1 += u64::from(failure.is_some() && !is_late);
                if let Some(phase) = place.phase() {
                    self.pace.scripts.take(EndedEffect { phase, seconds: *seconds, replayed: *replayed });
                }
            }
            Event::ToolUsed { place, tool, about, .. } => {
                let words = format!("{tool}: {}", in_line(about));
                self.running.entry(place.clone()).and_modify(|effect| effect.tool = Some(words));
            }
            _ => {}
        }
    }

    /// The time of the last line.
    pub fn last(&self) -> Option<Timestamp> {
        self.last
    }

    /// Elapsed seconds of the run. For a process that was killed, `now` has to be the time of its last line.
    pub fn elapsed(&self, now: Timestamp) -> f64 {
        self.outline.as_ref().map_or(0.0, |outline| outline.elapsed) + self.seconds_of_this_process(now)
    }

    /// The moment at which the clock of the run would have been at zero, had it never been interrupted; `None` before
    /// this process began its work.
    pub fn zero(&self) -> Option<Timestamp> {
        let before = SignedDuration::try_from_secs_f64(self.outline.as_ref()?.elapsed).ok()?;
        self.began?.checked_sub(before).ok()
    }

    /// Estimated seconds left, at most what the time limit leaves; `None` while it is too early to say.
    pub fn seconds_left(&self, now: Timestamp) -> Option<f64> {
        let outline = self.outline.as_ref().filter(|_| self.exit_code.is_none())?;
        let (own, planned, phase) = (self.seconds_of_this_process(now), &outline.planned, self.phase?);
        let under_way = |scripts: bool| -> Vec<f64> {
            let effects = self.running.values().filter(|effect| effect.is_script == scripts);
            effects.map(|effect| seconds(effect.began, now)).collect()
        };
        let (calls, scripts) = (under_way(false), under_way(true));
        let moment = Moment { planned, phase, own, calls: &calls, scripts: &scripts };
        #[expect(clippy::cast_precision_loss, reason = "seconds of a run are far below 2^52")]
        let limit = outline.time_limit as f64 - self.elapsed(now);
        Some(self.pace.seconds_left(moment)?.min(limit.max(0.0)))
    }

    /// How far the run is; `None` before it has a plan.
    pub fn done(&self, now: Timestamp) -> Option<Done> {
        let usd = self.spent.and_then(|spent| spent.cost_usd);
        let (seconds, leaves_out) = (self.elapsed(now), self.leaves_out);
        let used = RunUse { seconds, usd, phase: self.phase, leaves_out };
        let so_far = done(self.outline.as_ref()?, used, |phase| self.pace.ended(phase));
        let is_finished = matches!(self.exit_code, Some(0 | 3));
        Some(if is_finished { Done { percent: 100, ..so_far } } else { so_far })
    }

    /// A score of this run's metric.
    pub fn score(&self, value: f64) -> Option<Score> {
        Score::new(value, self.outline.as_ref()?.direction)
    }

    /// The numbers of agent calls and scripts in progress.
    pub fn at_work(&self) -> (usize, usize) {
        let scripts = self.running.values().filter(|effect| effect.is_script).count();
        (self.running.len() - scripts, scripts)
    }

    /// A process that resumes a run emits the events of earlier processes again.
    fn start(&mut self, outline: &Outline) {
        let (runners, last) = (std::mem::take(&mut self.runners), self.last);
        let (outline, spent) = (Some(outline.clone()), Some(outline.spent));
        *self = Self { outline, spent, runners, last, ..Self::default() };
    }

    fn end(&mut self, exit_code: u8, time: Timestamp) {
        self.exit_code = Some(exit_code);
        self.ended = Some(time);
        self.running.clear();
        self.steps.clear();
    }

    fn begin_phase(&mut self, phase: Phase, time: Timestamp) {
        self.began.get_or_insert(time);
        self.phase = Some(phase);
    }

    fn begin(&mut self, place: &Place, name: &'static str, timeout: f64, began: Timestamp) {
        let (tool, last_wait, runner) = (None, None, None);
        let effect = RunningCall { name, is_script: false, began, timeout, tool, last_wait, runner };
        self.running.insert(place.clone(), effect);
    }

    /// An agent call or a script ended. Its time counts for its step and, in an attempt, for the outer step.
    fn worked(&mut self, place: &Place, seconds: f64) {
        let Some(step) = place.step() else { return };
        let outer = match step {
            Step::Attempt { path, outer, .. } => Some(Step::Outer { path, outer }),
            _ => None,
        };
        for step in [Some(step), outer].into_iter().flatten() {
            self.steps.entry(step).and_modify(|worked| *worked += seconds);
        }
    }

    fn end_step(&mut self, step: Step) -> StepSummary {
        let seconds = self.steps.remove(&step);
        let is_best = self.best.as_ref().is_some_and(|best| best.place == step.place());
        StepSummary { seconds, is_best, failure_is_known: false }
    }

    /// Seconds that this process has worked on the run, without those of earlier processes.
    fn seconds_of_this_process(&self, now: Timestamp) -> f64 {
        self.began.map_or(0.0, |began| seconds(began, self.ended.unwrap_or(now)))
    }
}

fn script_name(place: &Place) -> &'static str {
    match place.step() {
        Some(Step::Outer { .. }) => "ablation script",
        _ => "script",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use mle_star::verdict::Verdict;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    /// The state after these events, each with its second.
    fn progress(events: &[(i64, Value)]) -> Progress {
        let mut progress = Progress::default();
        for (second, event) in events {
            let event = serde_json::from_value(event.clone()).unwrap();
            progress.take(&Line { time: at(*second), run_id: "r".to_owned(), done: None, event });
        }
        progress
    }

    fn started(direction: &str, elapsed: f64, spent: &Value) -> Value {
        json!({"event": "run_started", "task": "t", "metric": "m", "direction": direction, "resumed": elapsed > 0.0,
            "elapsed": elapsed, "spent": spent, "paths": 2, "outer_steps": 2, "inner_steps": 2, "rounds": 1,
            "time_limit": 1000, "max_budget_usd": null, "planned": []})
    }

    fn used(cost_usd: Option<f64>, input: u64) -> Value {
        json!({"cost_usd": cost_usd, "input": input, "output": 0, "cache_read": 0, "cache_write": 0})
    }

    #[test]
    fn money_counts_once_and_what_is_known_stays_so() {
        let ended = |usage: Value, replayed: bool| {
            (
                2,
                json!({"event": "agent_ended", "place": "phase1/retriever", "agent": "retriever", "seconds": 1.0,
                "usage": usage, "failure": null, "replayed": replayed}),
            )
        };
        let check = |before: Value, calls: &[(i64, Value)], cost: Option<f64>, input: u64| {
            let mut events = vec![(1, started("maximize", 0.0, &before))];
            events.extend_from_slice(calls);
            let spent = progress(&events).spent.unwrap();
            assert_eq!((spent.cost_usd, spent.input), (cost, input), "{events:?}");
        };
        check(used(Some(0.0), 0), &[], Some(0.0), 0);
        check(used(Some(0.0), 0), &[ended(used(Some(0.5), 10), false)], Some(0.5), 10);
        check(used(Some(1.0), 500), &[ended(used(Some(1.0), 500), true)], Some(1.0), 500);
        check(used(Some(1.0), 500), &[ended(used(Some(0.25), 5), false)], Some(1.25), 505);
        check(used(Some(1.0), 500), &[ended(used(None, 5), false)], Some(1.0), 505);
        check(used(Some(0.0), 0), &[ended(used(None, 5), false)], None, 5);
    }

    #[test]
    fn the_time_of_a_step_is_that_of_its_work_and_not_of_its_waiting() {
        let place = "phase2/path-0/t0/k0";
        let events = [
            (1, started("maximize", 0.0, &used(Some(0.0), 0))),
            (2, json!({"event": "step_started", "place": "phase2/path-0/t0", "of": 1})),
            (2, json!({"event": "step_started", "place": place, "of": 1})),
            (
                10,
                json!({"event": "agent_started", "place": format!("{place}/coder"), "agent": "coder", "variant": null,
                "timeout": 900.0}),
            ),
            (
                12,
                json!({"event": "agent_waits", "place": format!("{place}/coder"), "agent": "coder", "seconds": 60.0,
                "reason": "overloaded"}),
            ),
            (
                14,
                json!({"event": "agent_ended", "place": format!("{place}/coder"), "agent": "coder", "seconds": 12.0,
                "usage": used(Some(0.0), 0), "failure": null, "replayed": false}),
            ),
            (90, json!({"event": "script_started", "place": format!("{place}/run"), "timeout": 0.0})),
            (
                95,
                json!({"event": "script_ended", "place": format!("{place}/run"), "seconds": 5.0, "score": 0.5,
                "failure": null, "replayed": false}),
            ),
        ];
        let mut progress = progress(&events);
        let ended = |place: &str| Event::StepEnded {
            place: Place::from(place).step().unwrap(),
            verdict: Verdict { score: Some(0.5), kept: true, ..Verdict::default() },
        };
        for step in [place, "phase2/path-0/t0"] {
            let line = Line { time: at(95), run_id: "r".to_owned(), done: None, event: ended(step) };
            assert_eq!(progress.take(&line).seconds, Some(9.0), "{step}");
        }
    }

    #[test]
    fn a_script_whose_runner_is_lost_waits_for_another_slot() {
        let begun = |place: &str, runner: Option<&str>| json!({"event": "script_started", "place": place, "timeout": 0.0, "runner": runner});
        let runner = |state: &str| json!({"event": "runner", "runner": "far-1", "state": state, "host": "far", "slots": 2});
        let (first, second) = ("phase1/candidate-0/run", "phase1/candidate-1/run");
        let mut events = vec![
            (1, started("maximize", 0.0, &used(Some(0.0), 0))),
            (2, runner("ready")),
            (3, begun(first, Some("far-1"))),
            (3, begun(second, None)),
        ];
        let check = |events: &[(i64, Value)], places: &[&str], busy: &[&str]| {
            let progress = progress(events);
            let running: Vec<&str> = progress.running.keys().map(Place::as_str).collect();
            assert_eq!(
                (
                    running,
                    progress.running.values().filter_map(|call| call.runner.as_deref()).collect::<Vec<_>>()
                ),
                (places.to_vec(), busy.to_vec())
            );
        };
        check(&events, &[first, second], &["far-1"]);
        events.push((4, runner("lost")));
        check(&events, &[second], &[]);
        events.push((5, begun(first, None)));
        check(&events, &[first, second], &[]);
    }
}

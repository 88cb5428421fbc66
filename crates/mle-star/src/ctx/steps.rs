//! Begins, skips and closes steps, paths and phases, and contains their failures.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::{MutexGuard, PoisonError};

use futures_util::FutureExt as _;

use super::Ctx;
use crate::diagnostics::Diagnostics;
use crate::evaluation::StepEnd;
use crate::event::Event;
use crate::journal::Entry;
use crate::lessons::lessons;
use crate::result::PathRecord;
use crate::scored::Scored;
use crate::spending::spending;
use crate::stop::Stop;
use crate::studies::Studies;
use crate::verdict::Lineage;
use crate::verdict::{self, Best, Verdict, Verdicts};
use mle_star_domain::effects::{AgentReply, Answer, Limit, Usage};
use mle_star_domain::metric::Score;
use mle_star_domain::place::{Phase, Place, Step};
use mle_star_domain::trust::Finding;

/// The state of a run so far. It is not stored; a replay of the journal rebuilds it.
#[derive(Default)]
pub(super) struct History {
    verdicts: Verdicts,
    /// What the ablation studies found.
    studies: Studies,
    /// Steps that have begun and not ended.
    open: BTreeSet<Step>,
    /// Steps in which a limit refused something.
    refused: BTreeMap<Step, Limit>,
    /// Steps in which a script used its time.
    late: BTreeSet<Step>,
    /// The number of scored solutions.
    scored: u64,
    /// The rules and blocks of the findings that were told.
    told_findings: HashSet<(String, String)>,
    /// The best score of any solution.
    best: Option<Score>,
    /// The runs that left a valid submission.
    submitted: HashSet<Place>,
    /// The best solution without a known leak whose run left one.
    submission: Option<(Best, Score)>,
    /// The latest agent call or script that succeeded, with the time of its end.
    succeeded: Option<(jiff::Timestamp, Place)>,
    /// The answers to questions that are asked once, by their inputs.
    answers: HashMap<String, AgentReply>,
    /// The last announced solution.
    answer: Option<(Best, Option<Best>)>,
}

impl<'a> Ctx<'a> {
    /// The run at `step`, whose solution is made from these.
    #[must_use]
    pub(crate) fn at<'s>(&self, step: Step, from: impl IntoIterator<Item = &'s Scored>) -> Self {
        let built_on = from.into_iter().map(|one| one.facts().seconds).reduce(f64::max);
        Self { place: step.place(), built_on, ..self.clone() }
    }

    /// Takes the step at this place, unless a limit leaves it out: does its work, and closes it with the verdict that `end`
    /// gives beside the value for the algorithm. A defect in a step of Phase 1 ends that step alone.
    pub(crate) async fn step<T, U>(
        &self,
        work: impl Future<Output = Result<T, Stop>>,
        end: impl FnOnce(StepEnd<T>) -> (U, Verdict),
    ) -> Result<U, Stop> {
        let step = self.current_step()?;
        let ended = match self.skip(step.times(self.config()))? {
            Some(limit) => StepEnd::LeftOut(limit),
            None => Box::pin(self.work(step, work)).await?.into(),
        };
        let (value, verdict) = end(ended);
        self.close(verdict)?;
        Ok(value)
    }

    /// Takes the step at this place as [`Ctx::step`] does, but no limit leaves it out: `end` gets what the work gave, or the
    /// defect of the program that ended it.
    pub(crate) async fn step_always<T, U>(
        &self,
        work: impl Future<Output = Result<T, Stop>>,
        end: impl FnOnce(Result<T, String>) -> (U, Verdict),
    ) -> Result<U, Stop> {
        let step = self.current_step()?;
        self.start(step, 1);
        let (value, verdict) = end(Box::pin(self.work(step, work)).await?);
        self.close(verdict)?;
        Ok(value)
    }

    /// What the work of a step gave, or the defect that ended it. Only Phase 1 goes on without a step.
    async fn work<T>(
        &self,
        step: Step,
        work: impl Future<Output = Result<T, Stop>>,
    ) -> Result<Result<T, String>, Stop> {
        if step.phase() != Phase::Phase1 {
            return Ok(Ok(work.await?));
        }
        self.isolated(work).await
    }

    /// The run at attempt `inner` of the current outer step, at this solution.
    pub(crate) fn attempt(&self, inner: u32, current: &Scored) -> Result<Self, Stop> {
        match self.current_step()? {
            Step::Outer { path, outer } => Ok(self.at(Step::Attempt { path, outer, inner }, [current])),
            _ => Err(Stop::Bug {
                place: self.place.clone(),
                what: "only outer steps have attempts".to_owned(),
            }),
        }
    }

    /// The run at a step that no limit leaves out; it begins.
    #[must_use]
    pub(crate) fn begin(&self, step: Step) -> Self {
        self.start(step, 1);
        self.at(step, [])
    }

    /// The run at a repair of this place's script.
    #[must_use]
    pub(crate) fn repair(&self, count: u32) -> Self {
        Self { place: self.place.repaired(count), ..self.clone() }
    }

    /// The run at the second evaluation or selection in this step, without the leak.
    #[must_use]
    pub(crate) fn corrected(&self) -> Self {
        Self { place: self.place.corrected(), ..self.clone() }
    }

    /// The run at the submission script's run without the held-out rows' labels.
    #[must_use]
    pub(crate) fn without_labels(&self) -> Self {
        Self { place: self.place.without_labels(), ..self.clone() }
    }

    /// The run at a baseline's run on the original files.
    #[must_use]
    pub(crate) fn on_original(&self) -> Self {
        Self { place: self.place.original(), ..self.clone() }
    }

    /// The run at the look at the answer that stands if finalization fails.
    #[must_use]
    pub(crate) fn of_fallback(&self) -> Self {
        Self { place: self.place.fallback(), ..self.clone() }
    }

    /// The run at a member of a combination, counted from 1.
    #[must_use]
    pub(crate) fn of_member(&self, count: u32) -> Self {
        Self { place: self.place.member(count), ..self.clone() }
    }

    /// The run on a refinement path.
    #[must_use]
    pub(crate) fn on_path(&self, path: u32) -> Self {
        Self { place: Place::of_path(path), ..self.clone() }
    }

    /// The current step.
    ///
    /// # Errors
    /// This place is outside any step, which is a defect.
    pub(crate) fn current_step(&self) -> Result<Step, Stop> {
        let what = || "this place belongs to no step".to_owned();
        self.place.step().ok_or_else(|| Stop::Bug { place: self.place.clone(), what: what() })
    }

    /// Fails with the specification's message if the input of an agent would be meaningless.
    pub(crate) fn require(&self, holds: bool, otherwise: &str) -> Result<(), Stop> {
        let bug = || Stop::Bug { place: self.place.clone(), what: otherwise.to_owned() };
        if holds { Ok(()) } else { Err(bug()) }
    }

    /// The limit that skips the step at this place, now or in an earlier process; `None` if the step may begin.
    fn skip(&self, of: u32) -> Result<Option<Limit>, Stop> {
        let (journal, step) = (self.run.journal, self.current_step()?);
        let limit = match journal.decided(&self.place)? {
            Some(limit) => Some(limit),
            None if journal.begun_below(&self.place)? || self.failed_alone(step) => None,
            None => {
                // The step at which a path or phase failed is closed with it.
                self.fence().inspect_err(|_| self.start(step, of))?;
                let limit = self.run.limits.too_late_to_begin(&self.place, self.built_on, journal.elapsed());
                if let Some(limit) = limit {
                    journal.decide(&self.place, limit)?;
                }
                limit
            }
        };
        match limit {
            Some(limit) => self.report_refusal(&self.place, limit),
            None => self.start(step, of),
        }
        Ok(limit)
    }

    /// Closes the step at this place: records its verdict, then emits the event.
    pub(crate) fn close(&self, mut verdict: Verdict) -> Result<(), Stop> {
        let step = self.current_step()?;
        std::mem::take(&mut verdict.unrecorded.warnings).into_iter().for_each(|warning| self.warn(warning));
        if !self.run.journal.is_closed(step)? && !self.failed_alone(step) {
            self.fence()?;
        }
        self.record(step, verdict)
    }

    /// Closes a step that its path or phase left open when it failed.
    pub(crate) fn close_after_failure(&self, verdict: Verdict) -> Result<(), Stop> {
        let step = self.current_step()?;
        if self.history().verdicts.contains_key(&step) { Ok(()) } else { self.record(step, verdict) }
    }

    fn record(&self, step: Step, verdict: Verdict) -> Result<(), Stop> {
        let limit = verdict.limit.or_else(|| self.refused_in(step));
        let verdict = Verdict { limit, ..verdict };
        self.run.journal.close(step, &verdict)?;
        if !matches!(step, Step::Baseline(_)) {
            self.run.limits.closed(&verdict);
        }
        let mut history = self.history();
        history.verdicts.insert(step, verdict.clone());
        history.open.remove(&step);
        drop(history);
        self.emit(Event::StepEnded { place: step, verdict });
        self.announce_answer();
        Ok(())
    }

    fn start(&self, step: Step, of: u32) {
        self.history().open.insert(step);
        self.emit(Event::StepStarted { place: step, of });
    }

    /// Closes the attempts, rounds and comparisons that a failed path or phase left open.
    fn close_open(&self, cause: &str) -> Result<(), Stop> {
        let is_left = |step: &Step| {
            let counted = matches!(step, Step::Attempt { .. } | Step::Choice(_));
            (counted || step.phase() == Phase::Phase3) && step.place().is_within(&self.place)
        };
        let open: Vec<Step> = self.history().open.iter().copied().filter(is_left).collect();
        open.into_iter().try_for_each(|step| self.record(step, Verdict::default().note(cause)))
    }

    /// Counts a scored solution and announces it if it is the best of the run so far.
    pub(crate) fn scored(&self, scored: &Scored) {
        let score = scored.score();
        let mut history = self.history();
        history.scored += 1;
        let is_better = |than: Option<Score>| than.is_none_or(|best| score.beats_or_ties(best));
        // What predicts an earlier period is no answer.
        if scored.wrote_submission() && !self.predicts_period() {
            history.submitted.insert(scored.place().clone());
            if !scored.leaks()
                && scored.is_checked()
                && is_better(history.submission.as_ref().map(|(_, score)| *score))
            {
                history.submission = Some((Best::from(scored), score));
            }
        }
        let before = history.best;
        if scored.is_checked() && before.is_none_or(|best| score.beats(best)) {
            history.best = Some(score);
            drop(history);
            let (place, score, from) = (scored.step().place(), score.value(), before.map(Score::value));
            self.emit(Event::Best { place, score, from });
        }
    }

    /// Keeps the submission that a scored solution wrote at `run` on the original files as the answer so far.
    pub(crate) fn hold_submission(&self, scored: &Scored, run: &Place) {
        let best = Best { run: run.clone(), ..Best::from(scored) };
        self.history().submission = Some((best, scored.score()));
    }

    /// Whether this is the first such finding in this block.
    pub(super) fn is_news(&self, finding: &Finding, block: &str) -> bool {
        self.history().told_findings.insert((finding.rule.clone(), block.to_owned()))
    }

    /// A leak was found in the solution after it was scored: its submission is no answer to a run that stops.
    pub(crate) fn forget_submission(&self, leaking: &Scored) {
        self.history().submission.take_if(|(best, _)| best.run == *leaking.place());
    }

    /// What the run tried so far and with what effect, on all paths, without the attempts of the current outer step.
    pub(super) fn lessons(&self) -> Vec<String> {
        lessons(&self.history().verdicts, self.run.task.metric_direction, self.place.step())
    }

    /// What the studies of all paths found so far.
    pub(super) fn found(&self) -> Vec<String> {
        self.history().studies.lines(self.place.step())
    }

    /// Tells later agents of all paths what the study of this outer step found.
    pub(crate) fn tell_study(&self, summary: &str) -> Result<(), Stop> {
        let step = self.current_step()?;
        self.history().studies.add(step, summary);
        Ok(())
    }

    /// An earlier answer to the same inputs, without its cost.
    pub(super) fn answer_to(&self, question: &str) -> Option<AgentReply> {
        let known = self.history().answers.get(question).cloned();
        known.map(|reply| AgentReply { usage: Usage::free(), lookups: Vec::new(), ..reply })
    }

    /// Remembers that an agent call or a script succeeded.
    pub(super) fn note_success(&self, place: &Place, at: jiff::Timestamp) {
        let mut history = self.history();
        if history.succeeded.as_ref().is_none_or(|(before, _)| *before <= at) {
            history.succeeded = Some((at, place.clone()));
        }
    }

    /// Keeps an answer for equal questions, whose inputs are `question` as JSON.
    pub(crate) fn remember_answer(&self, question: String, reply: &AgentReply) {
        if let Answer::Text { .. } = reply.answer {
            self.history().answers.insert(question, reply.clone());
        }
    }

    /// The steps that led to the solution of `step`, ancestors first.
    pub(crate) fn lineage(&self, step: Step) -> Vec<Lineage> {
        verdict::lineage(&self.history().verdicts, step)
    }

    /// The first limit of the whole run that skipped something.
    pub(crate) fn limit_reached(&self) -> Result<Option<Limit>, Stop> {
        Ok(self.run.journal.first_limit()?)
    }

    /// Begins a phase. Its share of the time is computed from the time at which it first began.
    pub(crate) fn phase(&self, phase: Phase) -> Result<Self, Stop> {
        let place = Place::from(phase);
        let began = self.run.journal.mark(&place)?;
        self.run.limits.begin_phase(phase, self.run.config, began);
        self.emit(Event::PhaseStarted { phase });
        Ok(Self { place, ..self.clone() })
    }

    /// Ends the phase at this place. A replay keeps the recorded end.
    pub(crate) fn end_phase(&self, best: Option<&Scored>) -> Result<(), Stop> {
        let Some(phase) = self.place.phase() else { return Ok(()) };
        let seconds = self.run.journal.mark(&self.place.end())? - self.run.journal.mark(&self.place)?;
        let steps = self.history().verdicts.keys().filter(|step| step.phase() == phase).count() as u64;
        self.emit(Event::PhaseEnded { phase, seconds, steps, best: best.map(Best::from) });
        Ok(())
    }

    /// Warns if the paths must share the slots for agent calls.
    pub(crate) fn warn_of_queued_paths(&self) {
        let (paths, agents) = (self.run.config.num_parallel_solutions, self.run.config.max_concurrent_agents);
        if paths > agents {
            self.warn(format!("{paths} paths share {agents} agent calls at a time; the others wait"));
        }
    }

    /// Ends a refinement path.
    pub(crate) fn end_path(&self, record: &PathRecord, best: &Scored) {
        let PathRecord { path, status, cause } = record.clone();
        self.emit(Event::PathEnded { path, status, cause, best: Best::from(best) });
    }

    /// Divides the phase's time among the paths, which begin with this solution, if they share the script slots.
    pub(crate) fn divide_among_paths(&self, paths: u32, initial: &Scored) -> Result<(), Stop> {
        let (began, seconds) = (self.run.journal.mark(&self.place)?, initial.facts().seconds);
        self.run.limits.divide_among_paths(
            paths as usize,
            self.run.outside.script_slots.most(),
            seconds,
            began,
        );
        Ok(())
    }

    /// How long the scripts of a combination may take, which the submission script repeats with more rows, in seconds.
    pub(crate) fn time_to_repeat(&self) -> f64 {
        self.run.limits.repeatable(self.run.journal.elapsed())
    }

    /// Runs `work` and catches errors and panics, so that a defect in one path or phase does not end the run. The
    /// failure is recorded, so that a resume also goes on without that path or phase.
    ///
    /// # Errors
    /// A stop that ends the whole run.
    pub(crate) async fn isolated<T>(
        &self,
        work: impl Future<Output = Result<T, Stop>>,
    ) -> Result<Result<T, String>, Stop> {
        let cause = match AssertUnwindSafe(work).catch_unwind().await {
            Ok(Ok(value)) => return Ok(Ok(value)),
            Ok(Err(Stop::Fenced(cause))) => cause,
            Ok(Err(bug @ Stop::Bug { .. })) => bug.to_string(),
            Ok(Err(stop)) => return Err(stop),
            Err(panic) => format!("internal error: {}", words_of(&*panic)),
        };
        let known = super::lock(&self.run.failures).iter().find(|(place, _)| *place == self.place).cloned();
        let cause = match known {
            Some((_, recorded)) => recorded,
            None => {
                self.run.journal.fail(&self.place, &cause)?;
                cause
            }
        };
        self.close_open(&cause)?;
        self.warn(format!("{} failed, the run goes on without it: {cause}", self.place));
        Ok(Err(cause))
    }

    /// Records that a limit refused the effect at `place`.
    pub(super) fn report_refusal(&self, place: &Place, limit: Limit) {
        if let Some(step) = place.step() {
            self.history().refused.entry(step).or_insert(limit);
        }
        self.emit(Event::Skipped { place: place.clone(), limit });
    }

    /// Remembers that a script of a step used its time.
    pub(super) fn note_late(&self, place: &Place) {
        self.history().late.extend(place.step());
    }

    /// The limit because of which something is told about a step.
    pub(super) fn limit_in(&self, step: Step) -> Option<Limit> {
        let is_late = self.history().late.contains(&step);
        self.refused_in(step).or(is_late.then_some(Limit::Share))
    }

    /// The limit that refused an effect in a step.
    pub(super) fn refused_in(&self, step: Step) -> Option<Limit> {
        self.history().refused.get(&step).copied()
    }

    /// The first limit that cut a step of this path short.
    pub(crate) fn cut_on(&self, path: u32) -> Option<Limit> {
        let history = self.history();
        let of_path = history.verdicts.iter().filter(|(step, _)| step.path() == Some(path));
        of_path.filter_map(|(_, verdict)| verdict.limit).next()
    }

    /// Records and announces what exists when something ends the run early, as far as possible.
    pub(crate) fn stopped(&self, stop: &Stop) {
        if matches!(stop, Stop::Interrupted) {
            return;
        }
        let (journal, effects) = (self.run.journal, self.ledger().unwrap_or_default());
        let spent = spending(&effects, self.run.config).total().usage;
        let known = Diagnostics::new(stop.to_string(), journal.elapsed(), &effects, spent);
        let history = self.history();
        let submission = history.submission.as_ref().map(|(best, _)| best.clone());
        let solution = verdict::answer(&history.verdicts, self.run.task.metric_direction).cloned();
        let scored = history.scored;
        let last_success = history.succeeded.as_ref().map(|(_, place)| place.clone());
        drop(history);
        let predicts = self.predicted_period().cloned();
        let diagnostics = Diagnostics { last_success, solution, submission, scored, predicts, ..known };
        if let Err(error) = journal.note_stop(Some(&diagnostics)) {
            self.warn(error.to_string());
        }
        self.emit(Event::Stopped(Box::new(diagnostics)));
    }

    /// Refuses new effects in a path or phase that failed in an earlier process. Recorded ones are still replayed,
    /// so the path ends where it ended before. The answer of a finalization that failed is scored after it.
    pub(super) fn fence(&self) -> Result<(), Stop> {
        let is_closed = |failed: &Place| self.place.is_within(failed) && self.place != failed.fallback();
        match super::lock(&self.run.failures).iter().find(|(failed, _)| is_closed(failed)) {
            Some((_, cause)) => Err(Stop::Fenced(cause.clone())),
            None => Ok(()),
        }
    }

    /// Whether this step of Phase 1 failed in an earlier process. The phase goes on without it, so it is closed like
    /// any other.
    fn failed_alone(&self, step: Step) -> bool {
        step.phase() == Phase::Phase1
            && super::lock(&self.run.failures).iter().any(|(failed, _)| *failed == self.place)
    }

    /// Refuses an effect that is new in a path or phase that failed in an earlier process.
    pub(super) fn fence_unless_recorded(&self, entry: &Entry<'_>) -> Result<(), Stop> {
        match self.fence() {
            Err(fenced) if !self.run.journal.has(entry)? => Err(fenced),
            _ => Ok(()),
        }
    }

    /// The solution that the run would submit if it ended now.
    pub(crate) fn answer(&self) -> Option<Best> {
        verdict::answer(&self.history().verdicts, self.run.task.metric_direction).cloned()
    }

    /// Announces the solution that the run would submit now, if it has changed.
    fn announce_answer(&self) {
        let mut history = self.history();
        let answer = verdict::answer(&history.verdicts, self.run.task.metric_direction).cloned();
        let answer = answer.map(|solution| {
            // Its own submission before one that scores better and was left behind, as for a leak.
            let own = history.submitted.contains(&solution.run).then(|| solution.clone());
            let best = || history.submission.as_ref().map(|(best, _)| best.clone());
            let submission = own.or_else(best);
            (solution, submission)
        });
        if answer == history.answer {
            return;
        }
        history.answer.clone_from(&answer);
        drop(history);
        if let Some((solution, submission)) = answer {
            self.emit(Event::Answer { solution, submission });
        }
    }

    /// Hold the guard for one statement only.
    fn history(&self) -> MutexGuard<'_, History> {
        self.run.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}

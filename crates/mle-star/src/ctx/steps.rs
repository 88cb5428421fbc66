//! Begins, skips and closes steps, paths and phases, and contains their failures.

use std::panic::AssertUnwindSafe;
use std::sync::{MutexGuard, PoisonError};

use futures_util::FutureExt as _;

use super::Ctx;
use crate::diagnostics::Diagnostics;
use crate::evaluation::StepEnd;
use crate::event::Event;
use crate::history::History;
use crate::journal::{EffectState, Entry, Kind};
use crate::scored::Scored;
use crate::spending::spending;
use crate::stop::{Stop, words_of_panic};
use crate::verdict::{Best, Verdict};
use mle_star_domain::effects::{DataView, Limit};
use mle_star_domain::place::{Phase, Place, Step};

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

    /// The run at another place, which this one is part of.
    #[must_use]
    pub(crate) fn below(&self, place: impl FnOnce(&Place) -> Place) -> Self {
        Self { place: place(&self.place), ..self.clone() }
    }

    /// The context at this place, with scripts that see this data.
    #[must_use]
    pub(crate) fn seeing(&self, data: DataView) -> Self {
        Self { data, ..self.clone() }
    }

    /// The context at this place, with scripts that see the original files. The script ran for so many seconds without the held-out rows,
    /// if it did.
    #[must_use]
    pub(crate) fn on_all_rows(&self, rehearsed: Option<f64>) -> Self {
        Self { data: DataView::Whole, built_on: rehearsed, ..self.clone() }
    }

    /// The run at a step that no limit leaves out; it begins.
    #[must_use]
    pub(crate) fn begin(&self, step: Step) -> Self {
        self.start(step, 1);
        self.at(step, [])
    }

    /// The current step.
    ///
    /// # Errors
    /// The place is outside any step, which is a defect.
    pub(crate) fn current_step(&self) -> Result<Step, Stop> {
        let what = || "this place belongs to no step".to_owned();
        self.place.step().ok_or_else(|| Stop::Bug { place: self.place.clone(), what: what() })
    }

    /// The limit that skips the step at this place, now or in an earlier process; `None` if the step may begin.
    fn skip(&self, of: u32) -> Result<Option<Limit>, Stop> {
        let (journal, step) = (self.run.journal, self.current_step()?);
        let limit = match journal.decided(&self.place)? {
            Some(limit) => Some(limit),
            None if journal.begun_below(&self.place)? || self.history().failed_alone(step) => None,
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
        if !self.run.journal.has_any(&step.place(), Kind::Verdict)? && !self.history().failed_alone(step) {
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
        let limit = verdict.limit.or_else(|| self.history().refused.get(&step).copied());
        let verdict = Verdict { limit, ..verdict };
        self.run.journal.close(step, &verdict)?;
        if !matches!(step, Step::Baseline(_)) {
            self.run.limits.record_verdict(&verdict);
        }
        let answer = self.history().close(step, verdict.clone(), self.task().metric_direction);
        self.emit(Event::StepEnded { place: step, verdict });
        answer.into_iter().for_each(|answer| self.emit(answer));
        Ok(())
    }

    fn start(&self, step: Step, of: u32) {
        self.history().open.insert(step);
        self.emit(Event::StepStarted { place: step, of });
    }

    /// Counts a scored solution and announces it if it is the best of the run so far.
    pub(crate) fn scored(&self, scored: &Scored) {
        // What predicts an earlier period is no answer.
        let best = self.history().score(scored, !self.holdout().is_period());
        best.into_iter().for_each(|best| self.emit(best));
    }

    /// Begins a phase. Its share of the time is computed from the time at which it first began.
    pub(crate) fn phase(&self, phase: Phase) -> Result<Self, Stop> {
        let place = Place::from(phase);
        let began = self.run.journal.mark(&place)?;
        self.run.limits.begin_phase(phase, self.config(), began);
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
            Err(panic) => format!("internal error: {}", words_of_panic(&*panic)),
        };
        let known = self.history().failures.iter().find(|(place, _)| *place == self.place).cloned();
        let cause = match known {
            Some((_, recorded)) => recorded,
            None => {
                self.run.journal.fail(&self.place, &cause)?;
                cause
            }
        };
        // Attempts, rounds and comparisons that it left open.
        let is_left = |step: &Step| {
            let counted = matches!(step, Step::Attempt { .. } | Step::Choice(_));
            (counted || step.phase() == Phase::Phase3) && step.place().is_within(&self.place)
        };
        let open: Vec<Step> = self.history().open.iter().copied().filter(is_left).collect();
        open.into_iter().try_for_each(|step| self.record(step, Verdict::default().note(&cause)))?;
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

    /// Records and announces what exists when something ends the run early, as far as possible.
    pub(crate) fn stopped(&self, stop: &Stop) {
        if matches!(stop, Stop::Interrupted) {
            return;
        }
        let (journal, effects) = (self.run.journal, self.run.journal.ledger().unwrap_or_default());
        let spent = spending(&effects, self.config()).total().usage;
        let reached = effects.iter().filter(|effect| effect.state != EffectState::Aside);
        let protocol = self.run.frozen.protocol.as_ref().filter(|protocol| protocol.holdout.is_period());
        let periods = protocol.and_then(|protocol| protocol.periods.as_ref());
        let history = self.history();
        let diagnostics = Diagnostics {
            error: stop.to_string(),
            elapsed_seconds: journal.elapsed(),
            spent,
            phase: reached.filter_map(|effect| effect.place.phase()).max(),
            last_success: history.last_success(),
            scored: history.scored,
            solution: history.answer(self.task().metric_direction),
            submission: history.submission(),
            predicts: periods.and_then(|periods| periods.held_out.clone()),
        };
        drop(history);
        if let Err(error) = journal.note_stop(Some(&diagnostics)) {
            self.warn(error.to_string());
        }
        self.emit(Event::Stopped(Box::new(diagnostics)));
    }

    /// Refuses new effects in a path or phase that failed in an earlier process. Recorded ones are still replayed,
    /// so the path ends where it ended before. The answer of a finalization that failed is scored after it.
    pub(super) fn fence(&self) -> Result<(), Stop> {
        self.history().failed_above(&self.place).map_or(Ok(()), |cause| Err(Stop::Fenced(cause.clone())))
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
        self.history().answer(self.task().metric_direction)
    }

    /// What happened so far. Hold the guard for one statement only.
    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        self.run.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What happened in a run so far. It is not stored; a replay of the journal rebuilds it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::event::Event;

use crate::scored::Scored;
use crate::verdict::{Best, Verdict, Verdicts, answer};
use mle_star_domain::effects::{AgentReply, Answer, Limit, Usage};
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place::{Phase, Place, Step};
use mle_star_domain::trust::Finding;

/// The state of a run so far.
#[derive(Default)]
pub(crate) struct History {
    /// The paths and phases that failed in earlier processes, each with its cause.
    pub failures: Vec<(Place, String)>,
    pub verdicts: Verdicts,
    /// The summaries of the ablation studies, in the order in which they became known.
    pub studies: Vec<(Step, String)>,
    /// Steps that have begun and not ended.
    pub open: BTreeSet<Step>,
    /// Steps in which a limit refused something.
    pub refused: BTreeMap<Step, Limit>,
    /// Steps in which a script used its time.
    pub late: BTreeSet<Step>,
    /// The number of scored solutions.
    pub scored: u64,
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

impl History {
    /// Counts a scored solution, which may have predicted the test table. Returns what there is to announce if it is the best
    /// of the run so far.
    pub fn score(&mut self, scored: &Scored, predicts_test: bool) -> Option<Event> {
        let score = scored.score();
        self.scored += 1;
        let is_better = |than: Option<Score>| than.is_none_or(|best| score.beats_or_ties(best));
        if scored.wrote_submission() && predicts_test {
            self.submitted.insert(scored.place().clone());
            let before = self.submission.as_ref().map(|(_, score)| *score);
            if !scored.leaks() && scored.is_checked() && is_better(before) {
                self.submission = Some((Best::from(scored), score));
            }
        }
        let before = self.best;
        (scored.is_checked() && before.is_none_or(|best| score.beats(best))).then(|| {
            self.best = Some(score);
            let (place, score, from) = (scored.step().place(), score.value(), before.map(Score::value));
            Event::Best { place, score, from }
        })
    }

    /// Keeps the submission that a scored solution wrote at `run` on the original files as the answer so far.
    pub fn hold_submission(&mut self, scored: &Scored, run: &Place) {
        let best = Best { run: run.clone(), ..Best::from(scored) };
        self.submission = Some((best, scored.score()));
    }

    /// A leak was found in the solution after it was scored: its submission is no answer to a run that stops.
    pub fn forget_submission(&mut self, leaking: &Scored) {
        self.submission.take_if(|(best, _)| best.run == *leaking.place());
    }

    /// The best submission so far.
    pub fn submission(&self) -> Option<Best> {
        self.submission.as_ref().map(|(best, _)| best.clone())
    }

    /// Whether this is the first such finding in this block.
    pub fn is_news(&mut self, finding: &Finding, block: &str) -> bool {
        self.told_findings.insert((finding.rule.clone(), block.to_owned()))
    }

    /// The median standard error of the differences of scores that steps made, in the metric's unit: smaller ones cannot be seen.
    pub fn noise(&self) -> Option<f64> {
        let error = |verdict: &Verdict| verdict.standard_error.or(verdict.unrecorded.standard_error);
        let errors = self.verdicts.values().filter_map(error);
        let mut errors: Vec<f64> = errors.filter(|error| *error > 0.0).collect();
        errors.sort_by(f64::total_cmp);
        errors.get(errors.len() / 2).copied()
    }

    /// An earlier answer to the same inputs, without its cost.
    pub fn answer_to(&self, question: &str) -> Option<AgentReply> {
        let known = self.answers.get(question).cloned();
        known.map(|reply| AgentReply { usage: Usage::free(), lookups: Vec::new(), ..reply })
    }

    /// Keeps an answer for equal questions, whose inputs are `question` as JSON.
    pub fn remember_answer(&mut self, question: String, reply: &AgentReply) {
        if let Answer::Text { .. } = reply.answer {
            self.answers.insert(question, reply.clone());
        }
    }

    /// Remembers that an agent call or a script succeeded.
    pub fn note_success(&mut self, place: &Place, at: jiff::Timestamp) {
        if self.succeeded.as_ref().is_none_or(|(before, _)| *before <= at) {
            self.succeeded = Some((at, place.clone()));
        }
    }

    /// The latest agent call or script that succeeded.
    pub fn last_success(&self) -> Option<Place> {
        self.succeeded.as_ref().map(|(_, place)| place.clone())
    }

    /// The limit because of which something is told about a step.
    pub fn limit_in(&self, step: Step) -> Option<Limit> {
        let is_late = self.late.contains(&step);
        self.refused.get(&step).copied().or(is_late.then_some(Limit::Share))
    }

    /// The first limit that cut a step of this path short.
    pub fn cut_on(&self, path: u32) -> Option<Limit> {
        let of_path = self.verdicts.iter().filter(|(step, _)| step.path() == Some(path));
        of_path.filter_map(|(_, verdict)| verdict.limit).next()
    }

    /// Why the path or phase that this place is in failed in an earlier process, if it did.
    pub fn failed_above(&self, place: &Place) -> Option<&String> {
        let is_closed = |failed: &Place| place.is_within(failed) && *place != failed.fallback();
        self.failures.iter().find(|(failed, _)| is_closed(failed)).map(|(_, cause)| cause)
    }

    /// Whether this step of Phase 1 failed in an earlier process. The phase goes on without it, so it is closed like any other.
    pub fn failed_alone(&self, step: Step) -> bool {
        step.phase() == Phase::Phase1 && self.failures.iter().any(|(failed, _)| *failed == step.place())
    }

    /// The solution that the run would submit if it ended now.
    pub fn answer(&self, direction: Direction) -> Option<Best> {
        answer(&self.verdicts, direction).cloned()
    }

    /// Takes the verdict of a step, and returns the solution that the run would submit now, if it has changed.
    pub fn close(&mut self, step: Step, verdict: Verdict, direction: Direction) -> Option<Event> {
        self.verdicts.insert(step, verdict);
        self.open.remove(&step);
        let answer = self.answer(direction).map(|solution| {
            // Its own submission before one that scores better and was left behind, as for a leak.
            let own = self.submitted.contains(&solution.run).then(|| solution.clone());
            let submission = own.or_else(|| self.submission());
            (solution, submission)
        });
        if answer == self.answer {
            return None;
        }
        self.answer.clone_from(&answer);
        answer.map(|(solution, submission)| Event::Answer { solution, submission })
    }
}

//! The outcome of evaluating a solution (h(s) in the paper): the solution with its score, or its failure.

use crate::outcomes::RunFacts;
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use mle_star_domain::effects::{AgentReply, Answer, Limit, ScriptOutcome};

/// The failure of a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// The error as the debugger sees it.
    pub error: String,
    /// The main line of the error, if that is not the last one that is neither indented nor a note.
    pub headline: Option<String>,
    /// The limit that prevented the run.
    pub limit: Option<Limit>,
    /// Whether no repair can help: a limit or a leak prevented the run, the agent that writes the script failed, or the runners
    /// were lost.
    pub is_final: bool,
    /// What is known about the run, if there was one.
    pub facts: Option<RunFacts>,
}

/// A script to run, and what is known about leaks in it.
#[derive(Clone)]
pub(crate) struct Script {
    pub solution: Solution,
    /// Whether a leak was found that could not be corrected.
    pub leaks: bool,
    /// Whether its check for leaks is done, even if the agent failed.
    pub checked: bool,
    /// Whether the agent failed, so that nothing is known.
    pub is_unknown: bool,
    /// The limit that prevented the check.
    pub refused: Option<Limit>,
    /// The leak with which it may not run for a score.
    pub blocked: Option<String>,
}

/// The end of a step's work.
pub(crate) enum StepEnd<T> {
    /// The work was done.
    Done(T),
    /// A limit left the work out.
    LeftOut(Limit),
    /// A defect of the program ended the work.
    Broken(String),
}

/// h(s): the solution with its score, or its failure.
pub(crate) struct Evaluation {
    /// The text that was run last.
    pub solution: Solution,
    pub scored: Result<Scored, Failure>,
    /// What went wrong on the way: the errors that were repaired, and the score with a leak. One line each.
    pub mishaps: Vec<String>,
}

impl Script {
    /// A script that nobody has checked for leaks.
    pub fn new(solution: Solution) -> Self {
        Self { solution, leaks: false, checked: false, is_unknown: false, refused: None, blocked: None }
    }

    /// A solution with the result of its check; one that was not checked counts as clean.
    pub fn of(scored: &Scored) -> Self {
        Self { leaks: scored.leaks(), checked: true, ..Self::new(scored.solution().clone()) }
    }
}

impl<T> From<Result<T, String>> for StepEnd<T> {
    fn from(worked: Result<T, String>) -> Self {
        worked.map_or_else(Self::Broken, Self::Done)
    }
}

impl StepEnd<Evaluation> {
    /// The evaluation; that of an empty script if the step was not done.
    pub fn evaluation(self) -> Evaluation {
        match self {
            Self::Done(evaluation) => evaluation,
            Self::LeftOut(limit) => Evaluation::unwritten(Failure::refused(limit)),
            Self::Broken(cause) => Evaluation::broken(cause),
        }
    }
}

impl Evaluation {
    /// A solution that was not made or scored because of a limit.
    pub fn refused(solution: Solution, limit: Limit) -> Self {
        Self { solution, scored: Err(Failure::refused(limit)), mishaps: Vec::new() }
    }

    /// What a defect of the program kept from being made or scored.
    pub fn broken(cause: String) -> Self {
        Self::unwritten(Failure::beyond_repair(cause))
    }

    /// A solution that was not written.
    pub fn unwritten(failure: Failure) -> Self {
        let solution = Solution::new(String::new(), SolutionPhase::Init);
        Self { solution, scored: Err(failure), mishaps: Vec::new() }
    }

    /// The limit that kept the solution from being scored.
    pub fn limit(&self) -> Option<Limit> {
        self.scored.as_ref().err().and_then(|failure| failure.limit)
    }
}

impl Failure {
    /// The error's main line, without traceback and notes.
    pub fn headline(&self) -> &str {
        if let Some(headline) = &self.headline {
            return headline;
        }
        let names_it = |line: &&str| {
            !line.trim().is_empty() && !line.starts_with([' ', '\t']) && !line.starts_with("Note: ")
        };
        self.error.lines().rev().find(names_it).unwrap_or_default()
    }

    pub fn refused(limit: Limit) -> Self {
        Self { limit: Some(limit), ..Self::beyond_repair(format!("not run: {}", limit.name())) }
    }

    /// Why an agent gave no answer; `None` if it did.
    pub fn of_agent(reply: &AgentReply) -> Option<Self> {
        match &reply.answer {
            Answer::Text { .. } => None,
            Answer::Failed { reason } => Some(Self::beyond_repair(format!("the agent failed: {reason}"))),
            Answer::Refused { limit } => Some(Self::refused(*limit)),
        }
    }

    /// A failure that no repair mends.
    pub fn beyond_repair(error: impl Into<String>) -> Self {
        Self { is_final: true, ..Self::new(error) }
    }

    /// A failure without a run.
    pub fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), headline: None, limit: None, is_final: false, facts: None }
    }

    /// The failure with this main line.
    pub fn named(self, headline: impl Into<String>) -> Self {
        Self { headline: Some(headline.into()), ..self }
    }

    /// The failure with what is known about its run.
    pub fn of(self, outcome: &ScriptOutcome) -> Self {
        Self { facts: Some(outcome.into()), ..self }
    }
}

//! Exit codes, and errors that know theirs.

use mle_star::journal::JournalError;
use mle_star::stop::Trouble;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well; for a run: a submission was produced and verified.
    Done,
    /// The run failed, or the program did.
    Failed,
    /// Bad usage, task or configuration.
    Usage,
    /// A solution, but no valid submission.
    NoSubmission,
    /// A limit was reached before there was a solution.
    LimitReached,
    /// Interrupted from the keyboard.
    Interrupted,
    /// Asked to end.
    Terminated,
}

/// An error for people and the exit code that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// The error.
    pub trouble: Trouble,
}

impl Exit {
    /// The code as the shell sees it.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NoSubmission => 3,
            Self::LimitReached => 4,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl Exit {
    /// The end that has this code; a failure where there is none.
    pub fn of_code(code: u8) -> Self {
        let all = [
            Self::Done,
            Self::Usage,
            Self::NoSubmission,
            Self::LimitReached,
            Self::Interrupted,
            Self::Terminated,
        ];
        all.into_iter().find(|exit| exit.code() == code).unwrap_or(Self::Failed)
    }

    /// How bad it is, among the ends of several runs: a submission, a solution without one, no solution within the
    /// limits, input that cannot be used, a failure, an interruption after which runs are unfinished.
    pub fn badness(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NoSubmission => 1,
            Self::LimitReached => 2,
            Self::Usage => 3,
            Self::Failed => 4,
            Self::Interrupted => 5,
            Self::Terminated => 6,
        }
    }
}

impl Failure {
    /// Something failed that is not the input's fault.
    pub fn failed(trouble: Trouble) -> Self {
        Self { exit: Exit::Failed, trouble }
    }

    /// The same with the command that resumes the run in its hint, where the run can be resumed.
    #[must_use]
    pub fn resumed_by(self, command: &str) -> Self {
        let Self { exit, trouble: Trouble { message, hint, then_resume } } = self;
        let hint = match (then_resume, hint.as_str()) {
            (false, _) => hint,
            (true, "") => format!("continue with: {command}"),
            (true, hint) => format!("{hint}, then continue with: {command}"),
        };
        Self { exit, trouble: Trouble::new(message, hint) }
    }

    /// A journal that cannot be used; not the input's fault.
    pub fn journal(error: &JournalError) -> Self {
        Self::failed(error.trouble())
    }
}

/// Trouble with what the user gave, unless said otherwise.
impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self { exit: Exit::Usage, trouble }
    }
}

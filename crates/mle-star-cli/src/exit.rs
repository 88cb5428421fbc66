//! Exit codes, and errors with an exit code.

use mle_star::journal::JournalError;
use mle_star::result::FinalResult;
use mle_star_domain::trouble::Trouble;
use mle_star_run::{ErrorKind, RunError};

/// The exit codes of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success; for a run: a checked submission.
    Done,
    /// The run or the program failed.
    Failed,
    /// Bad usage, task or configuration.
    Usage,
    /// A solution, but no valid submission.
    NoSubmission,
    /// A limit was reached before there was a solution.
    LimitReached,
    /// Interrupted from the keyboard.
    Interrupted,
    /// Terminated by a signal.
    Terminated,
}

/// An error with its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// The error.
    pub trouble: Trouble,
}

impl Exit {
    /// The code as a number.
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
    /// The exit of a run with this result.
    pub fn of_result(result: &FinalResult) -> Self {
        if result.submission_path.is_empty() { Self::NoSubmission } else { Self::Done }
    }

    /// The exit with this code; [`Exit::Failed`] for an unknown one.
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

    /// Its rank among the exits of several runs; the highest becomes the exit code. Interruptions rank highest because
    /// they leave runs unfinished.
    pub fn rank(self) -> u8 {
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
    /// A failure that the input did not cause.
    pub fn failed(trouble: Trouble) -> Self {
        Self { exit: Exit::Failed, trouble }
    }

    /// Adds the command that resumes the run to the hint, if the run can be resumed.
    #[must_use]
    pub fn resumed_by(self, command: &str) -> Self {
        let Self { exit, trouble: Trouble { message, hint, then_resume, .. } } = self;
        let hint = match (then_resume, hint.as_str()) {
            (false, _) => hint,
            (true, "") => format!("continue with: {command}"),
            (true, hint) => format!("{hint}, then continue with: {command}"),
        };
        Self { exit, trouble: Trouble::new(message, hint) }
    }

    /// A journal that cannot be used.
    pub fn journal(error: &JournalError) -> Self {
        Self::failed(error.trouble())
    }
}

/// By default an error is a mistake in the input.
impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self { exit: Exit::Usage, trouble }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let exit = match error.kind {
            ErrorKind::Input => Exit::Usage,
            ErrorKind::Failed => Exit::Failed,
            ErrorKind::LimitReached => Exit::LimitReached,
            ErrorKind::Interrupted => Exit::Interrupted,
        };
        Self { exit, trouble: error.trouble }
    }
}

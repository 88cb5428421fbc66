//! Exit codes, and errors with an exit code.

use mle_star::journal::JournalError;
use mle_star::result::FinalResult;
use mle_star_domain::trouble::Trouble;
use mle_star_run::{ErrorKind, RunError};

/// The exit codes of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success; for a run: a checked submission.
    Done = 0,
    /// The run or the program failed.
    Failed = 1,
    /// Bad usage, task or configuration.
    Usage = 2,
    /// A solution, but no valid submission.
    NoSubmission = 3,
    /// A limit was reached before there was a solution.
    LimitReached = 4,
    /// Interrupted from the keyboard.
    Interrupted = 130,
    /// Terminated by a signal.
    Terminated = 143,
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
    /// All, in the order of their ranks.
    const BY_RANK: [Self; 7] = [
        Self::Done,
        Self::NoSubmission,
        Self::LimitReached,
        Self::Usage,
        Self::Failed,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The code as a number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The exit of a run with this result.
    pub fn of_result(result: &FinalResult) -> Self {
        if result.submission_path.is_empty() { Self::NoSubmission } else { Self::Done }
    }

    /// The exit with this code; [`Exit::Failed`] for an unknown one.
    pub fn of_code(code: u8) -> Self {
        Self::BY_RANK.into_iter().find(|exit| exit.code() == code).unwrap_or(Self::Failed)
    }

    /// Its rank among the exits of several runs; the highest becomes the exit code. Interruptions rank highest because
    /// they leave runs unfinished.
    pub fn rank(self) -> Option<usize> {
        Self::BY_RANK.iter().position(|exit| *exit == self)
    }
}

impl Failure {
    /// A failure that the input did not cause.
    pub fn failed(trouble: Trouble) -> Self {
        Self { exit: Exit::Failed, trouble }
    }

    /// A failure that nobody but the program caused.
    pub fn defect(message: impl Into<String>) -> Self {
        Self::failed(Trouble::new(message, "this is a bug in mle-star, please report it"))
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
}

/// By default an error is a mistake in the input.
impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self { exit: Exit::Usage, trouble }
    }
}

/// A journal that cannot be used.
impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self::failed(error.trouble())
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

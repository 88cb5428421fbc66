//! Errors that last until someone has fixed their cause, in the words that all command lines of services share.

use std::io;
use std::path::Path;

use super::Outcome;
use mle_star_domain::trouble::Trouble;

/// A permanent error of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permanent {
    /// What is wrong.
    pub message: &'static str,
    /// What to do.
    pub hint: &'static str,
    /// Whether the run can be resumed then.
    pub then_resume: bool,
}

impl Permanent {
    /// The account has to be charged.
    pub const CREDIT: Self = Self::new("the account has no credit left", "add credit or use another login");
    /// A limit of the plan, which lasts for hours.
    pub const PLAN: Self =
        Self::new("the plan's usage limit is reached", "wait until the limit resets, or use another login");
    /// The model is frozen with the run.
    pub const MODEL: Self = Self {
        then_resume: false,
        ..Self::new(
            "the service does not know the model",
            "start a new run with another --model or agent_models",
        )
    };

    /// An error after which a run can be resumed.
    pub const fn new(message: &'static str, hint: &'static str) -> Self {
        Self { message, hint, then_resume: true }
    }

    /// The service refuses the login. The hint says where it comes from.
    pub const fn login(hint: &'static str) -> Self {
        Self::new("the login was refused", hint)
    }

    /// The error, with what the service says about it.
    pub fn trouble(self, said: &str) -> Trouble {
        let message =
            if said.is_empty() { self.message.to_owned() } else { format!("{}: {said}", self.message) };
        Trouble { then_resume: self.then_resume, ..Trouble::new(message, self.hint) }
    }

    /// Whether an attempt ended with this error.
    pub fn is(self, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Fatal(trouble) if trouble.message.starts_with(self.message))
    }
}

/// The outcome of a command line that cannot be started. `hint` says how to get it.
pub fn start_error(executable: &Path, error: &io::Error, hint: &str) -> Outcome {
    let message = format!("cannot start {}: {error}", executable.display());
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            Outcome::Fatal(Trouble::new(message, hint))
        }
        _ => Outcome::Died(message),
    }
}

//! What an endpoint has said: the parts of an answer in either format, collected from events or from one document.

use crate::failure::Failure;
use mle_star::attempts::Outcome;
use mle_star::tokens::Tokens;

/// The parts of an answer so far.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PartialAnswer {
    pub(crate) text: String,
    /// The words with which the model refused.
    pub(crate) refusal: String,
    /// Whether it sent its thoughts.
    pub(crate) has_reasoned: bool,
    pub(crate) end: Option<End>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) failure: Option<Failure>,
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Complete,
    /// At the limit of tokens.
    Length,
    /// Stopped by a filter.
    Filter,
    /// By an error in the middle of the answer.
    Broken(String),
    /// For another reason, such as a call of a tool. Text that came before it counts as the answer.
    Other(String),
}

impl PartialAnswer {
    /// How the attempt ended, now that nothing more will come.
    pub(crate) fn outcome(self, wants_structure: bool) -> Outcome {
        let text = self.text;
        let characters = text.chars().count();
        match self.end {
            _ if !self.refusal.is_empty() => Outcome::Failed(format!("the model refused: {}", self.refusal)),
            None => Outcome::Died(format!("the answer broke off after {characters} characters")),
            Some(End::Length) => Outcome::Failed(format!(
                "the answer was cut off at the limit of tokens, after {characters} characters"
            )),
            Some(End::Filter) => Outcome::Failed("the endpoint's filter stopped the answer".to_owned()),
            Some(End::Broken(why)) => {
                Outcome::Died(format!("the answer broke off after {characters} characters ({why})"))
            }
            Some(End::Other(why)) if text.trim().is_empty() => {
                Outcome::Died(format!("the answer is empty ({why})"))
            }
            _ if text.trim().is_empty() && self.has_reasoned => {
                Outcome::Died("the answer is empty: the model only reasoned".to_owned())
            }
            _ if text.trim().is_empty() => Outcome::Died("the answer is empty".to_owned()),
            _ => {
                let structured = wants_structure.then(|| serde_json::from_str(&text).ok()).flatten();
                Outcome::Answered { text, structured }
            }
        }
    }
}
